/* fold_constants.c - element-wise operations on single numbers that are known become numbers: the
 * interpreter computes them, so their bits are those that every backend computes. */
#include "target/interp/fold_constants.h"
#include "ops/control.h"

#include <string.h>

#include "ir/rename.h"
#include "target/interp/interp.h"

enum { OPERANDS_MAX = 4 };

static const ir_attr_data *constant_of(const ir_module *m, ir_value v) {
    ir_op op = ir_value_get(m, v)->op;
    if (!op || ir_op_get(m, op)->opcode != GRAPH_CONSTANT)
        return NULL;
    return ir_attr_get(m, ir_op_attr(m, op, "value"));
}

static bool is_known(const ir_module *m, const ir_op_data *d) {
    if (graph_op_class(d->opcode) != GRAPH_CLASS_ELEMENTWISE || d->operand_count > OPERANDS_MAX ||
        d->opcode == GRAPH_STOCHASTIC_ROUND ||
        ir_type_get(m, ir_value_get(m, d->results[0])->type)->rank != 0)
        return false;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const ir_attr_data *value = constant_of(m, d->operands[i]);
        if (!value || value->kind != IR_ATTR_BITS)
            return false;
    }
    return true;
}

static bool evaluate(const ir_module *m, ir_op op, tensor *in, tensor *out, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const tensor *operands[OPERANDS_MAX];
    for (uint32_t i = 0; i < d->operand_count; i++) {
        if (!interp_allocate(m, d->operands[i], DTYPE_NONE, &in[i], st))
            return false;
        memcpy(in[i].data, &constant_of(m, d->operands[i])->bits, dtype_size(in[i].type));
        operands[i] = &in[i];
    }
    interp_step s = {m, op, d->opcode, operands, d->operand_count, out};
    return interp_allocate(m, d->results[0], DTYPE_NONE, out, st) && interp_elementwise(&s, st);
}

static bool fold(ir_renaming *renamed, ir_op op, status *st) {
    ir_module *m = renamed->m;
    const ir_op_data *d = ir_op_get(m, op);
    tensor in[OPERANDS_MAX] = {0}, out = {0};
    uint64_t bits = 0;
    bool ok = evaluate(m, op, in, &out, st);
    if (ok) {
        memcpy(&bits, out.data, dtype_size(out.type));
        ir_builder b = {m, d->block, op, d->location};
        const ir_named_attr value = {"value", ir_attr_bits(m, out.type, bits)};
        ir_op constant = graph_build(&b, GRAPH_CONSTANT, NULL, 0, &value, 1);
        ir_rename(renamed, d->results[0], ir_op_result(m, constant, 0));
        ir_op_erase(m, op);
    }
    tensor_release_all(in, OPERANDS_MAX);
    tensor_release(&out);
    return ok;
}

static bool fold_block(ir_module *m, ir_block block, void *context) {
    status *st = context;
    ir_op next;
    bool ok = true;
    ir_renaming renamed = ir_renaming_new(m);
    for (ir_op op = ir_block_get(m, block)->first; op && ok; op = next) {
        next = ir_op_get(m, op)->next;
        ir_renaming_apply(&renamed, op);
        ok = !is_known(m, ir_op_get(m, op)) || fold(&renamed, op, st);
    }
    ir_renaming_end(&renamed, 0);
    return ok;
}

bool interp_fold_constants(ir_module *m, status *st) {
    return control_each_block(m, fold_block, st);
}
