/* verify_strips.c - the loop over the strips of a dot's chunk, whose sums are in memory between
 * them.
 *
 * A strip's steps go through all tiles before those of the next strip. A tile goes on from what it
 * stored at its place after the strip before, or in the chunk's first strip from +0; it stores its
 * sum there again unless the chunk ends. So the chain of its steps is the one that a loop over all
 * of them has. That no two tiles have one place is not seen here. */
#include <inttypes.h>

#include "tile/orders.h"

/* A strip loop as its tiles are held to it. */
typedef struct strips {
    ir_op loop;
    ir_value low, index;
    int64_t number, extent;
    const reduction_record *r;
} strips;

/* The steps of one tile. */
typedef struct strip_tile {
    ir_op steps;
    ir_value memory, offset; /* of its sum between strips */
    ir_value end;            /* of the chunk */
} strip_tile;

bool orders_is_strip_loop(const orders *o, ir_op loop) {
    const reduction_record *r = reduction_find(&o->list, ir_op_int(o->m, loop, "reduction", -1));
    return r && ir_op_get(o->m, loop)->result_count == 0 &&
           ir_op_int(o->m, loop, "step", 0) != orders_chunk(r->order);
}

/* A loop of one turn, or none. */
static bool turns_once(const orders *o, const strips *s, ir_op loop) {
    return loop && ir_op_get(o->m, loop)->opcode == TILE_FOR &&
           !ir_op_attr(o->m, loop, "reduction") && ir_op_int(o->m, loop, "step", 0) > s->extent + 1;
}

static bool is_same(const orders *o, ir_value x, ir_value y) {
    int64_t a, b;
    return x == y || (orders_constant(o, x, &a) && orders_constant(o, y, &b) && a == b);
}

/* The sum that the tile's steps go on from: what is in memory behind the chunk's first strip. */
static bool find_before(const orders *o, const strips *s, strip_tile *t) {
    const ir_op_data *steps = ir_op_get(o->m, t->steps);
    ir_op loop = steps->result_count == 1 ? orders_defined_by(o, steps->operands[2], TILE_FOR) : 0;
    if (!turns_once(o, s, loop))
        return false;
    const ir_op_data *d = ir_op_get(o->m, loop);
    const ir_block_data *b = ir_block_get(o->m, ir_op_block(o->m, loop, 0));
    ir_op load = orders_defined_by(o, ir_op_get(o->m, b->last)->operands[0], TILE_LOAD);
    if (!load || d->result_count != 1 || !orders_is_zero(o, d->operands[2]) ||
        !is_same(o, d->operands[0], s->low) || d->operands[1] != s->index)
        return false;
    t->memory = ir_op_get(o->m, load)->operands[0];
    t->offset = ir_op_get(o->m, load)->operands[1];
    return !orders_depends_on(o, t->offset, s->index);
}

static bool uses(const orders *o, ir_op op, ir_value v) {
    const ir_op_data *d = ir_op_get(o->m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (d->operands[i] == v)
            return true;
    return false;
}

/* The loop of one turn around an operation, directly. */
static ir_op condition_of(const orders *o, const strips *s, ir_op op) {
    ir_op loop = ir_block_parent(o->m, ir_op_get(o->m, op)->block);
    return turns_once(o, s, loop) ? loop : 0;
}

/* Does a store at the tile's place keep its sum, where its strip ends before the chunk? */
static bool keeps_sum(const orders *o, const strips *s, strip_tile *t, ir_op store) {
    const ir_op_data *d = ir_op_get(o->m, store), *steps = ir_op_get(o->m, t->steps);
    ir_op when = condition_of(o, s, store);
    if (!when || d->operands[2] != steps->results[0] ||
        ir_op_get(o->m, when)->operands[0] != steps->operands[1])
        return false;
    t->end = ir_op_get(o->m, when)->operands[1];
    return true;
}

static bool is_at_place(const orders *o, const strip_tile *t, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    return d->opcode == TILE_STORE && d->operands[0] == t->memory && d->operands[1] == t->offset;
}

/* The tile's sum is kept from strip to strip, and nothing else at its place. */
static bool check_kept(const orders *o, const strips *s, strip_tile *t) {
    int kept = 0;
    ir_walk w = ir_walk_op(o->m, s->loop);
    while (ir_walk_next(&w)) {
        if (!is_at_place(o, t, w.op))
            continue;
        if (!keeps_sum(o, s, t, w.op))
            return orders_fail(o, t->steps, "something else is stored where its sum is kept");
        kept++;
    }
    return kept == 1 || orders_fail(o, t->steps, "its sum is not kept for the next strip");
}

/* Its sum is used once its chunk ends, and there alone; the sum before it by its own steps alone.
 */
static bool check_end(const orders *o, const strips *s, const strip_tile *t) {
    const ir_op_data *steps = ir_op_get(o->m, t->steps);
    int ends = 0;
    ir_walk w = ir_walk_op(o->m, s->loop);
    while (ir_walk_next(&w)) {
        bool other = w.op != t->steps && uses(o, w.op, steps->operands[2]);
        if (!other && (!uses(o, w.op, steps->results[0]) || is_at_place(o, t, w.op)))
            continue;
        ir_op when = condition_of(o, s, w.op);
        if (other || !when || !is_same(o, ir_op_get(o->m, when)->operands[0], t->end))
            return orders_fail(o, t->steps, "its sum is used before its chunk ends");
        ends++;
    }
    return ends > 0 || orders_fail(o, t->steps, "its sum is not used where its chunk ends");
}

static bool check_tile(orders *o, const strips *s, ir_op steps) {
    strip_tile t = {.steps = steps};
    const ir_op_data *d = ir_op_get(o->m, steps);
    int64_t one = 0, by = ir_op_int(o->m, s->loop, "step", 0);
    ir_op high = orders_defined_by(o, d->operands[1], TILE_AFFINE);
    if (high)
        ir_op_ints(o->m, high, "coefficients", &one, 1);
    if (d->operands[0] != s->index || one != 1 || ir_op_get(o->m, high)->operand_count != 1 ||
        ir_op_get(o->m, high)->operands[0] != s->index ||
        ir_op_int(o->m, high, "constant", 0) != by)
        return orders_fail(o, steps, "does not walk its strip");
    if (!find_before(o, s, &t))
        return orders_fail(o, steps, "does not go on from what the strip before it left");
    return check_kept(o, s, &t) && check_end(o, s, &t) &&
           (orders_is_chunk(o, s->loop, s->low, t.end, s->r) ||
            orders_fail(o, steps, "keeps its sum elsewhere than to the end of its chunk"));
}

bool orders_check_strip_loop(orders *o, ir_op loop, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    strips s = {.loop = loop,
                .low = d->operands[0],
                .index = ir_block_get(o->m, ir_op_block(o->m, loop, 0))->arguments[0],
                .number = ir_op_int(o->m, loop, "reduction", -1),
                .extent = r->extent,
                .r = r};
    int tiles = 0;
    if (!orders_note_chunk(o, loop, r))
        return false;
    ir_walk w = ir_walk_op(o->m, loop);
    while (ir_walk_next(&w)) {
        if (w.op == loop || ir_op_get(o->m, w.op)->opcode != TILE_FOR ||
            ir_op_int(o->m, w.op, "reduction", -1) != s.number)
            continue;
        tiles++;
        if (!check_tile(o, &s, w.op))
            return false;
    }
    return tiles > 0 || orders_fail(o, loop, "walks strips of which no tile makes a step");
}
