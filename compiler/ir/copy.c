/* copy.c - copies of operations: operands are those that stand for the old ones. */
#include "ir/copy.h"

#include <stdlib.h>

#include "base/arena.h"
#include "ir/dim.h"

static void copy_block(ir_module *m, ir_block to, const ir_module *from, ir_block block,
                       ir_value *copies) {
    const ir_block_data *old = ir_block_get(from, block);
    ir_builder b = {.m = m, .block = to};
    for (uint32_t i = 0; i < old->argument_count; i++) {
        const ir_value_data *v = ir_value_get(from, old->arguments[i]);
        copies[old->arguments[i]] = ir_block_add_argument(m, to, v->type, v->name);
    }
    for (ir_op op = old->first; op; op = ir_op_get(from, op)->next)
        ir_copy_op(&b, from, op, copies);
}

ir_op ir_copy_op(ir_builder *b, const ir_module *from, ir_op op, ir_value *copies) {
    ir_module *m = b->m;
    const ir_op_data *d = ir_op_get(from, op);
    ir_value *operands = base_calloc(d->operand_count + 1, sizeof *operands);
    ir_type *results = base_calloc(d->result_count + 1, sizeof *results);
    for (uint32_t i = 0; i < d->operand_count; i++)
        operands[i] = copies[d->operands[i]] ? copies[d->operands[i]] : d->operands[i];
    for (uint32_t i = 0; i < d->result_count; i++)
        results[i] = ir_value_get(from, d->results[i])->type;
    b->location = d->location;
    ir_op_spec spec = {.opcode = d->opcode,
                       .operands = operands,
                       .operand_count = d->operand_count,
                       .results = results,
                       .result_count = d->result_count,
                       .attrs = d->attrs,
                       .attr_count = d->attr_count,
                       .region_count = d->region_count};
    ir_op copy = ir_build(b, &spec);
    for (uint32_t i = 0; i < d->result_count; i++)
        copies[d->results[i]] = ir_op_result(m, copy, i);
    for (uint32_t r = 0; r < d->region_count; r++)
        copy_block(m, ir_op_block(m, copy, r), from, ir_op_block(from, op, r), copies);
    free(operands);
    free(results);
    return copy;
}

/* ---- attributes ---- */

static ir_dim copy_dim(ir_module *m, const ir_module *from, ir_dim dim) {
    ir_dim copy = dim;
    if (!ir_dim_is_static(dim) && !ir_dim_parse(m, ir_dim_text((ir_module *)from, dim), &copy))
        ir_fail(m, "a dimension is too long");
    return copy;
}

static ir_type copy_type(ir_module *m, const ir_module *from, ir_type type) {
    const ir_type_data *d = ir_type_get(from, type);
    ir_dim dims[IR_MAX_RANK];
    for (int i = 0; i < d->rank; i++)
        dims[i] = copy_dim(m, from, d->dims[i]);
    return d->kind == IR_TYPE_SCALAR  ? ir_type_scalar(m, d->element)
           : d->kind == IR_TYPE_INDEX ? ir_type_index(m)
                                      : ir_type_shaped(m, d->kind, d->element, d->rank, dims);
}

static ir_attr copy_list(ir_module *m, const ir_module *from, const ir_attr_data *d) {
    ir_attr *items = base_calloc((size_t)d->count + 1, sizeof *items);
    for (uint32_t i = 0; i < d->count; i++)
        items[i] = ir_copy_attr(m, from, d->items[i]);
    ir_attr copy = d->kind == IR_ATTR_ARRAY ? ir_attr_array(m, items, d->count)
                                            : ir_attr_dict(m, d->keys, items, d->count);
    free(items);
    return copy;
}

ir_attr ir_copy_attr(ir_module *m, const ir_module *from, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(from, attr);
    switch (d->kind) {
    case IR_ATTR_UNIT:
        return ir_attr_unit(m);
    case IR_ATTR_BOOL:
        return ir_attr_bool(m, d->integer != 0);
    case IR_ATTR_INT:
        return ir_attr_int(m, d->integer);
    case IR_ATTR_BITS:
        return ir_attr_bits(m, d->element, d->bits);
    case IR_ATTR_STRING:
        return ir_attr_string(m, d->string);
    case IR_ATTR_DIM:
        return ir_attr_dim(m, copy_dim(m, from, d->integer));
    case IR_ATTR_TYPE:
        return ir_attr_type(m, copy_type(m, from, d->type));
    case IR_ATTR_DENSE:
        return ir_attr_dense(m, copy_type(m, from, d->type), d->blob);
    case IR_ATTR_ARRAY:
    case IR_ATTR_DICT:
        return copy_list(m, from, d);
    case IR_ATTR_NONE:
    case IR_ATTR_KIND_COUNT:
        break;
    }
    return 0;
}
