/* The way back: records to columns. */
#include <string.h>

#include "internal.h"

/* Columns that are written whole, in order, leave in whole lines through stages of their own. */
typedef struct {
    scatter_stream *streams; /* [columns]; stage NULL where a column is written in place */
    int active;
} outlets;

static int64_t written(const scatter_plan *plan, int32_t column) {
    int64_t bytes = 0;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->column[0] != column) continue;
        if (s->kind == STEP_COPY)
            bytes += s->count;
        else if (s->kind == STEP_TURN)
            bytes += (int64_t)s->count * s->rows * s->cols * 4;
        else if (s->kind == STEP_DRAIN)
            bytes += (int64_t)s->count * scatter_type_size[s->to_type];
        else
            return -1;
    }
    return bytes;
}

static int64_t outlet_bytes(const scatter_plan *plan, int64_t block, int32_t column) {
    int64_t step = plan->strides[(int64_t)column * plan->ndim + plan->ndim - 1];
    return step > 0 && step * block <= STAGE_LIMIT ? line_up(step * block + 2 * CACHE_LINE) : 0;
}

int64_t gather_scratch(const scatter_plan *plan, int64_t stride) {
    int64_t block = scatter_block(plan, stride), bytes = scatter_scratch(plan, stride);
    for (int32_t k = 0; k < plan->columns; k++) bytes += outlet_bytes(plan, block, k);
    return bytes + line_up(plan->columns * (int64_t)sizeof(scatter_stream));
}

static outlets open_outlets(scatter_context *c, int64_t stride, int64_t start, int mode, char *scratch) {
    const scatter_plan *plan = c->plan;
    outlets out = {(scatter_stream *)(void *)(scratch + scatter_scratch(plan, stride)), 0};
    char *stage = (char *)out.streams + line_up(plan->columns * (int64_t)sizeof(scatter_stream));
    for (int32_t k = 0; k < plan->columns; k++) {
        int64_t bytes = outlet_bytes(plan, c->block, k), step = plan->strides[k];
        scatter_stream s = {c->isa, NULL, NULL, 0, 0};
        if (mode == MODE_STREAM && plan->ndim == 1 && bytes && written(plan, k) == step) {
            char *to = plan->bases[k] + start * step;
            int64_t skew = (int64_t)((uintptr_t)to % CACHE_LINE);
            scatter_stream made = {c->isa, stage, to - skew, skew, skew};
            s = made;
            out.active = 1;
        }
        out.streams[k] = s;
        stage += bytes;
    }
    return out;
}

/* For the next block, a streamed column's record `first` lies behind what its stage holds. */
static void aim_outlets(const scatter_context *c, const outlets *out, int64_t first) {
    for (int32_t k = 0; out->active && k < c->plan->columns; k++)
        if (out->streams[k].stage) c->at[k] = out->streams[k].stage + out->streams[k].held - first * step_of(c, k);
}

static void drain_outlets(const scatter_context *c, const outlets *out, int64_t n) {
    for (int32_t k = 0; out->active && k < c->plan->columns; k++) {
        scatter_stream *s = out->streams + k;
        if (s->stage) scatter_stream_lines(s, s->stage, s->held + n * step_of(c, k));
    }
}

static void close_outlets(const scatter_context *c, const outlets *out) {
    for (int32_t k = 0; out->active && k < c->plan->columns; k++)
        if (out->streams[k].stage) scatter_stream_end(out->streams + k);
    c->isa->fence();
}

/* Each step reads the whole block again, and the stores between leave the stream behind it unseen: ask for the next. */
static void fetch_records(const char *from, int64_t bytes) {
#if defined(__GNUC__)
    for (const char *end = from + bytes; from < end; from += CACHE_LINE) __builtin_prefetch(from);
#else
    (void)from, (void)bytes;
#endif
}

/* One step over n records from `record`, to columns from `first` on; the first that does not fit, or -1. */
static int64_t run_step(const scatter_context *c, const scatter_step *s, int64_t first, int64_t n, const char *record,
                        int64_t stride) {
    char *column = piece_at(c, first, s->column[0], s->offset[0]);
    ptrdiff_t step = step_of(c, s->column[0]);
    if (s->kind == STEP_COPY) {
        c->isa->copy(column, step, record + s->at, stride, n, s->count);
    } else if (s->kind == STEP_TURN && s->count == 1) {
        c->isa->turn_back(column, step, s->step, record + s->at, stride, s->rows, s->cols, n);
    } else if (s->kind == STEP_TURN) {
        for (int64_t i = 0; i < n; i++)
            c->isa->turn_back(column + i * step, s->offset[1], s->step, record + i * stride + s->at, s->offset[2],
                              s->rows, s->cols, s->count);
    } else if (s->kind == STEP_DRAIN) {
        const char *temporary = c->at[s->column[1]] + s->offset[1];
        ptrdiff_t bad = scatter_move_out(c->isa, s, column, step, temporary, step_of(c, s->column[1]), n, c->raw);
        return bad < 0 ? bad : bad / s->count;
    } else {
        char *base = column - s->offset[0];
        return scatter_convert_runs(c->isa, c->plan, s, (char *)(uintptr_t)record, stride, base, step, n, 0, 0, c->raw);
    }
    return -1;
}

scatter_status gather_run(const scatter_isa *isa, const scatter_plan *plan, const char *from, int64_t stride,
                          int64_t start, int64_t stop, int mode, char *scratch) {
    scatter_status status = {-1, 0};
    scatter_context c;
    scatter_begin(&c, isa, plan, stride, scratch);
    outlets out = open_outlets(&c, stride, start, mode, scratch);
    scatter_unwide slots[WIDE_SLOTS];
    int32_t columns[4 * WIDE_SLOTS];
    int wide = scatter_find_unwide(&c, stride, slots, columns);
    for (int64_t index = start; index < stop && status.record < 0;) {
        int64_t first = scatter_find_row(&c, index), left = plan->shape[plan->ndim - 1] - first;
        for (int64_t end = index + (left < stop - index ? left : stop - index); index < end && status.record < 0;) {
            int64_t n = end - index < c.block || (wide && !out.active) ? end - index : c.block, done = 0;
            aim_outlets(&c, &out, first);
            if (out.active && !wide)
                fetch_records(from + (index - start + n) * stride,
                              (end - index - n < n ? end - index - n : n) * stride);
            const char *record = from + (index - start) * stride;
            if (wide) done = scatter_run_unwide(&c, slots, columns, wide, first, n, record);
            for (int32_t k = 0; k < plan->step_count && done < n; k++) {
                const scatter_step *s = plan->steps + k;
                int64_t bad = run_step(&c, s, first + done, n - done, record + done * stride, stride);
                if (bad < 0 || (status.record >= 0 && index + bad >= status.record)) continue;
                status.record = index + bad;
                status.leaf = s->leaf;
            }
            drain_outlets(&c, &out, n);
            first += n, index += n;
        }
    }
    close_outlets(&c, &out);
    return status;
}
