/* reductions.c - lists of a kernel's accumulations: from Graph IR, from a record, compared by id.
 */
#include "ops/reductions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dim.h"
#include "ops/chunks.h"
#include "ops/fold.h"
#include "ops/graph.h"

static bool is_reduction(const ir_module *m, ir_op op) {
    int opcode = ir_op_get(m, op)->opcode;
    graph_class class = graph_op_class(opcode);
    return class == GRAPH_CLASS_DOT || class == GRAPH_CLASS_REDUCE || class == GRAPH_CLASS_FOLD ||
           opcode == GRAPH_CUMSUM;
}

bool reduction_kind_known(const char *kind) {
    return reduction_rounds(kind) || strcmp(kind, "max") == 0 || strcmp(kind, "min") == 0;
}

int reduction_graph_opcode(const char *kind) {
    static const struct {
        const char *kind;
        int opcode;
    } kinds[] = {
        {"sum", GRAPH_ADD}, {"prod", GRAPH_MUL}, {"max", GRAPH_MAXIMUM}, {"min", GRAPH_MINIMUM}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].opcode;
    return -1;
}

bool reduction_scans(const char *kind) {
    return strncmp(kind, "cum", 3) == 0;
}

const char *reduction_combines(const char *kind) {
    return reduction_scans(kind) ? kind + 3 : kind;
}

bool reduction_rounds(const char *kind) {
    const char *combines = reduction_combines(kind);
    return strcmp(combines, "sum") == 0 || strcmp(combines, "prod") == 0;
}

static ir_op first_op(const ir_module *m) {
    return ir_kernel_body(m)->first;
}

static bool is_graph(const ir_module *m) {
    return ir_op_get(m, ir_module_kernel(m))->opcode == GRAPH_KERNEL;
}

/* ---- ids ---- */

int64_t reduction_id(const ir_module *m, ir_op op) {
    return ir_op_int(m, op, "id", REDUCTION_NO_ID);
}

void reductions_number(ir_module *m) {
    int64_t next = 0;
    if (!is_graph(m))
        return;
    for (ir_op op = first_op(m); op; op = ir_op_get(m, op)->next)
        if (is_reduction(m, op) && reduction_id(m, op) >= next)
            next = reduction_id(m, op) + 1;
    for (ir_op op = first_op(m); op; op = ir_op_get(m, op)->next)
        if (is_reduction(m, op) && !ir_op_attr(m, op, "id"))
            ir_op_set_attr(m, op, "id", ir_attr_int(m, next++));
}

/* ---- from Graph IR ---- */

/* Product of the operand's dimensions that are reduced or contracted; the one along which running
 * sums go. */
static ir_dim extent_of(ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *x = ir_type_of(m, d->operands[0]);
    int64_t axes[IR_MAX_RANK];
    ir_dim extent = 1;
    if (d->opcode == GRAPH_FOLD)
        return fold_turns(m, op);
    if (d->opcode == GRAPH_CUMSUM)
        return x->dims[ir_op_int(m, op, "axis", 0)];
    if (d->opcode == GRAPH_CONVOLVE)
        return ir_type_of(m, d->operands[1])->dims[0];
    uint32_t n =
        ir_op_ints(m, op, d->opcode == GRAPH_DOT ? "x_contract" : "axes", axes, IR_MAX_RANK);
    for (uint32_t i = 0; i < n && i < IR_MAX_RANK; i++)
        extent = ir_dim_add_scaled(m, 0, extent, x->dims[axes[i]]);
    return extent;
}

/* Number of accumulations: `along` is the axis of running sums, which is none of them. */
static ir_dim results_of(ir_module *m, ir_type type, int along) {
    const ir_type_data *t = ir_type_get(m, type);
    ir_dim count = 1;
    for (int i = 0; i < t->rank; i++)
        if (i != along)
            count = ir_dim_mul(m, count, t->dims[i]);
    return count;
}

/* Marks each value that the kernel's outputs depend on. The caller frees the marks. */
static bool *needed_values(const ir_module *m) {
    bool *needed = base_calloc(ir_value_count(m) + 1, sizeof *needed);
    for (ir_op op = ir_kernel_body(m)->last; op; op = ir_op_get(m, op)->previous) {
        const ir_op_data *d = ir_op_get(m, op);
        bool used = d->result_count == 0;
        for (uint32_t i = 0; i < d->result_count; i++)
            used |= needed[d->results[i]];
        for (ir_walk w = ir_walk_op(m, op); used && ir_walk_next(&w);)
            for (uint32_t i = 0; i < ir_op_get(m, w.op)->operand_count; i++)
                needed[ir_op_get(m, w.op)->operands[i]] = true;
    }
    return needed;
}

static const char *scan_kind(const ir_module *m, ir_op op) {
    static const char *const kinds[] = {"cumsum", "cumprod", "cummax", "cummin"};
    const char *kind = ir_op_string(m, op, "kind", "sum");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(reduction_combines(kinds[i]), kind) == 0)
            return kinds[i];
    return kind;
}

static void add_graph_op(const ir_module *m, ir_op op, const bool *needed, reduction_list *out) {
    const ir_op_data *d = ir_op_get(m, op);
    bool is_dot = graph_op_class(d->opcode) == GRAPH_CLASS_DOT, is_scan = d->opcode == GRAPH_CUMSUM;
    int along = is_scan ? (int)ir_op_int(m, op, "axis", 0) : -1;
    ir_type result = ir_value_get(m, d->results[0])->type;
    ir_module *dims = (ir_module *)m; /* gets expressions, and is the same module */
    reduction_record r = {.extent = extent_of(dims, op),
                          .results = results_of(dims, result, along),
                          .id = reduction_id(m, op)};
    for (uint32_t i = 0; i < d->result_count; i++)
        r.needed |= needed[d->results[i]];
    snprintf(r.kind, sizeof r.kind, "%s",
             d->opcode == GRAPH_FOLD ? "fold"
             : is_dot                ? "dot"
             : is_scan               ? scan_kind(m, op)
                                     : ir_op_string(m, op, "kind", "sum"));
    r.order =
        d->opcode == GRAPH_FOLD ? ORDER_SEQ : order_of(m, op, is_dot ? ORDER_CHUNK512 : ORDER_ANY);
    r.name = order_name(r.order, ir_op_string(m, op, "order", ""));
    r.chunks = chunks_of(m, op);
    bool is_rest = chunks_is_rest(m, op);
    if ((r.chunks || is_rest) && !(is_dot ? chunks_are_added : chunks_are_summed)(m, op))
        r.chunks = -1;
    r.rest = r.chunks > 0 && !is_dot ? chunks_rest(m, op) : 0;
    r.joins = is_rest || chunks_joins(m, op);
    vec_push(&out->items, r);
}

/* ---- from the record of the levels below ---- */

/* A number of elements; -1, which matches none, where it cannot be one. */
static int64_t count_of(const ir_attr_data *d) {
    bool fits = d->kind == IR_ATTR_DIM ||
                (d->kind == IR_ATTR_INT && d->integer >= 0 && d->integer <= INT64_C(1) << 48);
    return fits ? d->integer : -1;
}

static void add_record(const ir_module *m, const ir_attr_data *d, reduction_list *out) {
    reduction_record r = {.kind = "", .order = ORDER_COUNT, .name = "?", .id = REDUCTION_NO_ID};
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
        else if (strcmp(d->keys[i], "id") == 0 && item->kind == IR_ATTR_INT && item->integer >= 0)
            r.id = item->integer;
    }
    vec_push(&out->items, r);
}

/* ---- both ---- */

/* The same, or one is the other with its symbols bound. */
static bool same_count(ir_dim a, ir_dim b) {
    return a == b || ir_dim_is_static(a) != ir_dim_is_static(b);
}

static bool same_sum(const reduction_record *a, const reduction_record *b) {
    return strcmp(a->kind, b->kind) == 0 && a->order == b->order && strcmp(a->name, b->name) == 0 &&
           same_count(a->extent, b->extent) && same_count(a->results, b->results);
}

static int by_id(const void *a, const void *b) {
    const reduction_record *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Sorts by id. Of the operations of a graph that compute one sum anew, one record is left. */
static void sort_records(reduction_list *list, bool graph) {
    reduction_record *items = list->items.items;
    size_t kept = 0;
    if (list->items.count)
        qsort(items, list->items.count, sizeof *items, by_id);
    for (size_t i = 0; i < list->items.count; i++) {
        reduction_record *last = kept ? &items[kept - 1] : NULL;
        bool again = last && items[i].id != REDUCTION_NO_ID && last->id == items[i].id;
        if (again && (!graph || !same_sum(last, &items[i])))
            list->ambiguous = true, list->twice = items[i].id;
        if (again)
            last->needed |= items[i].needed;
        else
            items[kept++] = items[i];
    }
    list->items.count = kept;
}

/* Sums that a loop makes, which stood outside of it. */
static void add_moved(const ir_module *m, ir_op loop, reduction_list *out) {
    const ir_attr attr = ir_op_attr(m, loop, "sums");
    const ir_attr_data *list = attr ? ir_attr_get(m, attr) : NULL;
    for (uint32_t i = 0; list && i < list->count; i++)
        vec_push(&out->moved, ir_attr_get(m, list->items[i])->integer);
}

static void add_graph(const ir_module *m, reduction_list *out) {
    bool *needed = needed_values(m);
    for (ir_op op = first_op(m); op; op = ir_op_get(m, op)->next) {
        graph_class class = graph_op_class(ir_op_get(m, op)->opcode);
        out->calls |= class == GRAPH_CLASS_CALL;
        out->open |= class == GRAPH_CLASS_COMPOSITE || class == GRAPH_CLASS_TILES ||
                     class == GRAPH_CLASS_CALL || class == GRAPH_CLASS_COMBINE ||
                     class == GRAPH_CLASS_TRANSFORM || class == GRAPH_CLASS_RULED;
        if (class == GRAPH_CLASS_LOOP)
            add_moved(m, op, out);
        if (is_reduction(m, op))
            add_graph_op(m, op, needed, out);
    }
    free(needed);
}

void reductions_of(const ir_module *m, reduction_list *out) {
    *out = (reduction_list){.open = false};
    ir_attr record = ir_op_attr(m, ir_module_kernel(m), "reductions");
    const ir_attr_data *list = record ? ir_attr_get(m, record) : NULL;
    out->parts = ir_op_attr(m, ir_module_kernel(m), "parts") != 0;
    if (is_graph(m))
        add_graph(m, out);
    else
        for (uint32_t i = 0; list && list->kind == IR_ATTR_ARRAY && i < list->count; i++)
            add_record(m, ir_attr_get(m, list->items[i]), out);
    sort_records(out, is_graph(m));
}

void reductions_release(reduction_list *list) {
    vec_release(&list->items);
    vec_release(&list->moved);
}

size_t reduction_index(const reduction_list *list, int64_t id) {
    size_t low = 0, high = list->items.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = id >= 0 && low < list->items.count && list->items.items[low].id == id;
    return found ? low : list->items.count;
}

const reduction_record *reduction_find(const reduction_list *list, int64_t id) {
    size_t at = reduction_index(list, id);
    return at < list->items.count ? &list->items.items[at] : NULL;
}

ir_attr reductions_attr(ir_module *m, const reduction_list *list) {
    static const char *const keys[] = {"extent", "id", "kind", "order", "results"};
    VEC(ir_attr) items = {0};
    for (size_t i = 0; i < list->items.count; i++) {
        const reduction_record *r = &list->items.items[i];
        ir_attr values[] = {ir_attr_dim(m, r->extent), ir_attr_int(m, r->id),
                            ir_attr_string(m, r->kind), ir_attr_string(m, r->name),
                            ir_attr_dim(m, r->results)};
        ir_attr item = ir_attr_dict(m, keys, values, 5);
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

static bool chunks_sound(const reduction_list *list, status *st) {
    for (size_t i = 0; i < list->items.count; i++)
        if (list->items.items[i].chunks < 0)
            return status_set(st, STATUS_INTERNAL,
                              "the chunks of the %s with id %" PRId64 " are not added in order",
                              list->items.items[i].kind, list->items.items[i].id);
    return true;
}

bool reductions_sound(const reduction_list *list, status *st) {
    if (list->ambiguous)
        return status_set(st, STATUS_INTERNAL, "two reductions have id %" PRId64, list->twice);
    if (list->items.count && list->items.items[0].id == REDUCTION_NO_ID)
        return status_set(st, STATUS_INTERNAL, "a reduction (%s) has no id",
                          list->items.items[0].kind);
    return chunks_sound(list, st);
}

bool reductions_verify(const ir_module *graph, status *st) {
    reduction_list list;
    reductions_of(graph, &list);
    bool ok = list.ambiguous ? reductions_sound(&list, st) : chunks_sound(&list, st);
    reductions_release(&list);
    return ok;
}

static bool differs(const reduction_record *r, const char *how, status *st) {
    char extent[REDUCTION_EXTENT_TEXT];
    return status_set(st, STATUS_INTERNAL,
                      "%s with id %" PRId64 " over %s elements in order '%s' %s", r->kind, r->id,
                      reduction_extent_text(r, extent), r->name, how);
}

/* An equal sum, which may stand for it: equal operations become one. */
static bool has_twin(const reduction_list *list, const reduction_record *r) {
    bool found = false;
    for (size_t i = 0; i < list->items.count && !found; i++)
        found = same_sum(&list->items.items[i], r);
    return found;
}

/* Is it the chunks of what was one product, of which nothing else changed? */
static bool is_split(const reduction_record *was, const reduction_record *r) {
    return r->chunks > 1 && !was->chunks && strcmp(was->kind, r->kind) == 0 &&
           was->order == r->order && strcmp(was->name, r->name) == 0 &&
           order_info_of(r->order)->chunk == r->extent && ir_dim_is_static(was->extent) &&
           r->rest < r->extent && was->extent == r->extent * r->chunks + r->rest &&
           was->results * r->chunks == r->results;
}

/* Is it the same sum, of the results that are this rank's? */
static bool is_part(const reduction_record *was, const reduction_record *r) {
    reduction_record all = *r;
    all.results = was->results;
    return same_sum(was, &all) && ir_dim_is_static(r->results) && r->results <= was->results;
}

static bool is_moved(const reduction_list *list, int64_t id) {
    bool moved = false;
    for (size_t i = 0; i < list->moved.count; i++)
        moved |= list->moved.items[i] == id;
    return moved;
}

bool reductions_kept(const reduction_list *before, const reduction_list *after, status *st) {
    if (!reductions_sound(after, st))
        return false;
    for (size_t i = 0; i < after->items.count; i++) {
        const reduction_record *r = &after->items.items[i], *was = reduction_find(before, r->id);
        const bool parted = after->parts && !before->parts;
        if (was ? !same_sum(was, r) && !is_split(was, r) && !(parted && is_part(was, r))
                : !before->open && !r->joins)
            return differs(r, was ? "was another before" : "is not one that was there before", st);
    }
    for (size_t i = 0; i < before->items.count; i++) {
        const reduction_record *r = &before->items.items[i];
        if (r->needed && !after->calls && !reduction_find(after, r->id) && !has_twin(after, r) &&
            !is_moved(after, r->id))
            return differs(r, "was there before, is needed, and is lost", st);
    }
    return true;
}

const reduction_record *reduction_named(const ir_module *m, ir_op op, const reduction_list *list,
                                        status *st) {
    int64_t id = ir_op_int(m, op, "reduction", REDUCTION_NO_ID);
    const char *order = ir_op_string(m, op, "order", "");
    const reduction_record *r = reduction_find(list, id);
    char extent[REDUCTION_EXTENT_TEXT];
    if (!r)
        status_set(st, STATUS_INTERNAL,
                   "order '%s' belongs to no reduction of the graph: none has id %" PRId64, order,
                   id);
    else if (strcmp(r->name, order) != 0)
        status_set(st, STATUS_INTERNAL,
                   "order '%s', but reduction %" PRId64
                   " of the graph (%s over %s elements) has order '%s'",
                   order, id, r->kind, reduction_extent_text(r, extent), r->name);
    else
        return r;
    return NULL;
}
