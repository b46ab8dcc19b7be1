/* The threads of csrc/pool.c under a sanitizer: several threads pack, check and unpack at the same time, with signals
 * that interrupt their waits, and forks whose children pack too. Exits 0 and prints how many runs there were. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool.h"

enum { CALLERS = 8, ROUNDS = 12, RECORDS = 60000, SIZE = 32 };

int refuse_threads;
static long runs;

static void ignore_signal(int number) { (void)number; }

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

/* A vec3f of doubles, an i32 of int64, and 12 bytes of padding: converted both ways, on `workers` threads. */
static void pack_and_unpack(int caller, int round, int workers) {
    int64_t count = RECORDS / (1 + round % 3), shape[1] = {count}, strides[2] = {24, 8}, bad = count / 2 + caller;
    double *reals = malloc((size_t)count * 24), *reals_back = malloc((size_t)count * 24);
    int64_t *wholes = malloc((size_t)count * 8), *wholes_back = malloc((size_t)count * 8);
    char *packed = malloc((size_t)count * SIZE);
    if (!reals || !reals_back || !wholes || !wholes_back || !packed) fail("no memory");
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) reals[3 * i + k] = (double)(i + k + caller);
        wholes[i] = i * caller - round;
    }
    int64_t temps[2] = {12, 4};
    scatter_step forward[4] = {
        {.kind = STEP_CONVERT_IN, .column = {0, 2, -1, -1}},
        {.kind = STEP_CONVERT_IN, .leaf = 1, .column = {1, 3, -1, -1}},
        {.kind = STEP_SLOT, .column = {2, 3, -1, -1}},
        {.kind = STEP_ZERO, .column = {-1, -1, -1, -1}, .record_offset = 16},
    };
    forward[0].convert.count = 3, forward[0].convert.step = 8;
    forward[0].convert.from_type = TYPE_F64, forward[0].convert.to_type = TYPE_F32;
    forward[1].convert.count = 1, forward[1].convert.step = 8;
    forward[1].convert.from_type = TYPE_I64, forward[1].convert.to_type = TYPE_I32;
    forward[2].slot.shape = SLOT_12_4, forward[3].zero.bytes = 16;
    char *bases[2] = {(char *)reals, (char *)wholes}, *back_bases[2] = {(char *)reals_back, (char *)wholes_back};
    scatter_plan plan = {forward, NULL, bases, strides, shape, temps, 4, 2, 1, 2, SIZE};
    const scatter_isa *isa = scatter_isa_at((caller + round) % 3);
    if (!isa) isa = scatter_isa_at(0);
    int mode = round % 2 ? MODE_STREAM : MODE_PLAIN;
    if (pool_scatter(isa, &plan, packed, SIZE, 0, count, mode, workers).record != -1) fail("a value does not fit");

    scatter_step back[4] = {
        {.kind = STEP_COPY, .column = {2, -1, -1, -1}},
        {.kind = STEP_COPY, .column = {3, -1, -1, -1}, .record_offset = 12},
        {.kind = STEP_CONVERT_OUT, .column = {0, 2, -1, -1}},
        {.kind = STEP_CONVERT_OUT, .leaf = 1, .column = {1, 3, -1, -1}},
    };
    back[0].copy.bytes = 12, back[1].copy.bytes = 4;
    back[2].convert = forward[0].convert, back[3].convert = forward[1].convert;
    back[2].convert.from_type = TYPE_F32, back[2].convert.to_type = TYPE_F64;
    back[3].convert.from_type = TYPE_I32, back[3].convert.to_type = TYPE_I64;
    scatter_plan other = {back, NULL, back_bases, strides, shape, temps, 4, 2, 1, 2, SIZE};
    if (pool_gather(isa, &other, packed, SIZE, 0, count, mode, workers).record != -1) fail("a value is too large");
    if (memcmp(reals, reals_back, (size_t)count * 24) || memcmp(wholes, wholes_back, (size_t)count * 8))
        fail("other values came back");

    /* The first of two values that do not fit. */
    wholes[bad] = wholes[count - 1] = (int64_t)1 << 40;
    scatter_status found = pool_scatter(isa, &plan, NULL, SIZE, 0, count, MODE_CHECK, workers);
    if (found.record != bad || found.leaf != 1) fail("another value was found");
    __atomic_fetch_add(&runs, 3, __ATOMIC_RELAXED);
    free(reals), free(reals_back), free(wholes), free(wholes_back), free(packed);
}

static void *call(void *given) {
    int caller = (int)(intptr_t)given;
    for (int round = 0; round < ROUNDS; round++) pack_and_unpack(caller, round, 1 + (caller + round) % 5);
    return NULL;
}

static void fork_and_pack(void) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL), alarm(60); /* a child that waits for ever would hold up its parent */
        pool_after_fork();
        pack_and_unpack(1, 1, 3);
        _exit(0);
    }
    int status = 1;
    while (waitpid(child, &status, 0) != child) continue;
    if (status) fail("a forked child failed");
}

int main(int count, char **names) {
    pthread_t callers[CALLERS];
    struct itimerval often = {{0, 2000}, {0, 2000}};
    struct sigaction action = {.sa_handler = ignore_signal}; /* without SA_RESTART: waits are interrupted */
    if (!pool_init()) return 1;
    scatter_isa_at(0);
    refuse_threads = 1;
    pack_and_unpack(0, 0, 4); /* alone */
    refuse_threads = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int k = 0; k < CALLERS; k++)
        if (pthread_create(callers + k, NULL, call, (void *)(intptr_t)k)) return 1;
    /* Another thread may hold the lock of the pool, or, with a sanitizer, the sanitizer's. */
    for (int k = 0; count > 1 && k < 20; k++) fork_and_pack();
    (void)names;
    for (int k = 0; k < CALLERS; k++) pthread_join(callers[k], NULL);
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_REAL, &often, NULL);
    fork_and_pack();
    pack_and_unpack(2, 2, 4);
    printf("%ld runs on the pool\n", runs);
    return 0;
}
