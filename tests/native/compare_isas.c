/* Every instruction set's primitives against the portable ones, byte for byte: random plans over random columns.
 *
 * For machines that Python's own tests cannot reach, such as aarch64 under qemu-user. Exits 0 and prints
 * how many comparisons it made, or 1 and the first that failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scatter.h"

enum { RECORDS = 203, GUARD = 64, MOST = 4096 };

static uint32_t state = 1;
static uint32_t draw(uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* What the portable code made, in one number (FNV-1a): compilers and processors must agree on it. */
static uint32_t made_bytes;
static void count_bytes(const char *p, size_t n) {
    for (size_t i = 0; i < n; i++) made_bytes = (made_bytes ^ (unsigned char)p[i]) * 16777619u;
}

static const int PIECES[SLOT_COUNT][4] = {{12, 4}, {8, 8}, {8, 4, 4}, {4, 4, 8}, {4, 4, 4, 4}};

static void fill(char *p, size_t n) {
    for (size_t i = 0; i < n; i++) p[i] = (char)draw(256);
}

/* A record of slots from columns that are dense, spaced, reversed or constant, at odd addresses. */
static int compare_plan(const scatter_isa *isa) {
    int slots = 1 + (int)draw(8), columns = 0, count = 1 + (int)draw(RECORDS), ok = 1;
    scatter_step steps[8];
    char *bases[32], *memory[32];
    int64_t strides[32], shape[1] = {count};
    memset(steps, 0, sizeof steps);
    for (int s = 0; s < slots; s++) {
        steps[s].kind = STEP_SLOT, steps[s].slot.shape = (int32_t)draw(SLOT_COUNT), steps[s].record_offset = 16 * s;
        for (int p = 0; p < 4; p++) {
            int bytes = PIECES[steps[s].slot.shape][p];
            steps[s].column[p] = -1;
            if (!bytes || draw(8) == 0) continue;
            int64_t step = draw(3) ? bytes : draw(2) ? bytes + (int64_t)draw(20) + 1 : draw(2) ? -bytes - 4 : 0;
            int64_t size = (step < 0 ? -step : step) * (count - 1) + bytes;
            memory[columns] = malloc((size_t)size + 1);
            fill(memory[columns], (size_t)size + 1);
            bases[columns] = memory[columns] + draw(2) + (step < 0 ? -step * (count - 1) : 0);
            strides[columns] = step;
            steps[s].column[p] = columns++;
        }
    }
    scatter_plan plan = {steps, NULL, bases, strides, shape, NULL, slots, columns, 1, 0, 16 * slots};
    size_t bytes = (size_t)(16 * slots * count), scratch_bytes = (size_t)scatter_scratch(&plan, plan.size) + 64;
    char *want = calloc(1, bytes + 3 * GUARD), *got = calloc(1, bytes + 3 * GUARD),
         *memory_scratch = malloc(scratch_bytes + 64);
    char *scratch = memory_scratch + (64 - (uintptr_t)memory_scratch % 64);
    int skew = draw(2) ? 16 * (int)draw(GUARD / 16) : (int)draw(GUARD);
    scatter_run(&scatter_portable, &plan, want + GUARD + skew, plan.size, 0, count, MODE_PLAIN, scratch);
    count_bytes(want + GUARD + skew, bytes);
    for (int mode = MODE_PLAIN; mode <= MODE_STREAM && ok; mode++) {
        memset(got, 0, bytes + 3 * GUARD);
        scatter_run(isa, &plan, got + GUARD + skew, plan.size, 0, count, mode, scratch);
        ok = memcmp(want, got, bytes + 3 * GUARD) == 0;
        if (!ok) printf("%s: %d slots, %d records, mode %d differ\n", scatter_isa_name(isa), slots, count, mode);
    }
    for (int k = 0; k < columns; k++) free(memory[k]);
    free(want), free(got), free(memory_scratch);
    return ok;
}

/* n random scalars of a type: any bits; or numbers that fit into less; or, of floats, what normalized formats take. */
static void fill_scalars(char *to, int type, int n, int how) {
    int lowest = draw(2) ? -1 : 0;
    for (int i = 0; i < n; i++) {
        int sign = draw(2) ? 1 : lowest;
        double unit = (double)sign * (double)draw(1 << 24) / (double)((1 << 24) - 1);
        double x = how == 1 ? (double)((int)draw(2000000) - 1000000) / 4096.0 : draw(400) ? unit : 2 * unit;
        float single = (float)x;
        if (how && type == TYPE_F64) memcpy(to + 8 * i, &x, 8);
        if (how && type == TYPE_F32) memcpy(to + 4 * i, &single, 4);
        if (how && (type == TYPE_I64 || type == TYPE_U64)) memset(to + 8 * i + 2, 0, 6);
    }
}

static int comes_in_fours(int type) { return type == TYPE_UNORM8X4_BGRA || type == TYPE_UNORM10_10_10_2; }

/* Through every conversion: the same bytes, the same first fault. */
static int compare_conversion(const scatter_isa *isa, int from, int to) {
    static char source[MOST * 8 + 8], want[MOST * 8 + 8], got[MOST * 8 + 8];
    scatter_convert a = scatter_conversion(&scatter_portable, from, to), b = scatter_conversion(isa, from, to);
    if (!a) return 1;
    int n = (int)draw(100);
    if (comes_in_fours(from) || comes_in_fours(to)) n -= n % 4;
    fill(source, sizeof source);
    fill_scalars(source, from, n, (int)draw(3));
    memset(want, 0, sizeof want), memset(got, 0, sizeof got);
    ptrdiff_t x = a(want, source, n), y = b(got, source, n);
    if (x < 0) count_bytes(want, sizeof want);
    if (x == y && (x >= 0 || memcmp(want, got, sizeof want) == 0)) return 1;
    printf("%s: conversion %d to %d of %d differs: %ld, %ld\n", scatter_isa_name(isa), from, to, n, (long)x, (long)y);
    return 0;
}

int main(void) {
    long made = 0;
    for (int i = 0; scatter_isa_at(i); i++) {
        const scatter_isa *isa = scatter_isa_at(i);
        state = 1, made_bytes = 2166136261u;
        for (int k = 0; k < 3000; k++, made++)
            if (!compare_plan(isa)) return 1;
        for (int k = 0; k < 60; k++)
            for (int from = 0; from < TYPE_COUNT; from++)
                for (int to = 0; to < TYPE_COUNT; to++, made++)
                    if (!compare_conversion(isa, from, to)) return 1;
        printf("%s agrees\n", scatter_isa_name(isa));
    }
    printf("%ld comparisons, bytes %08x\n", made, (unsigned)made_bytes);
    return 0;
}
