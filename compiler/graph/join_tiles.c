/* join_tiles.c - a kernel of tiles as operations on whole tensors, where its program instances do
 * the same to the tiles of a grid.
 *
 * Loops over blocks are written out, but for those that add a product to a sum in each turn: they
 * are one contraction whose chunks are the blocks (ops/orders.def). What cannot be joined is left
 * to expand-tiles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/join_tiles.h"
#include "graph/passes.h"
#include "ops/orders.h"
#include "ops/tiles.h"

enum { TURNS_MAX = 64, OPERATIONS_MAX = 4000 };

bool join_blame(joining_pass *j, int index) {
    if (j->blamed < 0)
        j->blamed = index;
    return false;
}

/* What was built behind `last` was built in vain. */
static void take_back(joining_pass *j, ir_op last) {
    ir_op op;
    while ((op = ir_op_get(j->e.m, j->e.tiles)->previous) != last)
        ir_op_erase(j->e.m, op);
}

static ir_op last_built(const joining_pass *j) {
    return ir_op_get(j->e.m, j->e.tiles)->previous;
}

/* ---- loops ---- */

static bool join_op(joining_pass *j, ir_op op);
static bool join_block(joining_pass *j, ir_block block);

static bool begin_loop(joining_pass *j, ir_op op, int64_t *count) {
    const ir_op_data *d = ir_op_get(j->e.m, op);
    return d->operand_count <= JOIN_OPERANDS &&
           expansion_number(&j->e, op, ir_op_attr(j->e.m, op, "count"), count);
}

/* Whether each turn added a product to each sum, which was 0 before. */
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

/* ---- loops, what does not depend on what they carry first ---- */

/* By value: made of what the loop carries. */
static bool *carried_values(const joining_pass *j, ir_op loop) {
    const ir_module *m = j->e.m;
    bool *carried = base_calloc(j->e.value_count + 1, sizeof *carried);
    ir_block block = ir_op_block(m, loop, 0);
    const ir_block_data *body = ir_block_get(m, block);
    for (uint32_t i = 0; i < body->argument_count; i++)
        carried[body->arguments[i]] = true;
    for (ir_op op = body->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        bool depends = d->opcode == GRAPH_FOR;
        for (uint32_t i = 0; i < d->operand_count; i++)
            depends |= carried[d->operands[i]];
        for (uint32_t i = 0; i < d->result_count; i++)
            carried[d->results[i]] = depends;
    }
    return carried;
}

/* A loop that is worth it multiplies, or reduces, what it does not carry. */
static bool has_work(const joining_pass *j, ir_op loop, const bool *carried) {
    const ir_module *m = j->e.m;
    for (ir_op op = ir_block_get(m, ir_op_block(m, loop, 0))->first; op;
         op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        graph_class class = graph_op_class(d->opcode);
        if (d->result_count && !carried[d->results[0]] &&
            (class == GRAPH_CLASS_COMPOSITE || class == GRAPH_CLASS_REDUCE))
            return true;
    }
    return false;
}

/* The operations of a loop's block of one kind or the other. */
static bool join_some(joining_pass *j, ir_op loop, const bool *carried, bool dependent) {
    const ir_module *m = j->e.m;
    bool ok = true;
    for (ir_op op = ir_block_get(m, ir_op_block(m, loop, 0))->first; op && ok;
         op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        if (d->result_count && carried[d->results[0]] == dependent)
            ok = join_op(j, op);
    }
    return ok;
}

/* All turns of what the loop does not carry at once: the turn is an axis in front. */
static bool join_turns(joining_pass *j, ir_op loop, const bool *carried, int64_t count) {
    if (j->index_count == JOIN_INDICES || count < 2)
        return false;
    j->indices[j->index_count++] = (joined_index){
        .name = ir_op_string(j->e.m, loop, "index", ""), .count = count, .in_front = true};
    ir_op last = last_built(j);
    bool ok = join_some(j, loop, carried, false);
    j->index_count--;
    if (!ok)
        take_back(j, last);
    return ok;
}

/* Turn `turn` of a value that was made for all; the turn is the index behind the others. */
static bool take_turn(joining_pass *j, joined *x, int64_t turn) {
    int index = j->index_count, rank = join_rank(x), at = join_front(x, index), left = 0;
    int64_t start[IR_MAX_RANK] = {0}, stop[IR_MAX_RANK], step[IR_MAX_RANK], shape[IR_MAX_RANK];
    if (!(x->batches >> index & 1))
        return true;
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

/* One turn: what it carries, of what was made for all turns. */
static bool join_turn(joining_pass *j, ir_op loop, const bool *carried, const joined *all,
                      int64_t turn) {
    const ir_module *m = j->e.m;
    ir_op first = ir_block_get(m, ir_op_block(m, loop, 0))->first;
    for (ir_op op = first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data d = *ir_op_get(m, op);
        bool ahead = d.result_count && !carried[d.results[0]];
        for (uint32_t i = 0; ahead && i < d.result_count; i++)
            j->now[d.results[i]] = all[d.results[i]];
        for (uint32_t i = 0; !ahead && i < d.operand_count; i++)
            if (!carried[d.operands[i]] && !take_turn(j, &j->now[d.operands[i]], turn))
                return false;
    }
    return join_some(j, loop, carried, true);
}

/* What the next turn takes, or what is behind the loop. */
static void hand_on(joining_pass *j, const ir_value *to, const joined *next, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        j->now[to[i]] = next[i];
}

/* Turn by turn; `all` (or NULL) has what does not depend on the sums, for the first `ahead` turns. */
static bool join_each(joining_pass *j, ir_op loop, int64_t count, const bool *carried,
                      const joined *all, int64_t ahead) {
    const ir_op_data d = *ir_op_get(j->e.m, loop);
    const ir_block_data body = *ir_block_get(j->e.m, ir_op_block(j->e.m, loop, 0));
    ir_binding index = {ir_op_string(j->e.m, loop, "index", ""), 0};
    joined next[JOIN_OPERANDS];
    for (uint32_t i = 0; i < d.operand_count; i++)
        next[i] = j->now[d.operands[i]];
    vec_push(&j->e.indices, index);
    bool ok = true;
    for (int64_t i = 0; i < count && ok; i++) {
        j->e.indices.items[j->e.indices.count - 1].value = i;
        hand_on(j, body.arguments, next, d.operand_count);
        ok = i < ahead ? join_turn(j, loop, carried, all, i)
                       : join_block(j, ir_op_block(j->e.m, loop, 0));
        const ir_op_data *end = ir_op_get(j->e.m, body.last);
        for (uint32_t k = 0; ok && k < d.operand_count; k++)
            next[k] = j->now[end->operands[k]];
    }
    j->e.indices.count--;
    hand_on(j, d.results, next, d.result_count);
    return ok;
}

static bool write_out(joining_pass *j, ir_op loop, int64_t count) {
    bool *carried = carried_values(j, loop);
    joined *all = base_malloc(sizeof *all * (j->e.value_count + 1));
    int64_t ahead = 0;
    int blamed = j->blamed;
    if (has_work(j, loop, carried))
        ahead = join_turns(j, loop, carried, count)       ? count
                : join_turns(j, loop, carried, count - 1) ? count - 1
                                                          : 0;
    j->blamed = blamed;
    memcpy(all, j->now, sizeof *all * (j->e.value_count + 1));
    bool ok = count <= TURNS_MAX && join_each(j, loop, count, carried, all, ahead);
    free(all);
    free(carried);
    return ok;
}

static bool join_loop(joining_pass *j, ir_op op) {
    int64_t count;
    int blamed = j->blamed;
    ir_op last = last_built(j);
    if (!begin_loop(j, op, &count))
        return false;
    if (contract(j, op, count))
        return true;
    take_back(j, last);
    j->blamed = blamed;
    return write_out(j, op, count);
}

static bool join_op(joining_pass *j, ir_op op) {
    int opcode = ir_op_get(j->e.m, op)->opcode;
    j->e.b.location = ir_op_get(j->e.m, op)->location;
    if (++j->e.operations > OPERATIONS_MAX)
        return join_blame(j, -1);
    return opcode == GRAPH_GIVE || opcode == GRAPH_NEXT ||
           (opcode == GRAPH_FOR    ? join_loop
            : opcode == GRAPH_LOAD ? join_load
                                   : join_step)(j, op);
}

static bool join_block(joining_pass *j, ir_block block) {
    bool ok = true;
    for (ir_op op = ir_block_get(j->e.m, block)->first; op && ok; op = ir_op_get(j->e.m, op)->next)
        ok = join_op(j, op);
    return ok;
}

/* ---- the pass ---- */

static bool read_indices(joining_pass *j) {
    const ir_module *m = j->e.m;
    const ir_attr_data *names = ir_attr_get(m, ir_op_attr(m, j->e.tiles, "indices")),
                       *counts = ir_attr_get(m, ir_op_attr(m, j->e.tiles, "counts"));
    if (names->count >= JOIN_INDICES)
        return false;
    for (uint32_t i = 0; i < names->count; i++) {
        joined_index index = {.name = ir_attr_get(m, names->items[i])->string};
        if (!expansion_number(&j->e, j->e.tiles, counts->items[i], &index.count) || !index.count)
            return false;
        ir_binding only = {index.name, 0};
        if (index.count == 1)
            vec_push(&j->e.indices, only);
        else
            j->indices[j->index_count++] = index;
    }
    return true;
}

static bool try_once(joining_pass *j, ir_value *results) {
    ir_block body = ir_op_block(j->e.m, j->e.tiles, 0);
    j->blamed = j->contracted = -1;
    j->e.operations = 0;
    memset(j->now, 0, sizeof *j->now * (j->e.value_count + 1));
    for (int i = 0; i < j->index_count; i++)
        j->indices[i].size = 0;
    return join_block(j, body) && join_give(j, ir_block_get(j->e.m, body)->last, results);
}

/* An index that is met in two ways gets an axis in front, and it is tried again. */
static bool try_all(joining_pass *j, ir_value *results) {
    ir_op last = last_built(j);
    while (!try_once(j, results)) {
        take_back(j, last);
        if (j->blamed < 0 || j->blamed >= j->index_count || j->indices[j->blamed].in_front)
            return false;
        j->indices[j->blamed].in_front = true;
    }
    return true;
}

void graph_join_tiles(ir_module *m) {
    ir_op tiles = tiles_of(m);
    status ignored = STATUS_INIT;
    if (!tiles)
        return;
    const ir_op_data d = *ir_op_get(m, tiles);
    ir_value results[JOIN_OPERANDS];
    joining_pass j = {
        .e = {.m = m, .tiles = tiles, .value_count = ir_value_count(m), .st = &ignored}};
    j.e.b = (ir_builder){m, d.block, tiles, d.location};
    j.now = base_calloc(j.e.value_count + 1, sizeof *j.now);
    if (d.result_count <= JOIN_OPERANDS && read_indices(&j) && try_all(&j, results)) {
        for (uint32_t i = 0; i < d.result_count; i++)
            ir_replace_uses(m, d.results[i], results[i]);
        ir_op_erase(m, tiles);
    }
    vec_release(&j.e.indices);
    free(j.now);
}
