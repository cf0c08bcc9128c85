/* inject_fault.c - wrong code on purpose, to prove that the checks catch it.
 *
 * It runs behind the last verification, which would refuse what it makes. Memory is not touched
 * where the right code would not: a fault leaves work out, but for one whose code is checked. */
#include <string.h>

#include "tile/tile.h"

typedef struct injection {
    ir_op chosen; /* the last loop that a fault is meant for */
    uint32_t inputs;
    ir_module *m;
    int done;
} injection;

static ir_op parent_op(const ir_module *m, ir_op op) {
    ir_block block = ir_op_get(m, op)->block;
    return ir_block_parent(m, block);
}

/* The loop ends one step early. */
static void cut_loop(ir_module *m, ir_op loop) {
    const ir_op_data *d = ir_op_get(m, loop);
    ir_builder b = {m, d->block, loop, d->location};
    ir_value high = d->operands[1];
    int64_t one = 1;
    high = tile_affine(&b, -ir_op_int(m, loop, "step", 1), &high, &one, 1);
    ir_op_get(m, loop)->operands[1] = high;
}

/* ---- drop-last-k: every chain of an accumulation loses its last step ---- */

static void note_nested(const ir_module *m, ir_op op, injection *i) {
    if (op != i->chosen && ir_op_get(m, op)->opcode == TILE_FOR && ir_op_attr(m, op, "reduction"))
        i->done++;
}

/* In its last step the loop hands on what it was given. Everything else in it still happens. */
static void idle_last_step(ir_module *m, ir_op loop) {
    const ir_op_data *d = ir_op_get(m, loop);
    int64_t step = ir_op_int(m, loop, "step", 1), one = 1;
    ir_builder before = {m, d->block, loop, d->location};
    ir_value high = d->operands[1];
    ir_value last = tile_from_index(&before, tile_affine(&before, -step, &high, &one, 1));
    ir_block body = ir_op_block(m, loop, 0);
    ir_op yield = ir_block_get(m, body)->last;
    ir_builder inside = {m, body, yield, d->location};
    ir_value early = tile_compare(
        &inside, "lt", tile_from_index(&inside, ir_block_get(m, body)->arguments[0]), last);
    for (uint32_t i = 0; i < ir_op_get(m, yield)->operand_count; i++) {
        ir_value given = ir_block_get(m, body)->arguments[i + 1];
        ir_value operands[] = {early, ir_op_get(m, yield)->operands[i], given};
        ir_value kept = tile_op(&inside, TILE_SELECT, operands, 3, DTYPE_NONE);
        ir_op_get(m, yield)->operands[i] = kept;
    }
}

static void drop_from_innermost(ir_module *m, ir_op op, injection *i) {
    if (ir_op_get(m, op)->opcode != TILE_FOR || !ir_op_attr(m, op, "reduction"))
        return;
    injection nested = {.chosen = op};
    for (ir_walk w = ir_walk_op(m, op); ir_walk_next(&w);)
        note_nested(m, w.op, &nested);
    if (nested.done)
        return;
    /* Values carried in memory have no other place to be held up. */
    if (ir_op_get(m, op)->operand_count > 2)
        idle_last_step(m, op);
    else
        cut_loop(m, op);
    i->done++;
}

/* ---- edge-off-by-one: the last loop that stores an output leaves out its last tile ---- */

static bool is_output(const injection *i, ir_value memory) {
    const ir_value_data *v = ir_value_get(i->m, memory);
    return v->op == 0 && v->block == ir_op_block(i->m, ir_module_kernel(i->m), 0) &&
           v->index >= i->inputs;
}

static void find_storing_loop(const ir_module *m, ir_op op, injection *i) {
    if (ir_op_get(m, op)->opcode != TILE_STORE || !is_output(i, ir_op_get(m, op)->operands[0]))
        return;
    ir_op parent = parent_op(m, op);
    bool loop = ir_op_get(m, parent)->opcode == TILE_FOR && !ir_op_attr(m, parent, "reduction");
    i->chosen = loop || ir_op_get(m, parent)->opcode == TILE_PHASE ? parent : i->chosen;
}

static void cut_edge(injection *i) {
    ir_module *m = i->m;
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        find_storing_loop(m, w.op, i);
    if (!i->chosen)
        return;
    if (ir_op_get(m, i->chosen)->opcode == TILE_FOR) {
        cut_loop(m, i->chosen);
        i->done++;
        return;
    }
    int64_t grid = ir_op_int(m, i->chosen, "grid", 0);
    if (grid == 0)
        return;
    ir_op_set_attr(m, i->chosen, "grid", ir_attr_int(m, grid - 1));
    i->done++;
}

/* ---- wrong-index: the last store of an output goes past its end. The one fault that would touch
 * other memory, were the code not checked. ---- */

/* 0 where that is a formula. */
static int64_t elements_of(const injection *i, ir_value memory) {
    const ir_attr_data *shapes =
        ir_attr_get(i->m, ir_op_attr(i->m, ir_module_kernel(i->m), "shapes"));
    const ir_attr_data *shape = ir_attr_get(i->m, shapes->items[ir_value_get(i->m, memory)->index]);
    int64_t elements = 1;
    for (uint32_t axis = 0; axis < shape->count; axis++)
        elements *= ir_attr_get(i->m, shape->items[axis])->integer;
    return elements;
}

static void store_past_end(injection *i) {
    ir_module *m = i->m;
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == TILE_STORE &&
            is_output(i, ir_op_get(m, w.op)->operands[0]) &&
            elements_of(i, ir_op_get(m, w.op)->operands[0]))
            i->chosen = w.op;
    if (!i->chosen)
        return;
    const ir_op_data *d = ir_op_get(m, i->chosen);
    ir_builder b = {m, d->block, i->chosen, d->location};
    ir_value offset = d->operands[1];
    int64_t one = 1;
    offset = tile_affine(&b, elements_of(i, d->operands[0]), &offset, &one, 1);
    ir_op_get(m, i->chosen)->operands[1] = offset;
    i->done++;
}

/* ---- wrong-rounding: the code runs with results rounded toward zero ---- */

static void round_toward_zero(injection *i) {
    ir_op_set_attr(i->m, ir_module_kernel(i->m), "rounding", ir_attr_string(i->m, "toward-zero"));
    i->done++;
}

/* ---- the table ---- */

static void drop_last_k(injection *i) {
    for (ir_walk w = ir_walk_op(i->m, ir_module_kernel(i->m)); ir_walk_next(&w);)
        drop_from_innermost(i->m, w.op, i);
}

static const struct fault {
    const char *name;
    void (*make)(injection *i);
    const char *why_not;
} faults[] = {{"drop-last-k", drop_last_k, "no loop accumulates"},
              {"edge-off-by-one", cut_edge, "nothing is stored"},
              {"wrong-index", store_past_end, "nothing is stored, or sizes are formulas"},
              {"wrong-rounding", round_toward_zero, ""}};

static const struct fault *find_fault(const char *name) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, name) == 0)
            return &faults[i];
    return NULL;
}

bool tile_knows_fault(const char *fault) {
    return find_fault(fault) != NULL;
}

bool tile_inject_fault(ir_module *m, const char *fault, status *st) {
    injection i = {.m = m};
    const struct fault *f = find_fault(fault);
    i.inputs = ir_attr_get(m, ir_op_attr(m, ir_module_kernel(m), "inputs"))->count;
    f->make(&i);
    return i.done ||
           status_set(st, STATUS_UNAVAILABLE, "fault %s does not apply: %s", fault, f->why_not);
}
