/* opinion_values.c - parts of a kernel as kernels, and what they compute. */
#include <stdlib.h>
#include <string.h>

#include "graph/instance.h"
#include "ir/copy.h"
#include "opinion/opinion.h"
#include "ops/build.h"

/* ---- parts as kernels ---- */

static ir_op begin(ir_module *part, const ir_module *m, uint32_t inputs, uint32_t outputs) {
    const char *math = ir_op_string(m, ir_module_kernel(m), "math", NULL);
    ir_named_attr attrs[] = {{"name", ir_attr_string(part, "part")},
                             {"inputs", build_names(part, "i", inputs)},
                             {"outputs", build_names(part, "o", outputs)},
                             {"math", math ? ir_attr_string(part, math) : 0}};
    ir_builder top = {.m = part, .block = ir_module_body(part)};
    return ir_build(&top, &(ir_op_spec){.opcode = GRAPH_KERNEL,
                                        .attrs = attrs,
                                        .attr_count = math ? 4 : 3,
                                        .region_count = 1});
}

/* Inputs of these values' types; `out` receives what stands for each. */
static void take(ir_builder *b, const ir_module *m, const ir_value *values, uint32_t count,
                 bool widen, ir_value *out) {
    for (uint32_t i = 0; i < count; i++) {
        const dtype own = ir_type_of(m, values[i])->element;
        const ir_type type = ir_value_get(m, values[i])->type;
        const bool wide = widen && dtype_is_narrow(own);
        out[i] = ir_block_add_argument(
            b->m, b->block, wide ? ir_type_with_element(b->m, type, DTYPE_F32) : type, NULL);
    }
    for (uint32_t i = 0; i < count; i++)
        out[i] = build_convert(b, out[i], ir_type_of(m, values[i])->element);
}

ir_builder opinion_begin(const ir_module *m, uint32_t inputs, uint32_t outputs) {
    ir_module *part = ir_module_like(m);
    const ir_op kernel = begin(part, m, inputs, outputs);
    return (ir_builder){.m = part, .block = ir_op_block(part, kernel, 0)};
}

compiler_instance *opinion_end(ir_builder *b, const ir_value *results, uint32_t count) {
    ir_build(b, &(ir_op_spec){.opcode = GRAPH_RETURN, .operands = results, .operand_count = count});
    return compiler_instance_new(b->m, (ir_bindings){0});
}

/* The copies of these values. */
static compiler_instance *end(ir_builder *b, const ir_value *values, uint32_t count,
                              const ir_value *copies) {
    ir_value *out = base_calloc((size_t)count + 1, sizeof *out);
    for (uint32_t i = 0; i < count; i++)
        out[i] = copies[values[i]];
    compiler_instance *made = opinion_end(b, out, count);
    free(out);
    return made;
}

compiler_instance *opinion_function(const ir_module *m, ir_block block, const opinion_view *view) {
    const ir_block_data *d = ir_block_get(m, block);
    const ir_op_data *last = ir_op_get(m, d->last);
    const uint32_t outputs = view->outputs ? view->output_count : last->operand_count,
                   own = d->argument_count, all = own + view->held_count;
    ir_builder b = opinion_begin(m, all, outputs);
    ir_value *copies = base_calloc((size_t)ir_value_count(m) + 1, sizeof *copies);
    ir_value *in = base_calloc((size_t)all + 1, sizeof *in);
    take(&b, m, d->arguments, own, view->widen, in);
    take(&b, m, view->held, view->held_count, view->widen, in + own);
    for (uint32_t i = 0; i < own; i++)
        copies[d->arguments[i]] = in[i];
    for (ir_op op = d->first; op != d->last; op = ir_op_get(m, op)->next) {
        ir_copy_op(&b, m, op, copies);
        for (uint32_t i = 0; i < view->held_count; i++)
            if (ir_value_get(m, view->held[i])->op == op)
                copies[view->held[i]] = in[own + i];
    }
    compiler_instance *made =
        end(&b, view->outputs ? view->outputs : last->operands, outputs, copies);
    free(in);
    free(copies);
    return made;
}

/* An operand that it takes twice comes in twice. */
compiler_instance *opinion_operation(const ir_module *m, ir_op op, bool widen) {
    const ir_op_data *d = ir_op_get(m, op);
    ir_builder b = opinion_begin(m, d->operand_count, d->result_count);
    ir_value *copies = base_calloc((size_t)ir_value_count(m) + 1, sizeof *copies);
    ir_value *in = base_calloc((size_t)d->operand_count + 1, sizeof *in);
    take(&b, m, d->operands, d->operand_count, widen, in);
    for (uint32_t i = 0; i < d->operand_count; i++)
        copies[d->operands[i]] = in[i];
    ir_op_set_operands(b.m, ir_copy_op(&b, m, op, copies), in, d->operand_count);
    compiler_instance *made = end(&b, d->results, d->result_count, copies);
    free(in);
    free(copies);
    return made;
}

/* ---- what they compute ---- */

uint32_t opinion_results(const compiler_instance *instance) {
    const ir_module *m = instance->graph;
    return ir_op_get(m, ir_kernel_body(m)->last)->operand_count;
}

/* Is there time for one more? */
static bool spend(opinion *o, compiler_instance *instance) {
    uint64_t elements = 0, products = 0;
    if (!compiler_steps(instance, &elements, &products, o->st))
        return false;
    const uint64_t all = elements + products;
    o->work -= all < INT32_MAX ? (int64_t)all : INT32_MAX;
    return o->work >= 0 || status_set(o->st, STATUS_UNAVAILABLE, "that is too much to compute");
}

bool opinion_interpret(opinion *o, compiler_instance *instance, const tensor *inputs, tensor *out) {
    return spend(o, instance) && compiler_interpret(instance, inputs, out, o->st);
}

bool opinion_reference(opinion *o, compiler_instance *instance, const tensor *inputs, tensor *out) {
    const uint32_t count = opinion_results(instance);
    tensor *bounds = tensors_new(count);
    const compiler_references r = {.values = out, .bounds = bounds, .unlimited = true};
    const bool ok = spend(o, instance) && compiler_reference(instance, inputs, &r, o->st);
    tensors_free(bounds);
    return ok;
}

bool opinion_part(const tensor *from, int64_t at, tensor *to, status *st) {
    if (!tensor_init(to, from->type, from->rank - 1, from->dims + 1, st))
        return false;
    const size_t bytes = tensor_bytes(to);
    memcpy(to->data, (const char *)from->data + (size_t)at * bytes, bytes);
    return true;
}

double *opinion_numbers(const tensor *t) {
    const int64_t count = tensor_count(t);
    double *out = base_calloc((size_t)count + 1, sizeof *out);
    for (int64_t i = 0; i < count; i++)
        out[i] = dtype_load(t->type, t->data, (size_t)i);
    return out;
}
