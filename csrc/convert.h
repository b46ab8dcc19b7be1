/* Conversions between scalar types. Values are rounded and refused here, in what this includes, and in
 * convert_shared.c.
 *
 * The file of each instruction set includes this, so that compilers vectorize the loops for it. */
#include "convert_loop.h"
#include "convert_normalized.h"

/* From all column types to WGSL's four. */
ANY(i8_i32, int8_t, int32_t)
ANY(i16_i32, int16_t, int32_t)
BETWEEN(i64_i32, int64_t, int32_t, INT32_MIN, INT32_MAX)
ANY(u8_i32, uint8_t, int32_t)
ANY(u16_i32, uint16_t, int32_t)
UP_TO(u32_i32, uint32_t, int32_t, INT32_MAX)
UP_TO(u64_i32, uint64_t, int32_t, INT32_MAX)
NOT_NEGATIVE(i8_u32, int8_t, uint32_t)
NOT_NEGATIVE(i16_u32, int16_t, uint32_t)
NOT_NEGATIVE(i32_u32, int32_t, uint32_t)
BETWEEN(i64_u32, int64_t, uint32_t, 0, UINT32_MAX)
ANY(u8_u32, uint8_t, uint32_t)
ANY(u16_u32, uint16_t, uint32_t)
UP_TO(u64_u32, uint64_t, uint32_t, UINT32_MAX)
TO_FLOATS(i8, int8_t)
TO_FLOATS(i16, int16_t)
TO_FLOATS(i32, int32_t)
TO_FLOATS(i64, int64_t)
TO_FLOATS(u8, uint8_t)
TO_FLOATS(u16, uint16_t)
TO_FLOATS(u32, uint32_t)
TO_FLOATS(u64, uint64_t)
CONVERT_LOOP(bool_i32, uint8_t, int32_t, x != 0, 0)
CONVERT_LOOP(bool_u32, uint8_t, uint32_t, x != 0, 0)
CONVERT_LOOP(bool_f32, uint8_t, float, x != 0, 0)
CONVERT_LOOP(bool_f16, uint8_t, uint16_t, x ? 0x3c00u : 0u, 0)
#ifndef ISA_CONVERTS_FLOATS /* the instruction set has faster ones */
CONVERT_LOOP(f64_f32, double, float, x, OVER(x, FLOAT_LIMIT))
CONVERT_LOOP(f64_f16, double, uint16_t, half_from_double(x), OVER(x, HALF_LIMIT))
CONVERT_LOOP(f32_f16, float, uint16_t, half_from_double((double)x), OVER(x, HALF_LIMIT))
CONVERT_LOOP(f16_f32, uint16_t, float, float_from_half(x), 0)
CONVERT_LOOP(f16_f64, uint16_t, double, float_from_half(x), 0)
#endif
ANY(f32_f64, float, double)

/* From WGSL's integers to all column types. */
BETWEEN(i32_i8, int32_t, int8_t, INT8_MIN, INT8_MAX)
BETWEEN(i32_i16, int32_t, int16_t, INT16_MIN, INT16_MAX)
ANY(i32_i64, int32_t, int64_t)
BETWEEN(i32_u8, int32_t, uint8_t, 0, UINT8_MAX)
BETWEEN(i32_u16, int32_t, uint16_t, 0, UINT16_MAX)
NOT_NEGATIVE(i32_u64, int32_t, uint64_t)
ANY(i32_f64, int32_t, double)
UP_TO(u32_i8, uint32_t, int8_t, INT8_MAX)
UP_TO(u32_i16, uint32_t, int16_t, INT16_MAX)
ANY(u32_i64, uint32_t, int64_t)
UP_TO(u32_u8, uint32_t, uint8_t, UINT8_MAX)
UP_TO(u32_u16, uint32_t, uint16_t, UINT16_MAX)
ANY(u32_u64, uint32_t, uint64_t)
ANY(u32_f64, uint32_t, double)

#define TO_WGSL(N) [TYPE_F32] = N##_f32, [TYPE_F16] = N##_f16
#define FROM_WGSL(N) \
    [TYPE_I8] = N##_i8, [TYPE_I16] = N##_i16, [TYPE_I64] = N##_i64, [TYPE_U8] = N##_u8, [TYPE_U16] = N##_u16, \
    [TYPE_U64] = N##_u64, [TYPE_F64] = N##_f64

#define TO_NORMALIZED(N) \
    [TYPE_UNORM8] = N##_unorm8, [TYPE_SNORM8] = N##_snorm8, [TYPE_UNORM16] = N##_unorm16, \
    [TYPE_SNORM16] = N##_snorm16, [TYPE_UNORM8X4_BGRA] = N##_bgra, [TYPE_UNORM10_10_10_2] = N##_unorm10
#define TO_FLOAT(N) {[TYPE_F32] = N##_f32, [TYPE_F64] = N##_f64}

/* NULL for a type and itself, and for pairs that are refused. */
static scatter_convert conversion(int from_type, int to_type) {
    static const scatter_convert table[TYPE_COUNT][TYPE_COUNT] = {
        [TYPE_I8] = {TO_WGSL(i8), [TYPE_I32] = i8_i32, [TYPE_U32] = i8_u32},
        [TYPE_I16] = {TO_WGSL(i16), [TYPE_I32] = i16_i32, [TYPE_U32] = i16_u32},
        [TYPE_I32] = {TO_WGSL(i32), [TYPE_U32] = i32_u32, FROM_WGSL(i32)},
        [TYPE_I64] = {TO_WGSL(i64), [TYPE_I32] = i64_i32, [TYPE_U32] = i64_u32},
        [TYPE_U8] = {TO_WGSL(u8), [TYPE_I32] = u8_i32, [TYPE_U32] = u8_u32},
        [TYPE_U16] = {TO_WGSL(u16), [TYPE_I32] = u16_i32, [TYPE_U32] = u16_u32},
        [TYPE_U32] = {TO_WGSL(u32), [TYPE_I32] = u32_i32, FROM_WGSL(u32)},
        [TYPE_U64] = {TO_WGSL(u64), [TYPE_I32] = u64_i32, [TYPE_U32] = u64_u32},
        [TYPE_BOOL] = {TO_WGSL(bool), [TYPE_I32] = bool_i32, [TYPE_U32] = bool_u32},
        [TYPE_F64] = {[TYPE_F32] = f64_f32, [TYPE_F16] = f64_f16, TO_NORMALIZED(f64)},
        [TYPE_F32] = {[TYPE_F16] = f32_f16, [TYPE_F64] = f32_f64, TO_NORMALIZED(f32)},
        [TYPE_F16] = {[TYPE_F32] = f16_f32, [TYPE_F64] = f16_f64},
        [TYPE_UNORM8] = TO_FLOAT(unorm8),
        [TYPE_SNORM8] = TO_FLOAT(snorm8),
        [TYPE_UNORM16] = TO_FLOAT(unorm16),
        [TYPE_SNORM16] = TO_FLOAT(snorm16),
        [TYPE_UNORM8X4_BGRA] = TO_FLOAT(bgra),
        [TYPE_UNORM10_10_10_2] = TO_FLOAT(unorm10),
    };
    scatter_convert found = table[from_type][to_type];
    return found ? found : scatter_shared_conversion(from_type, to_type);
}

#undef TO_WGSL
#undef FROM_WGSL
#undef TO_NORMALIZED
#undef TO_FLOAT
