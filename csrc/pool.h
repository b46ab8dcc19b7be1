/* Runs a plan on several threads. Like scatter.h, it knows no Python object; its threads are the system's, started
 * and locked through pythread.h, and never need the GIL. */
#ifndef GPUSTRUCT_POOL_H
#define GPUSTRUCT_POOL_H

#include "scatter.h"

/* scatter_run and gather_run with scratch space of their own, shared by up to `workers` threads, this one included.
 * They return when no thread works on them any more. `leaf` is -1 where there was no memory for scratch space. */
scatter_status pool_scatter(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride, int64_t start,
                            int64_t stop, int mode, int workers);
scatter_status pool_gather(const scatter_isa *isa, const scatter_plan *plan, const char *from, int64_t stride,
                           int64_t start, int64_t stop, int mode, int workers);

/* In a forked child, which has this module's memory but none of its threads. */
void pool_after_fork(void);

/* Once, before anything else; 0 where there was no memory. */
int pool_init(void);

#endif
