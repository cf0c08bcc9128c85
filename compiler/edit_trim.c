/* edit_trim.c - transforms without what nobody needs of them any more: results that nobody reads,
 * and values that their blocks do not read. */
#include <stdlib.h>
#include <string.h>

#include "edit_parts.h"
#include "ir/copy.h"
#include "ops/build.h"
#include "ops/control.h"
#include "ops/transforms.h"

/* A transform, and what of it stays: values of its block, results of that, slopes. */
typedef struct trimmed {
    ir_module *m;
    ir_op op;
    transform_shape s;
    const uint32_t *uses;
    bool forward, reverse;        /* a derivative */
    bool *value, *result, *slope; /* slope: of a reverse derivative by number of `wrt` */
    bool any;                     /* something goes */
} trimmed;

static bool is_used(const trimmed *t, ir_value v) {
    return t->uses[v] > 0;
}

static ir_value result(const trimmed *t, uint32_t i) {
    return ir_op_result(t->m, t->op, i);
}

/* The place of a number among those of `wrt` or `of`; the count: it is none of them. */
static uint32_t place(const int64_t *list, uint32_t count, uint32_t number) {
    uint32_t i = 0;
    while (i < count && list[i] != number)
        i++;
    return i;
}

/* A cotangent is of a result, whoever reads that; a tangent may be read alone. */
static bool keeps_result(const trimmed *t, uint32_t i) {
    const uint32_t of = place(t->s.of, t->s.of_count, i);
    const bool slopes = of < t->s.of_count;
    return is_used(t, result(t, i)) || (slopes && t->reverse) ||
           (slopes && t->forward && is_used(t, result(t, t->s.result_count + of)));
}

static bool keeps_value(const trimmed *t, uint32_t i) {
    const ir_block_data *block = ir_block_get(t->m, ir_op_block(t->m, t->op, 0));
    const uint32_t wrt = place(t->s.wrt, t->s.wrt_count, i);
    return is_used(t, block->arguments[i]) || (wrt < t->s.wrt_count && t->reverse && t->slope[wrt]);
}

/* One of each list stays. */
static void settle(bool *list, uint32_t count, bool *any) {
    bool some = false;
    for (uint32_t i = 0; i < count; i++)
        some |= list[i];
    if (!some && count)
        list[0] = true;
    for (uint32_t i = 0; i < count; i++)
        *any |= !list[i];
}

static bool needed_by(const trimmed *t, const int64_t *list, uint32_t count, const bool *kept) {
    bool some = count == 0;
    (void)t;
    for (uint32_t i = 0; i < count; i++)
        some |= kept[list[i]];
    return some;
}

/* False: nothing of it goes. */
static bool look(trimmed *t) {
    for (uint32_t i = 0; i < t->s.wrt_count; i++)
        t->slope[i] = !t->reverse || is_used(t, result(t, t->s.result_count + i));
    settle(t->slope, t->s.wrt_count, &t->any);
    for (uint32_t i = 0; i < t->s.result_count; i++)
        t->result[i] = keeps_result(t, i);
    settle(t->result, t->s.result_count, &t->any);
    for (uint32_t i = 0; i < t->s.value_count; i++)
        t->value[i] = keeps_value(t, i);
    settle(t->value, t->s.value_count, &t->any);
    return t->any && needed_by(t, t->s.wrt, t->s.wrt_count, t->value) &&
           needed_by(t, t->s.of, t->s.of_count, t->result);
}

static uint32_t rank_of(const bool *kept, uint32_t i) {
    uint32_t before = 0;
    for (uint32_t k = 0; k < i; k++)
        before += kept[k];
    return before;
}

/* The numbers of a list that stay, as they are counted then. */
static ir_attr numbers_left(const trimmed *t, const int64_t *list, uint32_t count, const bool *kept,
                            const bool *too) {
    int64_t *left = base_calloc((size_t)count + 1, sizeof *left);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (kept[list[i]] && (!too || too[i]))
            left[n++] = rank_of(kept, (uint32_t)list[i]);
    const ir_attr made = ir_attr_int_array(t->m, left, n);
    free(left);
    return made;
}

static void set_attributes(const trimmed *t, ir_op made) {
    int64_t whole[LIMIT_PARAMETERS];
    for (uint32_t i = 0; i < ir_op_get(t->m, t->op)->attr_count; i++) {
        const ir_named_attr a = ir_op_get(t->m, t->op)->attrs[i];
        ir_op_set_attr(t->m, made, a.name, a.value);
    }
    if (t->s.wrt_count) {
        ir_op_set_attr(t->m, made, "wrt",
                       numbers_left(t, t->s.wrt, t->s.wrt_count, t->value, t->slope));
        ir_op_set_attr(t->m, made, "of", numbers_left(t, t->s.of, t->s.of_count, t->result, NULL));
    }
    if (ir_op_attr(t->m, t->op, "sliced"))
        ir_op_set_attr(t->m, made, "sliced", ir_attr_int(t->m, rank_of(t->value, t->s.sliced)));
    const uint32_t count = ir_op_ints(t->m, t->op, "whole", whole, LIMIT_PARAMETERS);
    if (count)
        ir_op_set_attr(t->m, made, "whole", numbers_left(t, whole, count, t->result, NULL));
}

/* The operands that stay: seeds of what stays, then values. */
static uint32_t operands_left(const trimmed *t, ir_value *out) {
    const ir_op_data *d = ir_op_get(t->m, t->op);
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->s.wrt_count && t->forward; i++)
        if (t->value[t->s.wrt[i]])
            out[count++] = d->operands[i];
    for (uint32_t i = 0; i < t->s.of_count && t->reverse; i++)
        if (t->result[t->s.of[i]])
            out[count++] = d->operands[i];
    for (uint32_t i = 0; i < t->s.value_count; i++)
        if (t->value[i])
            out[count++] = t->s.values[i];
    return count;
}

static uint32_t results_left(const trimmed *t, ir_value *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->s.result_count; i++)
        if (t->result[i])
            out[count++] = result(t, i);
    for (uint32_t i = 0; i < t->s.wrt_count && t->reverse; i++)
        if (t->slope[i] && t->value[t->s.wrt[i]])
            out[count++] = result(t, t->s.result_count + i);
    for (uint32_t i = 0; i < t->s.of_count && t->forward; i++)
        if (t->result[t->s.of[i]])
            out[count++] = result(t, t->s.result_count + i);
    return count;
}

static void fill(const trimmed *t, ir_op made) {
    const ir_block_data *block = ir_block_get(t->m, ir_op_block(t->m, t->op, 0));
    const ir_op_data *end = ir_op_get(t->m, block->last);
    ir_builder in = {.m = t->m, .block = ir_op_block(t->m, made, 0)};
    ir_value *copies = base_calloc((size_t)ir_value_count(t->m) + 1, sizeof *copies);
    ir_value *next = base_calloc((size_t)end->operand_count + 1, sizeof *next);
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->s.value_count; i++)
        if (t->value[i])
            copies[block->arguments[i]] = ir_block_add_argument(
                t->m, in.block, ir_value_get(t->m, block->arguments[i])->type, NULL);
    for (ir_op op = block->first; op != block->last; op = ir_op_get(t->m, op)->next)
        (void)ir_copy_op(&in, t->m, op, copies);
    for (uint32_t i = 0; i < t->s.result_count; i++)
        if (t->result[i])
            next[count++] = copies[end->operands[i]];
    build_next(&in, next, count);
    free(next);
    free(copies);
}

static void replace(trimmed *t) {
    const ir_op_data *d = ir_op_get(t->m, t->op);
    ir_builder b = {.m = t->m, .block = d->block, .before = t->op, .location = d->location};
    ir_value *operands = base_calloc((size_t)d->operand_count + 1, sizeof *operands),
             *results = base_calloc((size_t)d->result_count + 1, sizeof *results);
    ir_type *types = base_calloc((size_t)d->result_count + 1, sizeof *types);
    const uint32_t operand_count = operands_left(t, operands),
                   result_count = results_left(t, results);
    for (uint32_t i = 0; i < result_count; i++)
        types[i] = ir_value_get(t->m, results[i])->type;
    const ir_op made = ir_build(&b, &(ir_op_spec){.opcode = d->opcode,
                                                  .operands = operands,
                                                  .operand_count = operand_count,
                                                  .results = types,
                                                  .result_count = result_count,
                                                  .region_count = 1});
    set_attributes(t, made);
    fill(t, made);
    for (uint32_t i = 0; i < result_count; i++)
        ir_replace_uses(t->m, results[i], ir_op_result(t->m, made, i));
    ir_op_erase(t->m, t->op);
    free(operands);
    free(results);
    free(types);
}

/* False: it stays as it is. */
static bool trim(ir_module *m, ir_op op, const uint32_t *uses) {
    const int opcode = ir_op_get(m, op)->opcode;
    trimmed t = {.m = m,
                 .op = op,
                 .s = transform_shape_of(m, op),
                 .uses = uses,
                 .forward = opcode == GRAPH_JVP,
                 .reverse = opcode == GRAPH_VJP};
    t.value = base_calloc((size_t)t.s.value_count + 1, sizeof *t.value);
    t.result = base_calloc((size_t)t.s.result_count + 1, sizeof *t.result);
    t.slope = base_calloc((size_t)t.s.wrt_count + 1, sizeof *t.slope);
    const bool less = look(&t);
    if (less)
        replace(&t);
    free(t.value);
    free(t.result);
    free(t.slope);
    return less;
}

bool edit_trim(ir_module *m) {
    uint32_t *uses = ir_count_uses(m);
    bool any = false;
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); !any && ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        if (transform_is_one(d->opcode) && d->region_count == 1)
            any = trim(m, w.op, uses);
    }
    free(uses);
    return any;
}
