/* plan.c - partitions a graph into groups: first what must have memory, then what is computed
 * together. */
#include "schedule/plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ops/depth.h"
#include "ops/orders.h"
#include "schedule/expression.h"

const ir_type_data *plan_type(const plan *p, ir_value v) {
    return ir_type_of(p->g, v);
}

ir_dim plan_product(const plan *p, ir_dim a, ir_dim b) {
    return ir_dim_add_scaled(p->dims, 0, a, b);
}

ir_op plan_def(const plan *p, ir_value v) {
    return ir_value_get(p->g, v)->op;
}

int plan_opcode(const plan *p, ir_value v) {
    ir_op op = plan_def(p, v);
    return op ? ir_op_get(p->g, op)->opcode : -1;
}

bool plan_is_computed(const plan *p, ir_value v) {
    int opcode = plan_opcode(p, v);
    graph_class class = opcode < 0 ? GRAPH_CLASS_KERNEL : graph_op_class(opcode);
    return !p->stored[v] && (class == GRAPH_CLASS_ELEMENTWISE || class == GRAPH_CLASS_MOVE);
}

static ir_value operand(const plan *p, ir_value v, uint32_t i) {
    return ir_op_get(p->g, plan_def(p, v))->operands[i];
}

bool plan_reshape_splits(const plan *p, ir_op reshape) {
    const ir_op_data *d = ir_op_get(p->g, reshape);
    const ir_type_data *x = plan_type(p, d->operands[0]), *y = plan_type(p, d->results[0]);
    int j = 0;
    for (int i = 0; i < x->rank; i++) {
        ir_dim product = 1;
        while (j < y->rank && product != x->dims[i])
            product = plan_product(p, product, y->dims[j++]);
        if (product != x->dims[i])
            return false;
    }
    for (; j < y->rank; j++)
        if (y->dims[j] != 1)
            return false;
    return true;
}

ir_value plan_storage(const plan *p, ir_value v) {
    while (!p->stored[v] && plan_opcode(p, v) == GRAPH_RESHAPE)
        v = operand(p, v, 0);
    return p->stored[v] || plan_opcode(p, v) < 0 ? v : 0;
}

bool plan_is_exact(const plan *p, int group) {
    bool exact = false;
    for (size_t i = 0; i < p->groups[group].reduces.count; i++)
        exact |= order_is_exact(order_of(p->g, p->groups[group].reduces.items[i], ORDER_ANY));
    return exact;
}

/* ---- what must have memory ---- */

/* The value behind transpositions, broadcasts, slices and widening conversions: what a dot can read
 * in place. */
static bool is_view(const plan *p, ir_value v) {
    int opcode = plan_opcode(p, v);
    if (opcode == GRAPH_RESHAPE)
        return plan_reshape_splits(p, plan_def(p, v)) || plan_opcode(p, operand(p, v, 0)) < 0;
    if (opcode == GRAPH_CONVERT) {
        dtype from = plan_type(p, operand(p, v, 0))->element, to = plan_type(p, v)->element;
        return (dtype_is_float(to) || !dtype_is_float(from)) && from != DTYPE_BOOL &&
               dtype_holds(to, from);
    }
    return opcode == GRAPH_TRANSPOSE || opcode == GRAPH_BROADCAST || opcode == GRAPH_SLICE;
}

/* A conversion is one only where an input of the kernel is behind it: anything else is better
 * converted when it is made. */
static ir_value behind_views(const plan *p, ir_value v) {
    ir_value converted = 0;
    for (; is_view(p, v); v = operand(p, v, 0))
        if (plan_opcode(p, v) == GRAPH_CONVERT && !converted)
            converted = v;
    return converted && plan_opcode(p, v) >= 0 ? converted : v;
}

static void store(plan *p, ir_value v) {
    if (plan_opcode(p, v) >= 0)
        p->stored[v] = true;
}

/* It is read from memory, at least from that of another shape. */
static void store_in_shape(plan *p, ir_value v) {
    if (plan_opcode(p, v) != GRAPH_RESHAPE || !plan_storage(p, v))
        store(p, v);
}

/* A side of a dot. */
static void store_factor(plan *p, ir_value v) {
    store_in_shape(p, behind_views(p, v));
}

/* The image of a convolve, and what is reshaped, lie in memory, element after element. */
static void store_dense(plan *p, ir_value v) {
    while (plan_opcode(p, v) == GRAPH_RESHAPE && !p->stored[v])
        v = operand(p, v, 0);
    store(p, v);
}

/* The only reader of a value, in the kernel's own block; 0: there are none, several, or it is in an
 * inner block. */
static ir_op only_reader(const plan *p, ir_value v) {
    ir_op op = p->uses[v] == 1 ? ir_uses_reader(&p->readers, v, 0) : 0;
    return op && p->place[op] ? op : 0;
}

/* A concatenation that is a piece of another one and used nowhere else. */
static bool is_piece(const plan *p, ir_op concat) {
    ir_op reader = only_reader(p, ir_op_get(p->g, concat)->results[0]);
    return reader && ir_op_get(p->g, reader)->opcode == GRAPH_CONCAT;
}

static void store_for_op(plan *p, ir_op op) {
    const ir_op_data *d = ir_op_get(p->g, op);
    switch (d->opcode) {
    case GRAPH_RETURN:
        for (uint32_t i = 0; i < d->operand_count; i++)
            store(p, d->operands[i]);
        break;
    case GRAPH_CONVOLVE: /* what is computed is not computed anew for each window */
        store_dense(p, d->operands[0]);
        store_factor(p, d->operands[1]);
        break;
    case GRAPH_DOT:
        store_factor(p, d->operands[0]);
        store_factor(p, d->operands[1]);
        if (d->operand_count > 2)
            store(p, d->operands[2]);
        break;
    case GRAPH_RESHAPE:
        if (!plan_reshape_splits(p, op))
            store_dense(p, d->operands[0]);
        break;
    case GRAPH_CONCAT:
        if (!is_piece(p, op))
            store(p, d->results[0]);
        break;
    case GRAPH_GATHER:
        store_in_shape(p, d->operands[0]);
        break;
    case GRAPH_ARGSORT:
        store(p, d->results[0]);
        break;
    case GRAPH_REDUCE: {
        int64_t axis = 0;
        ir_op_ints(p->g, op, "axes", &axis, 1);
        if (axis != plan_type(p, d->operands[0])->rank - 1)
            store(p, d->results[0]);
        break;
    }
    default:
        break;
    }
}

/* ---- epilogues ---- */

typedef struct epilogue {
    plan *p;
    ir_op op;
    ir_value dot;
    ir_op
        *of; /* by value: the product that it is made of element by element; 0: none, or several */
    bool *inside;  /* by value: element-wise users of the dot, transitively, in its shape */
    bool *tainted; /* depends on the dot in another way */
    VEC(ir_value) touched;
    uint32_t end; /* the place of the last reader of what is inside */
} epilogue;

static void touch(epilogue *e, ir_value v, bool *set) {
    set[v] = true;
    vec_push(&e->touched, v);
    for (uint32_t i = 0; i < ir_uses_count(&e->p->readers, v) && set == e->inside; i++) {
        uint32_t place = e->p->place[ir_uses_reader(&e->p->readers, v, i)];
        e->end = place > e->end ? place : e->end;
    }
}

/* Notes the product that a value is made of, element by element. */
static void note_product(const epilogue *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->p->g, op);
    ir_op found = 0;
    if (d->opcode == GRAPH_DOT)
        e->of[d->results[0]] = op;
    if (graph_op_class(d->opcode) != GRAPH_CLASS_ELEMENTWISE)
        return;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        ir_op one = e->of[d->operands[i]];
        if (one && found && one != found)
            return;
        found = one ? one : found;
    }
    e->of[d->results[0]] = found;
}

/* Would the product wait for a sibling, if it took in what reads the value? */
static bool is_of_sibling(const epilogue *e, ir_value v) {
    return e->p->concurrent && !e->inside[v] && e->of[v] && e->of[v] != e->op &&
           ir_op_get(e->p->g, e->op)->opcode == GRAPH_DOT &&
           plan_are_siblings(e->p, e->op, e->of[v]);
}

/* One step of the closure: is this operation part of the epilogue, tainted, or unrelated? */
static void epilogue_visit(epilogue *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->p->g, op);
    bool touches = false, clean = true;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        touches |= e->inside[d->operands[i]] || e->tainted[d->operands[i]];
        clean &= !e->tainted[d->operands[i]] && !is_of_sibling(e, d->operands[i]);
    }
    if (!touches || d->result_count == 0)
        return;
    const ir_type_data *r = plan_type(e->p, d->results[0]), *t = plan_type(e->p, e->dot);
    bool same =
        r->rank == t->rank && memcmp(r->dims, t->dims, sizeof(int64_t) * (size_t)r->rank) == 0;
    bool member = clean && same && graph_op_class(d->opcode) == GRAPH_CLASS_ELEMENTWISE;
    touch(e, d->results[0], member ? e->inside : e->tainted);
}

/* Is a member used by anything outside of the epilogue? */
static bool escapes(const epilogue *e, ir_value v) {
    for (uint32_t i = 0; i < ir_uses_count(&e->p->readers, v); i++) {
        ir_op op = ir_uses_reader(&e->p->readers, v, i);
        const ir_op_data *d = ir_op_get(e->p->g, op);
        if (e->p->place[op] && (d->result_count == 0 || !e->inside[d->results[0]]))
            return true;
    }
    return e->p->stored[v];
}

/* The one use of a value when there is just one, as the value that it makes; else 0. */
static ir_value only_user(const epilogue *e, ir_value v) {
    ir_op op = only_reader(e->p, v);
    const ir_op_data *d = op ? ir_op_get(e->p->g, op) : NULL;
    return d && d->result_count && e->inside[d->results[0]] ? d->results[0] : 0;
}

static bool has_epilogue(const ir_module *g, ir_op op) {
    int opcode = ir_op_get(g, op)->opcode;
    return graph_op_class(opcode) == GRAPH_CLASS_DOT || opcode == GRAPH_CUMSUM;
}

/* The value in which the dot's or scan's epilogue ends: the only member that is used outside, or
 * the end of the chain of single uses. */
static ir_value epilogue_root(epilogue *e, ir_op dot) {
    plan *p = e->p;
    ir_value root = 0, v = e->dot = ir_op_get(p->g, dot)->results[0];
    e->op = dot;
    int roots = 0;
    e->touched.count = 0;
    e->end = 0;
    touch(e, v, e->inside);
    for (ir_op op = ir_op_get(p->g, dot)->next; op && p->place[op] <= e->end;
         op = ir_op_get(p->g, op)->next)
        epilogue_visit(e, op);
    for (size_t i = 0; i < e->touched.count; i++)
        if (e->inside[e->touched.items[i]] && escapes(e, e->touched.items[i])) {
            roots++;
            root = e->touched.items[i];
        }
    if (roots != 1)
        for (root = v; !p->stored[v] && (v = only_user(e, v)) != 0;)
            root = v;
    for (size_t i = 0; i < e->touched.count; i++)
        e->inside[e->touched.items[i]] = e->tainted[e->touched.items[i]] = false;
    return root;
}

static void find_epilogues(plan *p, ir_op first) {
    uint32_t n = ir_value_count(p->g) + 1;
    epilogue e = {.p = p, .inside = base_calloc(n, sizeof(bool))};
    e.tainted = base_calloc(n, sizeof(bool));
    e.of = base_calloc(n, sizeof *e.of);
    for (ir_op op = first; op; op = ir_op_get(p->g, op)->next)
        note_product(&e, op);
    for (ir_op op = first; op; op = ir_op_get(p->g, op)->next)
        if (has_epilogue(p->g, op)) {
            ir_value root = epilogue_root(&e, op);
            p->stored[root] = true;
            p->root_dot[root] = op;
        }
    free(e.inside);
    free(e.tainted);
    free(e.of);
    vec_release(&e.touched);
}

/* ---- groups ---- */

static int new_group(plan *p, group_kind kind, ir_op anchor) {
    if (p->group_count == p->group_capacity) {
        p->group_capacity = p->group_capacity ? 2 * p->group_capacity : 16;
        p->groups = base_realloc(p->groups, sizeof *p->groups * (size_t)p->group_capacity);
    }
    p->groups[p->group_count] =
        (plan_group){.kind = kind, .anchor = anchor, .fold = -1, .position = p->group_count};
    vec_push(&p->sequence, p->group_count);
    return p->group_count++;
}

static group_set operand_groups(plan *p, ir_op op) {
    group_set groups = {NULL, 0};
    const ir_op_data *d = ir_op_get(p->g, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        groups = group_set_join(&p->memory, groups, p->direct[d->operands[i]]);
    return groups;
}

/* Does a value of this shape run over the rows (or rows and columns) of a ROW group? */
static bool fits_rows(const plan_group *g, const ir_type_data *t) {
    if (t->rank != g->rank && t->rank != g->rank - 1)
        return false;
    return memcmp(t->dims, g->dims, sizeof(int64_t) * (size_t)t->rank) == 0;
}

/* `whole`: the value must run over the columns too, as the operand of a reduction does. */
static int find_row_group(plan *p, ir_value v, const ir_type_data *shape, group_set reads,
                          bool whole) {
    for (int i = p->unfused ? 0 : reads.count; i-- > 0;) {
        int g = reads.items[i];
        if (p->groups[g].kind != GROUP_ROW || !fits_rows(&p->groups[g], shape))
            continue;
        if (whole && shape->rank != p->groups[g].rank)
            continue;
        if (!plan_closes_circle(p, g, reads) && expression_is_aligned(p, v, g))
            return g;
    }
    return -1;
}

static void place(plan *p, ir_op op, int group, group_set reads) {
    ir_value v = ir_op_get(p->g, op)->results[0];
    p->group_of[v] = group;
    plan_depend(p, group, reads);
    p->direct[v] = group_set_of(&p->memory, group);
    if (p->stored[v])
        vec_push(&p->groups[group].roots, v);
}

static void place_reduce(plan *p, ir_op op, group_set reads) {
    const ir_op_data *d = ir_op_get(p->g, op);
    const ir_type_data *x = plan_type(p, d->operands[0]);
    int64_t axis = 0;
    ir_op_ints(p->g, op, "axes", &axis, 1);
    if (axis != x->rank - 1) {
        place(p, op, new_group(p, GROUP_COLUMN, op), reads);
        return;
    }
    int group = find_row_group(p, d->operands[0], x, reads, true);
    if (group < 0) {
        group = new_group(p, GROUP_ROW, op);
        p->groups[group].rank = x->rank;
        memcpy(p->groups[group].dims, x->dims, sizeof x->dims);
    }
    vec_push(&p->groups[group].reduces, op);
    place(p, op, group, reads);
}

/* The group of the product in whose epilogue a value ends. Products that are to run at once take in
 * less than others, so that one may read what the other's epilogue ends in, and be read on the way
 * there: then the product's own value is in memory, and -1. */
static int epilogue_group(plan *p, ir_value v, group_set reads) {
    const ir_value dot = ir_op_get(p->g, p->root_dot[v])->results[0];
    const int group = p->group_of[dot];
    if (dot == v || !plan_closes_circle(p, group, reads))
        return group;
    p->root_dot[v] = 0;
    p->stored[dot] = true;
    vec_push(&p->groups[group].roots, dot);
    return -1;
}

static void place_stored(plan *p, ir_op op, group_set reads) {
    ir_value v = ir_op_get(p->g, op)->results[0];
    bool alone = p->deep[v] || ir_op_get(p->g, op)->opcode == GRAPH_CONCAT;
    int group = -1;
    if (p->root_dot[v])
        group = epilogue_group(p, v, reads);
    else if (!alone)
        group = find_row_group(p, v, plan_type(p, v), reads, false);
    if (group < 0 && !alone)
        group = plan_find_nest(p, v, reads);
    if (group < 0)
        group = new_group(p, GROUP_MAP, op);
    place(p, op, group, reads);
    if (p->groups[group].kind == GROUP_MAP && !alone && !p->unfused)
        plan_note_nest(p, v, group);
}

/* Each result has memory; of a fold those that are used. */
static void place_results(plan *p, ir_op op, group_kind kind, group_set reads) {
    const ir_op_data *d = ir_op_get(p->g, op);
    int group = new_group(p, kind, op);
    ir_op inner = ir_block_get(p->g, ir_op_block(p->g, op, 0))->first;
    for (; inner; inner = ir_op_get(p->g, inner)->next)
        reads = group_set_join(&p->memory, reads, operand_groups(p, inner));
    plan_depend(p, group, reads);
    for (uint32_t i = 0; i < d->result_count; i++) {
        if (!p->uses[d->results[i]] && kind == GROUP_FOLD)
            continue;
        p->stored[d->results[i]] = true;
        p->group_of[d->results[i]] = group;
        p->direct[d->results[i]] = group_set_of(&p->memory, group);
        vec_push(&p->groups[group].roots, d->results[i]);
    }
}

static void place_op(plan *p, ir_op op) {
    const ir_op_data *d = ir_op_get(p->g, op);
    group_set reads = operand_groups(p, op);
    if (d->result_count == 0)
        return;
    ir_value v = d->results[0];
    if (graph_op_class(d->opcode) == GRAPH_CLASS_DOT)
        place(p, op, new_group(p, GROUP_DOT, op), reads);
    else if (graph_op_class(d->opcode) == GRAPH_CLASS_SCAN)
        place(p, op, new_group(p, GROUP_SCAN, op), reads);
    else if (d->opcode == GRAPH_FOLD)
        place_results(p, op, GROUP_FOLD, reads);
    else if (d->opcode == GRAPH_SCATTER)
        place_results(p, op, GROUP_SCATTER, reads);
    else if (d->opcode == GRAPH_REDUCE)
        place_reduce(p, op, reads);
    else if (p->stored[v])
        place_stored(p, op, reads);
    else
        p->direct[v] = reads;
}

static void init(plan *p, ir_module *graph, ir_op kernel, ir_op first) {
    uint32_t n = ir_value_count(graph) + 1;
    memset(p, 0, sizeof *p);
    p->g = p->dims = graph;
    p->kernel = kernel;
    p->values = n;
    p->stored = base_calloc(n, sizeof *p->stored);
    p->deep = base_calloc(n, sizeof *p->deep);
    p->group_of = base_malloc(n * sizeof *p->group_of);
    p->direct = base_calloc(n, sizeof *p->direct);
    p->root_dot = base_calloc(n, sizeof *p->root_dot);
    p->uses = ir_count_uses(graph);
    p->readers = ir_uses_fill(graph);
    p->place = base_calloc(ir_op_count(graph) + 1, sizeof *p->place);
    p->nests = base_calloc(n, sizeof *p->nests);
    p->returned = base_calloc(n, sizeof *p->returned);
    p->in_workgroup = base_calloc(n, sizeof *p->in_workgroup);
    for (uint32_t i = 0; i < n; i++)
        p->group_of[i] = -1;
    const ir_op_data *end =
        ir_op_get(graph, ir_block_get(graph, ir_op_block(graph, kernel, 0))->last);
    for (uint32_t i = 0; i < end->operand_count; i++)
        for (ir_value v = end->operands[i]; v && !p->returned[v];
             v = plan_opcode(p, v) == GRAPH_RESHAPE ? operand(p, v, 0) : 0)
            p->returned[v] = true;
    uint32_t place = 0;
    for (ir_op op = first; op; op = ir_op_get(graph, op)->next)
        p->place[op] = ++place;
}

static bool is_stored(const plan *p, const ir_op_data *d) {
    return d->result_count > 0 && p->stored[d->results[0]];
}

/* Accumulations, and what is stored already, have groups of their own in any case; what room they
 * leave goes to the others. */
static void store_all(plan *p, ir_op first, int room) {
    for (ir_op op = first; op; op = ir_op_get(p->g, op)->next) {
        const ir_op_data *d = ir_op_get(p->g, op);
        graph_class class = graph_op_class(d->opcode);
        bool accumulates =
            class == GRAPH_CLASS_REDUCE || class == GRAPH_CLASS_DOT || class == GRAPH_CLASS_SCAN;
        room -= accumulates ? 2 : is_stored(p, d);
    }
    for (ir_op op = first; op && room > 0; op = ir_op_get(p->g, op)->next) {
        const ir_op_data *d = ir_op_get(p->g, op);
        graph_class class = graph_op_class(d->opcode);
        if ((class != GRAPH_CLASS_ELEMENTWISE && class != GRAPH_CLASS_MOVE) || is_stored(p, d))
            continue;
        p->stored[d->results[0]] = true;
        room--;
    }
}

void plan_build(plan *p, ir_module *graph, ir_op kernel, plan_mode mode, bool concurrent,
                int64_t scores_room) {
    const bool unfused = mode == PLAN_UNFUSED || mode == PLAN_EACH;
    ir_op first = ir_block_get(graph, ir_op_block(graph, kernel, 0))->first;
    init(p, graph, kernel, first);
    for (ir_op op = first; op; op = ir_op_get(graph, op)->next)
        store_for_op(p, op);
    graph_store_deep(graph, kernel, p->stored, p->deep);
    if (mode == PLAN_PROGRAM)
        plan_store_repeated(p);
    plan_store_spreads(p);
    plan_store_wide(p);
    p->unfused = unfused;
    p->concurrent = concurrent;
    if (unfused)
        store_all(p, first, mode == PLAN_EACH ? INT_MAX : LIMIT_PHASES - 2);
    find_epilogues(p, first);
    for (ir_op op = first; op; op = ir_op_get(graph, op)->next)
        place_op(p, op);
    plan_store_shared(p);
    if (!unfused) {
        plan_unstore_inner(p);
        plan_find_chains(p, scores_room);
        plan_find_prologues(p);
    }
}

void plan_unstore(plan *p, ir_value v) {
    p->stored[v] = false;
    if (p->group_of[v] < 0)
        return;
    plan_group *group = &p->groups[p->group_of[v]];
    size_t kept = 0;
    for (size_t i = 0; i < group->roots.count; i++)
        if (group->roots.items[i] != v)
            group->roots.items[kept++] = group->roots.items[i];
    group->roots.count = kept;
}

bool plan_is_output(const plan *p, ir_value v) {
    const ir_module *g = p->g;
    const ir_block_data *body = ir_block_get(g, ir_op_block(g, p->kernel, 0));
    const ir_op_data *end = ir_op_get(g, body->last);
    for (uint32_t i = 0; i < end->operand_count && p->returned[v]; i++)
        if (plan_storage(p, end->operands[i]) == v)
            return true;
    return false;
}

void plan_release(plan *p) {
    for (int g = 0; g < p->group_count; g++) {
        vec_release(&p->groups[g].reduces);
        vec_release(&p->groups[g].roots);
    }
    for (ir_value v = 0; v < p->values; v++)
        vec_release(&p->nests[v]);
    free(p->nests);
    free(p->groups);
    vec_release(&p->sequence);
    arena_release(&p->memory);
    ir_uses_release(&p->readers);
    free(p->place);
    free(p->stored);
    free(p->deep);
    free(p->group_of);
    free(p->direct);
    free(p->root_dot);
    free(p->uses);
    free(p->in_workgroup);
    free(p->returned);
}
