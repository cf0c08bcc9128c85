/* functions.c - rules of functions and calls. */
#include "ops/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "ops/graph.h"

static ir_op first_function(const ir_module *m) {
    ir_op kernel = ir_module_kernel(m);
    return kernel ? ir_op_get(m, kernel)->next : 0;
}

ir_op function_named(const ir_module *m, const char *name) {
    for (ir_op f = first_function(m); f; f = ir_op_get(m, f)->next)
        if (strcmp(ir_op_string(m, f, "name", ""), name) == 0)
            return f;
    return 0;
}

static bool same_types(const ir_module *m, const ir_value *a, const ir_value *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (ir_value_get(m, a[i])->type != ir_value_get(m, b[i])->type)
            return false;
    return true;
}

bool functions_verify_call(const ir_module *m, ir_op call, status *st) {
    const ir_op_data *d = ir_op_get(m, call);
    const char *name = ir_op_string(m, call, "callee", "");
    ir_op f = function_named(m, name);
    if (!f)
        return status_set(st, STATUS_INTERNAL, "no function is called '%s'", name);
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, f, 0));
    if (!body->last || ir_op_get(m, body->last)->opcode != GRAPH_RETURN)
        return status_set(st, STATUS_INTERNAL, "'%s' does not end in tessera.return", name);
    const ir_op_data *end = ir_op_get(m, body->last);
    if (d->operand_count != body->argument_count ||
        !same_types(m, d->operands, body->arguments, d->operand_count))
        return status_set(st, STATUS_INTERNAL, "'%s' takes inputs of other types", name);
    return (d->result_count == end->operand_count &&
            same_types(m, d->results, end->operands, d->result_count)) ||
           status_set(st, STATUS_INTERNAL, "'%s' has results of other types", name);
}

/* ---- no circles ---- */

typedef struct call_edge {
    int caller, callee;
} call_edge;

typedef struct call_graph {
    map index; /* of functions, by name */
    VEC(call_edge) edges;
    int count, caller;
} call_graph;

static void note_call(const ir_module *m, ir_op op, call_graph *g) {
    intptr_t callee;
    if (ir_op_get(m, op)->opcode != GRAPH_CALL ||
        !map_get(&g->index, ir_op_string(m, op, "callee", ""), &callee))
        return;
    call_edge edge = {g->caller, (int)callee};
    vec_push(&g->edges, edge);
}

/* Takes out functions that call none that is left, as long as there is one. */
static bool has_circle(const call_graph *g) {
    int *calls = base_calloc((size_t)g->count + 1, sizeof *calls), left = g->count;
    bool *out = base_calloc((size_t)g->count + 1, sizeof *out), changed = true;
    for (size_t i = 0; i < g->edges.count; i++)
        calls[g->edges.items[i].caller]++;
    while (changed && left) {
        changed = false;
        for (int f = 0; f < g->count; f++) {
            if (out[f] || calls[f])
                continue;
            out[f] = changed = true;
            left--;
            for (size_t i = 0; i < g->edges.count; i++)
                calls[g->edges.items[i].caller] -= g->edges.items[i].callee == f;
        }
    }
    free(calls);
    free(out);
    return left > 0;
}

bool functions_verify(const ir_module *m, status *st) {
    call_graph g = {.count = 0};
    bool unique = true;
    map_init(&g.index);
    for (ir_op f = first_function(m); f && unique; f = ir_op_get(m, f)->next) {
        const char *name = ir_op_string(m, f, "name", "");
        intptr_t before;
        unique = !map_get(&g.index, name, &before) ||
                 status_set(st, STATUS_INTERNAL, "two functions are called '%s'", name);
        map_put(&g.index, name, g.count++);
    }
    for (ir_op f = first_function(m); f && unique; f = ir_op_get(m, f)->next, g.caller++)
        for (ir_walk w = ir_walk_op(m, f); ir_walk_next(&w);)
            note_call(m, w.op, &g);
    bool ok = unique && (!has_circle(&g) ||
                         status_set(st, STATUS_INTERNAL, "functions call each other in a circle"));
    map_release(&g.index);
    vec_release(&g.edges);
    return ok;
}

uint32_t functions_buffers(const ir_module *m, ir_op function) {
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, function, 0));
    return body->argument_count + ir_op_get(m, body->last)->operand_count;
}
