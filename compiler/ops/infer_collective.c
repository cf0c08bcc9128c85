/* infer_collective.c - the shape rules of collectives. */
#include <string.h>

#include "ops/infer.h"
#include "ops/reductions.h"
#include "ops/sharding.h"

static ir_dim count_of(query *q) {
    return ir_attr_get(q->m, infer_attr_of(q, "count"))->integer;
}

/* The axis that an attribute names, and the dimensions of the operand, to be changed there. */
static bool axis_of(query *q, const char *name, int64_t *out, ir_dim *dims) {
    const ir_type_data *x = infer_operand(q, 0);
    *out = infer_int_attr(q, name, 0);
    memcpy(dims, x->dims, sizeof *dims * (size_t)x->rank);
    return infer_axis_in(q, *out, x->rank);
}

/* A dimension over the shards. */
static bool part_of(query *q, ir_dim dim, ir_dim *out) {
    const ir_dim count = count_of(q);
    *out = count == 0 ? IR_DIM_INVALID : ir_dim_floordiv(q->m, dim, count);
    return (*out != IR_DIM_INVALID && ir_dim_mul(q->m, *out, count) == dim) ||
           infer_refuse(q, MISFIT_SHAPE, 0, -1, "%s of %s is no multiple of the %s shards of '%s'",
                        ir_dim_text(q->m, dim), infer_shape_text(q, 0), ir_dim_text(q->m, count),
                        infer_string_attr(q, "axis", ""));
}

/* The order of a sum; of other kinds the tree. */
static bool has_order(query *q, const char *kind) {
    const char *order = infer_string_attr(q, "fold", "tree");
    const bool exact = strcmp(order, "exact") == 0;
    return strcmp(order, "tree") == 0 || (exact && strcmp(kind, "sum") == 0) ||
           infer_refuse(q, MISFIT_ORDER, -1, -1,
                        "the order \"%s\" is neither \"tree\" nor, of a sum, \"exact\"", order);
}

bool graph_infer_all_reduce(query *q) {
    const char *kind = infer_string_attr(q, "kind", "sum");
    if (reduction_graph_opcode(kind) < 0)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1,
                            "\"%s\" is none of \"sum\", \"prod\", \"max\" and \"min\"", kind);
    if (!has_order(q, kind))
        return false;
    if (infer_operand(q, 0)->element == DTYPE_BOOL)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "takes numbers, not %s",
                            infer_shape_text(q, 0));
    return infer_give(q, q->operands[0]);
}

bool graph_infer_all_gather(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    ir_dim dims[IR_MAX_RANK];
    int64_t dim;
    if (!axis_of(q, "dim", &dim, dims))
        return false;
    dims[dim] = ir_dim_mul(q->m, dims[dim], count_of(q));
    return infer_give_shape(q, x->element, x->rank, dims);
}

bool graph_infer_shard_slice(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    ir_dim dims[IR_MAX_RANK];
    int64_t dim;
    return axis_of(q, "dim", &dim, dims) && part_of(q, x->dims[dim], &dims[dim]) &&
           infer_give_shape(q, x->element, x->rank, dims);
}

bool graph_infer_all_to_all(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    ir_dim dims[IR_MAX_RANK];
    int64_t split, concat;
    if (!axis_of(q, "split", &split, dims) || !axis_of(q, "concat", &concat, dims) ||
        !part_of(q, x->dims[split], &dims[split]))
        return false;
    dims[concat] = ir_dim_mul(q->m, dims[concat], count_of(q));
    return infer_give_shape(q, x->element, x->rank, dims);
}

bool graph_infer_shard_index(query *q) {
    return infer_give(q, ir_type_tensor(q->m, DTYPE_I32, 0, NULL));
}

bool graph_infer_placed(query *q) {
    const char *words = infer_string_attr(q, "sharding", "");
    return sharding_fits(words, infer_operand(q, 0))
               ? infer_give(q, q->operands[0])
               : infer_refuse(q, MISFIT_SHAPE, 0, -1, "%s does not lie on a mesh as \"%s\"",
                              infer_shape_text(q, 0), words);
}

bool graph_infer_exchange(query *q) {
    enum { RANKS_MAX = 4096 };
    const ir_type_data *x = infer_operand(q, 0);
    int64_t receives[RANKS_MAX];
    ir_dim dims[IR_MAX_RANK];
    const int count = infer_ints_attr(q, "receives", receives, RANKS_MAX);
    if (x->rank == 0 || count < 0)
        return infer_refuse(q, MISFIT_SHAPE, 0, -1, "needs rows, and at most %d ranks", RANKS_MAX);
    memcpy(dims, x->dims, sizeof *dims * (size_t)x->rank);
    dims[0] = 0;
    for (int i = 0; i < count; i++)
        dims[0] += receives[i];
    return infer_give_shape(q, x->element, x->rank, dims);
}
