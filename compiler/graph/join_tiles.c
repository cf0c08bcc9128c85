/* join_tiles.c - a kernel of tiles as operations on whole tensors, where its program instances do
 * the same to the tiles of a grid.
 *
 * Loops over blocks are in join_loops.c. What cannot be joined is left to expand-tiles. */
#include <stdlib.h>
#include <string.h>

#include "graph/join_tiles.h"
#include "graph/passes.h"
#include "ops/tiles.h"

enum { OPERATIONS_MAX = 4000 };

bool join_blame(joining_pass *j, int index) {
    if (j->blamed < 0)
        j->blamed = index;
    return false;
}

void join_take_back(joining_pass *j, ir_op last) {
    ir_op op;
    while ((op = join_last(j)) != last)
        ir_op_erase(j->e.m, op);
}

ir_op join_last(const joining_pass *j) {
    return ir_op_get(j->e.m, j->e.tiles)->previous;
}

/* ---- blocks ---- */

bool join_op(joining_pass *j, ir_op op) {
    int opcode = ir_op_get(j->e.m, op)->opcode;
    j->e.b.location = ir_op_get(j->e.m, op)->location;
    if (++j->e.operations > OPERATIONS_MAX)
        return join_blame(j, -1);
    return opcode == GRAPH_GIVE || opcode == GRAPH_NEXT ||
           (opcode == GRAPH_FOR    ? join_loop
            : opcode == GRAPH_LOAD ? join_load
                                   : join_step)(j, op);
}

bool join_block(joining_pass *j, ir_block block) {
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

/* A tensor that every instance has as it is. */
static void know_input(joining_pass *j, ir_value v, ir_value is) {
    joined x = {.value = is, .rank = join_type(j, v)->rank};
    for (int axis = 0; axis < x.rank; axis++)
        x.along[axis] = AXIS_OWN;
    j->now[v] = x;
}

static void know_inputs(joining_pass *j) {
    const ir_op_data *tiles = ir_op_get(j->e.m, j->e.tiles);
    const ir_block_data *around = ir_block_get(j->e.m, tiles->block),
                        *own = ir_block_get(j->e.m, ir_op_block(j->e.m, j->e.tiles, 0));
    for (uint32_t i = 0; i < around->argument_count; i++)
        know_input(j, around->arguments[i], around->arguments[i]);
    for (uint32_t i = 0; i < own->argument_count; i++)
        know_input(j, own->arguments[i], tiles->operands[i]);
}

static bool try_once(joining_pass *j, ir_value *results) {
    ir_block body = ir_op_block(j->e.m, j->e.tiles, 0);
    j->blamed = j->contracted = -1;
    j->e.operations = 0;
    memset(j->now, 0, sizeof *j->now * (j->e.value_count + 1));
    know_inputs(j);
    for (int i = 0; i < j->index_count; i++)
        j->indices[i].size = 0;
    return join_block(j, body) && join_give(j, ir_block_get(j->e.m, body)->last, results);
}

/* An index that is met in two ways gets an axis in front, and it is tried again. */
static bool try_all(joining_pass *j, ir_value *results) {
    ir_op last = join_last(j);
    while (!try_once(j, results)) {
        join_take_back(j, last);
        if (j->blamed < 0 || j->blamed >= j->index_count || j->indices[j->blamed].in_front)
            return false;
        j->indices[j->blamed].in_front = true;
    }
    return true;
}

bool join_instances(ir_module *m, ir_op tiles, bool whole) {
    status ignored = STATUS_INIT;
    const ir_op_data d = *ir_op_get(m, tiles);
    ir_value results[JOIN_OPERANDS];
    joining_pass j = {
        .e = {.m = m, .tiles = tiles, .value_count = ir_value_count(m), .st = &ignored},
        .whole = whole};
    j.e.b = (ir_builder){m, d.block, tiles, d.location};
    j.now = base_calloc(j.e.value_count + 1, sizeof *j.now);
    bool ok = d.result_count <= JOIN_OPERANDS && read_indices(&j) && try_all(&j, results);
    if (ok) {
        for (uint32_t i = 0; i < d.result_count; i++)
            ir_replace_uses(m, d.results[i], results[i]);
        ir_op_erase(m, tiles);
    }
    vec_release(&j.e.indices);
    free(j.now);
    return ok;
}

void graph_join_tiles(ir_module *m) {
    ir_op tiles = tiles_of(m);
    if (tiles)
        join_instances(m, tiles, false);
}
