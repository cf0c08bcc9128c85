/* from_tiles_loop.c - loops over blocks: all trips but a last one whose tiles are shorter are a
 * loop of Tile IR, which is lowered by itself. */
#include "tile/simt/from_tiles.h"

static void set_carried(tiles_lowering *t, ir_value v, ir_value tile) {
    t->values[v] = (tiles_value){.tile = tile, .rows = TILES_CARRIED, .columns = TILES_CARRIED};
}

/* Carried values that the block of a loop makes, as large as they are. */
static void carried_next(tiles_lowering *t, ir_builder *in, ir_block block, ir_value *next) {
    const ir_op_data *end = ir_op_get(t->g, ir_block_get(t->g, block)->last);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        int64_t rows, columns;
        tiles_shape(t, end->operands[i], &rows, &columns);
        next[i] = tile_broadcast(in, t->values[end->operands[i]].tile, rows, columns);
    }
}

/* Does a load hang over an edge along an axis? */
static bool overhangs(const tiles_lowering *t, ir_op load, int axis) {
    const ir_attr_data *start = ir_attr_get(t->g, ir_op_attr(t->g, load, "start"));
    const ir_type_data *whole = ir_type_of(t->g, ir_op_get(t->g, load)->operands[0]);
    int64_t size[IR_MAX_RANK], least, most;
    ir_op_ints(t->g, load, "size", size, IR_MAX_RANK);
    return tiles_bounds(t, start->items[axis], &least, &most) &&
           most + size[axis] > whole->dims[axis];
}

/* Does it so in the last trip of the loop whose index is the last of t->indices, and in no other?
 */
static bool overhangs_last(tiles_lowering *t, ir_op load, int axis) {
    tiles_index *index = &t->indices.items[t->indices.count - 1];
    const int64_t last = index->most;
    bool found = overhangs(t, load, axis);
    index->most = last - 1;
    found = found && (last == index->least || !overhangs(t, load, axis));
    index->most = last;
    return found;
}

static bool is_cut_last(tiles_lowering *t, ir_op loop, const tiles_index *all) {
    bool found = false;
    vec_push(&t->indices, *all);
    for (ir_walk w = ir_walk_op(t->g, loop); !found && ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(t->g, w.op);
        int rank = d->opcode == GRAPH_LOAD ? ir_type_of(t->g, d->operands[0])->rank : 0;
        for (int axis = 0; axis < rank && !found; axis++)
            found = overhangs_last(t, w.op, axis);
    }
    t->indices.count--;
    return found;
}

/* The trips of a loop from the first of the index up to its last; `carried` becomes what they make
 * of it. */
static bool lower_trips(tiles_lowering *t, ir_builder *b, ir_op op, const tiles_index *all,
                        ir_value *carried) {
    const ir_op_data d = *ir_op_get(t->g, op);
    ir_block block = ir_op_block(t->g, op, 0);
    const size_t streams = t->streams.count;
    tiles_index known = *all;
    ir_value next[TILES_VALUES];
    ir_op loop;
    if (!tiles_open_streams(t, b, op, all))
        return false;
    ir_builder in = tile_for(b, tiles_first(b, all), tiles_trips(b, all), 1, carried,
                             d.operand_count, &loop, &known.index);
    tiles_mark(t, loop, "seq", tiles_number(t, "fold", "seq", all->most + 1 - all->least, 1));
    for (uint32_t i = 0; i < d.operand_count; i++)
        set_carried(t, ir_block_get(t->g, block)->arguments[i],
                    ir_block_get(t->m, in.block)->arguments[1 + i]);
    vec_push(&t->indices, known);
    bool ok = tiles_next_trip(t, &in, streams) && tiles_lower_block(t, &in, block);
    if (ok) {
        tiles_end_trip(t, &in, streams);
        carried_next(t, &in, block, next);
        tile_yield(&in, next, d.operand_count);
    }
    t->indices.count--;
    t->streams.count = streams;
    for (uint32_t i = 0; ok && i < d.operand_count; i++)
        carried[i] = ir_op_result(t->m, loop, i);
    return ok;
}

/* The trip of that number by itself. */
static bool lower_last(tiles_lowering *t, ir_builder *b, ir_op op, int64_t trip,
                       ir_value *carried) {
    ir_block block = ir_op_block(t->g, op, 0);
    const ir_value *arguments = ir_block_get(t->g, block)->arguments;
    const int64_t cut = t->cut;
    for (uint32_t i = 0; i < ir_op_get(t->g, op)->operand_count; i++)
        set_carried(t, arguments[i], carried[i]);
    const tiles_index known = {.name = ir_op_string(t->g, op, "index", ""),
                               .index = tile_index(b, trip),
                               .least = trip,
                               .most = trip,
                               .last = true};
    vec_push(&t->indices, known);
    t->cut = TILES_CUT_UNKNOWN;
    bool ok = tiles_lower_block(t, b, block);
    if (ok)
        carried_next(t, b, block, carried);
    t->cut = cut;
    t->indices.count--;
    return ok;
}

/* The greater one of an index and a number. */
static ir_value greater(ir_builder *b, ir_value x, int64_t number) {
    ir_value both[] = {x, tile_index_op(b, TILE_INDEX_MIN, x, tile_index(b, number))};
    const int64_t factors[] = {1, -1};
    return tile_affine(b, number, both, factors, 2);
}

/* ... which is there where the loop has one more trip than that number, and begins before. */
static bool lower_last_of(tiles_lowering *t, ir_builder *b, ir_op op, const tiles_index *all,
                          ir_value *carried) {
    const uint32_t n = ir_op_get(t->g, op)->operand_count;
    ir_value next[TILES_VALUES], index;
    ir_op guard;
    if (!all->count && !all->first)
        return lower_last(t, b, op, all->most, carried);
    ir_value from = all->first ? greater(b, all->first, all->most) : tile_index(b, all->most);
    ir_builder in = tile_for(b, from, tiles_trips(b, all), 1, carried, n, &guard, &index);
    tiles_mark(t, guard, "seq", tiles_number(t, "fold", "seq", 1, 1));
    for (uint32_t i = 0; i < n; i++)
        next[i] = ir_block_get(t->m, in.block)->arguments[1 + i];
    if (!lower_last(t, &in, op, all->most, next))
        return false;
    tile_yield(&in, next, n);
    for (uint32_t i = 0; i < n; i++)
        carried[i] = ir_op_result(t->m, guard, i);
    return true;
}

/* Gives memory of trips back, from `own` on, whose tiles are read no more; not that of a loader,
 * which the next one may fill before the loop begins. */
static void leave(tiles_lowering *t, int64_t own) {
    own = own > t->loaded_bytes ? own : t->loaded_bytes;
    t->left |= t->scratch_bytes > own;
    t->scratch_bytes = own;
}

/* The index of a loop that is not lowered yet. False: a bound of it is no sum of indices, or a part
 * of one. */
static bool open_index(tiles_lowering *t, ir_builder *b, ir_op op, tiles_index *all) {
    ir_attr from = ir_op_attr(t->g, op, "first");
    int64_t least, most, first_most = 0;
    ir_value count;
    *all = (tiles_index){.name = ir_op_string(t->g, op, "index", "")};
    if (!tiles_number_of(t, b, ir_op_attr(t->g, op, "count"), &count, &least, &most) ||
        (from && !tiles_number_of(t, b, from, &all->first, &all->least, &first_most)))
        return false;
    all->most = most - 1;
    all->count = least < most ? count : 0;
    if (all->least == first_most)
        all->first = 0;
    return true;
}

bool tiles_lower_loop(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_op_data d = *ir_op_get(t->g, op);
    const ir_value *arguments = ir_block_get(t->g, ir_op_block(t->g, op, 0))->arguments;
    ir_value carried[TILES_VALUES];
    tiles_index all;
    if (!open_index(t, b, op, &all))
        return tiles_refuse(t, op, "how often it runs is no sum of indices, or a part of one");
    if (t->indices.count == TILES_INDICES || d.operand_count > TILES_VALUES)
        return tiles_refuse(t, op, "it is in too many loops, or carries too much");
    for (uint32_t i = 0; i < d.operand_count; i++) {
        int64_t rows, columns;
        if (t->is_factor[arguments[i]])
            return tiles_refuse(t, op, "a factor of a product is carried");
        tiles_shape(t, arguments[i], &rows, &columns);
        carried[i] = tile_broadcast(b, t->values[d.operands[i]].tile, rows, columns);
    }
    bool any = all.most >= all.least, last = any && is_cut_last(t, op, &all);
    const int64_t own = t->scratch_bytes;
    tiles_index whole = all;
    whole.most -= last;
    if (all.count && last)
        whole.count = tile_index_op(b, TILE_INDEX_MIN, all.count, tile_index(b, all.most));
    if (any && whole.most >= whole.least && !lower_trips(t, b, op, &whole, carried))
        return false;
    leave(t, own);
    if (last && !lower_last_of(t, b, op, &all, carried))
        return false;
    leave(t, own);
    for (uint32_t i = 0; i < d.result_count; i++)
        set_carried(t, d.results[i], carried[i]);
    return true;
}
