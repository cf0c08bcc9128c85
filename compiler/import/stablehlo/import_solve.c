/* import_solve.c - triangular systems: a row at a time, each from those before it.
 *
 * Row i of x is (b_i - the sum of a_ij x_j over the rows j before it) / a_ii. The sum is a
 * contraction in chunk512 over all j, in which what is not solved yet counts as 0. */
#include <string.h>

#include "import/stablehlo/import.h"

/* a [.., n, n] and b [.., n, m], solved for x from the left. */
typedef struct triangle {
    ir_value a, b;
    bool lower, unit;
} triangle;

static ir_value swapped(importer *im, ir_value x) {
    int64_t order[IR_MAX_RANK];
    const int rank = import_type_of(im, x)->rank;
    for (int i = 0; i < rank; i++)
        order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return build_transpose(&im->b, x, order);
}

/* Row `r` along an axis, which goes. */
static ir_value row(importer *im, ir_value x, ir_value r, int axis) {
    return build_gather(&im->b, x, r, axis, 0);
}

/* r in the shape of the indices along an axis: these, compared with it. */
static ir_value places_are(importer *im, const char *predicate, ir_value like, int axis,
                           ir_value r) {
    const ir_type_data t = *import_type_of(im, like);
    ir_value places = build_iota(&im->b, t.rank, t.dims, axis);
    return import_is(im, predicate, places, import_spread(im, r, t.rank, t.dims));
}

/* The sum of a row's products with what is solved: [.., n] by [.., n, m]. */
static ir_value solved_part(importer *im, ir_value coefficients, ir_value x) {
    const int rank = import_type_of(im, x)->rank;
    dot_axes axes = {
        .x = {rank - 2}, .y = {rank - 2}, .contracted = 1, .batch = (uint32_t)rank - 2};
    for (int i = 0; i < rank - 2; i++)
        axes.x_batch[i] = axes.y_batch[i] = i;
    return build_dot(&im->b, coefficients, x, &axes);
}

/* One turn: the values that the block of the loop begins with; x with one row more. */
static ir_value turn(importer *im, const triangle *t, ir_value x, ir_value r) {
    const int rank = import_type_of(im, x)->rank;
    ir_value a_row = row(im, t->a, r, rank - 2), b_row = row(im, t->b, r, rank - 2);
    ir_value before = places_are(im, t->lower ? "lt" : "gt", a_row, rank - 2, r);
    ir_value coefficients = build_select(&im->b, before, a_row, import_like(im, a_row, 0));
    ir_value sum = solved_part(im, coefficients, x);
    ir_value made = import_sub(im, b_row, sum);
    if (!t->unit) {
        const ir_type_data m = *import_type_of(im, made);
        int64_t axes[IR_MAX_RANK];
        for (int i = 0; i < rank; i++)
            axes[i] = i;
        ir_value diagonal = row(im, a_row, r, rank - 2);
        made = import_div(im, made, build_broadcast(&im->b, diagonal, m.rank, m.dims, axes));
    }
    return build_select(&im->b, places_are(im, "eq", x, rank - 2, r),
                        build_spread(&im->b, made, x, rank - 2), x);
}

static ir_value solved(importer *im, const triangle *t) {
    const ir_type_data type = *import_type_of(im, t->b);
    const ir_dim n = type.dims[type.rank - 2];
    ir_value zero = import_like(im, t->b, 0), operands[] = {zero, t->a, t->b};
    ir_type result = ir_value_get(im->m, zero)->type;
    ir_op loop = control_build_loop(&im->b, &(loop_request){.operands = operands,
                                                            .results = &result,
                                                            .operand_count = 3,
                                                            .result_count = 1,
                                                            .carried = 1,
                                                            .count = n});
    const ir_builder around = im->b;
    im->b.block = ir_op_block(im->m, loop, 0);
    im->b.before = 0;
    triangle inner = *t;
    ir_value r =
        ir_block_add_argument(im->m, im->b.block, ir_type_tensor(im->m, DTYPE_I32, 0, NULL), NULL);
    ir_value x = ir_block_add_argument(im->m, im->b.block, result, NULL);
    inner.a = ir_block_add_argument(im->m, im->b.block, ir_value_get(im->m, t->a)->type, NULL);
    inner.b = ir_block_add_argument(im->m, im->b.block, result, NULL);
    if (!t->lower)
        r = import_sub(im, import_number(im, DTYPE_I32, (double)n - 1), r);
    ir_value next = turn(im, &inner, x, r);
    build_next(&im->b, &next, 1);
    im->b = around;
    return ir_op_result(im->m, loop, 0);
}

static bool fits(importer *im, const shlo_op *op, bool left) {
    const ir_type_data *a = import_type_of(im, import_operand(im, op, 0)),
                       *b = import_type_of(im, import_operand(im, op, 1));
    const int last = a->rank - 1;
    bool good = a->rank >= 2 && a->rank == b->rank && a->element == b->element &&
                dtype_is_float(a->element) && a->dims[last] == a->dims[last - 1] &&
                a->dims[last] == b->dims[left ? last - 1 : last];
    for (int i = 0; i < a->rank - 2 && good; i++)
        good = a->dims[i] == b->dims[i];
    return good || import_refuse(im, op, "needs floats [.., n, n] and [.., n, m], or [.., m, n]");
}

bool import_triangular_solve(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const bool left = shlo_op_int(op, "left_side", 1);
    const bool turned = strcmp(shlo_op_string(op, "transpose_a", "NO_TRANSPOSE"), "NO_TRANSPOSE");
    if (!import_takes(im, op, 2) || !fits(im, op, left))
        return false;
    ir_value b = import_operand(im, op, 1);
    const ir_type_data type = *import_type_of(im, b);
    if (graph_elements(type.rank, type.dims) == 0) {
        results[0] = b;
        return true;
    }
    /* x op(a) = b is op(a)^T x^T = b^T. */
    const bool swaps = turned == left;
    const dtype steps = dtype_is_narrow(type.element) ? DTYPE_F32 : type.element;
    triangle t = {.a = build_convert(&im->b, import_operand(im, op, 0), steps),
                  .b = build_convert(&im->b, b, steps),
                  .lower = shlo_op_int(op, "lower", 0) != swaps,
                  .unit = shlo_op_int(op, "unit_diagonal", 0)};
    if (swaps)
        t.a = swapped(im, t.a);
    if (!left)
        t.b = swapped(im, t.b);
    ir_value x = solved(im, &t);
    results[0] = build_convert(&im->b, left ? x : swapped(im, x), type.element);
    return true;
}
