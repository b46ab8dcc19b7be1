/* x86-64 with AVX-512: whole cache lines where that is faster than AVX2. */
#include "isa_avx512.h"

#ifdef ISA_X86

#include <immintrin.h>

static int runs(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && scatter_avx2.runs();
}

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif

static void stream(char *to, const char *from, ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < bytes; i += CACHE_LINE)
        _mm512_stream_si512((void *)(to + i), _mm512_loadu_si512((const void *)(from + i)));
}

static void mask_lines(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int streamed) {
    for (ptrdiff_t i = 0, at = 0; i < lines * CACHE_LINE; i += CACHE_LINE, at = at + 64 == period ? 0 : at + 64)
        avx512_store(to + i,
                     _mm512_and_si512(_mm512_loadu_si512((const void *)(from + i)),
                                      _mm512_loadu_si512((const void *)(mask + at))),
                     streamed);
}

/* If no value is as large as this, none rounds to infinity. Otherwise the portable code finds the first that does. */
static ptrdiff_t f64_f32(void *to, const void *from, ptrdiff_t n) {
    const char *source = (const char *)from;
    char *target = (char *)to;
    __m512d largest = _mm512_setzero_pd();
    ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512d x = _mm512_loadu_pd((const void *)(source + i * 8)),
                y = _mm512_loadu_pd((const void *)(source + i * 8 + 64));
        largest = _mm512_max_pd(_mm512_abs_pd(x), largest); /* a NaN leaves the second operand */
        largest = _mm512_max_pd(_mm512_abs_pd(y), largest);
        _mm256_storeu_ps((float *)(void *)(target + i * 4), _mm512_cvtpd_ps(x));
        _mm256_storeu_ps((float *)(void *)(target + i * 4 + 32), _mm512_cvtpd_ps(y));
    }
    if (_mm512_cmp_pd_mask(largest, _mm512_set1_pd(0x1.ffffffp127), _CMP_GE_OQ)) i = 0;
    if (i == n) return -1;
    ptrdiff_t found = scatter_portable.convert(TYPE_F64, TYPE_F32)(target + i * 4, source + i * 8, n - i);
    return found < 0 ? -1 : i + found;
}

static scatter_convert conversion(int from_type, int to_type) {
    return from_type == TYPE_F64 && to_type == TYPE_F32 ? f64_f32 : scatter_avx2.convert(from_type, to_type);
}

extern const scatter_isa scatter_avx512;
const scatter_isa scatter_avx512 = {
    .name = "avx512",
    .base = &scatter_avx2,
    .runs = runs,
    .stream = stream,
    .mask = mask_lines,
    .convert = conversion,
    .interleave4 = avx512_interleave4,
    .deinterleave4 = avx512_deinterleave4,
};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
