/* Packs records: one function for each way to write them. See scatter.h. */
#include <string.h>

#include "internal.h"

/* The progress of a run. Records [index, stop) are left. The current row has `left` more records, starting at `first`;
 * `n` of these are written next. */
typedef struct {
    int64_t index, stop, first, n, left;
    char *to;
} position;

static void enter_row(scatter_context *c, position *p) {
    if (p->index >= p->stop) {
        p->n = 0;
        return;
    }
    p->first = scatter_find_row(c, p->index);
    p->left = c->plan->shape[c->plan->ndim - 1] - p->first;
    p->n = smaller(p->left, p->stop - p->index);
    if (c->slot_count && p->left >= 4) scatter_set_lanes(c);
}

static void advance(scatter_context *c, position *p, int64_t done, int64_t stride) {
    p->index += done, p->first += done, p->n -= done, p->left -= done;
    p->to += done * stride;
    if (p->n == 0) enter_row(c, p);
}

static scatter_status run_checked(scatter_context *c, position *p, int64_t stride) {
    scatter_status found = {-1, 0};
    while (p->n > 0) {
        int64_t n = smaller(p->n, c->block);
        if (c->converts) scatter_prefetch(c, p->first + n, p->n - n);
        found = scatter_check(c, p->first, n, stride);
        if (found.record >= 0) break;
        advance(c, p, n, 0);
    }
    if (found.record >= 0) found.record += p->index;
    return found;
}

/* Whether one column has the bytes of packed records; their padding may be anything. */
static int is_packed_already(const scatter_context *c, int64_t stride) {
    const scatter_step *s = c->plan->steps;
    if (c->plan->step_count != 1 || (s->kind != STEP_COPY && s->kind != STEP_MASK)) return 0;
    return (s->kind == STEP_COPY ? s->copy.bytes : s->mask.bytes) == stride && step_of(c, s->column[0]) == stride;
}

static void run_packed_already(scatter_context *c, position *p, int64_t stride, int stream) {
    const scatter_step *s = c->plan->steps;
    for (; p->n > 0; advance(c, p, p->n, stride)) {
        const char *from = piece_at(c, p->first, s->column[0], s->column_offset[0]);
        if (s->kind == STEP_MASK) {
            scatter_mask_dense(c->isa, s, p->to, from, p->n, p->left - p->n, stream);
        } else if (stream) {
            scatter_stream lines = scatter_stream_to(c->isa, c->stage, p->to);
            scatter_stream_lines(&lines, from - lines.skew, lines.skew + p->n * stride);
            scatter_stream_end(&lines);
        } else {
            memcpy(p->to, from, (size_t)(p->n * stride));
        }
    }
}

/* Writes as many of the next n records as can be interleaved, conversions included; or else a block. Returns how many.
 */
static int64_t write_some(const scatter_context *c, const position *p, int64_t n, char *to, int64_t stride, int stream,
                          int prefetch, scatter_status *found) {
    int overflow = 0;
    int64_t done = 0;
    if (c->slot_count && c->in_lanes) done = scatter_interleave(c, p->first, n, p->left - n, to, 0, stream, &overflow);
    if (done > 0) {
        if (overflow) *found = scatter_check(c, p->first, done, stride);
        return done;
    }
    done = smaller(n, c->block);
    if (prefetch) scatter_prefetch(c, p->first + done, p->n - done);
    *found = scatter_write_block(c, p->first, done, p->left - done, to, stride, stream);
    return done;
}

/* All of a row where it can be interleaved, or else a block. */
static int64_t records_at_once(const scatter_context *c, const position *p) {
    int whole = c->slot_count && (c->in_lanes || !c->converts);
    return whole ? p->n : smaller(p->n, c->block);
}

static scatter_status run_plain(scatter_context *c, position *p, int64_t stride, int prefetch) {
    scatter_status found = {-1, 0};
    while (p->n > 0) {
        int64_t done = write_some(c, p, records_at_once(c, p), p->to, stride, 0, prefetch, &found);
        if (found.record >= 0) break;
        advance(c, p, done, stride);
    }
    if (found.record >= 0) found.record += p->index;
    return found;
}

/* Writes to a stage, and streams whole lines from there. */
static scatter_status run_staged(scatter_context *c, position *p, int64_t stride) {
    scatter_status found = {-1, 0};
    scatter_stream s = scatter_stream_to(c->isa, c->stage, p->to);
    while (p->n > 0) {
        int64_t done = write_some(c, p, smaller(p->n, c->block), s.stage + s.held, stride, 0, 1, &found);
        if (found.record >= 0) {
            found.record += p->index;
            return found;
        }
        scatter_stream_lines(&s, s.stage, s.held + done * stride);
        advance(c, p, done, stride);
    }
    scatter_stream_end(&s);
    return found;
}

/* Where the first cache line starts: slot `slot` of record `record`. record is -1 where no line starts at a slot. */
typedef struct {
    int64_t record;
    int slot;
} line_start;

static line_start find_line(const scatter_context *c, const char *to, int64_t stride) {
    line_start found = {-1, 0};
    int slots = c->slot_count && c->in_lanes ? c->slot_count : c->slot_count > 0;
    for (int slot = 0; slot < slots && found.record < 0; slot++)
        for (int64_t k = 3; k >= 0; k--)
            if (skew_of(to + k * stride + 16 * slot) == 0) found.record = k, found.slot = slot;
    return found;
}

/* Writes records in which lines start at slot `slot`. The slots before the first line and after the last are packed to
 * the stage and copied. Returns how many records. */
static int64_t write_rotated(const scatter_context *c, const position *p, int64_t stride, int slot, int64_t n,
                             int stream, scatter_status *found) {
    int overflow = 0;
    int64_t head = 16 * slot;
    int64_t done = scatter_interleave(c, p->first, n - 1, p->left - n, p->to + head, slot, stream, &overflow);
    if (done == 0) return 0;
    if (overflow) *found = scatter_check(c, p->first, done, stride);
    if (found->record >= 0) return done;
    *found = scatter_write_block(c, p->first, 1, p->left - 1, c->stage, stride, 0);
    if (found->record >= 0) return done;
    memcpy(p->to, c->stage, (size_t)head);
    *found = scatter_write_block(c, p->first + done, 1, p->left - done - 1, c->stage, stride, 0);
    if (found->record >= 0) found->record += done;
    memcpy(p->to + done * stride + head, c->stage + head, (size_t)(stride - head));
    return done + 1;
}

/* Interleaves: with plain stores up to the first line, then in whole lines. */
static scatter_status run_lines(scatter_context *c, position *p, int64_t stride, int stream) {
    scatter_status found = {-1, 0};
    while (p->n > 0) {
        line_start line = find_line(c, p->to, stride);
        int64_t done = 0, n = line.record > 0 && p->n > line.record ? line.record : records_at_once(c, p);
        int aligned = line.record == 0;
        if (aligned && line.slot) done = write_rotated(c, p, stride, line.slot, n, stream, &found);
        if (aligned && line.slot && done == 0) {
            done = smaller(n, c->block);
            found = scatter_write_block(c, p->first, done, p->left - done, p->to, stride, 0);
        } else if (done == 0) {
            done = write_some(c, p, n, p->to, stride, aligned && stream, stream || c->converts, &found);
        }
        if (found.record >= 0) {
            found.record += p->index;
            return found;
        }
        advance(c, p, done, stride);
    }
    return found;
}

scatter_status scatter_run(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride, int64_t start,
                           int64_t stop, int mode, char *scratch) {
    scatter_status found = {-1, 0};
    scatter_context c;
    scatter_begin(&c, isa, plan, stride, scratch);
    int stream = mode == MODE_STREAM;
    int lines = c.slot_count && (stream || stop - start >= (WHOLE_LINES_BYTES + stride - 1) / stride);
    int staged = stream && scatter_stage_bytes(c.block, stride) && stride == plan->size;
    position p = {start, stop, 0, 0, 0, to ? to : scratch}; /* a check writes nothing */
    enter_row(&c, &p);
    if (mode == MODE_CHECK)
        return run_checked(&c, &p, stride);
    else if (is_packed_already(&c, stride))
        run_packed_already(&c, &p, stride, stream);
    else if (lines && find_line(&c, to, stride).record >= 0)
        found = run_lines(&c, &p, stride, stream);
    else if (staged)
        found = run_staged(&c, &p, stride);
    else
        found = run_plain(&c, &p, stride, stream || c.converts);
    isa->fence();
    return found;
}
