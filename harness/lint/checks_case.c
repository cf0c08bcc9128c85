/* checks_case.c - what the inputs of cases can show, and whether they fit. */
#include <inttypes.h>

#include "device/host/host.h"
#include "lint/lint_kernel.h"

static int64_t elements_of(const struct compiler_buffer *b) {
    int64_t count = 1;
    for (int i = 0; i < b->rank; i++)
        if (__builtin_mul_overflow(count, b->dims[i], &count))
            return INT64_MAX;
    return count;
}

static bool is_blind(const lint_case *c) {
    bool many = false;
    for (uint32_t i = 0; i < c->signature.input_count; i++) {
        if (c->c->inputs[i].kind != INPUT_CONSTANT)
            return false;
        many |= elements_of(&c->signature.inputs[i]) > 1;
    }
    return many;
}

/* A case of special values is one among others; where all are such, no wrong place shows. */
static void blind(const lint_kernel *k) {
    for (size_t i = 0; i < k->case_count; i++)
        if (!is_blind(&k->cases[i]))
            return;
    lint_add(k, LINT_BLIND_CASES, lint_kernel_span(k), NULL,
             "the inputs of %s are constants in every case", k->kernel->name);
}

static bool same_shape(const struct compiler_buffer *a, const struct compiler_buffer *b) {
    bool same = a->type == b->type && a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = a->dims[i] == b->dims[i];
    return same;
}

static bool are_told_apart(const lint_case *c, uint32_t x, uint32_t y) {
    const compiler_input *a = &c->c->inputs[x], *b = &c->c->inputs[y];
    return a->kind != INPUT_CONSTANT || b->kind != INPUT_CONSTANT || a->a != b->a ||
           !same_shape(&c->signature.inputs[x], &c->signature.inputs[y]);
}

static void same_operands(const lint_kernel *k) {
    for (uint32_t y = 1; y < k->kernel->parameter_count; y++)
        for (uint32_t x = 0; x < y; x++) {
            bool apart = false;
            for (size_t i = 0; i < k->case_count && !apart; i++)
                apart = are_told_apart(&k->cases[i], x, y);
            if (!apart)
                lint_add(
                    k, LINT_SAME_OPERANDS, lint_parameter_span(k, k->kernel->parameter_names[y]),
                    NULL, "'%s' and '%s' are the same constant in every case of %s",
                    k->kernel->parameter_names[x], k->kernel->parameter_names[y], k->kernel->name);
        }
}

static void too_big(const lint_kernel *k, const lint_case *c) {
    uint64_t memory = host_memory_bytes();
    if (memory && c->bytes > memory)
        lint_add(k, LINT_TOO_BIG, lint_case_span(k, c->c), c->c,
                 "case %s needs %.1f GiB for inputs and outputs; this machine has %.1f GiB",
                 c->c->name, (double)c->bytes / 0x1p30, (double)memory / 0x1p30);
}

void lint_check_cases(const lint_kernel *k) {
    blind(k);
    same_operands(k);
    for (size_t i = 0; i < k->case_count; i++)
        too_big(k, &k->cases[i]);
}
