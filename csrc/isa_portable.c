/* Every function in plain C. It runs on every machine, and tests compare the other instruction sets with it. */
#include "convert.h"

const char scatter_zeros[CACHE_LINE];

/* `bytes` is a constant in all calls but the last, so that the compiler replaces memcpy. */
ALWAYS_INLINE void copy_each(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n,
                             const ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, (size_t)bytes);
}

static void copy(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n, ptrdiff_t bytes) {
    if (to_step == bytes && from_step == bytes) {
        memcpy(to, from, (size_t)(n * bytes));
        return;
    }
    switch (bytes) {
        case 1: copy_each(to, to_step, from, from_step, n, 1); break;
        case 2: copy_each(to, to_step, from, from_step, n, 2); break;
        case 4: copy_each(to, to_step, from, from_step, n, 4); break;
        case 6: copy_each(to, to_step, from, from_step, n, 6); break;
        case 8: copy_each(to, to_step, from, from_step, n, 8); break;
        case 12: copy_each(to, to_step, from, from_step, n, 12); break;
        case 16: copy_each(to, to_step, from, from_step, n, 16); break;
        default: copy_each(to, to_step, from, from_step, n, bytes);
    }
}

/* A slot of pieces of b0 to b3 bytes: constants whose sum is 16. */
ALWAYS_INLINE void join(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n,
                        const int b0, const int b1, const int b2, const int b3) {
    for (ptrdiff_t i = 0; i < n; i++) {
        char *slot = to + i * stride;
        memcpy(slot, from[0] + i * step[0], (size_t)b0);
        memcpy(slot + b0, from[1] + i * step[1], (size_t)b1);
        if (b2) memcpy(slot + b0 + b1, from[2] + i * step[2], (size_t)b2);
        if (b3) memcpy(slot + b0 + b1 + b2, from[3] + i * step[3], (size_t)b3);
    }
}

static void slot_12_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    join(to, stride, from, step, n, 12, 4, 0, 0);
}
static void slot_8_8(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    join(to, stride, from, step, n, 8, 8, 0, 0);
}
static void slot_8_4_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    join(to, stride, from, step, n, 8, 4, 4, 0);
}
static void slot_4_4_8(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    join(to, stride, from, step, n, 4, 4, 8, 0);
}
static void slot_4_4_4_4(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n) {
    join(to, stride, from, step, n, 4, 4, 4, 4);
}

static void transpose(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t row_step, int rows,
                      int cols, ptrdiff_t n) {
    ptrdiff_t column = rows == 2 ? 8 : 16;
    for (ptrdiff_t i = 0; i < n; i++)
        for (int c = 0; c < cols; c++) {
            char *slot = to + i * to_step + c * column;
            for (int r = 0; r < rows; r++) memcpy(slot + r * 4, from + i * from_step + r * row_step + c * 4, 4);
            if (rows == 3) memset(slot + 12, 0, 4);
        }
}

static void transpose_back(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t row_step,
                           int rows, int cols, ptrdiff_t n) {
    ptrdiff_t column = rows == 2 ? 8 : 16;
    for (ptrdiff_t i = 0; i < n; i++)
        for (int c = 0; c < cols; c++)
            for (int r = 0; r < rows; r++)
                memcpy(to + i * to_step + r * row_step + c * 4, from + i * from_step + c * column + r * 4, 4);
}

static void stream(char *to, const char *from, ptrdiff_t bytes) { memcpy(to, from, (size_t)bytes); }
static void fence(void) {}
static int runs(void) { return 1; }

static void mask_lines(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int streamed) {
    (void)streamed;
    for (ptrdiff_t i = 0, at = 0; i < lines * CACHE_LINE; i += 8, at = at + 8 == period ? 0 : at + 8) {
        uint64_t word, bits;
        memcpy(&word, from + i, sizeof word);
        memcpy(&bits, mask + at, sizeof bits);
        word &= bits;
        memcpy(to + i, &word, sizeof word);
    }
}

const scatter_isa scatter_portable = {
    .name = "portable",
    .runs = runs,
    .slot = {slot_12_4, slot_8_8, slot_8_4_4, slot_4_4_8, slot_4_4_4_4},
    .copy = copy,
    .transpose = transpose,
    .transpose_back = transpose_back,
    .stream = stream,
    .fence = fence,
    .mask = mask_lines,
    .convert = conversion,
};
