/* scatter.c - derivatives of scatters that add their updates, or put them in place. */
#include "ops/combine.h"
#include "ops/control.h"
#include "ops/derivatives/derivative.h"

typedef enum scatter_kind { SCATTER_OTHER, SCATTER_ADDS, SCATTER_SETS } scatter_kind;

static scatter_kind kind_of(const ir_module *m, ir_op op) {
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    const ir_op_data *end = control_end(m, op, 0), *first = ir_op_get(m, b->first);
    if (combine_shape_of(m, op).count != 1)
        return SCATTER_OTHER;
    if (end->operands[0] == b->arguments[1])
        return SCATTER_SETS;
    bool adds = first->opcode == GRAPH_ADD && first->operands[0] == b->arguments[0] &&
                first->operands[1] == b->arguments[1] && end->operands[0] == first->results[0];
    return adds ? SCATTER_ADDS : SCATTER_OTHER;
}

static const char *scatter_lacks(const ir_module *m, ir_op op) {
    return kind_of(m, op) == SCATTER_OTHER ? "but of mode=\"add\" and mode=\"set\"" : NULL;
}

/* The same scatter of other tensors; `sets`: it puts updates in place. */
static ir_value scattered(ir_builder *b, ir_value x, ir_value indices, ir_value updates, int axis,
                          bool sets) {
    ir_value y = build_scatter_add(b, x, indices, updates, axis);
    ir_op op = ir_value_get(b->m, y)->op;
    ir_block block = ir_op_block(b->m, op, 0);
    ir_value update = ir_block_get(b->m, block)->arguments[1];
    if (sets)
        ir_op_set_operands(b->m, ir_block_get(b->m, block)->last, &update, 1);
    if (sets)
        ir_op_erase(b->m, ir_block_get(b->m, block)->first);
    return y;
}

static ir_value forward_scatter(ir_builder *b, ir_op op, const ir_value *tangents) {
    const ir_op_data *d = ir_op_get(b->m, op);
    ir_value x = tangents[0], updates = tangents[2];
    if (!x)
        x = build_zero(b, ir_value_get(b->m, d->operands[0])->type);
    if (!updates)
        updates = build_zero(b, ir_value_get(b->m, d->operands[2])->type);
    return scattered(b, x, d->operands[1], updates, (int)ir_op_int(b->m, op, "axis", 0),
                     kind_of(b->m, op) == SCATTER_SETS);
}

/* Along the axis: was the update the last one at a place of x? */
static ir_value is_there(ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    const combine_shape s = combine_shape_of(b->m, op);
    ir_value indices = d->operands[1], zero = build_i32(b, 0, indices),
             length = build_extent(b, s.dims[s.axis], DTYPE_I32, indices);
    ir_value there = build_binary(b, GRAPH_AND, build_compare(b, "ge", indices, zero),
                                  build_compare(b, "lt", indices, length));
    if (kind_of(b->m, op) == SCATTER_ADDS)
        return there;
    ir_dim row[] = {s.dims[s.axis]};
    ir_value number = build_iota(b, 1, &s.updates, 0),
             none = build_zero(b, ir_type_tensor(b->m, DTYPE_I32, 1, row)),
             last = scattered(b, none, indices, number, 0, true);
    return build_binary(b, GRAPH_AND, there,
                        build_compare(b, "eq", build_gather(b, last, indices, 0, 0), number));
}

/* Updates have what their places got; x what was not put over. */
static void transpose_scatter(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                              ir_value *out) {
    const ir_op_data *d = ir_op_get(b->m, op);
    const combine_shape s = combine_shape_of(b->m, op);
    const int64_t axis = s.axis;
    const ir_type_data updates = *build_type(b, d->operands[2]);
    if (wanted[2]) {
        ir_value taken = build_gather(b, cotangent, d->operands[1], s.axis, 0),
                 there = build_broadcast(b, is_there(b, op), updates.rank, updates.dims, &axis);
        out[2] = build_select(b, there, taken, build_number(b, 0, taken));
    }
    if (wanted[0])
        out[0] =
            kind_of(b->m, op) == SCATTER_ADDS
                ? cotangent
                : scattered(b, cotangent, d->operands[1],
                            build_zero(b, ir_value_get(b->m, d->operands[2])->type), s.axis, true);
}

const derivative derivative_scatter = {
    .forward = forward_scatter, .transpose = transpose_scatter, .lacks = scatter_lacks};
