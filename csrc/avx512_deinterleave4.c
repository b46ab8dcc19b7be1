/* Deinterleaves four records with AVX-512: whole lines are loaded, and a slot of all four is one register. See
 * deinterleave4_slot. */
#include "isa_avx512.h"

#ifdef ISA_X86

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif

/* Columns are written one after the other, in bursts. Prefetching this far ahead, reading goes on meanwhile. */
enum { AHEAD = 8192, MAX_GROUPS = 4 };

ALWAYS_INLINE void store_lane(char *to, __m128i lane) { _mm_storeu_si128((__m128i *)(void *)to, lane); }

/* The line that holds a slot of a record. */
ALWAYS_INLINE int line_of(const int count, int slot, int record) { return (count * record + slot) / 4; }

/* Stores `groups` times four records of one slot. */
ALWAYS_INLINE void store_slot(deinterleave4_slot *w, const __m512i *z, const int groups) {
    char *a = w->lane[0], *b = w->lane[1], *c = w->lane[2], *d = w->lane[3];
    const ptrdiff_t sa = w->step[0], sb = w->step[1], sc = w->step[2], sd = w->step[3];
    if (w->whole) {
        UNROLL for (int g = 0; g < groups; g++) _mm512_storeu_si512((void *)(a + g * sa), z[g]);
    } else if (w->triple) {
        UNROLL for (int g = 0; g < groups; g++) {
            _mm256_storeu_si256((__m256i *)(void *)(a + g * sa), _mm512_castsi512_si256(z[g]));
            store_lane(a + g * sa + 32, _mm512_extracti32x4_epi32(z[g], 2));
            if (d) store_lane(d + g * sd, _mm512_extracti32x4_epi32(z[g], 3));
        }
    } else {
        UNROLL for (int g = 0; g < groups; g++) {
            if (a) store_lane(a + g * sa, _mm512_castsi512_si128(z[g]));
            if (b) store_lane(b + g * sb, _mm512_extracti32x4_epi32(z[g], 1));
            if (c) store_lane(c + g * sc, _mm512_extracti32x4_epi32(z[g], 2));
            if (d) store_lane(d + g * sd, _mm512_extracti32x4_epi32(z[g], 3));
        }
    }
    for (int k = 0; k < 4; k++)
        if (w->lane[k]) w->lane[k] += w->step[k] * groups;
}

/* One slot of four records, from their lines. */
ALWAYS_INLINE __m512i take_slot(const deinterleave4_slot *w, const __m512i *line, const int count, const int slot,
                                __m512i first, __m512i second) {
    const __mmask16 replaced = (__mmask16)w->second;
    if (count == 1) return _mm512_permutexvar_epi32(first, line[0]);
    if (count == 2) return _mm512_permutex2var_epi32(line[0], first, line[1]);
    if (count == 3)
        return _mm512_mask_permutexvar_epi32(_mm512_permutex2var_epi32(line[0], first, line[1]), replaced, second,
                                             line[2]);
    __m512i low = _mm512_permutex2var_epi32(line[line_of(count, slot, 0)], first, line[line_of(count, slot, 1)]);
    __m512i high = _mm512_permutex2var_epi32(line[line_of(count, slot, 2)], second, line[line_of(count, slot, 3)]);
    return _mm512_mask_mov_epi32(low, replaced, high);
}

/* Loads all lines of `groups` times four records, then stores them slot by slot. */
ALWAYS_INLINE void take_groups(deinterleave4_slot *w, const char *from, const int count, const int groups) {
    __m512i line[MAX_GROUPS * MAX_INTERLEAVED], z[MAX_GROUPS];
    for (ptrdiff_t b = 0; b < CACHE_LINE * count * groups; b += CACHE_LINE) _mm_prefetch(from + AHEAD + b, _MM_HINT_T0);
    UNROLL for (int g = 0; g < groups; g++) {
        UNROLL for (int j = 0; j < count; j++) line[count * g + j] =
            _mm512_loadu_si512((const void *)(from + CACHE_LINE * (count * g + j)));
    }
    UNROLL for (int s = 0; s < count; s++) {
        const __m512i first = _mm512_loadu_si512((const void *)w[s].index[0]);
        const __m512i second = _mm512_loadu_si512((const void *)w[s].index[1]);
        UNROLL for (int g = 0; g < groups; g++) z[g] = take_slot(w + s, line + count * g, count, s, first, second);
        store_slot(w + s, z, groups);
    }
}

/* As many groups at a time as there are registers for. */
ALWAYS_INLINE void deinterleave(deinterleave4_slot *w, const char *from, ptrdiff_t n, const int count,
                                const int groups) {
    for (; n >= 4 * groups; n -= 4 * groups, from += 16 * count * 4 * groups) take_groups(w, from, count, groups);
    for (; n > 0; n -= 4, from += 16 * count * 4) take_groups(w, from, count, 1);
}

void avx512_deinterleave4(deinterleave4_slot *w, int count, const char *from, ptrdiff_t n) {
    switch (count) {
        case 1: deinterleave(w, from, n, 1, 4); break;
        case 2: deinterleave(w, from, n, 2, 4); break;
        case 3: deinterleave(w, from, n, 3, 4); break;
        case 4: deinterleave(w, from, n, 4, 4); break;
        case 5: deinterleave(w, from, n, 5, 3); break;
        case 6: deinterleave(w, from, n, 6, 3); break;
        case 7: deinterleave(w, from, n, 7, 2); break;
        default: deinterleave(w, from, n, 8, 2);
    }
}

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
