/* attempt_numerics.c - outputs against what the kernel's @verify.numerics promises. */
#include <stdio.h>
#include <string.h>

#include "check/compare.h"
#include "relations/attempt.h"

static void try_bounds(attempt *t, const tensor *plain, const compiler_numerics *n) {
    for (uint32_t i = 0; i < t->shape->signature.output_count && !t->violation.found; i++) {
        range_check c = compare_range(&plain[i], n->low, n->high);
        char between[100];
        if (!c.beyond)
            continue;
        bool below = dtype_load(plain[i].type, plain[i].data, (size_t)c.first) < n->low;
        uint64_t bound = 0;
        dtype_store(plain[i].type, &bound, 0, below ? n->low : n->high);
        snprintf(between, sizeof between, "the result and the %s bound, %.17g",
                 below ? "lower" : "upper", below ? n->low : n->high);
        attempt_element(t, i, &plain[i], c.first, bound, between);
    }
}

static bool are_finite(const attempt *t, const tensor *plain) {
    int64_t beyond = 0;
    for (uint32_t i = 0; i < t->shape->signature.output_count; i++)
        beyond += compare_finite(NULL, &plain[i]).beyond;
    return beyond == 0;
}

/* An overflow on the way ends in a number: the first element that it shows in, else the first. */
static void tell_escape(attempt *t, const tensor *plain, const tensor *references,
                        const compiler_escape *e) {
    char between[sizeof t->violation.between];
    uint32_t output = 0;
    int64_t at = -1;
    uint64_t wanted = 0;
    snprintf(between, sizeof between,
             "the result and the f64 reference: on the way '%s' in line %u gives %g, not %.9g",
             e->operation, e->line, e->value, e->reference);
    for (uint32_t i = 0; i < t->shape->signature.output_count && at < 0; i++)
        for (int64_t k = 0; k < tensor_count(&plain[i]) && at < 0; k++) {
            wanted = 0;
            dtype_store(plain[i].type, &wanted, 0, ((const double *)references[i].data)[k]);
            if (wanted != dtype_load_bits(plain[i].type, plain[i].data, (size_t)k)) {
                output = i;
                at = k;
            }
        }
    attempt_element(t, output, &plain[output], at < 0 ? 0 : at, wanted, between);
}

/* Ours goes the formula's way; what code of others does on its way is its own. */
static bool find_escape(const attempt *t, compiler_escape *out, status *st) {
    *out = (compiler_escape){.found = false};
    return t->request->column->with ||
           compiler_find_escape(t->shape->instance, t->shape->inputs, out, st);
}

static bool try_stable(attempt *t, const tensor *plain, status *st) {
    compiler_escape e;
    bool ok = find_escape(t, &e, st);
    if (!ok || (are_finite(t, plain) && !e.found))
        return ok;
    const uint32_t count = t->shape->signature.output_count;
    tensor *references = tensors_new(count), *bounds = tensors_new(count);
    const compiler_references out = {.values = references, .bounds = bounds, .unlimited = true};
    ok = compiler_reference(t->shape->instance, t->shape->inputs, &out, st);
    for (uint32_t i = 0; ok && references[i].data && !t->violation.found; i++) {
        range_check c = compare_finite(&references[i], &plain[i]);
        uint64_t wanted = 0;
        if (!c.beyond)
            continue;
        dtype_store(plain[i].type, &wanted, 0, ((const double *)references[i].data)[c.first]);
        attempt_element(t, i, &plain[i], c.first, wanted, "the result and the f64 reference");
    }
    if (ok && e.found && !t->violation.found)
        tell_escape(t, plain, references, &e);
    tensors_free(references);
    tensors_free(bounds);
    return ok;
}

bool attempt_numerics(attempt *t, const tensor *plain, status *st) {
    const compiler_numerics *n = t->request->column->kernel->numerics;
    if (n->bounded)
        try_bounds(t, plain, n);
    return !n->stable || t->violation.found || try_stable(t, plain, st);
}
