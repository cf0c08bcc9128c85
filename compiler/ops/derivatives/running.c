/* running.c - derivatives of running sums, products, maxima and minima along an axis.
 *
 * Each place makes y[i] of y[i - 1] and x[i], so tangents go from place to place by
 * z[i] = a[i] * z[i - 1] + t[i] * g[i], and cotangents back by the same factors: products need no
 * division, and zeros are right. */
#include <string.h>

#include "ops/combiner.h"
#include "ops/control.h"
#include "ops/derivatives/derivative.h"

static bool is_sum(const ir_module *m, ir_op op) {
    return strcmp(ir_op_string(m, op, "kind", "sum"), "sum") == 0;
}

/* z[i] = a[i] * z[i - 1] + s[i], from 0 on. */
static ir_value recurrence(ir_builder *b, ir_value a, ir_value s, int axis) {
    ir_value parts[] = {0, build_moved(b, a, axis, 0), build_moved(b, s, axis, 0)};
    const ir_type_data t = *build_type(b, parts[1]);
    const ir_type part = control_part_type(b->m, parts[1]);
    ir_builder inner;
    parts[0] = build_zero(b, part);
    const turn_loop all = {parts, 3, 1, &part, 1, t.dims[0]};
    ir_op loop = build_turns(b, &all, &inner);
    const ir_value *in = ir_block_get(b->m, ir_op_block(b->m, loop, 0))->arguments;
    ir_value z = build_binary(&inner, GRAPH_MUL, in[2], in[1]);
    z = build_binary(&inner, GRAPH_ADD, z, in[3]);
    build_next(&inner, (ir_value[]){z, z}, 2);
    return build_moved(b, ir_op_result(b->m, loop, 1), 0, axis);
}

/* ---- one place ---- */

typedef struct running {
    ir_value place; /* along the axis, in the shape of x */
    ir_value x, y;
    ir_value kept, given; /* the factors a and g */
    int axis;
} running;

/* Elements `step` places further on; at an end any. */
static ir_value moved_by(ir_builder *b, const running *r, ir_value x, int32_t step) {
    const ir_dim length = build_type(b, x)->dims[r->axis];
    ir_value place = build_iota(b, 1, &length, 0);
    return build_gather(b, x, build_binary(b, GRAPH_ADD, place, build_i32(b, step, place)), r->axis,
                        0);
}

/* `first` at the first place. */
static ir_value from_second(ir_builder *b, const running *r, double first, ir_value x) {
    ir_value is = build_compare(b, "eq", r->place, build_i32(b, 0, r->place));
    return build_select(b, is, build_number(b, first, x), x);
}

/* The factor by which maximum and minimum of x and another multiply the tangent of x. */
static ir_value share(ir_builder *b, const running *r, ir_value x, ir_value other) {
    ir_value one = build_number(b, 1, x), zero = build_number(b, 0, x),
             alone = build_select(b, build_compare(b, "eq", x, r->y), one, zero);
    return build_select(b, build_compare(b, "eq", x, other), build_number(b, 0.5, x), alone);
}

static running open_running(ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    running r = {.x = build_wide(b, d->operands[0]),
                 .y = build_wide(b, d->results[0]),
                 .axis = (int)ir_op_int(b->m, op, "axis", 0)};
    const ir_type_data t = *build_type(b, r.x);
    r.place = build_iota(b, t.rank, t.dims, r.axis);
    ir_value before = moved_by(b, &r, r.y, -1);
    const bool prod = strcmp(ir_op_string(b->m, op, "kind", "sum"), "prod") == 0;
    r.kept = from_second(b, &r, 0, prod ? r.x : share(b, &r, before, r.x));
    r.given = from_second(b, &r, 1, prod ? before : share(b, &r, r.x, before));
    return r;
}

/* ---- the rule ---- */

static ir_value forward_cumsum(ir_builder *b, ir_op op, const ir_value *tangents) {
    const dtype own = build_type(b, tangents[0])->element;
    if (is_sum(b->m, op))
        return build_again(b, op, tangents);
    running r = open_running(b, op);
    ir_value t = build_binary(b, GRAPH_MUL, build_wide(b, tangents[0]), r.given);
    return build_convert(b, recurrence(b, r.kept, t, r.axis), own);
}

/* Running sums from behind. */
static ir_value sums_from_behind(ir_builder *b, ir_op op, ir_value cotangent, int axis) {
    ir_value back = build_turned(b, cotangent, axis);
    return build_turned(b, build_again(b, op, &back), axis);
}

static void transpose_cumsum(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                             ir_value *out) {
    (void)wanted;
    const int axis = (int)ir_op_int(b->m, op, "axis", 0);
    const dtype own = build_type(b, cotangent)->element;
    if (is_sum(b->m, op)) {
        out[0] = sums_from_behind(b, op, cotangent, axis);
        return;
    }
    running r = open_running(b, op);
    ir_value behind = moved_by(b, &r, r.kept, 1),
             last = build_binary(
                 b, GRAPH_SUB, build_extent(b, build_type(b, r.x)->dims[axis], DTYPE_I32, r.place),
                 build_i32(b, 1, r.place));
    behind =
        build_select(b, build_compare(b, "eq", r.place, last), build_number(b, 0, behind), behind);
    ir_value back = recurrence(b, build_turned(b, behind, axis),
                               build_turned(b, build_wide(b, cotangent), axis), axis);
    out[0] =
        build_convert(b, build_binary(b, GRAPH_MUL, build_turned(b, back, axis), r.given), own);
}

const derivative derivative_cumsum = {.forward = forward_cumsum, .transpose = transpose_cumsum};
