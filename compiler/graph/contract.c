/* contract.c - a product that is only added to something becomes one fma: one rounding less. The
 * greatest of products by a power of two is the greatest factor times that, with the same bits: so
 * scaled scores, of which a softmax takes the greatest off, become such products. Not those by
 * other numbers: their fma leaves what the rounding of the greatest one lost, and the exponential
 * of that can be any number where scores are beyond 2^24.
 *
 * An fma has other bits than the decomposition's, so this is for `deterministic` and `fast` alone;
 * their bound counts the rounding of an fma's product anyway (docs/numerics.md). Functions are
 * expanded later, and keep their sequences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes.h"
#include "ir/rename.h"
#include "ops/build.h"
#include "ops/control.h"

typedef struct contraction {
    ir_module *m;
    ir_renaming renamed;
    uint32_t *uses, values; /* of so many values, those from before */
    bool tiles;             /* blocks of tiles see the values of those around them */
} contraction;

/* The product behind `v` where this is its only use; else 0. */
static ir_op lone_product(const contraction *c, ir_value v) {
    ir_op op = ir_value_get(c->m, v)->op;
    bool product = op && ir_op_get(c->m, op)->opcode == GRAPH_MUL;
    return product && v <= c->values && c->uses[v] == 1 ? op : 0;
}

static void stand_in(contraction *c, ir_value from, ir_value to) {
    if (c->tiles)
        ir_replace_uses(c->m, from, to);
    else
        ir_rename(&c->renamed, from, to);
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
    stand_in(c, result, ir_op_get(c->m, fused)->results[0]);
    ir_op_erase(c->m, op);
    ir_op_erase(c->m, product);
}

/* ---- the greatest of products ---- */

/* The value of an operation on numbers that are known. */
static bool number_by(const ir_module *m, ir_op op, double x, double y, double *out) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *t = ir_type_of(m, d->results[0]);
    const ir_attr_data *value = ir_attr_get(m, ir_op_attr(m, op, "value")),
                       *of = ir_attr_get(m, ir_op_attr(m, op, "of"));
    bool single = t->rank == 0 && t->element == DTYPE_F32;
    ir_dim extent;
    switch (d->opcode) {
    case GRAPH_CONSTANT:
        *out = value->kind == IR_ATTR_BITS ? dtype_load(t->element, &value->bits, 0) : NAN;
        return true;
    case GRAPH_EXTENT:
        extent = ir_attr_get(m, of->items[0])->integer;
        *out = ir_dim_is_static(extent) ? (double)extent : NAN;
        return true;
    case GRAPH_CONVERT:
        *out = x;
        return single;
    case GRAPH_SQRT:
        *out = sqrt(x);
        return single;
    case GRAPH_MUL:
        *out = x * y;
        return single;
    case GRAPH_DIV:
        *out = x / y;
        return single;
    default:
        return false;
    }
}

/* Is it positive, whatever is rounded on the way to it? No number of these overflows or gets lost.
 */
static bool is_positive(const ir_module *m, ir_value v, int depth, double *number) {
    const double least = 0x1p-32, most = 0x1p32;
    ir_op op = ir_value_get(m, v)->op;
    double in[2] = {0, 0};
    if (!op || depth == 0 || ir_op_get(m, op)->operand_count > 2)
        return false;
    const ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (!is_positive(m, d->operands[i], depth - 1, &in[i]))
            return false;
    return number_by(m, op, in[0], in[1], number) && *number > least && *number < most;
}

ir_value graph_power_of_two(const ir_module *m, ir_value v) {
    enum { DEPTH = 8 }; /* of 1 / sqrt(float(D)): 5 */
    ir_op op = ir_value_get(m, v)->op;
    bool spread = op && ir_op_get(m, op)->opcode == GRAPH_BROADCAST;
    ir_value one = spread ? ir_op_get(m, op)->operands[0] : v;
    double number;
    int exponent;
    bool power = ir_type_of(m, one)->rank == 0 && is_positive(m, one, DEPTH, &number) &&
                 frexp(number, &exponent) == 0.5;
    return power ? one : 0;
}

/* A power of two keeps the order of what it multiplies. */
static void scale_greatest(contraction *c, ir_op op) {
    const ir_op_data d = *ir_op_get(c->m, op);
    ir_op product = ir_value_get(c->m, d.operands[0])->op;
    int64_t axes[IR_MAX_RANK];
    if (strcmp(ir_op_string(c->m, op, "kind", ""), "max") != 0 || d.operands[0] > c->values ||
        !product || ir_op_get(c->m, product)->opcode != GRAPH_MUL || c->uses[d.operands[0]] != 2 ||
        ir_type_of(c->m, d.operands[0])->element != DTYPE_F32 ||
        ir_op_ints(c->m, op, "axes", axes, IR_MAX_RANK) != 1)
        return;
    const ir_value *factors = ir_op_get(c->m, product)->operands;
    ir_value number = graph_power_of_two(c->m, factors[1]), x = factors[number ? 0 : 1];
    if (!number && !(number = graph_power_of_two(c->m, factors[0])))
        return;
    ir_builder b = {c->m, d.block, op, d.location};
    ir_value greatest = build_reduce(&b, "max", x, (int)axes[0]);
    const ir_type_data *t = ir_type_of(c->m, greatest);
    number = build_broadcast(&b, number, t->rank, t->dims, NULL);
    stand_in(c, d.results[0], build_binary(&b, GRAPH_MUL, greatest, number));
    c->uses[d.operands[0]]--;
    ir_op_erase(c->m, op);
}

/* ---- all ---- */

static void contract_op(contraction *c, ir_op op) {
    const ir_op_data *d = ir_op_get(c->m, op);
    if (d->opcode == GRAPH_REDUCE) {
        scale_greatest(c, op);
        return;
    }
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
    contraction c = {m, ir_renaming_new(m), ir_count_uses(m), ir_value_count(m), false};
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
    contraction c = {.m = m, .uses = ir_count_uses(m), .values = ir_value_count(m), .tiles = true};
    for (ir_walk w = ir_walk_op(m, tiles); ir_walk_next(&w);)
        contract_op(&c, w.op);
    free(c.uses);
}
