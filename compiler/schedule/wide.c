/* wide.c - values whose expression would read more tensors, or pieces of them, than a computation
 * takes: those in the middle of it get memory. */
#include <stdlib.h>
#include <string.h>

#include "schedule/plan.h"

enum { READS_MAX = 40 };

/* Reads of an expression, ascending: a value, or of a slice one of the reads behind it. */
typedef struct reads {
    int count;
    uint64_t items[READS_MAX + 1];
} reads;

static uint64_t read_of(ir_value v, int behind) {
    return (uint64_t)v << 8 | (unsigned)behind;
}

/* False: there are too many. */
static bool add(reads *r, uint64_t v) {
    int at = r->count;
    while (at > 0 && r->items[at - 1] > v)
        at--;
    if (at > 0 && r->items[at - 1] == v)
        return true;
    memmove(&r->items[at + 1], &r->items[at], sizeof *r->items * (size_t)(r->count - at));
    r->items[at] = v;
    return ++r->count <= READS_MAX;
}

/* Pieces of one tensor are reads of their own. */
static bool add_operand(const plan *p, reads *const *of, ir_value v, reads *r) {
    if (!plan_is_computed(p, v))
        return plan_opcode(p, v) == GRAPH_CONSTANT || plan_opcode(p, v) == GRAPH_IOTA ||
               add(r, read_of(v, 0));
    bool piece = plan_opcode(p, v) == GRAPH_SLICE;
    for (int i = 0; i < of[v]->count; i++)
        if (!add(r, piece ? read_of(v, i) : of[v]->items[i]))
            return false;
    return true;
}

void plan_store_wide(plan *p) {
    uint32_t n = ir_value_count(p->g) + 1;
    reads **of = base_calloc(n, sizeof *of);
    ir_block body = ir_op_block(p->g, p->kernel, 0);
    for (ir_op op = ir_block_get(p->g, body)->first; op; op = ir_op_get(p->g, op)->next) {
        const ir_op_data *d = ir_op_get(p->g, op);
        ir_value v = d->result_count ? d->results[0] : 0;
        bool fits = true;
        if (!v || !plan_is_computed(p, v))
            continue;
        of[v] = base_calloc(1, sizeof *of[v]);
        for (uint32_t i = 0; i < d->operand_count && fits; i++)
            fits = add_operand(p, of, d->operands[i], of[v]);
        if (!fits)
            p->stored[v] = p->deep[v] = true;
    }
    for (uint32_t v = 0; v < n; v++)
        free(of[v]);
    free(of);
}
