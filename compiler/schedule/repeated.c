/* repeated.c - values that get memory because they would be computed again and again.
 *
 * An element-wise value is computed in each group that reads it. Where it is made of one tensor in
 * memory that costs no more than reading its own memory would; where it is made of several, and
 * read more than once, each reader reads all of them. */
#include <stdlib.h>
#include <string.h>

#include "schedule/plan.h"

/* Tensors of the value's own size that its expression reads: none, this one, or several. */
typedef struct sources {
    ir_value one;
    int count; /* 2: two or more */
} sources;

static sources joined(sources a, sources b) {
    if (!a.count || !b.count)
        return a.count ? a : b;
    return a.count == 1 && b.count == 1 && a.one == b.one ? a : (sources){0, 2};
}

static bool same_shape(const plan *p, ir_value a, ir_value b) {
    const ir_type_data *x = plan_type(p, a), *y = plan_type(p, b);
    return x->rank == y->rank && memcmp(x->dims, y->dims, sizeof *x->dims * (size_t)x->rank) == 0;
}

static sources sources_of(const plan *p, const sources *of, ir_value v) {
    const ir_op_data *d = ir_op_get(p->g, plan_def(p, v));
    sources all = {0, 0};
    if (p->stored[v] || graph_op_class(d->opcode) == GRAPH_CLASS_DOT ||
        graph_op_class(d->opcode) == GRAPH_CLASS_SCAN)
        return (sources){v, 1};
    if (graph_op_class(d->opcode) != GRAPH_CLASS_ELEMENTWISE)
        return all;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (same_shape(p, d->operands[i], v))
            all = joined(all, of[d->operands[i]]);
    return all;
}

void plan_store_repeated(plan *p) {
    sources *of = base_calloc(p->values, sizeof *of);
    const ir_block_data *body = ir_block_get(p->g, ir_op_block(p->g, p->kernel, 0));
    for (uint32_t i = 0; i < body->argument_count; i++)
        of[body->arguments[i]] = (sources){body->arguments[i], 1};
    for (ir_op op = body->first; op; op = ir_op_get(p->g, op)->next) {
        const ir_op_data *d = ir_op_get(p->g, op);
        if (d->result_count != 1)
            continue;
        ir_value v = d->results[0];
        of[v] = sources_of(p, of, v);
        if (of[v].count == 2 && p->uses[v] > 1) {
            p->stored[v] = true;
            of[v] = (sources){v, 1};
        }
    }
    free(of);
}
