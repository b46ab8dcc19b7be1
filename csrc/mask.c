/* Records that one column has in packed form; their padding may be anything. */
#include <string.h>

#include "internal.h"

enum { MASK_WORDS = 96 }; /* 8-byte words of the longest mask */

/* One record's mask. */
static void expand_mask(const scatter_step *s, char *mask) {
    for (int64_t unit = 0; unit < s->mask.bytes / 4; unit++)
        memset(mask + 4 * unit, s->mask.keep[unit / 64] >> (unit % 64) & 1 ? 0xff : 0, 4);
}

/* How many of n records can be read completely: those that enough other records follow. */
static int64_t readable(const scatter_step *s, ptrdiff_t step, int64_t n, int64_t after) {
    int64_t gap = s->mask.bytes - s->mask.readable, last = n + after - 1;
    int64_t whole = gap == 0 ? n : step <= 0 ? 0 : last - (gap + step - 1) / step + 1;
    return whole < 0 ? 0 : whole < n ? whole : n;
}

void scatter_mask_apart(const scatter_step *s, char *to, ptrdiff_t stride, const char *from, ptrdiff_t step, int64_t n,
                        int64_t after) {
    uint64_t mask[MASK_WORDS];
    int64_t whole = readable(s, step, n, after);
    expand_mask(s, (char *)mask);
    for (int64_t i = 0; i < n; i++, to += stride, from += step) {
        int64_t words = (i < whole ? s->mask.bytes : s->mask.readable) / 8;
        for (int64_t k = 0; k < words; k++) {
            uint64_t word;
            memcpy(&word, from + 8 * k, sizeof word);
            word &= mask[k];
            memcpy(to + 8 * k, &word, sizeof word);
        }
        if (i < whole) continue;
        memset(to + 8 * words, 0, (size_t)(s->mask.bytes - 8 * words));
        if (s->mask.readable % 8) memcpy(to + 8 * words, from + 8 * words, 4); /* the last scalar */
    }
}

/* Line by line of the destination, wherever its records start. */
void scatter_mask_dense(const scatter_isa *isa, const scatter_step *s, char *to, const char *from, int64_t n,
                        int64_t after, int stream) {
    char mask[2 * 4 * 8 * MASK_WORDS];
    ptrdiff_t period = 4 * (ptrdiff_t)s->mask.bytes; /* a multiple of a record and of a line */
    int64_t whole = readable(s, s->mask.bytes, n, after);
    int64_t bytes = whole * s->mask.bytes, head = stream ? (int64_t)(-(uintptr_t)to % CACHE_LINE) : 0;
    if (head > bytes) head = bytes;
    int64_t lines = (bytes - head) / CACHE_LINE, tail = head + lines * CACHE_LINE;
    expand_mask(s, mask);
    for (int k = 1; k < 8; k++) memcpy(mask + k * s->mask.bytes, mask, (size_t)s->mask.bytes);
    for (int64_t k = 0; k < head; k++) to[k] = from[k] & mask[k % period];
    isa->mask(to + head, from + head, mask + head % period, period, lines, stream);
    for (int64_t k = tail; k < bytes; k++) to[k] = from[k] & mask[k % period];
    scatter_mask_apart(s, to + bytes, s->mask.bytes, from + bytes, s->mask.bytes, n - whole, after);
}
