/* normalize.c - reductions and dots with exactly one reduced or contracted axis; reductions over
 * the last axis where nothing but single elements follows.
 *
 * Several axes flatten in row-major order of the attribute, which is the order that `order` walks:
 * no bit changes. */
#include <string.h>

#include "graph/passes.h"
#include "ops/build.h"
#include "ops/control.h"

/* Axes that stand side by side in this order are one axis as they are. */
static bool are_neighbours(const int64_t *axes, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        if (axes[i] != axes[0] + i)
            return false;
    return n > 0;
}

static ir_value join_neighbours(ir_builder *b, ir_value x, int64_t first, uint32_t n) {
    const ir_type_data d = *build_type(b, x);
    ir_dim shape[IR_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < d.rank; i++) {
        bool joins = i > first && i < first + (int64_t)n;
        shape[rank] = joins ? ir_dim_mul(b->m, shape[rank - 1], d.dims[i]) : d.dims[i];
        if (joins)
            shape[rank - 1] = shape[rank];
        else
            rank++;
    }
    return build_reshape(b, x, rank, shape);
}

/* x with `axes` flattened into one, whose number is `*axis`: where they are, if they stay, else at
 * the end: [the others..., product]. */
static ir_value gather_axes(ir_builder *b, ir_value x, const int64_t *axes, uint32_t n, bool stay,
                            int64_t *axis) {
    const ir_type_data d = *build_type(b, x);
    int64_t permutation[IR_MAX_RANK];
    ir_dim shape[IR_MAX_RANK + 1], product = 1;
    int rank = 0, kept = 0;
    if (stay) {
        *axis = axes[0];
        return join_neighbours(b, x, axes[0], n);
    }
    for (int i = 0; i < d.rank; i++)
        if (!ir_ints_hold(axes, n, i)) {
            shape[kept++] = d.dims[i];
            permutation[rank++] = i;
        }
    for (uint32_t i = 0; i < n; i++) {
        permutation[rank++] = axes[i];
        product = ir_dim_mul(b->m, product, d.dims[axes[i]]);
    }
    bool same = true;
    for (int i = 0; i < rank; i++)
        same &= permutation[i] == i;
    if (!same)
        x = build_transpose(b, x, permutation);
    shape[kept] = product;
    *axis = kept;
    return build_reshape(b, x, kept + 1, shape);
}

static bool only_ones_after(const ir_type_data *d, int64_t axis) {
    for (int i = (int)axis + 1; i < d->rank; i++)
        if (d->dims[i] != 1)
            return false;
    return true;
}

static ir_value normalized_reduce(ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    const ir_type_data *x = build_type(b, d->operands[0]), *y = build_type(b, d->results[0]);
    int64_t axes[IR_MAX_RANK];
    uint32_t n = ir_op_ints(b->m, op, "axes", axes, IR_MAX_RANK);
    if (n == 1 && (axes[0] == x->rank - 1 || !only_ones_after(x, axes[0])))
        return 0;
    if (x->rank == IR_MAX_RANK && n == 0)
        return 0;
    int64_t axis;
    const bool stay = are_neighbours(axes, n) && !only_ones_after(x, axes[n - 1]);
    ir_value flat = gather_axes(b, d->operands[0], axes, n, stay, &axis);
    ir_named_attr attrs[] = {{"kind", ir_op_attr(b->m, op, "kind")},
                             {"axes", ir_attr_int_array(b->m, &axis, 1)},
                             {"order", ir_op_attr(b->m, op, "order")},
                             {"id", ir_op_attr(b->m, op, "id")}};
    ir_value r = ir_op_result(b->m, graph_build(b, GRAPH_REDUCE, &flat, 1, attrs, 4), 0);
    return build_type(b, r) == y ? r : build_reshape(b, r, y->rank, y->dims);
}

static ir_value normalized_dot(ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    int64_t axes[2][IR_MAX_RANK], batch[2][IR_MAX_RANK];
    static const char *const contract_names[] = {"x_contract", "y_contract"};
    static const char *const batch_names[] = {"x_batch", "y_batch"};
    ir_value operands[3] = {0, 0, d->operand_count > 2 ? d->operands[2] : 0};
    ir_named_attr attrs[7];
    uint32_t n = ir_op_ints(b->m, op, "x_contract", axes[0], IR_MAX_RANK);
    if (n == 1)
        return 0;
    for (int s = 0; s < 2; s++) {
        ir_op_ints(b->m, op, contract_names[s], axes[s], IR_MAX_RANK);
        uint32_t nb = ir_op_ints(b->m, op, batch_names[s], batch[s], IR_MAX_RANK);
        int64_t axis;
        const bool stay = are_neighbours(axes[s], n);
        operands[s] = gather_axes(b, d->operands[s], axes[s], n, stay, &axis);
        for (uint32_t i = 0; i < nb;
             i++) { /* batch axes move up as contracted axes before them leave, or join */
            int64_t gone = 0;
            for (uint32_t k = 0; k < n; k++)
                gone += axes[s][k] < batch[s][i];
            batch[s][i] -= gone - (stay && gone > 0);
        }
        attrs[2 * s] = (ir_named_attr){contract_names[s], ir_attr_int_array(b->m, &axis, 1)};
        attrs[2 * s + 1] = (ir_named_attr){batch_names[s], ir_attr_int_array(b->m, batch[s], nb)};
    }
    attrs[4] = (ir_named_attr){"order", ir_op_attr(b->m, op, "order")};
    attrs[5] = (ir_named_attr){"out", ir_op_attr(b->m, op, "out")};
    attrs[6] = (ir_named_attr){"id", ir_op_attr(b->m, op, "id")};
    return ir_op_result(b->m, graph_build(b, GRAPH_DOT, operands, d->operand_count, attrs, 7), 0);
}

static control_rewritten rewrite(ir_builder *b, ir_op op, ir_value *results, void *context) {
    (void)context;
    const int opcode = ir_op_get(b->m, op)->opcode;
    ir_value same = opcode == GRAPH_REDUCE ? normalized_reduce(b, op)
                    : opcode == GRAPH_DOT  ? normalized_dot(b, op)
                                           : 0;
    if (same)
        results[0] = same;
    return same ? CONTROL_REPLACED : CONTROL_KEPT;
}

bool graph_normalize(ir_module *m, status *st) {
    (void)st;
    return control_rewrite(m, rewrite, NULL);
}
