/* aarch64: NEON, which every such processor has. Conversions and copies are the portable ones, which
 * compilers turn into NEON by themselves. See slots_x86.h for why the first and the last record of a
 * block are loaded exactly. */
#include "internal.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>

static inline float32x4_t load_16(const char *p) { return vreinterpretq_f32_u8(vld1q_u8((const uint8_t *)p)); }
static inline float32x2_t load_8(const char *p) { return vreinterpret_f32_u8(vld1_u8((const uint8_t *)p)); }
static inline float32x2_t load_4(const char *p) {
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return vreinterpret_f32_u64(vcreate_u64(x));
}
static inline void store(char *p, float32x4_t v) { vst1q_u8((uint8_t *)p, vreinterpretq_u8_f32(v)); }
static inline float32x4_t with_last(float32x4_t v, const char *p) { return vcopyq_lane_f32(v, 3, load_4(p), 0); }
static inline float32x4_t load_12(const char *p) { return vcombine_f32(load_8(p), load_4(p + 8)); }
static inline float32x2_t pair(const char *p, const char *q) { return vzip1_f32(load_4(p), load_4(q)); }

static void neon_12_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1];
    for (ptrdiff_t i = 0; i < n; i++, to += stride, a += step[0], b += step[1]) {
        int exact = i == 0 || i == n - 1 || step[0] == 0;
        store(to, with_last(exact ? load_12(a) : load_16(a), b));
    }
}

#define NEON_SLOT(NAME, LOW, HIGH) \
    static void neon_##NAME(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], \
                            ptrdiff_t n) { \
        const char *p[4]; \
        for (int k = 0; k < 4; k++) p[k] = from[k]; \
        for (ptrdiff_t i = 0; i < n; i++, to += stride) { \
            store(to, vcombine_f32(LOW, HIGH)); \
            for (int k = 0; k < 4; k++) p[k] += step[k]; \
        } \
    }
NEON_SLOT(8_8, load_8(p[0]), load_8(p[1]))
NEON_SLOT(8_4_4, load_8(p[0]), pair(p[1], p[2]))
NEON_SLOT(4_4_8, pair(p[0], p[1]), load_8(p[2]))
NEON_SLOT(any_4, pair(p[0], p[1]), pair(p[2], p[3]))

/* Four contiguous columns of scalars: four records are one interleaved store, or one 4 x 4 transposition. */
static void neon_4_4_4_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    ptrdiff_t i = 0;
    if (step[0] == 4 && step[1] == 4 && step[2] == 4 && step[3] == 4) {
        for (; i + 4 <= n; i += 4, to += 4 * stride) {
            float32x4_t a = load_16(from[0] + i * 4), b = load_16(from[1] + i * 4);
            float32x4_t c = load_16(from[2] + i * 4), d = load_16(from[3] + i * 4);
            float32x4x2_t ac = vzipq_f32(a, c), bd = vzipq_f32(b, d);
            float32x4x2_t low = vzipq_f32(ac.val[0], bd.val[0]), high = vzipq_f32(ac.val[1], bd.val[1]);
            store(to, low.val[0]);
            store(to + stride, low.val[1]);
            store(to + 2 * stride, high.val[0]);
            store(to + 3 * stride, high.val[1]);
        }
    }
    const char *rest[4];
    for (int k = 0; k < 4; k++) rest[k] = from[k] + i * step[k];
    neon_any_4(to, stride, rest, step, n - i);
}

static scatter_isa neon;

const scatter_isa *scatter_isa_at(int index) {
    if (neon.name == NULL) {
        neon = scatter_portable;
        neon.slot[SLOT_12_4] = neon_12_4;
        neon.slot[SLOT_8_8] = neon_8_8;
        neon.slot[SLOT_8_4_4] = neon_8_4_4;
        neon.slot[SLOT_4_4_8] = neon_4_4_8;
        neon.slot[SLOT_4_4_4_4] = neon_4_4_4_4;
        neon.name = "neon";
    }
    return index == 0 ? &neon : index == 1 ? &scatter_portable : NULL;
}

#endif
