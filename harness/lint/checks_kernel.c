/* checks_kernel.c - what holds of a kernel over all of its cases. */
#include <stdlib.h>
#include <string.h>

#include "ir/opset.h"
#include "lint/lint_kernel.h"

enum { LANES = 16 };

ir_op lint_first_op(const ir_module *m) {
    return ir_kernel_body(m)->first;
}

const char *lint_op_name(const ir_module *m, ir_op op) {
    const char *name = op_info_get(ir_op_get(m, op)->opcode)->name, *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

bool lint_type_is_float(dtype type) {
    return type == DTYPE_F32 || type == DTYPE_F64 || type == DTYPE_F16 || type == DTYPE_BF16 ||
           type == DTYPE_TF32 || type == DTYPE_F8E4M3FN || type == DTYPE_F8E5M2;
}

int lint_input_of(const ir_module *m, ir_value value) {
    static const char *const moves[] = {"broadcast", "reshape", "transpose", "slice",
                                        "window",    "convert", "gather",    "pad"};
    for (;;) {
        const ir_value_data *v = ir_value_get(m, value);
        if (!v->op)
            return (int)v->index;
        const char *name = lint_op_name(m, v->op);
        bool moved = false;
        for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
            moved |= strcmp(moves[i], name) == 0;
        if (!moved)
            return -1;
        value = ir_op_get(m, v->op)->operands[0];
    }
}

/* Unused under all element types, or it is of use. */
static void unused_parameters(const lint_kernel *k) {
    const uint32_t count = k->kernel->parameter_count;
    bool *used = base_calloc((size_t)count + 1, sizeof *used);
    for (size_t i = 0; i < k->case_count; i++) {
        const ir_module *m = compiler_instance_graph(k->cases[i].instance);
        const ir_block_data *body = ir_kernel_body(m);
        uint32_t *uses = ir_count_uses(m);
        for (uint32_t p = 0; p < body->argument_count && p < count; p++)
            used[p] |= uses[body->arguments[p]] > 0;
        free(uses);
    }
    for (uint32_t p = 0; p < count; p++)
        if (!used[p])
            lint_add(k, LINT_UNUSED_PARAMETER,
                     lint_parameter_span(k, k->kernel->parameter_names[p]), NULL,
                     "no output of %s depends on '%s'", k->kernel->name,
                     k->kernel->parameter_names[p]);
    free(used);
}

static bool same_dims(const compiler_case *a, const compiler_case *b) {
    if (a->dim_count != b->dim_count || a->type_count != b->type_count)
        return false;
    for (uint32_t i = 0; i < a->dim_count; i++)
        if (strcmp(a->dims[i].name, b->dims[i].name) != 0 || a->dims[i].value != b->dims[i].value)
            return false;
    for (uint32_t i = 0; i < a->type_count; i++)
        if (strcmp(a->types[i].name, b->types[i].name) != 0 || a->types[i].type != b->types[i].type)
            return false;
    return true;
}

static bool says(const compiler_case *c, const compiler_constant *constant) {
    for (uint32_t i = 0; i < c->constant_count; i++)
        if (strcmp(c->constants[i].name, constant->name) == 0 &&
            strcmp(c->constants[i].text, constant->text) == 0)
            return true;
    return false;
}

static bool same_constants(const compiler_case *a, const compiler_case *b) {
    bool same = a->constant_count == b->constant_count;
    for (uint32_t i = 0; i < a->constant_count && same; i++)
        same = says(b, &a->constants[i]);
    return same;
}

static bool same_inputs(const lint_kernel *k, const compiler_case *a, const compiler_case *b) {
    for (uint32_t i = 0; i < k->kernel->parameter_count; i++)
        if (a->inputs[i].kind != b->inputs[i].kind || a->inputs[i].a != b->inputs[i].a ||
            a->inputs[i].b != b->inputs[i].b)
            return false;
    return true;
}

static void duplicate_cases(const lint_kernel *k) {
    for (size_t i = 1; i < k->case_count; i++)
        for (size_t j = 0; j < i; j++) {
            const compiler_case *a = k->cases[j].c, *b = k->cases[i].c;
            if (!same_dims(a, b) || !same_constants(a, b) || !same_inputs(k, a, b))
                continue;
            lint_add(k, LINT_DUPLICATE_CASE, lint_case_span(k, b), b,
                     "case %s has the dimensions, types and inputs of case %s", b->name, a->name);
            break;
        }
}

/* Dimensions of the buffers, which count, whatever the symbols are. */
static bool is_ragged(const struct compiler_buffer *buffers, uint32_t count, bool *any) {
    for (uint32_t i = 0; i < count; i++)
        for (int d = 0; d < buffers[i].rank; d++) {
            *any = true;
            if (buffers[i].dims[d] % LANES != 0)
                return true;
        }
    return false;
}

static void ragged_cases(const lint_kernel *k) {
    bool any = false;
    for (size_t i = 0; i < k->case_count; i++) {
        const compiler_signature *s = &k->cases[i].signature;
        if (is_ragged(s->inputs, s->input_count, &any) ||
            is_ragged(s->outputs, s->output_count, &any))
            return;
    }
    if (any && !k->report->given)
        lint_add(k, LINT_NO_RAGGED_CASE, lint_kernel_span(k), NULL,
                 "every dimension of every case of %s is a multiple of %d", k->kernel->name, LANES);
}

void lint_check_kernel(const lint_kernel *k) {
    unused_parameters(k);
    duplicate_cases(k);
    ragged_cases(k);
}
