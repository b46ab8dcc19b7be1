/* What the files of the driver share; scatter.h is the contract with the outside, isa.h the one with instruction sets.
 *
 * Throughout: a row is the innermost dimension of a batch; `first` is a record's place in its row, and `after` says how
 * many records follow the last one in the row. `stride` is the bytes from one packed record to the next. */
#ifndef GPUSTRUCT_INTERNAL_H
#define GPUSTRUCT_INTERNAL_H

#include "isa.h"

enum {
    BLOCK_BYTES = 8192,
    BLOCK_RECORDS = 128,
    STAGE_LIMIT = 32768,
    LINES_FROM = 16384, /* from so many bytes on, plain stores too are worth placing in whole lines */
    RAW_SCALARS = 512,
    MAX_LOOPS = 64
};

/* One run over records: where its scratch space is, and what was found out about its plan. */
typedef struct {
    const scatter_isa *isa;
    const scatter_plan *plan;
    char *stage, *raw;
    int64_t block;                 /* records of a block */
    char **address;                /* [columns + temporaries]: the row's first record in each column; each temporary */
    int converts;                  /* steps that fill temporaries */
    int slot_count;                /* slots of a record that isa->interleave4 can write, or 0 */
    int in_lanes;                  /* they need no temporary: what is converted is converted in their lanes */
    char (*constants)[CACHE_LINE]; /* [MAX_INTERLEAVED * 4] pieces of columns that do not move, four times over */
    interleave4_slot slots[MAX_INTERLEAVED];
    int64_t record_step[MAX_INTERLEAVED][4]; /* bytes that a lane moves on a record; 0 in temporaries, which start again
                                                from their first byte */
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

/* Record `first` of the row in a column; a temporary holds one block, from its own start. */
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

/* scratch.c: how many records a block has; scratch laid out and the plan looked at; the row that holds a record, whose
 * place in it is returned. */
int64_t scatter_block(const scatter_plan *plan, int64_t stride);
int64_t scatter_stage_bytes(int64_t block, int64_t stride); /* 0 where a block is too large for a stage */
void scatter_begin(scatter_context *c, const scatter_isa *isa, const scatter_plan *plan, int64_t stride, char *scratch);
int64_t scatter_find_row(const scatter_context *c, int64_t index);

/* scatter_block.c: n records, at most a block, to `to`; the first that does not fit. stream: `to` is 64-aligned, and
 * what is interleaved goes past the caches. */
scatter_status scatter_write_block(const scatter_context *c, int64_t first, int64_t n, int64_t after, char *to,
                                   int64_t stride, int stream);
/* As many of any number of records as can be interleaved, from lane `turn` of the first on; how many. `overflow`:
 * whether a value may not have fitted, which scatter_check finds out. */
int64_t scatter_interleave(const scatter_context *c, int64_t first, int64_t n, int64_t after, char *to, int turn,
                           int stream, int *overflow);
/* Looks at the values of any number of records. */
scatter_status scatter_check(const scatter_context *c, int64_t first, int64_t n, int64_t stride);
/* Conversions read each column in bursts, too short for hardware to see the stream that they make. */
void scatter_prefetch(const scatter_context *c, int64_t first, int64_t left);

/* stream.c: whole lines through a stage in L1, in order, never reading the destination. */
typedef struct {
    const scatter_isa *isa;
    char *stage, *line; /* line: the 64-aligned place where the stage's first byte goes */
    int64_t held, skew; /* staged bytes; how many of them, at the front, are not ours to write */
} scatter_stream;

/* A stream whose first byte goes to `to`. */
static inline scatter_stream scatter_stream_to(const scatter_isa *isa, char *stage, char *to) {
    int64_t skew = skew_of(to);
    scatter_stream s = {isa, stage, to - skew, skew, skew};
    return s;
}
/* `bytes` at `from`, of which the first s->held were staged before; what fills no line stays in the stage. */
void scatter_stream_lines(scatter_stream *s, const char *from, int64_t bytes);
void scatter_stream_end(scatter_stream *s);

/* convert_strided.c: a step's scalars of n records; the flat index of the first that does not fit, or -1. `raw` holds
 * them all. */
ptrdiff_t scatter_convert_in(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                             const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw);
ptrdiff_t scatter_convert_out(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                              const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw);

/* convert_array.c: a STEP_CONVERT_ARRAY over n records; the first that does not fit, or -1. A record of NULL: only
 * look at the values. */
int64_t scatter_array_in(const scatter_context *c, const scatter_step *s, char *record, ptrdiff_t record_step,
                         const char *column, ptrdiff_t column_step, int64_t n);
int64_t scatter_array_out(const scatter_context *c, const scatter_step *s, char *column, ptrdiff_t column_step,
                          const char *record, ptrdiff_t record_step, int64_t n);

/* mask.c: a STEP_MASK over n records, apart, or dense on both sides. */
void scatter_mask_apart(const scatter_step *s, char *to, ptrdiff_t stride, const char *from, ptrdiff_t step, int64_t n,
                        int64_t after);
void scatter_mask_dense(const scatter_isa *isa, const scatter_step *s, char *to, const char *from, int64_t n,
                        int64_t after, int stream);

/* interleave4.c: slot_count and in_lanes; slots, record_step and constants for the row that c->address describes. */
void scatter_find_interleaved(scatter_context *c, int64_t stride);
void scatter_place_interleaved(scatter_context *c);

/* deinterleave4.c: a gather's slots, and how many a record has; 0 where isa->deinterleave4 cannot take the records
 * apart. Run over n records: how many of them were moved. */
typedef struct {
    deinterleave4_slot slots[MAX_INTERLEAVED];
    int64_t offset[MAX_INTERLEAVED][4]; /* of each lane in its column */
    int32_t column[MAX_INTERLEAVED][4]; /* -1: the lane holds nothing */
    int count;
} scatter_deinterleaved;

void scatter_find_deinterleaved(const scatter_context *c, int64_t stride, scatter_deinterleaved *d);
int64_t scatter_deinterleave(const scatter_context *c, const scatter_deinterleaved *d, int64_t first, int64_t n,
                             const char *from);

/* column_streams.c: columns that a gather writes whole, in order, leave in whole lines through stages of their own. */
typedef struct {
    scatter_stream *streams; /* [columns]; stage NULL where a column is written in place */
    int active;
} scatter_column_streams;

int64_t scatter_column_stages(const scatter_plan *plan, int64_t stride); /* bytes of scratch after the scatter's own */
scatter_column_streams scatter_open_columns(scatter_context *c, int64_t stride, int64_t start, int mode, char *scratch);
/* Before a block: record `first` of a streamed column goes to the end of what its stage holds. After it: lines leave.
 */
void scatter_aim_columns(const scatter_context *c, const scatter_column_streams *out, int64_t first);
void scatter_drain_columns(const scatter_context *c, const scatter_column_streams *out, int64_t n);
void scatter_close_columns(const scatter_context *c, const scatter_column_streams *out);

#endif
