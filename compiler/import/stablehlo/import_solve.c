/* import_solve.c - triangular systems: a row at a time, each from those before it.
 *
 * Row i of x is (b_i - the sum of a_ij x_j over the rows j before it) / a_ii. The sum is a
 * contraction in chunk512 over all j, in which what is not solved yet counts as 0. */
#include <string.h>

#include "import/stablehlo/import_factor.h"

/* a [.., n, n] and b [.., n, m] are read, and their imaginary parts; x has a row more after each
 * turn. */
static void turn(importer *im, const factor_turn *t, ir_value *next) {
    const complex_value x = {t->carried[0], t->carried[1]}, a = {t->whole[0], t->whole[2]},
                        b = {t->whole[1], t->whole[3]};
    const int rows = import_type_of(im, x.re)->rank - 2;
    const complex_value a_row = parts_taken(im, a, t->column, rows),
                        b_row = parts_taken(im, b, t->column, rows);
    ir_value before =
        factor_places(im, t->loop->descending ? "gt" : "lt", a_row.re, rows, t->column);
    const complex_value known = parts_select(im, before, a_row, parts_like(im, a_row, 0));
    complex_value made = parts_sub(im, b_row, parts_row_by(im, known, x, false));
    if (!t->loop->unit)
        made = parts_div(im, made,
                         parts_spread(im, parts_taken(im, a_row, t->column, rows), made.re, rows));
    made = parts_select(im, factor_places(im, "eq", x.re, rows, t->column),
                        parts_spread(im, made, x.re, rows), x);
    next[0] = made.re;
    next[1] = made.im;
}

static bool fits(importer *im, const shlo_op *op, bool left) {
    const ir_type_data *a = import_type_of(im, import_operand(im, op, 0)),
                       *b = import_type_of(im, import_operand(im, op, 1));
    const int last = a->rank - 1;
    bool good = import_is_complex(op->operands[0]) == import_is_complex(op->operands[1]) &&
                a->rank >= 2 && a->rank == b->rank && a->element == b->element &&
                dtype_is_float(a->element) && a->dims[last] == a->dims[last - 1] &&
                a->dims[last] == b->dims[left ? last - 1 : last];
    for (int i = 0; i < a->rank - 2 && good; i++)
        good = a->dims[i] == b->dims[i];
    return good || import_refuse(im, op, "needs floats [.., n, n] and [.., n, m], or [.., m, n]");
}

static complex_value turned_or_not(importer *im, complex_value x, bool turns) {
    x = parts_as_steps(im, x);
    return turns ? parts_transposed(im, x) : x;
}

bool import_triangular_solve(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const bool left = shlo_op_int(op, "left_side", 1);
    const char *transposed = shlo_op_string(op, "transpose_a", "NO_TRANSPOSE");
    const bool turned = strcmp(transposed, "NO_TRANSPOSE") != 0;
    if (!import_takes(im, op, 2) || !fits(im, op, left))
        return false;
    const complex_value b = complex_operand(im, op, 1);
    const ir_type_data type = *import_type_of(im, b.re);
    if (graph_elements(type.rank, type.dims) == 0) {
        results[0] = b.re;
        results[1] = b.im;
        return true;
    }
    /* x op(a) = b is op(a)^T x^T = b^T. */
    const bool swaps = turned == left, lower = shlo_op_int(op, "lower", 0) != swaps;
    complex_value a = turned_or_not(im, complex_operand(im, op, 0), swaps),
                  c = turned_or_not(im, b, !left), begin = parts_like(im, c, 0);
    if (strcmp(transposed, "ADJOINT") == 0)
        a = parts_conjugate(im, a);
    const ir_type_data t = *import_type_of(im, c.re);
    const factor_loop loop = {.begin = {begin.re, begin.im},
                              .whole = {a.re, c.re, a.im, c.im},
                              .count = t.dims[t.rank - 2],
                              .descending = !lower,
                              .unit = shlo_op_int(op, "unit_diagonal", 0),
                              .turn = turn};
    ir_value made[FACTOR_CARRIED] = {0};
    factor_run(im, &loop, made);
    complex_value x = {made[0], made[1]};
    x = parts_converted(im, left ? x : parts_transposed(im, x), type.element);
    results[0] = x.re;
    results[1] = x.im;
    return true;
}
