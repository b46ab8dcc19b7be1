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
        bad = _mm256_or_ps(bad, _mm256_and_ps(_mm256_cmp_ps(size, limit, _CMP_GE_OQ), _mm256_cmp_ps(size, infinity, _CMP_LT_OQ)));
        _mm_storeu_si128((__m128i *)(void *)(target + i * 2), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
    }
    if (_mm256_movemask_ps(bad)) i = 0; /* search again for the first */
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
    return scatter_portable.convert(TYPE_F16, TYPE_F32)(target + i * 4, source + i * 2, n - i);
}

#define CONVERT_HAS_F16
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

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

ptrdiff_t scatter_wide_avx512(const scatter_wide *w, int count, char *to, ptrdiff_t n, int stream);
void scatter_stream_avx512(char *to, const char *from, ptrdiff_t bytes);

#define SLOTS(NAME) {NAME##_12_4, NAME##_8_8, NAME##_8_4_4, NAME##_4_4_8, NAME##_4_4_4_4}
static const scatter_isa isa_sse41 = {
    "sse4.1", SLOTS(sse41), sse41_copy, sse41_turn, sse41_stream, x86_fence, sse41_convert, NULL,
};
static const scatter_isa isa_avx2 = {
    "avx2", SLOTS(avx2), avx2_copy, avx2_turn, avx2_stream, x86_fence, avx2_convert, NULL,
};
static const scatter_isa isa_avx512 = {
    "avx512", SLOTS(avx2), avx2_copy, avx2_turn, scatter_stream_avx512, x86_fence, avx2_convert, scatter_wide_avx512,
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
