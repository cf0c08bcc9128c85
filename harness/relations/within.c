/* within.c - see within.h. */
#include "relations/within.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/philox.h"
#include "tessera/checks.h"

/* All of all checks. */
static bool hold(compiler_instance *checks, const tensor *inputs, bool *out, status *st) {
    compiler_signature s;
    if (!compiler_signature_of(checks, &s, st))
        return false;
    tensor *made = tensors_new(s.output_count);
    bool ok = compiler_interpret(checks, inputs, made, st);
    *out = ok;
    for (uint32_t i = 0; ok && i < s.output_count; i++)
        *out &= !memchr(made[i].data, 0, (size_t)tensor_count(&made[i]));
    tensors_free(made);
    return ok;
}

static int64_t longest(const shape *s) {
    int64_t most = 1;
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        for (int axis = 0; axis < s->signature.inputs[i].rank; axis++)
            if (s->signature.inputs[i].dims[axis] > most)
                most = s->signature.inputs[i].dims[axis];
    return most;
}

/* From 0 to `most`. */
static void draw(tensor *t, uint32_t parameter, uint64_t seed, int64_t most) {
    for (int64_t i = 0; i < tensor_count(t); i++)
        dtype_store(
            t->type, t->data, (size_t)i,
            philox_integer(philox_element(seed, (uint64_t)i, parameter, PHILOX_DOMAIN_INPUTS), 0,
                           (int32_t)(most + 1)));
}

static bool draw_again(shape *s, compiler_instance *checks, const bool *decides, status *st) {
    const uint32_t count = s->signature.input_count;
    uint64_t seed = s->seed;
    bool ok = true;
    tensor *drawn = tensors_new(count);
    for (uint32_t i = 0; i < count; i++)
        drawn[i] = s->inputs[i];
    for (uint32_t i = 0; ok && i < count; i++)
        if (decides[i])
            ok =
                tensor_init(&drawn[i], s->inputs[i].type, s->inputs[i].rank, s->inputs[i].dims, st);
    for (int64_t most = 2 * longest(s); ok && !s->within && most;) {
        most /= 2;
        seed += UINT64_C(0x9E3779B97F4A7C15);
        for (uint32_t i = 0; i < count; i++)
            if (decides[i])
                draw(&drawn[i], i, seed, most);
        ok = hold(checks, drawn, &s->within, st);
    }
    for (uint32_t i = 0; i < count; i++) {
        const tensor before = s->inputs[i];
        if (s->within)
            s->inputs[i] = drawn[i];
        if (s->within || !decides[i])
            drawn[i] = decides[i] ? before : (tensor){.rank = 0};
    }
    tensors_free(drawn);
    return ok;
}

bool within_checks(shape *s, status *st) {
    compiler_instance *checks = NULL;
    bool *decides = base_calloc((size_t)s->signature.input_count + 1, sizeof *decides);
    bool ok = compiler_integer_checks(s->instance, &checks, decides, st);
    s->within = true;
    if (checks)
        ok = hold(checks, s->inputs, &s->within, st) &&
             (s->within || draw_again(s, checks, decides, st));
    compiler_instance_free(checks);
    free(decides);
    return ok;
}
