/* From bytes to a plan that keeps the contract of scatter.h. */
#include <string.h>

#include "kernel_fuzz.h"

enum { DENSE, SPACED, REVERSED, FIXED, NEAR, SPACINGS };
static const int PIECES[SLOT_COUNT][4] = {{12, 4}, {8, 8}, {8, 4, 4}, {4, 4, 8}, {4, 4, 4, 4}};
static const int COLUMN_TYPES = TYPE_UNORM8; /* columns have the types before this one */

/* A plan in the making. Conversions are kept apart: they come first, or last on the way back. */
typedef struct {
    fuzz_plan *made;
    fuzz_input *in;
    scatter_step conversions[MOST_STEPS], body[MOST_STEPS];
    int conversion_count, body_count, loop_count, arrays, regular;
} maker;

int64_t fuzz_take(fuzz_input *in, int64_t below) {
    int64_t found = 0;
    for (int64_t range = 1; range < below; range *= 256) {
        found = found * 256 + (in->left ? *in->at : 0);
        if (in->left) in->at++, in->left--;
    }
    return below > 1 ? found % below : 0;
}

static int64_t take(maker *m, int64_t below) { return fuzz_take(m->in, below); }

static scatter_step *add(scatter_step *steps, int *count, int kind, int64_t record_offset) {
    scatter_step *s = steps + (*count < MOST_STEPS ? (*count)++ : MOST_STEPS - 1);
    memset(s, 0, sizeof *s);
    s->kind = kind, s->record_offset = record_offset;
    for (int p = 0; p < 4; p++) s->column[p] = -1;
    return s;
}

/* Gives bytes [low, high) around some offset of a column's record to a step. On the way back no other step writes
 * them. */
static void place(maker *m, int64_t low, int64_t high, int32_t *column, int64_t *offset) {
    fuzz_plan *made = m->made;
    scatter_plan *plan = &made->plan;
    int shared = plan->columns == MOST_COLUMNS || (plan->columns && !m->regular && take(m, 4) == 0);
    int32_t chosen = shared ? (int32_t)take(m, plan->columns) : plan->columns;
    fuzz_column *c = made->columns + chosen;
    if (!shared) {
        memset(c, 0, sizeof *c);
        /* Where two records shared bytes, the order of the writes would count. */
        c->spacing = (int)take(m, made->forward ? SPACINGS : FIXED);
        if (m->regular && c->spacing != FIXED) c->spacing = DENSE;
        c->gap = 1 + take(m, 24);
        plan->columns++;
    }
    *column = chosen;
    *offset = made->forward && shared ? take(m, 64) - low : c->high - low + (shared && take(m, 3) == 0 ? c->gap : 0);
    if (!shared) c->low = *offset + low;
    if (*offset + low < c->low) c->low = *offset + low;
    if (*offset + high > c->high) c->high = *offset + high;
}

/* The scalars of a conversion on the column's side; `scalar` is their size there. */
static int64_t scalar_step(maker *m, int scalar) {
    static const int factors[] = {1, 1, 2, -1, 3, 0};
    if (m->regular) return scalar;
    return factors[take(m, m->made->forward ? 6 : 5)] * scalar + (take(m, 4) == 0 ? (m->made->forward ? 1 : 0) : 0);
}

static void extent(int64_t *low, int64_t *high, int64_t count, int64_t step) {
    *(step < 0 ? low : high) += step * (count - 1);
}

/* Chooses the types of a conversion between a column and `bytes` of a record; returns how many scalars these are. */
static int64_t choose_types(maker *m, scatter_step *s, int64_t bytes) {
    /* Those that the kernel does while it interleaves are chosen more often. */
    static const int lanes[][2] = {
        {TYPE_F64, TYPE_F32}, {TYPE_I64, TYPE_U32}, {TYPE_U64, TYPE_U32}, {TYPE_I64, TYPE_I32}};
    int64_t lane = m->regular ? take(m, 8) : 8;
    int column = lane < 4 ? lanes[lane][0] : (int)take(m, COLUMN_TYPES);
    int record = lane < 4 ? lanes[lane][1] : (int)take(m, TYPE_COUNT);
    int from = m->made->forward ? column : record, to = m->made->forward ? record : column;
    int fours = comes_in_fours(record), size = scatter_type_size[record];
    if (bytes % size || (fours && bytes % 4) || (from != to && !scatter_conversion(&scatter_portable, from, to)))
        from = to = size = 0;
    if (!size) { /* the same type on both sides: bytes swapped, or spaced */
        from = to = bytes % 8 == 0 ? TYPE_F64 : bytes % 4 == 0 ? TYPE_U32 : bytes % 2 == 0 ? TYPE_F16 : TYPE_U8;
        size = scatter_type_size[from];
    }
    s->convert.from_type = from, s->convert.to_type = to;
    s->convert.swap = take(m, m->regular ? 16 : 4) == 1;
    return bytes / size;
}

static int column_scalar(const maker *m, const scatter_step *s) {
    return scatter_type_size[m->made->forward ? s->convert.from_type : s->convert.to_type];
}

/* A temporary of `bytes`, and the steps that convert between it and columns; returns its number. */
static int32_t add_temporary(maker *m, int64_t bytes) {
    scatter_plan *plan = &m->made->plan;
    int32_t number = plan->temp_count;
    if (number == MOST_TEMPS || bytes > TEMP_BYTES || m->conversion_count + 2 > MOST_STEPS) return -1;
    m->made->temps[plan->temp_count++] = bytes;
    int64_t parts = bytes % 16 == 0 && !m->regular && take(m, 3) == 0 ? 2 : 1;
    for (int64_t part = 0; part < parts; part++) {
        scatter_step *s =
            add(m->conversions, &m->conversion_count, m->made->forward ? STEP_CONVERT_IN : STEP_CONVERT_OUT, 0);
        s->convert.count = choose_types(m, s, bytes / parts);
        int scalar = column_scalar(m, s);
        int64_t low = 0, high = scalar;
        s->convert.step = scalar_step(m, scalar);
        extent(&low, &high, s->convert.count, s->convert.step);
        place(m, low, high, &s->column[0], &s->column_offset[0]);
        s->column[1] = -2 - number, s->column_offset[1] = part * bytes / parts;
    }
    return number;
}

/* Chooses where a piece of `bytes` comes from, or goes to: zeros, a temporary or a column. Temporaries are numbered
 * from -2 down until the number of columns is known. */
static void choose_piece(maker *m, int64_t bytes, int may_be_zeros, int32_t *column, int64_t *offset) {
    int64_t way = take(m, 8);
    if (may_be_zeros && way == 7) return;
    if (way >= 5) {
        int64_t slack = m->regular || take(m, 3) || !m->made->forward ? 0 : 4 * take(m, 4);
        int32_t number = add_temporary(m, bytes + slack);
        *column = -2 - number, *offset = slack;
        if (number >= 0) return;
    }
    place(m, 0, bytes, column, offset);
}

static int64_t add_transpose(maker *m, int64_t at, int64_t left) {
    int rows = 2 + (int)take(m, 3), cols = 2 + (int)take(m, 3);
    int64_t matrix = cols * (rows == 2 ? 8 : 16), count = 1 + take(m, 3), low = 0, high = 4 * cols;
    if (matrix > left) return 0;
    if (matrix * count > left) count = 1;
    scatter_step *s = add(m->body, &m->body_count, STEP_TRANSPOSE, at);
    int64_t row = 4 * cols + (take(m, 3) == 0 ? 4 * take(m, 3) : 0);
    s->transpose.row_step = take(m, 4) == 0 ? -row : row;
    extent(&low, &high, rows, s->transpose.row_step);
    s->transpose.column_step = high - low + (take(m, 3) == 0 ? 4 : 0);
    if (take(m, 4) == 0) s->transpose.column_step *= -1;
    extent(&low, &high, count, s->transpose.column_step);
    s->transpose.count = count, s->transpose.record_step = matrix;
    s->transpose.rows = rows, s->transpose.cols = cols;
    place(m, low, high, &s->column[0], &s->column_offset[0]);
    return matrix * count;
}

/* An array that is converted without a temporary. The loops leave gaps in the record, which the plan's first step sets
 * to zero. */
static int64_t add_array(maker *m, int64_t at, int64_t left) {
    int loops = (int)take(m, 3);
    if (m->loop_count + loops > MOST_LOOPS || m->body_count + 1 >= MOST_STEPS) return 0;
    scatter_step *s = add(m->body, &m->body_count, STEP_CONVERT_ARRAY, at);
    int64_t run = 4 * (1 + take(m, left / 4 < 200 ? left / 4 : 200));
    if (run > left) run = left;
    s->convert.count = choose_types(m, s, run);
    int scalar = column_scalar(m, s);
    int64_t low = 0, high = scalar, span = run;
    s->convert.step = scalar_step(m, scalar);
    extent(&low, &high, s->convert.count, s->convert.step);
    s->convert.loop_first = m->loop_count, s->convert.loop_count = loops;
    for (int k = loops - 1; k >= 0; k--) {
        scatter_loop *loop = m->made->loops + m->loop_count + k;
        loop->record_step = span + 4 * take(m, 3);
        loop->count = 1 + take(m, 3);
        if (loop->record_step * (loop->count - 1) + span > left) loop->count = 1;
        span += loop->record_step * (loop->count - 1);
        loop->column_step = (high - low + take(m, 5)) * (take(m, 4) == 0 ? -1 : 1);
        extent(&low, &high, loop->count, loop->column_step);
    }
    m->loop_count += loops;
    m->arrays = 1;
    place(m, low, high, &s->column[0], &s->column_offset[0]);
    return span;
}

static int64_t add_mask(maker *m, int64_t at, int64_t left) {
    int64_t slots = 1 + take(m, left / 16 < 48 ? left / 16 : 48);
    scatter_step *s = add(m->body, &m->body_count, STEP_MASK, at);
    s->mask.bytes = 16 * slots;
    s->mask.readable = 4 * (1 + take(m, 4 * slots));
    for (int k = 0; k < 3; k++) s->mask.keep[k] = (uint64_t)take(m, 256) * 0x0101010101010101u;
    /* The bytes that may be read end with a member's. */
    int64_t last = s->mask.readable / 4 - 1;
    for (int64_t unit = 0; unit < 192; unit++)
        if (unit > last) s->mask.keep[unit / 64] &= ~(1ull << unit % 64);
    s->mask.keep[last / 64] |= 1ull << last % 64;
    place(m, 0, s->mask.readable, &s->column[0], &s->column_offset[0]);
    return s->mask.bytes;
}

static int64_t add_slot(maker *m, int64_t at) {
    scatter_step *s = add(m->body, &m->body_count, STEP_SLOT, at);
    s->slot.shape = (int32_t)take(m, SLOT_COUNT);
    for (int p = 0; p < 4 && PIECES[s->slot.shape][p]; p++)
        choose_piece(m, PIECES[s->slot.shape][p], 1, &s->column[p], &s->column_offset[p]);
    return 16;
}

static int64_t add_copy(maker *m, int64_t at, int64_t left) {
    int64_t to_slot = 16 - at % 16, bytes = 1 + take(m, left < 48 ? left : 48);
    if (m->regular && bytes > to_slot) bytes = to_slot;
    if (m->regular && bytes % 4) bytes = bytes < 4 ? 4 : bytes / 4 * 4;
    scatter_step *s = add(m->body, &m->body_count, STEP_COPY, at);
    s->copy.bytes = bytes;
    choose_piece(m, bytes, 0, &s->column[0], &s->column_offset[0]);
    return bytes;
}

/* The next bytes of the record; returns how many. */
static int64_t add_bytes(maker *m, int64_t at, int64_t left) {
    int64_t way = m->regular ? 0 : take(m, 8), done = 0;
    if (way == 1) done = add_transpose(m, at, left);
    if (way == 2) done = add_array(m, at, left);
    if (m->made->forward) {
        if (way == 3 && at % 16 == 0 && left >= 16) return add_mask(m, at, left);
        if (way == 4) done = add(m->body, &m->body_count, STEP_ZERO, at)->zero.bytes = 1 + take(m, left);
        if (!done && at % 16 == 0 && left >= 16 && take(m, 4)) return add_slot(m, at);
        if (!done && m->regular && take(m, 4) == 0) done = add(m->body, &m->body_count, STEP_ZERO, at)->zero.bytes = 16;
        if (!done && m->regular) {
            scatter_step *s = add(m->body, &m->body_count, STEP_COPY, at);
            done = s->copy.bytes = 16;
            choose_piece(m, 16, 0, &s->column[0], &s->column_offset[0]);
        }
    } else if (!done && take(m, 6) == 0) {
        int64_t unused = 1 + take(m, left);
        return m->regular ? 4 * (1 + (unused - 1) / 4) : unused;
    }
    if (!done) done = add_copy(m, at, left);
    /* Records may be read more than once. */
    return !m->made->forward && done <= 16 && take(m, 8) == 0 ? 0 : done;
}

static void join_steps(maker *m) {
    fuzz_plan *made = m->made;
    scatter_plan *plan = &made->plan;
    scatter_step zero, *to = made->steps;
    int none = 0;
    add(&zero, &none, STEP_ZERO, 0)->zero.bytes = plan->size;
    size_t converting = (size_t)m->conversion_count, rest = (size_t)m->body_count;
    if (made->forward) memcpy(to, m->conversions, converting * sizeof *to), to += converting;
    if (made->forward && m->arrays) *to++ = zero;
    memcpy(to, m->body, rest * sizeof *to), to += rest;
    if (!made->forward) memcpy(to, m->conversions, converting * sizeof *to), to += converting;
    plan->step_count = (int32_t)(to - made->steps);
    for (int32_t k = 0; k < plan->step_count; k++) {
        scatter_step *s = made->steps + k;
        s->leaf = k;
        for (int p = 0; p < 4; p++)
            if (s->column[p] <= -2) s->column[p] = plan->columns + -2 - s->column[p];
    }
}

/* Whether a column must keep its records 4 bytes apart. */
static int has_wide_piece(const fuzz_plan *made, int32_t column) {
    for (int32_t k = 0; k < made->plan.step_count; k++)
        for (int p = 0; p < 4; p++)
            if (made->steps[k].column[p] == column && made->steps[k].kind != STEP_CONVERT_IN) return 1;
    return 0;
}

/* Strides over all dimensions, so that on the way back no two records share bytes; and each column's extent. */
static void set_strides(fuzz_plan *made, int32_t k) {
    fuzz_column *c = made->columns + k;
    int32_t ndim = made->plan.ndim;
    int64_t span = c->high - c->low, step = span, *strides = made->strides + k * ndim;
    if (c->spacing == SPACED) step = span + c->gap;
    if (c->spacing == REVERSED) step = -span - (c->gap < 4 ? c->gap : 0);
    if (c->spacing == FIXED) step = 0;
    if (c->spacing == NEAR) step = has_wide_piece(made, k) ? 4 + c->gap % 8 : 1 + c->gap % 3;
    made->first[k] = c->low, made->bytes[k] = span;
    for (int32_t d = ndim - 1; d >= 0; d--) {
        strides[d] = step;
        int64_t reach = step * (made->shape[d] - 1);
        if (reach < 0) made->first[k] += reach;
        made->bytes[k] += reach < 0 ? -reach : reach;
        step = c->spacing == FIXED ? (c->gap % 2 ? 0 : c->gap) : made->bytes[k] + (c->gap % 3 ? 0 : c->gap);
        if (c->gap % 5 == 0) step = -step;
    }
}

int fuzz_make_plan(fuzz_plan *made, fuzz_input *in) {
    static maker m;
    memset(&m, 0, sizeof m);
    memset(made, 0, sizeof *made);
    m.made = made, m.in = in;
    scatter_plan *plan = &made->plan;
    made->forward = take(&m, 2) == 0;
    m.regular = take(&m, 2) == 0; /* what the kernel interleaves */
    plan->size = m.regular ? 16 * (1 + take(&m, 10)) : take(&m, 16) ? 1 + take(&m, 256) : 1 + take(&m, 4096);
    plan->ndim = take(&m, 3) ? 1 : 1 + (int32_t)take(&m, 3);
    for (int32_t d = 0; d < plan->ndim; d++) made->shape[d] = 1 + take(&m, d < plan->ndim - 1 ? 4 : 48);
    if (take(&m, 4) == 0) made->shape[plan->ndim - 1] += take(&m, 600);
    made->stride = plan->size + (take(&m, 4) ? 0 : take(&m, 40));
    for (int64_t at = 0; at < plan->size;) {
        if (m.body_count + 1 >= MOST_STEPS) { /* one step for the rest */
            scatter_step *s = add(m.body, &m.body_count, STEP_COPY, at);
            s->copy.bytes = plan->size - at;
            place(&m, 0, s->copy.bytes, &s->column[0], &s->column_offset[0]);
            break;
        }
        at += add_bytes(&m, at, plan->size - at);
    }
    plan->steps = made->steps, plan->loops = made->loops, plan->bases = made->bases;
    plan->strides = made->strides, plan->shape = made->shape, plan->temps = made->temps;
    join_steps(&m);
    for (int32_t k = 0; k < plan->columns; k++) {
        set_strides(made, k);
        while (made->bytes[k] > REGION && made->shape[plan->ndim - 1] > 1) {
            made->shape[plan->ndim - 1] /= 2;
            k = 0;
            set_strides(made, k);
        }
        if (made->bytes[k] > REGION) return 0;
    }
    made->records = 1;
    for (int32_t d = 0; d < plan->ndim; d++) made->records *= made->shape[d];
    made->start = take(&m, 2) ? 0 : take(&m, made->records);
    made->stop = made->start + (take(&m, 2) ? made->records - made->start : take(&m, made->records - made->start + 1));
    return 1;
}
