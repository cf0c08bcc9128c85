/* spread.c - functions of rows that an element-wise nest would compute anew for each of its
 * columns: where there are several, they get memory, and are computed once.
 *
 * One or two are no reason for a phase of their own; the recurrence of a loop over blocks has some
 * for each turn. A reduction of columns goes from row to row, so it computes them for each few
 * columns: there one is a reason. */
#include <stdlib.h>

#include "schedule/plan.h"

enum { SPREADS = 4, FACTOR = 8 }; /* so many of them, each over at least so many columns */

typedef struct spreads {
    plan *p;
    bool *heavy;     /* by value: a specified function is computed for it */
    uint16_t *count; /* by value: spreads of such values that are computed for it */
} spreads;

/* Spreads a heavy value, whose memory is small beside what it is spread to. */
static bool is_spread(const spreads *s, ir_value v) {
    if (plan_opcode(s->p, v) != GRAPH_BROADCAST)
        return false;
    ir_value x = ir_op_get(s->p->g, plan_def(s->p, v))->operands[0];
    int64_t few = ir_type_count(s->p->g, ir_value_get(s->p->g, x)->type),
            many = ir_type_count(s->p->g, ir_value_get(s->p->g, v)->type);
    return s->heavy[x] && few > 1 && (few == INT64_MAX || many / FACTOR >= few);
}

static void note(spreads *s, ir_value v) {
    const ir_op_data *d = ir_op_get(s->p->g, plan_def(s->p, v));
    uint32_t count = is_spread(s, v);
    s->heavy[v] = graph_op_is_specified(d->opcode);
    for (uint32_t i = 0; i < d->operand_count; i++) {
        s->heavy[v] |= s->heavy[d->operands[i]];
        count += s->count[d->operands[i]];
    }
    s->count[v] = (uint16_t)(count < SPREADS ? count : SPREADS);
}

/* The value that a piece of it is read from. */
static ir_value behind_views(const spreads *s, ir_value v) {
    for (int opcode = plan_opcode(s->p, v); opcode == GRAPH_SLICE || opcode == GRAPH_RESHAPE;
         opcode = plan_opcode(s->p, v))
        v = ir_op_get(s->p->g, plan_def(s->p, v))->operands[0];
    return v;
}

static void store_spread(spreads *s, ir_value v) {
    const ir_op_data *d = ir_op_get(s->p->g, plan_def(s->p, v));
    if (!s->count[v])
        return;
    s->count[v] = 0; /* been here */
    if (is_spread(s, v))
        s->p->stored[behind_views(s, d->operands[0])] = true;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (plan_is_computed(s->p, d->operands[i]))
            store_spread(s, d->operands[i]);
}

static bool is_column_reduction(const plan *p, ir_op op) {
    const ir_op_data *d = ir_op_get(p->g, op);
    int64_t axis = 0;
    if (d->opcode != GRAPH_REDUCE)
        return false;
    ir_op_ints(p->g, op, "axes", &axis, 1);
    return axis != plan_type(p, d->operands[0])->rank - 1;
}

void plan_store_spreads(plan *p) {
    uint32_t n = ir_value_count(p->g) + 1;
    spreads s = {p, base_calloc(n, sizeof *s.heavy), base_calloc(n, sizeof *s.count)};
    ir_block body = ir_op_block(p->g, p->kernel, 0);
    for (ir_op op = ir_block_get(p->g, body)->first; op; op = ir_op_get(p->g, op)->next) {
        const ir_op_data *d = ir_op_get(p->g, op);
        graph_class class = graph_op_class(d->opcode);
        if (is_column_reduction(p, op) && plan_is_computed(p, d->operands[0]))
            store_spread(&s, d->operands[0]);
        if (class != GRAPH_CLASS_ELEMENTWISE && class != GRAPH_CLASS_MOVE)
            continue;
        note(&s, d->results[0]);
        if (s.count[d->results[0]] == SPREADS)
            store_spread(&s, d->results[0]);
        if (p->stored[d->results[0]])
            s.heavy[d->results[0]] = false;
    }
    free(s.heavy);
    free(s.count);
}
