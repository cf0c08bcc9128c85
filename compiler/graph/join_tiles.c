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

/* ---- loops ---- */

static bool join_block(joining_pass *j, ir_block block);

static bool begin_loop(joining_pass *j, ir_op op, int64_t *count) {
    const ir_op_data *d = ir_op_get(j->e.m, op);
    return d->operand_count <= JOIN_OPERANDS &&
           expansion_number(&j->e, op, ir_op_attr(j->e.m, op, "count"), count);
}

/* Turn by turn. */
static bool write_out(joining_pass *j, ir_op op, int64_t count) {
    const ir_op_data d = *ir_op_get(j->e.m, op);
    const ir_block_data body = *ir_block_get(j->e.m, ir_op_block(j->e.m, op, 0));
    ir_binding index = {ir_op_string(j->e.m, op, "index", ""), 0};
    joined next[JOIN_OPERANDS];
    if (count > TURNS_MAX)
        return join_blame(j, -1);
    for (uint32_t i = 0; i < d.operand_count; i++)
        j->now[body.arguments[i]] = j->now[d.operands[i]];
    vec_push(&j->e.indices, index);
    bool ok = true;
    for (int64_t i = 0; i < count && ok; i++) {
        j->e.indices.items[j->e.indices.count - 1].value = i;
        ok = join_block(j, ir_op_block(j->e.m, op, 0));
        const ir_op_data *end = ir_op_get(j->e.m, body.last);
        for (uint32_t k = 0; ok && k < d.operand_count; k++)
            next[k] = j->now[end->operands[k]];
        for (uint32_t k = 0; ok && k < d.operand_count; k++)
            j->now[body.arguments[k]] = next[k];
    }
    j->e.indices.count--;
    for (uint32_t i = 0; i < d.result_count; i++)
        j->now[d.results[i]] = j->now[body.arguments[i]];
    return ok;
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

static bool join_loop(joining_pass *j, ir_op op) {
    int64_t count;
    int blamed = j->blamed;
    if (!begin_loop(j, op, &count))
        return false;
    if (contract(j, op, count))
        return true;
    j->blamed = blamed;
    return write_out(j, op, count);
}

static bool join_block(joining_pass *j, ir_block block) {
    bool ok = true;
    for (ir_op op = ir_block_get(j->e.m, block)->first; op && ok; op = ir_op_get(j->e.m, op)->next) {
        int opcode = ir_op_get(j->e.m, op)->opcode;
        j->e.b.location = ir_op_get(j->e.m, op)->location;
        ok = ++j->e.operations <= OPERATIONS_MAX &&
             (opcode == GRAPH_GIVE || opcode == GRAPH_NEXT || (opcode == GRAPH_FOR    ? join_loop
                                                               : opcode == GRAPH_LOAD ? join_load
                                                                                      : join_step)(j, op));
    }
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

/* What was built in vain. */
static void take_back(joining_pass *j, ir_op last) {
    ir_op op;
    while ((op = ir_op_get(j->e.m, j->e.tiles)->previous) != last)
        ir_op_erase(j->e.m, op);
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
    ir_op last = ir_op_get(j->e.m, j->e.tiles)->previous;
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
