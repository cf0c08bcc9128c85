/* first_op.c - graphs cut short, run on both sides. */
#include "diff/first_op.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "ir/opset.h"
#include "launch/launch.h"

typedef struct search {
    const compute_request *a, *b;
    const ir_module *primitives; /* of a */
    VEC(ir_op) operations;       /* of the primitives, without the return */
    ir_op end;                   /* the return */
    first_op *out;
} search;

static ir_block body_of(const ir_module *m) {
    return ir_op_block(m, ir_module_kernel(m), 0);
}

static void list_operations(search *s) {
    for (ir_op op = ir_block_get(s->primitives, body_of(s->primitives))->first; op;) {
        ir_op next = ir_op_get(s->primitives, op)->next;
        if (next)
            vec_push(&s->operations, op);
        else
            s->end = op;
        op = next;
    }
}

/* ---- a graph that returns what operation `position` computes ---- */

static compiler_instance *cut_after(const search *s, size_t position) {
    ir_module *m = ir_module_clone(s->primitives);
    ir_op op = ir_block_get(m, body_of(m))->first, last = ir_block_get(m, body_of(m))->last;
    for (size_t i = 0; i < position; i++)
        op = ir_op_get(m, op)->next;
    const ir_op_data *d = ir_op_get(m, op);
    uint32_t count = d->result_count;
    ir_attr *names = base_calloc((size_t)count + 1, sizeof *names);
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "result%u", i);
        names[i] = ir_attr_string(m, name);
    }
    ir_op_set_operands(m, last, d->results, count);
    ir_op_set_attr(m, ir_module_kernel(m), "outputs", ir_attr_array(m, names, count));
    ir_op_remove_attr(m, ir_module_kernel(m), "donated");
    ir_op_remove_attr(m, ir_module_kernel(m), "effects");
    free(names);
    for (ir_op after = ir_op_get(m, last)->previous; after != op;) {
        ir_op previous = ir_op_get(m, after)->previous;
        ir_op_erase(m, after);
        after = previous;
    }
    return compiler_instance_new(m, (ir_bindings){0});
}

static bool run_cut(const compute_request *whole, compiler_instance *cut,
                    const compiler_signature *signature, tensor *outputs, status *st) {
    compute_request r = *whole;
    r.how.part = true;
    status with_fault = STATUS_INIT;
    r.instance = cut;
    r.signature = signature;
    if (compute_outputs(&r, outputs, &with_fault))
        return true;
    /* A fault of the compiler's has no place in every operation. */
    if (!r.how.fault || with_fault.code != STATUS_UNAVAILABLE)
        return status_set(st, with_fault.code, "%s", with_fault.message);
    r.how.fault = NULL;
    return compute_outputs(&r, outputs, st);
}

static void note_difference(first_op *out, uint32_t which, const tensor *a, const element_diff *d) {
    out->found = true;
    out->result = which;
    out->found_diff = *d;
    out->type = a->type;
    out->rank = a->rank;
    memcpy(out->dims, a->dims, sizeof out->dims);
}

static bool outputs_differ(first_op *out, const tensor *a, const tensor *b, uint32_t count,
                           uint32_t *which) {
    for (*which = 0; *which < count; ++*which) {
        element_diff d;
        const tensor *left = &a[*which], *right = &b[*which];
        elements_diff(left->type, left->data, right->data, tensor_count(left), &d);
        if (d.differing == 0 && d.nan_payloads == 0)
            continue;
        note_difference(out, *which, left, &d);
        return true;
    }
    return false;
}

/* True where the results of that operation differ; false also where a side could not run it. */
static bool differs_at(search *s, size_t position) {
    status st = STATUS_INIT;
    compiler_signature signature;
    compiler_instance *cut = cut_after(s, position);
    tensor *a = NULL, *b = NULL;
    uint32_t which;
    bool differs = false;
    bool ok = compiler_signature_of(cut, &signature, &st);
    if (ok) {
        a = tensors_new(signature.output_count);
        b = tensors_new(signature.output_count);
        ok = run_cut(s->a, cut, &signature, a, &st) && run_cut(s->b, cut, &signature, b, &st);
    }
    if (ok)
        differs = outputs_differ(s->out, a, b, signature.output_count, &which);
    else if (s->out->unknown++ == 0)
        snprintf(s->out->why_unknown, sizeof s->out->why_unknown, "%.255s", st.message);
    tensors_free(a);
    tensors_free(b);
    compiler_instance_free(cut);
    return differs;
}

/* ---- which operation ---- */

static size_t first_in_order(search *s) {
    for (size_t i = 0; i < s->operations.count; i++)
        if (differs_at(s, i))
            return i;
    return s->operations.count;
}

/* The least position that differs, if all after it do. */
static size_t first_by_halves(search *s) {
    size_t low = 0, high = s->operations.count;
    s->out->bisected = true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (differs_at(s, middle))
            high = middle;
        else
            low = middle + 1;
    }
    /* Kept results are of the last that differed, which is this one. */
    return low;
}

/* As the printer numbers results: one number an operation that has any. */
static uint32_t number_of(const search *s, size_t position) {
    uint32_t number = 0;
    for (size_t i = 0; i < position; i++)
        number += ir_op_get(s->primitives, s->operations.items[i])->result_count > 0;
    return number;
}

static void name_operation(search *s, size_t position) {
    const ir_op_data *d = ir_op_get(s->primitives, s->operations.items[position]);
    s->out->number = number_of(s, position);
    s->out->line = d->location.line;
    s->out->column = d->location.column;
    snprintf(s->out->name, sizeof s->out->name, "%s", op_info_get(d->opcode)->name);
}

/* ---- what is right ---- */

static double in_bounds(double got, const first_op *f) {
    const double error = fabs(got - f->exact);
    return error == 0 ? 0 : f->bound > 0 ? error / f->bound : INFINITY;
}

static void note_exact(first_op *f, const compiler_references *found) {
    const size_t at = (size_t)f->found_diff.first;
    f->exact = ((const double *)found->values[f->result].data)[at];
    f->bound = ((const double *)found->bounds[f->result].data)[at];
    f->has_exact = isfinite(f->exact) && isfinite(f->bound);
    f->a_error = in_bounds(dtype_load(f->type, &f->found_diff.first_a, 0), f);
    f->b_error = in_bounds(dtype_load(f->type, &f->found_diff.first_b, 0), f);
}

/* From the kernel's inputs on. */
static void find_exact(search *s, size_t position) {
    status ignored = STATUS_INIT;
    compiler_signature signature;
    compiler_instance *cut = cut_after(s, position);
    if (compiler_signature_of(cut, &signature, &ignored)) {
        const compiler_references found = {.values = tensors_new(signature.output_count),
                                           .bounds = tensors_new(signature.output_count)};
        if (compiler_reference(cut, s->a->inputs, &found, &ignored))
            note_exact(s->out, &found);
        tensors_free(found.values);
        tensors_free(found.bounds);
    }
    compiler_instance_free(cut);
}

/* No prefix differs: what makes the output that does. */
static void look_at_whole(search *s, const tensor *a, const tensor *b) {
    uint32_t which;
    if (!outputs_differ(s->out, a, b, s->a->signature->output_count, &which))
        return;
    ir_value value = ir_op_get(s->primitives, s->end)->operands[which];
    ir_op made_by = ir_value_get(s->primitives, value)->op;
    s->out->whole = true;
    for (size_t i = 0; i < s->operations.count; i++)
        if (s->operations.items[i] == made_by)
            name_operation(s, i);
}

/* Parameters: two ways, what each made, and what is to be found of them. */
bool first_op_find(const compute_request *a, const compute_request *b, const tensor *a_outputs,
                   const tensor *b_outputs, bool exact, first_op *out, status *st) {
    search s = {.a = a, .b = b, .out = out};
    *out = (first_op){0};
    s.primitives = compiler_primitives(a->instance, st);
    if (!s.primitives)
        return false;
    list_operations(&s);
    out->operations = (uint32_t)s.operations.count;
    size_t position =
        s.operations.count <= FIRST_OP_IN_ORDER ? first_in_order(&s) : first_by_halves(&s);
    if (position < s.operations.count) {
        name_operation(&s, position);
        if (exact)
            find_exact(&s, position);
    } else
        look_at_whole(&s, a_outputs, b_outputs);
    vec_release(&s.operations);
    return true;
}
