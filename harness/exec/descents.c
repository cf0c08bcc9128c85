/* descents.c - see descents.h. */
#include "exec/descents.h"

#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "common/json_text.h"
#include "state/part.h"

bool descents_open(const execution *e, const compiler_options *options, descents *out, status *st) {
    const uint32_t ranks = e->job->ranks;
    *out = (descents){.count = ranks > 1 ? ranks : 1};
    out->all = base_calloc(out->count, sizeof(*out->all));
    out->ranks = base_calloc(out->count, sizeof *out->ranks);
    bool ok = ranks <= 1 || way_of_sums_find(e->job->transport, ranks, &out->sums, st);
    for (uint32_t i = 0; i < out->count && ok; i++) {
        compiler_options own = *options;
        out->ranks[i] =
            (shard_ranks){i, ranks, e->job->layout, out->sums.whole, out->sums.bucket_bytes};
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
    free(d->sums.whole);
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

/* Tensors that a rank takes and gives: all of each, or the part that it has. */
typedef struct own_tensors {
    shard_part *parts; /* inputs, then outputs; NULL: all */
    tensor *inputs, *outputs;
} own_tensors;

static void release(own_tensors *o) {
    free(o->parts);
    tensors_free(o->inputs);
    tensors_free(o->outputs);
}

static bool take_part(const tensor *whole, const shard_part *part, tensor *out, status *st) {
    if (!tensor_init(out, whole->type, whole->rank, part->dims, st))
        return false;
    part_take(part, whole->data, out->data);
    return true;
}

static bool take_inputs(own_tensors *o, const case_context *s, status *st) {
    bool ok = true;
    o->inputs = tensors_new(s->signature.input_count);
    for (uint32_t i = 0; i < s->signature.input_count && ok; i++)
        ok = o->parts ? take_part(&s->inputs[i], &o->parts[i], &o->inputs[i], st)
                      : tensor_copy(&s->inputs[i], &o->inputs[i], st);
    return ok;
}

/* Puts the outputs of all ranks together: of what several have, the first one's. */
static bool put_together(const own_tensors *all, uint32_t ranks, const case_context *s,
                         tensor *outputs, status *st) {
    const uint32_t inputs = s->signature.input_count;
    bool ok = true;
    for (uint32_t k = 0; k < s->signature.output_count && ok; k++) {
        const struct compiler_buffer *b = &s->signature.outputs[k];
        ok = tensor_init(&outputs[k], b->type, b->rank, b->dims, st);
        for (uint32_t i = ranks; i > 0 && ok; i--) {
            const own_tensors *o = &all[i - 1];
            if (o->parts)
                part_put(&o->parts[inputs + k], o->outputs[k].data, outputs[k].data);
            else
                memcpy(outputs[k].data, o->outputs[k].data, tensor_bytes(&outputs[k]));
        }
    }
    return ok;
}

static bool has_same(const own_tensors *o, uint32_t rank, const case_context *s,
                     const tensor *outputs, status *st) {
    bool ok = true;
    for (uint32_t k = 0; k < s->signature.output_count && ok; k++) {
        tensor own;
        ok = o->parts ? take_part(&outputs[k], &o->parts[s->signature.input_count + k], &own, st)
                      : tensor_copy(&outputs[k], &own, st);
        if (!ok)
            break;
        ok = compare_bits(&own, &o->outputs[k]).differing == 0 ||
             status_set(st, STATUS_MISMATCH,
                        "output '%s' has other bits on rank %u than on those before it",
                        s->signature.outputs[k].name, rank);
        tensor_release(&own);
    }
    return ok;
}

static bool evaluate(const descents *d, const case_context *s, own_tensors *all, tensor *outputs,
                     status *st) {
    const tensor **inputs = base_calloc(d->count, sizeof(*inputs));
    tensor **made = base_calloc(d->count, sizeof(*made));
    bool ok = true;
    for (uint32_t i = 0; i < d->count; i++) {
        all[i].parts = compiler_descent_parts(d->all[i]);
        all[i].outputs = made[i] = tensors_new(s->signature.output_count);
        ok = take_inputs(&all[i], s, st) && ok;
        inputs[i] = all[i].inputs;
    }
    ok = ok && compiler_descent_evaluate_ranks(d->all, d->count, inputs, made, st) &&
         put_together(all, d->count, s, outputs, st);
    for (uint32_t i = 0; i < d->count && ok; i++)
        ok = has_same(&all[i], i, s, outputs, st);
    free(inputs);
    free(made);
    return ok;
}

bool descents_evaluate(const descents *d, const case_context *s, tensor *outputs, status *st) {
    if (d->count == 1)
        return compiler_descent_evaluate(d->all[0], s->inputs, outputs, st);
    own_tensors *all = base_calloc(d->count, sizeof *all);
    const bool ok = evaluate(d, s, all, outputs, st);
    for (uint32_t i = 0; i < d->count; i++)
        release(&all[i]);
    free(all);
    return ok;
}
