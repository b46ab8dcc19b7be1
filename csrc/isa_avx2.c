/* x86-64 with AVX2 and F16C. See isa_sse41.c. */
#include "isa.h"

#ifdef ISA_X86

#include <cpuid.h>
#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <string.h>

/* Not every compiler can ask for F16C by name. */
static int has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

/* Where __builtin_cpu_supports says AVX2, the system saves AVX registers, which F16C needs too. */
static int runs(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && has_f16c();
}

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,f16c")
#endif

static void stream(char *to, const char *from, ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < bytes; i += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(from + i));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(from + i + 32));
        _mm256_stream_si256((__m256i *)(void *)(to + i), a);
        _mm256_stream_si256((__m256i *)(void *)(to + i + 32), b);
    }
}

static void fence(void) { _mm_sfence(); }

static void mask_lines(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int streamed) {
    for (ptrdiff_t i = 0, at = 0; i < lines * CACHE_LINE; i += 32, at = at + 32 == period ? 0 : at + 32) {
        __m256i x = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)(from + i)),
                                     _mm256_loadu_si256((const __m256i *)(const void *)(mask + at)));
        if (streamed)
            _mm256_stream_si256((__m256i *)(void *)(to + i), x);
        else
            _mm256_storeu_si256((__m256i *)(void *)(to + i), x);
    }
}

/* Eight at a time. The portable code, which rounds the same, converts the rest. */
static ptrdiff_t f32_f16(void *to, const void *from, ptrdiff_t n) {
    const char *source = (const char *)from;
    char *target = (char *)to;
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    const __m256 limit = _mm256_set1_ps(65520.0f), infinity = _mm256_set1_ps(__builtin_inff());
    __m256 bad = _mm256_setzero_ps();
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 x = _mm256_loadu_ps((const float *)(const void *)(source + i * 4)), size = _mm256_and_ps(x, magnitude);
        bad = _mm256_or_ps(
            bad, _mm256_and_ps(_mm256_cmp_ps(size, limit, _CMP_GE_OQ), _mm256_cmp_ps(size, infinity, _CMP_LT_OQ)));
        _mm_storeu_si128((__m128i *)(void *)(target + i * 2), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
    if (_mm256_movemask_ps(bad)) i = 0; /* the portable code finds the first one */
    if (i == n) return -1;
    ptrdiff_t found = scatter_portable.convert(TYPE_F32, TYPE_F16)(target + i * 2, source + i * 4, n - i);
    return found < 0 ? -1 : i + found;
}

static ptrdiff_t f16_f32(void *to, const void *from, ptrdiff_t n) {
    const char *source = (const char *)from;
    char *target = (char *)to;
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps((float *)(void *)(target + i * 4),
                         _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(source + i * 2))));
    if (i == n) return -1;
    return scatter_portable.convert(TYPE_F16, TYPE_F32)(target + i * 4, source + i * 2, n - i);
}

/* If no value is as large as this, none rounds to infinity. Otherwise the portable code finds the first that does. */
static ptrdiff_t f64_f32(void *to, const void *from, ptrdiff_t n) {
    const char *source = (const char *)from;
    char *target = (char *)to;
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d largest = _mm256_setzero_pd();
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256d x = _mm256_loadu_pd((const double *)(const void *)(source + i * 8));
        __m256d y = _mm256_loadu_pd((const double *)(const void *)(source + i * 8 + 32));
        largest = _mm256_max_pd(_mm256_andnot_pd(sign, x), largest); /* a NaN leaves the second operand */
        largest = _mm256_max_pd(_mm256_andnot_pd(sign, y), largest);
        _mm_storeu_ps((float *)(void *)(target + i * 4), _mm256_cvtpd_ps(x));
        _mm_storeu_ps((float *)(void *)(target + i * 4 + 16), _mm256_cvtpd_ps(y));
    }
    if (_mm256_movemask_pd(_mm256_cmp_pd(largest, _mm256_set1_pd(0x1.ffffffp127), _CMP_GE_OQ))) i = 0;
    if (i == n) return -1;
    ptrdiff_t found = scatter_portable.convert(TYPE_F64, TYPE_F32)(target + i * 4, source + i * 8, n - i);
    return found < 0 ? -1 : i + found;
}

/* Rounded to odd: the second rounding, to f16, then gives the same result as one rounding from f64. */
static inline __m128 odd(__m256d x) {
    __m128 f = _mm256_cvtpd_ps(x);
    __m256d back = _mm256_cvtps_pd(f), sign = _mm256_set1_pd(-0.0);
    __m256d inexact = _mm256_cmp_pd(back, x, _CMP_NEQ_OQ);
    __m256d below = _mm256_cmp_pd(_mm256_andnot_pd(sign, back), _mm256_andnot_pd(sign, x), _CMP_LT_OQ);
    const __m256i low_words = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    __m128i wrong = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(inexact), low_words));
    __m128i up = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(below), low_words));
    __m128i bits = _mm_castps_si128(f), one = _mm_set1_epi32(1);
    __m128i even = _mm_cmpeq_epi32(_mm_and_si128(bits, one), _mm_setzero_si128());
    __m128i by = _mm_blendv_epi8(_mm_set1_epi32(-1), one, up);
    return _mm_castsi128_ps(_mm_add_epi32(bits, _mm_and_si128(by, _mm_and_si128(wrong, even))));
}

static ptrdiff_t f64_f16(void *to, const void *from, ptrdiff_t n) {
    const char *source = (const char *)from;
    char *target = (char *)to;
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d largest = _mm256_setzero_pd();
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256d x = _mm256_loadu_pd((const double *)(const void *)(source + i * 8));
        largest = _mm256_max_pd(_mm256_andnot_pd(sign, x), largest);
        _mm_storel_epi64((__m128i *)(void *)(target + i * 2), _mm_cvtps_ph(odd(x), _MM_FROUND_TO_NEAREST_INT));
    }
    if (_mm256_movemask_pd(_mm256_cmp_pd(largest, _mm256_set1_pd(65520.0), _CMP_GE_OQ))) i = 0;
    if (i == n) return -1;
    ptrdiff_t found = scatter_portable.convert(TYPE_F64, TYPE_F16)(target + i * 2, source + i * 8, n - i);
    return found < 0 ? -1 : i + found;
}

static ptrdiff_t f16_f64(void *to, const void *from, ptrdiff_t n) {
    const char *source = (const char *)from;
    char *target = (char *)to;
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m128 f = _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)(source + i * 2)));
        _mm256_storeu_pd((double *)(void *)(target + i * 8), _mm256_cvtps_pd(f));
    }
    if (i == n) return -1;
    return scatter_portable.convert(TYPE_F16, TYPE_F64)(target + i * 8, source + i * 2, n - i);
}

#define ISA_CONVERTS_FLOATS
#define ISA_ENCODES
#include "avx2_normalized.h"
#include "convert.h"

const scatter_isa scatter_avx2 = {
    .name = "avx2",
    .base = &scatter_sse41,
    .runs = runs,
    .stream = stream,
    .fence = fence,
    .mask = mask_lines,
    .convert = conversion,
};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
