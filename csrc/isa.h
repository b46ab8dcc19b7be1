/* The functions of an instruction set. Its file defines one scatter_isa; isa.c has a line for it, and the guard below
 * says where it can be compiled. */
#ifndef GPUSTRUCT_ISA_H
#define GPUSTRUCT_ISA_H

#include "scatter.h"

#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/* For loops of up to eight rounds; after inlining the compiler knows how many. */
#if defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

enum { CACHE_LINE = 64 };

extern const char scatter_zeros[CACHE_LINE];

/* interleave4 writes records of at most MAX_INTERLEAVED slots. It may load all 16 bytes of a vec3's last lane, and so
 * read up to INTERLEAVE_REACH records beyond the last one: they must exist. */
enum { MAX_INTERLEAVED = 8, INTERLEAVE_REACH = 2 };

/* A lane is copied as 4-byte units, or converted from 8-byte scalars as it is loaded, 32 bytes to 16. */
enum { LANE_WORDS, LANE_F64, LANE_I64_U32, LANE_I64_I32 };

/* One slot of four dense records: 16 bytes from each of four lanes, permuted into four 16-byte slots.
 *
 * A piece of 4n bytes fills n lanes with the pieces of four records, one after the other: a vec3 fills three lanes, a
 * scalar one. Lane k advances by step[k] bytes for every four records. Unit u of record r is unit index[4 * r + u] of
 * the 16 in the lanes. */
typedef struct {
    const char *lane[4];
    ptrdiff_t step[4];
    int32_t type[4];
    int32_t index[16];
    int32_t shape; /* SLOT_12_4 and so on; SLOT_COUNT where the four lanes are one piece */
} interleave4_slot;

/* The reverse: one slot of four dense records, from their cache lines to its columns.
 *
 * index[0] takes units from the first two lines that hold the slot. Units whose bit is set in `second` come from the
 * other two lines, by index[1]. Lane k goes to lane[k], unless that is NULL, and advances by step[k] bytes for every
 * four records. whole: all four lanes are one piece; triple: the first three are. */
typedef struct {
    char *lane[4];
    ptrdiff_t step[4];
    int32_t index[2][16];
    int32_t second, whole, triple;
} deinterleave4_slot;

typedef void (*isa_slot)(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n);

/* n matrices of rows x cols 4-byte scalars. Their columns are 16 bytes apart in the record, or 8 for two rows; their
 * rows are `row_step` bytes apart in the column. */
typedef void (*isa_transpose)(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t row_step,
                              int rows, int cols, ptrdiff_t n);

/* What is NULL is taken from `base`. */
struct scatter_isa {
    const char *name;
    const scatter_isa *base; /* NULL for the portable one */
    int (*runs)(void);       /* whether this machine has it */
    isa_slot slot[SLOT_COUNT];
    void (*copy)(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n, ptrdiff_t bytes);
    isa_transpose transpose;                                     /* to the record */
    isa_transpose transpose_back;                                /* to the column */
    void (*stream)(char *to, const char *from, ptrdiff_t bytes); /* to: 64-aligned; bytes: a multiple of 64 */
    void (*fence)(void);                                         /* makes streamed bytes visible */
    /* lines * 64 bytes, and-ed with a mask that repeats after `period` bytes, a multiple of 64. The mask's memory holds
     * it twice, and `mask` may point anywhere into the first. stream: to is 64-aligned. */
    void (*mask)(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int stream);
    scatter_convert (*convert)(int from_type, int to_type);
    /* n records, a multiple of 4, of `count` slots, 16 * count bytes apart; returns whether a conversion found a value
     * that may not fit. stream: to is 64-aligned. NULL in the portable one. */
    int (*interleave4)(interleave4_slot *slots, int count, char *to, ptrdiff_t n, int stream);
    /* The reverse, from records at `from`; NULL in the portable one. */
    void (*deinterleave4)(deinterleave4_slot *slots, int count, const char *from, ptrdiff_t n);
};

/* convert_shared.c: conversions that every instruction set does the same way; NULL if there is none. */
scatter_convert scatter_shared_conversion(int from_type, int to_type);

#if defined(__x86_64__) && defined(__GNUC__)
#define ISA_X86 1
extern const scatter_isa scatter_sse41, scatter_avx2;
#elif defined(__aarch64__) && defined(__GNUC__)
#define ISA_NEON 1
#endif

#endif
