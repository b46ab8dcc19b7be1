/* Python's locks and threads, as far as csrc/pool.c uses them, made of POSIX ones: sanitizers know those. */
#ifndef PYTHREAD_H
#define PYTHREAD_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#define WAIT_LOCK                  1
#define PYTHREAD_INVALID_THREAD_ID ((unsigned long)-1)

typedef sem_t *PyThread_type_lock;

extern int refuse_threads; /* whether the system starts no thread */

static inline PyThread_type_lock PyThread_allocate_lock(void) {
    sem_t *made = malloc(sizeof *made);
    if (made && sem_init(made, 0, 1)) abort();
    return made;
}

static inline void PyThread_free_lock(PyThread_type_lock lock) {
    sem_destroy(lock);
    free(lock);
}

static inline int PyThread_acquire_lock(PyThread_type_lock lock, int wait) {
    (void)wait;
    while (sem_wait(lock))
        if (errno != EINTR) abort();
    return 1;
}

static inline void PyThread_release_lock(PyThread_type_lock lock) {
    if (sem_post(lock)) abort();
}

typedef struct {
    void (*run)(void *);
    void *argument;
} started_thread;

static void *start_thread(void *given) {
    started_thread thread = *(started_thread *)given;
    free(given);
    thread.run(thread.argument);
    return NULL;
}

static inline unsigned long PyThread_start_new_thread(void (*run)(void *), void *argument) {
    pthread_t made;
    if (__atomic_load_n(&refuse_threads, __ATOMIC_RELAXED)) return PYTHREAD_INVALID_THREAD_ID;
    started_thread *given = malloc(sizeof *given);
    given->run = run, given->argument = argument;
    if (pthread_create(&made, NULL, start_thread, given)) {
        free(given);
        return PYTHREAD_INVALID_THREAD_ID;
    }
    pthread_detach(made);
    return 1;
}

#endif
