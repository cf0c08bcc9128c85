/* signature.c - the buffers of a graph once its dimensions are bound. */
#include "graph/instance.h"
#include "ops/donated.h"

static bool describe(ir_module *graph, ir_type type, const char *name, ir_bindings dims,
                     compiler_buffer *out, status *st) {
    const ir_type_data *d = ir_type_get(graph, type);
    *out = (compiler_buffer){.name = name, .type = d->element, .rank = d->rank, .replaces = -1};
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

/* The buffers of these values, named by an attribute of the kernel; NULL with a status. */
static const compiler_buffer *describe_all(compiler_instance *instance, const ir_value *values,
                                           uint32_t count, const char *attr, status *st) {
    ir_module *graph = instance->graph;
    ir_op kernel = ir_module_kernel(graph);
    compiler_buffer *list = ARENA_NEW(ir_module_arena(graph), compiler_buffer, count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (!describe(graph, ir_value_get(graph, values[i])->type, name_at(graph, kernel, attr, i),
                      instance->dims, &list[i], st))
            return NULL;
    return list;
}

/* Adds the inputs that outputs replace, and what other outputs are for. */
static void describe_outputs(compiler_instance *instance, compiler_signature *s) {
    ir_module *graph = instance->graph;
    ir_op kernel = ir_module_kernel(graph);
    compiler_buffer *outputs = (compiler_buffer *)s->outputs;
    for (uint32_t i = 0; i < donated_inputs(graph, kernel); i++) {
        int64_t output = donated_output(graph, kernel, i);
        if (output >= 0 && output < s->output_count)
            outputs[output].replaces = (int)i;
    }
    for (uint32_t i = 0; i < s->output_count; i++) {
        const char *effect = name_at(graph, kernel, "effects", i);
        outputs[i].effect = effect[0] ? effect : NULL;
    }
}

static bool make_signature(compiler_instance *instance, compiler_signature *out, status *st) {
    ir_module *graph = instance->graph;
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
    out->input_count = block->argument_count;
    out->output_count = last->operand_count;
    out->inputs = describe_all(instance, block->arguments, out->input_count, "inputs", st);
    if (out->inputs)
        out->outputs = describe_all(instance, last->operands, out->output_count, "outputs", st);
    if (!out->inputs || !out->outputs)
        return false;
    describe_outputs(instance, out);
    return true;
}

bool compiler_signature_of(compiler_instance *instance, compiler_signature *out, status *st) {
    *out = (compiler_signature){0};
    if (!instance->signature) {
        if (!make_signature(instance, out, st))
            return false;
        instance->signature = ARENA_NEW(ir_module_arena(instance->graph), compiler_signature, 1);
        *instance->signature = *out;
    }
    *out = *instance->signature;
    return true;
}
