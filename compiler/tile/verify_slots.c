/* verify_slots.c - stages that a loader fetches into slots: whatever is waited for comes, and
 * whoever waits is let go.
 *
 * A loader's loop claims each stage once, and fetches as many bytes for it as it says; the loop
 * that multiplies has as many trips, waits for each stage and gives back each slot. */
#include "tile/swizzle.h"
#include "tile/tensor_map.h"
#include "tile/verify_parts.h"

enum { SLOTS_MOST = 8 };

static ir_op parent_of(const ir_module *m, ir_op op) {
    return ir_block_parent(m, ir_op_get(m, op)->block);
}

static ir_op around(const ir_module *m, ir_op op, int opcode) {
    while (op && ir_op_get(m, op)->opcode != opcode)
        op = parent_of(m, op);
    return op;
}

static ir_value slots_of(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    return d->operands[d->opcode == TILE_FETCH ? 4 : 0];
}

/* The only operation of the phase that has this opcode and those slots; 0: there is none, or there
 * are several. */
static ir_op only(const ir_module *m, ir_op op, int opcode) {
    ir_op found = 0;
    int count = 0;
    for (ir_walk w = ir_walk_op(m, around(m, op, TILE_PHASE)); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == opcode && slots_of(m, w.op) == slots_of(m, op)) {
            found = w.op;
            count++;
        }
    return count == 1 ? found : 0;
}

static bool same(const ir_module *m, ir_op x, ir_op y, const char *attr) {
    return ir_op_int(m, x, attr, -1) == ir_op_int(m, y, attr, -1);
}

/* Loops whose trips are the same numbers. */
static bool same_trips(const ir_module *m, ir_op x, ir_op y) {
    ir_op loops[] = {parent_of(m, x), parent_of(m, y)};
    ir_builder b = {.m = (ir_module *)m};
    bool same_bounds =
        ir_op_get(m, loops[0])->opcode == TILE_FOR && ir_op_get(m, loops[1])->opcode == TILE_FOR;
    for (int k = 0; k < 2 && same_bounds; k++) {
        ir_value bounds[] = {ir_op_get(m, loops[0])->operands[k],
                             ir_op_get(m, loops[1])->operands[k]};
        int64_t numbers[2] = {0, 1};
        same_bounds = bounds[0] == bounds[1] ||
                      (tile_constant_index(&b, bounds[0], &numbers[0]) &&
                       tile_constant_index(&b, bounds[1], &numbers[1]) && numbers[0] == numbers[1]);
    }
    return same_bounds && same(m, loops[0], loops[1], "step");
}

/* The place of a workgroup's memory; -1: it is none. */
static int64_t scratch_of(const ir_module *m, ir_value memory) {
    ir_op op = ir_value_get(m, memory)->op;
    bool scratch = op && ir_op_get(m, op)->opcode == TILE_SCRATCH;
    return scratch ? ir_op_int(m, op, "offset", -1) : -1;
}

static bool touches(const ir_module *m, ir_op op, int64_t place) {
    const ir_op_data *d = ir_op_get(m, op);
    bool found = false;
    for (uint32_t i = 0; i < d->operand_count && !found; i++)
        found = ir_type_of(m, d->operands[i])->kind == IR_TYPE_MEMORY &&
                scratch_of(m, d->operands[i]) == place;
    return found;
}

/* Products that touch it, in an operation and all that is in it. */
static int64_t products_of(const ir_module *m, ir_op op, int64_t place) {
    int64_t found = 0;
    for (ir_walk w = ir_walk_op(m, op); ir_walk_next(&w);)
        found += ir_op_get(m, w.op)->opcode == TILE_MMA_STAGE && touches(m, w.op, place);
    return found;
}

/* Checks that products alone read what is fetched, between the wait and the slot's return. */
static bool is_read_in_time(const ir_module *m, ir_op loader, ir_op wait, ir_op give) {
    bool in_time = true;
    int64_t places = 0;
    for (ir_walk f = ir_walk_op(m, loader); ir_walk_next(&f);) {
        int64_t place, others = 0;
        if (ir_op_get(m, f.op)->opcode != TILE_FETCH)
            continue;
        place = scratch_of(m, ir_op_get(m, f.op)->operands[0]);
        for (ir_walk w = ir_walk_op(m, around(m, loader, TILE_PHASE)); ir_walk_next(&w);)
            others += ir_op_get(m, w.op)->opcode != TILE_FETCH && touches(m, w.op, place);
        for (ir_op op = wait; op && op != give; op = ir_op_get(m, op)->next)
            others -= products_of(m, op, place);
        in_time &= place >= 0 && others == 0;
        places++;
    }
    return places > 0 && in_time;
}

/* Memory of barriers, in loops that carry nothing, which the loader goes through by itself. */
static bool verify_loader(const ir_module *m, ir_op op, status *st) {
    const int64_t count = ir_op_int(m, op, "count", 0);
    ir_op claim = only(m, op, TILE_SLOT_CLAIM), wait = only(m, op, TILE_SLOT_WAIT),
          give = only(m, op, TILE_SLOT_FREE), slots = ir_value_get(m, slots_of(m, op))->op;
    bool plain = slots && ir_op_get(m, slots)->opcode == TILE_SCRATCH &&
                 ir_op_get(m, slots)->operand_count == 0 &&
                 ir_type_of(m, slots_of(m, op))->element == DTYPE_I64;
    for (ir_op p = parent_of(m, op); ir_op_get(m, p)->opcode != TILE_PHASE; p = parent_of(m, p))
        plain &= ir_op_get(m, p)->opcode == TILE_FOR && ir_op_get(m, p)->result_count == 0;
    if (!plain || count < 2 || count > SLOTS_MOST)
        return ir_broken(st, "has 2 to 8 slots, and stands in loops that carry nothing");
    if (!claim || !wait || !give || !same(m, claim, op, "count") || !same(m, wait, op, "count") ||
        !same(m, give, op, "count") || !same(m, claim, give, "behind"))
        return ir_broken(st, "its slots are claimed, waited for and given back once each");
    if (!same_trips(m, claim, wait) || ir_op_get(m, wait)->block != ir_op_get(m, give)->block)
        return ir_broken(st, "stages are claimed, waited for and given back in other loops");
    return is_read_in_time(m, op, wait, give) ||
           ir_broken(st, "what it fetches is not for products between a wait and a slot's return");
}

static int64_t bytes_of(const ir_module *m, ir_op fetch) {
    return ir_op_int(m, fetch, "rows", 0) * ir_op_int(m, fetch, "columns", 0) *
           ir_op_int(m, fetch, "blocks", 1) *
           (int64_t)dtype_size(ir_type_of(m, ir_op_get(m, fetch)->operands[0])->element);
}

static bool verify_claim(const ir_module *m, ir_op op, status *st) {
    int64_t bytes = 0, behind = ir_op_int(m, op, "behind", -1);
    for (ir_op next = ir_op_get(m, op)->next; next; next = ir_op_get(m, next)->next)
        if (ir_op_get(m, next)->opcode == TILE_FETCH && slots_of(m, next) == slots_of(m, op))
            bytes += bytes_of(m, next);
    return (around(m, op, TILE_LOADER) && behind >= 0 && behind < ir_op_int(m, op, "count", 0) &&
            bytes == ir_op_int(m, op, "bytes", 0)) ||
           ir_broken(st, "is not a loader's, or not of the bytes that are fetched behind it");
}

static bool verify_fetch(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    tensor_map map;
    ir_op claim = only(m, op, TILE_SLOT_CLAIM);
    bool behind = claim && ir_op_get(m, claim)->block == d->block &&
                  ir_op_get(m, claim)->operands[1] == d->operands[5] && same(m, claim, op, "count");
    if (!behind)
        return ir_broken(st, "is not of the stage that is claimed before it");
    return (ir_type_of(m, d->operands[0])->element == ir_type_of(m, d->operands[2])->element &&
            tensor_map_of(m, op, &map) &&
            tensor_map_number(m, around(m, op, TILE_PHASE), op) < TENSOR_MAPS_MOST) ||
           ir_broken(st, "is no rows of an argument that the chip copies at once");
}

bool verify_slots(const ir_module *m, ir_op op, status *st) {
    if (!around(m, op, TILE_PHASE))
        return ir_broken(st, "stands in no phase");
    switch (ir_op_get(m, op)->opcode) {
    case TILE_LOADER:
        return verify_loader(m, op, st);
    case TILE_SLOT_CLAIM:
        return verify_claim(m, op, st);
    case TILE_FETCH:
        return verify_fetch(m, op, st);
    default:
        return (!around(m, op, TILE_LOADER) && only(m, op, TILE_LOADER)) ||
               ir_broken(st, "is not beside the loader of its slots");
    }
}
