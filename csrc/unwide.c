/* Which plans isa->unwide can take apart whole, and where the lanes of their slots go. See scatter_unwide. */
#include <string.h>

#include "internal.h"

/* Where unit u of record r lies in the four records' lines, seen from slot `slot` of `count`. */
static void place_unit(scatter_unwide *w, int count, int slot, int position, int r, int u) {
    int lane = count * r + slot, line = lane / 4, in_line = 4 * (lane % 4) + u;
    int second = count == 3 ? line == 2 : count > 3 && r > 1;
    int first_line = count > 3 ? (count * (second ? 2 : 0) + slot) / 4 : second ? 2 : 0;
    w->index[second][position] = in_line + (line == first_line ? 0 : 16);
    if (second) w->second |= 1 << position;
}

/* One piece of a slot behind the `lanes` lanes that others have; 0 if its column is not dense. */
static int place_piece(const scatter_context *c, const scatter_step *s, scatter_unwide *w, int32_t *columns, int count,
                       int lanes) {
    int units = s->count / 4, unit = (int)(s->at % 16 / 4), slot = (int)(s->at / 16);
    if (step_of(c, s->column[0]) != s->count) return 0;
    for (int r = 0; r < 4; r++)
        for (int u = 0; u < units; u++) place_unit(w, count, slot, 4 * lanes + r * units + u, r, unit + u);
    for (int k = 0; k < units; k++) {
        w->lane[lanes + k] = (char *)(s->offset[0] + 16 * k); /* behind the column's own address */
        w->step[lanes + k] = 4 * s->count;
        columns[lanes + k] = s->column[0];
    }
    if (units == 4) w->whole = 1;
    if (units == 3 && lanes == 0) w->triple = 1;
    return 1;
}

int scatter_find_unwide(const scatter_context *c, int64_t stride, scatter_unwide *slots, int32_t *columns) {
    const scatter_plan *plan = c->plan;
    int lanes[WIDE_SLOTS] = {0}, count = (int)(stride / 16);
    if (!c->isa->unwide || stride != plan->size || stride % 16 || stride > 16 * WIDE_SLOTS || count == 0) return 0;
    memset(slots, 0, (size_t)count * sizeof *slots);
    for (int k = 0; k < 4 * count; k++) columns[k] = -1;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        int slot = (int)(s->at / 16);
        if (s->kind != STEP_COPY || s->count % 4 || s->at % 4 || s->at % 16 + s->count > 16) return 0;
        if (lanes[slot] + s->count / 4 > 4) return 0;
        if (!place_piece(c, s, slots + slot, columns + 4 * slot, count, lanes[slot])) return 0;
        lanes[slot] += s->count / 4;
    }
    return count;
}

int64_t scatter_run_unwide(const scatter_context *c, const scatter_unwide *slots, const int32_t *columns, int count,
                           int64_t first, int64_t n, const char *from) {
    scatter_unwide placed[WIDE_SLOTS];
    int64_t done = n / 4 * 4;
    if (done == 0) return 0;
    memcpy(placed, slots, (size_t)count * sizeof *slots);
    for (int k = 0; k < 4 * count; k++) {
        char **lane = &placed[k / 4].lane[k % 4];
        *lane = columns[k] < 0 ? NULL : piece_at(c, first, columns[k], (int64_t)(intptr_t)*lane);
    }
    c->isa->unwide(placed, count, from, done);
    return done;
}
