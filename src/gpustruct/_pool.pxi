# Threads that share the ranges of a run. Included by _kernel.pyx.
# They are the system's, not Python's: none of them ever needs the GIL, so handing ranges out costs a few
# microseconds. Whoever is free takes the next range, so that one thread that starts late or is slow holds up no other.

from libc.string cimport memset

cdef extern from "pythread.h" nogil:
    ctypedef void *PyThread_type_lock
    PyThread_type_lock PyThread_allocate_lock()
    void PyThread_free_lock(PyThread_type_lock lock)
    int PyThread_acquire_lock(PyThread_type_lock lock, int wait)
    void PyThread_release_lock(PyThread_type_lock lock)
    unsigned long PyThread_start_new_thread(void (*work)(void *) noexcept nogil, void *argument)

cdef enum:
    MOST_HELPERS = 256
    LEAST_RANGE = 1 << 18  # bytes; below this a range costs more to hand out than it evens out
    MOST_RANGE = 1 << 20

ctypedef struct Job:
    const scatter_plan *plan
    char *memory       # where record `start` lies; NULL where nothing is written
    int64_t stride, start, stop, next, grain
    int mode, helpers, running
    bint forward, closed
    scatter_status status
    PyThread_type_lock done
    Job *behind

# All of it is looked at and changed by who holds `turn`.
cdef PyThread_type_lock turn = PyThread_allocate_lock()
cdef PyThread_type_lock wake[MOST_HELPERS]
cdef int idle[MOST_HELPERS]
cdef int idle_count = 0, helper_count = 0
cdef Job *jobs = NULL


cdef void take_ranges(Job *job) noexcept nogil:
    """Run ranges of a job until none is left; `turn` is held before and after."""
    cdef int64_t first, behind
    cdef scatter_status status
    while job.next < job.stop:
        first, behind = job.next, min(job.next + job.grain, job.stop)
        job.next = behind
        PyThread_release_lock(turn)
        status = run_records(job.plan, job.memory + (first - job.start) * job.stride if job.memory != NULL else NULL,
                             job.stride, first, behind, job.mode, job.forward)
        PyThread_acquire_lock(turn, 1)
        if status.record >= 0:
            # Ranges are taken in order: those before this one are on their way, those behind it do not matter.
            job.next = job.stop
            if job.status.record < 0 or status.record < job.status.record:
                job.status = status


cdef void help_out(void *argument) noexcept nogil:
    """What a helper does for as long as the process lives."""
    global idle_count
    cdef int number = <int><intptr_t>argument
    cdef Job *job
    while True:
        PyThread_acquire_lock(wake[number], 1)
        PyThread_acquire_lock(turn, 1)
        job = jobs
        while job != NULL:
            if job.running < job.helpers and job.next < job.stop:
                job.running += 1
                take_ranges(job)
                job.running -= 1
                if job.closed and job.running == 0:
                    PyThread_release_lock(job.done)
                job = jobs
            else:
                job = job.behind
        idle[idle_count] = number
        idle_count += 1
        PyThread_release_lock(turn)


cdef void call_helpers(int wanted) noexcept nogil:
    """Wake as many helpers, making those that there are none of yet; `turn` is held."""
    global idle_count, helper_count
    while wanted > 0:
        wanted -= 1
        if idle_count > 0:
            idle_count -= 1
            PyThread_release_lock(wake[idle[idle_count]])
        elif helper_count < MOST_HELPERS:
            wake[helper_count] = PyThread_allocate_lock()
            if wake[helper_count] == NULL:
                return
            # -1 where the system has no thread left: those that there are will do.
            if PyThread_start_new_thread(help_out, <void *><intptr_t>helper_count) == <unsigned long>-1:
                PyThread_free_lock(wake[helper_count])
                return
            helper_count += 1


cdef scatter_status share(const scatter_plan *plan, char *memory, int64_t stride, int64_t start, int64_t stop, int mode,
                          bint forward, int workers) noexcept nogil:
    """Run records [start, stop) on up to `workers` threads, this one included; returns when none works any more."""
    global jobs
    cdef Job job
    cdef Job **at
    cdef int64_t count = stop - start, part
    workers = max(1, workers)
    part = (count + workers - 1) // workers
    memset(&job, 0, sizeof(Job))
    job.done = PyThread_allocate_lock() if workers > 1 and count > 1 else NULL
    if job.done == NULL:
        return run_records(plan, memory, stride, start, stop, mode, forward)
    PyThread_acquire_lock(job.done, 1)
    job.grain = part
    if part * stride > LEAST_RANGE:
        job.grain = max(<int64_t>1, min(max(part // 4, LEAST_RANGE // stride), MOST_RANGE // stride))
    if job.grain > 64:
        # Whole lines of 64 bytes where records allow it, so that no two threads share one.
        job.grain = (job.grain + 15) // 16 * 16
    job.plan, job.memory, job.stride, job.start, job.stop, job.next = plan, memory, stride, start, stop, start
    job.mode, job.forward, job.helpers, job.status.record = mode, forward, workers - 1, -1
    PyThread_acquire_lock(turn, 1)
    job.behind, jobs = jobs, &job
    call_helpers(<int>min(<int64_t>workers, (count + job.grain - 1) // job.grain) - 1)
    take_ranges(&job)
    at = &jobs
    while at[0] != &job:
        at = &at[0].behind
    at[0] = job.behind
    job.closed = True
    if job.running:
        PyThread_release_lock(turn)
        PyThread_acquire_lock(job.done, 1)
        # The last helper lets go of the job before it lets go of `turn`.
        PyThread_acquire_lock(turn, 1)
    PyThread_release_lock(turn)
    PyThread_release_lock(job.done)
    PyThread_free_lock(job.done)
    return job.status


def forget_helpers():
    """In a forked child: it has this module's memory, but none of the threads."""
    global turn, idle_count, helper_count, jobs
    turn = PyThread_allocate_lock()
    idle_count = helper_count = 0
    jobs = NULL


import os

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_helpers)
