/* Slots of four records in 16-byte registers. Included after x86_slots.h and stream(to, from, bytes).
 *
 * Records are written in rounds, each slot by slot. A records's lines stay in L1: in the destination itself or, when
 * streaming, in a stage that is then streamed in whole lines. Loading the last vec3 of four reads 4 bytes of the next
 * one. */

enum { ROUND = 128, STREAM_ROUND = 32, AHEAD = 2048 };

/* Signs of values that do not fit: f32 infinities, and bits above the low 32. */
typedef struct {
    __m128i infinite, high;
} overflow;

static inline __m128i load_integers(const char *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }

/* Four 8-byte scalars of `type`, converted to the record's. */
ALWAYS_INLINE __m128 convert_4(const char *p, const int type, overflow *found) {
    if (type == LANE_F64) {
        __m128 low = _mm_cvtpd_ps(_mm_loadu_pd((const double *)(const void *)p));
        __m128 high = _mm_cvtpd_ps(_mm_loadu_pd((const double *)(const void *)(p + 16)));
        __m128 x = _mm_movelh_ps(low, high);
        __m128i size = _mm_and_si128(_mm_castps_si128(x), _mm_set1_epi32(0x7fffffff));
        found->infinite = _mm_or_si128(found->infinite, _mm_cmpeq_epi32(size, _mm_set1_epi32(0x7f800000)));
        return x;
    }
    __m128i a = load_integers(p), b = load_integers(p + 16);
    const __m128i bias = _mm_set1_epi64x(type == LANE_I64_U32 ? 0 : 1ll << 31);
    found->high = _mm_or_si128(found->high, _mm_or_si128(_mm_add_epi64(a, bias), _mm_add_epi64(b, bias)));
    return _mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88);
}

ALWAYS_INLINE void convert_lane_as(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t step, const int type,
                                   ptrdiff_t groups, overflow *found) {
    overflow here = *found;
    for (ptrdiff_t g = 0; g < groups; g++) store(to + to_step * g, convert_4(from + g * step, type, &here));
    *found = here;
}

static void convert_lane(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t step, int type, ptrdiff_t groups,
                         overflow *found) {
    if (type == LANE_F64)
        convert_lane_as(to, to_step, from, step, LANE_F64, groups, found);
    else if (type == LANE_I64_U32)
        convert_lane_as(to, to_step, from, step, LANE_I64_U32, groups, found);
    else
        convert_lane_as(to, to_step, from, step, LANE_I64_I32, groups, found);
}

ALWAYS_INLINE void store_4(char *to, ptrdiff_t stride, __m128 r0, __m128 r1, __m128 r2, __m128 r3) {
    store(to, r0);
    store(to + stride, r1);
    store(to + 2 * stride, r2);
    store(to + 3 * stride, r3);
}

/* Four records of one slot, from their lanes. */
ALWAYS_INLINE void write_4(char *to, ptrdiff_t stride, const char *a, const char *b, const char *c, const char *d,
                           const int shape) {
    if (shape == SLOT_12_4) {
        UNROLL for (int k = 0; k < 4; k++) store(to + k * stride, with_last(load_16(a + 12 * k), broadcast(d + 4 * k)));
        return;
    }
    __m128 x = load_16(a), y = load_16(b), z = load_16(c), w = load_16(d);
    if (shape == SLOT_8_8) {
        store_4(to, stride, _mm_movelh_ps(x, z), _mm_movehl_ps(z, x), _mm_movelh_ps(y, w), _mm_movehl_ps(w, y));
    } else if (shape == SLOT_8_4_4) {
        __m128 low = _mm_unpacklo_ps(z, w), high = _mm_unpackhi_ps(z, w);
        store_4(to, stride, _mm_movelh_ps(x, low), _mm_movehl_ps(low, x), _mm_movelh_ps(y, high),
                _mm_movehl_ps(high, y));
    } else if (shape == SLOT_4_4_8) {
        __m128 low = _mm_unpacklo_ps(x, y), high = _mm_unpackhi_ps(x, y);
        store_4(to, stride, _mm_movelh_ps(low, z), _mm_movehl_ps(z, low), _mm_movelh_ps(high, w),
                _mm_movehl_ps(w, high));
    } else if (shape == SLOT_4_4_4_4) {
        _MM_TRANSPOSE4_PS(x, y, z, w);
        store_4(to, stride, x, y, z, w);
    } else {
        store_4(to, stride, x, y, z, w);
    }
}

ALWAYS_INLINE void write_groups_as(char *to, ptrdiff_t stride, const char *const lane[4], const ptrdiff_t step[4],
                                   ptrdiff_t groups, const int shape) {
    const char *a = lane[0], *b = lane[1], *c = lane[2], *d = lane[3];
    const ptrdiff_t sa = step[0], sb = step[1], sc = step[2], sd = step[3];
    for (ptrdiff_t g = 0; g < groups; g++, to += 4 * stride, a += sa, b += sb, c += sc, d += sd)
        write_4(to, stride, a, b, c, d, shape);
}

/* `groups` times four records of one slot. */
static void write_groups(char *to, ptrdiff_t stride, const char *const lane[4], const ptrdiff_t step[4],
                         ptrdiff_t groups, int shape) {
    switch (shape) {
        case SLOT_12_4: write_groups_as(to, stride, lane, step, groups, SLOT_12_4); break;
        case SLOT_8_8: write_groups_as(to, stride, lane, step, groups, SLOT_8_8); break;
        case SLOT_8_4_4: write_groups_as(to, stride, lane, step, groups, SLOT_8_4_4); break;
        case SLOT_4_4_8: write_groups_as(to, stride, lane, step, groups, SLOT_4_4_8); break;
        case SLOT_4_4_4_4: write_groups_as(to, stride, lane, step, groups, SLOT_4_4_4_4); break;
        default: write_groups_as(to, stride, lane, step, groups, SLOT_COUNT);
    }
}

/* One slot of a round's records; advances its lanes. */
static void write_slot(interleave4_slot *w, char *to, ptrdiff_t stride, ptrdiff_t groups, int streamed,
                       overflow *found) {
    char converted[16 * ROUND + 16];
    const char *lane[4];
    ptrdiff_t step[4];
    for (int k = 0; k < 4; k++) {
        lane[k] = w->lane[k], step[k] = w->step[k];
        if (streamed)
            for (ptrdiff_t b = 0; b < groups * step[k]; b += CACHE_LINE) __builtin_prefetch(lane[k] + AHEAD + b);
        w->lane[k] += groups * step[k];
        if (w->type[k] == LANE_WORDS) continue;
        /* A vec3's three lanes are contiguous, as in the column; every other lane is separate. */
        int triple = w->shape == SLOT_12_4 && k < 3;
        char *at = converted + (triple ? 16 : 4 * ROUND) * k;
        ptrdiff_t at_step = triple ? 48 : 16;
        convert_lane(at, at_step, lane[k], step[k], w->type[k], groups, found);
        lane[k] = at, step[k] = at_step;
    }
    write_groups(to, stride, lane, step, groups, w->shape);
}

static int interleave4(interleave4_slot *slots, int count, char *to, ptrdiff_t n, int streamed) {
    overflow found = {_mm_setzero_si128(), _mm_setzero_si128()};
    char stage[STREAM_ROUND * 16 * MAX_INTERLEAVED] __attribute__((aligned(64)));
    const ptrdiff_t stride = 16 * count, records = streamed ? STREAM_ROUND : ROUND;
    for (; n > 0; n -= records, to += records * stride) {
        const ptrdiff_t groups = (n < records ? n : records) / 4;
        for (int s = 0; s < count; s++)
            write_slot(slots + s, (streamed ? stage : to) + 16 * s, stride, groups, streamed, &found);
        if (streamed) stream(to, stage, 4 * groups * stride);
    }
    const __m128i over = _mm_set1_epi64x(~0xffffffffll);
    return !_mm_testz_si128(found.infinite, found.infinite) || !_mm_testz_si128(found.high, over);
}
