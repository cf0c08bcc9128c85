/* attempt_rules.c - derivatives by rules of functions beside those of the functions themselves: two
 * formulas of the same values, whose f64 references are apart by no more than both error bounds. */
#include <math.h>

#include "relations/attempt.h"

/* One formula's references and bounds, by output. */
typedef struct formula {
    tensor *values, *bounds;
} formula;

static double at(const tensor *t, int64_t i) {
    return ((const double *)t->data)[i];
}

/* The first element that is not judged equal; -1: none. Not judged are elements without a bound,
 * and those of which the function's derivative is no number: a rule may be there to avoid that. */
static int64_t first_apart(const formula *rules, const formula *derived, uint32_t output) {
    for (int64_t i = 0; i < tensor_count(&derived->values[output]); i++) {
        const double own = at(&rules->values[output], i), wanted = at(&derived->values[output], i);
        const double bound = at(&rules->bounds[output], i) + at(&derived->bounds[output], i);
        if (isfinite(wanted) && (!isfinite(own) || fabs(own - wanted) > bound))
            return i;
    }
    return -1;
}

static bool refer(const attempt *t, const shape *s, formula *f, status *st) {
    f->values = tensors_new(s->signature.output_count);
    f->bounds = tensors_new(s->signature.output_count);
    const compiler_references out = {.values = f->values, .bounds = f->bounds};
    return compiler_reference(s->instance, t->shape->inputs, &out, st);
}

static void forget(formula *f) {
    tensors_free(f->values);
    tensors_free(f->bounds);
}

static void compare(attempt *t, const tensor *plain, const formula *rules, const formula *derived) {
    for (uint32_t i = 0; i < t->shape->signature.output_count && !t->violation.found; i++) {
        const int64_t flat =
            rules->values[i].data && derived->values[i].data ? first_apart(rules, derived, i) : -1;
        uint64_t other = 0;
        if (flat < 0)
            continue;
        dtype_store(plain[i].type, &other, 0, at(&derived->values[i], flat));
        attempt_element(t, i, &plain[i], flat, other,
                        "the result by the rules of its functions, and by their derivatives");
    }
}

bool attempt_rules(attempt *t, status *st) {
    const circumstances how = attempt_plain(t);
    shape other = {0};
    formula rules = {0}, derived = {0};
    tensor *plain = tensors_new(t->shape->signature.output_count);
    bool ok = shape_without_rules(&other, t->shape, st) &&
              runner_run(t->runner, t->shape, &how, t->shape->inputs, plain, st) &&
              refer(t, t->shape, &rules, st) && refer(t, &other, &derived, st);
    if (ok)
        compare(t, plain, &rules, &derived);
    forget(&rules);
    forget(&derived);
    tensors_free(plain);
    shape_close(&other);
    return ok;
}
