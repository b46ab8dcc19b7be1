/* x86-64 with AVX-512: four records of a slot in one register, whole 64-byte lines out. */
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

INLINE __m128i lane(const char *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }

/* What conversions in lanes have met: float32 infinities, and bits that a 32-bit integer has no room for. A reach
 * beyond the record's own values may have seen a neighbour's, which is looked at in its turn anyway. */
typedef struct {
    __m512i high;
    unsigned infinite;
} seen;

enum { INFINITE = 0x18 };

INLINE __m128i lane_as(const char *p, const int type, seen *seen) {
    if (type == LANE_WORDS) return lane(p);
    if (type == LANE_F64) {
        __m128 x = _mm256_cvtpd_ps(_mm256_loadu_pd((const double *)(const void *)p));
        seen->infinite |= _mm_fpclass_ps_mask(x, INFINITE);
        return _mm_castps_si128(x);
    }
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high = type == LANE_I64_U32 ? x : _mm256_add_epi64(x, _mm256_set1_epi64x(1ll << 31));
    seen->high = _mm512_or_si512(_mm512_zextsi256_si512(high), seen->high);
    return _mm256_cvtepi64_epi32(x);
}

INLINE __m512i line_as(const char *p, const int type, seen *seen) {
    if (type == LANE_WORDS) return _mm512_loadu_si512((const void *)p);
    if (type == LANE_F64) {
        __m256 low = _mm512_cvtpd_ps(_mm512_loadu_pd((const void *)p));
        __m256 high = _mm512_cvtpd_ps(_mm512_loadu_pd((const void *)(p + 64)));
        __m512 x = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
        seen->infinite |= _mm512_fpclass_ps_mask(x, INFINITE);
        return _mm512_castps_si512(x);
    }
    __m512i x = _mm512_loadu_si512((const void *)p), y = _mm512_loadu_si512((const void *)(p + 64));
    __m512i bias = _mm512_set1_epi64(type == LANE_I64_U32 ? 0 : 1ll << 31);
    seen->high = _mm512_or_si512(_mm512_or_si512(_mm512_add_epi64(x, bias), _mm512_add_epi64(y, bias)), seen->high);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(x)), _mm512_cvtepi64_epi32(y), 1);
}

INLINE int is_suspect(seen seen) {
    return seen.infinite || _mm512_test_epi64_mask(seen.high, _mm512_set1_epi64(-1ll << 32)) != 0;
}

INLINE void put(char *to, __m512i line, int stream) {
    if (stream)
        _mm512_stream_si512((void *)to, line);
    else
        _mm512_storeu_si512((void *)to, line);
}

/* Lane L of output line J holds slot (4J + L) % S of record (4J + L) / S. A line takes its lanes from at most four
 * slots, two of them by one permutation; which unit goes where is worked out once for each line and pair. */
#define SLOT_OF(S, J, L)   ((4 * (J) + (L)) % (S))
#define RECORD_OF(S, J, L) ((4 * (J) + (L)) / (S) % 4)
#define RECORDS(S, J) (RECORD_OF(S, J, 0) | RECORD_OF(S, J, 1) << 2 | RECORD_OF(S, J, 2) << 4 | RECORD_OF(S, J, 3) << 6)
#define SAME(S, J, L, M) (SLOT_OF(S, J, L) == SLOT_OF(S, J, M))
#define UNITS_OF(S, J, L) \
    ((SAME(S, J, L, 0) ? 0x000f : 0) | (SAME(S, J, L, 1) ? 0x00f0 : 0) | (SAME(S, J, L, 2) ? 0x0f00 : 0) | \
     (SAME(S, J, L, 3) ? 0xf000 : 0))
#define INDEX_OF(S, J, L) _mm512_shuffle_i64x2(index[SLOT_OF(S, J, L)], index[SLOT_OF(S, J, L)], RECORDS(S, J))
/* The units of lane M's slot are numbered behind the 16 of lane L's. */
#define PAIR(S, J, L, M) \
    _mm512_mask_add_epi32(INDEX_OF(S, J, L), UNITS_OF(S, J, M), INDEX_OF(S, J, M), _mm512_set1_epi32(16))
#define PLAN(S, J) \
    first[(J) % (S)] = SAME(S, J, 0, 1) ? INDEX_OF(S, J, 0) : PAIR(S, J, 0, 1); \
    second[(J) % (S)] = SAME(S, J, 2, 3) ? INDEX_OF(S, J, 2) : PAIR(S, J, 2, 3);
#define LINE(S, J) \
    if ((J) < (S)) { \
        const __m512i *a = z[SLOT_OF(S, J, 0)], *b = z[SLOT_OF(S, J, 1)], *c = z[SLOT_OF(S, J, 2)], \
                      *d = z[SLOT_OF(S, J, 3)]; \
        __m512i line = (S) == 1 ? _mm512_permutexvar_epi32(first[0], a[g]) \
                                : _mm512_permutex2var_epi32(a[g], first[(J) % (S)], b[g]); \
        if ((S) == 3) line = _mm512_mask_permutexvar_epi32(line, 0x0f00, second[(J) % (S)], c[g]); \
        if ((S) > 3) \
            line = _mm512_mask_mov_epi32(line, 0xff00, _mm512_permutex2var_epi32(c[g], second[(J) % (S)], d[g])); \
        put(to + 64 * ((S) * g + (J)), line, stream); \
    }
#define EACH(MACRO, S) MACRO(S, 0) MACRO(S, 1) MACRO(S, 2) MACRO(S, 3) MACRO(S, 4) MACRO(S, 5) MACRO(S, 6) MACRO(S, 7)

#define GROUPS         4

/* Hardware follows five streams from memory, but not far enough ahead of loads that come in bursts: a column of
 * 8-byte scalars is twice the bytes at a time. */
enum { AHEAD = 4096 };

INLINE void fetch_ahead(const scatter_wide *w, const int groups) {
    _Pragma("GCC unroll 4") for (int k = 0; k < 4; k++) {
        for (ptrdiff_t b = 0; b < groups * w->step[k]; b += 64) _mm_prefetch(w->lane[k] + AHEAD + b, _MM_HINT_T0);
    }
}

INLINE void move_on(scatter_wide *w, int groups) {
    for (int k = 0; k < 4; k++) w->lane[k] += w->step[k] * groups;
}

/* `groups` times four records of a slot that converts nothing. */
INLINE void load_words(scatter_wide *w, __m512i *z, const int groups) {
    const char *a = w->lane[0], *d = w->lane[3];
    const ptrdiff_t sa = w->step[0], sd = w->step[3];
    if (w->kind == SLOT_COUNT || w->kind == SLOT_12_4) {
        _Pragma("GCC unroll 4") for (int g = 0; g < groups; g++) z[g] = _mm512_loadu_si512((const void *)(a + g * sa));
        w->lane[0] = a + groups * sa;
    } else {
        const char *b = w->lane[1], *c = w->lane[2];
        const ptrdiff_t sb = w->step[1], sc = w->step[2];
        _Pragma("GCC unroll 4") for (int g = 0; g < groups; g++) {
            z[g] = _mm512_castsi128_si512(lane(a + g * sa));
            z[g] = _mm512_inserti32x4(z[g], lane(b + g * sb), 1);
            z[g] = _mm512_inserti32x4(z[g], lane(c + g * sc), 2);
        }
        w->lane[0] = a + groups * sa, w->lane[1] = b + groups * sb, w->lane[2] = c + groups * sc;
    }
    if (w->kind != SLOT_COUNT) {
        _Pragma("GCC unroll 4") for (int g = 0; g < groups; g++) z[g] = _mm512_inserti32x4(z[g], lane(d + g * sd), 3);
        w->lane[3] = d + groups * sd;
    }
}

/* The same with conversions, for all slots. */
#define BY_TYPE(TYPE, VALUE) \
    switch (TYPE) { \
        case LANE_WORDS: EACH_GROUP(LANE_WORDS, VALUE) break; \
        case LANE_F64: EACH_GROUP(LANE_F64, VALUE) break; \
        case LANE_I64_U32: EACH_GROUP(LANE_I64_U32, VALUE) break; \
        default: EACH_GROUP(LANE_I64_I32, VALUE) \
    }
#define EACH_GROUP(TYPE, VALUE) \
    for (int g = 0; g < groups; g++, p += step) { \
        const int type = TYPE; \
        z[g] = VALUE; \
    }
#define LANE(K, VALUE) \
    { \
        const char *p = w->lane[K]; \
        const ptrdiff_t step = w->step[K]; \
        BY_TYPE(w->type[K], VALUE) \
    }

static void
    __attribute__((noinline)) convert_slots(scatter_wide *w, int count, __m512i *z, int groups, int stream, seen *met) {
    seen seen = *met;
    for (int s = 0; s < count; s++, w++, z += GROUPS) {
        if (stream) fetch_ahead(w, groups);
        if (w->kind == SLOT_COUNT || w->kind == SLOT_12_4) {
            LANE(0, line_as(p, type, &seen))
        } else {
            LANE(0, _mm512_castsi128_si512(lane_as(p, type, &seen)))
            LANE(1, _mm512_inserti32x4(z[g], lane_as(p, type, &seen), 1))
            LANE(2, _mm512_inserti32x4(z[g], lane_as(p, type, &seen), 2))
        }
        if (w->kind != SLOT_COUNT) LANE(3, _mm512_inserti32x4(z[g], lane_as(p, type, &seen), 3))
        move_on(w, groups);
    }
    *met = seen;
}

#define WIDE(S) \
    INLINE int wide_##S(scatter_wide *w, char *to, ptrdiff_t n, const int stream, const int words) { \
        __m512i index[S], first[S], second[S]; \
        seen seen = {_mm512_setzero_si512(), 0}; \
        _Pragma("GCC unroll 8") for (int s = 0; s < S; s++) index[s] = _mm512_loadu_si512((const void *)w[s].index); \
        EACH(PLAN, S) \
        for (ptrdiff_t left = n / 4; left > 0;) { \
            __m512i z[S][GROUPS]; \
            if (left >= GROUPS) { \
                if (words) { \
                    _Pragma("GCC unroll 8") for (int s = 0; s < S; s++) load_words(w + s, z[s], GROUPS); \
                } else { \
                    convert_slots(w, S, z[0], GROUPS, stream, &seen); \
                } \
                _Pragma("GCC unroll 4") for (int g = 0; g < GROUPS; g++){EACH(LINE, S)} to += 64 * S * GROUPS, \
                    left -= GROUPS; \
            } else { \
                const int g = 0; \
                if (words) { \
                    _Pragma("GCC unroll 8") for (int s = 0; s < S; s++) load_words(w + s, z[s], 1); \
                } else { \
                    convert_slots(w, S, z[0], 1, stream, &seen); \
                } \
                EACH(LINE, S) \
                to += 64 * S, left -= 1; \
            } \
        } \
        return words ? 0 : is_suspect(seen); \
    }

WIDE(1)
WIDE(2)
WIDE(3)
WIDE(4)
WIDE(5)
WIDE(6)
WIDE(7)
WIDE(8)

#define CASE(S) \
    case S: \
        if (words) return stream ? wide_##S(w, to, n, 1, 1) : wide_##S(w, to, n, 0, 1); \
        return stream ? wide_##S(w, to, n, 1, 0) : wide_##S(w, to, n, 0, 0)

int scatter_wide_avx512(scatter_wide *w, int count, char *to, ptrdiff_t n, int stream) {
    int words = 1;
    for (int s = 0; s < count; s++)
        for (int k = 0; k < 4; k++) words &= w[s].type[k] == LANE_WORDS;
    switch (count) {
        CASE(1);
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(5);
        CASE(6);
        CASE(7);
        CASE(8);
    }
    return 0;
}

void scatter_stream_avx512(char *to, const char *from, ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < bytes; i += 64)
        _mm512_stream_si512((void *)(to + i), _mm512_loadu_si512((const void *)(from + i)));
}

void scatter_mask_avx512(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int stream) {
    for (ptrdiff_t i = 0, at = 0; i < lines * 64; i += 64, at = at + 64 == period ? 0 : at + 64)
        put(to + i,
            _mm512_and_si512(_mm512_loadu_si512((const void *)(from + i)),
                             _mm512_loadu_si512((const void *)(mask + at))),
            stream);
}

/* A block without a value this large has none that rounds to infinity; one with is searched exactly. */
ptrdiff_t scatter_f64_f32_avx512(void *to, const void *from, ptrdiff_t n) {
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

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
