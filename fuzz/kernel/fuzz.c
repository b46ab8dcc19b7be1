/* Runs plans with every instruction set, and compares what they make with reference.c: the bytes, the first value that
 * does not fit, and the bytes that are nobody's. Columns and records end or begin at a page that cannot be touched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel_fuzz.h"

enum { PACKED = 1 << 18, GUARD = 128, MODES = 3 };

static const char *const MODE_NAMES[MODES] = {"plain", "stream", "check"};
static char *regions[MOST_COLUMNS], *packed_region;
static char want[PACKED + 2 * GUARD], got[PACKED + 2 * GUARD];
static char columns_before[MOST_COLUMNS][REGION], columns_want[MOST_COLUMNS][REGION];
static fuzz_plan made;
static uint32_t state, misfit_of; /* one of so many values may not fit; 0: none */

static uint32_t draw(uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static void fill(char *at, int64_t bytes) {
    for (int64_t k = 0; k < bytes; k += 4) {
        uint32_t word = draw(1 << 24) * 257;
        memcpy(at + k, &word, (size_t)smaller(4, bytes - k));
    }
}

/* Memory between two pages that cannot be touched. */
static char *guarded(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bytes = (bytes + page - 1) / page * page;
    char *at = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + page, bytes, PROT_READ | PROT_WRITE)) abort();
    return at + page;
}

/* A value that fits into its type in the record; now and then one of any bits. */
static void use_fitting(char *at, int type, int to_type, int swap) {
    char scalar[8] = {0};
    int bytes = scatter_type_size[type], number = (int)draw(to_type == TYPE_I8 || to_type == TYPE_SNORM8 ? 128 : 256);
    double unit = number / 255.0, wide = to_type < TYPE_UNORM8 ? number * 1.25 : unit;
    if (misfit_of && draw(misfit_of) == 0) return;
    if (type == TYPE_F64) {
        memcpy(scalar, &wide, 8);
    } else if (type == TYPE_F32) {
        float single = (float)wide;
        memcpy(scalar, &single, 4);
    } else if (type == TYPE_F16) {
        scatter_conversion(&scatter_portable, TYPE_F64, TYPE_F16)(scalar, &unit, 1);
    } else {
        uint64_t whole = (uint64_t)(type == TYPE_I8 ? number / 2 : number);
        memcpy(scalar, &whole, 8); /* the low bytes first, or zeros */
    }
    for (int k = 0; k < bytes; k++) at[k] = scalar[swap ? bytes - 1 - k : k];
}

/* Records of any bits, of small integers, or of floats between 0 and 1. */
static void fill_records(char *at, int64_t bytes, int64_t way) {
    fill(at, bytes);
    for (int64_t k = 0; way && k + 4 <= bytes; k += 4) {
        float unit = (float)draw(256) / 255.0f;
        uint32_t small = draw(100);
        if (!misfit_of || draw(misfit_of)) memcpy(at + k, way == 1 ? (const void *)&small : (const void *)&unit, 4);
    }
}

static void fail(const char *what, const scatter_isa *isa, int mode) {
    fprintf(stderr, "%s, %s, %s: %s; %d steps, %lld records [%lld, %lld), %lld bytes of %lld\n",
            made.forward ? "packed" : "unpacked", scatter_isa_name(isa), MODE_NAMES[mode], what, made.plan.step_count,
            (long long)made.records, (long long)made.start, (long long)made.stop, (long long)made.plan.size,
            (long long)made.stride);
    for (int32_t k = 0; k < made.plan.step_count; k++)
        fprintf(stderr, "  step %d: kind %d at %lld, columns %d %d %d %d\n", k, made.steps[k].kind,
                (long long)made.steps[k].record_offset, made.steps[k].column[0], made.steps[k].column[1],
                made.steps[k].column[2], made.steps[k].column[3]);
    abort();
}

static char *make_scratch(void) {
    int64_t bytes = made.forward ? scatter_scratch(&made.plan, made.stride) : gather_scratch(&made.plan, made.stride);
    char *scratch = aligned_alloc(CACHE_LINE, (size_t)whole_lines(bytes));
    if (!scratch) abort();
    fill(scratch, bytes);
    return scratch;
}

static void compare_packed(int64_t skew) {
    int64_t count = made.stop - made.start, bytes = count ? (count - 1) * made.stride + made.plan.size : 0;
    scatter_status expected = {-1, 0};
    fill(want, bytes + 2 * GUARD);
    memcpy(got, want, (size_t)bytes + 2 * GUARD);
    for (int64_t i = 0; i < count && expected.record < 0; i++) {
        expected.leaf = reference_scatter(&made.plan, made.start + i, want + GUARD + i * made.stride);
        if (expected.leaf >= 0) expected.record = made.start + i;
    }
    char *to = packed_region + GUARD + skew, *scratch = make_scratch();
    for (int k = 0; scatter_isa_at(k); k++)
        for (int mode = 0; mode < MODES; mode++) {
            const scatter_isa *isa = scatter_isa_at(k);
            memcpy(to - GUARD, got, (size_t)bytes + 2 * GUARD);
            scatter_status found = scatter_run(isa, &made.plan, mode == MODE_CHECK ? NULL : to, made.stride, made.start,
                                               made.stop, mode, scratch);
            if (found.record != expected.record) fail("another record does not fit", isa, mode);
            if (found.record >= 0 && found.leaf != expected.leaf) fail("another member does not fit", isa, mode);
            if (memcmp(to - GUARD, got, GUARD) || memcmp(to + bytes, got + GUARD + bytes, GUARD))
                fail("bytes before or after the records changed", isa, mode);
            if (mode == MODE_CHECK ? memcmp(to, got + GUARD, (size_t)bytes)
                                   : found.record < 0 && memcmp(to, want + GUARD, (size_t)bytes))
                fail("the records differ", isa, mode);
        }
    free(scratch);
}

/* The bytes of a column, and those beside them that must not change. */
static char *around(int32_t column, int64_t at_end, size_t *bytes) {
    *bytes = (size_t)smaller(REGION, made.bytes[column] + GUARD);
    return regions[column] + (at_end ? REGION - (int64_t)*bytes : 0);
}

enum { SAVE, RESTORE, COMPARE };

/* Returns whether a column differs from the saved bytes. */
static int all_columns(int what, char saved[][REGION], int64_t at_end) {
    int differ = 0;
    for (int32_t c = 0; c < made.plan.columns; c++) {
        size_t bytes;
        char *at = around(c, at_end, &bytes);
        if (what == COMPARE)
            differ |= memcmp(saved[c], at, bytes) != 0;
        else
            memcpy(what == SAVE ? saved[c] : at, what == SAVE ? at : saved[c], bytes);
    }
    return differ;
}

static void compare_unpacked(int64_t way, int64_t at_end) {
    scatter_plan *plan = &made.plan;
    int64_t count = made.stop - made.start, bytes = count ? (count - 1) * made.stride + plan->size : 0;
    scatter_status expected = {-1, 0};
    /* The last record ends at the end of the memory. */
    char *from = packed_region + PACKED - bytes, *scratch = make_scratch();
    fill_records(from, bytes, way);
    all_columns(SAVE, columns_before, at_end);
    for (int64_t i = 0; i < count && expected.record < 0; i++) {
        expected.leaf = reference_gather(plan, made.start + i, from + i * made.stride);
        if (expected.leaf >= 0) expected.record = made.start + i;
    }
    all_columns(SAVE, columns_want, at_end);
    for (int k = 0; scatter_isa_at(k); k++)
        for (int mode = 0; mode <= MODE_STREAM; mode++) {
            const scatter_isa *isa = scatter_isa_at(k);
            all_columns(RESTORE, columns_before, at_end);
            scatter_status found = gather_run(isa, plan, from, made.stride, made.start, made.stop, mode, scratch);
            if (found.record != expected.record) fail("another record does not fit", isa, mode);
            if (found.record >= 0 && found.leaf != expected.leaf) fail("another member does not fit", isa, mode);
            if (found.record < 0 && all_columns(COMPARE, columns_want, at_end)) fail("the columns differ", isa, mode);
        }
    free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = {data, size};
    if (!packed_region) {
        for (int k = 0; k < MOST_COLUMNS; k++) fill(regions[k] = guarded(REGION), REGION);
        packed_region = guarded(PACKED);
    }
    if (!fuzz_make_plan(&made, &in) || made.stride * made.records > PACKED - 4 * GUARD) return 0;
    state = (uint32_t)fuzz_take(&in, 1 << 16);
    static const uint32_t rates[] = {0, 50, 500, 5000};
    misfit_of = rates[fuzz_take(&in, 4)];
    int64_t fits = fuzz_take(&in, 4), way = fuzz_take(&in, 3), at_end = fuzz_take(&in, 2), skew = fuzz_take(&in, GUARD);
    for (int32_t k = 0; k < made.plan.columns; k++) {
        char *start = regions[k] + (at_end ? REGION - made.bytes[k] : 0);
        fill(start, made.bytes[k]);
        made.bases[k] = start - made.first[k];
    }
    for (int64_t i = made.start; made.forward && fits && i < made.stop; i++)
        reference_visit(&made.plan, i, use_fitting);
    if (made.forward)
        compare_packed(skew);
    else
        compare_unpacked(way, at_end);
    return 0;
}
