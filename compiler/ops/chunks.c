/* chunks.c - see chunks.h. */
#include "ops/chunks.h"

#include "ir/uses.h"
#include "ops/graph.h"

int64_t chunks_of(const ir_module *m, ir_op dot) {
    return ir_op_get(m, dot)->opcode == GRAPH_DOT ? ir_op_int(m, dot, "chunks", 0) : 0;
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
