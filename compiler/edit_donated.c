/* edit_donated.c - which inputs may give their memory to which outputs, once there are others. */
#include <stdlib.h>

#include "edit_parts.h"
#include "ops/donated.h"

static void set(ir_module *m, const int64_t *list, uint32_t count) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= list[i] >= 0;
    if (any)
        ir_op_set_attr(m, ir_module_kernel(m), "donated", ir_attr_int_array(m, list, count));
    else
        ir_op_remove_attr(m, ir_module_kernel(m), "donated");
}

void edit_donate_to(ir_module *m, const ir_value *outputs, uint32_t count) {
    const ir_op_data *end = ir_op_get(m, ir_kernel_body(m)->last);
    const uint32_t inputs = donated_inputs(m, ir_module_kernel(m));
    int64_t *list = base_calloc((size_t)inputs + 1, sizeof *list);
    for (uint32_t i = 0; i < inputs; i++) {
        const int64_t before = donated_output(m, ir_module_kernel(m), i);
        list[i] = -1;
        for (uint32_t k = 0; k < count && before >= 0 && list[i] < 0; k++)
            if (outputs[k] == end->operands[before])
                list[i] = k;
    }
    set(m, list, inputs);
    free(list);
}

void edit_donate_from(ir_module *m, const bool *kept) {
    const uint32_t inputs = donated_inputs(m, ir_module_kernel(m));
    int64_t *list = base_calloc((size_t)inputs + 1, sizeof *list);
    uint32_t count = 0;
    for (uint32_t i = 0; i < inputs; i++)
        if (kept[i])
            list[count++] = donated_output(m, ir_module_kernel(m), i);
    set(m, list, count);
    free(list);
}

static bool is_alike(const ir_module *m, ir_value a, ir_value b) {
    return ir_value_get(m, a)->type == ir_value_get(m, b)->type;
}

void edit_settle_donated(ir_module *m) {
    const ir_block_data *body = ir_kernel_body(m);
    const ir_op_data *end = ir_op_get(m, body->last);
    int64_t *list = base_calloc((size_t)body->argument_count + 1, sizeof *list);
    bool *taken = base_calloc((size_t)end->operand_count + 1, sizeof *taken);
    for (uint32_t i = 0; i < body->argument_count; i++) {
        const int64_t to = donated_output(m, ir_module_kernel(m), i);
        const bool fits = to >= 0 && to < end->operand_count && !taken[to] &&
                          is_alike(m, body->arguments[i], end->operands[to]);
        list[i] = fits ? to : -1;
        if (fits)
            taken[to] = true;
    }
    set(m, list, body->argument_count);
    free(list);
    free(taken);
}
