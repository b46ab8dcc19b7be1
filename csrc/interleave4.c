/* Which plans isa->interleave4 can write whole, and where the lanes of their slots are. */
#include <string.h>

#include "internal.h"

static const int8_t SLOT_BYTES[SLOT_COUNT][4] = {{12, 4}, {8, 8}, {8, 4, 4}, {4, 4, 8}, {4, 4, 4, 4}};

/* Where a piece of `bytes` comes from: its column, or the column that fills its temporary, converted on the way. */
typedef struct {
    int32_t column, type;
    int64_t offset;
    const scatter_step *convert;
} source;

/* What a lane that converts by itself would hold; -1 for a conversion that lanes cannot do. */
static int lane_type(const scatter_step *s) {
    int from = s->convert.from_type, to = s->convert.to_type;
    if (from == TYPE_F64 && to == TYPE_F32) return LANE_F64;
    if ((from == TYPE_I64 || from == TYPE_U64) && to == TYPE_U32) return LANE_I64_U32;
    if (from == TYPE_I64 && to == TYPE_I32) return LANE_I64_I32;
    return -1;
}

/* The source of a piece whose conversion can happen in its lane; of type -1 if it cannot. */
static source find_source(const scatter_context *c, int32_t column, int64_t offset, int bytes) {
    const scatter_plan *plan = c->plan;
    source found = {column, LANE_WORDS, offset, NULL};
    if (column < plan->columns) return found;
    found.type = -1;
    for (int32_t k = 0; k < plan->step_count && plan->steps[k].kind == STEP_CONVERT_IN; k++) {
        const scatter_step *s = plan->steps + k;
        ptrdiff_t step = step_of(c, s->column[0]);
        if (s->column[1] != column) continue;
        /* The temporary is this piece and nothing else, and the column is dense too. */
        if (step_of(c, column) != bytes || s->convert.count * 4 != bytes || s->convert.swap) return found;
        if (bytes > 4 && s->convert.step != 8) return found;
        if (step != 0 && step != 2 * bytes) return found;
        found.type = lane_type(s), found.column = s->column[0], found.offset = s->offset[0], found.convert = s;
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

/* A step that writes whole slots, from pieces or in one. */
static int is_slot(const scatter_step *s) {
    return s->kind == STEP_SLOT || (s->kind == STEP_COPY && s->copy.bytes == 16 && s->at % 16 == 0);
}

static int is_padding(const scatter_step *s) {
    return s->kind == STEP_ZERO && s->at % 16 == 0 && s->zero.bytes % 16 == 0;
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
            if (find_source(c, s->column[p], s->offset[p], bytes).type < 0) c->in_lanes = 0;
        }
    }
    c->slot_count = (int)(stride / 16);
}

/* A piece of a column that does not move, four times over, converted if need be; 0 if it does not fit. */
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

static int place_slot(scatter_context *c, const scatter_step *s, int slot) {
    interleave4_slot *w = c->slots + slot;
    int lane = 0;
    for (int p = 0, unit = 0; unit < 4; p++) {
        int bytes = piece_bytes(s, p);
        source from = {s->column[p], LANE_WORDS, s->offset[p], NULL};
        if (c->in_lanes) from = find_source(c, s->column[p], s->offset[p], bytes);
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

void scatter_place_interleaved(scatter_context *c) {
    const scatter_plan *plan = c->plan;
    const interleave4_slot padding = {
        {scatter_zeros, scatter_zeros, scatter_zeros, scatter_zeros}, {0}, {0}, {0}, SLOT_COUNT};
    for (int k = 0; k < c->slot_count; k++) {
        c->slots[k] = padding;
        memset(c->record_step[k], 0, sizeof c->record_step[k]);
    }
    for (int32_t k = 0; k < plan->step_count && c->slot_count; k++) {
        const scatter_step *s = plan->steps + k;
        /* A constant that does not fit is for the steps to find. */
        if (is_slot(s) && !place_slot(c, s, (int)(s->at / 16))) c->slot_count = 0;
    }
}
