/* contract.c - a product that is only added to something becomes one fma: one rounding less.
 *
 * Other bits than the decomposition's, so this is for `deterministic` and `fast` alone; their bound
 * counts the rounding of an fma's product anyway (docs/numerics.md). Functions are expanded later,
 * and keep their sequences. */
#include <stdlib.h>

#include "graph/passes.h"
#include "ir/rename.h"
#include "ops/build.h"
#include "ops/control.h"

typedef struct contraction {
    ir_module *m;
    ir_renaming renamed;
    uint32_t *uses;
    bool tiles; /* blocks of tiles see the values of those around them */
} contraction;

/* The product behind `v` where this is its only use; else 0. */
static ir_op lone_product(const contraction *c, ir_value v) {
    ir_op op = ir_value_get(c->m, v)->op;
    bool product = op && ir_op_get(c->m, op)->opcode == GRAPH_MUL;
    return product && c->uses[v] == 1 ? op : 0;
}

static ir_value negated(ir_builder *b, ir_value x) {
    return build_unary(b, GRAPH_NEG, x);
}

/* x*y + z, x*y - z or z - x*y; the difference negates exactly. */
static void replace(contraction *c, ir_op op, ir_op product, bool product_first) {
    ir_op_data *d = ir_op_get(c->m, op);
    bool difference = d->opcode == GRAPH_SUB;
    ir_value result = d->results[0], z = d->operands[product_first ? 1 : 0];
    ir_value x = ir_op_get(c->m, product)->operands[0], y = ir_op_get(c->m, product)->operands[1];
    ir_builder b = {c->m, d->block, op, d->location};
    if (difference && product_first)
        z = negated(&b, z);
    if (difference && !product_first)
        x = negated(&b, x);
    ir_value operands[] = {x, y, z};
    ir_op fused = graph_build(&b, GRAPH_FMA, operands, 3, NULL, 0);
    if (c->tiles)
        ir_replace_uses(c->m, result, ir_op_get(c->m, fused)->results[0]);
    else
        ir_rename(&c->renamed, result, ir_op_get(c->m, fused)->results[0]);
    ir_op_erase(c->m, op);
    ir_op_erase(c->m, product);
}

static void contract_op(contraction *c, ir_op op) {
    const ir_op_data *d = ir_op_get(c->m, op);
    if ((d->opcode != GRAPH_ADD && d->opcode != GRAPH_SUB) ||
        !dtype_is_float(ir_type_of(c->m, d->results[0])->element))
        return;
    ir_op product = lone_product(c, d->operands[0]);
    bool first = product != 0;
    if (!first)
        product = lone_product(c, d->operands[1]);
    if (product)
        replace(c, op, product, first);
}

static bool contract_block(ir_module *m, ir_block block, void *context) {
    (void)context;
    contraction c = {m, ir_renaming_new(m), ir_count_uses(m), false};
    ir_op next;
    for (ir_op op = ir_block_get(m, block)->first; op; op = next) {
        next = ir_op_get(m, op)->next;
        ir_renaming_apply(&c.renamed, op);
        contract_op(&c, op);
    }
    ir_renaming_end(&c.renamed, 0);
    free(c.uses);
    return true;
}

bool graph_contract(ir_module *m, status *st) {
    (void)st;
    return control_each_block(m, contract_block, NULL);
}

void graph_contract_tiles(ir_module *m, ir_op tiles) {
    contraction c = {.m = m, .uses = ir_count_uses(m), .tiles = true};
    for (ir_walk w = ir_walk_op(m, tiles); ir_walk_next(&w);)
        contract_op(&c, w.op);
    free(c.uses);
}
