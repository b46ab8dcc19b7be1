/* Scalars with gaps, in the other byte order or of another type. Conversions need contiguous memory, `raw`. */
#include <string.h>

#include "internal.h"

static inline uint16_t swap_2(uint16_t x) { return (uint16_t)(x << 8 | x >> 8); }
static inline uint32_t swap_4(uint32_t x) {
    return (x << 24) | ((x & 0xff00u) << 8) | ((x >> 8) & 0xff00u) | (x >> 24);
}
static inline uint64_t swap_8(uint64_t x) {
    x = ((x & 0x00ff00ff00ff00ffull) << 8) | ((x >> 8) & 0x00ff00ff00ff00ffull);
    x = ((x & 0x0000ffff0000ffffull) << 16) | ((x >> 16) & 0x0000ffff0000ffffull);
    return (x << 32) | (x >> 32);
}

/* One scalar; `bytes` and `swap` are constants in all calls. */
ALWAYS_INLINE void move_scalar(char *to, const char *from, const int bytes, const int swap) {
    if (bytes == 1) {
        *to = *from;
    } else if (bytes == 2) {
        uint16_t x;
        memcpy(&x, from, sizeof x);
        if (swap) x = swap_2(x);
        memcpy(to, &x, sizeof x);
    } else if (bytes == 4) {
        uint32_t x;
        memcpy(&x, from, sizeof x);
        if (swap) x = swap_4(x);
        memcpy(to, &x, sizeof x);
    } else {
        uint64_t x;
        memcpy(&x, from, sizeof x);
        if (swap) x = swap_8(x);
        memcpy(to, &x, sizeof x);
    }
}

/* Bytes from record to record, and from scalar to scalar. */
typedef struct {
    ptrdiff_t record, scalar;
} spacing;

ALWAYS_INLINE void move_as(char *to, spacing to_by, const char *from, spacing from_by, ptrdiff_t n, ptrdiff_t count,
                           const int bytes, const int swap) {
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t k = 0; k < count; k++)
            move_scalar(to + i * to_by.record + k * to_by.scalar, from + i * from_by.record + k * from_by.scalar, bytes,
                        swap);
}

static void move_scalars(char *to, spacing to_by, const char *from, spacing from_by, ptrdiff_t n, ptrdiff_t count,
                         int bytes, int swap) {
    if (bytes == 1)
        move_as(to, to_by, from, from_by, n, count, 1, 0);
    else if (bytes == 2 && swap)
        move_as(to, to_by, from, from_by, n, count, 2, 1);
    else if (bytes == 2)
        move_as(to, to_by, from, from_by, n, count, 2, 0);
    else if (bytes == 4 && swap)
        move_as(to, to_by, from, from_by, n, count, 4, 1);
    else if (bytes == 4)
        move_as(to, to_by, from, from_by, n, count, 4, 0);
    else if (swap)
        move_as(to, to_by, from, from_by, n, count, 8, 1);
    else
        move_as(to, to_by, from, from_by, n, count, 8, 0);
}

ptrdiff_t scatter_convert_in(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                             const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw) {
    int from_type = s->convert.from_type, to_type = s->convert.to_type, swap = s->convert.swap;
    int in = scatter_type_size[from_type], out = scatter_type_size[to_type];
    ptrdiff_t count = s->convert.count;
    int dense = !swap && s->convert.step == in;
    spacing column = {from_record, s->convert.step}, block = {to_record, out}, staged = {count * in, in};
    if (from_type == to_type) {
        if (dense && n == 1)
            memcpy(to, from, (size_t)(count * in));
        else
            move_scalars(to, block, from, column, n, count, in, swap);
        return -1;
    }
    scatter_convert convert = isa->convert(from_type, to_type);
    if (dense && (n == 1 || (from_record == count * in && to_record == count * out)))
        return convert(to, from, n * count);
    move_scalars(raw, staged, from, column, n, count, in, swap);
    if (n == 1 || to_record == count * out) return convert(to, raw, n * count);
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t bad = convert(to + i * to_record, raw + i * count * in, count);
        if (bad >= 0) return i * count + bad;
    }
    return -1;
}

ptrdiff_t scatter_convert_out(const scatter_isa *isa, const scatter_step *s, char *to, ptrdiff_t to_record,
                              const char *from, ptrdiff_t from_record, ptrdiff_t n, char *raw) {
    int from_type = s->convert.from_type, to_type = s->convert.to_type, swap = s->convert.swap;
    int in = scatter_type_size[from_type], out = scatter_type_size[to_type];
    ptrdiff_t count = s->convert.count;
    spacing column = {to_record, s->convert.step}, block = {from_record, in}, staged = {count * out, out};
    if (from_type == to_type) {
        if (!swap && s->convert.step == in && n == 1)
            memcpy(to, from, (size_t)(count * in));
        else
            move_scalars(to, column, from, block, n, count, in, swap);
        return -1;
    }
    scatter_convert convert = isa->convert(from_type, to_type);
    int dense_from = n == 1 || from_record == count * in;
    int dense_to = !swap && s->convert.step == out && (n == 1 || to_record == count * out);
    if (dense_from && dense_to) return convert(to, from, n * count);
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t bad = convert(raw + i * count * out, from + i * from_record, count);
        if (bad >= 0) return i * count + bad;
    }
    move_scalars(to, column, raw, staged, n, count, out, swap);
    return -1;
}
