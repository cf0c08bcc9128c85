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

bool chunks_is_rest(const ir_module *m, ir_op reduce) {
    return ir_op_get(m, reduce)->opcode == GRAPH_REDUCE && ir_op_attr(m, reduce, "rest") != 0;
}

/* The operation of an operand, where it has this opcode; else 0. */
static ir_op maker(const ir_module *m, ir_op op, uint32_t operand, int opcode) {
    ir_op from = ir_value_get(m, ir_op_get(m, op)->operands[operand])->op;
    return from && ir_op_get(m, from)->opcode == opcode ? from : 0;
}

typedef struct joined {
    ir_op blocks, rest; /* 0: there is none */
} joined;

/* The sums whose results are summed again. */
static joined find_joined(const ir_module *m, ir_op reduce) {
    ir_op both = maker(m, reduce, 0, GRAPH_CONCAT), shaped = 0;
    if (!both)
        return (joined){maker(m, reduce, 0, GRAPH_REDUCE), 0};
    if (ir_op_get(m, both)->operand_count == 2 &&
        ir_op_int(m, both, "axis", -1) == axis_of(m, reduce))
        shaped = maker(m, both, 1, GRAPH_RESHAPE);
    return shaped ? (joined){maker(m, both, 0, GRAPH_REDUCE), maker(m, shaped, 0, GRAPH_REDUCE)}
                  : (joined){0};
}

static bool is_alike(const ir_module *m, ir_op a, ir_op b) {
    return ir_op_attr(m, a, "kind") == ir_op_attr(m, b, "kind") &&
           ir_op_attr(m, a, "order") == ir_op_attr(m, b, "order");
}

/* Compares it with the sum that takes its result. */
static bool is_rest_of(const ir_module *m, ir_op rest, ir_op reduce, int64_t id) {
    return ir_op_int(m, rest, "rest", -1) == id && is_alike(m, rest, reduce) &&
           axis_of(m, rest) == axis_of(m, reduce);
}

bool chunks_joins(const ir_module *m, ir_op reduce) {
    const ir_op_data *d = ir_op_get(m, reduce);
    int64_t axis = axis_of(m, reduce), id = ir_op_int(m, reduce, "joins", -1);
    if (d->opcode != GRAPH_REDUCE || !ir_op_attr(m, reduce, "joins") || axis < 0)
        return false;
    joined j = find_joined(m, reduce);
    return j.blocks && chunks_of(m, j.blocks) && id == reduction_id(m, j.blocks) &&
           is_alike(m, reduce, j.blocks) && axis_of(m, j.blocks) == axis + 1 &&
           (!j.rest || is_rest_of(m, j.rest, reduce, id)) &&
           ir_type_of(m, d->operands[0])->dims[axis] == chunks_of(m, j.blocks) + (j.rest != 0);
}

/* The one that sums the results of blocks, or of the rest, again; 0: they have other readers. */
static ir_op joining(const ir_module *m, const ir_uses *uses, ir_op reduce) {
    static const int between[] = {GRAPH_RESHAPE, GRAPH_CONCAT};
    ir_value v = ir_op_result(m, reduce, 0);
    for (int i = chunks_is_rest(m, reduce) ? 0 : 1; i < 2; i++) {
        ir_op op = only_reader(m, uses, v, between[i]);
        v = op ? ir_op_result(m, op, 0) : v;
    }
    ir_op reader = only_reader(m, uses, v, GRAPH_REDUCE);
    return reader && chunks_joins(m, reader) ? reader : 0;
}

bool chunks_are_summed(const ir_module *m, ir_op reduce) {
    ir_uses uses = ir_uses_fill(m);
    bool summed = only_reader(m, &uses, ir_op_result(m, reduce, 0), GRAPH_RETURN) ||
                  joining(m, &uses, reduce);
    ir_uses_release(&uses);
    return summed;
}

int64_t chunks_rest(const ir_module *m, ir_op blocks) {
    ir_uses uses = ir_uses_fill(m);
    ir_op all = joining(m, &uses, blocks), rest = all ? find_joined(m, all).rest : 0;
    ir_uses_release(&uses);
    return rest ? ir_type_of(m, ir_op_get(m, rest)->operands[0])->dims[axis_of(m, rest)] : 0;
}
