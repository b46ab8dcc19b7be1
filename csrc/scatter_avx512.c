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

/* What conversions in lanes have met: the largest magnitude, and bits that a 32-bit integer has no room for. */
typedef struct {
    __m512d largest;
    __m512i high;
} seen;

INLINE __m128i lane_as(const char *p, int type, seen *seen) {
    if (type == LANE_WORDS) return lane(p);
    if (type == LANE_F64) {
        __m256d x = _mm256_loadu_pd((const double *)(const void *)p);
        seen->largest = _mm512_max_pd(_mm512_abs_pd(_mm512_zextpd256_pd512(x)), seen->largest);
        return _mm_castps_si128(_mm256_cvtpd_ps(x));
    }
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high = type == LANE_I64_U32 ? x : _mm256_add_epi64(x, _mm256_set1_epi64x(1ll << 31));
    seen->high = _mm512_or_si512(_mm512_zextsi256_si512(high), seen->high);
    return _mm256_cvtepi64_epi32(x);
}

INLINE __m512i line_as(const char *p, int type, seen *seen) {
    if (type == LANE_WORDS) return _mm512_loadu_si512((const void *)p);
    if (type == LANE_F64) {
        __m512d x = _mm512_loadu_pd((const void *)p), y = _mm512_loadu_pd((const void *)(p + 64));
        seen->largest = _mm512_max_pd(_mm512_abs_pd(x), seen->largest); /* a NaN leaves the second operand */
        seen->largest = _mm512_max_pd(_mm512_abs_pd(y), seen->largest);
        __m256i low = _mm256_castps_si256(_mm512_cvtpd_ps(x)), high = _mm256_castps_si256(_mm512_cvtpd_ps(y));
        return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }
    __m512i x = _mm512_loadu_si512((const void *)p), y = _mm512_loadu_si512((const void *)(p + 64));
    __m512i bias = _mm512_set1_epi64(type == LANE_I64_U32 ? 0 : 1ll << 31);
    seen->high = _mm512_or_si512(_mm512_or_si512(_mm512_add_epi64(x, bias), _mm512_add_epi64(y, bias)), seen->high);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(x)), _mm512_cvtepi64_epi32(y), 1);
}

INLINE __m512i sources(const char *const p[4], const int32_t type[4], int simple, seen *seen) {
    __m512i z;
    if (simple) {
        z = line_as(p[0], type[0], seen);
    } else {
        z = _mm512_castsi128_si512(lane_as(p[0], type[0], seen));
        z = _mm512_inserti32x4(z, lane_as(p[1], type[1], seen), 1);
        z = _mm512_inserti32x4(z, lane_as(p[2], type[2], seen), 2);
    }
    return _mm512_inserti32x4(z, lane_as(p[3], type[3], seen), 3);
}

/* A reach beyond the record's own values may have seen a neighbour's, which is looked at in its turn anyway. */
INLINE int is_suspect(seen seen) {
    return _mm512_cmp_pd_mask(seen.largest, _mm512_set1_pd(0x1.ffffffp127), _CMP_GE_OQ) != 0 ||
           _mm512_test_epi64_mask(seen.high, _mm512_set1_epi64(-1ll << 32)) != 0;
}

INLINE void put(char *to, __m512i line, int stream) {
    if (stream)
        _mm512_stream_si512((void *)to, line);
    else
        _mm512_storeu_si512((void *)to, line);
}

/* Lane L of output line J holds slot (4J + L) % S of record (4J + L) / S. One shuffle takes all lanes of
 * one slot to their places, so a line costs as many shuffles as it has different slots. */
#define SLOT_OF(S, J, L)   ((4 * (J) + (L)) % (S))
#define RECORD_OF(S, J, L) ((4 * (J) + (L)) / (S) % 4)
#define RECORDS(S, J) (RECORD_OF(S, J, 0) | RECORD_OF(S, J, 1) << 2 | RECORD_OF(S, J, 2) << 4 | RECORD_OF(S, J, 3) << 6)
#define SAME(S, J, L, M) (SLOT_OF(S, J, L) == SLOT_OF(S, J, M))
#define LANES(S, J, L) \
    ((SAME(S, J, L, 0) ? 0x03 : 0) | (SAME(S, J, L, 1) ? 0x0c : 0) | (SAME(S, J, L, 2) ? 0x30 : 0) | \
     (SAME(S, J, L, 3) ? 0xc0 : 0))
#define SHUFFLE(S, J, L) z[SLOT_OF(S, J, L)], z[SLOT_OF(S, J, L)], RECORDS(S, J)
#define MERGE(S, J, L)   line = _mm512_mask_shuffle_i64x2(line, LANES(S, J, L), SHUFFLE(S, J, L))
#define LINE(S, J) \
    { \
        __m512i line = _mm512_shuffle_i64x2(SHUFFLE(S, J, 0)); \
        if (!SAME(S, J, 1, 0)) MERGE(S, J, 1); \
        if (!SAME(S, J, 2, 0) && !SAME(S, J, 2, 1)) MERGE(S, J, 2); \
        if (!SAME(S, J, 3, 0) && !SAME(S, J, 3, 1) && !SAME(S, J, 3, 2)) MERGE(S, J, 3); \
        put(to + 64 * (J), line, stream); \
    }
#define WIDE(S) \
    INLINE int wide_##S(const scatter_wide *w, char *to, ptrdiff_t n, const int stream, const int words) { \
        static const int32_t plain[4] = {0, 0, 0, 0}; \
        seen seen = {_mm512_setzero_pd(), _mm512_setzero_si512()}; \
        const char *p[S][4]; \
        __m512i index[S]; \
        for (int s = 0; s < S; s++) { \
            for (int k = 0; k < 4; k++) p[s][k] = w[s].lane[k]; \
            index[s] = _mm512_loadu_si512((const void *)w[s].index); \
        } \
        for (ptrdiff_t i = 0; i < n; i += 4, to += 64 * S) { \
            __m512i z[S]; \
            _Pragma("GCC unroll 8") for (int s = 0; s < S; s++) { \
                int simple = !w[s].lane[1]; \
                z[s] = _mm512_permutexvar_epi32(index[s], sources(p[s], words ? plain : w[s].type, simple, &seen)); \
                p[s][0] += w[s].step[0], p[s][3] += w[s].step[3]; \
                if (!simple) p[s][1] += w[s].step[1], p[s][2] += w[s].step[2]; \
            } \
            LINES_##S \
        } \
        return words ? 0 : is_suspect(seen); \
    }

#define LINES_1 put(to, z[0], stream);
#define LINES_2 LINE(2, 0) LINE(2, 1)
#define LINES_3 LINE(3, 0) LINE(3, 1) LINE(3, 2)
#define LINES_4 LINE(4, 0) LINE(4, 1) LINE(4, 2) LINE(4, 3)
#define LINES_5 LINE(5, 0) LINE(5, 1) LINE(5, 2) LINE(5, 3) LINE(5, 4)
#define LINES_6 LINE(6, 0) LINE(6, 1) LINE(6, 2) LINE(6, 3) LINE(6, 4) LINE(6, 5)
#define LINES_7 LINE(7, 0) LINE(7, 1) LINE(7, 2) LINE(7, 3) LINE(7, 4) LINE(7, 5) LINE(7, 6)
#define LINES_8 LINE(8, 0) LINE(8, 1) LINE(8, 2) LINE(8, 3) LINE(8, 4) LINE(8, 5) LINE(8, 6) LINE(8, 7)

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

int scatter_wide_avx512(const scatter_wide *w, int count, char *to, ptrdiff_t n, int stream) {
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
