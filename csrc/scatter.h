/* The contract of the kernel, on one page.
 *
 * A plan is a list of steps. It runs over blocks of records, so that a block's bytes stay in L1. Forward (scatter), a
 * step reads columns and writes the record; back (gather), it reads the record and writes columns. Nothing here
 * allocates, raises, or knows Python.
 *
 * Preconditions, one a line; the caller checks them:
 * - every address that a step forms, base + strides * index + column_offset, is inside its column;
 * - |stride| of a column over the innermost batch dimension is 0 or at least 4 for every piece of 12 bytes (a vec3 is
 *   loaded as 16 bytes where the next record covers the last 4);
 * - the destination does not overlap a column;
 * - steps of kind STEP_CONVERT_IN come before all others, those of kind STEP_CONVERT_OUT after them;
 * - the steps of a forward plan write each byte of [0, size) of a record, padding included;
 * - scratch is 64-byte aligned and has scatter_scratch bytes, or gather_scratch for a gather.
 */
#ifndef GPUSTRUCT_SCATTER_H
#define GPUSTRUCT_SCATTER_H

#include <stddef.h>
#include <stdint.h>

/* The scalars of columns and records: name, bytes, and name in Python, which is numpy's kind and item size, or the
 * start of a WebGPU vertex format. Only records have the formats of the last six rows. Those multiply a float by
 * 2^n - 1, or 2^(n-1) - 1, and round it to the nearest integer, ties to even. A value outside [0, 1] or [-1, 1] does
 * not fit.
 *
 * UNORM8X4_BGRA and UNORM10_10_10_2 pack four scalars into 4 bytes: each scalar counts as one byte, and they are
 * converted four at a time, in the order red, green, blue, alpha. The bytes of the first are blue, green, red, alpha;
 * red is in the low bits of the second, alpha in the top two. */
#define SCATTER_TYPES(ROW) \
    ROW(F16, 2, "f2") \
    ROW(F32, 4, "f4") \
    ROW(F64, 8, "f8") \
    ROW(I8, 1, "i1") \
    ROW(I16, 2, "i2") \
    ROW(I32, 4, "i4") \
    ROW(I64, 8, "i8") \
    ROW(U8, 1, "u1") \
    ROW(U16, 2, "u2") \
    ROW(U32, 4, "u4") \
    ROW(U64, 8, "u8") \
    ROW(BOOL, 1, "b1") \
    ROW(UNORM8, 1, "unorm8") \
    ROW(SNORM8, 1, "snorm8") \
    ROW(UNORM16, 2, "unorm16") \
    ROW(SNORM16, 2, "snorm16") \
    ROW(UNORM8X4_BGRA, 1, "unorm8x4_bgra") \
    ROW(UNORM10_10_10_2, 1, "unorm10_10_10_2")

#define SCATTER_CODE(NAME, BYTES, PYTHON_NAME) TYPE_##NAME,
enum { SCATTER_TYPES(SCATTER_CODE) TYPE_COUNT };
#undef SCATTER_CODE

extern const int scatter_type_size[TYPE_COUNT];
extern const char *const scatter_type_name[TYPE_COUNT];

/* A slot is 16 bytes of a record, assembled from pieces. A piece of padding comes from column -1, which is zeros. */
enum { SLOT_12_4, SLOT_8_8, SLOT_8_4_4, SLOT_4_4_8, SLOT_4_4_4_4, SLOT_COUNT };

enum {
    STEP_SLOT,          /* slot: assembles 16 bytes of the record from the pieces in columns [0..3] */
    STEP_COPY,          /* copy: bytes from column [0] to the record; gather: the other way */
    STEP_ZERO,          /* zero: zero bytes in the record */
    STEP_TRANSPOSE,     /* transpose: matrices of 4-byte scalars, whose rows are contiguous in the column */
    STEP_CONVERT_IN,    /* convert: scalars from column [0] to column [1], a temporary */
    STEP_CONVERT_OUT,   /* convert: scalars from column [1], a temporary, to column [0] */
    STEP_CONVERT_ARRAY, /* convert: directly between column and record, for arrays too large to unroll */
    STEP_MASK           /* mask: whole slots from column [0], with the padding between members set to zero */
};

typedef struct {
    int32_t kind;
    int32_t leaf;             /* the member to name when a value does not fit */
    int32_t column[4];        /* columns are numbered first, then temporaries; -1 is none */
    int64_t column_offset[4]; /* where the step's bytes start in each column's record */
    int64_t record_offset;    /* where they start in the packed record */
    union {                   /* by kind */
        struct {
            int32_t shape; /* SLOT_12_4 and so on */
        } slot;
        struct {
            int64_t bytes;
        } copy;
        struct {
            int64_t bytes;
        } zero;
        struct {
            int64_t count, column_step, record_step; /* bytes from one matrix to the next on either side */
            int64_t row_step;                        /* bytes from one row to the next in the column */
            int32_t rows, cols;
        } transpose;
        struct {
            int64_t count, step; /* scalars, `step` bytes apart in the column, dense on the other side */
            int32_t from_type, to_type;
            int32_t swap;                   /* whether the column has the other byte order */
            int32_t loop_first, loop_count; /* CONVERT_ARRAY: loops around the scalars, outermost first */
        } convert;
        struct {
            int64_t bytes;    /* whole slots, at most 768 bytes */
            int64_t readable; /* how many of them may be read of the last record */
            uint64_t keep[3]; /* a bit for each 4 bytes, lowest first: 1 for a member's, 0 for padding */
        } mask;
    };
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

/* MODE_STREAM writes whole cache lines with non-temporal stores. MODE_CHECK checks values and writes nothing; only
 * scatter has it. */
enum { MODE_PLAIN, MODE_STREAM, MODE_CHECK };

typedef struct {
    int64_t record; /* flat index of the first record that does not fit, or -1 */
    int32_t leaf;
} scatter_status;

/* Converts n scalars, contiguous on both sides; returns the index of the first that does not fit, or -1. Where four
 * scalars of a type share 4 bytes, n is a multiple of 4. */
typedef ptrdiff_t (*scatter_convert)(void *to, const void *from, ptrdiff_t n);

/* An instruction set; see isa.h. */
typedef struct scatter_isa scatter_isa;

extern const scatter_isa scatter_portable;
const scatter_isa *scatter_isa_at(int index); /* best first; NULL after the last that this machine runs */
const char *scatter_isa_name(const scatter_isa *isa);
scatter_convert scatter_conversion(const scatter_isa *isa, int from_type, int to_type); /* NULL if there is none */

int64_t scatter_scratch(const scatter_plan *plan, int64_t stride);
int64_t gather_scratch(const scatter_plan *plan, int64_t stride);

/* Pack records [start, stop) to `to`, the address of record `start`. */
scatter_status scatter_run(const scatter_isa *isa, const scatter_plan *plan, char *to, int64_t stride, int64_t start,
                           int64_t stop, int mode, char *scratch);

/* Unpack records [start, stop) from `from`, the address of record `start`. */
scatter_status gather_run(const scatter_isa *isa, const scatter_plan *plan, const char *from, int64_t stride,
                          int64_t start, int64_t stop, int mode, char *scratch);

#endif
