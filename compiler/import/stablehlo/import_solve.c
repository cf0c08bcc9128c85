/* import_solve.c - triangular systems: a row at a time, each from those before it.
 *
 * Row i of x is (b_i - the sum of a_ij x_j over the rows j before it) / a_ii. The sum is a
 * contraction in chunk512 over all j, in which what is not solved yet counts as 0. */
#include <string.h>

#include "import/stablehlo/import_factor.h"

/* a [.., n, n] and b [.., n, m] are read; x has a row more after each turn. */
static void turn(importer *im, const factor_turn *t, ir_value *next) {
    ir_value x = t->carried[0], r = t->column;
    const int rows = import_type_of(im, x)->rank - 2;
    ir_value a_row = factor_taken(im, t->whole[0], r, rows),
             b_row = factor_taken(im, t->whole[1], r, rows);
    ir_value before = factor_places(im, t->loop->descending ? "gt" : "lt", a_row, rows, r);
    ir_value coefficients = build_select(&im->b, before, a_row, import_like(im, a_row, 0));
    ir_value made = import_sub(im, b_row, factor_row_by(im, coefficients, x, false));
    if (!t->loop->unit) {
        ir_value diagonal = factor_taken(im, a_row, r, rows);
        made = import_div(im, made, build_spread(&im->b, diagonal, made, rows));
    }
    next[0] = build_select(&im->b, factor_places(im, "eq", x, rows, r),
                           build_spread(&im->b, made, x, rows), x);
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
    const bool swaps = turned == left, lower = shlo_op_int(op, "lower", 0) != swaps;
    ir_value a = factor_as_steps(im, import_operand(im, op, 0)), c = factor_as_steps(im, b), x;
    a = swaps ? factor_transposed(im, a) : a;
    c = left ? c : factor_transposed(im, c);
    const ir_type_data t = *import_type_of(im, c);
    const factor_loop loop = {.begin = {import_like(im, c, 0)},
                              .whole = {a, c},
                              .count = t.dims[t.rank - 2],
                              .descending = !lower,
                              .unit = shlo_op_int(op, "unit_diagonal", 0),
                              .turn = turn};
    factor_run(im, &loop, &x);
    results[0] = build_convert(&im->b, left ? x : factor_transposed(im, x), type.element);
    return true;
}
