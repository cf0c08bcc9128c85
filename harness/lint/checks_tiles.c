/* checks_tiles.c - kernels of tiles: what is loaded and not used, what stands outside of a tensor,
 * and loops that never run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lint/tiles.h"

/* ---- loads that no result needs ---- */

typedef struct liveness {
    const tile_graph *g;
    bool *live; /* by value */
    bool changed;
} liveness;

static void mark(liveness *l, ir_value v) {
    l->changed |= !l->live[v];
    l->live[v] = true;
}

/* Marks what a loop carries and needs behind it, or in its next turn. */
static void mark_loop(liveness *l, ir_op op) {
    const ir_op_data *d = ir_op_get(l->g->m, op);
    const ir_block_data *body = ir_block_get(l->g->m, ir_op_block(l->g->m, op, 0));
    const ir_op_data *end = ir_op_get(l->g->m, body->last);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (l->live[d->results[i]] || l->live[body->arguments[i]]) {
            mark(l, d->operands[i]);
            mark(l, end->operands[i]);
        }
}

static void mark_op(liveness *l, ir_op op) {
    const ir_op_data *d = ir_op_get(l->g->m, op);
    bool needed = lint_tile_is(l->g, op, "give");
    for (uint32_t i = 0; i < d->result_count; i++)
        needed |= l->live[d->results[i]];
    for (uint32_t i = 0; needed && i < d->operand_count; i++)
        mark(l, d->operands[i]);
}

/* Owned, by value. */
static bool *live_values(const tile_graph *g) {
    liveness l = {g, base_calloc(ir_value_count(g->m) + 1, sizeof(bool)), true};
    while (l.changed) {
        l.changed = false;
        for (size_t i = g->ops.count; i > 0; i--) {
            ir_op op = g->ops.items[i - 1];
            if (lint_tile_is(g, op, "for"))
                mark_loop(&l, op);
            else if (!lint_tile_is(g, op, "next") && !lint_tile_is(g, op, "tiles"))
                mark_op(&l, op);
        }
    }
    return l.live;
}

/* Names are for messages: that of the parameter. */
static const char *loaded_name(const tile_findings *f, const tile_graph *g, ir_op load) {
    int input = lint_tile_input(g, load);
    return input >= 0 ? f->k->kernel->parameter_names[input] : "it";
}

/* ---- loads that are used in part ---- */

/* The only operation that uses it; 0: there are several, or none. */
static ir_op only_user(const tile_graph *g, ir_value v) {
    ir_op user = 0;
    for (size_t i = 0; i < g->ops.count; i++) {
        const ir_op_data *d = ir_op_get(g->m, g->ops.items[i]);
        for (uint32_t k = 0; k < d->operand_count; k++) {
            if (d->operands[k] != v)
                continue;
            if (user && user != g->ops.items[i])
                return 0;
            user = g->ops.items[i];
        }
    }
    return user;
}

/* Uses only the first so many of all columns, which were not asked for by their number. */
static bool uses_first_columns(const tile_graph *g, ir_op load, int64_t *taken, int64_t *all) {
    const ir_value tile = ir_op_get(g->m, load)->results[0];
    const ir_type_data *type = lint_tile_type(g, tile);
    ir_op user = only_user(g, tile);
    int64_t start, stop, rows, step;
    if (type->rank != 2 || !lint_tile_is(g, user, "slice") ||
        !lint_tile_number(g, lint_tile_dim(g, user, "start", 1), &start) ||
        !lint_tile_number(g, lint_tile_dim(g, user, "step", 1), &step) ||
        !lint_tile_number(g, lint_tile_dim(g, user, "stop", 1), &stop) ||
        !lint_tile_number(g, lint_tile_dim(g, user, "start", 0), &rows) ||
        !lint_tile_number(g, type->dims[1], all))
        return false;
    *taken = stop;
    return start == 0 && rows == 0 && step == 1 && stop < *all &&
           lint_tile_dim(g, user, "stop", 0) == type->dims[0];
}

/* ---- loads that a loop repeats ---- */

static ir_op loop_around(const tile_graph *g, ir_op op) {
    ir_op around =
        ir_region_get(g->m, ir_block_get(g->m, ir_op_get(g->m, op)->block)->region)->parent;
    return lint_tile_is(g, around, "for") ? around : 0;
}

/* False: an index tells how many. */
static bool turns_of(const tile_graph *g, ir_op loop, int64_t *out) {
    ir_attr from = ir_op_attr(g->m, loop, "first"), count = ir_op_attr(g->m, loop, "count");
    int64_t first = 0;
    bool known = (!from || lint_tile_number(g, ir_attr_get(g->m, from)->integer, &first)) &&
                 lint_tile_number(g, ir_attr_get(g->m, count)->integer, out);
    *out -= known ? first : 0;
    return known;
}

/* Its place does not change from one turn to the next, and there are several. */
static bool is_repeated(const tile_graph *g, ir_op load) {
    ir_op loop = loop_around(g, load);
    if (!loop)
        return false;
    const ir_binding first = {ir_op_string(g->m, loop, "index", ""), 0};
    const ir_attr_data *start = ir_attr_get(g->m, ir_op_attr(g->m, load, "start"));
    int64_t turns;
    for (uint32_t i = 0; i < start->count; i++) {
        ir_dim at = lint_tile_dim(g, load, "start", i);
        if (ir_dim_substitute(g->m, at, (ir_bindings){&first, 1}) != at)
            return false;
    }
    return turns_of(g, loop, &turns) && turns > 1;
}

/* ---- what stands outside of a tensor ---- */

typedef struct input_range {
    double least, most;
} input_range;

static input_range range_of(const compiler_input *in) {
    switch (in->kind) {
    case INPUT_UNIFORM:
        return (input_range){in->a, in->b};
    case INPUT_INTEGERS:
        return (input_range){in->a, in->b - 1};
    case INPUT_CONSTANT:
        return (input_range){in->a, in->a};
    default:
        return (input_range){-INFINITY, INFINITY};
    }
}

static bool reduces(const tile_graph *g, ir_op op, const char *kind) {
    return lint_tile_is(g, op, "reduce") && strcmp(ir_op_string(g->m, op, "kind", ""), kind) == 0;
}

/* A bound such as that of maximum(x, 0) is no neighbour. */
static bool chooses(const tile_graph *g, ir_op op, const char *name) {
    const ir_op_data *d = ir_op_get(g->m, op);
    double ignored;
    return lint_tile_is(g, op, name) && !lint_tile_constant(g, d->operands[0], &ignored) &&
           !lint_tile_constant(g, d->operands[1], &ignored);
}

static bool takes(const tile_graph *g, ir_op op, const tile_values *of) {
    const ir_op_data *d = ir_op_get(g->m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (lint_tile_holds(of, d->operands[i]))
            return true;
    return false;
}

static bool is_summed(const tile_graph *g, ir_value v) {
    tile_values moved = {0};
    bool found = false;
    lint_tile_moved(g, v, &moved);
    for (size_t i = 0; i < g->ops.count; i++)
        found |= reduces(g, g->ops.items[i], "sum") && takes(g, g->ops.items[i], &moved);
    vec_release(&moved);
    return found;
}

/* A mean along an axis along which the load is shifted. */
static bool averages(const tile_graph *g, ir_op op, ir_op load) {
    int64_t kept[IR_MAX_RANK], shift[IR_MAX_RANK];
    if (!lint_tile_is(g, op, "mean") ||
        ir_op_get(g->m, op)->operands[0] != ir_op_get(g->m, load)->results[0])
        return false;
    int64_t rank = ir_op_ints(g->m, load, "kept", kept, IR_MAX_RANK),
            axis = ir_op_int(g->m, op, "axis", -1);
    ir_op_ints(g->m, load, "shift", shift, IR_MAX_RANK);
    return shift[kept[axis < 0 ? axis + rank : axis]] != 0;
}

/* Effect of the elements outside; NULL: they are no more than the others. */
static const char *edge_wins(const tile_graph *g, ir_op op, ir_op load, double other,
                             input_range in) {
    if ((reduces(g, op, "max") || chooses(g, op, "maximum")) && other > in.least)
        return "the maximum wherever the others are less";
    if ((reduces(g, op, "min") || chooses(g, op, "minimum")) && other < in.most)
        return "the minimum wherever the others are greater";
    if (lint_tile_is(g, op, "exp") && exp(other) > 0 &&
        is_summed(g, ir_op_get(g->m, op)->results[0]))
        return "one more term of a sum of exponentials";
    return averages(g, op, load) ? "counted by the mean" : NULL;
}

static void look_at_edge(tile_findings *f, const tile_graph *g, ir_op load) {
    const ir_attr other = ir_op_attr(g->m, load, "other");
    const int input = lint_tile_input(g, load);
    tile_values moved = {0};
    if (!other || input < 0)
        return;
    const ir_attr_data *bits = ir_attr_get(g->m, other);
    const double value = dtype_load(bits->element, &bits->bits, 0);
    const char *what = NULL;
    lint_tile_moved(g, ir_op_get(g->m, load)->results[0], &moved);
    for (size_t i = 0; i < g->ops.count && !what; i++)
        if (takes(g, g->ops.items[i], &moved))
            what = edge_wins(g, g->ops.items[i], load, value, range_of(&g->c->inputs[input]));
    vec_release(&moved);
    lint_tile_note(f, LINT_EDGE_VALUE, (tile_place){lint_tile_span(f->k, g->m, load), g->c},
                   what != NULL, "outside of '%s' there is %g, and that is %s",
                   loaded_name(f, g, load), value, what ? what : "");
}

/* ---- loops that never run ---- */

static bool has_elements(const tile_graph *g, ir_value v) {
    const ir_type_data *type = lint_tile_type(g, v);
    for (int i = 0; i < type->rank; i++) {
        int64_t size;
        if (!lint_tile_number(g, type->dims[i], &size) || size == 0)
            return false;
    }
    return true;
}

/* Operation that divides by it, or takes its logarithm; 0: nothing does. */
static ir_op divides(const tile_graph *g, ir_value v) {
    tile_values moved = {0};
    ir_op found = 0;
    lint_tile_moved(g, v, &moved);
    for (size_t i = 0; i < g->ops.count && !found; i++) {
        ir_op op = g->ops.items[i];
        const ir_op_data *d = ir_op_get(g->m, op);
        bool pole = lint_tile_is(g, op, "log") || lint_tile_is(g, op, "rsqrt");
        if ((pole && lint_tile_holds(&moved, d->operands[0])) ||
            (lint_tile_is(g, op, "div") && lint_tile_holds(&moved, d->operands[1])))
            found = has_elements(g, d->results[0]) ? op : 0;
    }
    vec_release(&moved);
    return found;
}

static bool is_run(const tile_graph *g) {
    const ir_attr_data *counts = ir_attr_get(g->m, ir_op_attr(g->m, g->tiles, "counts"));
    for (uint32_t i = 0; i < counts->count; i++) {
        int64_t count;
        if (!lint_tile_number(g, lint_tile_dim(g, g->tiles, "counts", i), &count) || count == 0)
            return false;
    }
    return true;
}

static void look_at_loop(tile_findings *f, const tile_graph *g, ir_op loop) {
    const ir_op_data *d = ir_op_get(g->m, loop);
    int64_t turns;
    if (!turns_of(g, loop, &turns) || turns > 0 || !is_run(g))
        return;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        double first;
        ir_op by = lint_tile_constant(g, d->operands[i], &first) && first == 0
                       ? divides(g, d->results[i])
                       : 0;
        if (by)
            lint_tile_note(f, LINT_NO_TURNS, (tile_place){lint_tile_span(f->k, g->m, loop), g->c},
                           true,
                           "in case %s this loop never runs, and the 0 that stands before it is %s",
                           g->c->name,
                           lint_tile_is(g, by, "div") ? "divided by" : "the operand of a function");
    }
}

/* ---- all of them ---- */

static void look_at_load(tile_findings *always, tile_findings *ever, const tile_graph *g,
                         ir_op load, const bool *live) {
    const tile_place at = {lint_tile_span(always->k, g->m, load), g->c};
    const char *name = loaded_name(always, g, load);
    const bool used = live[ir_op_get(g->m, load)->results[0]];
    int64_t taken = 0, all = 0;
    bool first = uses_first_columns(g, load, &taken, &all);
    lint_tile_note(always, LINT_UNUSED_TILE, at, !used, "no result depends on this tile of '%s'",
                   name);
    lint_tile_note(always, LINT_PART_OF_TILE, at, used && first,
                   "of the %lld columns of '%s' only the first %lld are used", (long long)all, name,
                   (long long)taken);
    lint_tile_note(ever, LINT_REPEATED_LOAD, at, used && is_repeated(g, load),
                   "every turn of the loop loads the same tile of '%s'", name);
    look_at_edge(ever, g, load);
}

static void look(tile_findings *always, tile_findings *ever, const tile_graph *g) {
    bool *live = live_values(g);
    for (size_t i = 0; i < g->ops.count; i++) {
        if (lint_tile_is(g, g->ops.items[i], "load"))
            look_at_load(always, ever, g, g->ops.items[i], live);
        if (lint_tile_is(g, g->ops.items[i], "for"))
            look_at_loop(ever, g, g->ops.items[i]);
    }
    free(live);
}

void lint_check_tiles(const lint_kernel *k) {
    tile_findings always = {.k = k}, ever = {.k = k};
    for (size_t i = 0; i < k->case_count; i++) {
        tile_graph g;
        if (lint_tile_graph_open(&g, compiler_instance_graph(k->cases[i].instance), k->cases[i].c))
            look(&always, &ever, &g);
        lint_tile_graph_release(&g);
    }
    lint_tile_tell(&always);
    lint_tile_tell_any(&ever);
}
