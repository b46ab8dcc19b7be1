/* Runs a plan on several threads. Like scatter.h, it knows no Python objects. Its threads come from pythread.h and
 * never need the GIL. */
#ifndef GPUSTRUCT_POOL_H
#define GPUSTRUCT_POOL_H

#include "scatter.h"

/* scatter_run and gather_run on up to `workers` threads, this one included. They allocate their scratch space, and
 * return when all threads are done. `leaf` is -1 where there was no memory for it. */
scatter_status pool_scatter(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride, int64_t start,
                            int64_t stop, int mode, int workers);
scatter_status pool_gather(const scatter_isa *isa, const scatter_plan *plan, const char *from, int64_t stride,
                           int64_t start, int64_t stop, int mode, int workers);

/* For a forked child, which has this module's memory but none of its threads. */
void pool_after_fork(void);

/* Must be called first, once; returns 0 where there was no memory. */
int pool_init(void);

#endif
