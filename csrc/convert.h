/* Conversions between scalar types: the only place where a value is rounded or refused.
 *
 * Included once for each instruction set, with CONVERT_NAME(x) giving that set's names. Loops are kept
 * free of branches so that compilers vectorise them; a block that holds a bad value is searched again.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "scatter.h"

#define CONVERT_LOOP(NAME, S, D, VALUE, BAD) \
    static ptrdiff_t CONVERT_NAME(NAME)(void *to, const void *from, ptrdiff_t n) { \
        const char *source = (const char *)from; \
        char *target = (char *)to; \
        unsigned bad = 0; \
        for (ptrdiff_t i = 0; i < n; i++) { \
            S x; \
            memcpy(&x, source + i * (ptrdiff_t)sizeof(S), sizeof(S)); \
            D y = (D)(VALUE); \
            bad |= (unsigned)(BAD); \
            memcpy(target + i * (ptrdiff_t)sizeof(D), &y, sizeof(D)); \
        } \
        if (!bad) return -1; \
        for (ptrdiff_t i = 0; i < n; i++) { \
            S x; \
            memcpy(&x, source + i * (ptrdiff_t)sizeof(S), sizeof(S)); \
            if (BAD) return i; \
        } \
        return -1; \
    }

/* Halves travel as their bits. Round to nearest, ties to even; NaNs keep the top of their payload, quiet. */
static inline uint16_t CONVERT_NAME(half_from_double)(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)((bits >> 48) & 0x8000u);
    int64_t exponent = (int64_t)((bits >> 52) & 0x7ff) - 1023;
    uint64_t fraction = bits & 0xfffffffffffffull;
    if (exponent == 1024) return (uint16_t)(sign | 0x7c00u | (fraction ? 0x200u | (uint16_t)(fraction >> 42) : 0));
    if (exponent >= 16) return (uint16_t)(sign | 0x7c00u);
    if (exponent < -25) return sign;
    uint64_t whole = fraction | 0x10000000000000ull;
    int shift = exponent >= -14 ? 42 : (int)(42 + (-14 - exponent));
    uint64_t kept = whole >> shift, rest = whole & ((1ull << shift) - 1), tie = 1ull << (shift - 1);
    kept += rest > tie || (rest == tie && (kept & 1));
    if (exponent >= -14) kept += (uint64_t)(exponent + 14) << 10;
    return (uint16_t)(sign | (uint16_t)kept);
}

static inline float CONVERT_NAME(float_from_half)(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = (half >> 10) & 31u, fraction = half & 0x3ffu, bits;
    if (exponent == 31) {
        bits = sign | 0x7f800000u | (fraction << 13) | (fraction ? 0x400000u : 0);
    } else if (exponent) {
        bits = sign | ((exponent + 112) << 23) | (fraction << 13);
    } else {
        float small = (float)fraction * 0x1p-24f;
        memcpy(&bits, &small, sizeof bits);
        bits |= sign;
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define HALF_LIMIT     65520.0        /* from here on a finite value rounds to infinity */
#define FLOAT_LIMIT    0x1.ffffffp127 /* likewise for f32 */
#define OVER(x, limit) ((fabs((double)(x)) >= (limit)) & (fabs((double)(x)) <= DBL_MAX))
#define HALF(x)        CONVERT_NAME(half_from_double)((double)(x))

#define TO_INTEGER_SIGNED(NAME, S, D, LOW, HIGH) \
    CONVERT_LOOP(NAME, S, D, x, ((int64_t)x < (LOW)) | ((int64_t)x > (HIGH)))
#define TO_INTEGER_UNSIGNED(NAME, S, D, HIGH) CONVERT_LOOP(NAME, S, D, x, (uint64_t)x > (uint64_t)(HIGH))

/* From any column type into the four that WGSL has. */
#define FROM_INTEGER(N, S, SIGN) \
    SIGN(N##_i32, S, int32_t, INT32_MIN, INT32_MAX) \
    SIGN(N##_u32, S, uint32_t, 0, UINT32_MAX) \
    CONVERT_LOOP(N##_f32, S, float, x, 0) \
    CONVERT_LOOP(N##_f16, S, uint16_t, HALF(x), OVER(x, HALF_LIMIT))
#define SIGNED(NAME, S, D, LOW, HIGH)   TO_INTEGER_SIGNED(NAME, S, D, LOW, HIGH)
#define UNSIGNED(NAME, S, D, LOW, HIGH) TO_INTEGER_UNSIGNED(NAME, S, D, HIGH)

FROM_INTEGER(i8, int8_t, SIGNED)
FROM_INTEGER(i16, int16_t, SIGNED)
FROM_INTEGER(i32, int32_t, SIGNED)
FROM_INTEGER(i64, int64_t, SIGNED)
FROM_INTEGER(u8, uint8_t, UNSIGNED)
FROM_INTEGER(u16, uint16_t, UNSIGNED)
FROM_INTEGER(u32, uint32_t, UNSIGNED)
FROM_INTEGER(u64, uint64_t, UNSIGNED)
CONVERT_LOOP(bool_i32, uint8_t, int32_t, x != 0, 0)
CONVERT_LOOP(bool_u32, uint8_t, uint32_t, x != 0, 0)
CONVERT_LOOP(bool_f32, uint8_t, float, x != 0, 0)
CONVERT_LOOP(bool_f16, uint8_t, uint16_t, x ? 0x3c00u : 0u, 0)
#ifndef CONVERT_HAS_FLOATS /* the instruction set brings its own */
CONVERT_LOOP(f64_f32, double, float, x, OVER(x, FLOAT_LIMIT))
CONVERT_LOOP(f64_f16, double, uint16_t, HALF(x), OVER(x, HALF_LIMIT))
CONVERT_LOOP(f32_f16, float, uint16_t, HALF(x), OVER(x, HALF_LIMIT))
CONVERT_LOOP(f16_f32, uint16_t, float, CONVERT_NAME(float_from_half)(x), 0)
CONVERT_LOOP(f16_f64, uint16_t, double, CONVERT_NAME(float_from_half)(x), 0)
#endif
CONVERT_LOOP(f32_f64, float, double, x, 0)

/* From WGSL's integers into any column type. */
#define INTO_INTEGERS(N, S, SIGN) \
    SIGN(N##_i8, S, int8_t, INT8_MIN, INT8_MAX) \
    SIGN(N##_i16, S, int16_t, INT16_MIN, INT16_MAX) \
    SIGN(N##_i64, S, int64_t, INT64_MIN, INT64_MAX) \
    SIGN(N##_u8, S, uint8_t, 0, UINT8_MAX) \
    SIGN(N##_u16, S, uint16_t, 0, UINT16_MAX) \
    SIGN(N##_u64, S, uint64_t, 0, INT64_MAX) \
    CONVERT_LOOP(N##_f64, S, double, x, 0)
INTO_INTEGERS(i32, int32_t, SIGNED)
INTO_INTEGERS(u32, uint32_t, UNSIGNED)

#define C(x)   CONVERT_NAME(x)
#define ROW(N) [TYPE_I32] = C(N##_i32), [TYPE_U32] = C(N##_u32), [TYPE_F32] = C(N##_f32), [TYPE_F16] = C(N##_f16)
#define WIDE(N) \
    [TYPE_I8] = C(N##_i8), [TYPE_I16] = C(N##_i16), [TYPE_I64] = C(N##_i64), [TYPE_U8] = C(N##_u8), \
    [TYPE_U16] = C(N##_u16), [TYPE_U64] = C(N##_u64), [TYPE_F64] = C(N##_f64)

static scatter_convert CONVERT_NAME(convert)(int from_type, int to_type) {
    static const scatter_convert table[TYPE_COUNT][TYPE_COUNT] = {
        [TYPE_I8] = {ROW(i8)},
        [TYPE_I16] = {ROW(i16)},
        [TYPE_I32] = {ROW(i32), WIDE(i32)},
        [TYPE_I64] = {ROW(i64)},
        [TYPE_U8] = {ROW(u8)},
        [TYPE_U16] = {ROW(u16)},
        [TYPE_U32] = {ROW(u32), WIDE(u32)},
        [TYPE_U64] = {ROW(u64)},
        [TYPE_BOOL] = {ROW(bool)},
        [TYPE_F64] = {[TYPE_F32] = C(f64_f32), [TYPE_F16] = C(f64_f16)},
        [TYPE_F32] = {[TYPE_F16] = C(f32_f16), [TYPE_F64] = C(f32_f64)},
        [TYPE_F16] = {[TYPE_F32] = C(f16_f32), [TYPE_F64] = C(f16_f64)},
    };
    return table[from_type][to_type];
}

#undef C
#undef ROW
#undef WIDE
