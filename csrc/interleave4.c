/* Which plans isa->interleave4 can run, and the lanes of their slots. */
#include <string.h>

#include "internal.h"

static const int8_t SLOT_BYTES[SLOT_COUNT][4] = {{12, 4}, {8, 8}, {8, 4, 4}, {4, 4, 8}, {4, 4, 4, 4}};

/* Where a piece comes from: its column, or the column that is converted to its temporary. */
typedef struct {
    int32_t column, type;
    int64_t offset;
    const scatter_step *convert;
} source;

/* The type of a lane that does a step's conversion; -1 if lanes cannot do it. */
static int lane_type(const scatter_step *s) {
    int from = s->convert.from_type, to = s->convert.to_type;
    if (from == TYPE_F64 && to == TYPE_F32) return LANE_F64;
    if ((from == TYPE_I64 || from == TYPE_U64) && to == TYPE_U32) return LANE_I64_U32;
    if (from == TYPE_I64 && to == TYPE_I32) return LANE_I64_I32;
    return -1;
}

/* The source of a piece; its type is -1 if the conversion cannot happen in a lane. */
static source find_source(const scatter_context *c, int32_t column, int64_t offset, int bytes) {
    const scatter_plan *plan = c->plan;
    source found = {column, LANE_WORDS, offset, NULL};
    if (column < plan->columns) return found;
    found.type = -1;
    for (int32_t k = 0; k < plan->step_count && plan->steps[k].kind == STEP_CONVERT_IN; k++) {
        const scatter_step *s = plan->steps + k;
        ptrdiff_t step = step_of(c, s->column[0]);
        if (s->column[1] != column) continue;
        /* The temporary must be this piece alone, and the column dense too. */
        if (step_of(c, column) != bytes || s->convert.count * 4 != bytes || s->convert.swap) return found;
        if (bytes > 4 && s->convert.step != 8) return found;
        if (step != 0 && step != 2 * bytes) return found;
        found.type = lane_type(s), found.column = s->column[0], found.offset = s->column_offset[0], found.convert = s;
    }
    return found;
}

static int is_dense(const scatter_context *c, int32_t column, int bytes) {
    ptrdiff_t step = step_of(c, column);
    return step == 0 || step == bytes;
}

static int piece_bytes(const scatter_step *s, int piece) {
    return s->kind == STEP_COPY ? 16 : SLOT_BYTES[s->slot.shape][piece];
}

/* Whether a step writes a whole slot. */
static int is_slot(const scatter_step *s) {
    return s->kind == STEP_SLOT || (s->kind == STEP_COPY && s->copy.bytes == 16 && s->record_offset % 16 == 0);
}

static int is_padding(const scatter_step *s) {
    return s->kind == STEP_ZERO && s->record_offset % 16 == 0 && s->zero.bytes % 16 == 0;
}

void scatter_find_interleaved(scatter_context *c, int64_t stride) {
    const scatter_plan *plan = c->plan;
    c->slot_count = 0;
    c->in_lanes = 1;
    if (!c->isa->interleave4 || stride != plan->size || stride % 16 || stride > 16 * MAX_INTERLEAVED) return;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind == STEP_CONVERT_IN || is_padding(s)) continue;
        if (!is_slot(s)) return;
        for (int p = 0, unit = 0; unit < 4; unit += piece_bytes(s, p++) / 4) {
            int bytes = piece_bytes(s, p);
            if (!is_dense(c, s->column[p], bytes)) return;
            if (find_source(c, s->column[p], s->column_offset[p], bytes).type < 0) c->in_lanes = 0;
        }
    }
    c->slot_count = (int)(stride / 16);
}

/* A piece that all records share, converted and repeated four times; returns 0 if it does not fit. */
static int repeat_constant(const scatter_context *c, const source *from, const char *at, int bytes, char *constant) {
    if (from->type == LANE_WORDS) {
        memcpy(constant, at, (size_t)bytes);
    } else if (c->isa->convert(from->convert->convert.from_type, from->convert->convert.to_type)(constant, at,
                                                                                                 bytes / 4) >= 0) {
        return 0;
    }
    for (int r = 1; r < 4; r++) memcpy(constant + r * bytes, constant, (size_t)bytes);
    return 1;
}

static int set_slot_lanes(scatter_context *c, const scatter_step *s, int slot) {
    interleave4_slot *w = c->slots + slot;
    int lane = 0;
    for (int p = 0, unit = 0; unit < 4; p++) {
        int bytes = piece_bytes(s, p);
        source from = {s->column[p], LANE_WORDS, s->column_offset[p], NULL};
        if (c->in_lanes) from = find_source(c, s->column[p], s->column_offset[p], bytes);
        const char *at = piece_at(c, 0, from.column, from.offset);
        ptrdiff_t step = step_of(c, from.column);
        if (step == 0 && from.column >= 0) {
            char *constant = c->constants[4 * slot + p];
            if (!repeat_constant(c, &from, at, bytes, constant)) return 0;
            at = constant, from.type = LANE_WORDS;
        }
        for (int u = 0; u < bytes / 4; u++, unit++)
            for (int r = 0; r < 4; r++) w->index[4 * r + unit] = lane * 4 + r * (bytes / 4) + u;
        for (int k = 0; k < bytes / 4; k++, lane++) {
            w->lane[lane] = at + (from.type == LANE_WORDS ? 16 : 32) * k;
            w->step[lane] = step * 4;
            w->type[lane] = from.type;
            c->record_step[slot][lane] = from.column < c->plan->columns ? step : 0;
        }
    }
    w->shape = s->kind == STEP_COPY ? SLOT_COUNT : s->slot.shape;
    return 1;
}

void scatter_set_lanes(scatter_context *c) {
    const scatter_plan *plan = c->plan;
    const interleave4_slot padding = {
        {scatter_zeros, scatter_zeros, scatter_zeros, scatter_zeros}, {0}, {0}, {0}, SLOT_COUNT};
    for (int k = 0; k < c->slot_count; k++) {
        c->slots[k] = padding;
        memset(c->record_step[k], 0, sizeof c->record_step[k]);
    }
    for (int32_t k = 0; k < plan->step_count && c->slot_count; k++) {
        const scatter_step *s = plan->steps + k;
        /* If a constant does not fit, the steps find it and report it. */
        if (is_slot(s) && !set_slot_lanes(c, s, (int)(s->record_offset / 16))) c->slot_count = 0;
    }
}
