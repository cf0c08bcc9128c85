/* opinion_batch.c - a batch has the bits of its function, part by part. */
#include <stdio.h>
#include <string.h>

#include "opinion/opinion.h"
#include "ops/build.h"
#include "ops/transforms.h"

/* Parts draw random numbers of their own, which no function of one part does. */
static bool draws(const ir_module *m, ir_op vmap) {
    bool found = false;
    for (ir_walk w = ir_walk_op(m, vmap); !found && ir_walk_next(&w);)
        found = ir_op_get(m, w.op)->opcode == GRAPH_RANDOM_BITS &&
                ir_op_int(m, w.op, "site", 0) != STEP_SITE;
    return found && !ir_op_int(m, vmap, "alike", 0);
}

static bool take_part(const opinion_case *c, const transform_shape *s, int64_t at, tensor *out) {
    bool ok = true;
    for (uint32_t i = 0; i < s->value_count && ok; i++)
        ok = i < s->sliced ? opinion_part(&c->operands[i], at, &out[i], c->o->st)
                           : tensor_copy(&c->operands[i], &out[i], c->o->st);
    return ok;
}

/* Is the part of each result what the function makes of that of the operands? */
static opinion_verdict judge_part(const opinion_case *c, const transform_shape *s,
                                  compiler_instance *function, int64_t at) {
    tensor *in = tensors_new(s->value_count), *out = tensors_new(s->result_count);
    opinion_verdict v = OPINION_NONE;
    if (take_part(c, s, at, in) && opinion_interpret(c->o, function, in, out)) {
        v = OPINION_RIGHT;
        for (uint32_t i = 0; i < s->result_count && v == OPINION_RIGHT; i++) {
            const size_t bytes = tensor_bytes(&out[i]);
            const char *whole = c->results[i].data;
            if (memcmp(whole + (size_t)at * bytes, out[i].data, bytes) == 0)
                continue;
            v = OPINION_WRONG;
            snprintf(c->o->out->why, sizeof c->o->out->why,
                     "part %lld of result %u has not the bits of its function by itself",
                     (long long)at, i);
        }
    }
    tensors_free(in);
    tensors_free(out);
    return v;
}

opinion_verdict opinion_of_batch(const opinion_case *c) {
    const transform_shape s = transform_shape_of(c->m, c->op);
    if (draws(c->m, c->op))
        return OPINION_NONE;
    compiler_instance *function =
        opinion_function(c->m, ir_op_block(c->m, c->op, 0), &(opinion_view){.widen = false});
    opinion_verdict v = OPINION_RIGHT;
    for (int64_t at = 0; at < s.count && v == OPINION_RIGHT; at++)
        v = judge_part(c, &s, function, at);
    compiler_instance_free(function);
    return v;
}
