/* chain.c - chains of a contraction, reductions over its rows, and a contraction of what they make:
 * attention, and everything of its shape.
 *
 * What is handed on inside a chain is as large as rows times columns and used once, row by row. So
 * a block of rows can go the whole way while it is in cache, and never be in memory. */
#include <stdlib.h>
#include <string.h>

#include "ops/fold.h"
#include "parameters/thresholds.h"
#include "schedule/expression.h"

/* Lists by group: those that wait for it. */
typedef struct waiters {
    plan_nests *of;
    int count;
} waiters;

/* The values of a chain: what the first contraction makes, what the rows make of it. */
typedef struct chain_match {
    plan *p;
    int first, rows, last;
    ir_value scores, weights;
    waiters *waiters;
} chain_match;

/* Batch axes first, then one free axis a side, and the contracted axis of x last. */
static bool is_plain_dot(const plan *p, ir_op dot) {
    const ir_op_data *d = ir_op_get(p->g, dot);
    const ir_type_data *x = plan_type(p, d->operands[0]), *y = plan_type(p, d->results[0]);
    int64_t list[IR_MAX_RANK];
    if (d->opcode != GRAPH_DOT)
        return false;
    uint32_t batch = ir_op_ints(p->g, dot, "x_batch", list, IR_MAX_RANK);
    for (uint32_t i = 0; i < batch; i++)
        if (list[i] != (int64_t)i)
            return false;
    ir_op_ints(p->g, dot, "x_contract", list, 1);
    return x->rank == (int)batch + 2 && y->rank == x->rank && list[0] == x->rank - 1;
}

/* The stored value of another group that the expressions of the ROW group read; 0 where there are
 * several, or one is read elsewhere than at its own place. */
static void note_inputs(const plan *p, int rows, ir_value v, bool root, ir_value *found,
                        bool *clean) {
    expression e = {.p = p, .group = rows, .row_axes = p->groups[rows].rank - 1, .probes = true};
    affine index[IR_MAX_RANK];
    expression_identity(p, v, 0, index);
    if (root)
        expression_root(&e, v, index);
    else
        expression_element(&e, v, index);
    for (size_t i = 0; i < e.inputs.count; i++) {
        ir_value source = e.inputs.items[i].source;
        if (p->group_of[source] < 0 || !p->root_dot[source])
            continue;
        expression_identity(p, source, 0, index);
        affine own = expression_offset(p, source, index);
        *clean &= (!*found || *found == source) && plan_type(p, source)->rank == e.row_axes + 1 &&
                  memcmp(&own, &e.inputs.items[i].access, sizeof own) == 0;
        *found = source;
    }
    *clean &= !e.failed;
    expression_release(&e);
}

static bool find_scores(chain_match *c) {
    const plan_group *rows = &c->p->groups[c->rows];
    bool clean = true;
    for (size_t i = 0; i < rows->reduces.count; i++)
        note_inputs(c->p, c->rows, ir_op_get(c->p->g, rows->reduces.items[i])->operands[0], false,
                    &c->scores, &clean);
    for (size_t i = 0; i < rows->roots.count; i++)
        note_inputs(c->p, c->rows, rows->roots.items[i], true, &c->scores, &clean);
    if (!c->scores || !clean || plan_is_output(c->p, c->scores))
        return false;
    c->first = c->p->group_of[c->scores];
    return c->p->groups[c->first].kind == GROUP_DOT && !c->p->groups[c->first].ends_chain &&
           is_plain_dot(c->p, c->p->groups[c->first].anchor) &&
           memcmp(plan_type(c->p, c->scores)->dims, rows->dims,
                  sizeof(int64_t) * (size_t)rows->rank) == 0;
}

/* The last contraction reads the weights as its left side and nowhere else. */
static bool reads_once(const chain_match *c) {
    const plan *p = c->p;
    const ir_op_data *d = ir_op_get(p->g, p->groups[c->last].anchor);
    for (uint32_t i = 1; i < d->operand_count; i++)
        if (plan_storage(p, d->operands[i]) == c->weights)
            return false;
    bool once = true;
    for (size_t i = 0; i < p->groups[c->last].roots.count; i++) {
        ir_value root = p->groups[c->last].roots.items[i];
        expression e = {.p = p, .group = -1, .computes = root};
        substitute sum = {.kind = SUBSTITUTE_ACCUMULATOR, .value = d->results[0]};
        affine index[IR_MAX_RANK];
        e.substitutes = &sum;
        e.substitute_count = 1;
        expression_identity(p, root, 0, index);
        expression_root(&e, root, index);
        for (size_t k = 0; k < e.inputs.count; k++)
            once &= e.inputs.items[k].source != c->weights && e.inputs.items[k].source != c->scores;
        expression_release(&e);
    }
    return once;
}

/* The weights take the scores' place: once the loop of a reduction has put them there, nothing but
 * them may be read. */
static bool replaces_scores(const chain_match *c) {
    const plan *p = c->p;
    const plan_group *rows = &p->groups[c->rows];
    ir_value later = 0;
    bool replaced = false, clean = true;
    for (size_t i = 0; i < rows->reduces.count; i++) {
        ir_value x = ir_op_get(p->g, rows->reduces.items[i])->operands[0];
        if (replaced && x != c->weights)
            note_inputs(p, c->rows, x, false, &later, &clean);
        replaced |= x == c->weights;
    }
    for (size_t i = 0; i < rows->roots.count; i++)
        if (rows->roots.items[i] != c->weights)
            note_inputs(p, c->rows, rows->roots.items[i], true, &later, &clean);
    return rows->roots.count <= SCHEDULE_OUTPUTS && (!replaced || !later);
}

/* Nothing but the reductions of the rows and the last contraction takes the weights. */
static bool hides_weights(const chain_match *c) {
    const plan *p = c->p;
    const plan_group *rows = &p->groups[c->rows];
    uint32_t uses = 0;
    for (size_t i = 0; i < rows->reduces.count; i++)
        uses += ir_op_get(p->g, rows->reduces.items[i])->operands[0] == c->weights;
    return p->uses[c->weights] == uses + 1;
}

/* No group but those of the chain waits for the scores or the weights. Others may wait for what is
 * left of each row, where the chain need not wait for them. */
static bool is_private(const chain_match *c) {
    plan *p = c->p;
    const plan_nests *of_first = &c->waiters->of[c->first], *of_rows = &c->waiters->of[c->rows];
    for (size_t i = 0; i < of_first->count; i++) {
        int g = of_first->items[i];
        if (g != c->rows && group_set_has(p->groups[g].depends, c->first))
            return false;
    }
    for (size_t i = 0; i < of_rows->count; i++) {
        int g = of_rows->items[i];
        if (g == c->last || !group_set_has(p->groups[g].depends, c->rows))
            continue;
        if (!hides_weights(c) || plan_waits(p, c->last, g))
            return false;
    }
    return !group_set_has(p->groups[c->last].depends, c->first);
}

static bool is_empty(const plan *p, ir_value v) {
    return ir_type_count(p->g, ir_value_get(p->g, v)->type) == 0;
}

static bool is_one_chunk(const plan *p, ir_op dot) {
    const ir_type_data *x = plan_type(p, ir_op_get(p->g, dot)->operands[0]);
    int64_t chunk = order_info_of(order_of(p->g, dot, ORDER_CHUNK512))->chunk;
    return x->dims[x->rank - 1] <= (chunk ? chunk : CHUNK);
}

/* Nothing is empty, and a score is one chunk: sums of several would need totals of their own. */
static bool has_size(const chain_match *c) {
    const plan *p = c->p;
    const ir_op_data *first = ir_op_get(p->g, p->groups[c->first].anchor);
    const ir_op_data *last = ir_op_get(p->g, p->groups[c->last].anchor);
    return !is_empty(p, first->operands[0]) && !is_empty(p, c->scores) &&
           !is_empty(p, last->results[0]) && is_one_chunk(p, p->groups[c->first].anchor) &&
           first->operand_count == 2;
}

static bool find_chain(chain_match *c) {
    const plan *p = c->p;
    ir_op dot = p->groups[c->last].anchor;
    ir_value x = ir_op_get(p->g, dot)->operands[0];
    if (!is_plain_dot(p, dot) || !p->stored[x] || p->group_of[x] < 0 || plan_is_output(p, x) ||
        plan_type(p, x)->element != DTYPE_F32)
        return false;
    c->weights = x;
    c->rows = p->group_of[x];
    return p->groups[c->rows].kind == GROUP_ROW && !plan_is_exact(p, c->rows) && find_scores(c) &&
           plan_type(p, x)->rank == plan_type(p, c->scores)->rank &&
           plan_type(p, c->scores)->element == DTYPE_F32 && is_private(c) && reads_once(c) &&
           has_size(c) && replaces_scores(c);
}

/* Scores past the counts need not be computed: nothing that is made of them is ever seen. */
static bool hides_scores(const chain_match *c) {
    const ir_module *g = c->p->g;
    const ir_op_data *last = ir_op_get(g, c->p->groups[c->last].anchor);
    if (last->operand_count < 3)
        return false;
    ir_value *hidden = graph_hidden_counts(g);
    bool hides = hidden[c->scores] == last->operands[2];
    free(hidden);
    return hides;
}

/* ---- turns ---- */

/* Does `set` have one of the chain's groups? */
static bool meets_chain(const chain_match *c, group_set set) {
    return group_set_has(set, c->first) || group_set_has(set, c->rows) ||
           group_set_has(set, c->last);
}

/* `set` without those that the chain takes in: `last` itself may be the third. */
static group_set without(plan *p, group_set set, int first, int rows, int last) {
    const int taken[] = {first, rows, last};
    for (int i = 0; i < 3; i++)
        set = group_set_without(&p->memory, set, (group_set){&taken[i], 1});
    return set;
}

/* Checks what the fold takes of the chain's: those values at their own places, turn by turn. */
static bool is_of_turns(const chain_match *c, ir_value v, const ir_type_data *turns) {
    const plan *p = c->p;
    const ir_type_data *t = plan_type(p, v);
    if (!meets_chain(c, p->direct[v]))
        return plan_opcode(p, v) < 0 || t->rank == 0 || p->stored[v] ||
               plan_opcode(p, v) == GRAPH_BROADCAST;
    if (memcmp(t->dims, turns->dims, sizeof *t->dims * (size_t)t->rank) != 0 ||
        t->rank < turns->rank - 1 || v == c->weights || v == c->scores)
        return false;
    if (p->stored[v])
        return (p->group_of[v] == c->rows && t->rank == turns->rank - 1) ||
               p->group_of[v] == c->last;
    if (graph_op_class(plan_opcode(p, v)) != GRAPH_CLASS_ELEMENTWISE)
        return false;
    const ir_op_data *d = ir_op_get(p->g, plan_def(p, v));
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (!is_of_turns(c, d->operands[i], turns))
            return false;
    return true;
}

/* All that it reads of the chain comes turn by turn, along one axis. */
static bool takes_turns(const chain_match *c, ir_op fold, const fold_shape *f) {
    const plan *p = c->p;
    const ir_op_data *d = ir_op_get(p->g, fold);
    ir_value made = p->groups[c->last].roots.items[0];
    const ir_type_data *turns = plan_type(p, made);
    int64_t axis = fold_axis(p->g, fold, f, made);
    if (turns->rank != f->rank + 2 || axis < 0 || axis >= turns->rank - 2)
        return false;
    for (int i = 0, k = 0; i < turns->rank - 1; i++)
        if (i != axis && turns->dims[i] != f->dims[k++])
            return false;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        bool reads = meets_chain(c, p->direct[d->operands[i]]);
        if (reads &&
            (i < f->carried || f->axis[i] != axis || !is_of_turns(c, d->operands[i], turns)))
            return false;
    }
    return true;
}

/* The block itself reads none of the chain's. */
static bool reads_arguments(const chain_match *c, ir_op fold) {
    const plan *p = c->p;
    for (ir_op op = ir_block_get(p->g, ir_op_block(p->g, fold, 0))->first; op;
         op = ir_op_get(p->g, op)->next)
        for (uint32_t i = 0; i < ir_op_get(p->g, op)->operand_count; i++)
            if (meets_chain(c, p->direct[ir_op_get(p->g, op)->operands[i]]))
                return false;
    return true;
}

/* ---- groups that wait for a group ---- */

/* Lists by group, which may have some twice, and some that wait no more. */
static void note_waiter(waiters *w, int waiter, group_set of) {
    for (int i = 0; i < of.count; i++)
        vec_push(&w->of[of.items[i]], waiter);
}

static waiters find_waiters(const plan *p) {
    waiters w = {base_calloc((size_t)p->group_count + 1, sizeof *w.of), p->group_count};
    for (int g = 0; g < p->group_count; g++)
        note_waiter(&w, g, p->groups[g].depends);
    return w;
}

static void release_waiters(waiters *w) {
    for (int g = 0; g < w->count; g++)
        vec_release(&w->of[g]);
    free(w->of);
}

/* The only group that waits for the rows or the last contraction, a fold whose turns they make;
 * -1. */
static int find_fold(const chain_match *c) {
    plan *p = c->p;
    const plan_group *last = &p->groups[c->last], *rows = &p->groups[c->rows];
    fold_shape f;
    status why = STATUS_INIT;
    const int taken[] = {c->first, c->rows, c->last};
    int found = -1;
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < c->waiters->of[taken[k]].count; i++) {
            int g = c->waiters->of[taken[k]].items[i];
            if (g == c->last || g == c->rows || g == found || !meets_chain(c, p->groups[g].depends))
                continue;
            if (found >= 0 || p->groups[g].kind != GROUP_FOLD)
                return -1;
            found = g;
        }
    if (found < 0 || last->roots.count != 1 || last->hides || !hides_weights(c) ||
        plan_is_output(p, last->roots.items[0]) || ir_op_get(p->g, last->anchor)->operand_count > 2)
        return -1;
    for (size_t i = 0; i < rows->roots.count; i++)
        if (plan_is_output(p, rows->roots.items[i]))
            return -1;
    group_set outer = without(p, p->groups[found].depends, c->first, c->rows, c->last);
    for (int i = 0; i < outer.count; i++)
        if (plan_waits(p, outer.items[i], c->last))
            return -1;
    ir_op fold = p->groups[found].anchor;
    return fold_read(p->g, fold, &f, &why) && takes_turns(c, fold, &f) && reads_arguments(c, fold)
               ? found
               : -1;
}

/* The chain goes through all turns; what a turn makes stays in the workgroup. */
static void take_fold(plan *p, const chain_match *c, int fold) {
    plan_group *last = &p->groups[c->last], *rows = &p->groups[c->rows];
    last->fold = fold;
    p->groups[fold].inside = true;
    group_set outer = without(p, p->groups[fold].depends, c->first, c->rows, c->last);
    plan_depend(p, c->last, outer);
    note_waiter(c->waiters, c->last, outer);
    p->in_workgroup[last->roots.items[0]] = true;
    for (size_t i = 0; i < rows->roots.count; i++)
        p->in_workgroup[rows->roots.items[i]] = true;
}

/* Groups that wait for the rows wait for the end of the chain. */
static void wait_for_last(plan *p, const chain_match *c) {
    const group_set last = group_set_of(&p->memory, c->last);
    for (size_t i = 0; i < c->waiters->of[c->rows].count; i++) {
        int g = c->waiters->of[c->rows].items[i];
        if (g == c->last || !group_set_has(p->groups[g].depends, c->rows) ||
            group_set_has(p->groups[g].depends, c->last))
            continue;
        plan_depend(p, g, last);
        note_waiter(c->waiters, g, last);
    }
}

static void take_chain(plan *p, const chain_match *c) {
    plan_group *last = &p->groups[c->last], *rows = &p->groups[c->rows],
               *first = &p->groups[c->first];
    group_set taken = group_set_join(&p->memory, rows->depends, first->depends);
    last->ends_chain = rows->inside = first->inside = true;
    last->hides = hides_scores(c);
    last->scores = c->first;
    last->rows = c->rows;
    last->depends =
        without(p, group_set_join(&p->memory, last->depends, taken), c->first, c->rows, c->rows);
    note_waiter(c->waiters, c->last, taken);
    wait_for_last(p, c);
    p->in_workgroup[c->scores] = p->in_workgroup[c->weights] = true;
    int fold = find_fold(c);
    if (fold >= 0)
        take_fold(p, c, fold);
}

static bool have_room(const chain_match *c, int64_t room) {
    const ir_type_data *t = plan_type(c->p, c->scores);
    int64_t bytes = (int64_t)dtype_size(t->element);
    for (int i = 0; i < t->rank && room < INT64_MAX; i++)
        if (!ir_dim_is_static(t->dims[i]) || __builtin_mul_overflow(bytes, t->dims[i], &bytes))
            return false;
    return bytes <= room;
}

void plan_find_chains(plan *p, int64_t scores_room) {
    waiters w = find_waiters(p);
    for (int g = 0; g < p->group_count; g++) {
        chain_match c = {.p = p, .last = g, .waiters = &w};
        if (p->groups[g].kind != GROUP_DOT || !find_chain(&c))
            continue;
        p->groups[g].could_chain = have_room(&c, scores_room);
        if (!p->groups[g].could_chain)
            take_chain(p, &c);
    }
    release_waiters(&w);
}
