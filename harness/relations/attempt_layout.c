/* attempt_layout.c - tensors with strides and offsets: of one function of others the same bits, and
 * nothing written between them. */
#include <stdio.h>
#include <string.h>

#include "relations/attempt.h"

/* Why nobody asks; NULL: it is asked. */
static const char *why_not(const attempt *t) {
    const implementation *with = t->request->column->with;
    if (!with)
        return "our code takes dense tensors alone";
    switch (with->kind) {
    case IMPLEMENTATION_PYTHON:
        return NULL;
    case IMPLEMENTATION_SHARED_OBJECT:
        return t->request->named ? NULL
                                 : "functions in C are promised tensors without gaps; --relation "
                                   "strides gives them others";
    default:
        return "it takes dense tensors alone";
    }
}

static void note_gap(attempt *t, const runner_gap *gap, const char *between) {
    const compiler_signature *s = &t->shape->signature;
    bool input = gap->buffer < s->input_count;
    violation *v = &t->violation;
    attempt_note(t, between);
    v->type = DTYPE_I8;
    snprintf(v->output, sizeof v->output, "%s, between its rows, byte ",
             input ? s->inputs[gap->buffer].name : s->outputs[gap->buffer - s->input_count].name);
    snprintf(v->index, sizeof v->index, "%lld", (long long)gap->byte);
    v->bits[0] = gap->before;
    v->bits[1] = gap->after;
    v->values[0] = gap->before;
    v->values[1] = gap->after;
}

static bool try_layout(attempt *t, const tensor *plain, layout_kind kind, status *st) {
    tensor *outputs = tensors_new(t->shape->signature.output_count);
    circumstances how = attempt_plain(t);
    runner_gap gap;
    char between[100];
    status own = STATUS_INIT;
    how.layout = kind;
    snprintf(between, sizeof between, "dense tensors and %s", layout_name(kind));
    bool ok = runner_run(t->runner, t->shape, &how, t->shape->inputs, outputs, &own);
    if (ok && runner_wrote_gap(t->runner, &gap))
        note_gap(t, &gap, between);
    else if (ok)
        attempt_compare_judged(t, plain, outputs, between);
    tensors_free(outputs);
    if (ok)
        return true;
    bool refuses = own.code == STATUS_UNAVAILABLE || own.code == STATUS_INVALID;
    return status_set(st, refuses ? STATUS_UNAVAILABLE : own.code, "%s%s%s",
                      refuses ? "it refuses " : "", refuses ? layout_name(kind) : own.message,
                      refuses ? ", and takes dense tensors alone" : "");
}

bool attempt_strides(attempt *t, const tensor *plain, status *st) {
    const char *why = why_not(t);
    bool ok = !why || status_set(st, STATUS_UNAVAILABLE, "%s", why);
    for (int kind = LAYOUT_DENSE + 1; kind < LAYOUT_COUNT && ok && !t->violation.found; kind++)
        ok = try_layout(t, plain, (layout_kind)kind, st);
    return ok;
}
