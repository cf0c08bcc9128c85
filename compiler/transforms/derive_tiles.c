/* derive_tiles.c - a kernel of tiles that is called, in a block that is derived before dimensions
 * are numbers: operations stand in its place later, and those that have no derivative are told now.
 */
#include "ops/control.h"
#include "ops/tiles.h"
#include "transforms/engine.h"

static bool raise_flow(derivation *d, ir_value v, flow f) {
    const bool floats = transform_is_float(d->m, v);
    const flow own = f == FLOW_NONE ? f : floats ? FLOW_ACTIVE : FLOW_HIDDEN;
    const bool more = own > derive_flow(d, v);
    if (more)
        value_table_set(&d->flows, v, own);
    return more;
}

/* The values of a block, or of a loop's turns, begin as what is given. */
static bool enter(derivation *d, ir_op op) {
    const ir_op_data *o = ir_op_get(d->m, op);
    const ir_block_data *b = ir_block_get(d->m, ir_op_block(d->m, op, 0));
    const bool loop = o->opcode == GRAPH_FOR;
    bool more = false;
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const flow given = derive_flow(d, o->operands[i]),
                   next = loop ? derive_flow(d, ir_op_get(d->m, b->last)->operands[i]) : given;
        const flow f = next > given ? next : given;
        more |= raise_flow(d, b->arguments[i], f);
        more |= loop && raise_flow(d, o->results[i], f);
    }
    return more;
}

static bool flow_through(derivation *d, ir_op op) {
    const ir_op_data *o = ir_op_get(d->m, op);
    if (o->opcode == GRAPH_FOR || o->opcode == GRAPH_TILES)
        return enter(d, op);
    const flow f = derive_strongest(d, op);
    const derivative *rule = derivative_of(o->opcode);
    const bool ends = (rule && rule->zero) || (o->opcode == GRAPH_CONVERT && f == FLOW_HIDDEN);
    bool more = false;
    for (uint32_t i = 0; i < o->result_count; i++)
        if (!ends || !transform_is_float(d->m, o->results[i]))
            more |= raise_flow(d, o->results[i], f);
    return more;
}

/* Does the operation stay what it is? */
static bool is_plain(int opcode) {
    return opcode != GRAPH_FOR && opcode != GRAPH_TILES && opcode != GRAPH_LOAD &&
           graph_op_class(opcode) != GRAPH_CLASS_COMPOSITE && !control_has_blocks(opcode);
}

bool derive_tiles(derivation *d, ir_op tiles) {
    bool more = true, ok = true;
    while (more) {
        more = false;
        for (ir_walk w = ir_walk_op(d->m, tiles); ir_walk_next(&w);)
            more |= flow_through(d, w.op);
    }
    for (ir_walk w = ir_walk_op(d->m, tiles); ok && ir_walk_next(&w);)
        ok = !is_plain(ir_op_get(d->m, w.op)->opcode) || derive_may(d, w.op);
    return ok && transform_refuse(d->t, TRANSFORM_FAULT_SIZE, tiles,
                                  "a kernel of tiles is derived for the dimensions of a case");
}
