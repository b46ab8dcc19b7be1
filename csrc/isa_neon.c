/* aarch64 with NEON, which every such processor has. Conversions and copies are the portable ones: compilers vectorize
 * them. See x86_slots.h for why the first and the last record of a block are loaded exactly. */
#include "isa.h"

#ifdef ISA_NEON

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

static void slot_12_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1];
    for (ptrdiff_t i = 0; i < n; i++, to += stride, a += step[0], b += step[1]) {
        int exact = i == 0 || i == n - 1 || step[0] == 0;
        store(to, with_last(exact ? load_12(a) : load_16(a), b));
    }
}

static void slot_8_8(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1];
    for (ptrdiff_t i = 0; i < n; i++, to += stride, a += step[0], b += step[1])
        store(to, vcombine_f32(load_8(a), load_8(b)));
}

static void slot_8_4_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1], *c = from[2];
    for (ptrdiff_t i = 0; i < n; i++, to += stride, a += step[0], b += step[1], c += step[2])
        store(to, vcombine_f32(load_8(a), pair(b, c)));
}

static void slot_4_4_8(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1], *c = from[2];
    for (ptrdiff_t i = 0; i < n; i++, to += stride, a += step[0], b += step[1], c += step[2])
        store(to, vcombine_f32(pair(a, b), load_8(c)));
}

static void any_4_4_4_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1], *c = from[2], *d = from[3];
    for (ptrdiff_t i = 0; i < n; i++, to += stride, a += step[0], b += step[1], c += step[2], d += step[3])
        store(to, vcombine_f32(pair(a, b), pair(c, d)));
}

/* Four contiguous columns of scalars: four records are one interleaved store, or one 4 x 4 transposition. */
static void slot_4_4_4_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
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
    any_4_4_4_4(to, stride, rest, step, n - i);
}

static int runs(void) { return 1; }

extern const scatter_isa scatter_neon;
const scatter_isa scatter_neon = {
    .name = "neon",
    .base = &scatter_portable,
    .runs = runs,
    .slot = {slot_12_4, slot_8_8, slot_8_4_4, slot_4_4_8, slot_4_4_4_4},
};

#endif
