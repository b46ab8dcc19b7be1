/* Unpacks records to columns. */
#include "internal.h"

int64_t gather_scratch(const scatter_plan *plan, int64_t stride) {
    return scatter_scratch(plan, stride) + scatter_column_stages(plan, stride);
}

/* Runs one step over n records from `record`, to columns from `first` on; returns the first that does not fit, or -1.
 */
static int64_t run_step(const scatter_context *c, const scatter_step *s, int64_t first, int64_t n, const char *record,
                        int64_t stride) {
    char *column = piece_at(c, first, s->column[0], s->column_offset[0]);
    ptrdiff_t step = step_of(c, s->column[0]);
    if (s->kind == STEP_COPY) {
        c->isa->copy(column, step, record + s->record_offset, stride, n, s->copy.bytes);
    } else if (s->kind == STEP_TRANSPOSE && s->transpose.count == 1) {
        c->isa->transpose_back(column, step, record + s->record_offset, stride, s->transpose.row_step,
                               s->transpose.rows, s->transpose.cols, n);
    } else if (s->kind == STEP_TRANSPOSE) {
        for (int64_t i = 0; i < n; i++)
            c->isa->transpose_back(column + i * step, s->transpose.column_step, record + i * stride + s->record_offset,
                                   s->transpose.record_step, s->transpose.row_step, s->transpose.rows,
                                   s->transpose.cols, s->transpose.count);
    } else if (s->kind == STEP_CONVERT_OUT) {
        const char *temporary = c->address[s->column[1]] + s->column_offset[1];
        ptrdiff_t bad = scatter_convert_out(c->isa, s, column, step, temporary, step_of(c, s->column[1]), n, c->raw);
        return bad < 0 ? -1 : bad / s->convert.count;
    } else {
        return scatter_array_out(c, s, column, step, record + s->record_offset, stride, n);
    }
    return -1;
}

/* Unpacks n records step by step. Keeps the first fault: a later step may find one in an earlier record. */
static void run_steps(const scatter_context *c, int64_t index, int64_t first, int64_t n, const char *record,
                      int64_t stride, scatter_status *status) {
    for (int32_t k = 0; k < c->plan->step_count && n > 0; k++) {
        const scatter_step *s = c->plan->steps + k;
        int64_t bad = run_step(c, s, first, n, record, stride);
        if (bad < 0 || (status->record >= 0 && index + bad >= status->record)) continue;
        status->record = index + bad;
        status->leaf = s->leaf;
    }
}

scatter_status gather_run(const scatter_isa *isa, const scatter_plan *plan, const char *from, int64_t stride,
                          int64_t start, int64_t stop, int mode, char *scratch) {
    scatter_status status = {-1, 0};
    scatter_context c;
    scatter_deinterleaved lanes;
    scatter_begin(&c, isa, plan, stride, scratch);
    scatter_column_streams out = scatter_open_columns(&c, stride, start, mode, scratch);
    scatter_find_deinterleaved(&c, stride, &lanes);
    for (int64_t index = start; index < stop && status.record < 0;) {
        int64_t first = scatter_find_row(&c, index), left = plan->shape[plan->ndim - 1] - first;
        for (int64_t end = index + smaller(left, stop - index); index < end && status.record < 0;) {
            int64_t n = lanes.count && !out.active ? end - index : smaller(end - index, c.block), done = 0;
            const char *record = from + (index - start) * stride;
            scatter_begin_column_block(&c, &out, first);
            /* Each step reads the whole block again, with stores in between: the hardware does not prefetch the next
             * one. */
            if (out.active && !lanes.count) prefetch_bytes(record + n * stride, smaller(end - index - n, n) * stride);
            if (lanes.count) done = scatter_deinterleave(&c, &lanes, first, n, record);
            run_steps(&c, index, first + done, n - done, record + done * stride, stride, &status);
            scatter_end_column_block(&c, &out, n);
            first += n, index += n;
        }
    }
    scatter_close_columns(&c, &out);
    return status;
}
