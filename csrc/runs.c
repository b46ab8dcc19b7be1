/* Scalars that lie apart, in the other byte order or of another type, moved through a contiguous block. */
#include <string.h>

#include "internal.h"

const int scatter_type_size[TYPE_COUNT] = {2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};

#define RAW(BYTES, SWAP) \
    for (ptrdiff_t i = 0; i < n; i++) \
        for (ptrdiff_t k = 0; k < count; k++) { \
            uint##BYTES##_t x; \
            memcpy(&x, from + i * from_record + k * from_step, sizeof x); \
            SWAP; \
            memcpy(to + i * to_record + k * to_step, &x, sizeof x); \
        }
#define SWAP16 x = (uint16_t)(x << 8 | x >> 8)
#define SWAP32 x = (x << 24) | ((x & 0xff00u) << 8) | ((x >> 8) & 0xff00u) | (x >> 24)
#define SWAP64 \
    x = ((x & 0x00ff00ff00ff00ffull) << 8) | ((x >> 8) & 0x00ff00ff00ff00ffull); \
    x = ((x & 0x0000ffff0000ffffull) << 16) | ((x >> 16) & 0x0000ffff0000ffffull); \
    x = (x << 32) | (x >> 32)

static void raw_move(char *to, ptrdiff_t to_record, ptrdiff_t to_step, const char *from, ptrdiff_t from_record,
                     ptrdiff_t from_step, ptrdiff_t n, ptrdiff_t count, int bytes, int swap) {
    switch (bytes + (swap ? 16 : 0)) {
        case 1:
        case 17: RAW(8, ) break;
        case 2: RAW(16, ) break;
        case 4: RAW(32, ) break;
        case 8: RAW(64, ) break;
        case 18: RAW(16, SWAP16) break;
        case 20: RAW(32, SWAP32) break;
        default: RAW(64, SWAP64) break;
    }
}

/* n records of `count` scalars each; the flat index of the first that does not fit, or -1. `raw` holds them all. */
ptrdiff_t scatter_move_in(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                          const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw) {
    int in = scatter_type_size[s->from_type], out = scatter_type_size[s->to_type];
    ptrdiff_t count = s->count;
    if (s->from_type == s->to_type) {
        if (!s->swap && s->step == in && n == 1) {
            memcpy(to, from, (size_t)(count * in));
            return -1;
        }
        raw_move(to, to_record, out, from, from_record, s->step, n, count, in, s->swap);
        return -1;
    }
    scatter_convert convert = isa->convert(s->from_type, s->to_type);
    int flat = !s->swap && s->step == in;
    if (flat && n > 1 && (from_record != count * in || to_record != count * out)) flat = 0;
    if (flat) return convert(to, from, n * count);
    raw_move(raw, count * in, in, from, from_record, s->step, n, count, in, s->swap);
    if (n == 1 || to_record == count * out) return convert(to, raw, n * count);
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t bad = convert(to + i * to_record, raw + i * count * in, count);
        if (bad >= 0) return i * count + bad;
    }
    return -1;
}

ptrdiff_t scatter_move_out(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                           const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw) {
    int in = scatter_type_size[s->from_type], out = scatter_type_size[s->to_type];
    ptrdiff_t count = s->count, bad = -1;
    if (s->from_type == s->to_type) {
        if (!s->swap && s->step == in && n == 1) {
            memcpy(to, from, (size_t)(count * in));
            return -1;
        }
        raw_move(to, to_record, s->step, from, from_record, in, n, count, in, s->swap);
        return -1;
    }
    scatter_convert convert = isa->convert(s->from_type, s->to_type);
    int flat_from = n == 1 || from_record == count * in;
    int flat_to = !s->swap && s->step == out && (n == 1 || to_record == count * out);
    if (flat_from && flat_to) return convert(to, from, n * count);
    for (ptrdiff_t i = 0; i < n && bad < 0; i++) {
        ptrdiff_t found = convert(raw + i * count * out, from + i * from_record, count);
        if (found >= 0) bad = i * count + found;
    }
    if (bad < 0) raw_move(to, to_record, s->step, raw, count * out, out, n, count, out, s->swap);
    return bad;
}

/* Arrays too large to unroll: record by record, an odometer over the loops, runs in pieces of RAW_SCALARS. */
int64_t scatter_convert_runs(const scatter_isa *isa, const scatter_plan *plan, const scatter_step *s, char *record,
                             ptrdiff_t record_step, char *column, ptrdiff_t column_step, ptrdiff_t n, int forward,
                             int check, char *raw) {
    const scatter_loop *loops = plan->loops + s->loop_first;
    int scalar = forward ? scatter_type_size[s->to_type] : scatter_type_size[s->from_type];
    for (ptrdiff_t i = 0; i < n; i++) {
        int64_t at[MAX_LOOPS] = {0};
        char *r = record + i * record_step + s->at, *c = column + i * column_step + s->offset[0];
        for (;;) {
            for (ptrdiff_t done = 0; done < s->count; done += RAW_SCALARS) {
                scatter_step run = *s;
                run.count = s->count - done < RAW_SCALARS ? (int32_t)(s->count - done) : RAW_SCALARS;
                char *run_record = check ? raw + RAW_SCALARS * 8 : r + done * scalar, *run_column = c + done * s->step;
                ptrdiff_t bad = forward ? scatter_move_in(isa, &run, run_record, 0, run_column, 0, 1, raw)
                                        : scatter_move_out(isa, &run, run_column, 0, run_record, 0, 1, raw);
                if (bad >= 0) return i;
            }
            int k = s->loop_count - 1;
            for (; k >= 0; k--) {
                r += loops[k].record_step, c += loops[k].column_step;
                if (++at[k] < loops[k].count) break;
                r -= loops[k].record_step * loops[k].count, c -= loops[k].column_step * loops[k].count;
                at[k] = 0;
            }
            if (k < 0) break;
        }
    }
    return -1;
}
