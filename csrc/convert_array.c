/* Arrays too large to unroll: record by record, loops over runs of scalars, each run in chunks of RAW_SCALARS. */
#include "internal.h"

/* The offset of a run of scalars on both sides, and the rounds that each loop has done. */
typedef struct {
    int64_t column, record;
    int64_t round[MAX_LOOPS];
} odometer;

/* Goes on to the next run; returns 0 after the last. */
static int next_run(odometer *o, const scatter_loop *loops, int count) {
    for (int k = count - 1; k >= 0; k--) {
        o->column += loops[k].column_step, o->record += loops[k].record_step;
        if (++o->round[k] < loops[k].count) return 1;
        o->column -= loops[k].column_step * loops[k].count, o->record -= loops[k].record_step * loops[k].count;
        o->round[k] = 0;
    }
    return 0;
}

int64_t scatter_array_in(const scatter_context *c, const scatter_step *s, char *record, ptrdiff_t record_step,
                         const char *column, ptrdiff_t column_step, int64_t n) {
    const scatter_loop *loops = c->plan->loops + s->convert.loop_first;
    char *aside = c->raw + RAW_SCALARS * 8; /* a check writes its values here */
    int64_t count = s->convert.count, scalar = scatter_type_size[s->convert.to_type];
    for (int64_t i = 0; i < n; i++) {
        odometer o = {0, 0, {0}};
        do {
            for (int64_t done = 0; done < count; done += RAW_SCALARS) {
                scatter_step part = *s;
                part.convert.count = smaller(count - done, RAW_SCALARS);
                char *to = record ? record + i * record_step + o.record + done * scalar : aside;
                const char *from = column + i * column_step + o.column + done * s->convert.step;
                if (scatter_convert_in(c->isa, &part, to, 0, from, 0, 1, c->raw) >= 0) return i;
            }
        } while (next_run(&o, loops, s->convert.loop_count));
    }
    return -1;
}

int64_t scatter_array_out(const scatter_context *c, const scatter_step *s, char *column, ptrdiff_t column_step,
                          const char *record, ptrdiff_t record_step, int64_t n) {
    const scatter_loop *loops = c->plan->loops + s->convert.loop_first;
    int64_t count = s->convert.count, scalar = scatter_type_size[s->convert.from_type];
    for (int64_t i = 0; i < n; i++) {
        odometer o = {0, 0, {0}};
        do {
            for (int64_t done = 0; done < count; done += RAW_SCALARS) {
                scatter_step part = *s;
                part.convert.count = smaller(count - done, RAW_SCALARS);
                char *to = column + i * column_step + o.column + done * s->convert.step;
                const char *from = record + i * record_step + o.record + done * scalar;
                if (scatter_convert_out(c->isa, &part, to, 0, from, 0, 1, c->raw) >= 0) return i;
            }
        } while (next_run(&o, loops, s->convert.loop_count));
    }
    return -1;
}
