/* join_loops.c - loops over blocks, joined.
 *
 * A loop that adds a product to a sum in each turn is one contraction whose chunks are the blocks
 * (ops/orders.def). Of any other loop, what does not depend on what it carries is computed for all
 * turns at once, the turn an axis in front. If what is left is element-wise, it is one tessera.fold
 * (join_fold.c). Else what a carried tile makes of itself is made for all turns, too, and what
 * depends on that alone; and what is left then is a fold, or is written out turn by turn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/join_turns.h"
#include "ops/build.h"

/* Flag of a value beside the carried tiles that it is made of: it is made turn by turn. */
#define EACH_TURN (UINT32_C(1) << 31)

/* Turns that are written out, or whose running maxima are computed. */
enum { TURNS_MAX = 64 };

/* ---- contractions ---- */

/* Checks that each turn added a product to each sum, which was 0 before. */
static bool is_contraction(const joining_pass *j, ir_op op) {
    const ir_op_data *d = ir_op_get(j->e.m, op);
    const ir_op_data *end =
        ir_op_get(j->e.m, ir_block_get(j->e.m, ir_op_block(j->e.m, op, 0))->last);
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const joined *sum = &j->now[end->operands[i]];
        if (sum->role != ROLE_SUM || sum->carried != i || !j->now[d->operands[i]].is_zero)
            return false;
    }
    return d->operand_count > 0;
}

/* All turns at once. */
static bool contract(joining_pass *j, ir_op op, int64_t count) {
    const ir_op_data d = *ir_op_get(j->e.m, op);
    const ir_block_data body = *ir_block_get(j->e.m, ir_op_block(j->e.m, op, 0));
    if (j->contracted >= 0 || j->index_count == JOIN_INDICES || count < 2)
        return false;
    j->contracted = j->index_count++;
    j->indices[j->contracted] =
        (joined_index){.name = ir_op_string(j->e.m, op, "index", ""), .count = count};
    for (uint32_t i = 0; i < d.operand_count; i++) {
        j->now[body.arguments[i]] = j->now[d.operands[i]];
        j->now[body.arguments[i]].role = ROLE_CARRIED;
        j->now[body.arguments[i]].carried = i;
    }
    bool ok = join_block(j, ir_op_block(j->e.m, op, 0)) && is_contraction(j, op);
    for (uint32_t i = 0; ok && i < d.result_count; i++) {
        j->now[d.results[i]] = j->now[ir_op_get(j->e.m, body.last)->operands[i]];
        j->now[d.results[i]].role = ROLE_TILE;
    }
    j->index_count--;
    j->contracted = -1;
    return ok;
}

/* ---- what depends on which carried tiles ---- */

/* Not worth an axis in front: of more axes than the carried tile that it waits for. */
static bool is_wide(const turns *t, ir_value v, uint32_t needs) {
    for (uint32_t k = 0; k < t->body.argument_count; k++)
        if ((needs >> k & 1) &&
            join_type(t->j, v)->rank > join_type(t->j, t->body.arguments[k])->rank)
            return needs && !(needs & ~t->known);
    return false;
}

static void find_needs(turns *t) {
    const ir_module *m = t->j->e.m;
    for (uint32_t i = 0; i < t->body.argument_count; i++)
        t->needs[t->body.arguments[i]] = UINT32_C(1) << i;
    for (ir_op op = t->body.first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        uint32_t needs = d->opcode == GRAPH_FOR ? UINT32_MAX : 0;
        for (uint32_t i = 0; i < d->operand_count; i++)
            needs |= t->needs[d->operands[i]];
        for (uint32_t i = 0; i < d->result_count; i++)
            t->needs[d->results[i]] = needs | (is_wide(t, d->results[i], needs) ? EACH_TURN : 0);
    }
}

bool turns_know(const turns *t, ir_value v) {
    return !(t->needs[v] & ~t->known);
}

static void open_turns(turns *t, joining_pass *j, ir_op op, int64_t count) {
    *t = (turns){.j = j, .op = op, .d = *ir_op_get(j->e.m, op), .count = count};
    t->body = *ir_block_get(j->e.m, ir_op_block(j->e.m, op, 0));
    t->needs = base_calloc(j->e.value_count + 1, sizeof *t->needs);
    t->all = base_calloc(j->e.value_count + 1, sizeof *t->all);
    for (uint32_t i = 0; i < t->d.operand_count; i++) {
        t->end[i] = ir_op_get(j->e.m, t->body.last)->operands[i];
        t->next[i] = j->now[t->d.operands[i]];
    }
    find_needs(t);
}

static void close_turns(turns *t) {
    free(t->needs);
    free(t->all);
}

/* ---- all turns at once ---- */

/* A loop that is worth it multiplies, or reduces, what it does not carry. */
static bool has_work(const turns *t) {
    const ir_module *m = t->j->e.m;
    for (ir_op op = t->body.first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        graph_class class = graph_op_class(d->opcode);
        if (d->result_count && turns_know(t, d->results[0]) &&
            (class == GRAPH_CLASS_COMPOSITE || class == GRAPH_CLASS_REDUCE))
            return true;
    }
    return false;
}

/* Joins what is known now and was not when only `before` were. */
static bool join_ahead(turns *t, uint32_t before, int64_t count) {
    joining_pass *j = t->j;
    int blamed = j->blamed;
    ir_op last = join_last(j);
    bool ok = true;
    if (j->index_count == JOIN_INDICES || count < 2)
        return false;
    j->indices[j->index_count++] = (joined_index){
        .name = ir_op_string(j->e.m, t->op, "index", ""), .count = count, .in_front = true};
    for (ir_op op = t->body.first; op && ok; op = ir_op_get(j->e.m, op)->next) {
        const ir_op_data *d = ir_op_get(j->e.m, op);
        ir_value v = d->result_count ? d->results[0] : 0;
        if (v && turns_know(t, v) && (t->known == before || (t->needs[v] & ~before)))
            ok = join_op(j, op);
    }
    j->index_count--;
    j->blamed = blamed;
    if (ok)
        memcpy(t->all, j->now, sizeof *t->all * (j->e.value_count + 1));
    else
        join_take_back(j, last);
    return ok;
}

/* ---- one turn ---- */

/* Turn `turn` of a value of all turns; the turn is the index behind the others. */
static bool take_turn(joining_pass *j, joined *x, int64_t turn) {
    int index = j->index_count, rank, at = join_front(x, index), left = 0;
    int64_t start[IR_MAX_RANK] = {0}, stop[IR_MAX_RANK], step[IR_MAX_RANK], shape[IR_MAX_RANK];
    if (!(x->batches >> index & 1))
        return true;
    rank = join_rank(x);
    for (int i = 0; i < rank; i++) {
        stop[i] = join_type(j, x->value)->dims[i];
        step[i] = 1;
        if (i != at)
            shape[left++] = stop[i];
    }
    start[at] = turn;
    stop[at] = turn + 1;
    const ir_named_attr attrs[] = {{"start", ir_attr_int_array(j->e.m, start, (uint32_t)rank)},
                                   {"stop", ir_attr_int_array(j->e.m, stop, (uint32_t)rank)},
                                   {"step", ir_attr_int_array(j->e.m, step, (uint32_t)rank)}};
    const ir_named_attr attr = {"shape", ir_attr_int_array(j->e.m, shape, (uint32_t)left)};
    ir_value v = join_build(j, GRAPH_SLICE, &x->value, 1, attrs, 3);
    x->value = v ? join_build(j, GRAPH_RESHAPE, &v, 1, &attr, 1) : 0;
    x->batches &= ~(UINT32_C(1) << index);
    return x->value != 0;
}

static bool take_operand(turns *t, ir_value v, int64_t turn) {
    return !turns_know(t, v) || take_turn(t->j, &t->j->now[v], turn);
}

/* Operations of turn `turn` that make what is not known. */
static bool join_turn(turns *t, int64_t turn) {
    joining_pass *j = t->j;
    for (uint32_t i = 0; i < t->body.argument_count; i++)
        j->now[t->body.arguments[i]] =
            t->known >> i & 1 ? t->all[t->body.arguments[i]] : t->next[i];
    for (ir_op op = t->body.first; op; op = ir_op_get(j->e.m, op)->next) {
        const ir_op_data d = *ir_op_get(j->e.m, op);
        ir_value v = d.result_count ? d.results[0] : 0;
        bool known = v && turns_know(t, v);
        if (known)
            j->now[v] = t->all[v];
        for (uint32_t i = 0; !known && i < d.operand_count; i++)
            if (!take_operand(t, d.operands[i], turn))
                return false;
        if (v && !known && !join_op(j, op))
            return false;
    }
    return true;
}

bool turns_join_one(turns *t, int64_t turn) {
    joining_pass *j = t->j;
    ir_binding index = {ir_op_string(j->e.m, t->op, "index", ""), turn};
    vec_push(&j->e.indices, index);
    bool ok = join_turn(t, turn);
    j->e.indices.count--;
    return ok;
}

static bool each_turn(turns *t, int64_t first, int64_t end) {
    bool ok = true;
    for (int64_t i = first; i < end && ok; i++) {
        ok = turns_join_one(t, i);
        for (uint32_t k = 0; ok && k < t->d.operand_count; k++)
            if (!(t->known >> k & 1))
                t->next[k] = t->j->now[t->end[k]];
    }
    return ok;
}

/* ---- carried tiles, one after the other ---- */

/* The largest of the turns before each turn: of value [turn, ...] in front the maximum over the
 * turns that are less, -inf where there is none. No order can be seen in it. */
static ir_value running_maximum(turns *t, const joined *x) {
    joining_pass *j = t->j;
    ir_builder *b = &j->e.b;
    const ir_type_data type = *join_type(j, x->value);
    int64_t shape[IR_MAX_RANK], axes[IR_MAX_RANK], at = join_front(x, j->index_count);
    for (int i = 0; i < type.rank; i++) {
        axes[i] = i + (i >= at);
        shape[axes[i]] = type.dims[i];
    }
    shape[at] = type.dims[at];
    int rank = type.rank + 1;
    ir_value values = build_broadcast(b, x->value, rank, shape, axes);
    ir_value sees = build_compare(b, "gt", build_iota(b, rank, shape, (int)at),
                                  build_iota(b, rank, shape, (int)at + 1));
    ir_value lowest = build_f32(b, -INFINITY, values);
    return build_reduce(b, "max", build_select(b, sees, values, lowest), (int)at + 1);
}

/* The operand of a maximum that is not the carried tile; 0: the next value is no such. */
static ir_value maximum_with(const turns *t, int k) {
    const ir_module *m = t->j->e.m;
    ir_op op = ir_value_get(m, t->end[k])->op;
    const ir_op_data *d = op ? ir_op_get(m, op) : NULL;
    ir_value carried = t->body.arguments[k];
    if (!d || d->opcode != GRAPH_MAXIMUM || join_type(t->j, carried)->element != DTYPE_F32)
        return 0;
    return d->operands[0] == carried   ? d->operands[1]
           : d->operands[1] == carried ? d->operands[0]
                                       : 0;
}

static bool combine_maxima(joining_pass *j, const joined *x, const joined *y, joined *out) {
    layout l = join_layout(x);
    if (!join_meet(j, &l, x) || !join_meet(j, &l, y))
        return false;
    ir_value both[] = {join_align(j, x, &l), join_align(j, y, &l)};
    *out = join_of_layout(
        &l, both[0] && both[1] ? build_binary(&j->e.b, GRAPH_MAXIMUM, both[0], both[1]) : 0);
    return out->value != 0;
}

/* A carried maximum before each of the turns, and behind them. */
static bool find_maxima(turns *t, int k) {
    joining_pass *j = t->j;
    ir_value with = maximum_with(t, k);
    joined x = with ? t->all[with] : (joined){.value = 0}, before, last[2];
    if (!with || !x.value || !(x.batches >> j->index_count & 1) || join_rank(&x) == IR_MAX_RANK)
        return false;
    before = x;
    before.value = running_maximum(t, &x);
    j->indices[j->index_count++].count = t->ahead;
    bool ok = combine_maxima(j, &t->next[k], &before, &t->all[t->body.arguments[k]]);
    j->index_count--;
    last[0] = t->all[t->body.arguments[k]];
    last[1] = x;
    return ok && take_turn(j, &last[0], t->ahead - 1) && take_turn(j, &last[1], t->ahead - 1) &&
           combine_maxima(j, &last[0], &last[1], &t->next[k]);
}

/* A carried tile that others need, and that needs none of which not all turns are known; -1. */
static int next_known(const turns *t) {
    for (uint32_t k = 0; k < t->d.operand_count; k++) {
        uint32_t own = UINT32_C(1) << k;
        bool needed = false;
        for (uint32_t i = 0; i < t->d.operand_count; i++)
            needed |= i != k && (t->needs[t->end[i]] & own);
        if (needed && !(t->known & own) && !(t->needs[t->end[k]] & ~(t->known | own)))
            return (int)k;
    }
    return -1;
}

/* All turns of one carried tile, and then of what depends on it. */
static bool make_known(turns *t, int k) {
    joining_pass *j = t->j;
    joined first = t->next[k];
    ir_op last = join_last(j);
    bool ok = find_maxima(t, k);
    if (ok) {
        memcpy(j->now, t->all, sizeof *t->all * (j->e.value_count + 1));
        t->known |= UINT32_C(1) << k;
        find_needs(t);
        ok = join_ahead(t, t->known & ~(UINT32_C(1) << k), t->ahead);
    }
    if (!ok) {
        join_take_back(j, last);
        t->known &= ~(UINT32_C(1) << k);
        find_needs(t);
        t->next[k] = first;
    }
    return ok;
}

/* ---- loops ---- */

/* Folds the turns that are known in part; true: nothing is left. */
static bool fold_rest(turns *t) {
    int k;
    if (t->ahead == 0 || t->j->whole)
        return false;
    if (turns_fold(t))
        return true;
    while (t->ahead <= TURNS_MAX && (k = next_known(t)) >= 0 && make_known(t, k)) {
    }
    return t->known && turns_fold(t);
}

static bool write_out(joining_pass *j, ir_op op, int64_t first, int64_t count) {
    turns t;
    open_turns(&t, j, op, count);
    if (has_work(&t) && first == 0)
        t.ahead = join_ahead(&t, 0, count) ? count : join_ahead(&t, 0, count - 1) ? count - 1 : 0;
    int64_t done = fold_rest(&t) ? t.ahead : first;
    bool ok = count - done <= TURNS_MAX || join_blame(j, -1);
    ok = ok && each_turn(&t, done, t.ahead);
    t.known = 0; /* of the turns that are left, nothing is */
    memset(t.needs, 0xff, sizeof *t.needs * (j->e.value_count + 1));
    ok = ok && each_turn(&t, t.ahead > first ? t.ahead : first, count);
    for (uint32_t i = 0; i < t.d.result_count; i++)
        j->now[t.d.results[i]] = t.next[i];
    close_turns(&t);
    return ok;
}

bool join_loop(joining_pass *j, ir_op op) {
    int64_t first, count;
    int blamed = j->blamed;
    ir_op last = join_last(j);
    if (ir_op_get(j->e.m, op)->operand_count > JOIN_OPERANDS ||
        !expansion_turns(&j->e, op, &first, &count))
        return false;
    if (first == 0 && contract(j, op, count))
        return true;
    join_take_back(j, last);
    j->blamed = blamed;
    return write_out(j, op, first, count);
}
