/* x86-64 with SSE4.1. It is chosen at run time: a compiler flag would make the whole program need it. */
#include "isa.h"

#ifdef ISA_X86

#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <string.h>

static int runs(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.1");
}

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse4.1"))), apply_to = function)
#else
#pragma GCC target("sse4.1")
#endif

static void stream(char *to, const char *from, ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < bytes; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}

static void fence(void) { _mm_sfence(); }

static void mask_lines(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int streamed) {
    for (ptrdiff_t i = 0, at = 0; i < lines * CACHE_LINE; i += 16, at = at + 16 == period ? 0 : at + 16) {
        __m128i x = _mm_and_si128(_mm_loadu_si128((const __m128i *)(const void *)(from + i)),
                                  _mm_loadu_si128((const __m128i *)(const void *)(mask + at)));
        if (streamed)
            _mm_stream_si128((__m128i *)(void *)(to + i), x);
        else
            _mm_storeu_si128((__m128i *)(void *)(to + i), x);
    }
}

#include "convert.h"
#include "x86_slots.h"
#include "x86_transpose.h"
#include "x86_interleave4.h"

const scatter_isa scatter_sse41 = {
    .name = "sse4.1",
    .base = &scatter_portable,
    .runs = runs,
    .slot = {slot_12_4, slot_8_8, slot_8_4_4, slot_4_4_8, slot_4_4_4_4},
    .copy = copy,
    .transpose = transpose,
    .transpose_back = transpose_back,
    .stream = stream,
    .fence = fence,
    .mask = mask_lines,
    .convert = conversion,
    .interleave4 = interleave4,
};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
