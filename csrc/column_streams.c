/* Each column that a gather writes completely and in order is streamed in whole lines, through a stage. */
#include "internal.h"

/* Bytes that a plan writes to a column for each record; -1 if that is not known for one of its steps. */
static int64_t written_bytes(const scatter_plan *plan, int32_t column) {
    int64_t bytes = 0;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->column[0] != column) continue;
        if (s->kind == STEP_COPY)
            bytes += s->copy.bytes;
        else if (s->kind == STEP_TRANSPOSE)
            bytes += s->transpose.count * s->transpose.rows * s->transpose.cols * 4;
        else if (s->kind == STEP_CONVERT_OUT)
            bytes += s->convert.count * scatter_type_size[s->convert.to_type];
        else
            return -1;
    }
    return bytes;
}

static int64_t stage_bytes(const scatter_plan *plan, int64_t block, int32_t column) {
    int64_t step = plan->strides[(int64_t)column * plan->ndim + plan->ndim - 1];
    return step > 0 ? scatter_stage_bytes(block, step) : 0;
}

static int64_t stream_array_bytes(const scatter_plan *plan) {
    return whole_lines(plan->columns * (int64_t)sizeof(scatter_stream));
}

int64_t scatter_column_stages(const scatter_plan *plan, int64_t stride) {
    int64_t block = scatter_block(plan, stride), bytes = stream_array_bytes(plan);
    for (int32_t k = 0; k < plan->columns; k++) bytes += stage_bytes(plan, block, k);
    return bytes;
}

scatter_column_streams scatter_open_columns(scatter_context *c, int64_t stride, int64_t start, int mode,
                                            char *scratch) {
    const scatter_plan *plan = c->plan;
    scatter_column_streams out = {(scatter_stream *)(void *)(scratch + scatter_scratch(plan, stride)), 0};
    char *stage = (char *)out.streams + stream_array_bytes(plan);
    for (int32_t k = 0; k < plan->columns; k++) {
        int64_t bytes = stage_bytes(plan, c->block, k), step = plan->strides[(int64_t)k * plan->ndim];
        scatter_stream none = {c->isa, NULL, NULL, 0, 0};
        out.streams[k] = none;
        if (mode == MODE_STREAM && plan->ndim == 1 && bytes && written_bytes(plan, k) == step) {
            out.streams[k] = scatter_stream_to(c->isa, stage, plan->bases[k] + start * step);
            out.active = 1;
        }
        stage += bytes;
    }
    return out;
}

void scatter_begin_column_block(const scatter_context *c, const scatter_column_streams *out, int64_t first) {
    for (int32_t k = 0; out->active && k < c->plan->columns; k++) {
        const scatter_stream *s = out->streams + k;
        if (s->stage) c->address[k] = s->stage + s->held - first * step_of(c, k);
    }
}

void scatter_end_column_block(const scatter_context *c, const scatter_column_streams *out, int64_t n) {
    for (int32_t k = 0; out->active && k < c->plan->columns; k++) {
        scatter_stream *s = out->streams + k;
        if (s->stage) scatter_stream_lines(s, s->stage, s->held + n * step_of(c, k));
    }
}

void scatter_close_columns(const scatter_context *c, const scatter_column_streams *out) {
    for (int32_t k = 0; out->active && k < c->plan->columns; k++)
        if (out->streams[k].stage) scatter_stream_end(out->streams + k);
    c->isa->fence();
}
