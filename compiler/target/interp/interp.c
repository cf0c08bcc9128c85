/* interp.c - the oracle: evaluates the primitives of an instance, one after the other.
 *
 * No optimising pass runs, nothing is fused, every operation rounds by itself: its result is what
 * every backend must give under strict. A value is freed after its last use. */
#include "target/interp/interp.h"

#include <stdlib.h>
#include <string.h>

#include "graph/passes.h"
#include "ir/blob.h"
#include "ops/control.h"
#include "target/interp/interp_walk.h"
#include "tessera/compiler.h"

static const ir_block_data *kernel_block(const ir_module *m) {
    return ir_kernel_body(m);
}

bool interp_check_inputs(const ir_module *m, const tensor *inputs, status *st) {
    const ir_block_data *block = kernel_block(m);
    for (uint32_t i = 0; i < block->argument_count; i++) {
        const ir_type_data *d = ir_type_of(m, block->arguments[i]);
        bool fits = d->element == inputs[i].type && d->rank == inputs[i].rank;
        for (int k = 0; fits && k < d->rank; k++)
            fits = d->dims[k] == inputs[i].dims[k];
        if (!fits)
            return status_set(st, STATUS_INVALID,
                              "input %u has not the type and shape that the kernel expects", i);
    }
    return true;
}

bool interp_allocate(const ir_module *m, ir_value value, dtype type, tensor *out, status *st) {
    const ir_type_data *d = ir_type_of(m, value);
    return tensor_init(out, type ? type : d->element, d->rank, d->dims, st);
}

const char *interp_text(const interp_step *s, const char *attribute) {
    return ir_op_string(s->m, s->op, attribute, "");
}

bool interp_accumulates_f64(const interp_step *s) {
    return graph_accumulate_type(s->m, s->op) == DTYPE_F64;
}

const char *interp_kernel_text(const interp_step *s, const char *attribute) {
    return ir_op_string(s->m, ir_module_kernel(s->m), attribute, "");
}

/* ---- generators ---- */

static void iota(const interp_step *s) {
    int axis = (int)ir_op_int(s->m, s->op, "axis", 0);
    int64_t inner = 1, count = tensor_count(s->out);
    for (int i = axis + 1; i < s->out->rank; i++)
        inner *= s->out->dims[i];
    for (int64_t i = 0; i < count; i++)
        ((int32_t *)s->out->data)[i] = (int32_t)(i / inner % s->out->dims[axis]);
}

bool interp_generate(const interp_step *s, status *st) {
    if (s->opcode == GRAPH_IOTA) {
        iota(s);
        return true;
    }
    const ir_attr_data *value = ir_attr_get(s->m, ir_op_attr(s->m, s->op, "value"));
    if (s->opcode == GRAPH_DENSE) {
        memcpy(s->out->data, value->blob->bytes, value->blob->size_bytes);
        return true;
    }
    if (s->opcode != GRAPH_CONSTANT || value->kind != IR_ATTR_BITS)
        return status_set(st, STATUS_INTERNAL, "the interpreter has no generator '%s'",
                          op_info_get(s->opcode)->name);
    memcpy(s->out->data, &value->bits, dtype_size(s->out->type));
    return true;
}

void interp_repeat(tensor *t) {
    const size_t size = dtype_size(t->type);
    for (int64_t i = 1; i < tensor_count(t); i++)
        memcpy((char *)t->data + (size_t)i * size, t->data, size);
}

/* ---- one operation ---- */

bool interp_evaluate(const interp_step *s, status *st) {
    switch (graph_op_class(s->opcode)) {
    case GRAPH_CLASS_GENERATOR:
    case GRAPH_CLASS_STORED:
        return interp_generate(s, st);
    case GRAPH_CLASS_ELEMENTWISE:
        return interp_elementwise(s, st);
    case GRAPH_CLASS_MOVE:
        return interp_move(s, st);
    case GRAPH_CLASS_REDUCE:
        return interp_reduce(s, st);
    case GRAPH_CLASS_DOT:
        return interp_dot(s, st);
    case GRAPH_CLASS_SCAN:
        return interp_scan(s, st);
    default:
        return status_set(st, STATUS_INTERNAL, "'%s' is no primitive",
                          op_info_get(s->opcode)->name);
    }
}

static void count_down(interpreter *in, const ir_op_data *d) {
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (--in->uses[d->operands[i]] == 0)
            tensor_release(&in->values[d->operands[i]]);
    for (uint32_t i = 0; i < d->result_count; i++)
        if (in->uses[d->results[i]] == 0)
            tensor_release(&in->values[d->results[i]]);
}

/* Room in the value's own shape, or a lane for each scalar. */
static bool allocate(const interpreter *in, ir_value v, tensor *out) {
    dtype element = ir_type_of(in->m, v)->element;
    return in->lanes ? tensor_init(out, element, 1, &in->lanes, in->st)
                     : interp_allocate(in->m, v, DTYPE_NONE, out, in->st);
}

static bool step(interpreter *in, ir_op op) {
    const ir_op_data *d = ir_op_get(in->m, op);
    if (control_has_blocks(d->opcode) || d->opcode == GRAPH_CALL || d->opcode == GRAPH_FOLD ||
        d->opcode == GRAPH_EXCHANGE) {
        bool ran = d->opcode == GRAPH_CALL       ? interp_call(in, op)
                   : d->opcode == GRAPH_FOLD     ? interp_folded(in, op)
                   : d->opcode == GRAPH_EXCHANGE ? interp_exchange(in, op)
                                                 : interp_control(in, op);
        if (ran)
            count_down(in, d);
        return ran;
    }
    const tensor **operands = base_malloc(sizeof *operands * (d->operand_count + 1));
    for (uint32_t i = 0; i < d->operand_count; i++)
        operands[i] = &in->values[d->operands[i]];
    tensor *out = &in->values[d->results[0]];
    interp_step s = {in->m, op, d->opcode, operands, d->operand_count, out};
    bool ok = allocate(in, d->results[0], out) && interp_evaluate(&s, in->st);
    free(operands);
    if (ok && in->lanes && d->operand_count == 0)
        interp_repeat(out);
    if (ok)
        count_down(in, d);
    return ok;
}

static bool copy_out(interpreter *in, ir_value value, tensor *out) {
    if (!interp_allocate(in->m, value, DTYPE_NONE, out, in->st))
        return false;
    memcpy(out->data, in->values[value].data, tensor_bytes(out));
    interp_canonical(out);
    return true;
}

static bool give_outputs(interpreter *in, const ir_op_data *ret, tensor *outputs) {
    for (uint32_t i = 0; i < ret->operand_count; i++)
        if (!copy_out(in, ret->operands[i], &outputs[i])) {
            while (i > 0)
                tensor_release(&outputs[--i]);
            return false;
        }
    return true;
}

bool interp_run(interpreter *in, ir_op first) {
    for (ir_op op = first; op && ir_op_get(in->m, op)->result_count;
         op = ir_op_get(in->m, op)->next)
        if (!step(in, op))
            return false;
    return true;
}

static bool run(interpreter *in, tensor *outputs) {
    const ir_block_data *block = kernel_block(in->m);
    if (!interp_run(in, block->first))
        return false;
    if (!block->last || ir_op_get(in->m, block->last)->opcode != GRAPH_RETURN)
        return status_set(in->st, STATUS_INTERNAL, "the kernel does not return");
    return give_outputs(in, ir_op_get(in->m, block->last), outputs);
}

static void borrow_inputs(interpreter *in, const tensor *inputs) {
    const ir_block_data *block = kernel_block(in->m);
    for (uint32_t i = 0; i < block->argument_count; i++) {
        in->values[block->arguments[i]] = inputs[i];
        in->uses[block->arguments[i]] += 1; /* borrowed: never the last use */
    }
}

void interp_values_release(const ir_module *m, tensor *values) {
    const ir_block_data *block = kernel_block(m);
    for (uint32_t i = 0; i < block->argument_count; i++)
        values[block->arguments[i]] = (tensor){0};
    for (uint32_t i = 1; i <= ir_value_count(m); i++)
        tensor_release(&values[i]);
}

bool interp_values(const ir_module *m, const tensor *inputs, const interp_watch *watch,
                   tensor *values, status *st) {
    tensor *outputs = tensors_new(ir_op_get(m, kernel_block(m)->last)->operand_count);
    uint32_t *counts = ir_count_uses(m);
    interpreter in = {.m = m,
                      .values = values,
                      .uses = ir_count_uses(m),
                      .counts = counts,
                      .watch = watch,
                      .st = st};
    for (uint32_t i = 1; i <= ir_value_count(m); i++) {
        in.uses[i]++; /* kept */
        counts[i] += watch != NULL;
    }
    bool ok = interp_check_inputs(m, inputs, st);
    borrow_inputs(&in, inputs);
    ok = ok && run(&in, outputs);
    tensors_free(outputs);
    free(in.uses);
    free(counts);
    return ok;
}

bool interp_module(const ir_module *m, const tensor *inputs, tensor *outputs, status *st) {
    return interp_module_of(m, NULL, 0, inputs, outputs, st);
}

bool interp_module_of(const ir_module *m, interp_meeting *meeting, uint32_t rank,
                      const tensor *inputs, tensor *outputs, status *st) {
    uint32_t *counts = ir_count_uses(m);
    interpreter in = {.m = m,
                      .uses = ir_count_uses(m),
                      .counts = counts,
                      .meeting = meeting,
                      .rank = rank,
                      .st = st};
    in.values = base_calloc(ir_value_count(m) + 1, sizeof *in.values);
    bool ok = interp_check_inputs(m, inputs, st);
    borrow_inputs(&in, inputs);
    ok = ok && run(&in, outputs);
    interp_values_release(m, in.values);
    free(in.values);
    free(in.uses);
    free(counts);
    return ok;
}

bool compiler_interpret(compiler_instance *instance, const tensor *inputs, tensor *outputs,
                        status *st) {
    const ir_module *m = compiler_primitives(instance, st);
    if (!m || !graph_require_formula(m, st))
        return false;
    return interp_module(m, inputs, outputs, st);
}
