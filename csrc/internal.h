/* What the kernel's own files share; scatter.h is the contract with the outside. */
#ifndef GPUSTRUCT_INTERNAL_H
#define GPUSTRUCT_INTERNAL_H

#include "scatter.h"

enum {
    BLOCK_BYTES = 8192,
    BLOCK_RECORDS = 128,
    STAGE_LIMIT = 32768,
    CACHE_LINE = 64,
    LINES_FROM = 16384, /* from here on plain stores too are worth placing in whole lines */
    RAW_SCALARS = 512,
    MAX_LOOPS = 64
};

/* One run over records: where its scratch space lies, and what was found out about its plan. */
typedef struct {
    const scatter_isa *isa;
    const scatter_plan *plan;
    char *stage, *raw;
    int64_t block;
    char **at;                     /* [columns + temporaries]: the row's first record in each column; each temporary */
    int feeds;                     /* steps that fill temporaries */
    int wide;                      /* slots of a record that isa->wide can write, or 0 */
    int direct;                    /* its lanes convert: no step needs to fill a temporary for it */
    char (*constants)[CACHE_LINE]; /* [WIDE_SLOTS * 4] pieces of columns that do not move, four times over */
    scatter_wide slots[WIDE_SLOTS];
    int64_t moves[WIDE_SLOTS][4]; /* bytes that a lane moves on a record; 0 in temporaries, which start anew */
} scatter_context;

extern const int scatter_type_size[TYPE_COUNT];
extern const char scatter_zeros[CACHE_LINE];

static inline int64_t line_up(int64_t bytes) { return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE; }

static inline ptrdiff_t step_of(const scatter_context *c, int32_t column) {
    const scatter_plan *plan = c->plan;
    if (column < 0) return 0;
    if (column < plan->columns) return (ptrdiff_t)plan->strides[(int64_t)column * plan->ndim + plan->ndim - 1];
    return (ptrdiff_t)plan->temps[column - plan->columns];
}

/* Record `first` of a row in a column; a temporary holds one block, from its own start. */
static inline char *piece_at(const scatter_context *c, int64_t first, int32_t column, int64_t offset) {
    if (column < 0) return (char *)(uintptr_t)scatter_zeros;
    return c->at[column] + (column < c->plan->columns ? first * step_of(c, column) : 0) + offset;
}

/* scatter.c: scratch laid out and the plan looked at; the row that holds a record, and the record's place in it. */
void scatter_begin(scatter_context *c, const scatter_isa *isa, const scatter_plan *plan, int64_t stride, char *scratch);
int64_t scatter_find_row(const scatter_context *c, int64_t index);

/* blocks.c: records [first, first + n) of a row with `behind` more in it, to `to`. */
scatter_status scatter_run_block(const scatter_context *c, int64_t first, int64_t n, int64_t behind, char *to,
                                 int64_t stride, int mode);
/* As many of them as wide slots can write, from lane `turn` of the first on; how many. `suspect`: whether a value may
 * not have fitted, which scatter_check_range finds out. */
int64_t scatter_run_wide(const scatter_context *c, int64_t first, int64_t n, int64_t behind, char *to, int turn,
                         int mode, int *suspect);
scatter_status scatter_check_range(const scatter_context *c, int64_t first, int64_t n, int64_t stride);
/* Conversions read each column in bursts, too short for hardware to see the stream behind them. */
void scatter_fetch_ahead(const scatter_context *c, int64_t first, int64_t left);

/* stream.c: whole lines through a stage in L1, in order, never reading the destination. */
typedef struct {
    const scatter_isa *isa;
    char *stage, *line; /* line: the 64-aligned place where the stage's first byte goes */
    int64_t held, skew; /* staged bytes; how many of them, at the front, are not ours to write */
} scatter_stream;

/* `bytes` at `from`, of which the first s->held were staged before; what fills no line stays in the stage. */
void scatter_stream_lines(scatter_stream *s, const char *from, int64_t bytes);
void scatter_stream_end(scatter_stream *s);

/* runs.c: n records of `count` scalars each; the flat index of the first that does not fit, or -1. `raw` holds them
 * all. */
ptrdiff_t scatter_move_in(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                          const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw);
ptrdiff_t scatter_move_out(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                           const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw);
/* A STEP_CONVERT over n records; the first record that does not fit, or -1. */
int64_t scatter_convert_runs(const scatter_isa *isa, const scatter_plan *plan, const scatter_step *s, char *record,
                             ptrdiff_t record_step, char *column, ptrdiff_t column_step, ptrdiff_t n, int forward,
                             int check, char *raw);

/* mask.c: a STEP_MASK over n records with `behind` more in the row, apart or one behind the other on both sides. */
void scatter_mask_apart(const scatter_step *s, char *to, ptrdiff_t stride, const char *from, ptrdiff_t step, int64_t n,
                        int64_t behind);
void scatter_mask_rows(const scatter_isa *isa, const scatter_step *s, char *to, const char *from, int64_t n,
                       int64_t behind, int stream);

/* unwide.c: a gather's wide slots, and how many a record has; 0 where the plan is none for isa->unwide. Run over n
 * records: how many of them were moved. */
int scatter_find_unwide(const scatter_context *c, int64_t stride, scatter_unwide *slots, int32_t *columns);
int64_t scatter_run_unwide(const scatter_context *c, const scatter_unwide *slots, const int32_t *columns, int count,
                           int64_t first, int64_t n, const char *from);

/* wide.c: fills in wide, slots and moves for the row that c->at describes. */
void scatter_find_wide(scatter_context *c, int64_t stride);
void scatter_place_wide(scatter_context *c);

#endif
