/* donated.c - reads and verifies the attribute `donated` of a kernel. */
#include "ops/donated.h"

#include <stdlib.h>

/* NULL: the kernel has none. */
static const ir_attr_data *donations(const ir_module *m, ir_op kernel) {
    ir_attr list = ir_op_attr(m, kernel, "donated");
    return list ? ir_attr_get(m, list) : NULL;
}

int64_t donated_output(const ir_module *m, ir_op kernel, uint32_t input) {
    const ir_attr_data *list = donations(m, kernel);
    return list && input < list->count ? ir_attr_get(m, list->items[input])->integer : -1;
}

uint32_t donated_inputs(const ir_module *m, ir_op kernel) {
    const ir_attr_data *list = donations(m, kernel);
    return list ? list->count : 0;
}

bool donated_any(const ir_module *m, ir_op kernel) {
    for (uint32_t i = 0; i < donated_inputs(m, kernel); i++)
        if (donated_output(m, kernel, i) >= 0)
            return true;
    return false;
}

static ir_value input_of(const ir_module *m, ir_op kernel, uint32_t input) {
    return ir_block_get(m, ir_op_block(m, kernel, 0))->arguments[input];
}

/* The memory is one, so the elements are alike and as many; their shapes may differ. */
static bool are_alike(const ir_module *m, ir_value x, ir_value y) {
    const ir_type a = ir_value_get(m, x)->type, b = ir_value_get(m, y)->type;
    const bool sized = ir_type_is_static(m, a) && ir_type_is_static(m, b);
    return a == b || (sized && ir_type_of(m, x)->element == ir_type_of(m, y)->element &&
                      ir_type_count(m, a) == ir_type_count(m, b));
}

static bool verify_pair(const ir_module *m, ir_op kernel, uint32_t input, const ir_op_data *end,
                        status *st) {
    int64_t output = donated_output(m, kernel, input);
    if (output < 0 || output >= (int64_t)end->operand_count)
        return status_set(st, STATUS_INTERNAL,
                          "input %u is donated to output %lld, and there are %u outputs", input,
                          (long long)output, end->operand_count);
    return are_alike(m, input_of(m, kernel, input), end->operands[output]) ||
           status_set(st, STATUS_INTERNAL,
                      "input %u is donated to output %lld, which is of another type", input,
                      (long long)output);
}

bool donated_verify(const ir_module *m, ir_op kernel, status *st) {
    const ir_attr_data *list = donations(m, kernel);
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, kernel, 0));
    const ir_op_data *end = ir_op_get(m, body->last);
    if (!list)
        return true;
    if (list->count != body->argument_count)
        return status_set(st, STATUS_INTERNAL, "'donated' needs a number for each input");
    bool *taken = base_calloc((size_t)end->operand_count + 1, sizeof *taken), ok = true;
    for (uint32_t i = 0; i < list->count && ok; i++) {
        int64_t output = donated_output(m, kernel, i);
        if (output == -1)
            continue;
        ok = verify_pair(m, kernel, i, end, st) &&
             (!taken[output] ||
              status_set(st, STATUS_INTERNAL, "two inputs are donated to output %lld",
                         (long long)output));
        if (ok)
            taken[output] = true;
    }
    free(taken);
    return ok;
}
