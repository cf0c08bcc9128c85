/* descents.c - see descents.h. */
#include "exec/descents.h"

#include <stdlib.h>

#include "check/compare.h"
#include "common/json_text.h"

bool descents_open(const execution *e, const compiler_options *options, descents *out, status *st) {
    const uint32_t ranks = e->job->ranks;
    *out = (descents){.count = ranks > 1 ? ranks : 1};
    out->all = base_calloc(out->count, sizeof(*out->all));
    out->ranks = base_calloc(out->count, sizeof *out->ranks);
    bool ok = true;
    for (uint32_t i = 0; i < out->count && ok; i++) {
        compiler_options own = *options;
        out->ranks[i] = (shard_ranks){i, ranks, e->job->layout};
        own.ranks = ranks > 1 ? &out->ranks[i] : NULL;
        out->all[i] = compiler_descent_open(e->context->instance, &own, st);
        ok = out->all[i] != NULL;
    }
    return ok;
}

void descents_close(descents *d) {
    for (uint32_t i = 0; i < d->count; i++)
        compiler_descent_close(d->all[i]);
    free(d->all);
    free(d->ranks);
    *d = (descents){0};
}

const compiler_descent *descents_first(const descents *d) {
    return d->all[0];
}

bool descents_run(descents *d, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < d->count && ok; i++)
        ok = compiler_descent_run(d->all[i], st);
    return ok;
}

json_t *descents_digest(const descents *d) {
    text words;
    char hex[65];
    text_init(&words);
    for (uint32_t i = 0; i < d->count; i++)
        compiler_descent_print(d->all[i], &words);
    const sha256 digest = sha256_of(words.data, words.length);
    sha256_hex(&digest, hex);
    text_release(&words);
    return json_string(hex);
}

/* Each has whole outputs. */
static bool agree(const descents *d, const case_context *s, tensor *const *outputs, status *st) {
    bool same = true;
    for (uint32_t i = 1; i < d->count; i++)
        for (uint32_t k = 0; same && k < s->signature.output_count; k++)
            same = compare_bits(&outputs[0][k], &outputs[i][k]).differing == 0 ||
                   status_set(st, STATUS_MISMATCH,
                              "output '%s' has other bits on rank %u than on rank 0",
                              s->signature.outputs[k].name, i);
    return same;
}

bool descents_evaluate(const descents *d, const case_context *s, tensor *outputs, status *st) {
    const uint32_t count = s->signature.output_count;
    if (d->count == 1)
        return compiler_descent_evaluate(d->all[0], s->inputs, outputs, st);
    tensor **all = base_calloc(d->count, sizeof(*all));
    for (uint32_t i = 0; i < d->count; i++)
        all[i] = i ? tensors_new(count) : outputs;
    bool ok = compiler_descent_evaluate_ranks(d->all, d->count, s->inputs, all, st) &&
              agree(d, s, all, st);
    for (uint32_t i = 1; i < d->count; i++)
        tensors_free(all[i]);
    free(all);
    return ok;
}
