/* join_fold.c - what a loop carries from turn to turn, as one tessera.fold over turns that are
 * known.
 *
 * Turns are tried, to see which axes the carried tiles have in the end; then one is the block of
 * the fold. */
#include <string.h>

#include "graph/join_turns.h"
#include "ops/build.h"
#include "ops/fold.h"

typedef struct fold_state {
    turns *t;
    joining_pass *j;
    layout carried[JOIN_OPERANDS];   /* of what the fold carries */
    uint32_t numbers[JOIN_OPERANDS]; /* ... and of which carried tile */
    uint32_t count;
    ir_value values[JOIN_OPERANDS]; /* of the body: what is known of all turns and taken by turns */
    joined known[JOIN_OPERANDS];    /* ... as tensors, where they may be numbers */
    ir_value turns[JOIN_OPERANDS];  /* ... all of them */
    ir_value operands[2 * JOIN_OPERANDS];
    int64_t axes[JOIN_OPERANDS];
    uint32_t inputs;
    ir_op op;
} fold_state;

static bool is_carried(const fold_state *f, uint32_t k) {
    return !(f->t->known >> k & 1);
}

static uint32_t turn_bit(const fold_state *f) {
    return UINT32_C(1) << f->j->index_count;
}

/* ---- operands ---- */

static bool add_input(fold_state *f, ir_value v) {
    joined x = f->t->all[v];
    for (uint32_t i = 0; i < f->inputs; i++)
        if (f->values[i] == v)
            return true;
    f->j->indices[f->j->index_count++].count = f->t->ahead;
    bool ok = join_number(f->j, &x) && x.value && f->inputs < JOIN_OPERANDS;
    f->j->index_count--;
    if (!ok || !(x.batches & turn_bit(f)))
        return ok;
    f->values[f->inputs] = v;
    f->known[f->inputs] = x;
    f->axes[f->inputs] = join_front(&x, f->j->index_count);
    f->turns[f->inputs++] = x.value;
    return true;
}

/* Finds, of what is known, the inputs of each turn's operations and the next carried tiles. */
static bool find_inputs(fold_state *f) {
    const ir_module *m = f->j->e.m;
    turns *t = f->t;
    bool ok = true;
    for (ir_op op = t->body.first; op && ok; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        for (uint32_t i = 0; i < d->operand_count && ok; i++) {
            bool next = d->opcode == GRAPH_NEXT && is_carried(f, i);
            bool taken = d->result_count && !turns_know(t, d->results[0]);
            if ((next || taken) && turns_know(t, d->operands[i]))
                ok = add_input(f, d->operands[i]);
        }
    }
    return ok;
}

/* ---- axes of what is carried ---- */

static bool same_layout(const layout *a, const layout *b) {
    bool same = a->batches == b->batches && a->rank == b->rank;
    for (int i = 0; i < a->rank && same; i++)
        same = a->along[i] == b->along[i] && a->length[i] == b->length[i];
    return same;
}

/* With the axes of the tile before a turn and behind it; *grows: they are more than before. */
static bool find_layout(fold_state *f, uint32_t i, bool *grows) {
    const joined *next = &f->j->now[f->t->end[f->numbers[i]]], *first = &f->t->next[f->numbers[i]];
    layout before = f->carried[i];
    if (next->is_number || first->is_number || !next->value || !first->value)
        return false;
    f->carried[i] = join_layout(next);
    bool ok = join_meet(f->j, &f->carried[i], next) && join_meet(f->j, &f->carried[i], first);
    *grows |= !same_layout(&before, &f->carried[i]);
    return ok;
}

/* A turn may give a tile the axes of another one: so turns are tried until none grows. */
static bool find_layouts(fold_state *f) {
    ir_op last = join_last(f->j);
    joined first[JOIN_OPERANDS];
    bool ok = true, grows = true;
    memcpy(first, f->t->next, sizeof first);
    for (uint32_t turn = 0; ok && grows && turn <= f->count + 1; turn++) {
        grows = false;
        ok = turns_join_one(f->t, 0);
        for (uint32_t i = 0; ok && i < f->count; i++)
            ok = find_layout(f, i, &grows);
        for (uint32_t i = 0; ok && i < f->count; i++)
            f->t->next[f->numbers[i]] = f->j->now[f->t->end[f->numbers[i]]];
    }
    memcpy(f->t->next, first, sizeof first);
    join_take_back(f->j, last);
    return ok && !grows;
}

static bool align_first(fold_state *f) {
    for (uint32_t i = 0; i < f->count; i++)
        if (!(f->operands[i] = join_align(f->j, &f->t->next[f->numbers[i]], &f->carried[i])))
            return false;
    return true;
}

/* ---- the fold ---- */

static void open_fold(fold_state *f) {
    ir_module *m = f->j->e.m;
    ir_type types[JOIN_OPERANDS];
    const ir_named_attr attrs[] = {{"carried", ir_attr_int(m, f->count)},
                                   {"turns", ir_attr_int_array(m, f->axes, f->inputs)}};
    for (uint32_t i = 0; i < f->count; i++)
        types[i] = ir_value_get(m, f->operands[i])->type;
    ir_op_spec spec = {.opcode = GRAPH_FOLD,
                       .operands = f->operands,
                       .operand_count = f->count + f->inputs,
                       .results = types,
                       .result_count = f->count,
                       .attrs = attrs,
                       .attr_count = 2,
                       .region_count = 1};
    f->op = ir_build(&f->j->e.b, &spec);
}

/* The block's argument for one turn of an operand. */
static ir_value add_argument(fold_state *f, uint32_t i) {
    ir_module *m = f->j->e.m;
    const ir_type_data *all = join_type(f->j, f->operands[f->count + i]);
    ir_dim dims[IR_MAX_RANK] = {0};
    int rank = 0;
    for (int k = 0; k < all->rank; k++)
        if (k != f->axes[i])
            dims[rank++] = all->dims[k];
    ir_type type = ir_type_tensor(m, all->element, rank, dims);
    return ir_block_add_argument(m, ir_op_block(m, f->op, 0), type, NULL);
}

/* Sets what a turn takes: the block's arguments, and what all turns share. */
static void set_values(fold_state *f) {
    joining_pass *j = f->j;
    ir_module *m = j->e.m;
    memcpy(j->now, f->t->all, sizeof *j->now * (j->e.value_count + 1));
    for (uint32_t i = 0; i < f->count; i++) {
        ir_type type = ir_value_get(m, f->operands[i])->type;
        ir_value argument = ir_block_add_argument(m, ir_op_block(m, f->op, 0), type, NULL);
        j->now[f->t->body.arguments[f->numbers[i]]] = join_of_layout(&f->carried[i], argument);
    }
    for (uint32_t i = 0; i < f->inputs; i++) {
        joined *x = &j->now[f->values[i]];
        *x = f->known[i];
        x->value = add_argument(f, i);
        x->batches &= ~turn_bit(f);
    }
}

static bool join_rest(fold_state *f) {
    const ir_module *m = f->j->e.m;
    for (ir_op op = f->t->body.first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        if (d->opcode == GRAPH_FOR)
            return false;
        if (d->result_count && !turns_know(f->t, d->results[0]) && !join_op(f->j, op))
            return false;
    }
    return true;
}

/* The block's end: the next tiles, with the axes that they had. */
static bool end_block(fold_state *f) {
    ir_value next[JOIN_OPERANDS];
    for (uint32_t i = 0; i < f->count; i++) {
        joined *x = &f->j->now[f->t->end[f->numbers[i]]];
        if (!join_number(f->j, x) || !x->value || !(next[i] = join_align(f->j, x, &f->carried[i])))
            return false;
    }
    build_next(&f->j->e.b, next, f->count);
    return true;
}

static bool fill_block(fold_state *f) {
    ir_builder outside = f->j->e.b;
    status why = STATUS_INIT;
    f->j->e.b.block = ir_op_block(f->j->e.m, f->op, 0);
    f->j->e.b.before = 0;
    set_values(f);
    bool ok = join_rest(f) && end_block(f);
    f->j->e.b = outside;
    return ok && fold_verify(f->j->e.m, f->op, &why);
}

bool turns_fold(turns *t) {
    joining_pass *j = t->j;
    fold_state f = {.t = t, .j = j};
    int blamed = j->blamed;
    ir_op last = join_last(j);
    for (uint32_t k = 0; k < t->d.operand_count; k++)
        if (is_carried(&f, k))
            f.numbers[f.count++] = k;
    bool ok = f.count && find_inputs(&f) && f.inputs && find_layouts(&f) && align_first(&f);
    if (ok) {
        memmove(f.operands + f.count, f.turns, sizeof *f.turns * f.inputs);
        open_fold(&f);
        ok = fill_block(&f);
    }
    for (uint32_t i = 0; ok && i < f.count; i++)
        t->next[f.numbers[i]] = join_of_layout(&f.carried[i], ir_op_result(j->e.m, f.op, i));
    if (!ok) {
        join_take_back(j, last);
        j->blamed = blamed;
    }
    return ok;
}
