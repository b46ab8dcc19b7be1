/* Conversions that instruction sets would not make faster: compiled once, in plain C.
 *
 * The 8 and 16 bit integers of vertex data, from and to integers of any size; halves to and from normalized formats;
 * bytes to and from BGRA. */
#include "convert_loop.h"

/* To 8 and 16 bits. */
ANY(i8_i16, int8_t, int16_t)
NOT_NEGATIVE(i8_u8, int8_t, uint8_t)
NOT_NEGATIVE(i8_u16, int8_t, uint16_t)
BETWEEN(i16_i8, int16_t, int8_t, INT8_MIN, INT8_MAX)
BETWEEN(i16_u8, int16_t, uint8_t, 0, UINT8_MAX)
NOT_NEGATIVE(i16_u16, int16_t, uint16_t)
BETWEEN(i64_i8, int64_t, int8_t, INT8_MIN, INT8_MAX)
BETWEEN(i64_i16, int64_t, int16_t, INT16_MIN, INT16_MAX)
BETWEEN(i64_u8, int64_t, uint8_t, 0, UINT8_MAX)
BETWEEN(i64_u16, int64_t, uint16_t, 0, UINT16_MAX)
UP_TO(u8_i8, uint8_t, int8_t, INT8_MAX)
ANY(u8_i16, uint8_t, int16_t)
ANY(u8_u16, uint8_t, uint16_t)
UP_TO(u16_i8, uint16_t, int8_t, INT8_MAX)
UP_TO(u16_i16, uint16_t, int16_t, INT16_MAX)
UP_TO(u16_u8, uint16_t, uint8_t, UINT8_MAX)
UP_TO(u64_i8, uint64_t, int8_t, INT8_MAX)
UP_TO(u64_i16, uint64_t, int16_t, INT16_MAX)
UP_TO(u64_u8, uint64_t, uint8_t, UINT8_MAX)
UP_TO(u64_u16, uint64_t, uint16_t, UINT16_MAX)
CONVERT_LOOP(bool_8, uint8_t, uint8_t, x != 0, 0)
CONVERT_LOOP(bool_16, uint8_t, uint16_t, x != 0, 0)

/* From 8 and 16 bits; convert.h has those to 32 bits and to smaller floats. */
ANY(i8_i64, int8_t, int64_t)
ANY(i16_i64, int16_t, int64_t)
ANY(u8_i64, uint8_t, int64_t)
ANY(u16_i64, uint16_t, int64_t)
NOT_NEGATIVE(i8_u64, int8_t, uint64_t)
NOT_NEGATIVE(i16_u64, int16_t, uint64_t)
ANY(u8_u64, uint8_t, uint64_t)
ANY(u16_u64, uint16_t, uint64_t)
ANY(i8_f64, int8_t, double)
ANY(i16_f64, int16_t, double)
ANY(u8_f64, uint8_t, double)
ANY(u16_f64, uint16_t, double)

/* A normalized format to and from the integers that it is made of. */
static ptrdiff_t same_8(void *to, const void *from, ptrdiff_t n) {
    memmove(to, from, (size_t)n);
    return -1;
}

static ptrdiff_t same_16(void *to, const void *from, ptrdiff_t n) {
    memmove(to, from, (size_t)n * 2);
    return -1;
}

enum { AT_ONCE = 64 }; /* a multiple of 4, for formats that pack four scalars into 4 bytes */

/* From halves to floats and from there, a few at a time, with the portable code. */
ALWAYS_INLINE ptrdiff_t from_halves(char *to, const char *from, ptrdiff_t n, const int to_type, const int bytes) {
    float floats[AT_ONCE];
    for (ptrdiff_t i = 0; i < n; i += AT_ONCE) {
        ptrdiff_t count = n - i < AT_ONCE ? n - i : AT_ONCE;
        scatter_portable.convert(TYPE_F16, TYPE_F32)(floats, from + 2 * i, count);
        ptrdiff_t bad = scatter_portable.convert(TYPE_F32, to_type)(to + bytes * i, floats, count);
        if (bad >= 0) return i + bad;
    }
    return -1;
}

ALWAYS_INLINE ptrdiff_t to_halves(char *to, const char *from, ptrdiff_t n, const int from_type, const int bytes) {
    double doubles[AT_ONCE];
    for (ptrdiff_t i = 0; i < n; i += AT_ONCE) {
        ptrdiff_t count = n - i < AT_ONCE ? n - i : AT_ONCE;
        scatter_portable.convert(from_type, TYPE_F64)(doubles, from + bytes * i, count);
        scatter_portable.convert(TYPE_F64, TYPE_F16)(to + 2 * i, doubles, count);
    }
    return -1;
}

#define HALVES(N, TYPE, BYTES) \
    static ptrdiff_t f16_##N(void *to, const void *from, ptrdiff_t n) { \
        return from_halves(to, from, n, TYPE, BYTES); \
    } \
    static ptrdiff_t N##_f16(void *to, const void *from, ptrdiff_t n) { return to_halves(to, from, n, TYPE, BYTES); }
HALVES(unorm8, TYPE_UNORM8, 1)
HALVES(snorm8, TYPE_SNORM8, 1)
HALVES(unorm16, TYPE_UNORM16, 2)
HALVES(snorm16, TYPE_SNORM16, 2)
HALVES(bgra, TYPE_UNORM8X4_BGRA, 1)
HALVES(unorm10, TYPE_UNORM10_10_10_2, 1)

/* RGBA to BGRA, or back. */
static ptrdiff_t swap_bgra(void *to, const void *from, ptrdiff_t n) {
    const char *source = (const char *)from;
    char *target = (char *)to;
    for (ptrdiff_t i = 0; i < n; i += 4) {
        char red = source[i], green = source[i + 1], blue = source[i + 2], alpha = source[i + 3];
        target[i] = blue, target[i + 1] = green, target[i + 2] = red, target[i + 3] = alpha;
    }
    return -1;
}

scatter_convert scatter_shared_conversion(int from_type, int to_type) {
    static const scatter_convert table[TYPE_COUNT][TYPE_COUNT] = {
        [TYPE_I8] = {[TYPE_SNORM8] = same_8,
                     [TYPE_I16] = i8_i16,
                     [TYPE_U8] = i8_u8,
                     [TYPE_U16] = i8_u16,
                     [TYPE_I64] = i8_i64,
                     [TYPE_U64] = i8_u64,
                     [TYPE_F64] = i8_f64},
        [TYPE_I16] = {[TYPE_SNORM16] = same_16,
                      [TYPE_I8] = i16_i8,
                      [TYPE_U8] = i16_u8,
                      [TYPE_U16] = i16_u16,
                      [TYPE_I64] = i16_i64,
                      [TYPE_U64] = i16_u64,
                      [TYPE_F64] = i16_f64},
        [TYPE_I64] = {[TYPE_I8] = i64_i8, [TYPE_I16] = i64_i16, [TYPE_U8] = i64_u8, [TYPE_U16] = i64_u16},
        [TYPE_U8] = {[TYPE_UNORM8] = same_8,
                     [TYPE_I8] = u8_i8,
                     [TYPE_I16] = u8_i16,
                     [TYPE_U16] = u8_u16,
                     [TYPE_I64] = u8_i64,
                     [TYPE_U64] = u8_u64,
                     [TYPE_F64] = u8_f64,
                     [TYPE_UNORM8X4_BGRA] = swap_bgra},
        [TYPE_U16] = {[TYPE_UNORM16] = same_16,
                      [TYPE_I8] = u16_i8,
                      [TYPE_I16] = u16_i16,
                      [TYPE_U8] = u16_u8,
                      [TYPE_I64] = u16_i64,
                      [TYPE_U64] = u16_u64,
                      [TYPE_F64] = u16_f64},
        [TYPE_U64] = {[TYPE_I8] = u64_i8, [TYPE_I16] = u64_i16, [TYPE_U8] = u64_u8, [TYPE_U16] = u64_u16},
        [TYPE_BOOL] = {[TYPE_I8] = bool_8, [TYPE_U8] = bool_8, [TYPE_I16] = bool_16, [TYPE_U16] = bool_16},
        [TYPE_F16] = {[TYPE_UNORM8] = f16_unorm8,
                      [TYPE_SNORM8] = f16_snorm8,
                      [TYPE_UNORM16] = f16_unorm16,
                      [TYPE_SNORM16] = f16_snorm16,
                      [TYPE_UNORM8X4_BGRA] = f16_bgra,
                      [TYPE_UNORM10_10_10_2] = f16_unorm10},
        [TYPE_UNORM8] = {[TYPE_U8] = same_8, [TYPE_F16] = unorm8_f16},
        [TYPE_SNORM8] = {[TYPE_I8] = same_8, [TYPE_F16] = snorm8_f16},
        [TYPE_UNORM16] = {[TYPE_U16] = same_16, [TYPE_F16] = unorm16_f16},
        [TYPE_SNORM16] = {[TYPE_I16] = same_16, [TYPE_F16] = snorm16_f16},
        [TYPE_UNORM8X4_BGRA] = {[TYPE_F16] = bgra_f16, [TYPE_U8] = swap_bgra},
        [TYPE_UNORM10_10_10_2] = {[TYPE_F16] = unorm10_f16},
    };
    return table[from_type][to_type];
}
