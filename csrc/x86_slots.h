/* Slots, each assembled in a 16-byte register and stored once. The file of an x86 instruction set includes this after
 * its target.
 *
 * A piece of 12 bytes is loaded as 16: the next record, or with a negative stride the one before, covers the rest. The
 * first and the last record of a block may have no such neighbour, so they are loaded exactly. */

static inline __m128 load_4(const char *p) {
    int32_t x;
    memcpy(&x, p, sizeof x);
    return _mm_castsi128_ps(_mm_cvtsi32_si128(x));
}
static inline __m128 load_8(const char *p) {
    int64_t x;
    memcpy(&x, p, sizeof x);
    return _mm_castsi128_ps(_mm_cvtsi64_si128(x));
}
static inline __m128 load_12(const char *p) { return _mm_movelh_ps(load_8(p), load_4(p + 8)); }
static inline __m128 broadcast(const char *p) {
    float x;
    memcpy(&x, p, sizeof x);
    return _mm_set1_ps(x);
}
static inline __m128 load_16(const char *p) { return _mm_loadu_ps((const float *)(const void *)p); }
static inline __m128 with_high(__m128 low, const char *p) { return _mm_loadh_pi(low, (const __m64 *)(const void *)p); }
static inline __m128 pair(const char *p, const char *q) { return _mm_unpacklo_ps(load_4(p), load_4(q)); }
static inline __m128 with_last(__m128 three, __m128 last) { return _mm_blend_ps(three, last, 8); }
static inline void store(char *p, __m128 v) { _mm_storeu_ps((float *)(void *)p, v); }

/* n records of a vec3 and a scalar; a fixed one is the same in all records and stays in a register. Four records a
 * round: with scaled addresses a round costs little more than its loads and stores. */
ALWAYS_INLINE void join_12_4(char *to, ptrdiff_t stride, const char *a, ptrdiff_t sa, const char *b, ptrdiff_t sb,
                             ptrdiff_t n, const int fixed_three, const int fixed_last) {
    const __m128 three = fixed_three ? load_12(a) : _mm_setzero_ps();
    const __m128 last = fixed_last ? broadcast(b) : _mm_setzero_ps();
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4, to += 4 * stride, a += 4 * sa, b += 4 * sb) {
        UNROLL for (int k = 0; k < 4; k++) {
            __m128 x = fixed_three ? three : load_16(a + k * sa), y = fixed_last ? last : broadcast(b + k * sb);
            store(to + k * stride, with_last(x, y));
        }
    }
    for (; i < n; i++, to += stride, a += sa, b += sb)
        store(to, with_last(fixed_three ? three : load_16(a), fixed_last ? last : broadcast(b)));
}

static void slot_12_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1];
    const ptrdiff_t sa = step[0], sb = step[1];
    if (sa == 0) {
        join_12_4(to, stride, a, sa, b, sb, n, 1, 0);
        return;
    }
    store(to, with_last(load_12(a), broadcast(b)));
    if (n == 1) return;
    store(to + (n - 1) * stride, with_last(load_12(a + (n - 1) * sa), broadcast(b + (n - 1) * sb)));
    to += stride, a += sa, b += sb, n -= 2;
    if (sb == 0)
        join_12_4(to, stride, a, sa, b, sb, n, 0, 1);
    else
        join_12_4(to, stride, a, sa, b, sb, n, 0, 0);
}

static void slot_8_8(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1];
    const ptrdiff_t sa = step[0], sb = step[1];
    for (ptrdiff_t i = 0; i < n; i++) store(to + i * stride, with_high(load_8(a + i * sa), b + i * sb));
}

static void slot_8_4_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1], *c = from[2];
    const ptrdiff_t sa = step[0], sb = step[1], sc = step[2];
    for (ptrdiff_t i = 0; i < n; i++)
        store(to + i * stride, _mm_movelh_ps(load_8(a + i * sa), pair(b + i * sb, c + i * sc)));
}

static void slot_4_4_8(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1], *c = from[2];
    const ptrdiff_t sa = step[0], sb = step[1], sc = step[2];
    for (ptrdiff_t i = 0; i < n; i++) store(to + i * stride, with_high(pair(a + i * sa, b + i * sb), c + i * sc));
}

/* Any four columns of scalars. */
static void any_4_4_4_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    const char *a = from[0], *b = from[1], *c = from[2], *d = from[3];
    const ptrdiff_t sa = step[0], sb = step[1], sc = step[2], sd = step[3];
    for (ptrdiff_t i = 0; i < n; i++)
        store(to + i * stride, _mm_movelh_ps(pair(a + i * sa, b + i * sb), pair(c + i * sc, d + i * sd)));
}

/* Where each column is contiguous or constant, four records are one 4 x 4 transposition. */
static void slot_4_4_4_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    ptrdiff_t i = 0;
    int dense = 1;
    for (int k = 0; k < 4; k++) dense &= step[k] == 4 || step[k] == 0;
    if (dense) {
        const char *p[4];
        ptrdiff_t moves[4];
        char constant[4][16];
        for (int k = 0; k < 4; k++) {
            moves[k] = step[k] ? 4 : 0;
            p[k] = from[k];
            if (!step[k]) {
                store(constant[k], broadcast(from[k]));
                p[k] = constant[k];
            }
        }
        for (; i + 4 <= n; i += 4) {
            __m128 a = load_16(p[0] + i * moves[0]), b = load_16(p[1] + i * moves[1]);
            __m128 c = load_16(p[2] + i * moves[2]), d = load_16(p[3] + i * moves[3]);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            store(to + i * stride, a);
            store(to + (i + 1) * stride, b);
            store(to + (i + 2) * stride, c);
            store(to + (i + 3) * stride, d);
        }
    }
    const char *rest[4];
    for (int k = 0; k < 4; k++) rest[k] = from[k] + i * step[k];
    any_4_4_4_4(to + i * stride, stride, rest, step, n - i);
}

static void copy(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n, ptrdiff_t bytes) {
    if (to_step == bytes && from_step == bytes) {
        memcpy(to, from, (size_t)(n * bytes));
    } else if (bytes == 16) {
        ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4, to += 4 * to_step, from += 4 * from_step) {
            store(to, load_16(from));
            store(to + to_step, load_16(from + from_step));
            store(to + 2 * to_step, load_16(from + 2 * from_step));
            store(to + 3 * to_step, load_16(from + 3 * from_step));
        }
        for (; i < n; i++, to += to_step, from += from_step) store(to, load_16(from));
    } else if (bytes == 12 && to_step == 12 && from_step >= 16) {
        /* Each store writes 4 bytes too many, into the next record, which the next round writes. */
        for (ptrdiff_t i = 0; i < n - 1; i++) store(to + i * 12, load_16(from + i * from_step));
        if (n > 0) memcpy(to + (n - 1) * 12, from + (n - 1) * from_step, 12);
    } else if (bytes > 16 && bytes % 16 == 0) {
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t b = 0; b < bytes; b += 16) store(to + i * to_step + b, load_16(from + i * from_step + b));
    } else {
        scatter_portable.copy(to, to_step, from, from_step, n, bytes);
    }
}
