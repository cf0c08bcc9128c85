/* chunks.c - see chunks.h. */
#include "ops/chunks.h"

#include "ir/uses.h"
#include "ops/graph.h"
#include "ops/reductions.h"

int64_t chunks_of(const ir_module *m, ir_op op) {
    int opcode = ir_op_get(m, op)->opcode;
    return opcode == GRAPH_DOT || opcode == GRAPH_REDUCE ? ir_op_int(m, op, "chunks", 0) : 0;
}

/* The only reader of a value, where it has this opcode; else 0. */
static ir_op only_reader(const ir_module *m, const ir_uses *uses, ir_value v, int opcode) {
    ir_op op = ir_uses_count(uses, v) == 1 ? ir_uses_reader(uses, v, 0) : 0;
    return op && ir_op_get(m, op)->opcode == opcode ? op : 0;
}

/* The result at `first` of axis 0, alone and whole; -1: the operation takes something else. */
static int64_t place_of(const ir_module *m, ir_op slice, const ir_type_data *all) {
    const ir_attr_data *start = ir_attr_get(m, ir_op_attr(m, slice, "start"));
    const ir_type_data *part = ir_type_of(m, ir_op_result(m, slice, 0));
    bool whole = part->dims[0] == 1;
    for (int i = 1; i < all->rank; i++)
        whole &= part->dims[i] == all->dims[i];
    const ir_attr_data *first = start && start->count ? ir_attr_get(m, start->items[0]) : NULL;
    return whole && first && first->kind == IR_ATTR_INT ? first->integer : -1;
}

/* The chunk's result as a matrix; 0: it is not taken once, or not as that. */
static ir_value taken(const ir_module *m, const ir_uses *uses, ir_value all, int64_t chunk) {
    ir_value found = 0;
    for (uint32_t i = 0; i < ir_uses_count(uses, all); i++) {
        ir_op slice = ir_uses_reader(uses, all, i);
        if (ir_op_get(m, slice)->opcode != GRAPH_SLICE ||
            place_of(m, slice, ir_type_of(m, all)) != chunk)
            continue;
        ir_op matrix = only_reader(m, uses, ir_op_result(m, slice, 0), GRAPH_RESHAPE);
        if (found || !matrix)
            return 0;
        found = ir_op_result(m, matrix, 0);
    }
    return found;
}

static bool are_added(const ir_module *m, const ir_uses *uses, ir_value all, int64_t chunks) {
    ir_value sum = taken(m, uses, all, 0);
    if (ir_uses_count(uses, all) != (uint32_t)chunks)
        return false;
    for (int64_t c = 1; c < chunks && sum; c++) {
        ir_op add = only_reader(m, uses, sum, GRAPH_ADD);
        ir_value one = taken(m, uses, all, c);
        bool next = add && one && only_reader(m, uses, one, GRAPH_ADD) == add &&
                    ir_op_get(m, add)->operands[0] == sum && ir_op_get(m, add)->operands[1] == one;
        sum = next ? ir_op_result(m, add, 0) : 0;
    }
    return sum != 0;
}

bool chunks_are_added(const ir_module *m, ir_op dot) {
    ir_uses uses = ir_uses_fill(m);
    ir_value all = ir_op_result(m, dot, 0);
    bool added =
        only_reader(m, &uses, all, GRAPH_RETURN) || are_added(m, &uses, all, chunks_of(m, dot));
    ir_uses_release(&uses);
    return added;
}

/* ---- sums ---- */

static int64_t axis_of(const ir_module *m, ir_op reduce) {
    int64_t axes[IR_MAX_RANK];
    return ir_op_ints(m, reduce, "axes", axes, IR_MAX_RANK) == 1 ? axes[0] : -1;
}

bool chunks_joins(const ir_module *m, ir_op reduce) {
    const ir_op_data *d = ir_op_get(m, reduce);
    ir_op blocks = d->opcode == GRAPH_REDUCE && ir_op_attr(m, reduce, "joins")
                       ? ir_value_get(m, d->operands[0])->op
                       : 0;
    if (!blocks || ir_op_get(m, blocks)->opcode != GRAPH_REDUCE)
        return false;
    int64_t axis = axis_of(m, reduce);
    return chunks_of(m, blocks) && ir_op_int(m, reduce, "joins", -1) == reduction_id(m, blocks) &&
           ir_op_attr(m, reduce, "kind") == ir_op_attr(m, blocks, "kind") &&
           ir_op_attr(m, reduce, "order") == ir_op_attr(m, blocks, "order") && axis >= 0 &&
           axis_of(m, blocks) == axis + 1 &&
           ir_type_of(m, d->operands[0])->dims[axis] == chunks_of(m, blocks);
}

bool chunks_are_summed(const ir_module *m, ir_op reduce) {
    ir_uses uses = ir_uses_fill(m);
    ir_value all = ir_op_result(m, reduce, 0);
    ir_op reader = only_reader(m, &uses, all, GRAPH_REDUCE);
    bool summed = only_reader(m, &uses, all, GRAPH_RETURN) || (reader && chunks_joins(m, reader));
    ir_uses_release(&uses);
    return summed;
}
