/* Wide slots in 16-byte registers, a turn of records slot by slot. Included for each x86 instruction set behind
 * slots_x86.h, with SLOT_NAME(x) giving that set's names.
 *
 * A turn writes slot by slot, but stays within lines that are in L1 anyway: in the destination itself, or, where
 * that is streamed, in a stage that leaves in whole lines. The last vec3 of four is read into the next one.
 */

enum { SLOT_NAME(TURN) = 128, SLOT_NAME(STREAM_TURN) = 32 };

/* What conversions have met: float32 infinities, and bits that a 32-bit integer has no room for. */
typedef struct {
    __m128i infinite, high;
} SLOT_NAME(seen);

static inline __m128i SLOT_NAME(integers)(const char *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }

/* Four numbers of `type` as four of the record's, from 32 bytes. */
static inline __attribute__((always_inline)) __m128 SLOT_NAME(convert_4)(const char *p, const int type,
                                                                         SLOT_NAME(seen) * seen) {
    if (type == LANE_F64) {
        __m128 low = _mm_cvtpd_ps(_mm_loadu_pd((const double *)(const void *)p));
        __m128 high = _mm_cvtpd_ps(_mm_loadu_pd((const double *)(const void *)(p + 16)));
        __m128 x = _mm_movelh_ps(low, high);
        __m128i size = _mm_and_si128(_mm_castps_si128(x), _mm_set1_epi32(0x7fffffff));
        seen->infinite = _mm_or_si128(seen->infinite, _mm_cmpeq_epi32(size, _mm_set1_epi32(0x7f800000)));
        return x;
    }
    __m128i a = SLOT_NAME(integers)(p), b = SLOT_NAME(integers)(p + 16);
    const __m128i bias = _mm_set1_epi64x(type == LANE_I64_U32 ? 0 : 1ll << 31);
    seen->high = _mm_or_si128(seen->high, _mm_or_si128(_mm_add_epi64(a, bias), _mm_add_epi64(b, bias)));
    return _mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88);
}

#define CONVERT_LANES(TYPE) \
    for (ptrdiff_t g = 0; g < groups; g++) \
    SLOT_NAME(store)(to + to_step * g, SLOT_NAME(convert_4)(from + g * step, TYPE, seen))

static void SLOT_NAME(convert_lane)(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t step, int type,
                                    ptrdiff_t groups, SLOT_NAME(seen) * seen) {
    if (type == LANE_F64) {
        CONVERT_LANES(LANE_F64);
    } else if (type == LANE_I64_U32) {
        CONVERT_LANES(LANE_I64_U32);
    } else {
        CONVERT_LANES(LANE_I64_I32);
    }
}

#define RECORDS(R0, R1, R2, R3) \
    SLOT_NAME(store)(to, R0); \
    SLOT_NAME(store)(to + stride, R1); \
    SLOT_NAME(store)(to + 2 * stride, R2); \
    SLOT_NAME(store)(to + 3 * stride, R3);
#define EACH_GROUP(...) \
    for (ptrdiff_t g = 0; g < groups; g++, to += 4 * stride, a += sa, b += sb, c += sc, d += sd) { \
        __m128 x = SLOT_NAME(load_16)(a), y = SLOT_NAME(load_16)(b), z = SLOT_NAME(load_16)(c), \
               w = SLOT_NAME(load_16)(d); \
        __VA_ARGS__ \
    } \
    break
#define TRIPLE(K)  _mm_blend_ps(SLOT_NAME(load_16)(a + 12 * (K)), SLOT_LANE(d + 4 * (K)), 8)
#define LOW(A, B)  _mm_movelh_ps(A, B)
#define HIGH(A, B) _mm_movehl_ps(B, A)

/* `groups` times four records of one slot. */
static void SLOT_NAME(wide_slot)(const scatter_wide *slot, const char *const lane[4], const ptrdiff_t step[4], char *to,
                                 ptrdiff_t stride, ptrdiff_t groups) {
    const char *a = lane[0], *b = lane[1], *c = lane[2], *d = lane[3];
    const ptrdiff_t sa = step[0], sb = step[1], sc = step[2], sd = step[3];
    switch (slot->kind) {
        case SLOT_12_4:
            for (ptrdiff_t g = 0; g < groups; g++, to += 4 * stride, a += sa, d += sd) {
                RECORDS(TRIPLE(0), TRIPLE(1), TRIPLE(2), TRIPLE(3))
            }
            break;
        case SLOT_8_8: EACH_GROUP(RECORDS(LOW(x, z), HIGH(x, z), LOW(y, w), HIGH(y, w)));
        case SLOT_8_4_4:
            EACH_GROUP(__m128 low = _mm_unpacklo_ps(z, w), high = _mm_unpackhi_ps(z, w);
                       RECORDS(LOW(x, low), HIGH(x, low), LOW(y, high), HIGH(y, high)));
        case SLOT_4_4_8:
            EACH_GROUP(__m128 low = _mm_unpacklo_ps(x, y), high = _mm_unpackhi_ps(x, y);
                       RECORDS(LOW(low, z), HIGH(low, z), LOW(high, w), HIGH(high, w)));
        case SLOT_4_4_4_4: EACH_GROUP(_MM_TRANSPOSE4_PS(x, y, z, w); RECORDS(x, y, z, w));
        default: EACH_GROUP(RECORDS(x, y, z, w));
    }
}

static int SLOT_NAME(wide)(scatter_wide *slots, int count, char *to, ptrdiff_t n, int stream) {
    SLOT_NAME(seen) seen = {_mm_setzero_si128(), _mm_setzero_si128()};
    char stage[SLOT_NAME(STREAM_TURN) * 16 * WIDE_SLOTS] __attribute__((aligned(64)));
    char converted[16 * SLOT_NAME(TURN) + 16];
    const ptrdiff_t stride = 16 * count;
    const ptrdiff_t turn = stream ? SLOT_NAME(STREAM_TURN) : SLOT_NAME(TURN);
    for (; n > 0; n -= turn, to += turn * stride) {
        const ptrdiff_t groups = (n < turn ? n : turn) / 4;
        char *records = stream ? stage : to;
        for (int s = 0; s < count; s++) {
            scatter_wide *w = slots + s;
            const char *lane[4];
            ptrdiff_t step[4];
            for (int k = 0; k < 4; k++) {
                lane[k] = w->lane[k], step[k] = w->step[k];
                if (stream)
                    for (ptrdiff_t b = 0; b < groups * step[k]; b += 64) __builtin_prefetch(lane[k] + 2048 + b);
                w->lane[k] += groups * step[k];
                if (w->type[k] == LANE_WORDS) continue;
                /* As the column lies: a vec3's three lanes behind each other, every other lane for itself. */
                int triple = w->kind == SLOT_12_4 && k < 3;
                char *at = converted + (triple ? 16 : 4 * SLOT_NAME(TURN)) * k;
                ptrdiff_t at_step = triple ? 48 : 16;
                SLOT_NAME(convert_lane)(at, at_step, lane[k], step[k], w->type[k], groups, &seen);
                lane[k] = at, step[k] = at_step;
            }
            SLOT_NAME(wide_slot)(w, lane, step, records + 16 * s, stride, groups);
        }
        if (stream) SLOT_NAME(stream)(to, stage, 4 * groups * stride);
    }
    const __m128i over = _mm_set1_epi64x(-1ll << 32);
    return !_mm_testz_si128(seen.infinite, seen.infinite) || !_mm_testz_si128(seen.high, over);
}

#undef CONVERT_LANES
#undef RECORDS
#undef EACH_GROUP
#undef TRIPLE
#undef LOW
#undef HIGH
