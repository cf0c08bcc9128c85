/* scatter.c - derivatives of scatters: of those that add, multiply, take the greater or the lesser,
 * or put their updates in place. Others are loops over their updates (transforms/). */
#include <string.h>

#include "ops/combine.h"
#include "ops/combiner.h"
#include "ops/control.h"
#include "ops/derivatives/derivative.h"

typedef enum scatter_kind {
    SCATTER_OTHER,
    SCATTER_SETS,
    SCATTER_ADDS,
    SCATTER_MULTIPLIES,
    SCATTER_TAKES_ONE /* the greatest or the least */
} scatter_kind;

static scatter_kind kind_of(const ir_module *m, ir_op op) {
    static const struct {
        int opcode;
        scatter_kind kind;
    } kinds[] = {{GRAPH_ADD, SCATTER_ADDS},
                 {GRAPH_MUL, SCATTER_MULTIPLIES},
                 {GRAPH_MAXIMUM, SCATTER_TAKES_ONE},
                 {GRAPH_MINIMUM, SCATTER_TAKES_ONE}};
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    const ir_op_data *end = control_end(m, op, 0), *first = ir_op_get(m, b->first);
    if (combine_shape_of(m, op).count != 1)
        return SCATTER_OTHER;
    if (end->operands[0] == b->arguments[1])
        return SCATTER_SETS;
    bool both = first->operand_count == 2 && first->operands[0] == b->arguments[0] &&
                first->operands[1] == b->arguments[1] && end->operands[0] == first->results[0];
    for (size_t i = 0; both && i < sizeof kinds / sizeof *kinds; i++)
        if (first->opcode == kinds[i].opcode)
            return kinds[i].kind;
    return SCATTER_OTHER;
}

static bool is_by_turns(const ir_module *m, ir_op op) {
    return kind_of(m, op) == SCATTER_OTHER;
}

/* ---- other scatters ---- */

/* A scatter whose block is one operation of what is there and the update; -1: the update. */
static ir_value scattered(ir_builder *b, ir_value x, ir_value indices, ir_value updates, int axis,
                          int opcode) {
    ir_value y = build_scatter_add(b, x, indices, updates, axis);
    ir_op op = ir_value_get(b->m, y)->op;
    const ir_block_data *block = ir_block_get(b->m, ir_op_block(b->m, op, 0));
    ir_op add = block->first;
    if (opcode == GRAPH_ADD)
        return y;
    ir_builder inner = {.m = b->m, .block = ir_op_block(b->m, op, 0), .before = add};
    inner.location = b->location;
    ir_value made = opcode < 0
                        ? block->arguments[1]
                        : build_binary(&inner, opcode, block->arguments[0], block->arguments[1]);
    ir_op_set_operands(b->m, ir_block_get(b->m, ir_op_block(b->m, op, 0))->last, &made, 1);
    ir_op_erase(b->m, add);
    return y;
}

ir_value build_scatter_set(ir_builder *b, ir_value x, ir_value indices, ir_value updates,
                           int axis) {
    return scattered(b, x, indices, updates, axis, -1);
}

/* Elements at the indices along an axis; zeros where the axis has none to be taken. */
static ir_value taken_at(ir_builder *b, ir_value x, ir_value indices, int axis) {
    const ir_type_data t = *build_type(b, x);
    ir_dim dims[IR_MAX_RANK];
    if (t.dims[axis] != 0)
        return build_gather(b, x, indices, axis, 0);
    memcpy(dims, t.dims, sizeof dims);
    dims[axis] = build_type(b, indices)->dims[0];
    return build_zero(b, ir_type_tensor(b->m, t.element, t.rank, dims));
}

/* A scatter in f32, or f64: what its rule is made of. */
typedef struct scattering {
    ir_value x, indices, updates, y;
    int axis;
    ir_value there; /* by element of the updates: is their index in x, ... */
    ir_value taken; /* ... and what y has at it, or near it */
} scattering;

static ir_value in_range(ir_builder *b, ir_op op) {
    const combine_shape s = combine_shape_of(b->m, op);
    ir_value indices = ir_op_get(b->m, op)->operands[1], zero = build_i32(b, 0, indices),
             length = build_extent(b, s.dims[s.axis], DTYPE_I32, indices);
    return build_binary(b, GRAPH_AND, build_compare(b, "ge", indices, zero),
                        build_compare(b, "lt", indices, length));
}

static ir_value along_updates(ir_builder *b, ir_op op, ir_value v) {
    const ir_type_data updates = *build_type(b, ir_op_get(b->m, op)->operands[2]);
    const int64_t axis = combine_shape_of(b->m, op).axis;
    return build_broadcast(b, v, updates.rank, updates.dims, &axis);
}

static scattering open_scattering(ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    scattering s = {.x = build_wide(b, d->operands[0]),
                    .indices = d->operands[1],
                    .updates = build_wide(b, d->operands[2]),
                    .y = build_wide(b, d->results[0]),
                    .axis = combine_shape_of(b->m, op).axis};
    s.there = along_updates(b, op, in_range(b, op));
    s.taken = taken_at(b, s.y, s.indices, s.axis);
    return s;
}

static ir_value or_zero(ir_builder *b, ir_value condition, ir_value x) {
    return build_select(b, condition, x, build_number(b, 0, x));
}

/* ---- the greatest or the least ---- */

/* The shares of x and of the updates in y: 1 / n for each of the n that are the one of their place.
 */
static void shares(ir_builder *b, const scattering *s, ir_value *x, ir_value *updates) {
    ir_value one = build_number(b, 1, s->x);
    ir_value is = or_zero(b, build_compare(b, "eq", s->x, s->y), one);
    ir_value one_of =
        build_binary(b, GRAPH_AND, s->there, build_compare(b, "eq", s->updates, s->taken));
    ir_value are = or_zero(b, one_of, build_number(b, 1, s->updates));
    ir_value n = build_scatter_add(b, is, s->indices, are, s->axis);
    *x = build_binary(b, GRAPH_DIV, is, n);
    *updates =
        or_zero(b, one_of, build_binary(b, GRAPH_DIV, are, taken_at(b, n, s->indices, s->axis)));
}

static ir_value forward_one(ir_builder *b, ir_op op, ir_value x, ir_value updates) {
    const scattering s = open_scattering(b, op);
    ir_value by_x, by_updates;
    shares(b, &s, &by_x, &by_updates);
    x = build_binary(b, GRAPH_MUL, x, by_x);
    updates = build_binary(b, GRAPH_MUL, updates, by_updates);
    return build_scatter_add(b, x, s.indices, updates, s.axis);
}

static void transpose_one(ir_builder *b, ir_op op, ir_value t, ir_value *out) {
    const scattering s = open_scattering(b, op);
    ir_value by_x, by_updates;
    shares(b, &s, &by_x, &by_updates);
    out[0] = build_binary(b, GRAPH_MUL, t, by_x);
    out[2] = build_binary(b, GRAPH_MUL, taken_at(b, t, s.indices, s.axis), by_updates);
}

/* ---- products ---- */

/* Pairs of a value and its tangent, update by update. */
static ir_value forward_product(ir_builder *b, ir_op op, ir_value x, ir_value updates) {
    const scattering s = open_scattering(b, op);
    const ir_value operands[] = {s.x, x, s.indices, s.updates, updates};
    const ir_type type = ir_value_get(b->m, s.x)->type,
                  scalar = ir_type_tensor(b->m, build_type(b, s.x)->element, 0, NULL);
    ir_op made = build_along(b, GRAPH_SCATTER, s.axis, operands, 5, (ir_type[]){type, type}, 2);
    ir_builder in = {.m = b->m, .block = ir_op_block(b->m, made, 0), .location = b->location};
    ir_value v[4];
    for (int i = 0; i < 4; i++)
        v[i] = ir_block_add_argument(b->m, in.block, scalar, NULL);
    ir_value next[] = {build_binary(&in, GRAPH_MUL, v[0], v[2]),
                       build_binary(&in, GRAPH_MUL, v[1], v[2])};
    next[1] = build_binary(&in, GRAPH_ADD, next[1], build_binary(&in, GRAPH_MUL, v[0], v[3]));
    build_next(&in, next, 2);
    return ir_op_result(b->m, made, 1);
}

/* Multiplies x by the updates, one after the other; *before: what each of them met. Axis 0. */
static ir_value products(ir_builder *b, ir_value x, ir_value indices, ir_value updates,
                         ir_value *before) {
    const ir_type_data t = *build_type(b, updates);
    ir_dim row[IR_MAX_RANK];
    for (int i = 0; i < t.rank; i++)
        row[i] = i ? t.dims[i] : 1;
    const ir_type part = ir_type_tensor(b->m, t.element, t.rank - 1, t.dims + 1);
    const ir_value values[] = {x, indices, updates};
    const turn_loop all = {values, 3, 1, &part, 1, t.dims[0]};
    ir_builder inner;
    ir_op loop = build_turns(b, &all, &inner);
    const ir_value *in = ir_block_get(b->m, ir_op_block(b->m, loop, 0))->arguments;
    ir_value now = in[1], index = in[2], update = in[3];
    ir_value at = build_reshape(&inner, index, 1, (ir_dim[]){1});
    ir_value met = build_gather(&inner, now, at, 0, 0);
    ir_value next[] = {
        scattered(&inner, now, at, build_reshape(&inner, update, t.rank, row), 0, GRAPH_MUL),
        build_reshape(&inner, met, t.rank - 1, t.dims + 1)};
    build_next(&inner, next, 2);
    *before = ir_op_result(b->m, loop, 1);
    return ir_op_result(b->m, loop, 0);
}

static void transpose_product(ir_builder *b, ir_op op, ir_value t, ir_value *out) {
    const scattering s = open_scattering(b, op);
    ir_value updates = build_moved(b, s.updates, s.axis, 0), met, behind;
    products(b, build_moved(b, s.x, s.axis, 0), s.indices, updates, &met);
    ir_value x = products(b, build_moved(b, t, s.axis, 0), build_turned(b, s.indices, 0),
                          build_turned(b, updates, 0), &behind);
    ir_value by = build_binary(b, GRAPH_MUL, build_turned(b, behind, 0), met);
    out[0] = build_moved(b, x, 0, s.axis);
    out[2] = or_zero(b, s.there, build_moved(b, by, 0, s.axis));
}

/* ---- sums, and updates in place ---- */

/* Along the axis: was the update the last one at a place of x? */
static ir_value is_kept(ir_builder *b, ir_op op) {
    const combine_shape s = combine_shape_of(b->m, op);
    ir_value indices = ir_op_get(b->m, op)->operands[1], there = in_range(b, op);
    if (kind_of(b->m, op) == SCATTER_ADDS)
        return there;
    ir_dim row[] = {s.dims[s.axis]};
    ir_value number = build_iota(b, 1, &s.updates, 0),
             none = build_zero(b, ir_type_tensor(b->m, DTYPE_I32, 1, row)),
             last = scattered(b, none, indices, number, 0, -1);
    return build_binary(b, GRAPH_AND, there,
                        build_compare(b, "eq", taken_at(b, last, indices, 0), number));
}

/* Updates have what their places got; x what was not put over. */
static void transpose_kept(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                           ir_value *out) {
    const ir_op_data *d = ir_op_get(b->m, op);
    const int axis = combine_shape_of(b->m, op).axis;
    if (wanted[2])
        out[2] = or_zero(b, along_updates(b, op, is_kept(b, op)),
                         taken_at(b, cotangent, d->operands[1], axis));
    if (wanted[0])
        out[0] = kind_of(b->m, op) == SCATTER_ADDS
                     ? cotangent
                     : scattered(b, cotangent, d->operands[1],
                                 build_zero(b, ir_value_get(b->m, d->operands[2])->type), axis, -1);
}

/* ---- the rule ---- */

static ir_value forward_scatter(ir_builder *b, ir_op op, const ir_value *tangents) {
    const ir_op_data *d = ir_op_get(b->m, op);
    const scatter_kind kind = kind_of(b->m, op);
    const dtype own = build_type(b, d->operands[0])->element;
    ir_value t[2];
    for (int i = 0; i < 2; i++)
        t[i] = tangents[2 * i] ? tangents[2 * i]
                               : build_zero(b, ir_value_get(b->m, d->operands[2 * i])->type);
    if (kind == SCATTER_ADDS || kind == SCATTER_SETS)
        return scattered(b, t[0], d->operands[1], t[1], combine_shape_of(b->m, op).axis,
                         kind == SCATTER_SETS ? -1 : GRAPH_ADD);
    for (int i = 0; i < 2; i++)
        t[i] = build_wide(b, t[i]);
    ir_value made = (kind == SCATTER_MULTIPLIES ? forward_product : forward_one)(b, op, t[0], t[1]);
    return build_convert(b, made, own);
}

static void transpose_scatter(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                              ir_value *out) {
    const scatter_kind kind = kind_of(b->m, op);
    const dtype own = build_type(b, cotangent)->element;
    if (kind == SCATTER_ADDS || kind == SCATTER_SETS) {
        transpose_kept(b, op, cotangent, wanted, out);
        return;
    }
    (kind == SCATTER_MULTIPLIES ? transpose_product : transpose_one)(b, op,
                                                                     build_wide(b, cotangent), out);
    for (int i = 0; i < 3; i += 2)
        out[i] = wanted[i] ? build_convert(b, out[i], own) : 0;
}

const derivative derivative_scatter = {
    .forward = forward_scatter, .transpose = transpose_scatter, .by_turns = is_by_turns};
