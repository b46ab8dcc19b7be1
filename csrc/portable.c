/* Every primitive in plain C: the fallback everywhere, and what the instruction sets are compared with. */
#include <string.h>

#include "internal.h"

#define CONVERT_NAME(x) portable_##x
#include "convert.h"

const char scatter_zeros[CACHE_LINE];

static void portable_copy(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n,
                          ptrdiff_t bytes) {
#define EACH(BYTES) \
    for (ptrdiff_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, (size_t)(BYTES))
    if (to_step == bytes && from_step == bytes) {
        memcpy(to, from, (size_t)(n * bytes));
        return;
    }
    switch (bytes) {
        case 1: EACH(1); break;
        case 2: EACH(2); break;
        case 4: EACH(4); break;
        case 6: EACH(6); break;
        case 8: EACH(8); break;
        case 12: EACH(12); break;
        case 16: EACH(16); break;
        default: EACH(bytes);
    }
}

#define PIECE(K, BYTES, AT) memcpy(to + i * stride + (AT), from[K] + i * step[K], BYTES)
#define PORTABLE_SLOT(NAME, BODY) \
    static void portable_##NAME(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], \
                                ptrdiff_t n) { \
        for (ptrdiff_t i = 0; i < n; i++) { \
            BODY; \
        } \
    }
PORTABLE_SLOT(12_4, PIECE(0, 12, 0); PIECE(1, 4, 12))
PORTABLE_SLOT(8_8, PIECE(0, 8, 0); PIECE(1, 8, 8))
PORTABLE_SLOT(8_4_4, PIECE(0, 8, 0); PIECE(1, 4, 8); PIECE(2, 4, 12))
PORTABLE_SLOT(4_4_8, PIECE(0, 4, 0); PIECE(1, 4, 4); PIECE(2, 8, 8))
PORTABLE_SLOT(4_4_4_4, PIECE(0, 4, 0); PIECE(1, 4, 4); PIECE(2, 4, 8); PIECE(3, 4, 12))

static void portable_turn(char *to, ptrdiff_t stride, const char *from, ptrdiff_t from_step, ptrdiff_t row_step,
                          int rows, int cols, ptrdiff_t n) {
    ptrdiff_t column = rows == 2 ? 8 : 16;
    for (ptrdiff_t i = 0; i < n; i++) {
        for (int c = 0; c < cols; c++) {
            char *slot = to + i * stride + c * column;
            for (int r = 0; r < rows; r++) memcpy(slot + r * 4, from + i * from_step + r * row_step + c * 4, 4);
            if (rows == 3) memset(slot + 12, 0, 4);
        }
    }
}

static void portable_turn_back(char *to, ptrdiff_t to_step, ptrdiff_t row_step, const char *from, ptrdiff_t stride,
                               int rows, int cols, ptrdiff_t n) {
    ptrdiff_t column = rows == 2 ? 8 : 16;
    for (ptrdiff_t i = 0; i < n; i++)
        for (int c = 0; c < cols; c++)
            for (int r = 0; r < rows; r++)
                memcpy(to + i * to_step + r * row_step + c * 4, from + i * stride + c * column + r * 4, 4);
}

static void portable_stream(char *to, const char *from, ptrdiff_t bytes) { memcpy(to, from, (size_t)bytes); }
static void portable_fence(void) {}

static void portable_mask(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int stream) {
    (void)stream;
    for (ptrdiff_t i = 0, at = 0; i < lines * 64; i += 8, at = at + 8 == period ? 0 : at + 8) {
        uint64_t word, bits;
        memcpy(&word, from + i, sizeof word);
        memcpy(&bits, mask + at, sizeof bits);
        word &= bits;
        memcpy(to + i, &word, sizeof word);
    }
}

const scatter_isa scatter_portable = {
    "portable",         {portable_12_4, portable_8_8, portable_8_4_4, portable_4_4_8, portable_4_4_4_4},
    portable_copy,      portable_turn,
    portable_turn_back, portable_stream,
    portable_fence,     portable_mask,
    portable_convert,   NULL,
};
