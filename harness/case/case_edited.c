/* case_edited.c - see case_edited.h. */
#include "case/case_edited.h"

#include <stdlib.h>

#include "base/arena.h"

bool case_edited_of(const case_context *original, compiler_instance *instance, const tensor *inputs,
                    case_edited *out, status *st) {
    case_context *s = &out->context;
    if (!case_context_like(original, instance, s, st))
        return false;
    out->inputs = base_calloc((size_t)s->signature.input_count + 1, sizeof *out->inputs);
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        out->inputs[i].kind = INPUT_SPECIAL;
    out->kernel = *original->kernel;
    out->kernel.same_as = NULL;
    out->kernel.numerics = NULL;
    s->kernel = &out->kernel;
    s->like = *original->c;
    s->like.inputs = out->inputs;
    s->c = &s->like;
    s->inputs = (tensor *)(uintptr_t)inputs;
    s->golden_skips = NULL;
    return compiler_cost(instance, &s->flops, &s->bytes, st);
}

bool case_edited_open(const case_context *original, const compiler_options *options,
                      const char *edits, case_edited *out, status *st) {
    *out = (case_edited){.inputs = NULL};
    compiler_edited *e = &out->edited;
    return compiler_edit(original->instance, options, original->inputs, edits, e, st) &&
           case_edited_of(original, e->instance, e->inputs, out, st);
}

void case_edited_close(case_edited *e) {
    if (e->inputs)
        case_context_release_like(&e->context);
    free(e->inputs);
    compiler_edited_release(&e->edited);
}
