/* A fuzzer of the kernel: the bytes of an input choose a plan that keeps the contract of scatter.h, and the columns
 * that it runs over. */
#ifndef KERNEL_FUZZ_H
#define KERNEL_FUZZ_H

#include "internal.h"

enum { MOST_STEPS = 64, MOST_COLUMNS = 24, MOST_TEMPS = 16, MOST_LOOPS = 32, TEMP_BYTES = 1024, REGION = 1 << 16 };

typedef struct {
    const uint8_t *at;
    size_t left;
} fuzz_input;

/* A number in [0, below), from the next bytes of the input; 0 after its end. */
int64_t fuzz_take(fuzz_input *in, int64_t below);

/* The bytes that a plan uses of a column's record, and how its records follow each other. */
typedef struct {
    int64_t low, high;
    int spacing;
    int64_t gap;
} fuzz_column;

typedef struct {
    scatter_plan plan;
    scatter_step steps[2 * MOST_STEPS + 1];
    scatter_loop loops[MOST_LOOPS];
    char *bases[MOST_COLUMNS];
    int64_t strides[MOST_COLUMNS * 3], shape[3], temps[MOST_TEMPS];
    fuzz_column columns[MOST_COLUMNS];
    int64_t first[MOST_COLUMNS], bytes[MOST_COLUMNS]; /* of a column's memory: its start, before its base, and size */
    int64_t stride, start, stop, records;
    int forward;
} fuzz_plan;

/* plan.c. Returns 0 where the input makes no plan. The bases are still to be set. */
int fuzz_make_plan(fuzz_plan *made, fuzz_input *in);

/* reference.c: the contract, one scalar at a time. Packs one record, or unpacks it; returns the leaf of the first value
 * that does not fit, or -1. */
int32_t reference_scatter(const scatter_plan *plan, int64_t record, char *to);
int32_t reference_gather(const scatter_plan *plan, int64_t record, const char *from);
/* Calls `use` with the address of each scalar that a forward plan converts from a column. */
void reference_visit(const scatter_plan *plan, int64_t record, void (*use)(char *at, int type, int to_type, int swap));

static inline int comes_in_fours(int type) { return type == TYPE_UNORM8X4_BGRA || type == TYPE_UNORM10_10_10_2; }

#endif
