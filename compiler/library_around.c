/* library_around.c - see library_around.h. */
#include "library_around.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "library_parts.h"
#include "ops/build.h"
#include "ops/tiles.h"

enum { LEADS = PART_AXES - 2, MOST_CUTS = 8 };

typedef struct rewriting {
    const ir_module *g, *t; /* the graph; the composite's kernel of tiles */
    ir_op composite;
    int64_t leads[LEADS]; /* axes before rows and columns; the only one of tiles may become several,
                             the last one innermost */
    int lead_count, own_leads; /* ... and those that tiles have */
    parts parts;               /* of outputs */
    parts_kernel kernel;
    ir_builder b;                    /* of the kernel's block */
    ir_op tiles;                     /* its instances */
    ir_value stands[LIMIT_OPERANDS]; /* for operands of the composite, until loads are replaced */
    bool split;                      /* a leading axis has become two: all is to be made again */
} rewriting;

static const ir_op_data *data_of(const rewriting *r) {
    return ir_op_get(r->g, r->composite);
}

/* ---- forms ---- */

static const char *lead_name(const rewriting *r, int i, char room[16]) {
    const ir_attr_data *names = ir_attr_get(r->t, ir_op_attr(r->t, tiles_of(r->t), "indices"));
    if (r->lead_count == r->own_leads)
        return ir_attr_get(r->t, names->items[i])->string;
    snprintf(room, 16, "lead%d", i);
    return room;
}

/* Makes a form: axes before rows and columns, and these. The latter
 * begin where `start` says, of the module of tiles, which has the same numbers, and have so many
 * places. */
static part_form form_of(const rewriting *r, parts *e, const ir_type_data *whole,
                         const ir_attr_data *start, const int64_t size[2]) {
    part_form form = {0};
    char room[16];
    for (int i = 0; i < r->lead_count; i++)
        form.axes[form.count++] = parts_axis(
            e, (part_axis){r->leads[i], ir_dim_symbol(e->b.m, lead_name(r, i, room)), 0, 0});
    for (int k = 0; k < 2; k++) {
        const int i = r->own_leads + k;
        form.axes[form.count++] =
            parts_axis(e, (part_axis){whole->dims[i], ir_attr_get(r->t, start->items[i])->integer,
                                      size[k], k});
    }
    if (size[1] == whole->dims[r->own_leads + 1])
        e->whole = form.axes[form.count - 1];
    return form;
}

/* Splits the leading axis that some value has as two. */
static bool split(rewriting *r, const parts *e) {
    if (!e->split_extent || e->split >= r->lead_count || r->lead_count == LEADS || r->own_leads > 1)
        return false;
    for (int i = r->lead_count; i > e->split; i--)
        r->leads[i] = r->leads[i - 1];
    r->leads[e->split] = e->split_extent;
    r->leads[e->split + 1] /= e->split_extent;
    r->lead_count++;
    return r->split = true;
}

/* ---- loads ---- */

/* The parts that the columns of an operand's tile are made of, first to last. */
typedef struct columns {
    int count;
    int64_t from[MOST_CUTS + 1];
} columns;

static bool cut(columns *c, int k, int64_t at) {
    if (at <= 0 || c->count == MOST_CUTS)
        return false;
    at += c->from[k];
    for (int i = ++c->count; i > k + 1; i--)
        c->from[i] = c->from[i - 1];
    c->from[k + 1] = at;
    return true;
}

/* Some columns of a form. */
static part_form narrowed(parts *e, part_form form, int64_t from, int64_t to) {
    int *last = &form.axes[form.count - 1];
    part_axis axis = e->axes.items[*last];
    axis.start = ir_dim_add_scaled(e->b.m, axis.start, from, 1);
    axis.size = to - from;
    *last = parts_axis(e, axis);
    return form;
}

/* Finds what the parts of a tile are made of. False: *k is the first that has to be cut. */
static bool find_columns(parts *e, ir_value v, const part_form *form, const columns *c, int *k) {
    for (*k = 0; *k < c->count; ++*k) {
        part_form some = narrowed(e, *form, c->from[*k], c->from[*k + 1]);
        if (!parts_want(e, v, &some) || !parts_find(e))
            return false;
    }
    return true;
}

static ir_value joined(parts *e, ir_value v, const part_form *form, const columns *c) {
    ir_value tiles[MOST_CUTS];
    for (int k = 0; k < c->count; k++) {
        part_form some = narrowed(e, *form, c->from[k], c->from[k + 1]);
        tiles[k] = parts_tile(e, v, &some);
        if (!tiles[k])
            return 0;
    }
    return build_concat(&e->b, 1, tiles, (uint32_t)c->count);
}

/* Behind the last column of a shorter axis a tile is zero, and not what is made of zeros. */
static ir_value make_operand(parts *e, ir_value v, const part_form *form, const columns *c) {
    const part_axis last = e->axes.items[form->axes[form->count - 1]];
    ir_value x = parts_make(e) ? joined(e, v, form, c) : 0;
    return (e->computes || c->count > 1) && last.size != last.extent ? 0 : x;
}

static ir_value operand_tile(rewriting *r, ir_op load, ir_value v) {
    ir_module *m = r->b.m;
    const ir_op_data *d = ir_op_get(m, load);
    const ir_type_data *tile = ir_type_of(m, d->results[0]);
    const ir_attr_data *start = ir_attr_get(m, ir_op_attr(m, load, "start"));
    columns c = {1, {0, tile->dims[1]}};
    ir_value made = 0;
    for (bool again = true; again;) {
        parts e;
        int k = 0;
        ir_builder at = {m, d->block, load, d->location};
        parts_open(&e, r->g, &r->kernel, at);
        const ir_type_data *whole = ir_type_of(m, d->operands[0]);
        part_form form = form_of(r, &e, whole, start, tile->dims);
        again = !find_columns(&e, v, &form, &c, &k);
        if (!again)
            made = make_operand(&e, v, &form, &c);
        else if (!split(r, &e))
            again = cut(&c, k, e.cut);
        else
            again = false;
        parts_close(&e);
    }
    return made;
}

/* Hints of a load hold for what stands for it, if that is a load. */
static void keep_hints(ir_module *m, ir_op load, ir_value x) {
    ir_op made = ir_value_get(m, x)->op;
    ir_attr hints = ir_op_attr(m, load, "hints");
    if (hints && ir_op_get(m, made)->opcode == GRAPH_LOAD)
        ir_op_set_attr(m, made, "hints", hints);
}

static bool replace_load(rewriting *r, ir_op load) {
    ir_module *m = r->b.m;
    const ir_op_data *d = ir_op_get(m, load);
    uint32_t i = 0;
    while (i < data_of(r)->operand_count && r->stands[i] != d->operands[0])
        i++;
    if (i == data_of(r)->operand_count)
        return true; /* one that stands for another already */
    ir_value x = operand_tile(r, load, data_of(r)->operands[i]);
    if (!x)
        return false;
    keep_hints(m, load, x);
    ir_replace_uses(m, d->results[0], x);
    ir_op_erase(m, load);
    return true;
}

/* ---- results ---- */

/* Finds the forms of all outputs, each of which is made of the composite's result. */
static bool find_outputs(rewriting *r, const part_form *result) {
    const ir_op_data *end = ir_op_get(r->g, ir_kernel_body(r->g)->last);
    part_form *forms = base_calloc((size_t)ir_value_count(r->g) + 1, sizeof *forms);
    bool ok = end->operand_count <= LIMIT_OPERANDS;
    forms[data_of(r)->results[0]] = *result;
    for (ir_op op = data_of(r)->next; op; op = ir_op_get(r->g, op)->next) {
        const ir_op_data *d = ir_op_get(r->g, op);
        for (uint32_t i = 0; i < d->operand_count && d->result_count == 1; i++)
            if (forms[d->operands[i]].count && !forms[d->results[0]].count &&
                !parts_behind(&r->parts, op, &forms[d->operands[i]], &forms[d->results[0]]))
                forms[d->results[0]].count = 0;
    }
    for (uint32_t i = 0; ok && i < end->operand_count; i++) {
        r->parts.outputs[i] = forms[end->operands[i]];
        ok = r->parts.outputs[i].count &&
             parts_want(&r->parts, end->operands[i], &r->parts.outputs[i]);
    }
    free(forms);
    return ok;
}

static ir_op open_tiles(rewriting *r) {
    static const char *const lists[] = {"indices", "counts"};
    ir_module *m = r->b.m;
    ir_op was = tiles_of(r->t);
    ir_attr made[2], items[PART_AXES + 2];
    char room[16];
    for (int k = 0; k < 2; k++) {
        const ir_attr_data *list = ir_attr_get(r->t, ir_op_attr(r->t, was, lists[k]));
        uint32_t count = 0;
        for (int i = 0; i < r->lead_count; i++)
            items[count++] =
                k ? ir_attr_int(m, r->leads[i]) : ir_attr_string(m, lead_name(r, i, room));
        for (uint32_t i = (uint32_t)r->own_leads; i < list->count; i++)
            items[count++] = list->items[i];
        made[k] = ir_attr_array(m, items, count);
    }
    return parts_open_tiles(&r->parts, &r->b,
                            (ir_named_attr[]){{"indices", made[0]},
                                              {"counts", made[1]},
                                              {"hints", ir_op_attr(r->t, was, "hints")}});
}

/* ---- the kernel ---- */

/* Copies what the instances of the composite do. Its result's tile. */
static ir_value copy_instances(rewriting *r) {
    const ir_block_data *body = ir_kernel_body(r->t);
    ir_value *copies = base_calloc((size_t)ir_value_count(r->t) + 1, sizeof *copies);
    for (uint32_t i = 0; i < body->argument_count; i++)
        copies[body->arguments[i]] = r->stands[i];
    ir_op op = ir_block_get(r->t, ir_op_block(r->t, tiles_of(r->t), 0))->first;
    for (; ir_op_get(r->t, op)->opcode != GRAPH_GIVE; op = ir_op_get(r->t, op)->next)
        ir_copy_op(&r->parts.b, r->t, op, copies);
    ir_value result = copies[ir_op_get(r->t, op)->operands[0]];
    free(copies);
    return result;
}

static bool is_form(const ir_module *g, ir_op op) {
    const ir_op_data *d = op ? ir_op_get(g, op) : NULL;
    return d && (d->opcode == GRAPH_RESHAPE ||
                 (d->opcode == GRAPH_CONVERT &&
                  dtype_is_narrow(ir_type_of(g, d->operands[0])->element) &&
                  ir_type_of(g, d->results[0])->element == DTYPE_F32));
}

ir_value library_origin(const ir_module *graph, ir_value v) {
    for (ir_op op = ir_value_get(graph, v)->op; is_form(graph, op); op = ir_value_get(graph, v)->op)
        v = ir_op_get(graph, op)->operands[0];
    return v;
}

/* The argument of the kernel that has these axes, of which an operand is no more than another form;
 * 0: there is none. */
static ir_value argument_of(const rewriting *r, ir_value v, const ir_type_data *type) {
    const ir_block_data *body = ir_kernel_body(r->g);
    v = library_origin(r->g, v);
    const ir_type_data *d = ir_type_of(r->g, v);
    if (ir_value_get(r->g, v)->op || d->rank != type->rank ||
        memcmp(d->dims, type->dims, sizeof *d->dims * (size_t)d->rank))
        return 0;
    uint32_t i = 0;
    while (body->arguments[i] != v)
        i++;
    if (r->kernel.typed[i])
        return 0;
    r->kernel.typed[i] = true;
    return r->kernel.arguments[i];
}

/* Tiles with several leading axes load arguments, as they say. */
static bool is_direct(const rewriting *r) {
    return r->own_leads > 1;
}

/* Operands of the composite, before the instances. False: one has to be an argument, and is not. */
static bool open_stands(rewriting *r) {
    const ir_block_data *body = ir_kernel_body(r->t);
    bool ok = true;
    for (uint32_t i = 0; ok && i < body->argument_count; i++) {
        const ir_type type = ir_value_get(r->t, body->arguments[i])->type;
        r->stands[i] = is_direct(r) ? argument_of(r, data_of(r)->operands[i],
                                                  ir_type_of(r->t, body->arguments[i]))
                                    : ir_build1(&r->b, GRAPH_CONSTANT, NULL, 0, type, NULL, 0);
        ok = r->stands[i] != 0;
    }
    return ok;
}

static void close_stands(rewriting *r) {
    for (uint32_t i = 0; i < data_of(r)->operand_count && !is_direct(r); i++)
        ir_op_erase(r->b.m, ir_value_get(r->b.m, r->stands[i])->op);
}

static bool replace_loads(rewriting *r) {
    bool ok = true;
    if (is_direct(r))
        return true;
    for (ir_walk w = ir_walk_op(r->b.m, r->tiles); ok && ir_walk_next(&w);)
        ok = ir_op_get(r->b.m, w.op)->opcode != GRAPH_LOAD || replace_load(r, w.op);
    return ok;
}

/* The form of the result as the instances give it. */
static part_form result_form(rewriting *r) {
    ir_op tiles = tiles_of(r->t), end = ir_block_get(r->t, ir_op_block(r->t, tiles, 0))->last;
    const ir_attr_data *starts = ir_attr_get(r->t, ir_op_attr(r->t, end, "start"));
    return form_of(r, &r->parts, ir_type_of(r->t, ir_op_get(r->t, tiles)->results[0]),
                   ir_attr_get(r->t, starts->items[0]),
                   ir_type_of(r->t, ir_op_get(r->t, end)->operands[0])->dims);
}

static bool make(rewriting *r) {
    part_form result = result_form(r);
    const part_axis last = r->parts.axes.items[result.axes[result.count - 1]];
    if (!find_outputs(r, &result) || !open_stands(r))
        return false;
    r->tiles = open_tiles(r);
    parts_give(&r->parts, data_of(r)->results[0], &result, copy_instances(r));
    bool ok = parts_find(&r->parts) && replace_loads(r) &&
              parts_end_kernel(&r->parts, &r->b, r->tiles) &&
              !(!is_direct(r) && r->parts.computes && last.size != last.extent);
    if (ok)
        close_stands(r);
    return ok;
}

static ir_module *attempt(rewriting *r) {
    ir_module *m = ir_module_like(r->t);
    r->split = false;
    r->b = parts_open_kernel(&r->kernel, m, r->g);
    parts_open(&r->parts, r->g, &r->kernel, r->b);
    bool ok = make(r);
    if (!ok && !r->split)
        split(r, &r->parts);
    parts_close(&r->parts);
    parts_release_kernel(&r->kernel);
    if (ok)
        return m;
    ir_module_free(m);
    return NULL;
}

ir_module *library_around(const ir_module *graph, ir_op composite, const ir_module *tiles) {
    const ir_type_data *result = ir_type_of(tiles, ir_op_get(tiles, tiles_of(tiles))->results[0]);
    const int leads = result->rank - 2;
    rewriting r = {.g = graph,
                   .t = tiles,
                   .composite = composite,
                   .split = true,
                   .lead_count = leads,
                   .own_leads = leads};
    ir_module *made = NULL;
    memcpy(r.leads, result->dims, sizeof *r.leads * (size_t)leads);
    while (!made && r.split)
        made = attempt(&r);
    return made;
}
