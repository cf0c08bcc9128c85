/* verify_chunks.c - the loops of a dot: chunk512, pairs512 and seq (docs/numerics.md).
 *
 * The inner loop carries the sum of a chunk, from +0, by one fma for each element, ascending; the
 * loop around it, where there is one, walks the chunks in steps of 512. Elements at or past a row's
 * count may be left out, so that a bound may come from memory as long as it stays in the chunk. A
 * loop of several elements a trip may end where whole trips do; the next one goes on from there. In
 * pairs512 elements are added in pairs that begin at even ones; only an odd end is one by itself.
 */
#include <inttypes.h>
#include <string.h>

#include "tile/orders.h"

typedef struct chunk_base {
    ir_op loop;      /* over chunks; 0: the chunk has a constant start */
    order_base from; /* the starts of chunks: the loop's index, if there is one */
} chunk_base;

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* An index, less the start of its chunk. */
static order_bound bound_of(const orders *o, const chunk_base *base, ir_value v) {
    return orders_relative(&base->from, orders_bound_of(o, &base->from, v), 1);
}

/* The start of the chunks that a loop over elements belongs to. */
static bool find_base(const orders *o, ir_op loop, int64_t chunk, chunk_base *base) {
    int64_t low, high, start;
    *base = (chunk_base){.loop = orders_loop_around(o, loop)};
    if (base->loop && orders_bounds(o, base->loop, &low, &high) && high > low) {
        base->from.index = ir_block_get(o->m, ir_op_block(o->m, base->loop, 0))->arguments[0];
        base->from.first = low;
        base->from.last = chunk ? low + (high - 1 - low) / chunk * chunk : low;
        return true;
    }
    if (base->loop)
        return false;
    if (orders_constant(o, ir_op_get(o->m, loop)->operands[0], &start))
        base->from.first = base->from.last = start;
    return true;
}

/* ---- elements ---- */

/* The loop whose result a loop carries on; 0 where the loop starts with +0. */
bool orders_find_before(const orders *o, ir_op loop, ir_op *before) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    *before = orders_defined_by(o, d->operands[2], TILE_FOR);
    for (uint32_t i = 0; i < d->result_count; i++) {
        ir_op from = orders_defined_by(o, d->operands[2 + i], TILE_FOR);
        if (from != *before || (!from && !orders_is_zero(o, d->operands[2 + i])))
            return orders_fail(o, loop, "does not start with +0");
    }
    if (*before &&
        ir_op_int(o->m, *before, "reduction", -1) != ir_op_int(o->m, loop, "reduction", -1))
        return orders_fail(o, loop, "carries on the sum of another loop");
    if (*before && ir_op_get(o->m, *before)->operands[1] != d->operands[0])
        return orders_fail(o, loop, "does not go on where the loop before it ended");
    return true;
}

bool orders_note_elements(orders *o, ir_op loop, const reduction_record *r, int64_t start,
                          int64_t end) {
    order_track *t = orders_track(o, loop);
    bool again = start == t->start && end == t->end;
    if (!again && start != t->end && (start != 0 || t->end != r->extent))
        return orders_fail(o, loop, "goes on at element %" PRId64 ", but the order at %" PRId64,
                           start, t->end);
    t->start = start;
    t->end = end;
    t->realised += end == r->extent;
    return true;
}

/* ---- trips of several elements ---- */

/* The operation behind an index where it is sum of factor * operand, with those factors. */
static const ir_op_data *affine_of(const orders *o, ir_value v, int64_t first, int64_t second) {
    int64_t factors[2] = {0};
    ir_op op = orders_defined_by(o, v, TILE_AFFINE);
    uint32_t count = second ? 2 : 1;
    if (!op || ir_op_int(o->m, op, "constant", 0) != 0 ||
        ir_op_get(o->m, op)->operand_count != count)
        return NULL;
    ir_op_ints(o->m, op, "coefficients", factors, count);
    return factors[0] == first && factors[1] == second ? ir_op_get(o->m, op) : NULL;
}

/* E where an index is low + (E - low) / step * step; 0: it is none such. */
static ir_value end_of_whole_trips(const orders *o, ir_value high, ir_value low, int64_t step) {
    const ir_op_data *sum = affine_of(o, high, 1, 1);
    if (!sum || sum->operands[0] != low)
        return 0;
    const ir_op_data *product = affine_of(o, sum->operands[1], step, 0);
    ir_op quotient = product ? orders_defined_by(o, product->operands[0], TILE_INDEX_DIV) : 0;
    if (!quotient || ir_op_int(o->m, quotient, "by", 0) != step)
        return 0;
    const ir_op_data *length = affine_of(o, ir_op_get(o->m, quotient)->operands[0], 1, -1);
    return length && length->operands[1] == low ? length->operands[0] : 0;
}

/* Does a loop end between, after whole trips? *end: where the next one must end, or 0: that one's
 * own end is known. */
static bool ends_between(const orders *o, ir_op loop, ir_value *end) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    int64_t low, high, step = ir_op_int(o->m, loop, "step", 1);
    *end = step > 1 ? end_of_whole_trips(o, d->operands[1], d->operands[0], step) : 0;
    return *end || (step > 1 && orders_bounds(o, loop, &low, &high) && (high - low) % step == 0);
}

/* Tells that a loop of pairs one by one is the odd end of a chunk: it goes on where a loop of whole
 * pairs ended, of which at most one element can be left. */
static bool is_odd_end(const orders *o, ir_op loop, ir_op before) {
    int64_t low, high;
    const ir_op_data *d = ir_op_get(o->m, loop);
    if (ir_op_int(o->m, loop, "step", 1) != 1)
        return true;
    ir_value end;
    if (before && ir_op_int(o->m, before, "step", 1) == 2 && ends_between(o, before, &end) && end)
        return end == d->operands[1];
    return orders_bounds(o, loop, &low, &high) && low % 2 == 0 && high - low <= 1;
}

/* Is a bound the end of its chunk, of each that begins at base's first to last? */
static bool ends_chunk(const chunk_base *base, order_bound high, int64_t length, int64_t extent) {
    return high.least == smaller(length, extent - base->from.last) &&
           high.most == smaller(length, extent - base->from.first);
}

/* The first of the loops that carry on each other's sum. */
static ir_op first_of(const orders *o, ir_op loop) {
    for (ir_op before = loop; before;
         before = orders_defined_by(o, ir_op_get(o->m, before)->operands[2], TILE_FOR))
        loop = before;
    return loop;
}

static bool check_elements(orders *o, ir_op loop, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    int64_t chunk = orders_chunk(r->order), length = chunk ? chunk : r->extent;
    chunk_base base;
    ir_op before;
    if (!orders_find_before(o, loop, &before))
        return false;
    if (r->order == ORDER_PAIRS512 && !is_odd_end(o, loop, before))
        return orders_fail(o, loop, "an element without the other one of its pair");
    if (!find_base(o, before ? before : loop, length, &base))
        return orders_fail(o, loop, "the loop over chunks has no constant bounds");
    before = before ? first_of(o, before) : 0;
    if (before && !base.loop)
        find_base(o, before, length, &base);
    ir_value end;
    if (o->open && (before != o->open || (o->open_end && d->operands[1] != o->open_end)))
        return orders_fail(o, o->open, "ends inside its chunk");
    bool between = ends_between(o, loop, &end);
    order_bound low = bound_of(o, &base, d->operands[0]),
                high = bound_of(o, &base, end ? end : d->operands[1]);
    int64_t step = ir_op_int(o->m, loop, "step", 1);
    bool first = !before;
    if (!between && (high.least % step != 0 || high.most % step != 0))
        return orders_fail(o, loop, "its last trip passes its end");
    if (first && (low.least != 0 || low.most != 0 || (chunk && base.from.first % chunk != 0)))
        return orders_fail(o, loop, "does not start where a chunk starts");
    if (high.most > length)
        return orders_fail(o, loop, "passes the end of its chunk");
    bool whole = ends_chunk(&base, high, length, r->extent);
    if (!whole && !between && !high.counted)
        return orders_fail(o, loop, "ends inside its chunk");
    o->open = end || (between && !whole) ? loop : 0;
    o->open_end = end;
    return !first || orders_note_elements(o, loop, r, base.from.first,
                                          smaller(base.from.last + length, r->extent));
}

/* ---- loops ---- */

bool orders_is_chunk(const orders *o, ir_op loop, ir_value from, ir_value to,
                     const reduction_record *r) {
    int64_t chunk = orders_chunk(r->order), length = chunk ? chunk : r->extent;
    chunk_base base;
    if (!find_base(o, loop, length, &base))
        return false;
    order_bound low = bound_of(o, &base, from), high = bound_of(o, &base, to);
    return low.least == 0 && low.most == 0 && base.from.first % length == 0 && !high.counted &&
           ends_chunk(&base, high, length, r->extent);
}

bool orders_find_run(const orders *o, ir_op loop, ir_op run, const reduction_record *r,
                     int64_t *start, int64_t *end) {
    const ir_value *bounds = ir_op_get(o->m, run)->operands;
    int64_t length = orders_chunk(r->order);
    chunk_base base;
    if (!find_base(o, loop, length, &base))
        return false;
    if (!base.loop) {
        base = (chunk_base){.loop = 0};
        base.from.first = base.from.last = bound_of(o, &base, bounds[0]).least;
    }
    order_bound low = bound_of(o, &base, bounds[0]), high = bound_of(o, &base, bounds[1]);
    *start = base.from.first;
    *end = smaller(base.from.last + length, r->extent);
    return base.from.first >= 0 && base.from.first % length == 0 && low.least >= 0 &&
           high.most == smaller(length, r->extent - base.from.first);
}

bool orders_note_chunk(orders *o, ir_op loop, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    int64_t chunk = orders_chunk(r->order), length = chunk ? chunk : r->extent,
            step = ir_op_int(o->m, loop, "step", 0);
    chunk_base base;
    if (!orders_is_chunk(o, loop, d->operands[0], d->operands[1], r) ||
        (step == 0 || length % step != 0 || r->extent % step != 0))
        return orders_fail(o, loop, "does not walk its chunk in whole strips");
    find_base(o, loop, length, &base);
    return orders_note_elements(o, loop, r, base.from.first,
                                smaller(base.from.last + length, r->extent));
}

static bool check_chunk_loop(const orders *o, ir_op loop, const reduction_record *r) {
    int64_t low, high, chunk = orders_chunk(r->order);
    if (!chunk)
        return orders_fail(o, loop, "order '%s' has no loop over chunks",
                           order_info_of(r->order)->name);
    if (ir_op_int(o->m, loop, "step", 0) != chunk)
        return orders_fail(o, loop, "order '%s' walks in steps of %" PRId64 ", not %" PRId64,
                           order_info_of(r->order)->name, chunk, ir_op_int(o->m, loop, "step", 0));
    for (uint32_t i = 2; i < ir_op_get(o->m, loop)->operand_count; i++)
        if (!orders_is_zero(o, ir_op_get(o->m, loop)->operands[i]))
            return orders_fail(o, loop, "does not start with +0");
    return (orders_bounds(o, loop, &low, &high) && low % chunk == 0) ||
           orders_fail(o, loop, "does not start where a chunk starts");
}

bool orders_check_dot_loop(orders *o, ir_op loop, const reduction_record *r) {
    const ir_op_data *d = ir_op_get(o->m, loop);
    uint32_t sums = 0, products = 0;
    int steps = 0;
    if (orders_is_mma_loop(o, loop))
        return orders_check_mma_loop(o, loop, r);
    if (r->order == ORDER_UNIT)
        return orders_fail(o, loop, "its order is a matrix unit's, and none adds");
    if (orders_is_strip_loop(o, loop))
        return orders_check_strip_loop(o, loop, r);
    for (uint32_t i = 0; i < d->result_count; i++) {
        if (!orders_is_float(o, d->results[i])) { /* exact, so that its order is free */
            orders_track(o, loop)->realised++;
            return true;
        }
        carried_kind kind = orders_carried(o, loop, i, &steps);
        sums += kind == CARRIED_ADDED && steps == 1;
        products += orders_adds_products(o, r, loop, kind, steps);
    }
    ir_op around = orders_loop_around(o, loop);
    if (products == d->result_count && around &&
        (orders_is_window_loop(o, around) || orders_is_strip_loop(o, around)))
        return true; /* its bounds were checked with those of the loop around */
    if (sums == d->result_count)
        return check_chunk_loop(o, loop, r);
    return products == d->result_count
               ? check_elements(o, loop, r)
               : orders_fail(o, loop, "is not one fma for each element, onto what it carries");
}

/* A total that is still in registers: +0 before the first chunk; else the addition of the chunk
 * that ends where this one starts, which is held to its own total. */
static bool is_forwarded_total(const orders *o, ir_value v, ir_op loop) {
    int64_t start, end, number = ir_op_int(o->m, loop, "reduction", -1);
    ir_op add = orders_defined_by(o, v, TILE_ADD);
    if (!orders_constant(o, ir_op_get(o->m, first_of(o, loop))->operands[0], &start))
        return false;
    for (uint32_t i = 0; add && i < 2; i++) {
        ir_op before = orders_defined_by(o, ir_op_get(o->m, add)->operands[i], TILE_FOR);
        if (before && ir_op_int(o->m, before, "reduction", -1) == number &&
            orders_constant(o, ir_op_get(o->m, before)->operands[1], &end) && end == start)
            return true;
    }
    return start == 0 && orders_is_zero(o, v);
}

/* Checks what a chunk's sum is added to: what the loop over chunks carries, whole chunks before the
 * last, or what is in memory. */
static bool is_total(const orders *o, ir_value v, ir_op loop, int64_t chunk) {
    ir_op chunks = orders_defined_by(o, v, TILE_FOR);
    bool whole =
        chunks &&
        ir_op_int(o->m, chunks, "reduction", -1) == ir_op_int(o->m, loop, "reduction", -1) &&
        ir_op_int(o->m, chunks, "step", 0) == chunk;
    return !ir_value_get(o->m, v)->op || whole || orders_defined_by(o, v, TILE_LOAD) ||
           is_forwarded_total(o, v, loop);
}

bool orders_check_chunk_use(const orders *o, ir_op op) {
    const ir_op_data *d = ir_op_get(o->m, op);
    for (uint32_t i = 0; i < d->operand_count; i++) {
        ir_op loop = orders_defined_by(o, d->operands[i], TILE_FOR);
        int64_t id = loop ? ir_op_int(o->m, loop, "reduction", -1) : -1;
        const reduction_record *r = reduction_find(&o->list, id);
        if (!r || !orders_is_float(o, d->operands[i]) || orders_is_mma_loop(o, loop))
            continue;
        int64_t chunk = orders_chunk(r->order);
        if (!chunk || r->extent <= chunk || ir_op_int(o->m, loop, "step", 0) == chunk)
            continue;
        ir_value other = d->operands[d->operand_count > 1 ? 1 - (i & 1) : 0];
        bool total = d->opcode == TILE_ADD && is_total(o, other, loop, chunk);
        ir_op around = orders_loop_around(o, loop);
        bool carried = (d->opcode == TILE_FOR && ir_op_int(o->m, op, "reduction", -1) == id) ||
                       (d->opcode == TILE_YIELD && around && orders_is_window_loop(o, around)) ||
                       (d->opcode == TILE_STORE && around && orders_is_strip_loop(o, around));
        if (!total && !carried)
            return orders_fail(o, loop, "its chunk's sum goes to '%s' instead of the total",
                               op_info_get(d->opcode)->name);
    }
    return true;
}
