/* budget.c - which values of a checkpoint, or of all that have a budget, are kept of so many bytes:
 * those first that are dearest to compute again for their size. */
#include <stdlib.h>

#include "transforms/engine.h"
#include "transforms/passes.h"

enum { WORK_OF_FUNCTION = 16 }; /* an element of exp, of a softmax, of a norm: about */

/* Length of what is multiplied and added for an element of the result; 0: it is no product. */
static double contracted(const ir_module *m, ir_op op) {
    const ir_op_data *o = ir_op_get(m, op);
    const ir_type_data *x = ir_type_of(m, o->operands[0]), *w;
    int64_t axes[IR_MAX_RANK];
    double length = 1;
    switch (o->opcode) {
    case GRAPH_DOT:
        for (uint32_t i = ir_op_ints(m, op, "x_contract", axes, IR_MAX_RANK); i > 0; i--)
            length *= (double)x->dims[axes[i - 1]];
        return length;
    case GRAPH_MATMUL:
    case GRAPH_LINEAR:
        return (double)x->dims[x->rank - 1];
    case GRAPH_CONV2D:
        w = ir_type_of(m, o->operands[1]);
        for (int i = 1; i < w->rank; i++)
            length *= (double)w->dims[i];
        return length;
    case GRAPH_ATTENTION: /* two products of as many steps as there are keys */
        w = ir_type_of(m, o->operands[1]);
        return 2 * (double)w->dims[w->rank - 2];
    default:
        return 0;
    }
}

/* About the operations that make the result once more. */
static double work(const ir_module *m, ir_op op, double elements) {
    const ir_op_data *o = ir_op_get(m, op);
    const double steps = o->operand_count ? contracted(m, op) : 0;
    if (steps > 0)
        return 2 * steps * elements;
    switch (graph_op_class(o->opcode)) {
    case GRAPH_CLASS_GENERATOR:
    case GRAPH_CLASS_MOVE:
        return 0;
    case GRAPH_CLASS_ELEMENTWISE:
        return graph_op_is_specified(o->opcode) ? WORK_OF_FUNCTION * elements : elements;
    case GRAPH_CLASS_REDUCE:
        return (double)ir_type_count(m, ir_value_get(m, o->operands[0])->type);
    default:
        return WORK_OF_FUNCTION * elements;
    }
}

typedef struct candidate {
    ir_op op;
    int64_t bytes;
    double worth; /* operations a byte */
    uint32_t place;
} candidate;

static int dearest_first(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return x->worth != y->worth ? (x->worth < y->worth) - (x->worth > y->worth)
                                : (x->place > y->place) - (x->place < y->place);
}

/* A value with a size, which is not made from others by being moved. */
static bool is_candidate(const ir_module *m, ir_op op, candidate *out) {
    const ir_op_data *o = ir_op_get(m, op);
    if (o->result_count != 1 || o->region_count)
        return false;
    const ir_type type = ir_value_get(m, o->results[0])->type;
    const ir_type_data *t = ir_type_get(m, type);
    const int64_t elements = graph_elements(t->rank, t->dims);
    if (elements <= 0 || elements >= INT64_MAX / 16)
        return false;
    *out = (candidate){.op = op, .bytes = elements * (int64_t)dtype_size(t->element)};
    out->worth = work(m, op, (double)elements) / (double)out->bytes;
    return out->worth > 0;
}

typedef VEC(candidate) candidate_list;

static void list_candidate(const ir_module *m, ir_op op, candidate_list *list) {
    candidate one;
    if (!is_candidate(m, op, &one))
        return;
    one.place = (uint32_t)list->count;
    vec_push(list, one);
}

/* Keeps so many bytes of them; the list is gone. Gives those that are kept. */
static int64_t spend(ir_module *m, candidate_list *list, int64_t bytes) {
    const int64_t given = bytes;
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, dearest_first);
    for (size_t i = 0; i < list->count; i++) {
        uint32_t *mark = &ir_op_get(m, list->items[i].op)->location.checkpoint;
        if (list->items[i].bytes > bytes)
            continue;
        bytes -= list->items[i].bytes;
        *mark = checkpoint_again(*mark, CHECKPOINT_EVERYTHING);
    }
    vec_release(list);
    return given - bytes;
}

void checkpoint_spend(ir_module *m, uint32_t mark, ir_op first, int64_t bytes) {
    candidate_list list = {0};
    if (bytes <= 0)
        return;
    for (ir_op op = first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->location.checkpoint == mark)
            list_candidate(m, op, &list);
    spend(m, &list, bytes);
}

int64_t graph_keep_planned(ir_module *m, int64_t bytes) {
    const ir_block block = ir_op_block(m, ir_module_kernel(m), 0);
    candidate_list list = {0};
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next) {
        const uint32_t mark = ir_op_get(m, op)->location.checkpoint;
        if (mark && checkpoint_keep_of(mark) == CHECKPOINT_PLANNED)
            list_candidate(m, op, &list);
    }
    return spend(m, &list, bytes);
}
