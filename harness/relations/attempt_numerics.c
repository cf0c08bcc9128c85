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

static bool try_stable(attempt *t, const tensor *plain, status *st) {
    tensor references[COMPILER_MAX_PARAMETERS] = {{0}}, bounds[COMPILER_MAX_PARAMETERS] = {{0}};
    const compiler_references out = {.values = references, .bounds = bounds, .unlimited = true};
    bool ok =
        are_finite(t, plain) || compiler_reference(t->shape->instance, t->shape->inputs, &out, st);
    for (uint32_t i = 0; ok && references[i].data && !t->violation.found; i++) {
        range_check c = compare_finite(&references[i], &plain[i]);
        uint64_t wanted = 0;
        if (!c.beyond)
            continue;
        dtype_store(plain[i].type, &wanted, 0, ((const double *)references[i].data)[c.first]);
        attempt_element(t, i, &plain[i], c.first, wanted, "the result and the f64 reference");
    }
    tensor_release_all(references, COMPILER_MAX_PARAMETERS);
    tensor_release_all(bounds, COMPILER_MAX_PARAMETERS);
    return ok;
}

bool attempt_numerics(attempt *t, const tensor *plain, status *st) {
    const compiler_numerics *n = t->request->subject->kernel->numerics;
    if (n->bounded)
        try_bounds(t, plain, n);
    return !n->stable || t->violation.found || try_stable(t, plain, st);
}
