/* import_factor.c - factorisations of matrices, a column at a time: Cholesky's, and Householder's
 * of a product of reflectors and a triangle (G. Golub, C. Van Loan, Matrix Computations, 4.2.5 and
 * 5.2).
 *
 * Each column is one turn of a loop whose sums are contractions in chunk512, over all rows or
 * columns, in which what does not belong to it counts as 0. Narrow floats are factored as f32. */
#include <string.h>

#include "import/stablehlo/import_factor.h"

static uint32_t row_of(const ir_value *list, int most, ir_value *out) {
    uint32_t n = 0;
    for (int i = 0; i < most && list[i]; i++)
        out[n++] = list[i];
    return n;
}

void factor_run(importer *im, const factor_loop *l, ir_value *results) {
    ir_value operands[FACTOR_CARRIED + FACTOR_READ];
    ir_type types[FACTOR_CARRIED];
    const uint32_t carried = row_of(l->begin, FACTOR_CARRIED, operands),
                   count = carried + row_of(l->whole, FACTOR_READ, operands + carried);
    for (uint32_t i = 0; i < carried; i++)
        types[i] = ir_value_get(im->m, operands[i])->type;
    ir_op loop = control_build_loop(&im->b, &(loop_request){.operands = operands,
                                                            .results = types,
                                                            .operand_count = count,
                                                            .result_count = carried,
                                                            .carried = carried,
                                                            .count = l->count});
    const ir_builder around = im->b;
    im->b.block = ir_op_block(im->m, loop, 0);
    im->b.before = 0;
    factor_turn t = {.loop = l,
                     .column = ir_block_add_argument(
                         im->m, im->b.block, ir_type_tensor(im->m, DTYPE_I32, 0, NULL), NULL)};
    for (uint32_t i = 0; i < count; i++)
        *(i < carried ? &t.carried[i] : &t.whole[i - carried]) =
            ir_block_add_argument(im->m, im->b.block, ir_value_get(im->m, operands[i])->type, NULL);
    if (l->descending)
        t.column = import_sub(im, import_number(im, DTYPE_I32, (double)l->count - 1), t.column);
    ir_value next[FACTOR_CARRIED] = {0};
    l->turn(im, &t, next);
    build_next(&im->b, next, carried);
    im->b = around;
    for (uint32_t i = 0; i < carried; i++)
        results[i] = ir_op_result(im->m, loop, i);
}

/* ---- steps ---- */

static int rank_of(const importer *im, ir_value x) {
    return import_type_of(im, x)->rank;
}

ir_value factor_taken(importer *im, ir_value x, ir_value at, int axis) {
    return build_gather(&im->b, x, at, axis, 0);
}

ir_value factor_places(importer *im, const char *predicate, ir_value like, int axis, ir_value at) {
    const ir_type_data t = *import_type_of(im, like);
    return import_is(im, predicate, build_iota(&im->b, t.rank, t.dims, axis),
                     import_spread(im, at, t.rank, t.dims));
}

/* x [..] repeated along a last axis of `like`. */
static ir_value along(importer *im, ir_value x, ir_value like) {
    return build_spread(&im->b, x, like, rank_of(im, like) - 1);
}

ir_value factor_row_by(importer *im, ir_value x, ir_value y, bool turned) {
    const int rank = rank_of(im, y), batch = rank - 2;
    dot_axes axes = {.x = {batch}, .contracted = 1, .batch = (uint32_t)batch};
    axes.y[0] = turned ? rank - 1 : rank - 2;
    for (int i = 0; i < batch; i++)
        axes.x_batch[i] = axes.y_batch[i] = i;
    return build_dot(&im->b, x, y, &axes);
}

/* x [.., m] y [.., n] as [.., m, n] */
static complex_value outer(importer *im, complex_value x, complex_value y, ir_value like) {
    const int rank = rank_of(im, like);
    return parts_mul(im, parts_spread(im, x, like, rank - 1), parts_spread(im, y, like, rank - 2));
}

/* `x` with this column [.., m] in the place of one. */
static complex_value with_column(importer *im, complex_value x, ir_value at, complex_value column) {
    const int rank = rank_of(im, x.re);
    return parts_select(im, factor_places(im, "eq", x.re, rank - 1, at),
                        parts_spread(im, column, x.re, rank - 1), x);
}

ir_value factor_as_steps(importer *im, ir_value x) {
    const dtype t = import_type_of(im, x)->element;
    return build_convert(&im->b, x, dtype_is_narrow(t) ? DTYPE_F32 : t);
}

ir_value factor_unit(importer *im, ir_value like) {
    const ir_type_data t = *import_type_of(im, like);
    ir_value row = build_iota(&im->b, t.rank, t.dims, t.rank - 2),
             column = build_iota(&im->b, t.rank, t.dims, t.rank - 1);
    return build_select(&im->b, import_is(im, "eq", row, column), import_like(im, like, 1),
                        import_like(im, like, 0));
}

/* ---- Cholesky ---- */

/* Column j of l: (a_ij - the sum of l_ik l_jk over k < j) / l_jj; columns that are not made yet are
 * 0. Of complex numbers it is the conjugate of l_jk, and the diagonal is real. */
static void cholesky_turn(importer *im, const factor_turn *t, ir_value *next) {
    const complex_value l = {t->carried[0], t->carried[1]}, a = {t->whole[0], t->whole[1]};
    ir_value j = t->column;
    const int rank = rank_of(im, l.re);
    const complex_value row = parts_conjugate(im, parts_taken(im, l, j, rank - 2));
    const complex_value rest =
        parts_sub(im, parts_taken(im, a, j, rank - 1), parts_row_by(im, row, l, true));
    ir_value root = import_unary(im, GRAPH_SQRT, factor_taken(im, rest.re, j, rank - 2));
    complex_value column = {import_div(im, rest.re, along(im, root, rest.re)), 0},
                  diagonal = {along(im, root, column.re), 0};
    if (rest.im) {
        column.im = import_div(im, rest.im, along(im, root, rest.im));
        diagonal.im = import_like(im, column.im, 0);
    }
    column = parts_select(im, factor_places(im, "eq", column.re, rank - 2, j), diagonal, column);
    column = parts_select(im, factor_places(im, "ge", column.re, rank - 2, j), column,
                          parts_like(im, column, 0));
    const complex_value made = with_column(im, l, j, column);
    next[0] = made.re;
    next[1] = made.im;
}

static bool square(importer *im, const shlo_op *op) {
    const ir_type_data *t = import_type_of(im, import_operand(im, op, 0));
    return (t->rank >= 2 && dtype_is_float(t->element) &&
            t->dims[t->rank - 1] == t->dims[t->rank - 2]) ||
           import_refuse(im, op, "needs floats [.., n, n]");
}

ir_value factor_transposed(importer *im, ir_value x) {
    const int rank = rank_of(im, x);
    return build_moved(&im->b, x, rank - 1, rank - 2);
}

/* NaN in the place of matrices whose factor has a diagonal that is not positive. */
static complex_value where_definite(importer *im, complex_value l) {
    const ir_type_data t = *import_type_of(im, l.re);
    ir_value positive = import_is(im, "gt", l.re, import_like(im, l.re, 0)),
             diagonal = import_is(im, "gt", factor_unit(im, l.re), import_like(im, l.re, 0));
    ir_value bad = import_binary(im, GRAPH_AND, diagonal, build_unary(&im->b, GRAPH_NOT, positive));
    bad = build_convert(&im->b, bad, DTYPE_I32);
    bad = build_reduce(&im->b, "max", build_reduce(&im->b, "max", bad, t.rank - 1), t.rank - 2);
    int64_t batch[IR_MAX_RANK];
    for (int i = 0; i < t.rank - 2; i++)
        batch[i] = i;
    bad = build_broadcast(&im->b, bad, t.rank, t.dims, batch);
    ir_value nan = import_like(im, l.re, __builtin_nan(""));
    return parts_select(im, import_is(im, "gt", bad, import_like(im, bad, 0)),
                        (complex_value){nan, l.im ? nan : 0}, l);
}

/* The conjugate, too, of a complex matrix. */
static complex_value adjoint(importer *im, complex_value x) {
    return parts_transposed(im, parts_conjugate(im, x));
}

/* A matrix that is not positive definite has no such factor: it gives NaN. */
bool import_cholesky(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 1) || !square(im, op))
        return false;
    const bool lower = shlo_op_int(op, "lower", 0);
    complex_value a = complex_operand(im, op, 0);
    const ir_type_data t = *import_type_of(im, a.re);
    if (graph_elements(t.rank, t.dims) > 0) {
        const complex_value x = parts_as_steps(im, lower ? a : adjoint(im, a)),
                            begin = parts_like(im, x, 0);
        const factor_loop loop = {.begin = {begin.re, begin.im},
                                  .whole = {x.re, x.im},
                                  .count = t.dims[t.rank - 1],
                                  .turn = cholesky_turn};
        ir_value made[FACTOR_CARRIED] = {0};
        factor_run(im, &loop, made);
        const complex_value l = where_definite(im, (complex_value){made[0], made[1]});
        a = parts_converted(im, lower ? l : adjoint(im, l), t.element);
    }
    results[0] = a.re;
    results[1] = a.im;
    return true;
}

/* ---- Householder ---- */

/* The reflector of column j, 1 - tau v v^T, which makes beta of its part from j on: v_j is 1, what
 * is above is 0. One that is 0 below j stays, with tau 0. Of complex numbers v^T is the adjoint,
 * the conjugate of tau makes beta, which is real, and the column stays where its place j is real,
 * too. */
typedef struct reflector {
    complex_value v, tau;
    ir_value beta;
} reflector;

/* The sum of |x|^2 along the last axis: of each part by itself. */
static ir_value squares(importer *im, complex_value x) {
    const int axis = rank_of(im, x.re) - 1;
    dot_axes axes = {.x = {axis}, .y = {axis}, .contracted = 1, .batch = (uint32_t)axis};
    for (int i = 0; i < axis; i++)
        axes.x_batch[i] = axes.y_batch[i] = i;
    ir_value sum = build_dot(&im->b, x.re, x.re, &axes);
    return x.im ? import_add(im, sum, build_dot(&im->b, x.im, x.im, &axes)) : sum;
}

static ir_value square_of(importer *im, complex_value x) {
    ir_value square = import_mul(im, x.re, x.re);
    return x.im ? import_add(im, square, import_mul(im, x.im, x.im)) : square;
}

static reflector reflect(importer *im, complex_value column, ir_value j) {
    const int axis = rank_of(im, column.re) - 1;
    ir_value below = factor_places(im, "gt", column.re, axis, j),
             at = factor_places(im, "eq", column.re, axis, j);
    const complex_value rest = parts_select(im, below, column, parts_like(im, column, 0)),
                        alpha = parts_taken(im, column, j, axis), one = parts_like(im, alpha, 1);
    ir_value sum = squares(im, rest), zero = import_like(im, alpha.re, 0);
    ir_value norm = import_unary(im, GRAPH_SQRT, import_add(im, square_of(im, alpha), sum));
    ir_value none = import_is(im, "eq", sum, zero);
    if (alpha.im)
        none = import_binary(im, GRAPH_AND, none, import_is(im, "eq", alpha.im, zero));
    ir_value beta = build_select(&im->b, import_is(im, "lt", alpha.re, zero), norm,
                                 import_unary(im, GRAPH_NEG, norm));
    beta = build_select(&im->b, none, alpha.re, beta);
    ir_value safe = build_select(&im->b, none, one.re, beta);
    complex_value tau = {import_div(im, import_sub(im, beta, alpha.re), safe), 0};
    if (alpha.im)
        tau.im = import_div(im, import_sub(im, zero, alpha.im), safe);
    const complex_value less = {import_sub(im, alpha.re, beta), alpha.im},
                        by = parts_select(im, none, one, less);
    const complex_value v = parts_div(im, rest, parts_spread(im, by, rest.re, axis));
    return (reflector){parts_select(im, at, parts_like(im, v, 1), v), tau, beta};
}

/* x - tau v (v^T x) */
static complex_value reflected(importer *im, complex_value x, complex_value v, complex_value tau) {
    const complex_value w = parts_row_by(im, parts_conjugate(im, v), x, false);
    const complex_value by = parts_mul(im, parts_spread(im, tau, w.re, rank_of(im, w.re) - 1), w);
    return parts_sub(im, x, outer(im, v, by, x.re));
}

/* a: the triangle, and below it the reflectors without their 1; taus: one a reflector. */
static void qr_turn(importer *im, const factor_turn *t, ir_value *next) {
    const complex_value a = {t->carried[0], t->carried[2]}, taus = {t->carried[1], t->carried[3]};
    ir_value j = t->column;
    const int rank = rank_of(im, a.re), rows = rank - 2;
    const complex_value column = parts_taken(im, a, j, rank - 1);
    const reflector r = reflect(im, column, j);
    ir_value right = factor_places(im, "gt", a.re, rank - 1, j);
    const complex_value after =
        parts_select(im, right, reflected(im, a, r.v, parts_conjugate(im, r.tau)), a);
    complex_value own = parts_select(im, factor_places(im, "gt", column.re, rows, j), r.v, column);
    const complex_value beta = {along(im, r.beta, own.re), own.im ? import_like(im, own.im, 0) : 0};
    own = parts_select(im, factor_places(im, "eq", column.re, rows, j), beta, own);
    const complex_value made = with_column(im, after, j, own),
                        list = parts_select(im, factor_places(im, "eq", taus.re, rows, j),
                                            parts_spread(im, r.tau, taus.re, rows), taus);
    next[0] = made.re;
    next[1] = list.re;
    next[2] = made.im;
    next[3] = list.im;
}

static bool is_matrix(const ir_type_data *t) {
    return t->rank >= 2 && dtype_is_float(t->element) && graph_elements(t->rank, t->dims) > 0;
}

/* "Qr", as XLA names it: of a [.., m, n] the reflectors and the triangle, and taus [.., k]. */
bool import_qr(importer *im, const shlo_op *op, ir_value *results) {
    if (op->operand_count != 1 || op->result_count != 2 ||
        !is_matrix(import_type_of(im, import_operand(im, op, 0))))
        return import_refuse(im, op, "Qr needs floats [.., m, n], and gives two tensors");
    const complex_value a = complex_operand(im, op, 0), x = parts_as_steps(im, a);
    const dtype element = import_type_of(im, a.re)->element;
    ir_type_data t = *import_type_of(im, x.re);
    const ir_dim m = t.dims[t.rank - 2], n = t.dims[t.rank - 1];
    t.dims[t.rank - 2] = m < n ? m : n;
    ir_value taus = import_spread(im, import_number(im, t.element, 0), t.rank - 1, t.dims);
    const factor_loop loop = {
        .begin = {x.re, taus, x.im, x.im ? taus : 0}, .count = t.dims[t.rank - 2], .turn = qr_turn};
    factor_run(im, &loop, results);
    for (int i = 0; i < (x.im ? 4 : 2); i++)
        results[i] = build_convert(&im->b, results[i], element);
    return true;
}

/* q [.., m, n] before reflector j: a's column below j, and 1 there. */
static void product_turn(importer *im, const factor_turn *t, ir_value *next) {
    const complex_value a = {t->whole[0], t->whole[2]}, taus = {t->whole[1], t->whole[3]},
                        q = {t->carried[0], t->carried[1]};
    ir_value j = t->column;
    const int rank = rank_of(im, a.re);
    complex_value v = parts_taken(im, a, j, rank - 1);
    v = parts_select(im, factor_places(im, "gt", v.re, rank - 2, j), v, parts_like(im, v, 0));
    v = parts_select(im, factor_places(im, "eq", v.re, rank - 2, j), parts_like(im, v, 1), v);
    const complex_value made = reflected(im, q, v, parts_taken(im, taus, j, rank - 2));
    next[0] = made.re;
    next[1] = made.im;
}

/* "ProductOfElementaryHouseholderReflectors": the first n columns of their product. */
bool import_reflectors(importer *im, const shlo_op *op, ir_value *results) {
    const ir_type_data *a = op->operand_count == 2 ? import_type_of(im, import_operand(im, op, 0))
                                                   : NULL,
                       *taus = a ? import_type_of(im, import_operand(im, op, 1)) : NULL;
    bool good = a && op->result_count == 1 && is_matrix(a) && taus->rank == a->rank - 1 &&
                taus->element == a->element && taus->dims[taus->rank - 1] <= a->dims[a->rank - 1] &&
                import_is_complex(op->operands[0]) == import_is_complex(op->operands[1]);
    for (int i = 0; good && i < a->rank - 2; i++)
        good = a->dims[i] == taus->dims[i];
    if (!good)
        return import_refuse(im, op, "needs floats [.., m, n] and [.., k]");
    const dtype element = a->element;
    const ir_dim count = taus->dims[taus->rank - 1];
    const complex_value x = parts_as_steps(im, complex_operand(im, op, 0)),
                        by = parts_as_steps(im, complex_operand(im, op, 1));
    ir_value unit = factor_unit(im, x.re);
    const factor_loop loop = {.begin = {unit, x.im ? import_like(im, x.im, 0) : 0},
                              .whole = {x.re, by.re, x.im, by.im},
                              .count = count,
                              .descending = true,
                              .turn = product_turn};
    factor_run(im, &loop, results);
    for (int i = 0; i < (x.im ? 2 : 1); i++)
        results[i] = build_convert(&im->b, results[i], element);
    return true;
}
