/* batch_draw.c - random numbers in a batch: a step for each part, made of the one that all have. */
#include "ops/control.h"
#include "transforms/batches.h"

bool batch_draws(const batching *s, ir_op op) {
    const int opcode = ir_op_get(s->m, op)->opcode;
    bool found = false;
    if (s->alike || graph_op_class(opcode) == GRAPH_CLASS_COMBINE)
        return false;
    for (ir_walk w = ir_walk_op(s->m, op); !found && ir_walk_next(&w);)
        found = ir_op_get(s->m, w.op)->opcode == GRAPH_RANDOM_BITS &&
                ir_op_int(s->m, w.op, "site", 0) != STEP_SITE;
    return found;
}

/* A value with the axes of another one at these places. */
typedef struct spread {
    ir_value value;
    int64_t axes[IR_MAX_RANK];
} spread;

/* The step before it was repeated for each element. */
static spread least_of(const batching *s, ir_value step) {
    const ir_op op = ir_value_get(s->m, step)->op;
    spread out = {.value = step};
    for (int i = 0; i < IR_MAX_RANK; i++)
        out.axes[i] = i;
    if (op && ir_op_get(s->m, op)->opcode == GRAPH_BROADCAST) {
        out.value = ir_op_get(s->m, op)->operands[0];
        ir_op_ints(s->m, op, "axes", out.axes, IR_MAX_RANK);
    }
    return out;
}

ir_value batch_draw(batching *s, ir_op op) {
    ir_builder *b = &s->b;
    const ir_op_data *d = ir_op_get(s->m, op);
    const ir_value index = batch_all(s, d->operands[0]);
    const spread of = least_of(s, batch_stand(s, d->operands[1]));
    const ir_type_data all = *build_type(b, index), t = *build_type(b, of.value);
    ir_dim dims[IR_MAX_RANK] = {s->count};
    int64_t behind[IR_MAX_RANK], places[IR_MAX_RANK] = {0};
    for (int i = 0; i < t.rank; i++) {
        dims[i + 1] = t.dims[i];
        behind[i] = i + 1;
        places[i + 1] = of.axes[i] + 1;
    }
    ir_value word = build_step_word(b, of.value);
    ir_value step = build_binary(b, GRAPH_ADD, build_broadcast(b, word, t.rank + 1, dims, behind),
                                 build_iota(b, t.rank + 1, dims, 0));
    const ir_value operands[] = {index, build_broadcast(b, step, all.rank, all.dims, places)};
    return ir_op_result(s->m,
                        graph_build(b, GRAPH_RANDOM_BITS, operands, 2, d->attrs, d->attr_count), 0);
}
