/* Slots assembled in a 16-byte register and stored once. Included for each x86 instruction set, with
 * SLOT_NAME(x) giving that set's names and SLOT_LANE(p) a register with the float at p in every lane.
 *
 * A piece of 12 bytes is loaded as 16 where a neighbour record covers the rest, so the first and the
 * last record of a block, which may have no neighbour, are loaded exactly.
 */

static inline __m128 SLOT_NAME(load_4)(const char *p) {
    int32_t x;
    memcpy(&x, p, sizeof x);
    return _mm_castsi128_ps(_mm_cvtsi32_si128(x));
}
static inline __m128 SLOT_NAME(load_8)(const char *p) {
    int64_t x;
    memcpy(&x, p, sizeof x);
    return _mm_castsi128_ps(_mm_cvtsi64_si128(x));
}
static inline __m128 SLOT_NAME(load_12)(const char *p) {
    return _mm_movelh_ps(SLOT_NAME(load_8)(p), SLOT_NAME(load_4)(p + 8));
}
static inline __m128 SLOT_NAME(load_16)(const char *p) { return _mm_loadu_ps((const float *)(const void *)p); }
static inline void SLOT_NAME(store)(char *p, __m128 v) { _mm_storeu_ps((float *)(void *)p, v); }

/* Four records a turn: with scaled addresses a turn costs little more than its loads and stores. */
#define BY_FOUR(ONE) \
    for (; i + 4 <= n; i += 4) { \
        ONE(0) ONE(1) ONE(2) ONE(3) to += 4 * stride, a += 4 * sa, b += 4 * sb; \
    } \
    for (; i < n; i++) { \
        ONE(0) \
        to += stride, a += sa, b += sb; \
    }

static void SLOT_NAME(12_4)(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4],
                            ptrdiff_t n) {
    const char *a = from[0], *b = from[1];
    const ptrdiff_t sa = step[0], sb = step[1];
    ptrdiff_t i = 0;
    __m128 fixed = SLOT_NAME(load_12)(a);
    if (sa == 0) {
#define ONE(K) SLOT_NAME(store)(to + K * stride, _mm_blend_ps(fixed, SLOT_LANE(b + K * sb), 8));
        BY_FOUR(ONE)
#undef ONE
        return;
    }
    SLOT_NAME(store)(to, _mm_blend_ps(fixed, SLOT_LANE(b), 8));
    if (n == 1) return;
    SLOT_NAME(store)(to + (n - 1) * stride,
                     _mm_blend_ps(SLOT_NAME(load_12)(a + (n - 1) * sa), SLOT_LANE(b + (n - 1) * sb), 8));
    to += stride, a += sa, b += sb, n -= 2;
    if (sb == 0) {
        const __m128 lane = SLOT_LANE(b);
#define ONE(K) SLOT_NAME(store)(to + K * stride, _mm_blend_ps(SLOT_NAME(load_16)(a + K * sa), lane, 8));
        BY_FOUR(ONE)
#undef ONE
    } else {
#define ONE(K) \
    SLOT_NAME(store)(to + K * stride, _mm_blend_ps(SLOT_NAME(load_16)(a + K * sa), SLOT_LANE(b + K * sb), 8));
        BY_FOUR(ONE)
#undef ONE
    }
}

#define SLOT_LOOP(NAME, VALUE) \
    static void SLOT_NAME(NAME)(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], \
                                ptrdiff_t n) { \
        const char *p0 = from[0], *p1 = from[1], *p2 = from[2], *p3 = from[3]; \
        const ptrdiff_t s0 = step[0], s1 = step[1], s2 = step[2], s3 = step[3]; \
        (void)p2, (void)p3, (void)s2, (void)s3; \
        for (ptrdiff_t i = 0; i < n; i++) SLOT_NAME(store)(to + i * stride, VALUE); \
    }
#define AT8(K) SLOT_NAME(load_8)(p##K + i * s##K)
#define AT4(K) SLOT_NAME(load_4)(p##K + i * s##K)
SLOT_LOOP(8_8, _mm_loadh_pi(AT8(0), (const __m64 *)(const void *)(p1 + i * s1)))
SLOT_LOOP(8_4_4, _mm_movelh_ps(AT8(0), _mm_unpacklo_ps(AT4(1), AT4(2))))
SLOT_LOOP(4_4_8, _mm_loadh_pi(_mm_unpacklo_ps(AT4(0), AT4(1)), (const __m64 *)(const void *)(p2 + i * s2)))
SLOT_LOOP(any_4, _mm_movelh_ps(_mm_unpacklo_ps(AT4(0), AT4(1)), _mm_unpacklo_ps(AT4(2), AT4(3))))

/* Four columns of scalars, each contiguous or constant: four records are one 4 x 4 transposition. */
static void SLOT_NAME(4_4_4_4)(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4],
                               ptrdiff_t n) {
    ptrdiff_t i = 0;
    int dense = 1;
    for (int k = 0; k < 4; k++) dense &= step[k] == 4 || step[k] == 0;
    if (dense) {
        const char *p[4];
        ptrdiff_t wide[4];
        char constant[4][16];
        for (int k = 0; k < 4; k++) {
            wide[k] = step[k] ? 4 : 0;
            p[k] = from[k];
            if (!step[k]) {
                SLOT_NAME(store)(constant[k], SLOT_LANE(from[k]));
                p[k] = constant[k];
            }
        }
        for (; i + 4 <= n; i += 4) {
            __m128 a = SLOT_NAME(load_16)(p[0] + i * wide[0]), b = SLOT_NAME(load_16)(p[1] + i * wide[1]);
            __m128 c = SLOT_NAME(load_16)(p[2] + i * wide[2]), d = SLOT_NAME(load_16)(p[3] + i * wide[3]);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            SLOT_NAME(store)(to + i * stride, a);
            SLOT_NAME(store)(to + (i + 1) * stride, b);
            SLOT_NAME(store)(to + (i + 2) * stride, c);
            SLOT_NAME(store)(to + (i + 3) * stride, d);
        }
    }
    const char *rest[4];
    for (int k = 0; k < 4; k++) rest[k] = from[k] + i * step[k];
    SLOT_NAME(any_4)(to + i * stride, stride, rest, step, n - i);
}

static void SLOT_NAME(copy)(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n,
                            ptrdiff_t bytes) {
    if (to_step == bytes && from_step == bytes) {
        memcpy(to, from, (size_t)(n * bytes));
    } else if (bytes == 16) {
        ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4, to += 4 * to_step, from += 4 * from_step) {
            SLOT_NAME(store)(to, SLOT_NAME(load_16)(from));
            SLOT_NAME(store)(to + to_step, SLOT_NAME(load_16)(from + from_step));
            SLOT_NAME(store)(to + 2 * to_step, SLOT_NAME(load_16)(from + 2 * from_step));
            SLOT_NAME(store)(to + 3 * to_step, SLOT_NAME(load_16)(from + 3 * from_step));
        }
        for (; i < n; i++, to += to_step, from += from_step) SLOT_NAME(store)(to, SLOT_NAME(load_16)(from));
    } else if (bytes == 12 && to_step == 12 && from_step >= 16) {
        /* Each store spills 4 bytes into the next record, which is written after it. */
        for (ptrdiff_t i = 0; i < n - 1; i++) SLOT_NAME(store)(to + i * 12, SLOT_NAME(load_16)(from + i * from_step));
        if (n > 0) memcpy(to + (n - 1) * 12, from + (n - 1) * from_step, 12);
    } else if (bytes > 16 && bytes % 16 == 0) {
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t b = 0; b < bytes; b += 16)
                SLOT_NAME(store)(to + i * to_step + b, SLOT_NAME(load_16)(from + i * from_step + b));
    } else {
        scatter_portable.copy(to, to_step, from, from_step, n, bytes);
    }
}

static inline __m128 SLOT_NAME(load_row)(const char *p, int cols) {
    return cols == 4 ? SLOT_NAME(load_16)(p) : cols == 3 ? SLOT_NAME(load_12)(p) : SLOT_NAME(load_8)(p);
}

static inline __attribute__((always_inline)) void SLOT_NAME(turn_as)(char *to, ptrdiff_t stride, const char *from,
                                                                     ptrdiff_t from_step, ptrdiff_t row_step,
                                                                     const int rows, const int cols, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const char *p = from + i * from_step;
        char *slot = to + i * stride;
        __m128 a = SLOT_NAME(load_row)(p, cols), b = SLOT_NAME(load_row)(p + row_step, cols);
        if (rows == 2) {
            __m128 low = _mm_unpacklo_ps(a, b), high = _mm_unpackhi_ps(a, b);
            SLOT_NAME(store)(slot, low);
            if (cols == 3) _mm_storel_pi((__m64 *)(void *)(slot + 16), high);
            if (cols == 4) SLOT_NAME(store)(slot + 16, high);
            continue;
        }
        __m128 c = SLOT_NAME(load_row)(p + 2 * row_step, cols);
        __m128 d = rows == 4 ? SLOT_NAME(load_row)(p + 3 * row_step, cols) : _mm_setzero_ps();
        _MM_TRANSPOSE4_PS(a, b, c, d);
        SLOT_NAME(store)(slot, a);
        SLOT_NAME(store)(slot + 16, b);
        if (cols > 2) SLOT_NAME(store)(slot + 32, c);
        if (cols > 3) SLOT_NAME(store)(slot + 48, d);
    }
}

#define TURN_CASE(R, K) \
    case (R) * 4 + (K): SLOT_NAME(turn_as)(to, stride, from, from_step, row_step, R, K, n); break
static void SLOT_NAME(turn)(char *to, ptrdiff_t stride, const char *from, ptrdiff_t from_step, ptrdiff_t row_step,
                            int rows, int cols, ptrdiff_t n) {
    switch (rows * 4 + cols) {
        TURN_CASE(2, 2);
        TURN_CASE(2, 3);
        TURN_CASE(2, 4);
        TURN_CASE(3, 2);
        TURN_CASE(3, 3);
        TURN_CASE(3, 4);
        TURN_CASE(4, 2);
        TURN_CASE(4, 3);
        TURN_CASE(4, 4);
    }
}

static inline void SLOT_NAME(store_row)(char *p, __m128 v, int cols) {
    if (cols == 4) {
        SLOT_NAME(store)(p, v);
        return;
    }
    _mm_storel_pi((__m64 *)(void *)p, v);
    if (cols == 3) {
        int32_t last = _mm_extract_epi32(_mm_castps_si128(v), 2);
        memcpy(p + 8, &last, sizeof last);
    }
}

/* The columns of a matrix lie in 16-byte slots (8-byte ones for two rows), the last of which may end its record. */
static inline __attribute__((always_inline)) void SLOT_NAME(turn_back_as)(char *to, ptrdiff_t to_step,
                                                                          ptrdiff_t row_step, const char *from,
                                                                          ptrdiff_t stride, const int rows,
                                                                          const int cols, ptrdiff_t n) {
    const ptrdiff_t column = rows == 2 ? 8 : 16;
    for (ptrdiff_t i = 0; i < n; i++) {
        const char *p = from + i * stride;
        char *row = to + i * to_step;
        __m128 a = SLOT_NAME(load_row)(p, rows), b = SLOT_NAME(load_row)(p + column, rows);
        __m128 c = cols > 2 ? SLOT_NAME(load_row)(p + 2 * column, rows) : _mm_setzero_ps();
        __m128 d = cols > 3 ? SLOT_NAME(load_row)(p + 3 * column, rows) : _mm_setzero_ps();
        _MM_TRANSPOSE4_PS(a, b, c, d);
        SLOT_NAME(store_row)(row, a, cols);
        SLOT_NAME(store_row)(row + row_step, b, cols);
        if (rows > 2) SLOT_NAME(store_row)(row + 2 * row_step, c, cols);
        if (rows > 3) SLOT_NAME(store_row)(row + 3 * row_step, d, cols);
    }
}

#define TURN_BACK_CASE(R, K) \
    case (R) * 4 + (K): SLOT_NAME(turn_back_as)(to, to_step, row_step, from, stride, R, K, n); break
static void SLOT_NAME(turn_back)(char *to, ptrdiff_t to_step, ptrdiff_t row_step, const char *from, ptrdiff_t stride,
                                 int rows, int cols, ptrdiff_t n) {
    switch (rows * 4 + cols) {
        TURN_BACK_CASE(2, 2);
        TURN_BACK_CASE(2, 3);
        TURN_BACK_CASE(2, 4);
        TURN_BACK_CASE(3, 2);
        TURN_BACK_CASE(3, 3);
        TURN_BACK_CASE(3, 4);
        TURN_BACK_CASE(4, 2);
        TURN_BACK_CASE(4, 3);
        TURN_BACK_CASE(4, 4);
    }
}

#undef TURN_BACK_CASE
#undef SLOT_LOOP
#undef BY_FOUR
#undef AT8
#undef AT4
#undef TURN_CASE
