/* Which plans isa->wide can write whole, and where the lanes of their slots lie. See scatter_wide. */
#include <string.h>

#include "internal.h"

static const int8_t SLOT_BYTES[SLOT_COUNT][4] = {{12, 4}, {8, 8}, {8, 4, 4}, {4, 4, 8}, {4, 4, 4, 4}};

/* Where a piece of `bytes` comes from: its column, or the column that fills its temporary, converted on the way. */
typedef struct {
    int32_t column, type;
    int64_t offset;
    const scatter_step *feed;
} source;

static int lane_type(const scatter_step *feed) {
    if (feed->from_type == TYPE_F64 && feed->to_type == TYPE_F32) return LANE_F64;
    if ((feed->from_type == TYPE_I64 || feed->from_type == TYPE_U64) && feed->to_type == TYPE_U32) return LANE_I64_U32;
    if (feed->from_type == TYPE_I64 && feed->to_type == TYPE_I32) return LANE_I64_I32;
    return -1;
}

/* The source of a piece whose conversion can happen in its lane; of type -1 if it cannot. */
static source find_source(const scatter_context *c, int32_t column, int64_t offset, int bytes) {
    const scatter_plan *plan = c->plan;
    source found = {column, LANE_WORDS, offset, NULL};
    if (column < plan->columns) return found;
    found.type = -1;
    for (int32_t k = 0; k < plan->step_count && plan->steps[k].kind == STEP_FEED; k++) {
        const scatter_step *s = plan->steps + k;
        ptrdiff_t step = step_of(c, s->column[0]);
        if (s->column[1] != column) continue;
        /* The temporary is this piece and nothing else, and the column is as dense. */
        if (step_of(c, column) != bytes || s->count * 4 != bytes || s->swap || (bytes > 4 && s->step != 8))
            return found;
        if (step != 0 && step != 2 * bytes) return found;
        found.type = lane_type(s), found.column = s->column[0], found.offset = s->offset[0], found.feed = s;
    }
    return found;
}

static int is_dense(const scatter_context *c, int32_t column, int bytes) {
    ptrdiff_t step = step_of(c, column);
    return step == 0 || step == bytes;
}

static int piece_bytes(const scatter_step *s, int piece) {
    return s->kind == STEP_COPY ? 16 : SLOT_BYTES[s->count][piece];
}

void scatter_find_wide(scatter_context *c, int64_t stride) {
    const scatter_plan *plan = c->plan;
    c->wide = 0;
    c->direct = 1;
    if (!c->isa->wide || stride != plan->size || stride % 16 || stride > 16 * WIDE_SLOTS) return;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind == STEP_FEED || (s->kind == STEP_ZERO && s->at % 16 == 0 && s->count % 16 == 0)) continue;
        if (s->kind != STEP_SLOT && !(s->kind == STEP_COPY && s->count == 16 && s->at % 16 == 0)) return;
        for (int p = 0, unit = 0; unit < 4; unit += piece_bytes(s, p++) / 4) {
            int bytes = piece_bytes(s, p);
            if (!is_dense(c, s->column[p], bytes)) return;
            if (find_source(c, s->column[p], s->offset[p], bytes).type < 0) c->direct = 0;
        }
    }
    c->wide = (int)(stride / 16);
}

/* A piece that does not move is laid out four times, converted if need be; 0 if it does not fit. */
static int hold_constant(const scatter_context *c, const source *from, const char *at, int bytes, char *constant) {
    if (from->type == LANE_WORDS) {
        memcpy(constant, at, (size_t)bytes);
    } else if (c->isa->convert(from->feed->from_type, from->feed->to_type)(constant, at, bytes / 4) >= 0) {
        return 0;
    }
    for (int r = 1; r < 4; r++) memcpy(constant + r * bytes, constant, (size_t)bytes);
    return 1;
}

static int wide_slot(scatter_context *c, const scatter_step *s, int slot) {
    scatter_wide *w = c->slots + slot;
    int lane = 0;
    for (int p = 0, unit = 0; unit < 4; p++) {
        int bytes = piece_bytes(s, p);
        source from = {s->column[p], LANE_WORDS, s->offset[p], NULL};
        if (c->direct) from = find_source(c, s->column[p], s->offset[p], bytes);
        const char *at = piece_at(c, 0, from.column, from.offset);
        ptrdiff_t step = step_of(c, from.column);
        if (step == 0 && from.column >= 0) {
            char *constant = c->constants[4 * slot + p];
            if (!hold_constant(c, &from, at, bytes, constant)) return 0;
            at = constant, from.type = LANE_WORDS;
        }
        for (int u = 0; u < bytes / 4; u++, unit++)
            for (int r = 0; r < 4; r++) w->index[4 * r + unit] = lane * 4 + r * (bytes / 4) + u;
        for (int k = 0; k < bytes / 4; k++, lane++) {
            w->lane[lane] = at + (from.type == LANE_WORDS ? 16 : 32) * k;
            w->step[lane] = step * 4;
            w->type[lane] = from.type;
            c->moves[slot][lane] = from.column < c->plan->columns ? step : 0;
        }
    }
    w->kind = s->kind == STEP_COPY ? SLOT_COUNT : s->count;
    return 1;
}

void scatter_place_wide(scatter_context *c) {
    const scatter_plan *plan = c->plan;
    scatter_wide empty = {{scatter_zeros, scatter_zeros, scatter_zeros, scatter_zeros}, {0}, {0}, {0}, SLOT_COUNT};
    for (int k = 0; k < c->wide; k++) {
        c->slots[k] = empty;
        memset(c->moves[k], 0, sizeof c->moves[k]);
    }
    for (int32_t k = 0; k < plan->step_count && c->wide; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind != STEP_SLOT && s->kind != STEP_COPY) continue;
        /* A constant that does not fit is for the steps to find. */
        if (!wide_slot(c, s, (int)(s->at / 16))) c->wide = 0;
    }
}
