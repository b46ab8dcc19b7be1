/* Packs a block of records, step by step or interleaved four at a time. */
#include <string.h>

#include "internal.h"

void scatter_prefetch(const scatter_context *c, int64_t first, int64_t left) {
    int64_t n = smaller(left, c->block);
    for (int32_t k = 0; k < c->plan->columns; k++) {
        ptrdiff_t step = step_of(c, k);
        if (step > 0 && step <= 2 * CACHE_LINE) prefetch_bytes(piece_at(c, first, k, 0), n * step);
    }
}

static int can_fail(const scatter_step *s) { return s->kind == STEP_CONVERT_IN || s->kind == STEP_CONVERT_ARRAY; }

/* Runs a step that can fail; returns the first record with a value that does not fit, or -1. `to` is NULL for a check.
 */
static int64_t convert_step(const scatter_context *c, const scatter_step *s, int64_t first, int64_t n, char *to,
                            int64_t stride) {
    const char *from = piece_at(c, first, s->column[0], s->column_offset[0]);
    ptrdiff_t step = step_of(c, s->column[0]);
    if (s->kind == STEP_CONVERT_ARRAY)
        return scatter_array_in(c, s, to ? to + s->record_offset : NULL, stride, from, step, n);
    char *temporary = c->address[s->column[1]] + s->column_offset[1];
    ptrdiff_t bad = scatter_convert_in(c->isa, s, temporary, step_of(c, s->column[1]), from, step, n, c->raw);
    return bad < 0 ? -1 : bad / s->convert.count;
}

/* Runs a step that cannot fail, for records [done, n) of the block. */
static void move_step(const scatter_context *c, const scatter_step *s, int64_t first, int64_t done, int64_t n,
                      int64_t after, char *to, int64_t stride) {
    ptrdiff_t step = step_of(c, s->column[0]);
    const char *from = piece_at(c, first, s->column[0], s->column_offset[0]) + done * step;
    to += done * stride + s->record_offset;
    n -= done;
    if (s->kind == STEP_SLOT) {
        const char *pieces[4] = {from};
        ptrdiff_t steps[4] = {step};
        for (int p = 1; p < 4; p++) {
            steps[p] = step_of(c, s->column[p]);
            pieces[p] = piece_at(c, first, s->column[p], s->column_offset[p]) + done * steps[p];
        }
        c->isa->slot[s->slot.shape](to, stride, pieces, steps, n);
    } else if (s->kind == STEP_MASK) {
        scatter_mask_apart(s, to, stride, from, step, n, after);
    } else if (s->kind == STEP_COPY) {
        c->isa->copy(to, stride, from, step, n, s->copy.bytes);
    } else if (s->kind == STEP_TRANSPOSE && s->transpose.count == 1) {
        c->isa->transpose(to, stride, from, step, s->transpose.row_step, s->transpose.rows, s->transpose.cols, n);
    } else if (s->kind == STEP_TRANSPOSE) {
        for (int64_t i = 0; i < n; i++)
            c->isa->transpose(to + i * stride, s->transpose.record_step, from + i * step, s->transpose.column_step,
                              s->transpose.row_step, s->transpose.rows, s->transpose.cols, s->transpose.count);
    } else {
        for (int64_t i = 0; i < n; i++) memset(to + i * stride, 0, (size_t)s->zero.bytes);
    }
}

int64_t scatter_interleave(const scatter_context *c, int64_t first, int64_t n, int64_t after, char *to, int first_slot,
                           int stream, int *overflow) {
    interleave4_slot slots[MAX_INTERLEAVED];
    int64_t rest = after >= INTERLEAVE_REACH ? 0 : INTERLEAVE_REACH - after, done = n > rest ? (n - rest) / 4 * 4 : 0;
    if (done == 0) return 0;
    for (int k = 0; k < c->slot_count; k++) {
        int slot = (k + first_slot) % c->slot_count;
        slots[k] = c->slots[slot];
        for (int lane = 0; lane < 4; lane++)
            slots[k].lane[lane] += (first + (k + first_slot) / c->slot_count) * c->record_step[slot][lane];
    }
    *overflow = c->isa->interleave4(slots, c->slot_count, to, done, stream);
    return done;
}

scatter_status scatter_write_block(const scatter_context *c, int64_t first, int64_t n, int64_t after, char *to,
                                   int64_t stride, int stream) {
    scatter_status status = {-1, 0};
    const scatter_plan *plan = c->plan;
    int64_t interleaved = 0;
    int tried = c->slot_count == 0 || c->in_lanes;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (can_fail(s)) {
            int64_t bad = convert_step(c, s, first, n, to, stride);
            if (bad < 0) continue;
            status.record = bad;
            status.leaf = s->leaf;
            n = bad; /* a later step may still find an earlier record */
            if (n == 0) return status;
            continue;
        }
        if (!tried) {
            int overflow; /* is not set: no lane converts here */
            tried = 1;
            interleaved = scatter_interleave(c, first, n, after, to, 0, stream, &overflow);
        }
        if (interleaved == n && n > 0) return status;
        move_step(c, s, first, interleaved, n, after, to, stride);
    }
    return status;
}

/* The same, but it writes nothing outside the scratch space. */
static scatter_status check_block(const scatter_context *c, int64_t first, int64_t n, int64_t stride) {
    scatter_status status = {-1, 0};
    const scatter_plan *plan = c->plan;
    for (int32_t k = 0; k < plan->step_count && n > 0; k++) {
        const scatter_step *s = plan->steps + k;
        int64_t bad = can_fail(s) ? convert_step(c, s, first, n, NULL, stride) : -1;
        if (bad < 0) continue;
        status.record = n = bad;
        status.leaf = s->leaf;
    }
    return status;
}

scatter_status scatter_check(const scatter_context *c, int64_t first, int64_t n, int64_t stride) {
    scatter_status found = {-1, 0};
    for (int64_t done = 0; done < n && found.record < 0; done += c->block) {
        found = check_block(c, first + done, smaller(n - done, c->block), stride);
        if (found.record >= 0) found.record += done;
    }
    return found;
}
