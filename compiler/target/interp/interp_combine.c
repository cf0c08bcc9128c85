/* interp_combine.c - combiners on the interpreter's values: their block runs on lanes of scalars.
 */
#include <stdlib.h>
#include <string.h>

#include "target/interp/combine.h"
#include "target/interp/interp_walk.h"

typedef struct combination {
    interpreter *in;
    ir_op op;
    combine_shape s;
    tensor *results;
    const tensor *seconds; /* where the second of each pair is taken from */
    tensor *lanes;         /* the block's arguments, and behind them what it makes */
} combination;

static bool take_lanes(const tensor *from, const int64_t *places, int64_t count, tensor *to,
                       status *st) {
    const size_t size = dtype_size(from->type);
    if (!tensor_init(to, from->type, 1, &count, st))
        return false;
    for (int64_t i = 0; i < count; i++)
        memcpy((char *)to->data + (size_t)i * size,
               (const char *)from->data + (size_t)places[i] * size, size);
    return true;
}

static void put_lanes(const tensor *from, const int64_t *places, tensor *to) {
    const size_t size = dtype_size(from->type);
    for (int64_t i = 0; i < tensor_count(from); i++)
        memcpy((char *)to->data + (size_t)places[i] * size,
               (const char *)from->data + (size_t)i * size, size);
}

/* Runs the block on the pairs; the caller releases what it makes, which is behind the arguments. */
static bool run(combination *c, const combine_pairs *p) {
    const uint32_t count = c->s.count;
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = take_lanes(&c->results[i], p->first, p->count, &c->lanes[i], c->in->st) &&
             take_lanes(&c->seconds[i], p->second, p->count, &c->lanes[count + i], c->in->st);
    c->in->lanes = p->count;
    ok = ok && interp_run_block(c->in, ir_op_block(c->in->m, c->op, 0), c->lanes,
                                c->lanes + 2 * (size_t)count);
    c->in->lanes = 0;
    tensor_release_all(c->lanes, 2 * count);
    return ok;
}

static bool combine(void *self, const combine_pairs *p) {
    combination *c = self;
    tensor *made = c->lanes + 2 * (size_t)c->s.count;
    if (!run(c, p))
        return false;
    for (uint32_t i = 0; i < c->s.count; i++)
        put_lanes(&made[i], p->first, &c->results[i]);
    tensor_release_all(made, c->s.count);
    return true;
}

static bool compare(void *self, const combine_pairs *p, bool *before) {
    combination *c = self;
    tensor *made = c->lanes + 2 * (size_t)c->s.count;
    if (!run(c, p))
        return false;
    for (int64_t i = 0; i < p->count; i++)
        before[i] = ((const uint8_t *)made->data)[i] != 0;
    tensor_release(made);
    return true;
}

static void exchange(void *self, int64_t one, int64_t other) {
    combination *c = self;
    for (uint32_t i = 0; i < c->s.count; i++) {
        const size_t size = dtype_size(c->results[i].type);
        char room[16], *a = (char *)c->results[i].data + (size_t)one * size,
                       *b = (char *)c->results[i].data + (size_t)other * size;
        memcpy(room, a, size);
        memcpy(a, b, size);
        memcpy(b, room, size);
    }
}

/* The tensors themselves; of a reduction the scalar that each begins with, everywhere. */
static bool begin(const combination *c, const ir_op_data *d, const tensor *operands) {
    bool reduces = d->opcode == GRAPH_REDUCE_WITH;
    for (uint32_t i = 0; i < c->s.count; i++) {
        const tensor *from = &operands[reduces ? c->s.count + i : i];
        tensor *to = &c->results[i];
        if (!interp_allocate(c->in->m, d->results[i], DTYPE_NONE, to, c->in->st))
            return false;
        if (tensor_count(to))
            memcpy(to->data, from->data, tensor_bytes(from));
        if (reduces)
            interp_repeat(to);
    }
    return true;
}

bool interp_combine(interpreter *in, ir_op op, const tensor *operands, tensor *results) {
    const ir_op_data *d = ir_op_get(in->m, op);
    combination c = {.in = in, .op = op, .s = combine_shape_of(in->m, op), .results = results};
    const combine_values values = {&c, combine, compare, exchange};
    const bool scatters = d->opcode == GRAPH_SCATTER;
    c.lanes = base_calloc(3 * (size_t)c.s.count + 1, sizeof *c.lanes);
    c.seconds = scatters ? operands + c.s.count + 1 : d->opcode == GRAPH_SORT ? results : operands;
    bool ok = begin(&c, d, operands) &&
              combine_run(in->m, op, scatters ? operands[c.s.count].data : NULL, &values);
    free(c.lanes);
    return ok;
}
