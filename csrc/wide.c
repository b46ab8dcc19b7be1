/* Which plans isa->wide can write whole, and where the lanes of their slots lie. See scatter_wide. */
#include <string.h>

#include "internal.h"

static const int8_t SLOT_BYTES[SLOT_COUNT][4] = {{12, 4}, {8, 8}, {8, 4, 4}, {4, 4, 8}, {4, 4, 4, 4}};

static int is_dense(const scatter_context *c, int32_t column, int bytes) {
    ptrdiff_t step = step_of(c, column);
    return step == 0 || step == bytes;
}

void scatter_find_wide(scatter_context *c, int64_t stride) {
    const scatter_plan *plan = c->plan;
    c->wide = 0;
    if (!c->isa->wide || stride != plan->size || stride % 16 || stride > 16 * WIDE_SLOTS) return;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind == STEP_FEED || (s->kind == STEP_ZERO && s->at % 16 == 0 && s->count % 16 == 0)) continue;
        if (s->kind == STEP_COPY && s->count == 16 && s->at % 16 == 0 && is_dense(c, s->column[0], 16)) continue;
        if (s->kind != STEP_SLOT) return;
        for (int p = 0; p < 4 && SLOT_BYTES[s->count][p]; p++)
            if (!is_dense(c, s->column[p], SLOT_BYTES[s->count][p])) return;
    }
    c->wide = (int)(stride / 16);
}

/* Four records' worth of one piece: where it lies, and how far it moves on. */
static const char *wide_piece(const scatter_context *c, int32_t column, int64_t offset, int bytes, char *constant,
                              ptrdiff_t *step) {
    const char *at = piece_at(c, 0, column, offset);
    *step = step_of(c, column) * 4;
    if (*step || column < 0) return at;
    for (int r = 0; r < 4; r++) memcpy(constant + r * bytes, at, (size_t)bytes);
    return constant;
}

static void wide_slot(scatter_context *c, const scatter_step *s, int slot) {
    scatter_wide *w = c->slots + slot;
    int lane = 0, simple = s->kind == STEP_COPY || s->count == SLOT_12_4;
    for (int p = 0, unit = 0; unit < 4; p++) {
        int bytes = s->kind == STEP_COPY ? 16 : SLOT_BYTES[s->count][p];
        ptrdiff_t step;
        const char *at = wide_piece(c, s->column[p], s->offset[p], bytes, c->constants[4 * slot + p], &step);
        for (int u = 0; u < bytes / 4; u++, unit++)
            for (int r = 0; r < 4; r++) w->index[4 * r + unit] = lane * 4 + r * (bytes / 4) + u;
        for (int k = 0; k < bytes / 4; k++, lane++) {
            w->lane[lane] = at + 16 * k;
            w->step[lane] = step;
            c->moves[slot][lane] = s->column[p] < c->plan->columns ? step / 4 : 0;
        }
    }
    if (simple) w->lane[1] = NULL;
}

void scatter_place_wide(scatter_context *c) {
    const scatter_plan *plan = c->plan;
    const scatter_wide empty = {{scatter_zeros, NULL, scatter_zeros, scatter_zeros}, {0, 0, 0, 0}, {0}};
    for (int k = 0; k < c->wide; k++) {
        c->slots[k] = empty;
        memset(c->moves[k], 0, sizeof c->moves[k]);
    }
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind == STEP_SLOT || s->kind == STEP_COPY) wide_slot(c, s, (int)(s->at / 16));
    }
}
