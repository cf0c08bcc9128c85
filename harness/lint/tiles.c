/* tiles.c - the graph of a kernel of tiles, as checks look at it. */
#include "lint/tiles.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- findings ---- */

static tile_finding *finding_at(tile_findings *f, lint_id id, lint_span at) {
    for (size_t i = 0; i < f->items.count; i++)
        if (f->items.items[i].id == id && f->items.items[i].at.start == at.start)
            return &f->items.items[i];
    tile_finding made = {.id = id, .at = at};
    vec_push(&f->items, made);
    return &f->items.items[f->items.count - 1];
}

void lint_tile_note(tile_findings *f, lint_id id, tile_place place, bool holds, const char *format,
                    ...) {
    tile_finding *one = finding_at(f, id, place.at);
    one->looked++;
    one->found += holds;
    if (!holds || one->found > 1)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(one->message, sizeof one->message, format, args);
    va_end(args);
    one->c = place.c;
}

static void tell(tile_findings *f, bool any) {
    for (size_t i = 0; i < f->items.count; i++) {
        const tile_finding *one = &f->items.items[i];
        if (one->found && (any || one->found == one->looked))
            lint_add(f->k, one->id, one->at, any ? one->c : NULL, "%s", one->message);
    }
    vec_release(&f->items);
}

void lint_tile_tell(tile_findings *f) {
    tell(f, false);
}

void lint_tile_tell_any(tile_findings *f) {
    tell(f, true);
}

/* ---- graphs ---- */

bool lint_tile_graph_open(tile_graph *g, const ir_module *m, const compiler_case *c) {
    *g = (tile_graph){.m = (ir_module *)m, .c = c, .dims = {c->dims, c->dim_count}};
    for (g->tiles = lint_first_op(m); g->tiles && !lint_tile_is(g, g->tiles, "tiles");)
        g->tiles = ir_op_get(m, g->tiles)->next;
    for (ir_walk w = ir_walk_op(g->m, g->tiles); ir_walk_next(&w);)
        vec_push(&g->ops, w.op);
    return g->tiles != 0;
}

void lint_tile_graph_release(tile_graph *g) {
    vec_release(&g->ops);
}

bool lint_tile_is(const tile_graph *g, ir_op op, const char *name) {
    return op && strcmp(lint_op_name(g->m, op), name) == 0;
}

lint_span lint_tile_span(const lint_kernel *k, const ir_module *m, ir_op op) {
    return lint_location_span(k, ir_op_get(m, op)->location);
}

bool lint_tile_number(const tile_graph *g, ir_dim dim, int64_t *out) {
    const char *missing = NULL;
    return ir_dim_evaluate(g->m, dim, g->dims, out, &missing);
}

ir_dim lint_tile_dim(const tile_graph *g, ir_op op, const char *name, uint32_t axis) {
    const ir_attr_data *list = ir_attr_get(g->m, ir_op_attr(g->m, op, name));
    return ir_attr_get(g->m, list->items[axis])->integer;
}

const ir_type_data *lint_tile_type(const tile_graph *g, ir_value v) {
    return ir_type_of(g->m, v);
}

bool lint_tile_moves(const tile_graph *g, ir_op op) {
    static const char *const names[] = {"broadcast", "reshape", "transpose", "slice", "convert"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lint_tile_is(g, op, names[i]))
            return true;
    return false;
}

bool lint_tile_constant(const tile_graph *g, ir_value v, double *out) {
    ir_op op = ir_value_get(g->m, v)->op;
    while (op && lint_tile_moves(g, op))
        op = ir_value_get(g->m, ir_op_get(g->m, op)->operands[0])->op;
    if (!lint_tile_is(g, op, "constant"))
        return false;
    const ir_attr_data *value = ir_attr_get(g->m, ir_op_attr(g->m, op, "value"));
    *out = dtype_load(value->element, &value->bits, 0);
    return true;
}

int lint_tile_input(const tile_graph *g, ir_op load) {
    return lint_input_of(g->m, ir_op_get(g->m, load)->operands[0]);
}

bool lint_tile_holds(const tile_values *list, ir_value v) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == v)
            return true;
    return false;
}

/* Operations stand behind what they use, so one look at each is enough. */
void lint_tile_moved(const tile_graph *g, ir_value v, tile_values *out) {
    vec_push(out, v);
    for (size_t i = 0; i < g->ops.count; i++) {
        const ir_op_data *d = ir_op_get(g->m, g->ops.items[i]);
        if (d->operand_count && lint_tile_moves(g, g->ops.items[i]) &&
            lint_tile_holds(out, d->operands[0]))
            vec_push(out, d->results[0]);
    }
}
