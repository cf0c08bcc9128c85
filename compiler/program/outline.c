/* outline.c - dispatches of a program.
 *
 * Composites become dispatches first (composites.c). Then a block is cut twice. First at its
 * branches and loops: what stands between two of them is one function (segments, below). Then a
 * function that is too much for one kernel is cut into the groups of the schedule's plan, which are
 * what a kernel computes together, phase by phase. */
#include "program/outline.h"

#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "ops/functions.h"
#include "parameters/thresholds.h"
#include "program/canonical.h"
#include "program/composites.h"
#include "program/function.h"
#include "program/overlap.h"
#include "schedule/plan.h"

/* Branches, loops, exchanges, and calls that are there before, wait for what is computed in
 * segments. */
static bool is_between(int opcode) {
    return graph_is_control(opcode) || opcode == GRAPH_CALL || opcode == GRAPH_EXCHANGE;
}

bool program_is_dispatch(const ir_module *m, ir_op function) {
    for (ir_op op = ir_block_get(m, ir_op_block(m, function, 0))->first; op;
         op = ir_op_get(m, op)->next)
        if (is_between(ir_op_get(m, op)->opcode))
            return false;
    return true;
}

/* A block whose operations become calls. */
typedef struct cut_state {
    functions *f;
    ir_block block;
    ir_value *now;   /* by old value: what stands for it */
    uint32_t count;  /* of old values */
    int *level;      /* by old value */
    bool *is_number; /* likewise; NULL: nobody asks */
    int deepest, at;
} cut_state;

/* These and constants stay in the block. */
static bool is_kept(int opcode) {
    return is_between(opcode) || opcode == GRAPH_DENSE;
}

static cut_state begin_cut(functions *f, ir_block block) {
    uint32_t count = ir_value_count(f->m) + 1;
    return (cut_state){.f = f,
                       .block = block,
                       .count = count,
                       .now = base_calloc(count, sizeof(ir_value)),
                       .level = base_calloc(count, sizeof(int))};
}

static void set_operands(cut_state *c, ir_op op) {
    const ir_op_data *d = ir_op_get(c->f->m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (d->operands[i] < c->count && c->now[d->operands[i]])
            d->operands[i] = c->now[d->operands[i]];
}

/* Old operations are gone, and the block ends in what the calls make. */
static void end_cut(cut_state *c) {
    ir_module *m = c->f->m;
    ir_op end = ir_block_get(m, c->block)->last;
    set_operands(c, end);
    for (ir_op op = ir_op_get(m, end)->previous, previous; op; op = previous) {
        previous = ir_op_get(m, op)->previous;
        if (!is_kept(ir_op_get(m, op)->opcode))
            ir_op_erase(m, op);
    }
    free(c->now);
    free(c->level);
    free(c->is_number);
}

static void call(cut_state *c, function_request *r) {
    ir_module *m = c->f->m;
    ir_builder b = {.m = m, .block = c->block, .before = ir_block_get(m, c->block)->last};
    r->block = c->block;
    r->now = c->now;
    if (r->results.count == 0)
        return;
    ir_op made = functions_call(c->f, r, &b);
    for (size_t i = 0; i < r->results.count; i++)
        c->now[r->results.items[i]] = ir_op_result(m, made, (uint32_t)i);
}

/* ---- segments ---- */

/* The level of a value: how many branches and loops it has to wait for. Operations of one level are
 * one segment. */
static void find_levels(cut_state *c) {
    const ir_module *m = c->f->m;
    int exchanged = 0; /* the level behind the last exchange */
    for (ir_op op = ir_block_get(m, c->block)->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        int level = 0;
        for (uint32_t i = 0; i < d->operand_count; i++)
            level = c->level[d->operands[i]] > level ? c->level[d->operands[i]] : level;
        if (d->opcode == GRAPH_EXCHANGE) /* one after the other, in the same order on all ranks */
            level = exchanged = level > exchanged ? level + 1 : exchanged + 1;
        else
            level += is_between(d->opcode);
        for (uint32_t i = 0; i < d->result_count; i++)
            c->level[d->results[i]] = level;
        c->deepest = level > c->deepest ? level : c->deepest;
    }
}

/* Values that are made where they are read: numbers that cost nothing, and, where calls of
 * composites lie between, what is no more than numbers, and what only moves a value. */
static bool is_generated(const cut_state *c, ir_value v) {
    const ir_module *m = c->f->m;
    ir_op op = ir_value_get(m, v)->op;
    return op && (graph_op_class(ir_op_get(m, op)->opcode) == GRAPH_CLASS_GENERATOR ||
                  (c->is_number && c->is_number[v]));
}

static bool is_moved(const cut_state *c, ir_value v) {
    const ir_module *m = c->f->m;
    ir_op op = ir_value_get(m, v)->op;
    const ir_op_data *d = op ? ir_op_get(m, op) : NULL;
    return c->is_number && d && d->operand_count == 1 &&
           graph_op_class(d->opcode) == GRAPH_CLASS_MOVE;
}

static ir_value behind_moves(const cut_state *c, ir_value v) {
    while (is_moved(c, v))
        v = ir_op_get(c->f->m, ir_value_get(c->f->m, v)->op)->operands[0];
    return v;
}

/* Finds what is made of numbers alone, if there are calls. */
static void find_numbers(cut_state *c) {
    const ir_module *m = c->f->m;
    bool calls = false;
    for (ir_op op = ir_block_get(m, c->block)->first; op; op = ir_op_get(m, op)->next)
        calls |= ir_op_get(m, op)->opcode == GRAPH_CALL;
    c->is_number = calls ? base_calloc(c->count, sizeof *c->is_number) : NULL;
    for (ir_op op = ir_block_get(m, c->block)->first; op && calls; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        const graph_class class = graph_op_class(d->opcode);
        bool number = class == GRAPH_CLASS_GENERATOR || class == GRAPH_CLASS_ELEMENTWISE ||
                      (class == GRAPH_CLASS_MOVE && d->operand_count == 1);
        for (uint32_t i = 0; i < d->operand_count; i++)
            number = number && c->is_number[d->operands[i]];
        for (uint32_t i = 0; i < d->result_count; i++)
            c->is_number[d->results[i]] = number;
    }
}

static bool is_of_kept(const ir_module *m, ir_value v) {
    ir_op op = ir_value_get(m, v)->op;
    return op && is_kept(ir_op_get(m, op)->opcode);
}

static bool is_of_other_segment(ir_value v, void *context) {
    const cut_state *c = context;
    return is_of_kept(c->f->m, v) ||
           (c->level[v] != c->at && !is_generated(c, v) && !is_moved(c, v));
}

/* Marks what is read across segments, by branches and loops, or by the block's end. */
static bool *find_results(const cut_state *c, ir_op end) {
    const ir_module *m = c->f->m;
    bool *wanted = base_calloc(c->count, sizeof *wanted);
    for (ir_op op = ir_block_get(m, c->block)->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        bool ends = op == end || is_between(d->opcode);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            ir_value v = ends ? d->operands[i] : behind_moves(c, d->operands[i]);
            wanted[v] |= ends || (d->result_count && c->level[v] != c->level[d->results[0]] &&
                                  !is_generated(c, v));
        }
    }
    return wanted;
}

static void call_segment(cut_state *c, const bool *wanted, ir_op end) {
    const ir_module *m = c->f->m;
    function_request r = {.is_input = is_of_other_segment, .context = c, .in_order = true};
    for (ir_op op = ir_block_get(m, c->block)->first; op != end; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        for (uint32_t i = 0; i < d->result_count && !is_kept(d->opcode); i++)
            if (d->results[i] < c->count && wanted[d->results[i]] &&
                c->level[d->results[i]] == c->at)
                vec_push(&r.results, d->results[i]);
    }
    call(c, &r);
    vec_release(&r.results);
}

/* Branches and loops whose operands are there now: behind the calls. */
static void move_controls(cut_state *c, const op_list *controls) {
    ir_module *m = c->f->m;
    for (size_t i = 0; i < controls->count; i++) {
        ir_op op = controls->items[i];
        const ir_op_data *d = ir_op_get(m, op);
        if (d->result_count == 0 || c->level[d->results[0]] != c->at + 1)
            continue;
        set_operands(c, op);
        ir_op_move_before(m, op, ir_block_get(m, c->block)->last);
    }
}

static void find_controls(const cut_state *c, op_list *out) {
    const ir_module *m = c->f->m;
    for (ir_op op = ir_block_get(m, c->block)->first; op; op = ir_op_get(m, op)->next)
        if (is_between(ir_op_get(m, op)->opcode))
            vec_push(out, op);
}

static bool cut_segments(ir_module *m, ir_block block, void *context) {
    ir_op around = ir_block_parent(m, block);
    if (graph_op_class(ir_op_get(m, around)->opcode) == GRAPH_CLASS_COMBINE)
        return true; /* what it makes of elements is no dispatch */
    cut_state c = begin_cut(context, block);
    ir_op last = ir_block_get(m, block)->last;
    find_levels(&c);
    find_numbers(&c);
    bool *wanted = find_results(&c, last);
    op_list controls = {0};
    find_controls(&c, &controls);
    for (c.at = 0; c.at <= c.deepest; c.at++) {
        call_segment(&c, wanted, last);
        move_controls(&c, &controls);
    }
    vec_release(&controls);
    free(wanted);
    end_cut(&c);
    return true;
}

/* ---- groups ---- */

/* A plan's groups as dispatches: those that another one takes in belong to it. */
typedef struct group_state {
    const plan *p;
    int *owner; /* by group */
    int at;
} group_state;

static void find_owners(group_state *g) {
    for (int i = 0; i < g->p->group_count; i++)
        g->owner[i] = i;
    for (int i = 0; i < g->p->group_count; i++) {
        const plan_group *group = &g->p->groups[i];
        if (!group->ends_chain)
            continue;
        g->owner[group->scores] = g->owner[group->rows] = i;
        if (group->fold >= 0)
            g->owner[group->fold] = i;
    }
}

static int owner_of(const group_state *g, ir_value v) {
    bool has_memory = g->p->stored[v] && !g->p->in_workgroup[v] && g->p->group_of[v] >= 0;
    return has_memory ? g->owner[g->p->group_of[v]] : -1;
}

static bool is_of_other_group(ir_value v, void *context) {
    const group_state *g = context;
    int owner = owner_of(g, v);
    return owner >= 0 && owner != g->at;
}

static void call_group(cut_state *c, group_state *g, const value_list *stored) {
    function_request r = {.is_input = is_of_other_group, .context = g};
    for (size_t i = 0; i < stored->count; i++)
        if (owner_of(g, stored->items[i]) == g->at)
            vec_push(&r.results, stored->items[i]);
    call(c, &r);
    vec_release(&r.results);
}

/* Has all that the group waits for run before the place? */
static bool can_run_at(const plan *p, const int *places, int group, int place) {
    bool can = true;
    for (int i = 0; i < p->groups[group].depends.count; i++)
        can &= places[p->groups[group].depends.items[i]] < place;
    return can;
}

/* Products of few rows by one left side belong to the first of them, if they can run then. */
static void join_siblings(group_state *g, const int *order) {
    const plan *p = g->p;
    int *places = base_calloc((size_t)p->group_count + 1, sizeof *places);
    int *leader = base_calloc(p->values + 1, sizeof *leader); /* by left side, from 1 */
    for (int i = 0; i < p->group_count; i++)
        places[order[i]] = i;
    for (int i = 0; i < p->group_count; i++) {
        int group = order[i];
        ir_value left = plan_streamed_left(p, group);
        int first = left ? leader[left] - 1 : -1;
        if (first >= 0 && can_run_at(p, places, group, places[first]))
            g->owner[group] = first;
        else if (left)
            leader[left] = group + 1;
    }
    free(places);
    free(leader);
}

/* Checks that nothing large is there earlier than it must: results have their memory anyway. */
static bool may_be_early(const plan *p, ir_value v) {
    const ir_type type = ir_value_get(p->g, v)->type;
    const int64_t bytes = (int64_t)dtype_size(plan_type(p, v)->element);
    return plan_is_output(p, v) ||
           (ir_type_is_static(p->g, type) && ir_type_count(p->g, type) <= TOGETHER_BYTES / bytes);
}

/* An element-wise nest, which is one phase, and whose results may be made beside those of others.
 */
static bool is_nest(const plan *p, int group) {
    const plan_group *g = &p->groups[group];
    bool is = g->kind == GROUP_MAP && !g->inside && g->roots.count > 0 &&
              ir_op_get(p->g, g->anchor)->opcode != GRAPH_CONCAT;
    for (size_t i = 0; i < g->roots.count && is; i++)
        is = may_be_early(p, g->roots.items[i]);
    return is;
}

static bool waits_for_any(const plan *p, int group, const int *others, int count) {
    bool waits = false;
    for (int i = 0; i < count; i++)
        waits |= group_set_has(p->groups[group].depends, others[i]);
    return waits;
}

/* Counts what the nest reads and writes and is not marked yet, and marks it. */
static uint32_t mark_buffers(const group_state *g, int group, bool *marked) {
    const plan *p = g->p;
    value_list reached = {0};
    uint32_t count = 0;
    for (size_t i = 0; i < p->groups[group].roots.count; i++)
        vec_push(&reached, p->groups[group].roots.items[i]);
    for (size_t i = 0; i < reached.count; i++) {
        const ir_value v = reached.items[i];
        const ir_op op = ir_value_get(p->g, v)->op;
        const bool is_root = i < p->groups[group].roots.count,
                   is_buffer = is_root || !op || p->stored[v];
        if (marked[v])
            continue;
        marked[v] = true;
        count += is_buffer;
        for (uint32_t k = 0; (is_root || !is_buffer) && k < ir_op_get(p->g, op)->operand_count; k++)
            vec_push(&reached, ir_op_get(p->g, op)->operands[k]);
    }
    vec_release(&reached);
    return count;
}

/* Nests that follow each other, as those of an optimiser do, and of which none waits for another,
 * belong to the first of them, as many as a launch has buffers for. */
static void join_nests(group_state *g, const int *order, uint32_t most) {
    const plan *p = g->p;
    bool *marked = base_calloc(p->values + 1, sizeof *marked);
    uint32_t buffers = 0;
    for (int i = 0, first = 0; i < p->group_count; i++) {
        const int *run = &order[first], count = i - first;
        const bool joins = is_nest(p, order[i]) && g->owner[order[i]] == order[i];
        buffers += joins ? mark_buffers(g, order[i], marked) : 0;
        if (joins && count < LIMIT_PHASES && (most == 0 || buffers <= most) &&
            !waits_for_any(p, order[i], run, count)) {
            g->owner[order[i]] = *run;
            continue;
        }
        first = joins ? i : i + 1;
        memset(marked, 0, (p->values + 1) * sizeof *marked);
        buffers = joins ? mark_buffers(g, order[i], marked) : 0;
    }
    free(marked);
}

static bool cut_groups(functions *f, ir_op function, const plan *p, const outline_request *joins,
                       status *st) {
    cut_state c = begin_cut(f, ir_op_block(f->m, function, 0));
    group_state g = {.p = p, .owner = base_calloc((size_t)p->group_count + 1, sizeof(int))};
    int *order = base_calloc((size_t)p->group_count + 1, sizeof *order);
    value_list *stored = base_calloc((size_t)p->group_count + 1, sizeof *stored);
    bool ok = plan_order(p, order) ||
              status_set(st, STATUS_INTERNAL, "dispatches of the program wait for each other");
    find_owners(&g);
    if (ok && p->concurrent)
        join_siblings(&g, order);
    if (ok && joins)
        join_nests(&g, order, joins->buffers);
    for (ir_value v = 1; v < c.count; v++)
        if (owner_of(&g, v) >= 0)
            vec_push(&stored[owner_of(&g, v)], v);
    for (int i = 0; i < p->group_count && ok; i++) {
        g.at = order[i];
        call_group(&c, &g, &stored[g.at]);
    }
    for (int i = 0; i < p->group_count; i++)
        vec_release(&stored[i]);
    end_cut(&c);
    free(stored);
    free(order);
    free(g.owner);
    return ok;
}

static bool has_few_buffers(const ir_module *m, ir_op function, const outline_request *request) {
    return request->buffers == 0 || functions_buffers(m, function) <= request->buffers;
}

static bool fits_a_kernel(ir_module *m, ir_op function, const outline_request *request) {
    plan p;
    plan_build(&p, m, function, PLAN_KERNEL, request->concurrent, 0);
    bool fits = p.group_count <= LIMIT_PHASES;
    for (int i = 0; i < p.group_count && p.group_count > 1 && request->rows_apart; i++)
        fits = fits && p.groups[i].kind != GROUP_ROW;
    plan_release(&p);
    return fits;
}

static bool holds_composite(const ir_module *m, ir_op function) {
    ir_op op = ir_block_get(m, ir_op_block(m, function, 0))->first;
    while (op && !program_is_composite(ir_op_get(m, op)->opcode))
        op = ir_op_get(m, op)->next;
    return op != 0;
}

static bool cut_by_plan(functions *f, ir_op function, plan_mode mode,
                        const outline_request *request, status *st) {
    const bool groups = mode == PLAN_PROGRAM;
    const outline_request *joins = groups && request->nests_together ? request : NULL;
    plan p;
    plan_build(&p, f->m, function, mode, groups && request->concurrent, 0);
    bool ok = p.group_count <= 1 || cut_groups(f, function, &p, joins, st);
    plan_release(&p);
    return ok;
}

/* Up to and including `last`, the functions that were there before: groups are dispatches where a
 * kernel has no room for all of them. */
static bool cut_into_groups(functions *f, ir_op last, const outline_request *request, status *st) {
    bool ok = true;
    for (ir_op op = ir_op_get(f->m, ir_module_kernel(f->m))->next; op && ok;
         op = ir_op_get(f->m, op)->next) {
        if (!holds_composite(f->m, op) &&
            (request->unfused || request->apart || !has_few_buffers(f->m, op, request) ||
             !fits_a_kernel(f->m, op, request)))
            ok = cut_by_plan(f, op, PLAN_PROGRAM, request, st);
        if (op == last)
            break;
    }
    return ok;
}

/* A dispatch that has too many buffers yet: its operations are dispatches. */
static bool cut_into_operations(functions *f, const outline_request *request, status *st) {
    ir_op last = ir_block_get(f->m, ir_module_body(f->m))->last;
    bool ok = true;
    for (ir_op op = ir_op_get(f->m, ir_module_kernel(f->m))->next; op && ok;
         op = ir_op_get(f->m, op)->next) {
        if (!has_few_buffers(f->m, op, request) && program_is_dispatch(f->m, op) &&
            !holds_composite(f->m, op))
            ok = cut_by_plan(f, op, PLAN_EACH, request, st);
        if (op == last)
            break;
    }
    return ok;
}

static bool check_buffers(const ir_module *m, const outline_request *request, status *st) {
    for (ir_op op = ir_op_get(m, ir_module_kernel(m))->next; op; op = ir_op_get(m, op)->next)
        if (!has_few_buffers(m, op, request) && program_is_dispatch(m, op))
            return status_set(st, STATUS_UNAVAILABLE,
                              "an operation of the kernel reads and writes %u tensors; one launch "
                              "takes at most %u here",
                              functions_buffers(m, op), request->buffers);
    return true;
}

static bool has_calls(const ir_module *m) {
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == GRAPH_CALL)
            return true;
    return false;
}

bool program_outline(ir_module *m, const outline_request *request, status *st) {
    functions f;
    if (has_calls(m))
        return status_set(st, STATUS_INVALID,
                          "calls are not cut into dispatches: inline them first");
    functions_init(&f, m);
    program_outline_composites(&f, request);
    control_each_block(m, cut_segments, &f);
    program_make_canonical(&f);
    ir_op last = ir_block_get(m, ir_module_body(m))->last;
    bool ok = cut_into_groups(&f, last, request, st) && cut_into_operations(&f, request, st) &&
              check_buffers(m, request, st);
    functions_release(&f);
    if (ok && !request->unfused)
        program_overlap(m);
    return ok;
}
