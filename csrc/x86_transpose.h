/* Matrices, rows first in a column and columns first in a record: one 4 x 4 transposition each. Included after
 * x86_slots.h. `rows` and `cols` are constants in the code for each of the nine shapes. */

/* A row or a column of `count` floats, then zeros. */
ALWAYS_INLINE __m128 load_floats(const char *p, const int count) {
    return count == 4 ? load_16(p) : count == 3 ? load_12(p) : load_8(p);
}

ALWAYS_INLINE void transpose_as(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t row_step,
                                const int rows, const int cols, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const char *p = from + i * from_step;
        char *slot = to + i * to_step;
        __m128 a = load_floats(p, cols), b = load_floats(p + row_step, cols);
        if (rows == 2) {
            __m128 low = _mm_unpacklo_ps(a, b), high = _mm_unpackhi_ps(a, b);
            store(slot, low);
            if (cols == 3) _mm_storel_pi((__m64 *)(void *)(slot + 16), high);
            if (cols == 4) store(slot + 16, high);
            continue;
        }
        __m128 c = load_floats(p + 2 * row_step, cols);
        __m128 d = rows == 4 ? load_floats(p + 3 * row_step, cols) : _mm_setzero_ps();
        _MM_TRANSPOSE4_PS(a, b, c, d);
        store(slot, a);
        store(slot + 16, b);
        if (cols > 2) store(slot + 32, c);
        if (cols > 3) store(slot + 48, d);
    }
}

static inline void store_floats(char *p, __m128 v, const int count) {
    if (count == 4) {
        store(p, v);
        return;
    }
    _mm_storel_pi((__m64 *)(void *)p, v);
    if (count == 3) {
        int32_t last = _mm_extract_epi32(_mm_castps_si128(v), 2);
        memcpy(p + 8, &last, sizeof last);
    }
}

/* The columns of a matrix are 16 bytes apart, or 8 for two rows. The last one may end the record, so nothing is read
 * beyond it. */
ALWAYS_INLINE void transpose_back_as(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step,
                                     ptrdiff_t row_step, const int rows, const int cols, ptrdiff_t n) {
    const ptrdiff_t column = rows == 2 ? 8 : 16;
    for (ptrdiff_t i = 0; i < n; i++) {
        const char *p = from + i * from_step;
        char *row = to + i * to_step;
        __m128 a = load_floats(p, rows), b = load_floats(p + column, rows);
        __m128 c = cols > 2 ? load_floats(p + 2 * column, rows) : _mm_setzero_ps();
        __m128 d = cols > 3 ? load_floats(p + 3 * column, rows) : _mm_setzero_ps();
        _MM_TRANSPOSE4_PS(a, b, c, d);
        store_floats(row, a, cols);
        store_floats(row + row_step, b, cols);
        if (rows > 2) store_floats(row + 2 * row_step, c, cols);
        if (rows > 3) store_floats(row + 3 * row_step, d, cols);
    }
}

ALWAYS_INLINE void transpose_rows(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step,
                                  ptrdiff_t row_step, const int rows, int cols, ptrdiff_t n) {
    if (cols == 2)
        transpose_as(to, to_step, from, from_step, row_step, rows, 2, n);
    else if (cols == 3)
        transpose_as(to, to_step, from, from_step, row_step, rows, 3, n);
    else
        transpose_as(to, to_step, from, from_step, row_step, rows, 4, n);
}

static void transpose(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t row_step, int rows,
                      int cols, ptrdiff_t n) {
    if (rows == 2)
        transpose_rows(to, to_step, from, from_step, row_step, 2, cols, n);
    else if (rows == 3)
        transpose_rows(to, to_step, from, from_step, row_step, 3, cols, n);
    else
        transpose_rows(to, to_step, from, from_step, row_step, 4, cols, n);
}

ALWAYS_INLINE void transpose_back_rows(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step,
                                       ptrdiff_t row_step, const int rows, int cols, ptrdiff_t n) {
    if (cols == 2)
        transpose_back_as(to, to_step, from, from_step, row_step, rows, 2, n);
    else if (cols == 3)
        transpose_back_as(to, to_step, from, from_step, row_step, rows, 3, n);
    else
        transpose_back_as(to, to_step, from, from_step, row_step, rows, 4, n);
}

static void transpose_back(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t row_step,
                           int rows, int cols, ptrdiff_t n) {
    if (rows == 2)
        transpose_back_rows(to, to_step, from, from_step, row_step, 2, cols, n);
    else if (rows == 3)
        transpose_back_rows(to, to_step, from, from_step, row_step, 3, cols, n);
    else
        transpose_back_rows(to, to_step, from, from_step, row_step, 4, cols, n);
}
