/* batching.c - the table of rules, and what they are made of. */
#include "ops/batching/batching.h"

#include <string.h>

#define batch_rule_none NULL

static const batch_rule rules[] = {
#define G(ENUM, name, operands, attrs, results, class, effects, shape, decompose, derive,          \
          batching, flops, summary)                                                                \
    batch_rule_##batching,
#include "ops/graph.def"
};

batch_rule batching_of(int opcode) {
    return rules[opcode];
}

ir_value batch_repeat(ir_builder *b, ir_value x, ir_dim count) {
    const ir_type_data t = *build_type(b, x);
    ir_dim dims[IR_MAX_RANK + 1] = {count};
    int64_t axes[IR_MAX_RANK];
    for (int i = 0; i < t.rank; i++)
        axes[i] = i + 1;
    memcpy(dims + 1, t.dims, sizeof *dims * (size_t)t.rank);
    return build_broadcast(b, x, t.rank + 1, dims, axes);
}

ir_value batch_operand(const batch_query *q, uint32_t i) {
    return q->batched[i] ? q->x[i] : batch_repeat(q->b, q->x[i], q->count);
}

void batch_operands(const batch_query *q, ir_value *out) {
    for (uint32_t i = 0; i < ir_op_get(q->b->m, q->op)->operand_count; i++)
        out[i] = batch_operand(q, i);
}

bool batch_is_alone(const batch_query *q, uint32_t i) {
    bool alone = q->batched[i];
    for (uint32_t k = 0; k < ir_op_get(q->b->m, q->op)->operand_count; k++)
        alone &= k == i || !q->batched[k];
    return alone;
}

int batch_shape(const batch_query *q, ir_value of, ir_dim *dims) {
    const ir_type_data *t = build_type(q->b, of);
    dims[0] = q->count;
    memcpy(dims + 1, t->dims, sizeof *dims * (size_t)t->rank);
    return t->rank + 1;
}

void batch_build(const batch_query *q, const ir_value *operands, const ir_named_attr *attrs,
                 uint32_t count, ir_value *results) {
    ir_module *m = q->b->m;
    const ir_op_data *d = ir_op_get(m, q->op);
    ir_named_attr *all = ARENA_NEW(ir_module_arena(m), ir_named_attr, d->attr_count + 1);
    for (uint32_t i = 0; i < d->attr_count; i++) {
        all[i] = d->attrs[i];
        for (uint32_t k = 0; k < count; k++)
            if (strcmp(all[i].name, attrs[k].name) == 0)
                all[i].value = attrs[k].value;
    }
    ir_op op = graph_build(q->b, d->opcode, operands, d->operand_count, all, d->attr_count);
    for (uint32_t i = 0; i < d->result_count; i++)
        results[i] = ir_op_result(m, op, i);
}

ir_named_attr batch_axis(const batch_query *q, const char *name) {
    ir_module *m = q->b->m;
    return (ir_named_attr){name, ir_attr_int(m, ir_op_int(m, q->op, name, 0) + 1)};
}

ir_named_attr batch_axes(const batch_query *q, const char *name) {
    ir_module *m = q->b->m;
    int64_t axes[IR_MAX_RANK];
    uint32_t count = ir_op_ints(m, q->op, name, axes, IR_MAX_RANK);
    for (uint32_t i = 0; i < count; i++)
        axes[i]++;
    return (ir_named_attr){name, ir_attr_int_array(m, axes, count)};
}

ir_named_attr batch_list(const batch_query *q, const char *name, ir_dim first) {
    ir_module *m = q->b->m;
    ir_dim list[IR_MAX_RANK + 1] = {first};
    uint32_t count = ir_op_ints(m, q->op, name, list + 1, IR_MAX_RANK);
    return (ir_named_attr){name, ir_attr_dim_array(m, list, count + 1)};
}
