/* Threads that share the ranges of a run. A free thread takes the next range, so none waits for one that starts late or
 * is slow. */
#include <Python.h>
#include <pythread.h>

#include "pool.h"

enum {
    MAX_HELPERS = 256,
    MIN_RANGE = 1 << 18, /* bytes; smaller ranges cost more than they gain */
    MAX_RANGE = 1 << 20,
    LINE = 64,
    STACK_SCRATCH = 16384
};

typedef struct job {
    const scatter_isa *isa;
    const scatter_plan *plan;
    char *memory; /* the address of record `start`; NULL for a check */
    int64_t stride, start, stop, next, range;
    int mode, forward, max_helpers, running, closed;
    scatter_status status;
    PyThread_type_lock done;
    struct job *next_job;
} job;

/* `pool_lock` guards all of these, and `next`, `running`, `closed` and `status` of every job. */
static PyThread_type_lock pool_lock;
static PyThread_type_lock wake[MAX_HELPERS];
static int idle[MAX_HELPERS];
static int idle_count, helper_count;
static job *jobs;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Records [start, stop) in this thread. */
static scatter_status run_range(const job *j, int64_t start, int64_t stop) {
    scatter_status status = {-1, 0};
    char stack[STACK_SCRATCH + LINE], *heap = NULL, *scratch = stack;
    char *memory = j->memory ? j->memory + (start - j->start) * j->stride : NULL;
    if (start == stop) return status;
    int64_t bytes = j->forward ? scatter_scratch(j->plan, j->stride) : gather_scratch(j->plan, j->stride);
    if (bytes > STACK_SCRATCH) {
        heap = scratch = malloc((size_t)bytes + LINE);
        if (heap == NULL) {
            status.record = start, status.leaf = -1;
            return status;
        }
    }
    scratch += (LINE - (uintptr_t)scratch % LINE) % LINE;
    if (j->forward)
        status = scatter_run(j->isa, j->plan, memory, j->stride, start, stop, j->mode, scratch);
    else
        status = gather_run(j->isa, j->plan, memory, j->stride, start, stop, j->mode, scratch);
    free(heap);
    return status;
}

/* Run ranges of a job until none is left. The caller holds `pool_lock`. */
static void run_ranges(job *j) {
    while (j->next < j->stop) {
        int64_t first = j->next, end = least(first + j->range, j->stop);
        j->next = end;
        PyThread_release_lock(pool_lock);
        scatter_status status = run_range(j, first, end);
        PyThread_acquire_lock(pool_lock, WAIT_LOCK);
        if (status.record < 0) continue;
        /* Ranges are taken in order: earlier ones are running or done, later ones do not matter. */
        j->next = j->stop;
        if (j->status.record < 0 || status.record < j->status.record) j->status = status;
    }
}

/* The function of a helper thread; it never returns. */
static void help(void *argument) {
    int number = (int)(intptr_t)argument;
    for (;;) {
        PyThread_acquire_lock(wake[number], WAIT_LOCK);
        PyThread_acquire_lock(pool_lock, WAIT_LOCK);
        for (job *j = jobs; j != NULL;) {
            if (j->running == j->max_helpers || j->next >= j->stop) {
                j = j->next_job;
                continue;
            }
            j->running++;
            run_ranges(j);
            j->running--;
            if (j->closed && j->running == 0) PyThread_release_lock(j->done);
            j = jobs; /* the list may have changed */
        }
        idle[idle_count++] = number;
        PyThread_release_lock(pool_lock);
    }
}

/* Wake `wanted` helpers, and start those that do not exist yet. The caller holds `pool_lock`. */
static void wake_helpers(int64_t wanted) {
    for (; wanted > 0; wanted--) {
        if (idle_count > 0) {
            PyThread_release_lock(wake[idle[--idle_count]]);
        } else if (helper_count < MAX_HELPERS) {
            wake[helper_count] = PyThread_allocate_lock();
            if (wake[helper_count] == NULL) return;
            /* If the system can start no thread, the existing ones do the work. */
            if (PyThread_start_new_thread(help, (void *)(intptr_t)helper_count) == PYTHREAD_INVALID_THREAD_ID) {
                PyThread_free_lock(wake[helper_count]);
                return;
            }
            helper_count++;
        }
    }
}

/* How many records a thread takes at a time. */
static int64_t range_of(int64_t count, int64_t stride, int64_t workers) {
    int64_t share = (count + workers - 1) / workers, range = share;
    if (share > MIN_RANGE / stride) range = most(1, least(most(share / 4, MIN_RANGE / stride), MAX_RANGE / stride));
    /* Whole lines of 64 bytes where records allow it, so that no two threads write to one. */
    return range > 64 ? (range + 15) / 16 * 16 : range;
}

static scatter_status share(job *j, int workers) {
    int64_t count = j->stop - j->start;
    if (workers > 1 && count > 1) j->done = PyThread_allocate_lock();
    if (j->done == NULL) return run_range(j, j->start, j->stop);
    PyThread_acquire_lock(j->done, WAIT_LOCK);
    j->range = range_of(count, j->stride, workers);
    j->next = j->start, j->max_helpers = workers - 1, j->status.record = -1;
    PyThread_acquire_lock(pool_lock, WAIT_LOCK);
    j->next_job = jobs, jobs = j;
    wake_helpers(least(workers, (count + j->range - 1) / j->range) - 1);
    run_ranges(j);
    job **at = &jobs;
    while (*at != j) at = &(*at)->next_job;
    *at = j->next_job;
    j->closed = 1;
    if (j->running) {
        PyThread_release_lock(pool_lock);
        PyThread_acquire_lock(j->done, WAIT_LOCK);
        /* The last helper releases `done` while it still holds the lock of the pool. */
        PyThread_acquire_lock(pool_lock, WAIT_LOCK);
    }
    PyThread_release_lock(pool_lock);
    PyThread_release_lock(j->done);
    PyThread_free_lock(j->done);
    return j->status;
}

scatter_status pool_scatter(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride, int64_t start,
                            int64_t stop, int mode, int workers) {
    job j = {.isa = isa, .plan = plan, .memory = to, .stride = stride, .start = start, .stop = stop};
    j.mode = mode, j.forward = 1;
    return share(&j, workers);
}

scatter_status pool_gather(const scatter_isa *isa, const scatter_plan *plan, const char *from, int64_t stride,
                           int64_t start, int64_t stop, int mode, int workers) {
    job j = {.isa = isa, .plan = plan, .memory = (char *)(uintptr_t)from, .stride = stride, .start = start};
    j.stop = stop, j.mode = mode;
    return share(&j, workers);
}

int pool_init(void) {
    if (pool_lock == NULL) pool_lock = PyThread_allocate_lock();
    return pool_lock != NULL;
}

void pool_after_fork(void) {
    pool_lock = PyThread_allocate_lock();
    idle_count = helper_count = 0;
    jobs = NULL;
}
