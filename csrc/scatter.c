/* The driver: rows, blocks, and the stage that streams whole lines. See scatter.h. */
#include <string.h>

#include "internal.h"

int64_t scatter_block(const scatter_plan *plan, int64_t stride) {
    int64_t widest = stride;
    for (int32_t t = 0; t < plan->temp_count; t++)
        if (plan->temps[t] > widest) widest = plan->temps[t];
    int64_t records = BLOCK_BYTES / (widest > 0 ? widest : 1);
    if (records >= 16) records -= records % 16; /* whole vectors, and whole lines of any record */
    return records < 1 ? 1 : records > BLOCK_RECORDS ? BLOCK_RECORDS : records;
}

/* Scratch: [stage | raw | constants | addresses | temporaries], each whole lines with a line of slack for wide loads.
 */
static int64_t stage_bytes(int64_t block, int64_t stride) {
    return block * stride > STAGE_LIMIT ? 0 : line_up(block * stride + 2 * CACHE_LINE);
}

static int64_t raw_bytes(const scatter_plan *plan, int64_t block) {
    int64_t bytes = RAW_SCALARS * 16;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if ((s->kind == STEP_FEED || s->kind == STEP_DRAIN) && block * s->count * 8 > bytes)
            bytes = block * s->count * 8;
    }
    return line_up(bytes + CACHE_LINE);
}

static int64_t address_bytes(const scatter_plan *plan) {
    return line_up((plan->columns + plan->temp_count) * (int64_t)sizeof(char *));
}

int64_t scatter_scratch(const scatter_plan *plan, int64_t stride) {
    int64_t block = scatter_block(plan, stride);
    int64_t bytes =
        stage_bytes(block, stride) + raw_bytes(plan, block) + address_bytes(plan) + WIDE_SLOTS * 4 * CACHE_LINE;
    for (int32_t t = 0; t < plan->temp_count; t++) bytes += line_up(plan->temps[t] * block + CACHE_LINE);
    return bytes;
}

void scatter_begin(scatter_context *c, const scatter_isa *isa, const scatter_plan *plan, int64_t stride,
                   char *scratch) {
    c->isa = isa, c->plan = plan;
    c->block = scatter_block(plan, stride);
    c->stage = scratch;
    c->raw = scratch + stage_bytes(c->block, stride);
    c->constants = (char (*)[CACHE_LINE])(void *)(c->raw + raw_bytes(plan, c->block));
    c->at = (char **)(void *)(c->constants + WIDE_SLOTS * 4);
    char *temporary = (char *)c->at + address_bytes(plan);
    for (int32_t t = 0; t < plan->temp_count; t++) {
        c->at[plan->columns + t] = temporary;
        temporary += line_up(plan->temps[t] * c->block + CACHE_LINE);
    }
    c->feeds = 0;
    for (int32_t k = 0; k < plan->step_count; k++) c->feeds += plan->steps[k].kind == STEP_FEED;
    scatter_find_wide(c, stride);
}

/* Column addresses of the row that holds flat record `index`; the place in that row. */
int64_t scatter_find_row(const scatter_context *c, int64_t index) {
    const scatter_plan *plan = c->plan;
    for (int32_t k = 0; k < plan->columns; k++) c->at[k] = plan->bases[k];
    int64_t inner = plan->shape[plan->ndim - 1], rest = index / inner;
    for (int32_t d = plan->ndim - 2; d >= 0; d--) {
        int64_t at = rest % plan->shape[d];
        rest /= plan->shape[d];
        for (int32_t k = 0; k < plan->columns; k++) c->at[k] += at * plan->strides[(int64_t)k * plan->ndim + d];
    }
    return index % inner;
}

/* Conversions read each column in bursts, too short for hardware to see the stream behind them. */
static void fetch_ahead(const scatter_context *c, int64_t first, int64_t left) {
#if defined(__GNUC__)
    int64_t n = left < c->block ? left : c->block;
    for (int32_t k = 0; k < c->plan->columns; k++) {
        ptrdiff_t step = step_of(c, k);
        if (step <= 0 || step > 2 * CACHE_LINE) continue;
        const char *from = piece_at(c, first, k, 0), *end = from + n * step;
        for (; from < end; from += CACHE_LINE) __builtin_prefetch(from);
    }
#else
    (void)c, (void)first, (void)left;
#endif
}

/* Steps that can find a value that does not fit. n shrinks to the records before the first fault. */
static int64_t run_fallible(const scatter_context *c, const scatter_step *s, int64_t first, int64_t n, char *to,
                            int64_t stride, int check) {
    const scatter_plan *plan = c->plan;
    char *from = piece_at(c, first, s->column[0], s->offset[0]);
    ptrdiff_t step = step_of(c, s->column[0]);
    if (s->kind == STEP_CONVERT)
        return scatter_convert_runs(c->isa, plan, s, to, stride, from - s->offset[0], step, n, 1, check, c->raw);
    char *temporary = c->at[s->column[1]] + s->offset[1];
    ptrdiff_t bad = scatter_move_in(c->isa, s, temporary, step_of(c, s->column[1]), from, step, n, c->raw);
    return bad < 0 ? bad : bad / s->count;
}

/* Records that are laid out as they are to be, but for padding that may hold anything. */
static void run_mask(const scatter_step *s, char *to, ptrdiff_t stride, const char *from, ptrdiff_t step, int64_t n) {
    uint64_t masks[96];
    int32_t words = s->count / 8;
    for (int32_t k = 0; k < words; k++) {
        uint64_t bits = (uint64_t)s->offset[1 + k / 32] >> (2 * (k % 32));
        masks[k] = (bits & 1 ? 0xffffffffu : 0) | (bits & 2 ? 0xffffffff00000000u : 0);
    }
    for (int64_t i = 0; i < n; i++, to += stride, from += step) {
        for (int32_t k = 0; k < words; k++) {
            uint64_t word;
            memcpy(&word, from + 8 * k, sizeof word);
            word &= masks[k];
            memcpy(to + 8 * k, &word, sizeof word);
        }
    }
}

/* Steps that cannot fail, for records [done, n) of the block. */
static void run_step(const scatter_context *c, const scatter_step *s, int64_t first, int64_t done, int64_t n, char *to,
                     int64_t stride) {
    ptrdiff_t step = step_of(c, s->column[0]);
    char *from = piece_at(c, first, s->column[0], s->offset[0]) + done * step;
    to += done * stride + s->at;
    n -= done;
    if (s->kind == STEP_SLOT) {
        const char *pieces[4] = {from};
        ptrdiff_t steps[4] = {step};
        for (int p = 1; p < 4; p++) {
            steps[p] = step_of(c, s->column[p]);
            pieces[p] = piece_at(c, first, s->column[p], s->offset[p]) + done * steps[p];
        }
        c->isa->slot[s->count](to, stride, pieces, steps, n);
    } else if (s->kind == STEP_MASK) {
        run_mask(s, to, stride, from, step, n);
    } else if (s->kind == STEP_COPY) {
        c->isa->copy(to, stride, from, step, n, s->count);
    } else if (s->kind == STEP_TURN && s->count == 1) {
        c->isa->turn(to, stride, from, step, s->step, s->rows, s->cols, n);
    } else if (s->kind == STEP_TURN) {
        for (int64_t i = 0; i < n; i++)
            c->isa->turn(to + i * stride, s->offset[2], from + i * step, s->offset[1], s->step, s->rows, s->cols,
                         s->count);
    } else {
        for (int64_t i = 0; i < n; i++) memset(to + i * stride, 0, (size_t)s->count);
    }
}

/* As many of n records as wide slots can write; how many. `suspect`: whether a value may not have fitted. */
static int64_t run_wide(const scatter_context *c, int64_t first, int64_t n, int64_t behind, char *to, int mode,
                        int *suspect) {
    scatter_wide slots[WIDE_SLOTS];
    int64_t rest = behind >= WIDE_REST ? 0 : WIDE_REST - behind, done = n > rest ? (n - rest) / 4 * 4 : 0;
    if (done == 0) return 0;
    for (int slot = 0; slot < c->wide; slot++) {
        slots[slot] = c->slots[slot];
        for (int lane = 0; lane < 4; lane++)
            if (slots[slot].lane[lane]) slots[slot].lane[lane] += first * c->moves[slot][lane];
    }
    int found = c->isa->wide(slots, c->wide, to, done, mode == MODE_STREAM);
    if (suspect) *suspect = found;
    return done;
}

/* One block forward: records [first, first + n) of a row, to `to`, with `behind` more in the row. */
static scatter_status run_block(const scatter_context *c, int64_t first, int64_t n, int64_t behind, char *to,
                                int64_t stride, int mode) {
    scatter_status status = {-1, 0};
    const scatter_plan *plan = c->plan;
    int64_t done = 0;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind == STEP_FEED || s->kind == STEP_CONVERT) {
            int64_t bad = run_fallible(c, s, first, n, to, stride, mode == MODE_CHECK);
            if (bad < 0) continue;
            status.record = bad;
            status.leaf = s->leaf;
            n = bad; /* an earlier record of a later column would be the first fault */
            if (n == 0) return status;
        } else if (mode != MODE_CHECK) {
            if (c->wide && !c->direct && done == 0) {
                done = run_wide(c, first, n, behind, to, mode, NULL);
                if (done == n) return status;
                if (done == 0) done = -1; /* too few: once is enough to ask */
            }
            run_step(c, s, first, done < 0 ? 0 : done, n, to, stride);
        }
    }
    return status;
}

/* Every value of records [first, first + n) that a wide slot has converted, looked at again one by one. */
static scatter_status check_range(const scatter_context *c, int64_t first, int64_t n, int64_t stride) {
    scatter_status found = {-1, 0};
    for (int64_t done = 0; done < n && found.record < 0; done += c->block) {
        found = run_block(c, first + done, n - done < c->block ? n - done : c->block, 0, NULL, stride, MODE_CHECK);
        if (found.record >= 0) found.record += done;
    }
    return found;
}

/* Whether the records lie in one column as they are to lie in the destination. */
static int is_copy(const scatter_context *c, int64_t stride) {
    const scatter_step *s = c->plan->steps;
    return c->plan->step_count == 1 && s->kind == STEP_COPY && s->count == stride && step_of(c, s->column[0]) == stride;
}

/* How many records to write by other means until one starts a line; -1 if none does. */
static int64_t records_to_line(const char *to, int64_t stride) {
    for (int64_t k = 0; k < 4; k++)
        if ((uintptr_t)(to + k * stride) % CACHE_LINE == 0) return k;
    return -1;
}

scatter_status scatter_run(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride, int64_t start,
                           int64_t stop, int mode, char *scratch) {
    scatter_status fine = {-1, 0};
    scatter_context c;
    scatter_begin(&c, isa, plan, stride, scratch);
    int64_t lead = c.wide ? records_to_line(to, stride) : -1;
    int staged = mode == MODE_STREAM && lead < 0 && stage_bytes(c.block, stride) && stride == plan->size;
    int copy = is_copy(&c, stride);
    int64_t skew = staged ? (int64_t)((uintptr_t)to % CACHE_LINE) : 0;
    scatter_stream s = {isa, c.stage, to - skew, skew, skew};
    for (int64_t index = start; index < stop;) {
        int64_t first = scatter_find_row(&c, index), left = plan->shape[plan->ndim - 1] - first;
        if (c.wide) scatter_place_wide(&c);
        int whole = !staged && (copy || (c.wide && (c.direct || !c.feeds)));
        for (int64_t end = index + (left < stop - index ? left : stop - index); index < end;) {
            char *at = to + (index - start) * stride;
            int64_t n = end - index, ahead = lead >= 0 ? records_to_line(at, stride) : 0;
            if (ahead > 0 && n > ahead)
                n = ahead;
            else if (!whole)
                n = n < c.block ? n : c.block;
            if (copy && !staged && mode == MODE_PLAIN) { /* whole records, one behind the other on both sides */
                n = end - index;
                const char *from = piece_at(&c, first, plan->steps->column[0], plan->steps->offset[0]);
                memcpy(at, from, (size_t)(n * stride));
                first += n, left -= n, index += n;
                continue;
            }
            if (copy && staged && s.held == s.skew) { /* nothing to assemble: lines leave from the column itself */
                n = end - index;
                const char *from = piece_at(&c, first, plan->steps->column[0], plan->steps->offset[0]);
                scatter_stream_lines(&s, from - s.skew, s.skew + n * stride);
                first += n, left -= n, index += n;
                continue;
            }
            char *block_to = staged ? s.stage + s.held : at;
            int block_mode = mode == MODE_STREAM && (staged || ahead || lead < 0) ? MODE_PLAIN : mode;
            int suspect = 0;
            int64_t done = 0;
            if (c.wide && c.direct && mode != MODE_CHECK)
                done = run_wide(&c, first, n, left - n, block_to, block_mode, &suspect);
            scatter_status found = fine;
            if (done == 0) {
                done = n < c.block ? n : c.block;
                if (c.feeds) fetch_ahead(&c, first + done, end - index - done);
                found = run_block(&c, first, done, left - done, block_to, stride, block_mode);
            } else if (suspect) {
                found = check_range(&c, first, done, stride);
            }
            if (found.record >= 0) {
                found.record += index;
                isa->fence();
                return found;
            }
            if (staged) scatter_stream_lines(&s, s.stage, s.held + done * stride);
            first += done, left -= done, index += done;
        }
    }
    if (staged) scatter_stream_end(&s);
    isa->fence();
    return fine;
}
