/* The parts of conversions: the loop, halves, and the tests for values that do not fit. Included by convert.h and
 * convert_shared.c. The first loop has no branches, so that compilers vectorize it; after a bad value a second one
 * finds the first. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "isa.h"

/* A function for each pair of types: C has no templates. VALUE converts x; BAD says that x does not fit. */
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

/* A half is its bits. Rounds to nearest, ties to even; a NaN becomes quiet and keeps the top of its payload. */
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
