/* The way back with AVX-512: whole lines in, four records of a slot in one register. See scatter_unwide. */
#include "scatter.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif

#define INLINE static inline __attribute__((always_inline))

/* Lines leave in bursts, one column after the other; asked for so far ahead, reading goes on meanwhile. */
enum { AHEAD = 8192 };

/* The line that holds slot s of record r. */
#define LINE_OF(S, s, r) (((S) * (r) + (s)) / 4)

INLINE void put_lane(char *to, __m128i lane) { _mm_storeu_si128((__m128i *)(void *)to, lane); }

/* `groups` times four records of one slot. */
INLINE void store_slot(scatter_unwide *w, const __m512i *z, const int groups) {
    char *a = w->lane[0], *d = w->lane[3];
    const ptrdiff_t sa = w->step[0], sd = w->step[3];
    if (w->whole) {
        _Pragma("GCC unroll 4") for (int g = 0; g < groups; g++) _mm512_storeu_si512((void *)(a + g * sa), z[g]);
    } else if (w->triple) {
        _Pragma("GCC unroll 4") for (int g = 0; g < groups; g++) {
            _mm256_storeu_si256((__m256i *)(void *)(a + g * sa), _mm512_castsi512_si256(z[g]));
            put_lane(a + g * sa + 32, _mm512_extracti32x4_epi32(z[g], 2));
            if (d) put_lane(d + g * sd, _mm512_extracti32x4_epi32(z[g], 3));
        }
    } else {
        char *b = w->lane[1], *c = w->lane[2];
        const ptrdiff_t sb = w->step[1], sc = w->step[2];
        _Pragma("GCC unroll 4") for (int g = 0; g < groups; g++) {
            if (a) put_lane(a + g * sa, _mm512_castsi512_si128(z[g]));
            if (b) put_lane(b + g * sb, _mm512_extracti32x4_epi32(z[g], 1));
            if (c) put_lane(c + g * sc, _mm512_extracti32x4_epi32(z[g], 2));
            if (d) put_lane(d + g * sd, _mm512_extracti32x4_epi32(z[g], 3));
        }
    }
    for (int k = 0; k < 4; k++)
        if (w->lane[k]) w->lane[k] += w->step[k] * groups;
}

#define TAKE(S, G) \
    { \
        __m512i line[G][S]; \
        for (ptrdiff_t b = 0; b < 64 * (S) * (G); b += 64) _mm_prefetch(from + AHEAD + b, _MM_HINT_T0); \
        _Pragma("GCC unroll 4") for (int g = 0; g < (G); g++) _Pragma("GCC unroll 8") for (int j = 0; j < (S); j++) \
            line[g][j] = _mm512_loadu_si512((const void *)(from + 64 * ((S) * g + j))); \
        _Pragma("GCC unroll 8") for (int s = 0; s < (S); s++) { \
            const __m512i first = _mm512_loadu_si512((const void *)w[s].index[0]); \
            const __m512i second = _mm512_loadu_si512((const void *)w[s].index[1]); \
            const __mmask16 replaced = (__mmask16)w[s].second; \
            __m512i z[G]; \
            _Pragma("GCC unroll 4") for (int g = 0; g < (G); g++) { \
                const __m512i *l = line[g]; \
                z[g] = (S) == 1  ? _mm512_permutexvar_epi32(first, l[0]) \
                       : (S) < 4 ? _mm512_permutex2var_epi32(l[0], first, l[1]) \
                                 : _mm512_permutex2var_epi32(l[LINE_OF(S, s, 0)], first, l[LINE_OF(S, s, 1)]); \
                if ((S) == 3) z[g] = _mm512_mask_permutexvar_epi32(z[g], replaced, second, l[2 % (S)]); \
                if ((S) > 3) \
                    z[g] = _mm512_mask_mov_epi32( \
                        z[g], replaced, _mm512_permutex2var_epi32(l[LINE_OF(S, s, 2)], second, l[LINE_OF(S, s, 3)])); \
            } \
            store_slot(w + s, z, G); \
        } \
        from += 64 * (S) * (G), left -= (G); \
    }

#define UNWIDE(S, G) \
    static void unwide_##S(scatter_unwide *w, const char *from, ptrdiff_t n) { \
        ptrdiff_t left = n / 4; \
        while (left >= (G)) TAKE(S, G) \
        while (left > 0) TAKE(S, 1) \
    }

UNWIDE(1, 4)
UNWIDE(2, 4)
UNWIDE(3, 4)
UNWIDE(4, 4)
UNWIDE(5, 3)
UNWIDE(6, 3)
UNWIDE(7, 2)
UNWIDE(8, 2)

void scatter_unwide_avx512(scatter_unwide *w, int count, const char *from, ptrdiff_t n) {
    static void (*const by_count[WIDE_SLOTS])(scatter_unwide *, const char *, ptrdiff_t) = {
        unwide_1, unwide_2, unwide_3, unwide_4, unwide_5, unwide_6, unwide_7, unwide_8,
    };
    by_count[count - 1](w, from, n);
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
