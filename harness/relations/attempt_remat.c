/* attempt_remat.c - a kernel as it is, and with derivatives that compute all values of their
 * functions again, or none. */
#include "relations/attempt.h"

static bool agrees(attempt *t, const tensor *plain, bool keeps, status *st) {
    shape other = {0};
    const circumstances how = attempt_plain(t);
    bool ok = shape_recomputed(&other, t->shape, keeps, st);
    tensor *out = tensors_new(other.signature.output_count);
    ok = ok && runner_run(t->runner, &other, &how, t->shape->inputs, out, st);
    if (ok)
        attempt_compare(t, plain, out,
                        keeps ? "derivatives as written and with all values kept"
                              : "derivatives as written and with all values computed again");
    tensors_free(out);
    shape_close(&other);
    return ok;
}

bool attempt_remat(attempt *t, status *st) {
    const circumstances how = attempt_plain(t);
    tensor *plain = tensors_new(t->shape->signature.output_count);
    bool ok = runner_run(t->runner, t->shape, &how, t->shape->inputs, plain, st);
    for (int keeps = 0; keeps < 2 && ok && !t->violation.found; keeps++)
        ok = agrees(t, plain, keeps != 0, st);
    tensors_free(plain);
    return ok;
}
