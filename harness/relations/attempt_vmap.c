/* attempt_vmap.c - a kernel on several sets of inputs at once, as vmap makes it, and on each alone.
 */
#include <stdio.h>
#include <string.h>

#include "relations/attempt.h"

enum { PARTS = 3 };

/* The shape with inputs of its own for each part; the first has those of the attempt. */
static bool open_parts(const attempt *t, shape *parts, status *st) {
    int64_t dims[ATTEMPT_DIMS_MAX];
    bool ok = true;
    attempt_dims(t->request->column, t->shape, dims);
    for (int i = 1; i < PARTS && ok; i++) {
        const shape_request request = {t->shape->like, dims, t->shape->seed + (uint64_t)i, false,
                                       NULL};
        ok = shape_open(&parts[i], t->request->column, &request, st);
    }
    return ok;
}

static const shape *part_at(const attempt *t, const shape *parts, int i) {
    return i ? &parts[i] : t->shape;
}

static bool stack_inputs(const attempt *t, const shape *batch, const shape *parts, tensor *out,
                         status *st) {
    bool ok = true;
    for (uint32_t k = 0; k < batch->signature.input_count && ok; k++) {
        const struct compiler_buffer *b = &batch->signature.inputs[k];
        ok = tensor_init(&out[k], b->type, b->rank, b->dims, st);
        for (int i = 0; i < PARTS && ok; i++) {
            const tensor *one = &part_at(t, parts, i)->inputs[k];
            memcpy((char *)out[k].data + (size_t)i * tensor_bytes(one), one->data,
                   tensor_bytes(one));
        }
    }
    return ok;
}

/* Part `i` alone, against its results among all. */
static bool part_agrees(attempt *t, const shape *one, const tensor *all, int i, status *st) {
    const uint32_t count = one->signature.output_count;
    const circumstances how = attempt_plain(t);
    tensor *alone = tensors_new(count), *among = tensors_new(count);
    char between[80];
    bool ok = runner_run(t->runner, one, &how, one->inputs, alone, st);
    for (uint32_t k = 0; k < count && ok; k++) {
        ok = tensor_init(&among[k], alone[k].type, alone[k].rank, alone[k].dims, st);
        if (ok)
            memcpy(among[k].data, (const char *)all[k].data + (size_t)i * tensor_bytes(&among[k]),
                   tensor_bytes(&among[k]));
    }
    snprintf(between, sizeof between, "inputs alone and as part %d of %d at once", i, PARTS);
    if (ok)
        attempt_compare(t, alone, among, between);
    tensors_free(alone);
    tensors_free(among);
    return ok;
}

bool attempt_vmap(attempt *t, status *st) {
    shape batch = {0}, parts[PARTS] = {{0}};
    const circumstances how = attempt_plain(t);
    bool ok = shape_batched(&batch, t->shape, PARTS, st);
    tensor *inputs = tensors_new(batch.signature.input_count),
           *all = tensors_new(batch.signature.output_count);
    ok = ok && open_parts(t, parts, st) && stack_inputs(t, &batch, parts, inputs, st) &&
         runner_run(t->runner, &batch, &how, inputs, all, st);
    for (int i = 0; i < PARTS && ok && !t->violation.found; i++)
        ok = part_agrees(t, part_at(t, parts, i), all, i, st);
    tensors_free(inputs);
    tensors_free(all);
    for (int i = 1; i < PARTS; i++)
        shape_close(&parts[i]);
    shape_close(&batch);
    return ok;
}
