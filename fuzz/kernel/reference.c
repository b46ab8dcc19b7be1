/* What scatter.h says, one scalar at a time. Only the conversion of a scalar is the kernel's own, in portable C: other
 * tests compare that with numpy. */
#include <string.h>

#include "kernel_fuzz.h"

static const int PIECES[SLOT_COUNT][4] = {{12, 4}, {8, 8}, {8, 4, 4}, {4, 4, 8}, {4, 4, 4, 4}};
static char temporaries[MOST_TEMPS][TEMP_BYTES];

static char *bytes_of(const scatter_plan *plan, int64_t record, int32_t column, int64_t offset) {
    static char zeros[16];
    if (column < 0) return zeros;
    if (column >= plan->columns) return temporaries[column - plan->columns] + offset;
    char *at = plan->bases[column] + offset;
    for (int32_t d = plan->ndim - 1; d >= 0; d--) {
        at += record % plan->shape[d] * plan->strides[column * plan->ndim + d];
        record /= plan->shape[d];
    }
    return at;
}

static void copy_scalar(char *to, const char *from, int bytes, int swap) {
    for (int k = 0; k < bytes; k++) to[k] = from[swap ? bytes - 1 - k : k];
}

/* Scalars `from_step` and `to_step` apart; returns 0 if one does not fit. */
static int convert(const scatter_step *s, char *to, int64_t to_step, int swap_to, const char *from, int64_t from_step,
                   int swap_from) {
    int in = scatter_type_size[s->convert.from_type], out = scatter_type_size[s->convert.to_type];
    int group = comes_in_fours(s->convert.from_type) || comes_in_fours(s->convert.to_type) ? 4 : 1;
    char scalars[32], made[32];
    for (int64_t k = 0; k < s->convert.count; k += group) {
        for (int g = 0; g < group; g++) copy_scalar(scalars + g * in, from + (k + g) * from_step, in, swap_from);
        if (s->convert.from_type == s->convert.to_type)
            memcpy(made, scalars, (size_t)(group * in));
        else if (scatter_conversion(&scatter_portable, s->convert.from_type, s->convert.to_type)(made, scalars,
                                                                                                 group) >= 0)
            return 0;
        for (int g = 0; g < group; g++) copy_scalar(to + (k + g) * to_step, made + g * out, out, swap_to);
    }
    return 1;
}

/* The rounds of an array's loops, numbered from 0; returns 0 after the last. */
static int find_round(const scatter_plan *plan, const scatter_step *s, int64_t round, int64_t *column,
                      int64_t *record) {
    *column = *record = 0;
    for (int32_t k = s->convert.loop_count - 1; k >= 0; k--) {
        const scatter_loop *loop = plan->loops + s->convert.loop_first + k;
        *column += round % loop->count * loop->column_step;
        *record += round % loop->count * loop->record_step;
        round /= loop->count;
    }
    return round == 0;
}

static void transpose(const scatter_step *s, char *record, char *column, int back) {
    int64_t apart = s->transpose.rows == 2 ? 8 : 16;
    for (int64_t i = 0; i < s->transpose.count; i++)
        for (int c = 0; c < s->transpose.cols; c++)
            for (int r = 0; r < s->transpose.rows; r++) {
                char *slot = record + i * s->transpose.record_step + c * apart + 4 * r;
                char *scalar = column + i * s->transpose.column_step + r * s->transpose.row_step + 4 * c;
                memcpy(back ? scalar : slot, back ? slot : scalar, 4);
                if (!back && s->transpose.rows == 3 && r == 2) memset(slot + 4, 0, 4);
            }
}

int32_t reference_scatter(const scatter_plan *plan, int64_t record, char *to) {
    for (const scatter_step *s = plan->steps; s < plan->steps + plan->step_count; s++) {
        char *from = bytes_of(plan, record, s->column[0], s->column_offset[0]), *at = to + s->record_offset;
        int64_t a, b;
        if (s->kind == STEP_SLOT) {
            for (int p = 0, bytes; p < 4 && (bytes = PIECES[s->slot.shape][p]) != 0; at += bytes, p++)
                memcpy(at, bytes_of(plan, record, s->column[p], s->column_offset[p]), (size_t)bytes);
        } else if (s->kind == STEP_COPY) {
            memcpy(at, from, (size_t)s->copy.bytes);
        } else if (s->kind == STEP_ZERO) {
            memset(at, 0, (size_t)s->zero.bytes);
        } else if (s->kind == STEP_TRANSPOSE) {
            transpose(s, at, from, 0);
        } else if (s->kind == STEP_MASK) {
            memset(at, 0, (size_t)s->mask.bytes);
            for (int64_t unit = 0; unit < s->mask.bytes / 4; unit++)
                if (s->mask.keep[unit / 64] >> unit % 64 & 1) memcpy(at + 4 * unit, from + 4 * unit, 4);
        } else if (s->kind == STEP_CONVERT_IN) {
            char *temporary = bytes_of(plan, record, s->column[1], s->column_offset[1]);
            if (!convert(s, temporary, scatter_type_size[s->convert.to_type], 0, from, s->convert.step,
                         s->convert.swap))
                return s->leaf;
        } else {
            for (int64_t round = 0; find_round(plan, s, round, &a, &b); round++)
                if (!convert(s, at + b, scatter_type_size[s->convert.to_type], 0, from + a, s->convert.step,
                             s->convert.swap))
                    return s->leaf;
        }
    }
    return -1;
}

int32_t reference_gather(const scatter_plan *plan, int64_t record, const char *from) {
    for (const scatter_step *s = plan->steps; s < plan->steps + plan->step_count; s++) {
        char *to = bytes_of(plan, record, s->column[0], s->column_offset[0]);
        int64_t a, b;
        if (s->kind == STEP_COPY) {
            memcpy(to, from + s->record_offset, (size_t)s->copy.bytes);
        } else if (s->kind == STEP_TRANSPOSE) {
            transpose(s, (char *)(uintptr_t)from + s->record_offset, to, 1);
        } else if (s->kind == STEP_CONVERT_OUT) {
            char *temporary = bytes_of(plan, record, s->column[1], s->column_offset[1]);
            if (!convert(s, to, s->convert.step, s->convert.swap, temporary, scatter_type_size[s->convert.from_type],
                         0))
                return s->leaf;
        } else {
            for (int64_t round = 0; find_round(plan, s, round, &a, &b); round++)
                if (!convert(s, to + a, s->convert.step, s->convert.swap, from + s->record_offset + b,
                             scatter_type_size[s->convert.from_type], 0))
                    return s->leaf;
        }
    }
    return -1;
}

void reference_visit(const scatter_plan *plan, int64_t record, void (*use)(char *at, int type, int to_type, int swap)) {
    for (const scatter_step *s = plan->steps; s < plan->steps + plan->step_count; s++) {
        int64_t a, b;
        if (s->kind != STEP_CONVERT_IN && s->kind != STEP_CONVERT_ARRAY) continue;
        char *from = bytes_of(plan, record, s->column[0], s->column_offset[0]);
        for (int64_t round = 0; find_round(plan, s, round, &a, &b); round++) {
            for (int64_t k = 0; k < s->convert.count; k++)
                use(from + a + k * s->convert.step, s->convert.from_type, s->convert.to_type, s->convert.swap);
            if (s->kind == STEP_CONVERT_IN) break;
        }
    }
}
