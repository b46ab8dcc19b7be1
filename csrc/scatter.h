/* The contract of the kernel, on one page.
 *
 * A plan is a list of steps, run over blocks of records so that a block's bytes stay in L1.
 * Forward (scatter), a step reads columns and writes the record; back (gather), it reads the record
 * and writes columns. Nothing here allocates, raises, or knows Python.
 *
 * Preconditions, one a line; the caller has checked them:
 * - every address a step can form, base + strides * index + offset, lies inside its column;
 * - |stride| of a column over the innermost batch dimension is 0 or at least 4 for every piece of 12
 *   bytes (a vec3 is loaded as 16 bytes where a neighbour record covers the last 4);
 * - the destination does not overlap a column;
 * - steps of kind STEP_FEED stand before all others, those of kind STEP_DRAIN behind them;
 * - the steps of a forward plan write each byte of [0, size) of a record, padding included;
 * - scratch is 64-byte aligned and holds scatter_scratch bytes, gather_scratch on the way back.
 */
#ifndef GPUSTRUCT_SCATTER_H
#define GPUSTRUCT_SCATTER_H

#include <stddef.h>
#include <stdint.h>

enum {
    TYPE_F16,
    TYPE_F32,
    TYPE_F64,
    TYPE_I8,
    TYPE_I16,
    TYPE_I32,
    TYPE_I64,
    TYPE_U8,
    TYPE_U16,
    TYPE_U32,
    TYPE_U64,
    TYPE_BOOL,
    TYPE_COUNT
};

/* Slots are 16 bytes assembled from pieces; a piece that nobody wrote comes from column -1, zeros. */
enum { SLOT_12_4, SLOT_8_8, SLOT_8_4_4, SLOT_4_4_8, SLOT_4_4_4_4, SLOT_COUNT };

enum {
    STEP_SLOT,    /* count: which slot; column/offset[0..3]: its pieces; at: the slot's place in the record */
    STEP_COPY,    /* count bytes from column[0] + offset[0] to `at`; gather: the other way */
    STEP_ZERO,    /* count zero bytes at `at` */
    STEP_TURN,    /* `count` matrices of 4-byte scalars, rows × cols, rows `step` bytes apart in the column;
                     offset[1], offset[2]: bytes from one to the next in the column and in the record */
    STEP_FEED,    /* count scalars, `step` bytes apart, converted from column[0] into column[1], a temporary */
    STEP_DRAIN,   /* the same back: from column[1], a temporary, into column[0] */
    STEP_CONVERT, /* like COPY with a conversion and loops around it: for arrays too large to unroll */
    STEP_MASK,    /* count bytes, whole slots, from column[0] + offset[0]; of each 4 bytes those whose bit is set
                     in offset[1], [2], [3], lowest first; zeroes elsewhere. The last record has `step` to read. */
};

typedef struct {
    int32_t kind;
    int32_t count;
    int32_t column[4];
    int64_t offset[4];
    int64_t at;
    int64_t step;
    int32_t from_type, to_type; /* forward: column to record; back: record to column */
    int32_t swap;               /* the column's bytes are in the other order */
    int32_t rows, cols;
    int32_t loop_first, loop_count;
    int32_t leaf; /* who to name when a value does not fit */
} scatter_step;

typedef struct {
    int64_t count, column_step, record_step;
} scatter_loop;

typedef struct {
    const scatter_step *steps;
    const scatter_loop *loops;
    char **bases;           /* [columns] address of record 0 */
    const int64_t *strides; /* [columns][ndim] bytes */
    const int64_t *shape;   /* [ndim] records; the innermost dimension last */
    const int64_t *temps;   /* [temp_count] bytes of one record in each temporary */
    int32_t step_count, columns, ndim, temp_count;
    int64_t size; /* bytes of one record */
} scatter_plan;

enum { MODE_PLAIN, MODE_STREAM, MODE_CHECK };

typedef struct {
    int64_t record; /* flat index of the first record that does not fit, or -1 */
    int32_t leaf;
} scatter_status;

/* A block's conversion: n scalars, contiguous both sides; the index of the first that does not fit, or -1. */
typedef ptrdiff_t (*scatter_convert)(void *to, const void *from, ptrdiff_t n);

/* One slot of four dense records at once: 16 bytes from each of four lanes, permuted into four 16-byte slots.
 *
 * The pieces of a slot lie behind each other in its lanes, one record's behind the other's: a vec3 and a scalar are
 * three lanes and one. Lane k moves on step[k] bytes for every four records. 4-byte unit u of record r is unit
 * index[4 * r + u] of the 64. A lane of 8-byte scalars is converted as it is loaded, 16 bytes from 32.
 */
enum { LANE_WORDS, LANE_F64, LANE_I64_U32, LANE_I64_I32 };

typedef struct {
    const char *lane[4];
    ptrdiff_t step[4];
    int32_t type[4];
    int32_t index[16];
    int32_t kind; /* SLOT_12_4 and so on; SLOT_COUNT: the four lanes are one piece */
} scatter_wide;

/* A vec3's lanes may be read whole, which may reach into the next two records: so many must lie behind the last. */
enum { WIDE_SLOTS = 8, WIDE_REST = 2 };

/* The way back: one slot of four dense records, taken from their lines into its columns.
 *
 * The units of records whose lines are first[0] and first[1] make one register by index[0], of which those in
 * `second` are replaced from the other two by index[1]. Lane k of it goes to lane[k], if there is one, and moves on
 * step[k] bytes for every four records; whole: all four lanes are one piece; triple: the first three are.
 */
typedef struct {
    char *lane[4];
    ptrdiff_t step[4];
    int32_t index[2][16];
    int32_t second, whole, triple;
} scatter_unwide;

/* What an instruction set offers; everything else is shared. */
typedef struct {
    const char *name;
    void (*slot[SLOT_COUNT])(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4],
                             ptrdiff_t n);
    void (*copy)(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n, ptrdiff_t bytes);
    void (*turn)(char *to, ptrdiff_t stride, const char *from, ptrdiff_t from_step, ptrdiff_t row_step, int rows,
                 int cols, ptrdiff_t n);
    void (*turn_back)(char *to, ptrdiff_t to_step, ptrdiff_t row_step, const char *from, ptrdiff_t stride, int rows,
                      int cols, ptrdiff_t n);
    void (*stream)(char *to, const char *from, ptrdiff_t bytes); /* to: 64-aligned; bytes: a multiple of 64 */
    void (*fence)(void);                                         /* makes streamed bytes visible */
    /* lines * 64 bytes, each and-ed with its place in `mask`, `period` bytes (whole lines) that lie there twice.
     * stream: to is 64-aligned. */
    void (*mask)(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int stream);
    scatter_convert (*convert)(int from_type, int to_type);
    /* n records, a multiple of 4, of `count` wide slots, 16 * count bytes apart.
     * Returns whether a conversion met a value that may not fit. stream: to is 64-aligned. NULL where the instruction
     * set gains nothing by it. */
    int (*wide)(scatter_wide *slots, int count, char *to, ptrdiff_t n, int stream);
    /* The same back, from records at `from`; NULL likewise. */
    void (*unwide)(scatter_unwide *slots, int count, const char *from, ptrdiff_t n);
} scatter_isa;

extern const scatter_isa scatter_portable;
const scatter_isa *scatter_isa_at(int index); /* best first; NULL behind the last that this machine runs */

int64_t scatter_block(const scatter_plan *plan, int64_t stride);
int64_t scatter_scratch(const scatter_plan *plan, int64_t stride);
int64_t gather_scratch(const scatter_plan *plan, int64_t stride);

/* Pack records [start, stop) to `to`, which is where record `start` goes. MODE_CHECK writes nothing. */
scatter_status scatter_run(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride, int64_t start,
                           int64_t stop, int mode, char *scratch);

/* Unpack records [start, stop) from `from`, where record `start` lies. */
scatter_status gather_run(const scatter_isa *isa, const scatter_plan *plan, const char *from, int64_t stride,
                          int64_t start, int64_t stop, int mode, char *scratch);

#endif
