/* import_solve.c - triangular systems: a row at a time, each from those before it.
 *
 * Row i of x is (b_i - the sum of a_ij x_j over the rows j before it) / a_ii. The sum is a
 * contraction in chunk512 over all j, in which what is not solved yet counts as 0. */
#include <string.h>

#include "import/stablehlo/import_complex.h"
#include "import/stablehlo/import_factor.h"

/* The parts of numbers: one of what is not complex, and 0. */
typedef struct parts {
    ir_value of[2];
} parts;

/* A row by all rows of x: of complex numbers (ac - bd, ad + bc), each a sum of its own. */
static parts row_by(importer *im, parts row, parts x) {
    parts sum = {{factor_row_by(im, row.of[0], x.of[0], false)}};
    if (!x.of[1])
        return sum;
    sum.of[0] = import_sub(im, sum.of[0], factor_row_by(im, row.of[1], x.of[1], false));
    sum.of[1] = import_add(im, factor_row_by(im, row.of[0], x.of[1], false),
                           factor_row_by(im, row.of[1], x.of[0], false));
    return sum;
}

/* made / diagonal, which is the same along the last axis. */
static parts divided(importer *im, parts made, parts diagonal, int axis) {
    for (int i = 0; i < 2 && made.of[i]; i++)
        diagonal.of[i] = build_spread(&im->b, diagonal.of[i], made.of[i], axis);
    if (!made.of[1])
        return (parts){{import_div(im, made.of[0], diagonal.of[0])}};
    const complex_value q = complex_quotient(im, (complex_value){made.of[0], made.of[1]},
                                             (complex_value){diagonal.of[0], diagonal.of[1]});
    return (parts){{q.re, q.im}};
}

/* a [.., n, n] and b [.., n, m] are read, and their imaginary parts; x has a row more after each
 * turn. */
static void turn(importer *im, const factor_turn *t, ir_value *next) {
    const parts x = {{t->carried[0], t->carried[1]}};
    const int rows = import_type_of(im, x.of[0])->rank - 2;
    parts a_row = {{0}}, b_row = {{0}}, coefficients = {{0}}, diagonal = {{0}};
    for (int i = 0; i < 2 && x.of[i]; i++) {
        a_row.of[i] = factor_taken(im, t->whole[2 * i], t->column, rows);
        b_row.of[i] = factor_taken(im, t->whole[2 * i + 1], t->column, rows);
        ir_value before =
            factor_places(im, t->loop->descending ? "gt" : "lt", a_row.of[i], rows, t->column);
        coefficients.of[i] =
            build_select(&im->b, before, a_row.of[i], import_like(im, a_row.of[i], 0));
    }
    const parts sum = row_by(im, coefficients, x);
    parts made = {{0}};
    for (int i = 0; i < 2 && x.of[i]; i++)
        made.of[i] = import_sub(im, b_row.of[i], sum.of[i]);
    for (int i = 0; i < 2 && x.of[i] && !t->loop->unit; i++)
        diagonal.of[i] = factor_taken(im, a_row.of[i], t->column, rows);
    if (!t->loop->unit)
        made = divided(im, made, diagonal, rows);
    for (int i = 0; i < 2 && x.of[i]; i++)
        next[i] = build_select(&im->b, factor_places(im, "eq", x.of[i], rows, t->column),
                               build_spread(&im->b, made.of[i], x.of[i], rows), x.of[i]);
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

static parts operand_of(const importer *im, const shlo_op *op, uint32_t i) {
    const complex_value v = complex_operand(im, op, i);
    return (parts){{v.re, v.im}};
}

static parts turned_or_not(importer *im, parts x, bool turns) {
    for (int i = 0; i < 2 && x.of[i]; i++) {
        x.of[i] = factor_as_steps(im, x.of[i]);
        x.of[i] = turns ? factor_transposed(im, x.of[i]) : x.of[i];
    }
    return x;
}

bool import_triangular_solve(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const bool left = shlo_op_int(op, "left_side", 1);
    const char *transposed = shlo_op_string(op, "transpose_a", "NO_TRANSPOSE");
    const bool turned = strcmp(transposed, "NO_TRANSPOSE") != 0;
    if (!import_takes(im, op, 2) || !fits(im, op, left))
        return false;
    const parts b = operand_of(im, op, 1);
    const ir_type_data type = *import_type_of(im, b.of[0]);
    if (graph_elements(type.rank, type.dims) == 0) {
        memcpy(results, b.of, (b.of[1] ? 2 : 1) * sizeof *results);
        return true;
    }
    /* x op(a) = b is op(a)^T x^T = b^T. */
    const bool swaps = turned == left, lower = shlo_op_int(op, "lower", 0) != swaps;
    parts a = turned_or_not(im, operand_of(im, op, 0), swaps), c = turned_or_not(im, b, !left);
    if (a.of[1] && strcmp(transposed, "ADJOINT") == 0)
        a.of[1] = import_unary(im, GRAPH_NEG, a.of[1]);
    const ir_type_data t = *import_type_of(im, c.of[0]);
    const factor_loop loop = {
        .begin = {import_like(im, c.of[0], 0), c.of[1] ? import_like(im, c.of[1], 0) : 0},
        .whole = {a.of[0], c.of[0], a.of[1], c.of[1]},
        .count = t.dims[t.rank - 2],
        .descending = !lower,
        .unit = shlo_op_int(op, "unit_diagonal", 0),
        .turn = turn};
    ir_value x[FACTOR_CARRIED];
    factor_run(im, &loop, x);
    for (int i = 0; i < 2 && c.of[i]; i++)
        results[i] = build_convert(&im->b, left ? x[i] : factor_transposed(im, x[i]), type.element);
    return true;
}
