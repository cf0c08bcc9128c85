/* export_control.c - calls, branches, loops, and operations whose body is given. */
#include <string.h>

#include "ops/combine.h"
#include "ops/control.h"
#include "target/stablehlo/export.h"

/* ---- blocks ---- */

static const shlo_type **result_types(shlo_writer *w, ir_op op) {
    const uint32_t count = ir_op_get(w->m, op)->result_count;
    const shlo_type **types = ARENA_NEW(&w->out->memory, const shlo_type *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        types[i] = out_result_type(w, op, i);
    return types;
}

/* The arguments of a block stand for these values. */
static void pass(shlo_writer *w, ir_block block, shlo_value *const *values) {
    const ir_block_data *b = ir_block_get(w->m, block);
    for (uint32_t i = 0; i < b->argument_count; i++)
        out_put(w, b->arguments[i], values[i]);
}

/* Operations of a block in a region that returns what it ends with. */
static bool fill(shlo_writer *w, ir_block block, shlo_block *region) {
    shlo_block *around = w->block;
    uint32_t count;
    w->block = region;
    const bool good = out_block(w, block);
    if (good) {
        shlo_value **ends = out_ends(w, block, &count);
        out_return(w, ends, count);
    }
    w->block = around;
    return good;
}

static void give(const shlo_op *made, uint32_t from, uint32_t count, shlo_value **results) {
    for (uint32_t i = 0; i < count; i++)
        results[i] = &((shlo_op *)made)->results[from + i];
}

/* ---- calls and branches ---- */

bool out_call(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const char *callee = ir_op_string(w->m, op, "callee", "");
    const shlo_named_attr attr = {"callee", out_word(w, SHLO_ATTR_SYMBOL, callee)};
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.call",
                                             .operands = in,
                                             .operand_count = d->operand_count,
                                             .results = result_types(w, op),
                                             .result_count = d->result_count,
                                             .attrs = &attr,
                                             .attr_count = 1});
    give(made, 0, d->result_count, results);
    return true;
}

/* Regions see the values around them. */
bool out_choice(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const uint32_t count = ir_op_get(w->m, op)->result_count;
    shlo_block *regions[2];
    for (uint32_t i = 0; i < 2; i++) {
        regions[i] = shlo_block_new(w->out, 0);
        pass(w, ir_op_block(w->m, op, i), in + 1);
        if (!fill(w, ir_op_block(w->m, op, i), regions[i]))
            return false;
    }
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.if",
                                             .operands = in,
                                             .operand_count = 1,
                                             .results = result_types(w, op),
                                             .result_count = count,
                                             .regions = regions,
                                             .region_count = 2});
    give(made, 0, count, results);
    return true;
}

/* ---- loops ---- */

static shlo_block *carrying(shlo_writer *w, const shlo_type *const *types, uint32_t count) {
    shlo_block *b = shlo_block_new(w->out, count);
    for (uint32_t i = 0; i < count; i++)
        b->arguments[i].type = types[i];
    return b;
}

static shlo_value **arguments_of(shlo_writer *w, shlo_block *b) {
    shlo_value **list = ARENA_NEW(&w->out->memory, shlo_value *, b->argument_count + 1);
    for (uint32_t i = 0; i < b->argument_count; i++)
        list[i] = &b->arguments[i];
    return list;
}

bool out_general_loop(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const uint32_t count = ir_op_get(w->m, op)->result_count;
    const shlo_type **types = result_types(w, op);
    shlo_block *regions[2];
    for (uint32_t i = 0; i < 2; i++) {
        regions[i] = carrying(w, types, count);
        pass(w, ir_op_block(w->m, op, i), arguments_of(w, regions[i]));
        if (!fill(w, ir_op_block(w->m, op, i), regions[i]))
            return false;
    }
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.while",
                                             .operands = in,
                                             .operand_count = count,
                                             .results = types,
                                             .result_count = count,
                                             .regions = regions,
                                             .region_count = 2});
    give(made, 0, count, results);
    return true;
}

/* Part `turn` of a stack starts at (turn, 0, 0, ...); operands from `from` on. */
static void place_starts(shlo_writer *w, shlo_value *turn, uint32_t rank, shlo_value **starts) {
    shlo_value *zero = out_number(w, turn->type, 0);
    for (uint32_t i = 0; i < rank; i++)
        starts[i] = i ? zero : turn;
}

static shlo_value *part_of(shlo_writer *w, shlo_value *stack, shlo_value *turn) {
    shlo_value *operands[IR_MAX_RANK + 2] = {stack};
    int64_t sizes[IR_MAX_RANK];
    const uint32_t rank = stack->type->rank;
    place_starts(w, turn, rank, operands + 1);
    memcpy(sizes, stack->type->dims, rank * sizeof *sizes);
    sizes[0] = 1;
    const shlo_type *t = out_tensor(w, stack->type->element, rank, sizes);
    const shlo_named_attr attr = {"slice_sizes", out_ints(w, rank, sizes)};
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.dynamic_slice",
                                             .operands = operands,
                                             .operand_count = rank + 1,
                                             .results = &t,
                                             .result_count = 1,
                                             .attrs = &attr,
                                             .attr_count = 1});
    return out_reshape(w, &made->results[0], rank - 1, sizes + 1);
}

static shlo_value *stacked(shlo_writer *w, shlo_value *stack, shlo_value *part, shlo_value *turn) {
    shlo_value *operands[IR_MAX_RANK + 2] = {stack};
    int64_t sizes[IR_MAX_RANK];
    const uint32_t rank = stack->type->rank;
    memcpy(sizes, stack->type->dims, rank * sizeof *sizes);
    sizes[0] = 1;
    operands[1] = out_reshape(w, part, rank, sizes);
    place_starts(w, turn, rank, operands + 2);
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.dynamic_update_slice",
                                             .operands = operands,
                                             .operand_count = rank + 2,
                                             .results = &stack->type,
                                             .result_count = 1});
    return &made->results[0];
}

/* A loop carries the turn, then what it carries, then its stacks, one turn's part more each time.
 */
typedef struct counted {
    ir_op op;
    loop_shape shape;
    shlo_value *const *in;
    const shlo_type **types; /* that it carries */
    uint32_t count;
} counted;

static shlo_block *until(shlo_writer *w, const counted *c) {
    shlo_block *region = carrying(w, c->types, c->count), *around = w->block;
    w->block = region;
    shlo_value *turn = &region->arguments[0];
    shlo_value *more =
        out_compare(w, "LT", turn, out_number(w, turn->type, (double)c->shape.count));
    out_return(w, &more, 1);
    w->block = around;
    return region;
}

static bool turn_of(shlo_writer *w, const counted *c, shlo_block *region) {
    const loop_shape *s = &c->shape;
    const uint32_t taken = s->carried + s->sliced + s->whole;
    shlo_value **values = ARENA_NEW(&w->out->memory, shlo_value *, taken + 1);
    shlo_value **carried = arguments_of(w, region), *turn = carried[0];
    const ir_block block = ir_op_block(w->m, c->op, 0);
    uint32_t count;
    values[0] = turn;
    for (uint32_t i = 0; i < taken; i++)
        values[i + 1] = i < s->carried               ? carried[i + 1]
                        : i < s->carried + s->sliced ? part_of(w, c->in[i], turn)
                                                     : c->in[i];
    pass(w, block, values);
    if (!out_block(w, block))
        return false;
    shlo_value **ends = out_ends(w, block, &count);
    shlo_value **next = ARENA_NEW(&w->out->memory, shlo_value *, c->count);
    next[0] = out_binary(w, "stablehlo.add", turn, out_number(w, turn->type, 1));
    for (uint32_t i = 0; i + 1 < c->count; i++)
        next[i + 1] = i < s->carried ? ends[i] : stacked(w, carried[i + 1], ends[i], turn);
    out_return(w, next, c->count);
    return true;
}

bool out_counted_loop(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const uint32_t given = ir_op_get(w->m, op)->result_count;
    const shlo_type **types = result_types(w, op);
    counted c = {op, loop_shape_of(w->m, op), in,
                 ARENA_NEW(&w->out->memory, const shlo_type *, given + 1), given + 1};
    shlo_value **start = ARENA_NEW(&w->out->memory, shlo_value *, given + 1);
    c.types[0] = out_tensor(w, SHLO_I32, 0, NULL);
    start[0] = out_number(w, c.types[0], 0);
    for (uint32_t i = 0; i < given; i++) {
        c.types[i + 1] = types[i];
        start[i + 1] = i < c.shape.carried ? in[i] : out_number(w, types[i], 0);
        results[i] = start[i + 1];
    }
    if (c.shape.count == 0) /* no part can be taken of an empty stack */
        return true;
    shlo_block *regions[] = {until(w, &c), carrying(w, c.types, c.count)}, *around = w->block;
    w->block = regions[1];
    const bool good = turn_of(w, &c, regions[1]);
    w->block = around;
    if (!good)
        return false;
    shlo_op *made = out_build(w, &(out_spec){.name = "stablehlo.while",
                                             .operands = start,
                                             .operand_count = c.count,
                                             .results = c.types,
                                             .result_count = c.count,
                                             .regions = regions,
                                             .region_count = 2});
    give(made, 1, given, results);
    return true;
}

/* ---- combiners ---- */

/* The body: scalars of one place, and as many of another. A sort has them in pairs. */
static shlo_block *combiner(shlo_writer *w, ir_op op, uint32_t count, bool pairs) {
    const ir_block block = ir_op_block(w->m, op, 0);
    const ir_block_data *b = ir_block_get(w->m, block);
    shlo_block *body = shlo_block_new(w->out, 2 * count);
    const bool plain = w->plain;
    for (uint32_t i = 0; i < 2 * count; i++) {
        const uint32_t to = !pairs ? i : i < count ? 2 * i : 2 * (i - count) + 1;
        body->arguments[to].type = out_type(w, ir_value_get(w->m, b->arguments[i])->type);
        out_put(w, b->arguments[i], &body->arguments[to]);
    }
    w->plain = true;
    const bool good = fill(w, block, body);
    w->plain = plain;
    return good ? body : NULL;
}

/* Parameters: the operation, its name and operands, and the attributes that it has in StableHLO. */
static bool combined(shlo_writer *w, ir_op op, const char *name, shlo_value *const *in,
                     const shlo_named_attr *attrs, uint32_t attr_count, shlo_value **results) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const uint32_t operands = d->operand_count, given = d->result_count;
    shlo_block *body = combiner(w, op, given, d->opcode == GRAPH_SORT);
    if (!body)
        return false;
    shlo_op *made = out_build(w, &(out_spec){.name = name,
                                             .operands = in,
                                             .operand_count = operands,
                                             .results = result_types(w, op),
                                             .result_count = given,
                                             .attrs = attrs,
                                             .attr_count = attr_count,
                                             .regions = &body,
                                             .region_count = 1});
    give(made, 0, given, results);
    return true;
}

bool out_reduce_with(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const int64_t axis = out_axis(w, op, in[0]->type->rank);
    const shlo_named_attr attrs[] = {{"dimensions", out_ints(w, 1, &axis)},
                                     {SHLO_ASCENDING, out_word(w, SHLO_ATTR_UNIT, "")}};
    return combined(w, op, "stablehlo.reduce", in, attrs, 2, results);
}

bool out_sort(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const shlo_named_attr attrs[] = {{"dimension", out_int(w, out_axis(w, op, in[0]->type->rank))},
                                     {"is_stable", out_bool(w, true)}};
    return combined(w, op, "stablehlo.sort", in, attrs, 2, results);
}

/* Rows along the axis, one for each index. */
bool out_scatter(shlo_writer *w, ir_op op, shlo_value *const *in, shlo_value **results) {
    const uint32_t rank = in[0]->type->rank;
    const int64_t axis = out_axis(w, op, rank);
    int64_t window[IR_MAX_RANK];
    uint32_t windows = 0;
    /* A place is one element of the axis, also where that has none. */
    if (shlo_type_count(in[0]->type) == 0) {
        memcpy(results, in, ir_op_get(w->m, op)->result_count * sizeof(shlo_value *));
        return true;
    }
    for (uint32_t i = 0; i < rank; i++)
        if (i != axis)
            window[windows++] = i;
    const shlo_named_attr attrs[] = {{"index_vector_dim", out_int(w, 1)},
                                     {"inserted_window_dims", out_ints(w, 1, &axis)},
                                     {"scatter_dims_to_operand_dims", out_ints(w, 1, &axis)},
                                     {"update_window_dims", out_ints(w, windows, window)}};
    return combined(w, op, "stablehlo.scatter", in, attrs, 4, results);
}
