/* reductions.c - lists of a kernel's accumulations: from Graph IR, from a record, compared. */
#include "ops/reductions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/dim.h"
#include "ops/fold.h"
#include "ops/graph.h"

static bool is_reduction(const ir_module *m, ir_op op) {
    int opcode = ir_op_get(m, op)->opcode;
    graph_class class = graph_op_class(opcode);
    return class == GRAPH_CLASS_DOT || class == GRAPH_CLASS_REDUCE || class == GRAPH_CLASS_FOLD ||
           opcode == GRAPH_CUMSUM;
}

static ir_op first_op(const ir_module *m) {
    return ir_block_get(m, ir_op_block(m, ir_module_kernel(m), 0))->first;
}

/* Product of the operand's dimensions that are reduced or contracted; the one along which running
 * sums go. */
static ir_dim extent_of(ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *x = ir_type_get(m, ir_value_get(m, d->operands[0])->type);
    int64_t axes[IR_MAX_RANK];
    ir_dim extent = 1;
    if (d->opcode == GRAPH_FOLD)
        return fold_turns(m, op);
    if (d->opcode == GRAPH_CUMSUM)
        return x->dims[ir_op_int(m, op, "axis", 0)];
    if (d->opcode == GRAPH_CONVOLVE)
        return ir_type_get(m, ir_value_get(m, d->operands[1])->type)->dims[0];
    uint32_t n =
        ir_op_ints(m, op, d->opcode == GRAPH_DOT ? "x_contract" : "axes", axes, IR_MAX_RANK);
    for (uint32_t i = 0; i < n && i < IR_MAX_RANK; i++)
        extent = ir_dim_add_scaled(m, 0, extent, x->dims[axes[i]]);
    return extent;
}

/* How many accumulations there are: `along` is the axis of running sums, which is none of them. */
static ir_dim results_of(ir_module *m, ir_type type, int along) {
    const ir_type_data *t = ir_type_get(m, type);
    ir_dim count = 1;
    for (int i = 0; i < t->rank; i++)
        if (i != along)
            count = ir_dim_mul(m, count, t->dims[i]);
    return count;
}

static void add_graph_op(const ir_module *m, ir_op op, reduction_list *out) {
    const ir_op_data *d = ir_op_get(m, op);
    bool is_dot = graph_op_class(d->opcode) == GRAPH_CLASS_DOT, is_scan = d->opcode == GRAPH_CUMSUM;
    int along = is_scan ? (int)ir_op_int(m, op, "axis", 0) : -1;
    ir_type result = ir_value_get(m, d->results[0])->type;
    ir_module *dims = (ir_module *)m; /* gets expressions, and is the same module */
    reduction_record r = {.extent = extent_of(dims, op),
                          .results = results_of(dims, result, along)};
    snprintf(r.kind, sizeof r.kind, "%s",
             d->opcode == GRAPH_FOLD ? "fold"
             : is_dot                ? "dot"
             : is_scan               ? "cumsum"
                                     : ir_op_string(m, op, "kind", "sum"));
    r.order =
        d->opcode == GRAPH_FOLD ? ORDER_SEQ : order_of(m, op, is_dot ? ORDER_CHUNK512 : ORDER_ANY);
    r.name = order_name(r.order, ir_op_string(m, op, "order", ""));
    vec_push(&out->items, r);
}

/* A number of elements; -1, which matches none, where it cannot be one. */
static int64_t count_of(const ir_attr_data *d) {
    bool fits = d->kind == IR_ATTR_DIM ||
                (d->kind == IR_ATTR_INT && d->integer >= 0 && d->integer <= INT64_C(1) << 48);
    return fits ? d->integer : -1;
}

static void add_record(const ir_module *m, const ir_attr_data *d, reduction_list *out) {
    reduction_record r = {.kind = "", .order = ORDER_COUNT, .name = "?"};
    for (uint32_t i = 0; d->kind == IR_ATTR_DICT && i < d->count; i++) {
        const ir_attr_data *item = ir_attr_get(m, d->items[i]);
        const char *string = item->string ? item->string : "";
        if (strcmp(d->keys[i], "kind") == 0)
            snprintf(r.kind, sizeof r.kind, "%s", string);
        else if (strcmp(d->keys[i], "order") == 0)
            r.name = order_name(r.order = order_find(string), string);
        else if (strcmp(d->keys[i], "extent") == 0)
            r.extent = count_of(item);
        else if (strcmp(d->keys[i], "results") == 0)
            r.results = count_of(item);
    }
    vec_push(&out->items, r);
}

void reductions_of(const ir_module *m, reduction_list *out) {
    *out = (reduction_list){.open = false};
    ir_op kernel = ir_module_kernel(m);
    ir_attr record = ir_op_attr(m, kernel, "reductions");
    if (ir_op_get(m, kernel)->opcode != GRAPH_KERNEL) {
        const ir_attr_data *list = record ? ir_attr_get(m, record) : NULL;
        for (uint32_t i = 0; list && list->kind == IR_ATTR_ARRAY && i < list->count; i++)
            add_record(m, ir_attr_get(m, list->items[i]), out);
        return;
    }
    for (ir_op op = first_op(m); op; op = ir_op_get(m, op)->next) {
        graph_class class = graph_op_class(ir_op_get(m, op)->opcode);
        out->open |= class == GRAPH_CLASS_COMPOSITE || class == GRAPH_CLASS_TILES;
        if (is_reduction(m, op))
            add_graph_op(m, op, out);
    }
}

void reductions_release(reduction_list *list) {
    vec_release(&list->items);
}

int64_t reduction_number(const ir_module *graph, ir_op op) {
    int64_t number = 0;
    for (ir_op i = first_op(graph); i && i != op; i = ir_op_get(graph, i)->next)
        number += is_reduction(graph, i);
    return number;
}

ir_attr reductions_attr(ir_module *m, const reduction_list *list) {
    static const char *const keys[] = {"extent", "kind", "order", "results"};
    VEC(ir_attr) items = {0};
    for (size_t i = 0; i < list->items.count; i++) {
        const reduction_record *r = &list->items.items[i];
        ir_attr values[] = {ir_attr_dim(m, r->extent), ir_attr_string(m, r->kind),
                            ir_attr_string(m, r->name), ir_attr_dim(m, r->results)};
        ir_attr item = ir_attr_dict(m, keys, values, 4);
        vec_push(&items, item);
    }
    ir_attr attr = ir_attr_array(m, items.items, (uint32_t)items.count);
    vec_release(&items);
    return attr;
}

const char *reduction_extent_text(const reduction_record *r, char room[REDUCTION_EXTENT_TEXT]) {
    if (ir_dim_is_static(r->extent))
        snprintf(room, REDUCTION_EXTENT_TEXT, "%" PRId64, r->extent);
    else
        snprintf(room, REDUCTION_EXTENT_TEXT, "?");
    return room;
}

/* ---- comparison ---- */

/* The same, or one is the other with its symbols bound. */
static bool same_count(ir_dim a, ir_dim b) {
    return a == b || ir_dim_is_static(a) != ir_dim_is_static(b);
}

static bool same_record(const reduction_record *a, const reduction_record *b) {
    return strcmp(a->kind, b->kind) == 0 && a->order == b->order && strcmp(a->name, b->name) == 0 &&
           same_count(a->extent, b->extent) && same_count(a->results, b->results);
}

/* Is `part` what is left of `whole` after some were dropped? *at: the first that is not in it. */
static bool is_subsequence(const reduction_list *part, const reduction_list *whole, size_t *at) {
    size_t next = 0;
    for (*at = 0; *at < part->items.count; ++*at) {
        while (next < whole->items.count &&
               !same_record(&part->items.items[*at], &whole->items.items[next]))
            next++;
        if (next++ >= whole->items.count)
            return false;
    }
    return true;
}

bool reductions_kept(const reduction_list *before, const reduction_list *after, status *st) {
    size_t at;
    char extent[REDUCTION_EXTENT_TEXT];
    if (after->open && before->open)
        return true;
    if (is_subsequence(before->open ? before : after, before->open ? after : before, &at))
        return true;
    const reduction_record *r = &(before->open ? before : after)->items.items[at];
    return status_set(st, STATUS_INTERNAL,
                      before->open ? "%s number %zu over %s elements in order '%s' was there "
                                     "before, and is lost"
                                   : "%s number %zu over %s elements in order '%s' is not one that "
                                     "was there before",
                      r->kind, at, reduction_extent_text(r, extent), r->name);
}

const reduction_record *reduction_named(const ir_module *m, ir_op op, const reduction_list *list,
                                        status *st) {
    int64_t number = ir_op_int(m, op, "reduction", -1);
    const char *order = ir_op_string(m, op, "order", "");
    char extent[REDUCTION_EXTENT_TEXT];
    if (number < 0 || (uint64_t)number >= list->items.count) {
        status_set(st, STATUS_INTERNAL,
                   "order '%s' belongs to no reduction of the graph: number %" PRId64
                   ", and there are %zu",
                   order, number, list->items.count);
        return NULL;
    }
    const reduction_record *r = &list->items.items[number];
    if (strcmp(r->name, order) == 0)
        return r;
    status_set(st, STATUS_INTERNAL,
               "order '%s', but reduction %" PRId64
               " of the graph (%s over %s elements) has order '%s'",
               order, number, r->kind, reduction_extent_text(r, extent), r->name);
    return NULL;
}
