/* A block of records forward, step by step, or as wide slots. */
#include <string.h>

#include "internal.h"

void scatter_fetch_ahead(const scatter_context *c, int64_t first, int64_t left) {
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

/* Steps that cannot fail, for records [done, n) of the block. */
static void run_step(const scatter_context *c, const scatter_step *s, int64_t first, int64_t done, int64_t n,
                     int64_t behind, char *to, int64_t stride) {
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
        scatter_mask_apart(s, to, stride, from, step, n, behind);
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

int64_t scatter_run_wide(const scatter_context *c, int64_t first, int64_t n, int64_t behind, char *to, int turn,
                         int mode, int *suspect) {
    scatter_wide slots[WIDE_SLOTS];
    int64_t rest = behind >= WIDE_REST ? 0 : WIDE_REST - behind, done = n > rest ? (n - rest) / 4 * 4 : 0;
    if (done == 0) return 0;
    for (int k = 0; k < c->wide; k++) {
        int slot = (k + turn) % c->wide;
        slots[k] = c->slots[slot];
        for (int lane = 0; lane < 4; lane++)
            slots[k].lane[lane] += (first + (k + turn) / c->wide) * c->moves[slot][lane];
    }
    int found = c->isa->wide(slots, c->wide, to, done, mode == MODE_STREAM);
    if (suspect) *suspect = found;
    return done;
}

/* One block forward: records [first, first + n) of a row, to `to`, with `behind` more in the row. */
scatter_status scatter_run_block(const scatter_context *c, int64_t first, int64_t n, int64_t behind, char *to,
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
                done = scatter_run_wide(c, first, n, behind, to, 0, mode, NULL);
                if (done == n) return status;
                if (done == 0) done = -1; /* too few: once is enough to ask */
            }
            run_step(c, s, first, done < 0 ? 0 : done, n, behind, to, stride);
        }
    }
    return status;
}

/* Every value of records [first, first + n) that a wide slot has converted, looked at again one by one. */
scatter_status scatter_check_range(const scatter_context *c, int64_t first, int64_t n, int64_t stride) {
    scatter_status found = {-1, 0};
    for (int64_t done = 0; done < n && found.record < 0; done += c->block) {
        found =
            scatter_run_block(c, first + done, n - done < c->block ? n - done : c->block, 0, NULL, stride, MODE_CHECK);
        if (found.record >= 0) found.record += done;
    }
    return found;
}
