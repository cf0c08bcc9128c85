/* overlap.c - see overlap.h.
 *
 * The commands of a block are scheduled as a list (Coffman and Graham, "Optimal scheduling for
 * two-processor systems", 1972, has the idea): two clocks go on, one of dispatches and one of
 * exchanges, by rough costs, and of the commands whose operands are there then the next one is
 * taken: an exchange whose turn it is, else what that waits for, else the first in the program.
 * Where nothing is there, the dispatches wait for the exchange that ends first. Costs decide about
 * places alone; every order that comes out is right.
 *
 * Rows that are there from the start, such as weights that are gathered for their layer, are not
 * all brought at once: each has memory from then on. */
#include "program/overlap.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "ir/copy.h"
#include "ir/rename.h"
#include "ops/control.h"
#include "ops/functions.h"
#include "ops/graph.h"
#include "program/outline.h"

/* A dispatch and an exchange of nothing, and what a byte and an operation take, in ns: of a few
 * cores and ranks on one machine. What comes ahead of its readers has so many bytes. */
enum { DISPATCH_NS = 2000, EXCHANGE_NS = 20000, AHEAD_MOST = 32 << 20 };
static const double byte_ns = 0.1, operation_ns = 0.05, sent_byte_ns = 0.5;

/* ---- one list of calls ---- */

static ir_op called_by(const ir_module *m, ir_op call) {
    return function_named(m, ir_op_string(m, call, "callee", ""));
}

static bool is_group(const ir_module *m, ir_op op) {
    return ir_op_get(m, op)->opcode == GRAPH_CALL && !program_is_dispatch(m, called_by(m, op));
}

/* The calls of a function that is several dispatches stand in the place of its own. */
static void inline_groups(ir_module *m, ir_block block) {
    ir_value *copies = base_calloc(ir_value_count(m) + 1, sizeof *copies);
    ir_renaming renamed = ir_renaming_new(m);
    for (ir_op op = ir_block_get(m, block)->first, next; op; op = next) {
        next = ir_op_get(m, op)->next;
        ir_renaming_apply(&renamed, op);
        if (!is_group(m, op))
            continue;
        const ir_op_data *d = ir_op_get(m, op);
        const ir_block_data *body = ir_block_get(m, ir_op_block(m, called_by(m, op), 0));
        const ir_op_data *end = ir_op_get(m, body->last);
        ir_builder b = {.m = m, .block = block, .before = op};
        for (uint32_t i = 0; i < body->argument_count; i++)
            copies[body->arguments[i]] = d->operands[i];
        for (ir_op inner = body->first; inner != body->last; inner = ir_op_get(m, inner)->next)
            ir_copy_op(&b, m, inner, copies);
        for (uint32_t i = 0; i < end->operand_count; i++)
            ir_rename(&renamed, ir_op_get(m, op)->results[i], copies[end->operands[i]]);
        ir_op_erase(m, op);
    }
    ir_renaming_end(&renamed, 0);
    free(copies);
}

/* ---- commands ---- */

typedef enum step_kind { STEP_WORK, STEP_EXCHANGE, STEP_HOLDS_EXCHANGES } step_kind;

typedef struct step {
    ir_op op;
    step_kind kind;
    double cost_ns, there_ns; /* when its results are there, once it is scheduled */
    int64_t ahead_bytes;      /* of an exchange of what was there from the start */
    bool done, wanted;        /* the next exchange waits for it */
    bool from_start;          /* the inputs of the block, moved at most */
} step;

typedef struct scheduler {
    ir_module *m;
    step *steps; /* in the order of the program, which was right */
    uint32_t count, next_exchange, first_left;
    uint32_t *step_of; /* by operation; of others `count` */
    double work_ns, exchange_ns;
    int64_t ahead_bytes;
} scheduler;

static double elements(const ir_module *m, ir_value v) {
    return (double)ir_type_count(m, ir_value_get(m, v)->type);
}

static double bytes_of(const ir_module *m, ir_value v) {
    return elements(m, v) * (double)dtype_size(ir_type_of(m, v)->element);
}

/* The square root of MK KN MN is MNK. */
static double operations_of(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->result_count == 0)
        return 0;
    if (graph_op_class(d->opcode) == GRAPH_CLASS_CONTRACT && d->operand_count >= 2)
        return 2 * sqrt(elements(m, d->operands[0]) * elements(m, d->operands[1]) *
                        elements(m, d->results[0]));
    return elements(m, d->results[0]);
}

static bool moves_alone(const ir_module *m, ir_op op) {
    const graph_class class = graph_op_class(ir_op_get(m, op)->opcode);
    return class == GRAPH_CLASS_MOVE || class == GRAPH_CLASS_GENERATOR ||
           class == GRAPH_CLASS_RETURN;
}

/* *moves: it computes nothing. */
static double cost_of_call(const ir_module *m, ir_op call, bool *moves) {
    const ir_op_data *d = ir_op_get(m, call);
    double bytes = 0, operations = 0;
    for (uint32_t i = 0; i < d->operand_count; i++)
        bytes += bytes_of(m, d->operands[i]);
    for (uint32_t i = 0; i < d->result_count; i++)
        bytes += bytes_of(m, d->results[i]);
    *moves = true;
    const ir_block body = ir_op_block(m, called_by(m, call), 0);
    for (ir_op op = ir_block_get(m, body)->first; op; op = ir_op_get(m, op)->next) {
        operations += operations_of(m, op);
        *moves &= moves_alone(m, op);
    }
    return DISPATCH_NS + bytes * byte_ns + operations * operation_ns;
}

static bool holds_exchange(const ir_module *m, ir_op op) {
    bool holds = false;
    for (ir_walk w = ir_walk_op(m, op); !holds && ir_walk_next(&w);)
        holds = ir_op_get(m, w.op)->opcode == GRAPH_EXCHANGE;
    return holds;
}

/* ---- what waits for what ---- */

/* The step that makes a value; NULL: it is there from the start, or from outside. */
static step *maker_of(const scheduler *s, ir_value v) {
    const ir_op op = ir_value_get(s->m, v)->op;
    return op && s->step_of[op] < s->count ? &s->steps[s->step_of[op]] : NULL;
}

static step make_step(const scheduler *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    step made = {.op = op, .cost_ns = DISPATCH_NS};
    bool moves = d->opcode == GRAPH_DENSE;
    if (d->opcode == GRAPH_EXCHANGE) {
        made.kind = STEP_EXCHANGE;
        made.cost_ns = EXCHANGE_NS + sent_byte_ns * bytes_of(s->m, d->results[0]);
    } else if (d->opcode == GRAPH_CALL) {
        made.cost_ns = cost_of_call(s->m, op, &moves);
    } else if (d->region_count && holds_exchange(s->m, op)) {
        made.kind = STEP_HOLDS_EXCHANGES;
    }
    made.from_start = moves;
    bool early = true;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const step *maker = maker_of(s, d->operands[i]);
        early = early && (!maker || maker->from_start);
    }
    made.from_start = made.from_start && early;
    if (made.kind == STEP_EXCHANGE && early)
        made.ahead_bytes = (int64_t)bytes_of(s->m, d->results[0]);
    return made;
}

/* When what it reads is there; infinite: not all of that is scheduled. */
static double ready_ns(const scheduler *s, const step *t) {
    const ir_op_data *d = ir_op_get(s->m, t->op);
    double at = 0;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const step *maker = maker_of(s, d->operands[i]);
        if (maker && !maker->done)
            return INFINITY;
        at = maker && maker->there_ns > at ? maker->there_ns : at;
    }
    return at;
}

/* Marks what a step waits for. */
static void want(const scheduler *s, step *t) {
    VEC(step *) all = {0};
    vec_push(&all, t);
    while (all.count) {
        const ir_op_data *d = ir_op_get(s->m, vec_pop(&all)->op);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            step *maker = maker_of(s, d->operands[i]);
            if (!maker || maker->done || maker->wanted)
                continue;
            maker->wanted = true;
            vec_push(&all, maker);
        }
    }
    vec_release(&all);
}

static step *find_next_exchange(scheduler *s) {
    while (s->next_exchange < s->count &&
           (s->steps[s->next_exchange].kind == STEP_WORK || s->steps[s->next_exchange].done))
        s->next_exchange++;
    return s->next_exchange < s->count ? &s->steps[s->next_exchange] : NULL;
}

/* ---- the schedule ---- */

/* Rows that came ahead of their readers are read now. */
static void read_ahead(scheduler *s, const step *t) {
    const ir_op_data *d = ir_op_get(s->m, t->op);
    for (uint32_t i = 0; i < d->operand_count; i++) {
        step *maker = maker_of(s, d->operands[i]);
        if (!maker)
            continue;
        s->ahead_bytes -= maker->ahead_bytes;
        maker->ahead_bytes = 0;
    }
}

static void take(scheduler *s, step *t) {
    const double ready = ready_ns(s, t);
    read_ahead(s, t);
    s->work_ns = ready > s->work_ns && t->kind != STEP_EXCHANGE ? ready : s->work_ns;
    if (t->kind == STEP_EXCHANGE) {
        const double begins = ready > s->exchange_ns ? ready : s->exchange_ns;
        s->exchange_ns = (begins > s->work_ns ? begins : s->work_ns) + t->cost_ns;
        s->ahead_bytes += t->ahead_bytes;
        t->there_ns = s->exchange_ns;
    } else {
        s->work_ns += t->cost_ns;
        t->there_ns = s->work_ns;
    }
    t->done = true;
    step *next = t->kind == STEP_WORK ? NULL : find_next_exchange(s);
    if (next)
        want(s, next);
    ir_op_move_before(s->m, t->op, ir_block_get(s->m, ir_op_get(s->m, t->op)->block)->last);
}

/* May an exchange begin now, ahead of its readers or not? */
static bool has_room(const scheduler *s, const step *t) {
    return t->ahead_bytes == 0 || s->ahead_bytes == 0 ||
           s->ahead_bytes + t->ahead_bytes <= AHEAD_MOST;
}

static bool is_better(const scheduler *s, const step *a, double a_ns, const step *b, double b_ns) {
    const bool a_now = a_ns <= s->work_ns, b_now = b_ns <= s->work_ns;
    if (!b || a_now != b_now)
        return !b || a_now;
    if (!a_now && a_ns != b_ns)
        return a_ns < b_ns;
    return a->wanted && !b->wanted; /* else the first in the program */
}

/* The next step of all that wait for nothing that is not scheduled. */
static step *choose(scheduler *s) {
    step *exchange = find_next_exchange(s), *best = NULL;
    double best_ns = 0;
    if (exchange && ready_ns(s, exchange) <= s->work_ns && has_room(s, exchange))
        return exchange;
    while (s->first_left < s->count && s->steps[s->first_left].done)
        s->first_left++;
    for (uint32_t i = s->first_left; i < s->count; i++) {
        step *t = &s->steps[i];
        const double ready = t->done || t->kind != STEP_WORK ? INFINITY : ready_ns(s, t);
        if (isinf(ready) || !is_better(s, t, ready, best, best_ns))
            continue;
        best = t;
        best_ns = ready;
        if (ready <= s->work_ns && t->wanted)
            break;
    }
    const bool waits = !best || best_ns > s->work_ns;
    return waits && exchange && !isinf(ready_ns(s, exchange)) &&
                   (!best || ready_ns(s, exchange) <= best_ns)
               ? exchange
               : best;
}

static void schedule(ir_module *m, ir_block block) {
    const size_t operations = ir_op_count(m) + 1;
    scheduler s = {.m = m, .step_of = base_malloc(operations * sizeof *s.step_of)};
    const ir_op last = ir_block_get(m, block)->last;
    uint32_t count = 0;
    for (ir_op op = ir_block_get(m, block)->first; op != last; op = ir_op_get(m, op)->next)
        count++;
    s.steps = base_calloc(count + 1, sizeof *s.steps);
    for (size_t i = 0; i < operations; i++)
        s.step_of[i] = UINT32_MAX;
    for (ir_op op = ir_block_get(m, block)->first; op != last; op = ir_op_get(m, op)->next) {
        s.steps[s.count] = make_step(&s, op);
        s.step_of[op] = s.count++;
    }
    step *first = find_next_exchange(&s);
    if (first)
        want(&s, first);
    for (uint32_t i = 0; i < count; i++)
        take(&s, choose(&s));
    free(s.steps);
    free(s.step_of);
}

static bool overlap_block(ir_module *m, ir_block block, void *context) {
    (void)context;
    const ir_op around = ir_block_parent(m, block);
    if (graph_op_class(ir_op_get(m, around)->opcode) == GRAPH_CLASS_COMBINE)
        return true;
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->opcode == GRAPH_EXCHANGE) {
            inline_groups(m, block);
            schedule(m, block);
            return true;
        }
    return true;
}

void program_overlap(ir_module *m) {
    (void)control_each_block(m, overlap_block, NULL);
}
