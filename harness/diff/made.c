/* made.c - tensors that two ways made, side by side; the operation from which they part. */
#include "diff/made.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "check/verdict.h"
#include "diff/describe.h"
#include "diff/first_op.h"
#include "implementation/implementation.h"

/* ---- the outputs ---- */

/* Error over bound against the f64 reference; negative where that is too much work. */
static double worst_error(const made *r, const made *reference, uint32_t output) {
    status ignored = STATUS_INIT;
    case_context *s = reference->context;
    if (s->c->large || !case_context_reference(s, &ignored))
        return -1;
    return verdict_bound(s, output, &r->outputs[output]).worst;
}

static json_t *known_or_null(double value) {
    return value >= 0 && isfinite(value) ? json_real(value) : json_null();
}

static void compare_output(const made *a, const made *b, uint32_t i, text *out, json_t *list) {
    const tensor *left = &a->outputs[i], *right = &b->outputs[i];
    element_diff d;
    elements_diff(left->type, left->data, right->data, tensor_count(left), &d);
    element_pair pair = {left->type, left->rank, left->dims, "A", "B", &d};
    double a_error = worst_error(a, a, i), b_error = worst_error(b, a, i);
    const char *name = a->context->signature.outputs[i].name;
    text_show(out, "  output %s, ", name);
    text lines;
    text_init(&lines);
    describe_elements(&pair, "  ", &lines);
    text_append(out, lines.data + 2);
    text_release(&lines);
    if (a_error >= 0)
        text_show(out, "  error against f64, as a share of its bound: A %.3g, B %.3g\n", a_error,
                  b_error);
    else
        text_append(out, "  error against f64: not computed for a large case\n");
    json_t *entry = describe_elements_json(&pair);
    json_object_set_new(entry, "name", json_string(name));
    json_object_set_new(entry, "a_error_over_bound", known_or_null(a_error));
    json_object_set_new(entry, "b_error_over_bound", known_or_null(b_error));
    json_array_append_new(list, entry);
}

static bool same_shapes(const made *a, const made *b) {
    const compiler_signature *x = &a->context->signature, *y = &b->context->signature;
    bool same = x->output_count == y->output_count;
    for (uint32_t i = 0; i < x->output_count && same; i++) {
        same = x->outputs[i].type == y->outputs[i].type && x->outputs[i].rank == y->outputs[i].rank;
        for (int axis = 0; axis < x->outputs[i].rank && same; axis++)
            same = x->outputs[i].dims[axis] == y->outputs[i].dims[axis];
    }
    return same;
}

/* ---- the first operation ---- */

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Functions of others are what they are; a compiler takes parts of a kernel, too. */
static bool can_be_cut(const made *m) {
    const compute_how *how = &m->request.how;
    return !how->implementation || implementation_is_backend((implementation_kind)how->kind);
}

static bool ways_differ(const made *a, const made *b) {
    const compute_how *x = &a->request.how, *y = &b->request.how;
    return !same_text(x->backend, y->backend) || !same_text(x->device, y->device) ||
           !same_text(x->profile, y->profile) || !same_text(x->isa, y->isa) ||
           !same_text(x->fault, y->fault) || !same_text(x->implementation, y->implementation) ||
           x->threads != y->threads;
}

static void describe_operation(const first_op *f, const char *path, text *out) {
    text_show(out, "%%%u = \"%s\" (%s", f->number, f->name, path);
    if (f->line)
        text_show(out, ":%u", f->line);
    if (f->column)
        text_show(out, ":%u", f->column);
    text_append_char(out, ')');
}

static void tell_first_op(const first_op *f, const char *path, text *out) {
    if (f->found) {
        element_pair pair = {f->type, f->rank, f->dims, "A", "B", &f->found_diff};
        text_append(out, "  first differing operation: ");
        describe_operation(f, path, out);
        text_show(out, "%s\n", f->bisected ? ", found by bisection" : "");
        if (f->whole)
            text_append(out, "    in the kernel's outputs; run by itself no operation differs\n");
        describe_first(&pair, "    ", out);
        if (f->has_exact)
            text_show(
                out,
                "      exact %.17g, and any order and function is within %.3g of it: A is off "
                "by %.3g bounds, B by %.3g\n",
                f->exact, f->bound, f->a_error, f->b_error);
    } else {
        text_show(out, "  no operation of %u differs by itself\n", f->operations);
    }
    if (f->unknown)
        text_show(out, "  %u of %u operations could not be run on both sides: %s\n", f->unknown,
                  f->operations, f->why_unknown);
}

static json_t *first_op_json(const first_op *f) {
    if (!f->found)
        return json_null();
    element_pair pair = {f->type, f->rank, f->dims, "A", "B", &f->found_diff};
    json_t *object = describe_elements_json(&pair);
    json_object_set_new(object, "operation", json_string(f->name));
    json_object_set_new(object, "number", json_integer(f->number));
    json_object_set_new(object, "line", f->line ? json_integer(f->line) : json_null());
    json_object_set_new(object, "column", f->line ? json_integer(f->column) : json_null());
    json_object_set_new(object, "whole_kernel_only", json_boolean(f->whole));
    json_object_set_new(object, "bisected", json_boolean(f->bisected));
    json_object_set_new(object, "exact", f->has_exact ? json_real(f->exact) : json_null());
    json_object_set_new(object, "bound", f->has_exact ? json_real(f->bound) : json_null());
    json_object_set_new(object, "a_error_over_bound",
                        f->has_exact ? known_or_null(f->a_error) : json_null());
    json_object_set_new(object, "b_error_over_bound",
                        f->has_exact ? known_or_null(f->b_error) : json_null());
    return object;
}

static void search_first_op(const made *a, const made *b, text *out, json_t *entry) {
    status st = STATUS_INIT;
    first_op found;
    if (!first_op_find(&a->request, &b->request, a->outputs, b->outputs, !a->context->c->large,
                       &found, &st)) {
        text_show(out, "  the first differing operation is not known: %s\n", st.message);
        return;
    }
    tell_first_op(&found, a->context->path, out);
    json_object_set_new(entry, "first_operation", first_op_json(&found));
}

void made_compare(const made *a, const made *b, text *out, json_t *entry) {
    json_t *list = json_array();
    if (!same_shapes(a, b)) {
        text_append(out, "  the outputs are of different types or shapes\n");
        json_object_set_new(entry, "why", json_string("outputs of different types or shapes"));
    } else {
        for (uint32_t i = 0; i < a->context->signature.output_count; i++)
            compare_output(a, b, i, out, list);
        if (!can_be_cut(a) || !can_be_cut(b))
            text_append(out,
                        "  code of others has no operations that could be run by themselves\n");
        else if (ways_differ(a, b))
            search_first_op(a, b, out, entry);
    }
    json_object_set_new(entry, "outputs", list);
}
