/* What the files that run plans share. scatter.h is their interface for Python, isa.h the one for instruction sets.
 *
 * In all of them a row is the innermost dimension of a batch. `first` is a record's index in its row, and `after` the
 * number of records that follow the last one in the row. `stride` is the bytes from one packed record to the next. */
#ifndef GPUSTRUCT_INTERNAL_H
#define GPUSTRUCT_INTERNAL_H

#include "isa.h"

enum {
    BLOCK_BYTES = 8192,
    BLOCK_RECORDS = 128,
    STAGE_LIMIT = 32768,
    WHOLE_LINES_BYTES = 16384, /* from here on plain stores are written in whole lines too */
    RAW_SCALARS = 512,
    MAX_LOOPS = 64
};

/* One run over records: its scratch space, and what is known about its plan. */
typedef struct {
    const scatter_isa *isa;
    const scatter_plan *plan;
    char *stage, *raw;
    int64_t block;                 /* records of a block */
    char **address;                /* [columns + temporaries] the row's first record in each column; each temporary */
    int converts;                  /* steps that fill temporaries */
    int slot_count;                /* slots of a record that isa->interleave4 can write, or 0 */
    int in_lanes;                  /* whether all conversions happen in lanes, without temporaries */
    char (*constants)[CACHE_LINE]; /* [MAX_INTERLEAVED * 4] pieces that all records share, repeated four times */
    interleave4_slot slots[MAX_INTERLEAVED];
    int64_t record_step[MAX_INTERLEAVED][4]; /* bytes that a lane advances by for a record; 0 in temporaries, which
                                                each block fills from their first byte */
} scatter_context;

static inline int64_t whole_lines(int64_t bytes) { return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t skew_of(const char *p) { return (int64_t)((uintptr_t)p % CACHE_LINE); }

/* Bytes from one record to the next in a column or a temporary. */
static inline ptrdiff_t step_of(const scatter_context *c, int32_t column) {
    const scatter_plan *plan = c->plan;
    if (column < 0) return 0;
    if (column < plan->columns) return (ptrdiff_t)plan->strides[(int64_t)column * plan->ndim + plan->ndim - 1];
    return (ptrdiff_t)plan->temps[column - plan->columns];
}

/* Record `first` of the row in a column, or the first record of the block in a temporary. */
static inline char *piece_at(const scatter_context *c, int64_t first, int32_t column, int64_t offset) {
    if (column < 0) return (char *)(uintptr_t)scatter_zeros;
    return c->address[column] + (column < c->plan->columns ? first * step_of(c, column) : 0) + offset;
}

static inline void prefetch_bytes(const char *from, int64_t bytes) {
#if defined(__GNUC__)
    for (const char *end = from + bytes; from < end; from += CACHE_LINE) __builtin_prefetch(from);
#else
    (void)from, (void)bytes;
#endif
}

/* scratch.c. The number of records of a block: */
int64_t scatter_block(const scatter_plan *plan, int64_t stride);
int64_t scatter_stage_bytes(int64_t block, int64_t stride); /* 0 where a block is too large for a stage */
/* Divides the scratch space, and finds out what a run needs to know about its plan: */
void scatter_begin(scatter_context *c, const scatter_isa *isa, const scatter_plan *plan, int64_t stride, char *scratch);
/* Sets the addresses for the row of record `index`; returns its index in that row: */
int64_t scatter_find_row(const scatter_context *c, int64_t index);

/* scatter_block.c. Writes n records, at most a block, to `to`; returns the first that does not fit. stream: `to` is
 * 64-aligned, and interleaved records use non-temporal stores. */
scatter_status scatter_write_block(const scatter_context *c, int64_t first, int64_t n, int64_t after, char *to,
                                   int64_t stride, int stream);
/* Interleaves as many of n records as it can, from slot `first_slot` of the first on; returns how many. `overflow`: a
 * value may not fit, and scatter_check must look. */
int64_t scatter_interleave(const scatter_context *c, int64_t first, int64_t n, int64_t after, char *to, int first_slot,
                           int stream, int *overflow);
/* Checks the values of any number of records. */
scatter_status scatter_check(const scatter_context *c, int64_t first, int64_t n, int64_t stride);
/* Conversions read each column in bursts, which are too short for the hardware to prefetch. */
void scatter_prefetch(const scatter_context *c, int64_t first, int64_t left);

/* stream.c: writes whole lines in order through a stage in L1, and never reads the destination. */
typedef struct {
    const scatter_isa *isa;
    char *stage, *line; /* line: the 64-aligned address of the stage's first byte in the destination */
    int64_t held, skew; /* bytes in the stage; how many of them, at its start, must not be written */
} scatter_stream;

/* A stream whose first byte goes to `to`. */
static inline scatter_stream scatter_stream_to(const scatter_isa *isa, char *stage, char *to) {
    int64_t skew = skew_of(to);
    scatter_stream s = {isa, stage, to - skew, skew, skew};
    return s;
}
/* Writes `bytes` from `from`, of which the first s->held were in the stage before. A last, incomplete line stays there.
 */
void scatter_stream_lines(scatter_stream *s, const char *from, int64_t bytes);
void scatter_stream_end(scatter_stream *s);

/* convert_strided.c: converts a step's scalars of n records; returns the flat index of the first that does not fit, or
 * -1. `raw` has room for all of them. */
ptrdiff_t scatter_convert_in(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                             const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw);
ptrdiff_t scatter_convert_out(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                              const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw);

/* convert_array.c: runs a STEP_CONVERT_ARRAY over n records; returns the first that does not fit, or -1. Where record
 * is NULL it only checks the values. */
int64_t scatter_array_in(const scatter_context *c, const scatter_step *s, char *record, ptrdiff_t record_step,
                         const char *column, ptrdiff_t column_step, int64_t n);
int64_t scatter_array_out(const scatter_context *c, const scatter_step *s, char *column, ptrdiff_t column_step,
                          const char *record, ptrdiff_t record_step, int64_t n);

/* mask.c: runs a STEP_MASK over n records with gaps between them, or dense on both sides. */
void scatter_mask_apart(const scatter_step *s, char *to, ptrdiff_t stride, const char *from, ptrdiff_t step, int64_t n,
                        int64_t after);
void scatter_mask_dense(const scatter_isa *isa, const scatter_step *s, char *to, const char *from, int64_t n,
                        int64_t after, int stream);

/* interleave4.c. Sets slot_count and in_lanes; then, for each row, slots, record_step and constants. */
void scatter_find_interleaved(scatter_context *c, int64_t stride);
void scatter_set_lanes(scatter_context *c);

/* deinterleave4.c: the slots of a gather. count is 0 where isa->deinterleave4 cannot do it. scatter_deinterleave
 * returns how many of n records it moved. */
typedef struct {
    deinterleave4_slot slots[MAX_INTERLEAVED];
    int64_t offset[MAX_INTERLEAVED][4]; /* of each lane in its column */
    int32_t column[MAX_INTERLEAVED][4]; /* -1 where the lane is empty */
    int count;
} scatter_deinterleaved;

void scatter_find_deinterleaved(const scatter_context *c, int64_t stride, scatter_deinterleaved *d);
int64_t scatter_deinterleave(const scatter_context *c, const scatter_deinterleaved *d, int64_t first, int64_t n,
                             const char *from);

/* column_streams.c: each column that a gather writes completely and in order is streamed through a stage. */
typedef struct {
    scatter_stream *streams; /* [columns] stage is NULL where a column is written directly */
    int active;
} scatter_column_streams;

int64_t scatter_column_stages(const scatter_plan *plan, int64_t stride); /* their bytes of scratch, after a scatter's */
scatter_column_streams scatter_open_columns(scatter_context *c, int64_t stride, int64_t start, int mode, char *scratch);
/* Before a block: record `first` of a streamed column is written to the end of its stage. */
void scatter_begin_column_block(const scatter_context *c, const scatter_column_streams *out, int64_t first);
/* After a block of n records: whole lines are streamed. */
void scatter_end_column_block(const scatter_context *c, const scatter_column_streams *out, int64_t n);
void scatter_close_columns(const scatter_context *c, const scatter_column_streams *out);

#endif
