/* batch_combine.c - batches of combiners: along the next axis, with the block that they have. */
#include <string.h>

#include "ir/copy.h"
#include "ops/build.h"
#include "ops/combiner.h"
#include "transforms/batches.h"

/* The combiner along an axis, of operands for all parts. */
static ir_op combine_along(batching *s, ir_op op, int axis, const ir_value *operands,
                           const ir_type *results) {
    ir_module *m = s->m;
    const ir_op_data *d = ir_op_get(m, op);
    const ir_block_data *old = ir_block_get(m, ir_op_block(m, op, 0));
    ir_op made =
        build_along(&s->b, d->opcode, axis, operands, d->operand_count, results, d->result_count);
    const ir_builder around = batch_enter(s, ir_op_block(m, made, 0));
    for (uint32_t i = 0; i < old->argument_count; i++)
        batch_set(
            s, old->arguments[i],
            ir_block_add_argument(m, s->b.block, ir_value_get(m, old->arguments[i])->type, NULL));
    for (ir_op in = old->first; in; in = ir_op_get(m, in)->next)
        batch_copy(s, in);
    s->b = around;
    return made;
}

static void set_results(batching *s, ir_op op, ir_op made) {
    const ir_op_data *d = ir_op_get(s->m, op);
    for (uint32_t i = 0; i < d->result_count; i++)
        batch_set(s, d->results[i], ir_op_result(s->m, made, i));
}

/* Operands from `whole` on are as they are. */
static void build_next_axis(batching *s, ir_op op, uint32_t whole, uint32_t behind) {
    const ir_op_data *d = ir_op_get(s->m, op);
    ir_value *operands = batch_room(s, d->operand_count);
    ir_type *types = ARENA_NEW(ir_module_arena(s->m), ir_type, d->result_count + 1);
    for (uint32_t i = 0; i < d->operand_count; i++)
        operands[i] = batch_as(s, d->operands[i], i < whole || i >= behind);
    for (uint32_t i = 0; i < d->result_count; i++)
        types[i] = batch_type(s, d->results[i], true);
    const int axis = (int)ir_op_int(s->m, op, "axis", 0) + 1;
    set_results(s, op, combine_along(s, op, axis, operands, types));
}

/* ---- a reduction that begins with another value for each part ---- */

/* A loop along the axis, which carries what is so far for all parts. */
static void build_reduction(batching *s, ir_op op, const combine_shape *shape) {
    ir_module *m = s->m;
    const ir_op_data *d = ir_op_get(m, op);
    const uint32_t count = shape->count;
    const int64_t parts = 0;
    combiner c = {.m = m, .b = s->b, .op = op, .s = *shape};
    combiner_values operands = {0};
    ir_value *inside = batch_room(s, 2 * count), *next = batch_room(s, count);
    for (uint32_t i = 0; i < count; i++) {
        const ir_type_data *t = ir_type_get(m, batch_type(s, d->results[i], true));
        vec_push(&operands, build_broadcast(&s->b, batch_stand(s, d->operands[count + i]), t->rank,
                                            t->dims, &parts));
    }
    for (uint32_t i = 0; i < count; i++)
        vec_push(&operands, build_moved(&s->b, batch_all(s, d->operands[i]), shape->axis + 1, 0));
    c.b = s->b;
    ir_op loop = combiner_begin_loop(&c, &operands, count, count, shape->dims[shape->axis]);
    const ir_builder around = batch_enter(s, ir_op_block(m, loop, 0));
    combiner_take_turn(&c, s->b.block);
    for (uint32_t i = 0; i < 2 * count; i++) {
        const ir_value v = d->operands[i < count ? count + i : i - count];
        ir_type_data t = *ir_type_get(m, batch_type(s, d->results[i % count], true));
        t.element = ir_type_of(m, v)->element;
        inside[i] = ir_block_add_argument(m, s->b.block,
                                          ir_type_tensor(m, t.element, t.rank, t.dims), NULL);
    }
    combiner_apply(&c, &s->b, inside, next);
    batch_end(s, next, count);
    s->b = around;
    set_results(s, op, loop);
    vec_release(&operands);
}

/* ---- a scatter at other indices for each part ---- */

/* The axis behind the batch, and both as one. */
static ir_value flat(batching *s, ir_value x, int axis) {
    ir_value y = build_moved(&s->b, x, axis + 1, 1);
    ir_type_data t = *build_type(&s->b, y);
    t.dims[1] = ir_dim_mul(s->m, t.dims[0], t.dims[1]);
    return build_reshape(&s->b, y, t.rank - 1, t.dims + 1);
}

/* Places of the parts' rows behind each other; an index of no place of its part stays one. */
static ir_value flat_indices(batching *s, ir_value indices, ir_dim length) {
    ir_builder *b = &s->b;
    const ir_type_data t = *build_type(b, indices);
    const ir_dim all = ir_dim_mul(s->m, t.dims[0], t.dims[1]);
    ir_value part = build_iota(b, 2, t.dims, 0), long_ = build_extent(b, length, DTYPE_I32, part);
    ir_value there =
        build_binary(b, GRAPH_AND, build_compare(b, "ge", indices, build_i32(b, 0, part)),
                     build_compare(b, "lt", indices, long_));
    ir_value place = build_binary(b, GRAPH_ADD, build_binary(b, GRAPH_MUL, part, long_), indices);
    return build_reshape(b, build_select(b, there, place, build_i32(b, -1, part)), 1, &all);
}

static void build_flat_scatter(batching *s, ir_op op, const combine_shape *shape) {
    ir_module *m = s->m;
    const ir_op_data *d = ir_op_get(m, op);
    ir_value *operands = batch_room(s, d->operand_count);
    ir_type *types = ARENA_NEW(ir_module_arena(m), ir_type, d->result_count + 1);
    for (uint32_t i = 0; i < d->operand_count; i++)
        operands[i] = i == shape->count ? flat_indices(s, batch_stand(s, d->operands[i]),
                                                       shape->dims[shape->axis])
                                        : flat(s, batch_all(s, d->operands[i]), shape->axis);
    for (uint32_t i = 0; i < d->result_count; i++)
        types[i] = ir_value_get(m, operands[i])->type;
    ir_op made = combine_along(s, op, 0, operands, types);
    for (uint32_t i = 0; i < d->result_count; i++) {
        ir_type_data t = *ir_type_get(m, types[i]);
        memmove(t.dims + 1, t.dims, sizeof *t.dims * (size_t)t.rank);
        t.dims[0] = s->count;
        t.dims[1] = shape->dims[shape->axis];
        ir_value apart = build_reshape(&s->b, ir_op_result(m, made, i), t.rank + 1, t.dims);
        batch_set(s, d->results[i], build_moved(&s->b, apart, 1, shape->axis + 1));
    }
}

void batch_combiner(batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    const combine_shape shape = combine_shape_of(s->m, op);
    const uint32_t behind = d->operand_count;
    if (d->opcode == GRAPH_SORT)
        build_next_axis(s, op, behind, behind);
    else if (d->opcode == GRAPH_REDUCE_WITH && batch_any(s, d->operands + shape.count, shape.count))
        build_reduction(s, op, &shape);
    else if (d->opcode == GRAPH_REDUCE_WITH)
        build_next_axis(s, op, shape.count, behind);
    else if (batch_differs(s, d->operands[shape.count]))
        build_flat_scatter(s, op, &shape);
    else
        build_next_axis(s, op, shape.count, shape.count + 1);
}
