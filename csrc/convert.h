/* Conversions between scalar types: the only place where a value is rounded or refused.
 *
 * Included by the file of each instruction set, whose compiler flags make of it what they can. Loops are kept free of
 * branches so that compilers vectorise them; a block that has a bad value is searched again.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "isa.h"

/* A template: a function for each pair of types, as C has no other way to write one. VALUE converts x; BAD says that x
 * does not fit. */
#define CONVERT_LOOP(NAME, S, D, VALUE, BAD) \
    static ptrdiff_t NAME(void *to, const void *from, ptrdiff_t n) { \
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
static inline uint16_t half_from_double(double value) {
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

static inline float float_from_half(uint16_t half) {
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

#define HALF_LIMIT                     65520.0        /* from here on a finite value rounds to infinity */
#define FLOAT_LIMIT                    0x1.ffffffp127 /* likewise for f32 */
#define OVER(x, limit)                 ((fabs((double)(x)) >= (limit)) & (fabs((double)(x)) <= DBL_MAX))

#define ANY(NAME, S, D)                CONVERT_LOOP(NAME, S, D, x, 0)
#define NOT_NEGATIVE(NAME, S, D)       CONVERT_LOOP(NAME, S, D, x, x < 0)
#define UP_TO(NAME, S, D, HIGH)        CONVERT_LOOP(NAME, S, D, x, x > (HIGH))
#define BETWEEN(NAME, S, D, LOW, HIGH) CONVERT_LOOP(NAME, S, D, x, (x < (LOW)) | (x > (HIGH)))
#define TO_FLOATS(N, S) \
    ANY(N##_f32, S, float) \
    CONVERT_LOOP(N##_f16, S, uint16_t, half_from_double((double)x), OVER(x, HALF_LIMIT))

/* From any column type into the four that WGSL has. */
ANY(i8_i32, int8_t, int32_t)
ANY(i16_i32, int16_t, int32_t)
BETWEEN(i64_i32, int64_t, int32_t, INT32_MIN, INT32_MAX)
ANY(u8_i32, uint8_t, int32_t)
ANY(u16_i32, uint16_t, int32_t)
UP_TO(u32_i32, uint32_t, int32_t, INT32_MAX)
UP_TO(u64_i32, uint64_t, int32_t, INT32_MAX)
NOT_NEGATIVE(i8_u32, int8_t, uint32_t)
NOT_NEGATIVE(i16_u32, int16_t, uint32_t)
NOT_NEGATIVE(i32_u32, int32_t, uint32_t)
BETWEEN(i64_u32, int64_t, uint32_t, 0, UINT32_MAX)
ANY(u8_u32, uint8_t, uint32_t)
ANY(u16_u32, uint16_t, uint32_t)
UP_TO(u64_u32, uint64_t, uint32_t, UINT32_MAX)
TO_FLOATS(i8, int8_t)
TO_FLOATS(i16, int16_t)
TO_FLOATS(i32, int32_t)
TO_FLOATS(i64, int64_t)
TO_FLOATS(u8, uint8_t)
TO_FLOATS(u16, uint16_t)
TO_FLOATS(u32, uint32_t)
TO_FLOATS(u64, uint64_t)
CONVERT_LOOP(bool_i32, uint8_t, int32_t, x != 0, 0)
CONVERT_LOOP(bool_u32, uint8_t, uint32_t, x != 0, 0)
CONVERT_LOOP(bool_f32, uint8_t, float, x != 0, 0)
CONVERT_LOOP(bool_f16, uint8_t, uint16_t, x ? 0x3c00u : 0u, 0)
#ifndef ISA_CONVERTS_FLOATS /* the instruction set brings its own */
CONVERT_LOOP(f64_f32, double, float, x, OVER(x, FLOAT_LIMIT))
CONVERT_LOOP(f64_f16, double, uint16_t, half_from_double(x), OVER(x, HALF_LIMIT))
CONVERT_LOOP(f32_f16, float, uint16_t, half_from_double((double)x), OVER(x, HALF_LIMIT))
CONVERT_LOOP(f16_f32, uint16_t, float, float_from_half(x), 0)
CONVERT_LOOP(f16_f64, uint16_t, double, float_from_half(x), 0)
#endif
ANY(f32_f64, float, double)

/* From WGSL's integers into any column type. */
BETWEEN(i32_i8, int32_t, int8_t, INT8_MIN, INT8_MAX)
BETWEEN(i32_i16, int32_t, int16_t, INT16_MIN, INT16_MAX)
ANY(i32_i64, int32_t, int64_t)
BETWEEN(i32_u8, int32_t, uint8_t, 0, UINT8_MAX)
BETWEEN(i32_u16, int32_t, uint16_t, 0, UINT16_MAX)
NOT_NEGATIVE(i32_u64, int32_t, uint64_t)
ANY(i32_f64, int32_t, double)
UP_TO(u32_i8, uint32_t, int8_t, INT8_MAX)
UP_TO(u32_i16, uint32_t, int16_t, INT16_MAX)
ANY(u32_i64, uint32_t, int64_t)
UP_TO(u32_u8, uint32_t, uint8_t, UINT8_MAX)
UP_TO(u32_u16, uint32_t, uint16_t, UINT16_MAX)
ANY(u32_u64, uint32_t, uint64_t)
ANY(u32_f64, uint32_t, double)

#define TO_WGSL(N) [TYPE_F32] = N##_f32, [TYPE_F16] = N##_f16
#define FROM_WGSL(N) \
    [TYPE_I8] = N##_i8, [TYPE_I16] = N##_i16, [TYPE_I64] = N##_i64, [TYPE_U8] = N##_u8, [TYPE_U16] = N##_u16, \
    [TYPE_U64] = N##_u64, [TYPE_F64] = N##_f64

/* NULL for a type and itself, which is no conversion, and for pairs that are refused. */
static scatter_convert conversion(int from_type, int to_type) {
    static const scatter_convert table[TYPE_COUNT][TYPE_COUNT] = {
        [TYPE_I8] = {TO_WGSL(i8), [TYPE_I32] = i8_i32, [TYPE_U32] = i8_u32},
        [TYPE_I16] = {TO_WGSL(i16), [TYPE_I32] = i16_i32, [TYPE_U32] = i16_u32},
        [TYPE_I32] = {TO_WGSL(i32), [TYPE_U32] = i32_u32, FROM_WGSL(i32)},
        [TYPE_I64] = {TO_WGSL(i64), [TYPE_I32] = i64_i32, [TYPE_U32] = i64_u32},
        [TYPE_U8] = {TO_WGSL(u8), [TYPE_I32] = u8_i32, [TYPE_U32] = u8_u32},
        [TYPE_U16] = {TO_WGSL(u16), [TYPE_I32] = u16_i32, [TYPE_U32] = u16_u32},
        [TYPE_U32] = {TO_WGSL(u32), [TYPE_I32] = u32_i32, FROM_WGSL(u32)},
        [TYPE_U64] = {TO_WGSL(u64), [TYPE_I32] = u64_i32, [TYPE_U32] = u64_u32},
        [TYPE_BOOL] = {TO_WGSL(bool), [TYPE_I32] = bool_i32, [TYPE_U32] = bool_u32},
        [TYPE_F64] = {[TYPE_F32] = f64_f32, [TYPE_F16] = f64_f16},
        [TYPE_F32] = {[TYPE_F16] = f32_f16, [TYPE_F64] = f32_f64},
        [TYPE_F16] = {[TYPE_F32] = f16_f32, [TYPE_F64] = f16_f64},
    };
    return table[from_type][to_type];
}

#undef TO_WGSL
#undef FROM_WGSL
