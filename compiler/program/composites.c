/* composites.c - see composites.h. */
#include "program/composites.h"

#include <stdlib.h>

#include "ir/uses.h"
#include "ops/control.h"
#include "ops/graph.h"

bool program_is_composite(int opcode) {
    return graph_op_class(opcode) == GRAPH_CLASS_COMPOSITE;
}

/* Operations of a dispatch beside the composite: each reads a tensor more, of those that a launch
 * takes. */
enum { MOST_TAKEN = 100 };

typedef struct taking {
    functions *f;
    const outline_request *request;
    ir_op composite;
    uint32_t count; /* of operations that are taken in */
    ir_uses uses;
    bool *taken;       /* by value: its operation is in the dispatch */
    VEC(ir_op) behind; /* made of the result, the last one last */
} taking;

static bool is_outside(ir_value v, void *context) {
    const taking *t = context;
    return !t->taken[v];
}

/* ---- moves behind what is computed ---- */

static const ir_op_data *made_by(const taking *t, ir_value v, graph_class class) {
    const ir_module *m = t->f->m;
    ir_op op = ir_value_get(m, v)->op;
    const ir_op_data *d = op ? ir_op_get(m, op) : NULL;
    bool one = d && d->operand_count == 1 && d->result_count == 1 && d->region_count == 0;
    return one && graph_op_class(d->opcode) == class ? d : NULL;
}

static ir_value again(ir_builder *b, const ir_op_data *d, ir_value x) {
    return ir_op_result(b->m, graph_build(b, d->opcode, &x, 1, d->attrs, d->attr_count), 0);
}

/* A conversion and its like of a value that is moved is one of the value itself, which then is
 * moved: of heads that are repeated it is computed once, and the composite takes the moves in. */
static ir_value moved_last(const taking *t, ir_builder *b, ir_value v) {
    const ir_op_data *computes = made_by(t, v, GRAPH_CLASS_ELEMENTWISE), *move;
    VEC(const ir_op_data *) moves = {0};
    if (!computes)
        return v;
    ir_value x = computes->operands[0];
    for (; (move = made_by(t, x, GRAPH_CLASS_MOVE)); x = move->operands[0])
        vec_push(&moves, move);
    v = moves.count ? again(b, computes, x) : v;
    while (moves.count)
        v = again(b, moves.items[--moves.count], v);
    vec_release(&moves);
    return v;
}

/* ---- before it ---- */

typedef VEC(ir_value) value_stack;

/* Takes in what a value is made of in the composite's block. */
static void take_before(taking *t, ir_value from, uint32_t number) {
    const ir_module *m = t->f->m;
    const ir_block block = ir_op_get(m, t->composite)->block;
    value_stack waiting = {0};
    vec_push(&waiting, from);
    while (waiting.count) {
        ir_value v = waiting.items[--waiting.count];
        ir_op op = ir_value_get(m, v)->op;
        const ir_op_data *d = op ? ir_op_get(m, op) : NULL;
        if (!d || d->block != block || t->taken[v] || d->result_count != 1 ||
            t->count == MOST_TAKEN || !t->request->takes_in(m, t->composite, number, op))
            continue;
        t->taken[v] = true;
        t->count++;
        for (uint32_t i = 0; i < d->operand_count; i++)
            vec_push(&waiting, d->operands[i]);
    }
    vec_release(&waiting);
}

/* ---- behind it ---- */

/* The only operation that reads a value, once; 0: there is none, several, or in another block. */
static ir_op only_reader(const taking *t, ir_value v) {
    const ir_module *m = t->f->m;
    ir_op op = ir_uses_count(&t->uses, v) == 1 ? ir_uses_reader(&t->uses, v, 0) : 0;
    return op && ir_op_get(m, op)->block == ir_op_get(m, t->composite)->block ? op : 0;
}

/* Is a value there before the composite is? */
static bool is_before(const taking *t, ir_value v) {
    const ir_module *m = t->f->m;
    ir_op op = ir_value_get(m, v)->op, at = t->composite;
    if (!op || ir_op_get(m, op)->block != ir_op_get(m, at)->block)
        return true;
    while (at && at != op)
        at = ir_op_get(m, at)->previous;
    return at != 0;
}

/* One more operation behind the value, of as many elements. Its result; 0: it is none for that. */
static ir_value take_behind(taking *t, ir_value v) {
    const ir_module *m = t->f->m;
    ir_op op = only_reader(t, v);
    const ir_op_data *d = op ? ir_op_get(m, op) : NULL;
    const uint32_t number = ir_op_get(m, t->composite)->operand_count;
    if (!d || d->result_count != 1 || t->count == MOST_TAKEN ||
        !t->request->takes_in(m, t->composite, number, op) ||
        ir_type_count(m, ir_value_get(m, d->results[0])->type) !=
            ir_type_count(m, ir_value_get(m, v)->type))
        return 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (d->operands[i] != v && !is_before(t, d->operands[i]))
            return 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (d->operands[i] != v)
            take_before(t, d->operands[i], number);
    t->taken[d->results[0]] = true;
    t->count++;
    vec_push(&t->behind, op);
    return d->results[0];
}

/* ---- the call ---- */

static void cut_composite(taking *t) {
    ir_module *m = t->f->m;
    ir_builder b = {.m = m, .before = t->composite};
    b.block = ir_op_get(m, t->composite)->block;
    for (uint32_t i = 0; i < ir_op_get(m, t->composite)->operand_count; i++)
        ir_op_get(m, t->composite)->operands[i] =
            moved_last(t, &b, ir_op_get(m, t->composite)->operands[i]);
    const ir_op_data d = *ir_op_get(m, t->composite);
    const size_t values = (size_t)ir_value_count(m) + 1;
    ir_value *now = base_calloc(values, sizeof *now), last = d.results[0];
    function_request r = {.block = d.block, .is_input = is_outside, .context = t, .now = now};
    t->taken = base_calloc(values, sizeof *t->taken);
    t->taken[last] = true;
    t->count = 0;
    t->uses = ir_uses_fill(m);
    for (uint32_t i = 0; i < d.operand_count; i++)
        take_before(t, d.operands[i], i);
    for (ir_value next = last; next; next = take_behind(t, last))
        last = next;
    ir_uses_release(&t->uses);
    vec_push(&r.results, last);
    b.location = d.location;
    ir_op call = functions_call(t->f, &r, &b);
    ir_replace_uses(m, last, ir_op_result(m, call, 0));
    while (t->behind.count)
        ir_op_erase(m, t->behind.items[--t->behind.count]);
    ir_op_erase(m, t->composite);
    vec_release(&r.results);
    vec_release(&t->behind);
    free(t->taken);
    free(now);
}

static bool cut_composites(ir_module *m, ir_block block, void *context) {
    taking *t = context;
    ir_op next;
    if (graph_op_class(ir_op_get(m, ir_block_parent(m, block))->opcode) == GRAPH_CLASS_COMBINE)
        return true;
    for (ir_op op = ir_block_get(m, block)->first; op; op = next) {
        next = ir_op_get(m, op)->next;
        if (!program_is_composite(ir_op_get(m, op)->opcode))
            continue;
        t->composite = op;
        cut_composite(t);
        next = ir_block_get(m, block)->first; /* the one that came next may be gone */
    }
    return true;
}

void program_outline_composites(functions *f, const outline_request *request) {
    taking t = {.f = f, .request = request};
    if (request->takes_in)
        control_each_block(f->m, cut_composites, &t);
}
