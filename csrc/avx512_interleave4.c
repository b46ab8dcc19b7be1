/* Interleaves four records with AVX-512: a slot of all four is one register, and each store is a whole line. See
 * interleave4_slot. */
#include "isa_avx512.h"

#ifdef ISA_X86

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif

/* GROUPS times four records at a time. The hardware prefetches five streams, but not far enough ahead for bursts of
 * loads, which 8-byte scalars make twice as long. */
enum { GROUPS = 4, AHEAD = 4096 };

ALWAYS_INLINE __m128i load_lane(const char *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }

/* Signs of values that do not fit: f32 infinities, and bits above the low 32. A load may read values of the next record
 * too: these are checked again with that record. */
typedef struct {
    __m512i high;
    unsigned infinite;
} overflow;

enum { INFINITE = 0x18 }; /* both signs, to fpclass */

/* One lane of `type`, converted to the record's scalars. */
ALWAYS_INLINE __m128i lane_as(const char *p, const int type, overflow *found) {
    if (type == LANE_WORDS) return load_lane(p);
    if (type == LANE_F64) {
        __m128 x = _mm256_cvtpd_ps(_mm256_loadu_pd((const double *)(const void *)p));
        found->infinite |= _mm_fpclass_ps_mask(x, INFINITE);
        return _mm_castps_si128(x);
    }
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high = type == LANE_I64_U32 ? x : _mm256_add_epi64(x, _mm256_set1_epi64x(1ll << 31));
    found->high = _mm512_or_si512(_mm512_zextsi256_si512(high), found->high);
    return _mm256_cvtepi64_epi32(x);
}

/* The same for four lanes that are one piece. */
ALWAYS_INLINE __m512i lanes_as(const char *p, const int type, overflow *found) {
    if (type == LANE_WORDS) return _mm512_loadu_si512((const void *)p);
    if (type == LANE_F64) {
        __m256 low = _mm512_cvtpd_ps(_mm512_loadu_pd((const void *)p));
        __m256 high = _mm512_cvtpd_ps(_mm512_loadu_pd((const void *)(p + 64)));
        __m512 x = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
        found->infinite |= _mm512_fpclass_ps_mask(x, INFINITE);
        return _mm512_castps_si512(x);
    }
    __m512i x = _mm512_loadu_si512((const void *)p), y = _mm512_loadu_si512((const void *)(p + 64));
    __m512i bias = _mm512_set1_epi64(type == LANE_I64_U32 ? 0 : 1ll << 31);
    found->high = _mm512_or_si512(_mm512_or_si512(_mm512_add_epi64(x, bias), _mm512_add_epi64(y, bias)), found->high);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(x)), _mm512_cvtepi64_epi32(y), 1);
}

/* The slot and the record in 16-byte lane `lane` of line `line`. */
ALWAYS_INLINE int slot_of(const int count, int line, int lane) { return (4 * line + lane) % count; }
ALWAYS_INLINE int record_of(const int count, int line, int lane) { return (4 * line + lane) / count % 4; }

/* A line has its lanes from at most four slots. One permutation takes two of them: `first` those of lanes 0 and 1,
 * `second` those of lanes 2 and 3. The indices are computed once. */
typedef struct {
    __m512i first[MAX_INTERLEAVED], second[MAX_INTERLEAVED];
} permutations;

/* The indices for lanes 0 to 3 of a line, as if all of them came from slot `slot`. */
ALWAYS_INLINE __m512i units_of(const interleave4_slot *w, const int count, const int line, const int slot) {
    __m512i index = _mm512_loadu_si512((const void *)w[slot].index);
    int r0 = record_of(count, line, 0), r1 = record_of(count, line, 1), r2 = record_of(count, line, 2),
        r3 = record_of(count, line, 3);
    return _mm512_permutexvar_epi64(
        _mm512_setr_epi64(2 * r0, 2 * r0 + 1, 2 * r1, 2 * r1 + 1, 2 * r2, 2 * r2 + 1, 2 * r3, 2 * r3 + 1), index);
}

/* The indices for lanes a and b: units of lane b's slot count on after the 16 of lane a's. */
ALWAYS_INLINE __m512i pair_of(const interleave4_slot *w, const int count, const int line, const int a, const int b) {
    const int slot = slot_of(count, line, b);
    __m512i from_a = units_of(w, count, line, slot_of(count, line, a));
    if (slot == slot_of(count, line, a)) return from_a;
    unsigned mask = 0;
    UNROLL for (int lane = 0; lane < 4; lane++) mask |= slot_of(count, line, lane) == slot ? 0xfu << (4 * lane) : 0;
    return _mm512_mask_add_epi32(from_a, (__mmask16)mask, units_of(w, count, line, slot), _mm512_set1_epi32(16));
}

ALWAYS_INLINE permutations find_permutations(const interleave4_slot *w, const int count) {
    permutations p;
    UNROLL for (int line = 0; line < count; line++) {
        p.first[line] = pair_of(w, count, line, 0, 1);
        p.second[line] = pair_of(w, count, line, 2, 3);
    }
    return p;
}

/* Stores four records, whose slot s is z[s * GROUPS]. */
ALWAYS_INLINE void store_lines(char *to, const __m512i *z, const permutations *p, const int count, const int stream) {
    UNROLL for (int line = 0; line < count; line++) {
        __m512i a = z[slot_of(count, line, 0) * GROUPS], b = z[slot_of(count, line, 1) * GROUPS];
        __m512i c = z[slot_of(count, line, 2) * GROUPS], d = z[slot_of(count, line, 3) * GROUPS];
        __m512i x =
            count == 1 ? _mm512_permutexvar_epi32(p->first[line], a) : _mm512_permutex2var_epi32(a, p->first[line], b);
        if (count == 3) x = _mm512_mask_permutexvar_epi32(x, 0x0f00, p->second[line], c);
        if (count > 3) x = _mm512_mask_mov_epi32(x, 0xff00, _mm512_permutex2var_epi32(c, p->second[line], d));
        avx512_store(to + CACHE_LINE * line, x, stream);
    }
}

ALWAYS_INLINE void prefetch_lanes(const interleave4_slot *w, const int groups) {
    UNROLL for (int k = 0; k < 4; k++) {
        for (ptrdiff_t b = 0; b < groups * w->step[k]; b += CACHE_LINE)
            _mm_prefetch(w->lane[k] + AHEAD + b, _MM_HINT_T0);
    }
}

/* Loads `groups` times four records of a slot without conversions. */
ALWAYS_INLINE void load_words(interleave4_slot *w, __m512i *z, const int groups) {
    const char *a = w->lane[0], *d = w->lane[3];
    const ptrdiff_t sa = w->step[0], sd = w->step[3];
    if (w->shape == SLOT_COUNT || w->shape == SLOT_12_4) {
        UNROLL for (int g = 0; g < groups; g++) z[g] = _mm512_loadu_si512((const void *)(a + g * sa));
        w->lane[0] = a + groups * sa;
    } else {
        const char *b = w->lane[1], *c = w->lane[2];
        const ptrdiff_t sb = w->step[1], sc = w->step[2];
        UNROLL for (int g = 0; g < groups; g++) {
            z[g] = _mm512_castsi128_si512(load_lane(a + g * sa));
            z[g] = _mm512_inserti32x4(z[g], load_lane(b + g * sb), 1);
            z[g] = _mm512_inserti32x4(z[g], load_lane(c + g * sc), 2);
        }
        w->lane[0] = a + groups * sa, w->lane[1] = b + groups * sb, w->lane[2] = c + groups * sc;
    }
    if (w->shape != SLOT_COUNT) {
        UNROLL for (int g = 0; g < groups; g++) z[g] = _mm512_inserti32x4(z[g], load_lane(d + g * sd), 3);
        w->lane[3] = d + groups * sd;
    }
}

/* Converts one lane of `groups` times four records, or, if `whole`, all four lanes at once. */
ALWAYS_INLINE void convert_as(__m512i *z, const interleave4_slot *w, const int k, const int type, const int whole,
                              int groups, overflow *found) {
    const char *p = w->lane[k];
    for (int g = 0; g < groups; g++, p += w->step[k]) {
        if (whole) {
            z[g] = lanes_as(p, type, found);
            continue;
        }
        __m128i lane = lane_as(p, type, found);
        z[g] = k == 0   ? _mm512_castsi128_si512(lane)
               : k == 1 ? _mm512_inserti32x4(z[g], lane, 1)
               : k == 2 ? _mm512_inserti32x4(z[g], lane, 2)
                        : _mm512_inserti32x4(z[g], lane, 3);
    }
}

ALWAYS_INLINE void convert_lane(__m512i *z, const interleave4_slot *w, const int k, const int whole, int groups,
                                overflow *found) {
    switch (w->type[k]) {
        case LANE_WORDS: convert_as(z, w, k, LANE_WORDS, whole, groups, found); break;
        case LANE_F64: convert_as(z, w, k, LANE_F64, whole, groups, found); break;
        case LANE_I64_U32: convert_as(z, w, k, LANE_I64_U32, whole, groups, found); break;
        default: convert_as(z, w, k, LANE_I64_I32, whole, groups, found);
    }
}

/* Loads all slots, with conversions. */
static void __attribute__((noinline)) convert_slots(interleave4_slot *w, int count, __m512i *z, int groups, int stream,
                                                    overflow *found) {
    overflow here = *found;
    for (int s = 0; s < count; s++, w++, z += GROUPS) {
        if (stream) prefetch_lanes(w, groups);
        if (w->shape == SLOT_COUNT || w->shape == SLOT_12_4) {
            convert_lane(z, w, 0, 1, groups, &here);
        } else {
            convert_lane(z, w, 0, 0, groups, &here);
            convert_lane(z, w, 1, 0, groups, &here);
            convert_lane(z, w, 2, 0, groups, &here);
        }
        if (w->shape != SLOT_COUNT) convert_lane(z, w, 3, 0, groups, &here);
        for (int k = 0; k < 4; k++) w->lane[k] += w->step[k] * groups;
    }
    *found = here;
}

/* Writes `groups` times four records. */
ALWAYS_INLINE void write_groups(interleave4_slot *w, char *to, const permutations *p, const int count, const int groups,
                                const int stream, const int words, overflow *found) {
    __m512i z[MAX_INTERLEAVED * GROUPS];
    if (words) {
        UNROLL for (int s = 0; s < count; s++) load_words(w + s, z + GROUPS * s, groups);
    } else {
        convert_slots(w, count, z, groups, stream, found);
    }
    UNROLL for (int g = 0; g < groups; g++) store_lines(to + CACHE_LINE * count * g, z + g, p, count, stream);
}

/* `count` slots; words: none of them converts. */
ALWAYS_INLINE int interleave(interleave4_slot *w, char *to, ptrdiff_t n, const int count, const int stream,
                             const int words) {
    overflow found = {_mm512_setzero_si512(), 0};
    const permutations p = find_permutations(w, count);
    for (; n >= 4 * GROUPS; n -= 4 * GROUPS, to += 16 * count * 4 * GROUPS)
        write_groups(w, to, &p, count, GROUPS, stream, words, &found);
    for (; n > 0; n -= 4, to += 16 * count * 4) write_groups(w, to, &p, count, 1, stream, words, &found);
    if (words) return 0;
    return found.infinite || _mm512_test_epi64_mask(found.high, _mm512_set1_epi64(~0xffffffffll)) != 0;
}

ALWAYS_INLINE int interleave_as(interleave4_slot *w, char *to, ptrdiff_t n, const int count, int stream, int words) {
    if (words) return stream ? interleave(w, to, n, count, 1, 1) : interleave(w, to, n, count, 0, 1);
    return stream ? interleave(w, to, n, count, 1, 0) : interleave(w, to, n, count, 0, 0);
}

int avx512_interleave4(interleave4_slot *w, int count, char *to, ptrdiff_t n, int stream) {
    int words = 1;
    for (int s = 0; s < count; s++)
        for (int k = 0; k < 4; k++) words &= w[s].type[k] == LANE_WORDS;
    switch (count) {
        case 1: return interleave_as(w, to, n, 1, stream, words);
        case 2: return interleave_as(w, to, n, 2, stream, words);
        case 3: return interleave_as(w, to, n, 3, stream, words);
        case 4: return interleave_as(w, to, n, 4, stream, words);
        case 5: return interleave_as(w, to, n, 5, stream, words);
        case 6: return interleave_as(w, to, n, 6, stream, words);
        case 7: return interleave_as(w, to, n, 7, stream, words);
        default: return interleave_as(w, to, n, 8, stream, words);
    }
}

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
