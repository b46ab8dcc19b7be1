/* Which plans isa->deinterleave4 can run, and the lanes of their slots. */
#include <string.h>

#include "internal.h"

/* Sets where lane unit `position` comes from: unit u of slot `slot` in record r. */
static void map_unit(deinterleave4_slot *w, int count, int slot, int position, int r, int u) {
    int lane = count * r + slot, line = lane / 4, in_line = 4 * (lane % 4) + u;
    int second = count == 3 ? line == 2 : count > 3 && r > 1;
    int first_line = count > 3 ? (count * (second ? 2 : 0) + slot) / 4 : second ? 2 : 0;
    w->index[second][position] = in_line + (line == first_line ? 0 : 16);
    if (second) w->second |= 1 << position;
}

/* Adds one piece of a slot, after the `lanes` lanes of earlier pieces; returns 0 if its column is not dense. */
static int add_piece(const scatter_context *c, const scatter_step *s, scatter_deinterleaved *d, int count, int lanes) {
    int units = (int)(s->copy.bytes / 4), unit = (int)(s->record_offset % 16 / 4), slot = (int)(s->record_offset / 16);
    deinterleave4_slot *w = d->slots + slot;
    if (step_of(c, s->column[0]) != s->copy.bytes) return 0;
    for (int r = 0; r < 4; r++)
        for (int u = 0; u < units; u++) map_unit(w, count, slot, 4 * lanes + r * units + u, r, unit + u);
    for (int k = lanes; k < lanes + units; k++) {
        d->column[slot][k] = s->column[0];
        d->offset[slot][k] = s->column_offset[0] + 16 * (k - lanes);
        w->step[k] = (ptrdiff_t)(4 * s->copy.bytes);
    }
    if (units == 4) w->whole = 1;
    if (units == 3 && lanes == 0) w->triple = 1;
    return 1;
}

void scatter_find_deinterleaved(const scatter_context *c, int64_t stride, scatter_deinterleaved *d) {
    const scatter_plan *plan = c->plan;
    int lanes[MAX_INTERLEAVED] = {0}, count = (int)(stride / 16);
    d->count = 0;
    if (!c->isa->deinterleave4 || stride != plan->size || stride % 16 || stride > 16 * MAX_INTERLEAVED) return;
    memset(d->slots, 0, sizeof d->slots);
    memset(d->column, -1, sizeof d->column);
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if (s->kind != STEP_COPY || s->copy.bytes % 4 || s->record_offset % 4 ||
            s->record_offset % 16 + s->copy.bytes > 16)
            return;
        int slot = (int)(s->record_offset / 16), units = (int)(s->copy.bytes / 4);
        if (lanes[slot] + units > 4 || !add_piece(c, s, d, count, lanes[slot])) return;
        lanes[slot] += units;
    }
    d->count = count;
}

int64_t scatter_deinterleave(const scatter_context *c, const scatter_deinterleaved *d, int64_t first, int64_t n,
                             const char *from) {
    deinterleave4_slot slots[MAX_INTERLEAVED];
    int64_t done = n / 4 * 4;
    if (done == 0) return 0;
    memcpy(slots, d->slots, (size_t)d->count * sizeof *slots);
    for (int slot = 0; slot < d->count; slot++)
        for (int k = 0; k < 4; k++) {
            int32_t column = d->column[slot][k];
            slots[slot].lane[k] = column < 0 ? NULL : piece_at(c, first, column, d->offset[slot][k]);
        }
    c->isa->deinterleave4(slots, d->count, from, done);
    return done;
}
