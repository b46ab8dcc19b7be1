/* The driver: scratch, rows, and where lines start. See scatter.h. */
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

/* Whether the records lie in one column as they are to lie in the destination, but for their padding perhaps. */
static int is_flat(const scatter_context *c, int64_t stride) {
    const scatter_step *s = c->plan->steps;
    return c->plan->step_count == 1 && (s->kind == STEP_COPY || s->kind == STEP_MASK) && s->count == stride &&
           step_of(c, s->column[0]) == stride;
}

/* n such records. */
static void run_flat(const scatter_context *c, int64_t first, int64_t n, int64_t behind, char *to, int stream) {
    const scatter_step *s = c->plan->steps;
    const char *from = piece_at(c, first, s->column[0], s->offset[0]);
    if (s->kind == STEP_MASK) {
        scatter_mask_rows(c->isa, s, to, from, n, behind, stream);
    } else if (stream) {
        int64_t skew = (int64_t)((uintptr_t)to % CACHE_LINE);
        scatter_stream lines = {c->isa, c->stage, to - skew, skew, skew};
        scatter_stream_lines(&lines, from - skew, skew + n * s->count);
        scatter_stream_end(&lines);
    } else {
        memcpy(to, from, (size_t)(n * s->count));
    }
}

/* Where the first line starts, in records and lanes behind `to`; records -1 if none does within a record. */
typedef struct {
    int64_t records;
    int lanes;
} line_start;

static line_start find_line(const scatter_context *c, const char *to, int64_t stride) {
    line_start at = {-1, 0};
    int lanes = c->wide && c->direct ? c->wide : c->wide > 0;
    for (int lane = 0; lane < lanes && at.records < 0; lane++)
        for (int64_t k = 3; k >= 0; k--)
            if ((uintptr_t)(to + k * stride + 16 * lane) % CACHE_LINE == 0) at.records = k, at.lanes = lane;
    return at;
}

/* Records whose lines start at lane `turn`: the lanes before the first line and behind the last are put together
 * aside. How many records; `found`: what did not fit. */
static int64_t run_turned(const scatter_context *c, int64_t first, int64_t n, int64_t behind, char *to, int64_t stride,
                          int turn, int mode, scatter_status *found) {
    int suspect = 0;
    int64_t left = n + behind, head = 16 * turn;
    int64_t done = scatter_run_wide(c, first, n - 1, behind, to + head, turn, mode, &suspect);
    if (done == 0) return 0;
    if (suspect) *found = scatter_check_range(c, first, done, stride);
    if (found->record >= 0) return done;
    *found = scatter_run_block(c, first, 1, left - 1, c->stage, stride, MODE_PLAIN);
    if (found->record >= 0) return done;
    memcpy(to, c->stage, (size_t)head);
    *found = scatter_run_block(c, first + done, 1, left - done - 1, c->stage, stride, MODE_PLAIN);
    if (found->record >= 0) found->record += done;
    memcpy(to + done * stride + head, c->stage + head, (size_t)(stride - head));
    return done + 1;
}

scatter_status scatter_run(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride, int64_t start,
                           int64_t stop, int mode, char *scratch) {
    scatter_status fine = {-1, 0};
    scatter_context c;
    scatter_begin(&c, isa, plan, stride, scratch);
    int lines = (mode == MODE_STREAM || (mode == MODE_PLAIN && c.wide && (stop - start) * stride >= LINES_FROM)) &&
                find_line(&c, to, stride).records >= 0;
    int flat = mode != MODE_CHECK && is_flat(&c, stride);
    int staged = mode == MODE_STREAM && !flat && !lines && stage_bytes(c.block, stride) && stride == plan->size;
    int64_t skew = staged ? (int64_t)((uintptr_t)to % CACHE_LINE) : 0;
    scatter_stream s = {isa, c.stage, to - skew, skew, skew};
    for (int64_t index = start; index < stop;) {
        int64_t first = scatter_find_row(&c, index), left = plan->shape[plan->ndim - 1] - first;
        if (c.wide && left >= 4) scatter_place_wide(&c);
        int whole = !staged && c.wide && (c.direct || !c.feeds);
        for (int64_t end = index + (left < stop - index ? left : stop - index); index < end;) {
            char *at = to + (index - start) * stride;
            int64_t n = end - index;
            line_start line = {0, 0};
            if (lines) line = find_line(&c, at, stride);
            if (line.records > 0 && n > line.records)
                n = line.records;
            else if (!whole)
                n = n < c.block ? n : c.block;
            if (flat) {
                n = end - index;
                run_flat(&c, first, n, left - n, at, mode == MODE_STREAM);
                first += n, left -= n, index += n;
                continue;
            }
            char *block_to = staged ? s.stage + s.held : at;
            int block_mode = lines && line.records == 0 && line.lanes == 0 ? mode
                             : mode == MODE_CHECK                          ? mode
                                                                           : MODE_PLAIN;
            int suspect = 0;
            int64_t done = 0;
            scatter_status found = fine;
            if (lines && line.records == 0 && line.lanes)
                done = run_turned(&c, first, n, left - n, at, stride, line.lanes, mode, &found);
            else if (c.wide && c.direct && mode != MODE_CHECK)
                done = scatter_run_wide(&c, first, n, left - n, block_to, 0, block_mode, &suspect);
            if (done == 0) {
                done = n < c.block ? n : c.block;
                if (c.feeds || mode == MODE_STREAM) scatter_fetch_ahead(&c, first + done, end - index - done);
                found = scatter_run_block(&c, first, done, left - done, block_to, stride, block_mode);
            } else if (suspect) {
                found = scatter_check_range(&c, first, done, stride);
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
