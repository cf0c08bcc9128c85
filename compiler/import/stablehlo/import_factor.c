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

static ir_value select_or_zero(importer *im, ir_value where, ir_value x) {
    return build_select(&im->b, where, x, import_like(im, x, 0));
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
static ir_value outer(importer *im, ir_value x, ir_value y, ir_value like) {
    const int rank = rank_of(im, like);
    return import_mul(im, build_spread(&im->b, x, like, rank - 1),
                      build_spread(&im->b, y, like, rank - 2));
}

/* `x` with this column [.., m] in the place of one. */
static ir_value with_column(importer *im, ir_value x, ir_value at, ir_value column) {
    const int rank = rank_of(im, x);
    return build_select(&im->b, factor_places(im, "eq", x, rank - 1, at),
                        build_spread(&im->b, column, x, rank - 1), x);
}

ir_value factor_as_steps(importer *im, ir_value x) {
    const dtype t = import_type_of(im, x)->element;
    return build_convert(&im->b, x, dtype_is_narrow(t) ? DTYPE_F32 : t);
}

ir_value factor_unit(importer *im, ir_value like) {
    const ir_type_data t = *import_type_of(im, like);
    ir_value row = build_iota(&im->b, t.rank, t.dims, t.rank - 2),
             column = build_iota(&im->b, t.rank, t.dims, t.rank - 1);
    return select_or_zero(im, import_is(im, "eq", row, column), import_like(im, like, 1));
}

/* ---- Cholesky ---- */

/* Column j of l: (a_ij - the sum of l_ik l_jk over k < j) / l_jj; columns that are not made yet are
 * 0. */
static void cholesky_turn(importer *im, const factor_turn *t, ir_value *next) {
    ir_value l = t->carried[0], j = t->column;
    const int rank = rank_of(im, l);
    ir_value rest = import_sub(im, factor_taken(im, t->whole[0], j, rank - 1),
                               factor_row_by(im, factor_taken(im, l, j, rank - 2), l, true));
    ir_value root = import_unary(im, GRAPH_SQRT, factor_taken(im, rest, j, rank - 2));
    ir_value column = import_div(im, rest, along(im, root, rest));
    column = build_select(&im->b, factor_places(im, "eq", column, rank - 2, j),
                          along(im, root, column), column);
    column = select_or_zero(im, factor_places(im, "ge", column, rank - 2, j), column);
    next[0] = with_column(im, l, j, column);
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
static ir_value where_definite(importer *im, ir_value l) {
    const ir_type_data t = *import_type_of(im, l);
    ir_value positive = import_is(im, "gt", l, import_like(im, l, 0)),
             diagonal = import_is(im, "gt", factor_unit(im, l), import_like(im, l, 0));
    ir_value bad = import_binary(im, GRAPH_AND, diagonal, build_unary(&im->b, GRAPH_NOT, positive));
    bad = build_convert(&im->b, bad, DTYPE_I32);
    bad = build_reduce(&im->b, "max", build_reduce(&im->b, "max", bad, t.rank - 1), t.rank - 2);
    int64_t batch[IR_MAX_RANK];
    for (int i = 0; i < t.rank - 2; i++)
        batch[i] = i;
    bad = build_broadcast(&im->b, bad, t.rank, t.dims, batch);
    return build_select(&im->b, import_is(im, "gt", bad, import_like(im, bad, 0)),
                        import_like(im, l, __builtin_nan("")), l);
}

/* A matrix that is not positive definite has no such factor: it gives NaN. */
bool import_cholesky(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 1) || !square(im, op))
        return false;
    const bool lower = shlo_op_int(op, "lower", 0);
    ir_value a = import_operand(im, op, 0);
    const ir_type_data t = *import_type_of(im, a);
    ir_value x = factor_as_steps(im, lower ? a : factor_transposed(im, a)), l = a;
    const factor_loop loop = {.begin = {import_like(im, x, 0)},
                              .whole = {x},
                              .count = t.dims[t.rank - 1],
                              .turn = cholesky_turn};
    if (graph_elements(t.rank, t.dims) > 0) {
        factor_run(im, &loop, &l);
        l = where_definite(im, l);
        l = build_convert(&im->b, lower ? l : factor_transposed(im, l), t.element);
    }
    results[0] = l;
    return true;
}

/* ---- Householder ---- */

/* The reflector of column j, 1 - tau v v^T, which makes beta of its part from j on: v_j is 1, what
 * is above is 0. One that is 0 below j stays, with tau 0. */
typedef struct reflector {
    ir_value v, tau, beta;
} reflector;

static reflector reflect(importer *im, ir_value column, ir_value j) {
    const int axis = rank_of(im, column) - 1;
    ir_value below = factor_places(im, "gt", column, axis, j),
             at = factor_places(im, "eq", column, axis, j);
    ir_value rest = select_or_zero(im, below, column), alpha = factor_taken(im, column, j, axis);
    dot_axes axes = {.x = {axis}, .y = {axis}, .contracted = 1, .batch = (uint32_t)axis};
    for (int i = 0; i < axis; i++)
        axes.x_batch[i] = axes.y_batch[i] = i;
    ir_value sum = build_dot(&im->b, rest, rest, &axes), zero = import_like(im, alpha, 0);
    ir_value norm = import_unary(im, GRAPH_SQRT, import_add(im, import_mul(im, alpha, alpha), sum));
    ir_value none = import_is(im, "eq", sum, zero), one = import_like(im, alpha, 1);
    ir_value beta = build_select(&im->b, import_is(im, "lt", alpha, zero), norm,
                                 import_unary(im, GRAPH_NEG, norm));
    beta = build_select(&im->b, none, alpha, beta);
    ir_value safe = build_select(&im->b, none, one, beta);
    ir_value tau = import_div(im, import_sub(im, beta, alpha), safe);
    ir_value by = build_select(&im->b, none, one, import_sub(im, alpha, beta));
    ir_value v = import_div(im, rest, along(im, by, rest));
    v = build_select(&im->b, at, import_like(im, v, 1), v);
    return (reflector){v, tau, beta};
}

/* x - tau v (v^T x) */
static ir_value reflected(importer *im, ir_value x, ir_value v, ir_value tau) {
    ir_value w = factor_row_by(im, v, x, false);
    return import_sub(im, x, outer(im, v, import_mul(im, along(im, tau, w), w), x));
}

/* a: the triangle, and below it the reflectors without their 1; taus: one a reflector. */
static void qr_turn(importer *im, const factor_turn *t, ir_value *next) {
    ir_value a = t->carried[0], j = t->column;
    const int rank = rank_of(im, a), rows = rank - 2;
    ir_value column = factor_taken(im, a, j, rank - 1);
    const reflector r = reflect(im, column, j);
    ir_value right = factor_places(im, "gt", a, rank - 1, j);
    ir_value after = build_select(&im->b, right, reflected(im, a, r.v, r.tau), a);
    ir_value own = build_select(&im->b, factor_places(im, "gt", column, rows, j), r.v, column);
    own =
        build_select(&im->b, factor_places(im, "eq", column, rows, j), along(im, r.beta, own), own);
    next[0] = with_column(im, after, j, own);
    ir_value taus = t->carried[1];
    next[1] =
        build_select(&im->b, factor_places(im, "eq", taus, rows, j), along(im, r.tau, taus), taus);
}

static bool is_matrix(const ir_type_data *t) {
    return t->rank >= 2 && dtype_is_float(t->element) && graph_elements(t->rank, t->dims) > 0;
}

/* "Qr", as XLA names it: of a [.., m, n] the reflectors and the triangle, and taus [.., k]. */
bool import_qr(importer *im, const shlo_op *op, ir_value *results) {
    if (op->operand_count != 1 || op->result_count != 2 ||
        !is_matrix(import_type_of(im, import_operand(im, op, 0))))
        return import_refuse(im, op, "Qr needs floats [.., m, n], and gives two tensors");
    ir_value a = import_operand(im, op, 0), x = factor_as_steps(im, a);
    const dtype element = import_type_of(im, a)->element;
    ir_type_data t = *import_type_of(im, x);
    const ir_dim m = t.dims[t.rank - 2], n = t.dims[t.rank - 1];
    t.dims[t.rank - 2] = m < n ? m : n;
    ir_value taus = import_spread(im, import_number(im, t.element, 0), t.rank - 1, t.dims);
    const factor_loop loop = {.begin = {x, taus}, .count = t.dims[t.rank - 2], .turn = qr_turn};
    factor_run(im, &loop, results);
    for (int i = 0; i < 2; i++)
        results[i] = build_convert(&im->b, results[i], element);
    return true;
}

/* q [.., m, n] before reflector j: a's column below j, and 1 there. */
static void product_turn(importer *im, const factor_turn *t, ir_value *next) {
    ir_value a = t->whole[0], j = t->column;
    const int rank = rank_of(im, a);
    ir_value v = factor_taken(im, a, j, rank - 1);
    v = select_or_zero(im, factor_places(im, "gt", v, rank - 2, j), v);
    v = build_select(&im->b, factor_places(im, "eq", v, rank - 2, j), import_like(im, v, 1), v);
    next[0] = reflected(im, t->carried[0], v, factor_taken(im, t->whole[1], j, rank - 2));
}

/* "ProductOfElementaryHouseholderReflectors": the first n columns of their product. */
bool import_reflectors(importer *im, const shlo_op *op, ir_value *results) {
    const ir_type_data *a = op->operand_count == 2 ? import_type_of(im, import_operand(im, op, 0))
                                                   : NULL,
                       *taus = a ? import_type_of(im, import_operand(im, op, 1)) : NULL;
    bool good = a && op->result_count == 1 && is_matrix(a) && taus->rank == a->rank - 1 &&
                taus->element == a->element && taus->dims[taus->rank - 1] <= a->dims[a->rank - 1];
    for (int i = 0; good && i < a->rank - 2; i++)
        good = a->dims[i] == taus->dims[i];
    if (!good)
        return import_refuse(im, op, "needs floats [.., m, n] and [.., k]");
    const dtype element = a->element;
    const ir_dim count = taus->dims[taus->rank - 1];
    ir_value x = factor_as_steps(im, import_operand(im, op, 0));
    const factor_loop loop = {.begin = {factor_unit(im, x)},
                              .whole = {x, factor_as_steps(im, import_operand(im, op, 1))},
                              .count = count,
                              .descending = true,
                              .turn = product_turn};
    factor_run(im, &loop, results);
    results[0] = build_convert(&im->b, results[0], element);
    return true;
}
