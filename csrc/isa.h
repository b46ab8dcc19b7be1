/* What an instruction set offers to the driver; everything else is shared. */
#ifndef GPUSTRUCT_ISA_H
#define GPUSTRUCT_ISA_H

#include "scatter.h"

#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/* Loops of up to eight rounds, whose number the compiler knows once they are inlined. */
#if defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

enum { CACHE_LINE = 64 };

extern const char scatter_zeros[CACHE_LINE];

/* Records of so many slots can be interleaved, and a vec3's lanes may be read whole, which may reach into the next two
 * records: so many must follow the last. */
enum { MAX_INTERLEAVED = 8, INTERLEAVE_REACH = 2 };

/* What a lane holds: 4-byte units as they are, or 8-byte scalars, converted as they are loaded, 16 bytes from 32. */
enum { LANE_WORDS, LANE_F64, LANE_I64_U32, LANE_I64_I32 };

/* One slot of four dense records: 16 bytes from each of four lanes, permuted into four 16-byte slots.
 *
 * A piece of 4n bytes fills n lanes, one record's piece after the other's: a vec3 and a scalar are three lanes and
 * one. Lane k moves on step[k] bytes for every four records. Unit u of record r is unit index[4 * r + u] of the 16 in
 * the lanes. */
typedef struct {
    const char *lane[4];
    ptrdiff_t step[4];
    int32_t type[4];
    int32_t index[16];
    int32_t shape; /* SLOT_12_4 and so on; SLOT_COUNT: the four lanes are one piece */
} interleave4_slot;

/* The way back: one slot of four dense records, taken from their lines into its columns.
 *
 * index[0] takes units from the first two lines that hold the slot; those whose bit is set in `second` come from the
 * other two, by index[1]. Lane k goes to lane[k], if there is one, which moves on step[k] bytes for every four
 * records. whole: all four lanes are one piece; triple: the first three are. */
typedef struct {
    char *lane[4];
    ptrdiff_t step[4];
    int32_t index[2][16];
    int32_t second, whole, triple;
} deinterleave4_slot;

typedef void (*isa_slot)(char *to, ptrdiff_t stride, const char *const from[4], const ptrdiff_t step[4], ptrdiff_t n);

/* Matrices of rows x cols 4-byte scalars, n of them: columns of 16 bytes (8 for two rows) in the record, rows
 * `row_step` bytes apart in the column. */
typedef void (*isa_transpose)(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t row_step,
                              int rows, int cols, ptrdiff_t n);

struct scatter_isa {
    const char *name;
    isa_slot slot[SLOT_COUNT];
    void (*copy)(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n, ptrdiff_t bytes);
    isa_transpose transpose;                                     /* to the record */
    isa_transpose transpose_back;                                /* to the column */
    void (*stream)(char *to, const char *from, ptrdiff_t bytes); /* to: 64-aligned; bytes: a multiple of 64 */
    void (*fence)(void);                                         /* makes streamed bytes visible */
    /* lines * 64 bytes, and-ed with `mask`, whose `period` bytes (whole lines) are there twice; it starts anywhere in
     * the first. stream: to is 64-aligned. */
    void (*mask)(char *to, const char *from, const char *mask, ptrdiff_t period, ptrdiff_t lines, int stream);
    scatter_convert (*convert)(int from_type, int to_type);
    /* n records, a multiple of 4, of `count` slots, 16 * count bytes apart; returns whether a conversion met a value
     * that may not fit. stream: to is 64-aligned. NULL where the instruction set gains nothing by it. */
    int (*interleave4)(interleave4_slot *slots, int count, char *to, ptrdiff_t n, int stream);
    /* The same back, from records at `from`; NULL likewise. */
    void (*deinterleave4)(deinterleave4_slot *slots, int count, const char *from, ptrdiff_t n);
};

/* convert_shared.c: conversions that every instruction set does the same way; NULL likewise. */
scatter_convert scatter_shared_conversion(int from_type, int to_type);

#if defined(__x86_64__) && defined(__GNUC__)
#define ISA_X86 1
extern const scatter_isa scatter_sse41, scatter_avx2;
const scatter_isa *scatter_avx512(void); /* made of AVX2's on the first call */
#elif defined(__aarch64__) && defined(__GNUC__)
#define ISA_NEON 1
const scatter_isa *scatter_neon(void); /* made of the portable one on the first call */
#endif

#endif
