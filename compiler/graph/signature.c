/* signature.c - the buffers of a graph once its dimensions are bound. */
#include "graph/instance.h"

typedef struct compiler_buffer buffer;

static bool describe(ir_module *graph, ir_type type, const char *name, ir_bindings dims,
                     buffer *out, status *st) {
    const ir_type_data *d = ir_type_get(graph, type);
    *out = (buffer){.name = name, .type = d->element, .rank = d->rank};
    for (int i = 0; i < d->rank; i++) {
        const char *missing = NULL;
        if (ir_dim_evaluate(graph, d->dims[i], dims, &out->dims[i], &missing))
            continue;
        if (missing) {
            return status_set(st, STATUS_INVALID, "dimension '%s' of '%s' is not bound", missing,
                              name);
        }
        return status_set(st, STATUS_INVALID, "dimension %d of '%s', %s, is negative or too large",
                          i, name, ir_dim_text(graph, d->dims[i]));
    }
    return true;
}

static const char *name_at(ir_module *graph, ir_op kernel, const char *attr, uint32_t index) {
    ir_attr names = ir_op_attr(graph, kernel, attr);
    const ir_attr_data *d = names ? ir_attr_get(graph, names) : NULL;
    return d && index < d->count ? ir_attr_get(graph, d->items[index])->string : "";
}

bool compiler_signature_of(compiler_instance *instance, compiler_signature *out, status *st) {
    ir_module *graph = instance->graph;
    ir_bindings dims = instance->dims;
    ir_op kernel = ir_module_kernel(graph);
    if (!kernel)
        return status_set(st, STATUS_INVALID, "the module holds no kernel");
    const ir_block_data *block = ir_block_get(graph, ir_op_block(graph, kernel, 0));
    const ir_op_data *last = block->last ? ir_op_get(graph, block->last) : NULL;
    if (!last || block->argument_count > COMPILER_MAX_PARAMETERS ||
        last->operand_count > COMPILER_MAX_PARAMETERS) {
        return status_set(st, STATUS_INVALID,
                          "the kernel has no return or more than %d parameters or results",
                          COMPILER_MAX_PARAMETERS);
    }
    *out = (compiler_signature){.input_count = block->argument_count,
                                .output_count = last->operand_count};
    for (uint32_t i = 0; i < out->input_count; i++) {
        ir_type type = ir_value_get(graph, block->arguments[i])->type;
        if (!describe(graph, type, name_at(graph, kernel, "inputs", i), dims, &out->inputs[i], st))
            return false;
    }
    for (uint32_t i = 0; i < out->output_count; i++) {
        ir_type type = ir_value_get(graph, last->operands[i])->type;
        if (!describe(graph, type, name_at(graph, kernel, "outputs", i), dims, &out->outputs[i],
                      st))
            return false;
    }
    return true;
}
