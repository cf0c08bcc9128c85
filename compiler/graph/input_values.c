/* input_values.c - what a kernel asks of the values of its inputs: the targets of a cross_entropy
 * are positions of its row. Compiled code has no way to complain; it clamps. */
#include <inttypes.h>

#include "graph/instance.h"

/* The kernel input that `v` is; -1 for everything else. */
static int input_of(const ir_module *m, ir_value v) {
    const ir_block_data *block = ir_kernel_body(m);
    for (uint32_t i = 0; i < block->argument_count; i++)
        if (block->arguments[i] == v)
            return (int)i;
    return -1;
}

static const char *input_name(const ir_module *m, int index) {
    ir_attr names = ir_op_attr(m, ir_module_kernel(m), "inputs");
    return ir_attr_get(m, ir_attr_get(m, names)->items[index])->string;
}

static bool check_targets(const ir_module *m, ir_op op, const tensor *inputs, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *row = ir_type_of(m, d->operands[0]);
    int64_t length = row->dims[row->rank - 1];
    int index = input_of(m, d->operands[1]);
    if (index < 0)
        return true;
    const int32_t *target = inputs[index].data;
    for (int64_t i = 0; i < tensor_count(&inputs[index]); i++)
        if (target[i] < 0 || target[i] >= length)
            return status_set(st, STATUS_INVALID,
                              "input '%s': element %" PRId64 " is %d, and cross_entropy's targets "
                              "are positions in a row of %" PRId64,
                              input_name(m, index), i, target[i], length);
    return true;
}

bool compiler_check_values(compiler_instance *instance, const tensor *inputs, status *st) {
    status failed = STATUS_INIT; /* a pass that fails does so again where it is asked for */
    const ir_module *m = instance_specialized(instance, &failed);
    bool ok = true;
    ir_op op = m ? ir_kernel_body(m)->first : 0;
    for (; ok && op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->opcode == GRAPH_CROSS_ENTROPY)
            ok = check_targets(m, op, inputs, st);
    return ok;
}
