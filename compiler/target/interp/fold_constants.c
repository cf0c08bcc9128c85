/* fold_constants.c - element-wise operations on single numbers that are known become numbers: the
 * interpreter computes them, so their bits are those that every backend computes. */
#include "target/interp/fold_constants.h"
#include "ops/control.h"

#include <string.h>

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
        d->opcode == GRAPH_STOCHASTIC_ROUND || ir_type_of(m, d->results[0])->rank != 0)
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

static control_rewritten fold(ir_builder *b, ir_op op, ir_value *results, void *context) {
    tensor in[OPERANDS_MAX] = {0}, out = {0};
    uint64_t bits = 0;
    if (!is_known(b->m, ir_op_get(b->m, op)))
        return CONTROL_KEPT;
    bool ok = evaluate(b->m, op, in, &out, context);
    if (ok) {
        memcpy(&bits, out.data, dtype_size(out.type));
        const ir_named_attr value = {"value", ir_attr_bits(b->m, out.type, bits)};
        results[0] = ir_op_result(b->m, graph_build(b, GRAPH_CONSTANT, NULL, 0, &value, 1), 0);
    }
    tensor_release_all(in, OPERANDS_MAX);
    tensor_release(&out);
    return ok ? CONTROL_REPLACED : CONTROL_STOPPED;
}

bool interp_fold_constants(ir_module *m, status *st) {
    return control_rewrite(m, fold, st);
}
