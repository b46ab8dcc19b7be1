/* x86-64: SSE4.1, and AVX2 with F16C. Chosen at run time; compiled by function-level targets alone. */
#include "scatter.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse4.1"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("sse4.1")
#endif

#define SLOT_NAME(x) sse41_##x
#define SLOT_LANE(p) sse41_lane(p)
static inline __m128 sse41_lane(const char *p) {
    float x;
    memcpy(&x, p, sizeof x);
    return _mm_set1_ps(x);
}
#include "slots_x86.h"
#undef SLOT_NAME
#undef SLOT_LANE
#define CONVERT_NAME(x) sse41_##x
#include "convert.h"
#undef CONVERT_NAME

static void sse41_stream(char *to, const char *from, ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < bytes; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}
static void sse41_mask(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int stream) {
    for (ptrdiff_t i = 0, at = 0; i < lines * 64; i += 16, at = at + 16 == period ? 0 : at + 16) {
        __m128i x = _mm_and_si128(_mm_loadu_si128((const __m128i *)(const void *)(from + i)),
                                  _mm_loadu_si128((const __m128i *)(const void *)(mask + at)));
        if (stream)
            _mm_stream_si128((__m128i *)(void *)(to + i), x);
        else
            _mm_storeu_si128((__m128i *)(void *)(to + i), x);
    }
}
#define SLOT_NAME(x) sse41_##x
#define SLOT_LANE(p) sse41_lane(p)
#include "wide_x86.h"
#undef SLOT_NAME
#undef SLOT_LANE
static void x86_fence(void) { _mm_sfence(); }

#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,f16c")
#endif

#define SLOT_NAME(x) avx2_##x
#define SLOT_LANE(p) _mm_broadcast_ss((const float *)(const void *)(p))
#include "slots_x86.h"
#undef SLOT_NAME
#undef SLOT_LANE

/* Eight at a time; the tail goes through the portable code, which rounds the same. */
static ptrdiff_t avx2_f32_f16(void *to, const void *from, ptrdiff_t n) {
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
    if (_mm256_movemask_ps(bad)) i = 0; /* search again for the first */
    if (i == n) return -1;
    ptrdiff_t found = scatter_portable.convert(TYPE_F32, TYPE_F16)(target + i * 2, source + i * 4, n - i);
    return found < 0 ? -1 : i + found;
}

static ptrdiff_t avx2_f16_f32(void *to, const void *from, ptrdiff_t n) {
    const char *source = (const char *)from;
    char *target = (char *)to;
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps((float *)(void *)(target + i * 4),
                         _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(source + i * 2))));
    if (i == n) return -1;
    return scatter_portable.convert(TYPE_F16, TYPE_F32)(target + i * 4, source + i * 2, n - i);
}

/* A block without a value this large has none that rounds to infinity; one with is searched exactly. */
static ptrdiff_t avx2_f64_f32(void *to, const void *from, ptrdiff_t n) {
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
    if (_mm256_movemask_pd(_mm256_cmp_pd(largest, _mm256_set1_pd(FLOAT_LIMIT), _CMP_GE_OQ))) i = 0;
    if (i == n) return -1;
    ptrdiff_t found = scatter_portable.convert(TYPE_F64, TYPE_F32)(target + i * 4, source + i * 8, n - i);
    return found < 0 ? -1 : i + found;
}

/* Through f32 rounded to odd, so that the second rounding sees which way the first one went. */
static inline __m128 avx2_odd(__m256d x) {
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

static ptrdiff_t avx2_f64_f16(void *to, const void *from, ptrdiff_t n) {
    const char *source = (const char *)from;
    char *target = (char *)to;
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d largest = _mm256_setzero_pd();
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256d x = _mm256_loadu_pd((const double *)(const void *)(source + i * 8));
        largest = _mm256_max_pd(_mm256_andnot_pd(sign, x), largest);
        _mm_storel_epi64((__m128i *)(void *)(target + i * 2), _mm_cvtps_ph(avx2_odd(x), _MM_FROUND_TO_NEAREST_INT));
    }
    if (_mm256_movemask_pd(_mm256_cmp_pd(largest, _mm256_set1_pd(HALF_LIMIT), _CMP_GE_OQ))) i = 0;
    if (i == n) return -1;
    ptrdiff_t found = scatter_portable.convert(TYPE_F64, TYPE_F16)(target + i * 2, source + i * 8, n - i);
    return found < 0 ? -1 : i + found;
}

static ptrdiff_t avx2_f16_f64(void *to, const void *from, ptrdiff_t n) {
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

#define CONVERT_HAS_FLOATS
#define CONVERT_NAME(x) avx2_##x
#include "convert.h"
#undef CONVERT_NAME

static void avx2_stream(char *to, const char *from, ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < bytes; i += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(from + i));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(from + i + 32));
        _mm256_stream_si256((__m256i *)(void *)(to + i), a);
        _mm256_stream_si256((__m256i *)(void *)(to + i + 32), b);
    }
}

#define SLOT_NAME(x) avx2_##x
#define SLOT_LANE(p) _mm_broadcast_ss((const float *)(const void *)(p))
#include "wide_x86.h"
#undef SLOT_NAME
#undef SLOT_LANE

static void avx2_mask(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int stream) {
    for (ptrdiff_t i = 0, at = 0; i < lines * 64; i += 32, at = at + 32 == period ? 0 : at + 32) {
        __m256i x = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)(from + i)),
                                     _mm256_loadu_si256((const __m256i *)(const void *)(mask + at)));
        if (stream)
            _mm256_stream_si256((__m256i *)(void *)(to + i), x);
        else
            _mm256_storeu_si256((__m256i *)(void *)(to + i), x);
    }
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

int scatter_wide_avx512(scatter_wide *w, int count, char *to, ptrdiff_t n, int stream);
void scatter_unwide_avx512(scatter_unwide *w, int count, const char *from, ptrdiff_t n);
void scatter_stream_avx512(char *to, const char *from, ptrdiff_t bytes);
void scatter_mask_avx512(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int stream);
ptrdiff_t scatter_f64_f32_avx512(void *to, const void *from, ptrdiff_t n);

static scatter_convert avx512_convert(int from_type, int to_type) {
    return from_type == TYPE_F64 && to_type == TYPE_F32 ? scatter_f64_f32_avx512 : avx2_convert(from_type, to_type);
}

#define SLOTS(NAME) {NAME##_12_4, NAME##_8_8, NAME##_8_4_4, NAME##_4_4_8, NAME##_4_4_4_4}
static const scatter_isa isa_sse41 = {
    "sse4.1",   SLOTS(sse41),  sse41_copy, sse41_turn, sse41_turn_back, sse41_stream, x86_fence,
    sse41_mask, sse41_convert, sse41_wide, NULL,
};
static const scatter_isa isa_avx2 = {
    "avx2",    SLOTS(avx2), avx2_copy,    avx2_turn, avx2_turn_back, avx2_stream,
    x86_fence, avx2_mask,   avx2_convert, avx2_wide, NULL,
};
static const scatter_isa isa_avx512 = {
    "avx512",  SLOTS(avx2),         avx2_copy,      avx2_turn,           avx2_turn_back,        scatter_stream_avx512,
    x86_fence, scatter_mask_avx512, avx512_convert, scatter_wide_avx512, scatter_unwide_avx512,
};

const scatter_isa *scatter_isa_at(int index) {
    const scatter_isa *found[4];
    int count = 0;
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx2 && avx512) found[count++] = &isa_avx512;
    if (avx2) found[count++] = &isa_avx2;
    if (__builtin_cpu_supports("sse4.1")) found[count++] = &isa_sse41;
    found[count++] = &scatter_portable;
    return index >= 0 && index < count ? found[index] : NULL;
}

#elif !defined(__aarch64__)

const scatter_isa *scatter_isa_at(int index) { return index == 0 ? &scatter_portable : NULL; }

#endif
