/* export_move.c - where an element of the result comes from. */
#include <inttypes.h>

#include "target/mlir/export.h"

static const char *times(exporter *e, const char *x, int64_t n) {
    return n == 1 ? x : export_op(e, "arith.muli %s, %s : index", x, export_index(e, n));
}

static const char *broadcast(exporter *e, ir_op op, const char *const *index) {
    ir_value x = ir_op_get(e->m, op)->operands[0];
    const ir_type_data *t = export_type(e, x);
    int64_t axes[IR_MAX_RANK] = {0};
    const char *at[IR_MAX_RANK];
    ir_op_ints(e->m, op, "axes", axes, IR_MAX_RANK);
    for (int i = 0; i < t->rank; i++)
        at[i] = t->dims[i] == 1 ? export_index(e, 0) : index[axes[i]];
    return export_load(e, x, at);
}

/* Through the row-major number of the element. */
static const char *reshape(exporter *e, ir_op op, const char *const *index) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const ir_type_data *to = export_type(e, d->results[0]), *from = export_type(e, d->operands[0]);
    const char *flat = export_index(e, 0), *at[IR_MAX_RANK];
    for (int i = 0; i < to->rank; i++)
        flat = export_op(e, "arith.addi %s, %s : index", times(e, flat, to->dims[i]), index[i]);
    for (int i = from->rank - 1; i >= 0; i--) {
        const char *n = export_index(e, from->dims[i] ? from->dims[i] : 1);
        at[i] = export_op(e, "arith.remui %s, %s : index", flat, n);
        flat = export_op(e, "arith.divui %s, %s : index", flat, n);
    }
    return export_load(e, d->operands[0], at);
}

static const char *transpose(exporter *e, ir_op op, const char *const *index) {
    int64_t permutation[IR_MAX_RANK];
    const char *at[IR_MAX_RANK];
    uint32_t n = ir_op_ints(e->m, op, "permutation", permutation, IR_MAX_RANK);
    for (uint32_t i = 0; i < n; i++)
        at[permutation[i]] = index[i];
    return export_load(e, ir_op_get(e->m, op)->operands[0], at);
}

static const char *slice(exporter *e, ir_op op, const char *const *index) {
    int64_t start[IR_MAX_RANK], step[IR_MAX_RANK];
    const char *at[IR_MAX_RANK];
    uint32_t n = ir_op_ints(e->m, op, "start", start, IR_MAX_RANK);
    ir_op_ints(e->m, op, "step", step, IR_MAX_RANK);
    for (uint32_t i = 0; i < n; i++)
        at[i] = export_plus(e, times(e, index[i], step[i]), start[i]);
    return export_load(e, ir_op_get(e->m, op)->operands[0], at);
}

static const char *window(exporter *e, ir_op op, const char *const *index) {
    int axis = (int)ir_op_int(e->m, op, "axis", 0);
    const ir_op_data *d = ir_op_get(e->m, op);
    int rank = export_type(e, d->operands[0])->rank;
    const char *at[IR_MAX_RANK];
    for (int i = 0; i < rank; i++)
        at[i] = index[i];
    at[axis] = export_op(e, "arith.addi %s, %s : index",
                         times(e, index[axis], ir_op_int(e->m, op, "stride", 1)), index[rank]);
    return export_load(e, d->operands[0], at);
}

/* The pieces one after the other: a nest of scf.if, so that none is read outside of itself. */
static const char *concat_from(exporter *e, ir_op op, uint32_t piece, int64_t before,
                               const char *const *index) {
    const ir_op_data *d = ir_op_get(e->m, op);
    int axis = (int)ir_op_int(e->m, op, "axis", 0);
    const ir_type_data *t = export_type(e, d->operands[piece]);
    const char *at[IR_MAX_RANK], *element = export_element(e, t->element);
    for (int i = 0; i < t->rank; i++)
        at[i] = i == axis ? export_plus(e, index[i], -before) : index[i];
    if (piece + 1 == d->operand_count)
        return export_load(e, d->operands[piece], at);
    const char *end = export_index(e, before + t->dims[axis]);
    const char *here = export_op(e, "arith.cmpi ult, %s, %s : index", index[axis], end);
    const char *name = export_text(e, "%%t%d", e->next++);
    export_line(e, "%s = scf.if %s -> (%s) {", name, here, element);
    export_line(e, "scf.yield %s : %s", export_load(e, d->operands[piece], at), element);
    export_line(e, "} else {");
    export_line(e, "scf.yield %s : %s",
                concat_from(e, op, piece + 1, before + t->dims[axis], index), element);
    export_line(e, "}");
    return name;
}

/* Batch axes, then x's axes before the gathered one, those of the indices, and the rest of x. */
static const char *gather(exporter *e, ir_op op, const char *const *index) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const ir_type_data *x = export_type(e, d->operands[0]), *n = export_type(e, d->operands[1]);
    int axis = (int)ir_op_int(e->m, op, "axis", 0),
        batch = (int)ir_op_int(e->m, op, "batch_dims", 0);
    const char *at[IR_MAX_RANK], *which[IR_MAX_RANK];
    int own = n->rank - batch; /* axes of the indices in the result, from `axis` on */
    for (int i = 0; i < n->rank; i++)
        which[i] = i < batch ? index[i] : index[axis + i - batch];
    const char *raw =
        export_op(e, "arith.index_cast %s : i32 to index", export_load(e, d->operands[1], which));
    raw = export_op(e, "arith.maxsi %s, %s : index", raw, export_index(e, 0));
    raw = export_op(e, "arith.minsi %s, %s : index", raw, export_index(e, x->dims[axis] - 1));
    for (int i = 0; i < x->rank; i++)
        at[i] = i < axis ? index[i] : i == axis ? raw : index[i - 1 + own];
    return export_load(e, d->operands[0], at);
}

const char *export_moved(exporter *e, ir_op op, const char *const *index) {
    const ir_attr_data *value = ir_attr_get(e->m, ir_op_attr(e->m, op, "value"));
    switch (ir_op_get(e->m, op)->opcode) {
    case GRAPH_CONSTANT:
        return export_bits(e, export_type(e, ir_op_get(e->m, op)->results[0])->element,
                           value->bits);
    case GRAPH_IOTA:
        return export_op(e, "arith.index_cast %s : index to i32",
                         index[ir_op_int(e->m, op, "axis", 0)]);
    case GRAPH_BROADCAST:
        return broadcast(e, op, index);
    case GRAPH_RESHAPE:
        return reshape(e, op, index);
    case GRAPH_TRANSPOSE:
        return transpose(e, op, index);
    case GRAPH_SLICE:
        return slice(e, op, index);
    case GRAPH_WINDOW:
        return window(e, op, index);
    case GRAPH_CONCAT:
        return concat_from(e, op, 0, 0, index);
    case GRAPH_GATHER:
        return gather(e, op, index);
    default:
        export_refuse(e, "the operation %s", op_info_get(ir_op_get(e->m, op)->opcode)->name);
        return "%none";
    }
}
