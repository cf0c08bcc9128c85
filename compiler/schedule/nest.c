/* nest.c - element-wise values that one nest computes together: those of one shape that read the
 * same memory, or each other. */
#include <stdlib.h>
#include <string.h>

#include "schedule/expression.h"

/* The expression of a value at its own place, where the nest computes it. */
static expression nest_expression(const plan *p, ir_value v, int group) {
    affine index[IR_MAX_RANK];
    expression e = {.p = p, .group = group, .probes = true};
    expression_identity(p, v, 0, index);
    expression_root(&e, v, index);
    return e;
}

/* Memory is walked along the last axis or not at all. */
static bool walks_rows(const expression *e, int last) {
    for (size_t i = 0; i < e->inputs.count; i++) {
        int64_t step = last >= 0 ? e->inputs.items[i].access.coefficient[last] : 0;
        if (step != 0 && step != 1)
            return false;
    }
    return !e->failed;
}

/* Tells that it reads values of the group, *reads, and all of them at its own place. */
static bool reads_in_place(const expression *e, int group, bool *reads) {
    affine own[IR_MAX_RANK];
    *reads = false;
    for (size_t i = 0; i < e->memo.count; i++) {
        const expression_memo *memo = &e->memo.items[i];
        size_t bytes = sizeof *own * (size_t)plan_type(e->p, memo->value)->rank;
        if (e->p->group_of[memo->value] != group)
            continue;
        expression_identity(e->p, memo->value, 0, own);
        if (memcmp(own, memo->index, bytes) != 0)
            return false;
        *reads = true;
    }
    return true;
}

static bool reads_the_same(const expression *a, const expression *b) {
    for (size_t i = 0; i < a->inputs.count; i++)
        for (size_t k = 0; k < b->inputs.count; k++)
            if (a->inputs.items[i].source == b->inputs.items[k].source &&
                memcmp(&a->inputs.items[i].access, &b->inputs.items[k].access, sizeof(affine)) == 0)
                return true;
    return false;
}

/* A specified function that is computed in the expression: a value at its place. */
static bool is_dear(const expression *e, size_t i) {
    return graph_op_is_specified(plan_opcode(e->p, e->memo.items[i].value));
}

static bool computes(const expression *e, const expression_memo *memo) {
    size_t bytes = sizeof *memo->index * (size_t)plan_type(e->p, memo->value)->rank;
    for (size_t i = 0; i < e->memo.count; i++)
        if (e->memo.items[i].value == memo->value &&
            memcmp(e->memo.items[i].index, memo->index, bytes) == 0)
            return true;
    return false;
}

/* Does `all` compute each dear function that `e` computes? */
static bool holds_dear(const expression *all, const expression *e) {
    for (size_t i = 0; i < e->memo.count; i++)
        if (is_dear(e, i) && !computes(all, &e->memo.items[i]))
            return false;
    return true;
}

/* Is a value better computed in the nest of others, because it reads them, or the memory that they
 * read? Of dear functions a nest computes no more than one of its values needs. */
static bool shares_nest(const plan *p, ir_value v, int group) {
    const plan_group *g = &p->groups[group];
    int last = plan_type(p, v)->rank - 1;
    expression e = nest_expression(p, v, group);
    bool shares, fits = walks_rows(&e, last) && reads_in_place(&e, group, &shares);
    for (size_t i = 0; i < g->roots.count && fits; i++) {
        expression other = nest_expression(p, g->roots.items[i], group);
        fits = walks_rows(&other, last) && (holds_dear(&e, &other) || holds_dear(&other, &e));
        shares |= reads_the_same(&e, &other);
        expression_release(&other);
    }
    expression_release(&e);
    return fits && shares;
}

static bool takes_more(const plan *p, int g) {
    const plan_group *group = &p->groups[g];
    return group->kind == GROUP_MAP && group->roots.count < SCHEDULE_OUTPUTS &&
           !p->deep[group->roots.items[0]] &&
           ir_op_get(p->g, group->anchor)->opcode != GRAPH_CONCAT;
}

static bool has_shape_of(const plan *p, int g, ir_value v) {
    const ir_type_data *t = plan_type(p, v), *other = plan_type(p, p->groups[g].roots.items[0]);
    return t->rank == other->rank &&
           memcmp(t->dims, other->dims, sizeof *t->dims * (size_t)t->rank) == 0;
}

void plan_note_nest(plan *p, ir_value v, int group) {
    expression e = nest_expression(p, v, group);
    for (size_t i = 0; i < e.inputs.count; i++) {
        plan_nests *nests = &p->nests[e.inputs.items[i].source];
        if (!nests->count || nests->items[nests->count - 1] != group)
            vec_push(nests, group);
    }
    expression_release(&e);
}

/* Groups, the latest first: of those that are noted as many as a kernel has phases, so that what is
 * tried for each value is bounded, however long a program is. */
typedef struct latest_groups {
    int items[LIMIT_PHASES], count;
} latest_groups;

static void note_group(latest_groups *l, int g) {
    int at = 0;
    while (at < l->count && l->items[at] > g)
        at++;
    if (at == LIMIT_PHASES || (at < l->count && l->items[at] == g))
        return;
    l->count += l->count < LIMIT_PHASES;
    memmove(&l->items[at + 1], &l->items[at], sizeof *l->items * (size_t)(l->count - 1 - at));
    l->items[at] = g;
}

/* Nests that can share with the value: those that it reads, and those that read what it reads. */
static latest_groups possible_nests(plan *p, ir_value v, group_set reads) {
    latest_groups all = {.count = 0};
    expression e = nest_expression(p, v, -1);
    for (int i = 0; i < reads.count; i++)
        if (takes_more(p, reads.items[i]) && has_shape_of(p, reads.items[i], v))
            note_group(&all, reads.items[i]);
    for (size_t i = 0; i < e.inputs.count; i++) {
        plan_nests *nests = &p->nests[e.inputs.items[i].source];
        size_t kept = 0;
        for (size_t k = 0; k < nests->count; k++) {
            int g = nests->items[k];
            if (!takes_more(p, g))
                continue;
            nests->items[kept++] = g;
            if (has_shape_of(p, g, v))
                note_group(&all, g);
        }
        nests->count = kept;
    }
    expression_release(&e);
    return all;
}

int plan_find_nest(plan *p, ir_value v, group_set reads) {
    const latest_groups nests =
        p->unfused ? (latest_groups){.count = 0} : possible_nests(p, v, reads);
    for (int i = 0; i < nests.count; i++)
        if (!plan_closes_circle(p, nests.items[i], reads) && shares_nest(p, v, nests.items[i]))
            return nests.items[i];
    return -1;
}

/* The group that an operation reads for: that of the memory of what it makes, or of what that is
 * computed for; -1: there are several, or none that is known. */
static int reader_of(const plan *p, const int *home, ir_op op) {
    const ir_op_data *d = ir_op_get(p->g, op);
    ir_value made = p->place[op] && d->result_count == 1 ? d->results[0] : 0;
    if (!made)
        return -1;
    return p->stored[made] ? p->group_of[made] : plan_is_computed(p, made) ? home[made] : -1;
}

/* The only group that reads a value, at once or by others that have no memory; else -1. */
static int only_group(const plan *p, const int *home, ir_value v) {
    uint32_t count = ir_uses_count(&p->readers, v);
    int group = count ? reader_of(p, home, ir_uses_reader(&p->readers, v, 0)) : -1;
    for (uint32_t i = 1; i < count && group >= 0; i++)
        if (reader_of(p, home, ir_uses_reader(&p->readers, v, i)) != group)
            group = -1;
    return group;
}

void plan_unstore_inner(plan *p) {
    int *home = base_malloc(p->values * sizeof *home);
    const ir_block_data *body = ir_block_get(p->g, ir_op_block(p->g, p->kernel, 0));
    for (ir_op op = body->last; op; op = ir_op_get(p->g, op)->previous)
        for (uint32_t i = 0; i < ir_op_get(p->g, op)->result_count; i++)
            home[ir_op_get(p->g, op)->results[i]] =
                only_group(p, home, ir_op_get(p->g, op)->results[i]);
    for (ir_op op = body->first; op; op = ir_op_get(p->g, op)->next) {
        ir_value v = ir_op_get(p->g, op)->result_count == 1 ? ir_op_get(p->g, op)->results[0] : 0;
        int g = v && p->stored[v] ? p->group_of[v] : -1;
        if (g >= 0 && g == home[v] && p->groups[g].kind == GROUP_MAP && !p->deep[v])
            plan_unstore(p, v);
    }
    free(home);
}
