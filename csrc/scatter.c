/* The driver: blocks, rows, staging; and the portable form of every primitive. See scatter.h. */
#include "scatter.h"

#include <string.h>

#define CONVERT_NAME(x) portable_##x
#include "convert.h"

enum { BLOCK_BYTES = 4096, BLOCK_RECORDS = 64, STAGE_LIMIT = 32768, LINE = 64, RAW_SCALARS = 512, MAX_LOOPS = 64 };

static const char ZEROS[64];
static const int TYPE_SIZE[TYPE_COUNT] = {2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};

/* Portable primitives. */

static void portable_copy(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n, ptrdiff_t bytes) {
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
#define PORTABLE_SLOT(NAME, BODY)                                                                             \
    static void portable_##NAME(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], \
                                ptrdiff_t n) {                                                                \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                   \
            BODY;                                                                                             \
        }                                                                                                     \
    }
PORTABLE_SLOT(12_4, PIECE(0, 12, 0); PIECE(1, 4, 12))
PORTABLE_SLOT(8_8, PIECE(0, 8, 0); PIECE(1, 8, 8))
PORTABLE_SLOT(8_4_4, PIECE(0, 8, 0); PIECE(1, 4, 8); PIECE(2, 4, 12))
PORTABLE_SLOT(4_4_8, PIECE(0, 4, 0); PIECE(1, 4, 4); PIECE(2, 8, 8))
PORTABLE_SLOT(4_4_4_4, PIECE(0, 4, 0); PIECE(1, 4, 4); PIECE(2, 4, 8); PIECE(3, 4, 12))

static void portable_turn(char *to, ptrdiff_t stride, const char *from, ptrdiff_t from_step, ptrdiff_t row_step, int rows,
                          int cols, ptrdiff_t n) {
    ptrdiff_t column = rows == 2 ? 8 : 16;
    for (ptrdiff_t i = 0; i < n; i++) {
        for (int c = 0; c < cols; c++) {
            char *slot = to + i * stride + c * column;
            for (int r = 0; r < rows; r++) memcpy(slot + r * 4, from + i * from_step + r * row_step + c * 4, 4);
            if (rows == 3) memset(slot + 12, 0, 4);
        }
    }
}

static void portable_stream(char *to, const char *from, ptrdiff_t bytes) { memcpy(to, from, (size_t)bytes); }
static void portable_fence(void) {}

const scatter_isa scatter_portable = {
    "portable",
    {portable_12_4, portable_8_8, portable_8_4_4, portable_4_4_8, portable_4_4_4_4},
    portable_copy,
    portable_turn,
    portable_stream,
    portable_fence,
    portable_convert,
    NULL,
};

/* Scalars that lie apart, or in the other byte order, pass through a contiguous block. */

#define RAW(BYTES, SWAP)                                                                        \
    for (ptrdiff_t i = 0; i < n; i++)                                                           \
        for (ptrdiff_t k = 0; k < count; k++) {                                                 \
            uint##BYTES##_t x;                                                                  \
            memcpy(&x, from + i * from_record + k * from_step, sizeof x);                       \
            SWAP;                                                                               \
            memcpy(to + i * to_record + k * to_step, &x, sizeof x);                             \
        }
#define SWAP16 x = (uint16_t)(x << 8 | x >> 8)
#define SWAP32 x = (x << 24) | ((x & 0xff00u) << 8) | ((x >> 8) & 0xff00u) | (x >> 24)
#define SWAP64                                                                                                          \
    x = ((x & 0x00ff00ff00ff00ffull) << 8) | ((x >> 8) & 0x00ff00ff00ff00ffull);                                        \
    x = ((x & 0x0000ffff0000ffffull) << 16) | ((x >> 16) & 0x0000ffff0000ffffull);                                      \
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
static ptrdiff_t move_in(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record, const char *from,
                         ptrdiff_t from_record, ptrdiff_t n, char *raw) {
    int in = TYPE_SIZE[s->from_type], out = TYPE_SIZE[s->to_type];
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

static ptrdiff_t move_out(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record, const char *from,
                          ptrdiff_t from_record, ptrdiff_t n, char *raw) {
    int in = TYPE_SIZE[s->from_type], out = TYPE_SIZE[s->to_type];
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
static int64_t convert_runs(const scatter_isa *isa, const scatter_plan *plan, const scatter_step *s, char *record,
                            ptrdiff_t record_step, char *column, ptrdiff_t column_step, ptrdiff_t n, int forward, int check,
                            char *raw) {
    const scatter_loop *loops = plan->loops + s->loop_first;
    int scalar = forward ? TYPE_SIZE[s->to_type] : TYPE_SIZE[s->from_type];
    for (ptrdiff_t i = 0; i < n; i++) {
        int64_t at[MAX_LOOPS] = {0};
        char *r = record + i * record_step + s->at, *c = column + i * column_step + s->offset[0];
        for (;;) {
            for (ptrdiff_t done = 0; done < s->count; done += RAW_SCALARS) {
                scatter_step run = *s;
                run.count = s->count - done < RAW_SCALARS ? (int32_t)(s->count - done) : RAW_SCALARS;
                char *run_record = check ? raw + RAW_SCALARS * 8 : r + done * scalar, *run_column = c + done * s->step;
                ptrdiff_t bad = forward ? move_in(isa, &run, run_record, 0, run_column, 0, 1, raw)
                                        : move_out(isa, &run, run_column, 0, run_record, 0, 1, raw);
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

/* Sizes. */

int64_t scatter_block(const scatter_plan *plan, int64_t stride) {
    int64_t widest = stride;
    for (int32_t t = 0; t < plan->temp_count; t++)
        if (plan->temps[t] > widest) widest = plan->temps[t];
    int64_t records = BLOCK_BYTES / (widest > 0 ? widest : 1);
    return records < 1 ? 1 : records > BLOCK_RECORDS ? BLOCK_RECORDS : records;
}

static int64_t line_up(int64_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

/* Scratch: [stage | raw | temporaries | row addresses], each whole lines with a line of slack for wide loads. */
static int64_t stage_bytes(int64_t block, int64_t stride) {
    return block * stride > STAGE_LIMIT ? 0 : line_up(block * stride + 2 * LINE);
}

static int64_t raw_bytes(const scatter_plan *plan, int64_t block) {
    int64_t bytes = RAW_SCALARS * 16;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind != STEP_FEED && s->kind != STEP_DRAIN) continue;
        if (block * s->count * 8 > bytes) bytes = block * s->count * 8;
    }
    return line_up(bytes + LINE);
}

int64_t scatter_scratch(const scatter_plan *plan, int64_t stride) {
    int64_t block = scatter_block(plan, stride);
    int64_t bytes = stage_bytes(block, stride) + raw_bytes(plan, block);
    for (int32_t t = 0; t < plan->temp_count; t++) bytes += line_up(plan->temps[t] * block + LINE);
    return bytes + line_up(plan->columns * (int64_t)sizeof(char *)) + WIDE_SLOTS * 4 * LINE;
}

typedef struct {
    const scatter_isa *isa;
    const scatter_plan *plan;
    char *stage, *raw, *temps;
    int64_t block;
    char **row; /* [columns] address of the row's first record */
    int wide_count, feeds; /* slots of a record that `wide` can write, or 0; steps that fill temporaries */
    char (*constants)[64]; /* [WIDE_SLOTS * 4] pieces of columns that do not move, four times over */
} context;

static ptrdiff_t step_of(const context *c, int32_t column) {
    const scatter_plan *plan = c->plan;
    if (column < 0) return 0;
    if (column < plan->columns) return (ptrdiff_t)plan->strides[(int64_t)column * plan->ndim + plan->ndim - 1];
    return (ptrdiff_t)plan->temps[column - plan->columns];
}

static char *temp_at(const context *c, int32_t index) {
    char *at = c->temps;
    for (int32_t t = 0; t < index; t++) at += line_up(c->plan->temps[t] * c->block + LINE);
    return at;
}

static char *piece_at(const context *c, int64_t first, int32_t column, int64_t offset) {
    if (column < 0) return (char *)ZEROS;
    if (column >= c->plan->columns) return temp_at(c, column - c->plan->columns) + offset;
    return c->row[column] + first * step_of(c, column) + offset;
}

/* Wide slots (see scatter.h): which plans have them, and where their lanes lie. */

static const int8_t SLOT_BYTES[SLOT_COUNT][4] = {{12, 4}, {8, 8}, {8, 4, 4}, {4, 4, 8}, {4, 4, 4, 4}};

/* How many wide slots a record is, or 0 if it is anything else. */
static int wide_count(const context *c, int64_t stride) {
    const scatter_plan *plan = c->plan;
    if (!c->isa->wide || stride != plan->size || stride % 16 || stride > 16 * WIDE_SLOTS) return 0;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind == STEP_FEED || (s->kind == STEP_ZERO && s->at % 16 == 0 && s->count % 16 == 0)) continue;
        if (s->kind == STEP_COPY) {
            /* A run of several slots is dense only over records, not over four of one slot. */
            if (s->count != 16 || s->at % 16 || (step_of(c, s->column[0]) != 16 && step_of(c, s->column[0]) != 0)) return 0;
        } else if (s->kind == STEP_SLOT) {
            for (int p = 0; p < 4 && SLOT_BYTES[s->count][p]; p++) {
                ptrdiff_t step = step_of(c, s->column[p]);
                if (step != 0 && step != SLOT_BYTES[s->count][p]) return 0;
            }
        } else {
            return 0;
        }
    }
    return (int)(stride / 16);
}

/* Four records' worth of one piece: where it lies, and how far it moves on. */
static const char *wide_piece(const context *c, int64_t first, int32_t column, int64_t offset, int bytes, char *constant, ptrdiff_t *step) {
    const char *at = piece_at(c, first, column, offset);
    *step = step_of(c, column) * 4;
    if (*step || column < 0) return at;
    for (int r = 0; r < 4; r++) memcpy(constant + r * bytes, at, (size_t)bytes);
    return constant;
}

static void wide_slot(const context *c, int64_t first, const scatter_step *s, scatter_wide *w, char (*constants)[64]) {
    int lane = 0, simple = s->kind == STEP_COPY || s->count == SLOT_12_4;
    for (int p = 0, unit = 0; unit < 4; p++) {
        int bytes = s->kind == STEP_COPY ? 16 : SLOT_BYTES[s->count][p];
        ptrdiff_t step;
        const char *at = wide_piece(c, first, s->column[p], s->offset[p], bytes, constants[p], &step);
        for (int u = 0; u < bytes / 4; u++, unit++) {
            for (int r = 0; r < 4; r++) w->index[4 * r + unit] = lane * 4 + r * (bytes / 4) + u;
            w->unit_lane[unit] = simple && bytes >= 12 ? 0 : lane;
            w->unit_at[unit] = 4 * u;
            w->unit_step[unit] = bytes;
        }
        for (int k = 0; k < bytes / 4; k++, lane++) {
            w->lane[lane] = at + 16 * k;
            w->step[lane] = step;
        }
    }
    if (simple) w->lane[1] = NULL;
}

static void wide_slots(const context *c, int64_t first, scatter_wide *slots) {
    const scatter_plan *plan = c->plan;
    for (int k = 0; k < c->wide_count; k++) {
        scatter_wide empty = {{ZEROS, NULL, ZEROS, ZEROS}, {0, 0, 0, 0}, {0}, {0}, {0}, {0}};
        slots[k] = empty;
    }
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind != STEP_SLOT && s->kind != STEP_COPY) continue;
        wide_slot(c, first, s, slots + s->at / 16, c->constants + 4 * (s->at / 16));
    }
}

/* One block forward: records [first, first + n) of a row, to `to`. The record that does not fit, or -1. */
static scatter_status run_block(const context *c, int64_t first, int64_t n, char *to, int64_t stride, int mode) {
    scatter_status status = {-1, 0};
    const scatter_plan *plan = c->plan;
    int64_t done = 0;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        int64_t bad = -1;
        if (s->kind == STEP_FEED || s->kind == STEP_CONVERT) {
            char *from = piece_at(c, first, s->column[0], s->offset[0]);
            ptrdiff_t step = step_of(c, s->column[0]);
            if (s->kind == STEP_FEED) {
                char *temp = temp_at(c, s->column[1] - plan->columns) + s->offset[1];
                bad = move_in(c->isa, s, temp, step_of(c, s->column[1]), from, step, n, c->raw);
                if (bad >= 0) bad /= s->count;
            } else {
                bad = convert_runs(c->isa, plan, s, to, stride, from - s->offset[0], step, n, 1, mode == MODE_CHECK, c->raw);
            }
            if (bad >= 0) {
                status.record = bad;
                status.leaf = s->leaf;
                n = bad; /* an earlier record of a later column would be the first fault */
                if (n == 0) return status;
            }
            continue;
        }
        if (mode == MODE_CHECK) continue;
        if (done == 0 && c->wide_count) {
            scatter_wide slots[WIDE_SLOTS];
            wide_slots(c, first, slots);
            done = c->isa->wide(slots, c->wide_count, to, n, mode == MODE_STREAM);
            to += done * stride;
            if (done == n) return status;
            if (done == 0) done = -1; /* too few records: once is enough to ask */
        }
        int64_t at = done > 0 ? done : 0;
        char *from = piece_at(c, first, s->column[0], s->offset[0]) + at * step_of(c, s->column[0]);
        ptrdiff_t step = step_of(c, s->column[0]);
        if (s->kind == STEP_SLOT) {
            const char *pieces[4] = {from};
            ptrdiff_t steps[4] = {step};
            for (int p = 1; p < 4; p++) {
                steps[p] = step_of(c, s->column[p]);
                pieces[p] = piece_at(c, first, s->column[p], s->offset[p]) + at * steps[p];
            }
            c->isa->slot[s->count](to + s->at, stride, pieces, steps, n - at);
        } else if (s->kind == STEP_COPY) {
            c->isa->copy(to + s->at, stride, from, step, n - at, s->count);
        } else if (s->kind == STEP_TURN) {
            c->isa->turn(to + s->at, stride, from, step, s->step, s->rows, s->cols, n - at);
        } else {
            for (int64_t i = 0; i < n - at; i++) memset(to + i * stride + s->at, 0, (size_t)s->count);
        }
    }
    return status;
}

/* Column addresses of the row that holds flat record `index`; the place in that row. */
static int64_t find_row(const scatter_plan *plan, int64_t index, char **row) {
    for (int32_t k = 0; k < plan->columns; k++) row[k] = plan->bases[k];
    int64_t inner = plan->shape[plan->ndim - 1], rest = index / inner;
    for (int32_t d = plan->ndim - 2; d >= 0; d--) {
        int64_t at = rest % plan->shape[d];
        rest /= plan->shape[d];
        for (int32_t k = 0; k < plan->columns; k++) row[k] += at * plan->strides[(int64_t)k * plan->ndim + d];
    }
    return index % inner;
}

static context begin(const scatter_isa *isa, const scatter_plan *plan, int64_t stride, char *scratch) {
    int64_t block = scatter_block(plan, stride);
    context c = {isa, plan, scratch, scratch + stage_bytes(block, stride), NULL, block, NULL, 0, 0, NULL};
    c.temps = c.raw + raw_bytes(plan, block);
    c.constants = (char (*)[64])(void *)temp_at(&c, plan->temp_count);
    c.row = (char **)(void *)(c.constants + WIDE_SLOTS * 4);
    for (int32_t k = 0; k < plan->step_count; k++) c.feeds += plan->steps[k].kind == STEP_FEED;
    c.wide_count = wide_count(&c, stride);
    return c;
}

/* Blocks read each column in bursts, too short for hardware to see the stream behind them: ask for the next. */
static void fetch_ahead(const context *c, int64_t first, int64_t n, int64_t left) {
#if defined(__GNUC__)
    const scatter_plan *plan = c->plan;
    if (left > n) left = n;
    for (int32_t k = 0; k < plan->columns; k++) {
        int64_t step = step_of(c, k);
        if (step <= 0 || step > LINE) continue;
        const char *at = c->row[k] + (first + n) * step, *end = at + left * step;
        for (; at < end; at += LINE) __builtin_prefetch(at);
    }
#else
    (void)c, (void)first, (void)n, (void)left;
#endif
}

/* Whole lines through a stage in L1, in order, never reading the destination. */
typedef struct {
    const scatter_isa *isa;
    char *stage, *line; /* line: the 64-aligned place where the stage's first byte goes */
    int64_t held, skew; /* staged bytes; how many of them, at the front, are not ours to write */
} stream;

static void stream_flush(stream *s, int64_t fresh) {
    int64_t bytes = s->held + fresh;
    char *from = s->stage;
    if (s->skew && bytes >= LINE) { /* the first line is shared with what lies before it */
        memcpy(s->line + s->skew, from + s->skew, (size_t)(LINE - s->skew));
        from += LINE, s->line += LINE, bytes -= LINE, s->skew = 0;
    }
    if (!s->skew) {
        int64_t whole = bytes / LINE * LINE;
        s->isa->stream(s->line, from, whole);
        s->line += whole, from += whole, bytes -= whole;
        if (from != s->stage) memcpy(s->stage, from, (size_t)bytes);
    }
    s->held = bytes;
}

static void stream_end(stream *s) {
    if (s->held > s->skew) memcpy(s->line + s->skew, s->stage + s->skew, (size_t)(s->held - s->skew));
}

/* How many records to write by other means until one starts a line; -1 if none does. */
static int64_t records_to_line(const char *to, int64_t stride) {
    for (int64_t k = 0; k < 4; k++)
        if ((uintptr_t)(to + k * stride) % LINE == 0) return k;
    return -1;
}

scatter_status scatter_run(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride, int64_t start,
                           int64_t stop, int mode, char *scratch) {
    context c = begin(isa, plan, stride, scratch);
    int64_t lead = c.wide_count ? records_to_line(to, stride) : -1;
    int staged = mode == MODE_STREAM && lead < 0 && stage_bytes(c.block, stride) && stride == plan->size;
    int64_t skew = staged ? (int64_t)((uintptr_t)to % LINE) : 0;
    stream s = {isa, c.stage, to - skew, skew, skew};
    if (staged) c.wide_count = 0; /* its lines would not fall on the destination's */
    for (int64_t index = start; index < stop;) {
        int64_t first = find_row(plan, index, c.row), left = plan->shape[plan->ndim - 1] - first;
        if (left > stop - index) left = stop - index;
        for (int64_t end = index + left; index < end;) {
            char *at = to + (index - start) * stride;
            int64_t n = end - index, ahead = lead >= 0 ? records_to_line(at, stride) : 0;
            if (ahead > 0 && n > ahead) {
                n = ahead;
            } else if (staged || c.feeds || !c.wide_count) {
                n = n < c.block ? n : c.block;
            }
            if (n == c.block) fetch_ahead(&c, first, n, end - index - n);
            int block_mode = mode == MODE_STREAM && (lead < 0 || ahead) ? MODE_PLAIN : mode;
            scatter_status found = run_block(&c, first, n, staged ? s.stage + s.held : at, stride, block_mode);
            if (found.record >= 0) {
                found.record += index;
                isa->fence();
                return found;
            }
            if (staged) stream_flush(&s, n * stride);
            first += n, index += n;
        }
    }
    if (staged) stream_end(&s);
    isa->fence();
    scatter_status fine = {-1, 0};
    return fine;
}

scatter_status gather_run(const scatter_isa *isa, const scatter_plan *plan, const char *from, int64_t stride, int64_t start,
                          int64_t stop, char *scratch) {
    scatter_status status = {-1, 0};
    context c = begin(isa, plan, stride, scratch);
    for (int64_t index = start; index < stop;) {
        int64_t first = find_row(plan, index, c.row), left = plan->shape[plan->ndim - 1] - first;
        if (left > stop - index) left = stop - index;
        for (int64_t done = 0; done < left;) {
            int64_t n = left - done < c.block ? left - done : c.block;
            const char *record = from + (index - start) * stride;
            for (int32_t k = 0; k < plan->step_count; k++) {
                const scatter_step *s = plan->steps + k;
                char *column = piece_at(&c, first + done, s->column[0], s->offset[0]);
                ptrdiff_t step = step_of(&c, s->column[0]);
                int64_t bad = -1;
                if (s->kind == STEP_COPY) {
                    isa->copy(column, step, record + s->at, stride, n, s->count);
                } else if (s->kind == STEP_DRAIN) {
                    const char *temp = temp_at(&c, s->column[1] - plan->columns) + s->offset[1];
                    bad = move_out(isa, s, column, step, temp, step_of(&c, s->column[1]), n, c.raw);
                    if (bad >= 0) bad /= s->count;
                } else {
                    bad = convert_runs(isa, plan, s, (char *)record, stride, column - s->offset[0], step, n, 0, 0, c.raw);
                }
                if (bad >= 0 && (status.record < 0 || index + bad < status.record)) {
                    status.record = index + bad;
                    status.leaf = s->leaf;
                }
            }
            if (status.record >= 0) return status;
            done += n, index += n;
        }
    }
    return status;
}
