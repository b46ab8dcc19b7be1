/* Scratch space, and what is computed once before a run. */
#include "internal.h"

int64_t scatter_block(const scatter_plan *plan, int64_t stride) {
    int64_t widest = stride;
    for (int32_t t = 0; t < plan->temp_count; t++)
        if (plan->temps[t] > widest) widest = plan->temps[t];
    int64_t records = BLOCK_BYTES / (widest > 0 ? widest : 1);
    if (records >= 16) records -= records % 16; /* whole vectors, and whole lines of any record */
    return records < 1 ? 1 : records > BLOCK_RECORDS ? BLOCK_RECORDS : records;
}

/* Scratch is [stage | raw | constants | addresses | temporaries], each in whole lines, and with one line more where
 * loads may read too far. */
int64_t scatter_stage_bytes(int64_t block, int64_t stride) {
    return block * stride > STAGE_LIMIT ? 0 : whole_lines(block * stride + 2 * CACHE_LINE);
}

static int64_t raw_bytes(const scatter_plan *plan, int64_t block) {
    int64_t bytes = RAW_SCALARS * 16;
    for (int32_t k = 0; k < plan->step_count; k++) {
        const scatter_step *s = plan->steps + k;
        if ((s->kind == STEP_CONVERT_IN || s->kind == STEP_CONVERT_OUT) && block * s->convert.count * 8 > bytes)
            bytes = block * s->convert.count * 8;
    }
    return whole_lines(bytes + CACHE_LINE);
}

static int64_t address_bytes(const scatter_plan *plan) {
    return whole_lines((plan->columns + plan->temp_count) * (int64_t)sizeof(char *));
}

int64_t scatter_scratch(const scatter_plan *plan, int64_t stride) {
    int64_t block = scatter_block(plan, stride);
    int64_t bytes = scatter_stage_bytes(block, stride) + raw_bytes(plan, block) + address_bytes(plan) +
                    MAX_INTERLEAVED * 4 * CACHE_LINE;
    for (int32_t t = 0; t < plan->temp_count; t++) bytes += whole_lines(plan->temps[t] * block + CACHE_LINE);
    return bytes;
}

void scatter_begin(scatter_context *c, const scatter_isa *isa, const scatter_plan *plan, int64_t stride,
                   char *scratch) {
    c->isa = isa, c->plan = plan;
    c->block = scatter_block(plan, stride);
    c->stage = scratch;
    c->raw = scratch + scatter_stage_bytes(c->block, stride);
    c->constants = (char (*)[CACHE_LINE])(void *)(c->raw + raw_bytes(plan, c->block));
    c->address = (char **)(void *)(c->constants + MAX_INTERLEAVED * 4);
    char *temporary = (char *)c->address + address_bytes(plan);
    for (int32_t t = 0; t < plan->temp_count; t++) {
        c->address[plan->columns + t] = temporary;
        temporary += whole_lines(plan->temps[t] * c->block + CACHE_LINE);
    }
    c->converts = 0;
    for (int32_t k = 0; k < plan->step_count; k++) c->converts += plan->steps[k].kind == STEP_CONVERT_IN;
    scatter_find_interleaved(c, stride);
}

int64_t scatter_find_row(const scatter_context *c, int64_t index) {
    const scatter_plan *plan = c->plan;
    for (int32_t k = 0; k < plan->columns; k++) c->address[k] = plan->bases[k];
    int64_t inner = plan->shape[plan->ndim - 1], rest = index / inner;
    for (int32_t d = plan->ndim - 2; d >= 0; d--) {
        int64_t at = rest % plan->shape[d];
        rest /= plan->shape[d];
        for (int32_t k = 0; k < plan->columns; k++) c->address[k] += at * plan->strides[(int64_t)k * plan->ndim + d];
    }
    return index % inner;
}
