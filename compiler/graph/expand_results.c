/* expand_results.c - results made of the tiles that program instances give. Every element is given
 * once, or the kernel is refused. */
#include <stdlib.h>

#include "graph/expand_tiles.h"
#include "ops/build.h"
#include "ops/tiles.h"

/* ---- what an instance gives ---- */

static ir_value with_axes(expansion *e, ir_value v, int rank, const int64_t *size) {
    return expansion_type(e, v)->rank == rank ? v : build_reshape(&e->b, v, rank, size);
}

static bool refuse_fault(const expansion *e, ir_op op, tile_fault fault, uint32_t number, int axis,
                         int64_t at) {
    char words[200];
    tiles_fault_text(e->m, fault, number, axis, at, words, sizeof words);
    return expansion_refuse(e, op, "%s", words);
}

static bool place(expansion *e, ir_op give, uint32_t number) {
    ir_value v = e->now[ir_op_get(e->m, give)->operands[number]];
    const ir_attr_data *starts =
        ir_attr_get(e->m, ir_attr_get(e->m, ir_op_attr(e->m, give, "start"))->items[number]);
    const ir_attr_data *kept =
        ir_attr_get(e->m, ir_attr_get(e->m, ir_op_attr(e->m, give, "kept"))->items[number]);
    const ir_type_data *whole = expansion_type(e, ir_op_get(e->m, e->tiles)->results[number]);
    int64_t cut[IR_MAX_RANK];
    placed_tile t;
    for (int i = 0; i < whole->rank; i++) {
        if (!expansion_number(e, give, starts->items[i], &t.start[i]))
            return false;
        t.size[i] = 1;
    }
    for (uint32_t i = 0; i < kept->count; i++) {
        int64_t axis = ir_attr_get(e->m, kept->items[i])->integer;
        int64_t room = whole->dims[axis] - t.start[axis], length = expansion_type(e, v)->dims[i];
        t.size[axis] = cut[i] = length < room ? length : room;
        if (room <= 0 && whole->dims[axis] > 0)
            return refuse_fault(e, give, TILE_GIVEN_OUTSIDE, number, (int)axis, t.start[axis]);
    }
    t.value = with_axes(e, expansion_cut(e, v, cut), whole->rank, t.size);
    vec_push(&e->results[number], t);
    return true;
}

bool expansion_give(expansion *e, ir_op give) {
    for (uint32_t i = 0; i < ir_op_get(e->m, give)->operand_count; i++)
        if (!place(e, give, i))
            return false;
    return true;
}

/* ---- joining them ---- */

typedef struct join_state {
    expansion *e;
    uint32_t number; /* of the result */
    const ir_type_data *whole;
} join_state;

static _Thread_local int order_axis;

static int by_start(const void *a, const void *b) {
    const placed_tile *x = a, *y = b;
    return (x->start[order_axis] > y->start[order_axis]) -
           (x->start[order_axis] < y->start[order_axis]);
}

/* Joined in groups: an operation takes so many operands. */
static ir_value concat(expansion *e, ir_value *parts, size_t count, int axis) {
    enum { GROUP = 32 };
    const ir_named_attr attr = {"axis", ir_attr_int(e->m, axis)};
    while (count > 1) {
        size_t groups = 0;
        for (size_t i = 0; i < count; i += GROUP) {
            uint32_t some = (uint32_t)(count - i < GROUP ? count - i : GROUP);
            ir_op op = some > 1 ? graph_build(&e->b, GRAPH_CONCAT, parts + i, some, &attr, 1) : 0;
            parts[groups++] = op ? ir_op_result(e->m, op, 0) : parts[i];
        }
        count = groups;
    }
    return parts[0];
}

static bool refuse_cover(const join_state *j, int axis, int64_t at, tile_fault fault) {
    ir_block body = ir_op_block(j->e->m, j->e->tiles, 0);
    return refuse_fault(j->e, ir_block_get(j->e->m, body)->last, fault, j->number, axis, at);
}

/* Tiles that have the same start on the axes before `axis`. */
static bool join(join_state *j, placed_tile *tiles, size_t count, int axis, ir_value *out) {
    if (axis == j->whole->rank) {
        *out = tiles[0].value;
        return count == 1 || refuse_cover(j, axis ? axis - 1 : 0,
                                          axis ? tiles[0].start[axis - 1] : 0, TILE_GIVEN_TWICE);
    }
    ir_value *parts = base_malloc(sizeof *parts * count);
    size_t part_count = 0;
    int64_t end = 0;
    bool ok = true;
    order_axis = axis;
    qsort(tiles, count, sizeof *tiles, by_start);
    for (size_t first = 0, next; first < count && ok; first = next) {
        int64_t size = tiles[first].size[axis];
        for (next = first; next < count && tiles[next].start[axis] == tiles[first].start[axis];)
            size = tiles[next].size[axis] < size ? tiles[next].size[axis] : size, next++;
        if (tiles[first].start[axis] != end)
            ok = refuse_cover(
                j, axis, tiles[first].start[axis] < end ? tiles[first].start[axis] : end,
                tiles[first].start[axis] < end ? TILE_GIVEN_TWICE : TILE_GIVEN_BY_NONE);
        end = tiles[first].start[axis] + size;
        ok = ok && join(j, tiles + first, next - first, axis + 1, &parts[part_count++]);
    }
    ok = ok && (end == j->whole->dims[axis] || refuse_cover(j, axis, end, TILE_GIVEN_BY_NONE));
    if (ok)
        *out = concat(j->e, parts, part_count, axis);
    free(parts);
    return ok;
}

/* Nothing to write, and nobody who writes it. */
static ir_value nothing(expansion *e, const ir_type_data *whole) {
    const ir_named_attr value = {"value", ir_attr_bits(e->m, whole->element, 0)};
    ir_value zero = ir_op_result(e->m, graph_build(&e->b, GRAPH_CONSTANT, NULL, 0, &value, 1), 0);
    return build_broadcast(&e->b, zero, whole->rank, whole->dims, NULL);
}

bool expansion_join(expansion *e) {
    const ir_op_data d = *ir_op_get(e->m, e->tiles);
    for (uint32_t i = 0; i < d.result_count; i++) {
        join_state j = {e, i, expansion_type(e, d.results[i])};
        ir_value joined;
        e->b.location = d.location;
        placed_tiles *given = &e->results[i];
        if (given->count == 0 && graph_elements(j.whole->rank, j.whole->dims) == 0)
            joined = nothing(e, j.whole);
        else if (given->count == 0)
            return refuse_cover(&j, 0, 0, TILE_GIVEN_BY_NONE);
        else if (!join(&j, given->items, given->count, 0, &joined))
            return false;
        ir_replace_uses(e->m, d.results[i], joined);
    }
    return true;
}
