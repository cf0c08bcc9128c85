/* import_eigen.c - eigenvalues and eigenvectors of symmetric matrices by Jacobi's rotations.
 *
 * In a round each place is paired with the one half the matrix away, and all pairs are rotated at
 * once; then the places move on as in a tournament, the first one stays (R. Brent, F. Luk, The
 * solution of singular-value and symmetric eigenvalue problems on multiprocessor arrays, SIAM J.
 * Sci. Stat. Comput. 6, 1985). A sweep of n - 1 rounds pairs all and brings each place back. The
 * number of sweeps follows from n, so data decide no step. All is computed in f64, since thousands
 * of rotations add their roundings up, and rounded once. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import_factor.h"

enum { EIGEN_SWEEPS = 6 }; /* and one for each bit of n: they converge quadratically */

/* ---- places ---- */

typedef int32_t (*place_fn)(int32_t i, int32_t n);

static int32_t partner(int32_t i, int32_t n) {
    return i < n / 2 ? i + n / 2 : i - n / 2;
}

/* The place whose row comes to place i. */
static int32_t moved_from(int32_t i, int32_t n) {
    const int32_t half = n / 2;
    if (i == 0 || half == 1)
        return i;
    if (i < half)
        return i == 1 ? half : i - 1;
    return i == n - 1 ? half - 1 : i + 1;
}

static int32_t on_diagonal(int32_t i, int32_t n) {
    return i * n + i;
}

static int32_t of_pair(int32_t i, int32_t n) {
    return i * n + partner(i, n);
}

static ir_value list(importer *im, place_fn of, int32_t n) {
    int32_t *all = base_malloc((size_t)n * sizeof *all);
    const ir_dim count = n;
    for (int32_t i = 0; i < n; i++)
        all[i] = of(i, n);
    ir_value made =
        import_dense(im, ir_type_tensor(im->m, DTYPE_I32, 1, &count), all, (size_t)n * sizeof *all);
    free(all);
    return made;
}

/* ---- a round ---- */

/* Elements of a [.., n, n] by their places in row-major order: [.., n] */
static ir_value elements(importer *im, ir_value a, place_fn of) {
    const ir_type_data t = *import_type_of(im, a);
    const ir_dim n = t.dims[t.rank - 1];
    ir_dim dims[IR_MAX_RANK];
    memcpy(dims, t.dims, sizeof dims);
    dims[t.rank - 2] = n * n;
    ir_value flat = build_reshape(&im->b, a, t.rank - 1, dims);
    return build_gather(&im->b, flat, list(im, of, (int32_t)n), t.rank - 2, 0);
}

typedef struct rotation {
    ir_value cosine, sine; /* [.., n] */
} rotation;

/* t = sign(theta) / (|theta| + sqrt(theta^2 + 1)), theta = (q - p) / 2 a_pq. The partner's has the
 * other sign, also where theta is 0. */
static rotation rotation_of(importer *im, ir_value a) {
    ir_value p = elements(im, a, on_diagonal), off = elements(im, a, of_pair);
    const ir_type_data t = *import_type_of(im, p);
    const int axis = t.rank - 1;
    const ir_dim n = t.dims[axis];
    ir_value q = build_gather(&im->b, p, list(im, partner, (int32_t)n), axis, 0);
    ir_value one = import_like(im, p, 1), zero = import_like(im, p, 0);
    ir_value none = import_is(im, "eq", off, zero);
    ir_value twice = build_select(&im->b, none, one, import_add(im, off, off));
    ir_value theta = import_div(im, import_sub(im, q, p), twice);
    ir_value size = import_unary(im, GRAPH_ABS, theta);
    ir_value root = import_unary(im, GRAPH_SQRT, import_add(im, import_mul(im, theta, theta), one));
    ir_value tangent = import_div(im, one, import_add(im, size, root));
    ir_value upper =
        factor_places(im, "lt", p, axis, import_number(im, DTYPE_I32, (double)(n / 2)));
    ir_value even = import_is(im, "eq", theta, zero), less = import_is(im, "lt", theta, zero);
    ir_value down = build_select(&im->b, even, build_unary(&im->b, GRAPH_NOT, upper), less);
    tangent = build_select(&im->b, down, import_unary(im, GRAPH_NEG, tangent), tangent);
    tangent = build_select(&im->b, none, zero, tangent);
    ir_value length =
        import_unary(im, GRAPH_SQRT, import_add(im, one, import_mul(im, tangent, tangent)));
    ir_value cosine = import_div(im, one, length);
    return (rotation){cosine, import_mul(im, tangent, cosine)};
}

/* Rows or columns of x, each with its partner's. */
static ir_value rotated(importer *im, ir_value x, const rotation *r, int axis) {
    const ir_type_data t = *import_type_of(im, x);
    const int other = axis == t.rank - 1 ? t.rank - 2 : t.rank - 1;
    ir_value beside = build_gather(&im->b, x, list(im, partner, (int32_t)t.dims[axis]), axis, 0);
    return import_sub(im, import_mul(im, build_spread(&im->b, r->cosine, x, other), x),
                      import_mul(im, build_spread(&im->b, r->sine, x, other), beside));
}

static ir_value moved(importer *im, ir_value x, int axis) {
    const int32_t n = (int32_t)import_type_of(im, x)->dims[axis];
    return build_gather(&im->b, x, list(im, moved_from, n), axis, 0);
}

/* Sets to 0 the elements that a rotation is to make so. */
static ir_value cleared(importer *im, ir_value a) {
    const ir_type_data t = *import_type_of(im, a);
    const int64_t axis = t.rank - 2;
    ir_value partners = list(im, partner, (int32_t)t.dims[axis]);
    ir_value pair = import_is(im, "eq", build_iota(&im->b, t.rank, t.dims, t.rank - 1),
                              build_broadcast(&im->b, partners, t.rank, t.dims, &axis));
    return build_select(&im->b, pair, import_like(im, a, 0), a);
}

static void eigen_turn(importer *im, const factor_turn *t, ir_value *next) {
    ir_value a = t->carried[0], v = t->carried[1];
    const int last = import_type_of(im, a)->rank - 1;
    const rotation r = rotation_of(im, a);
    a = cleared(im, rotated(im, rotated(im, a, &r, last - 1), &r, last));
    next[0] = moved(im, moved(im, a, last - 1), last);
    next[1] = moved(im, rotated(im, v, &r, last), last);
}

/* ---- the whole ---- */

/* The matrix of one triangle, with as many places as pairs have. */
static ir_value symmetric(importer *im, ir_value x, bool lower) {
    const ir_type_data t = *import_type_of(im, x);
    const int rank = t.rank;
    ir_value row = build_iota(&im->b, rank, t.dims, rank - 2),
             column = build_iota(&im->b, rank, t.dims, rank - 1);
    ir_value kept = import_is(im, lower ? "ge" : "le", row, column);
    x = build_select(&im->b, kept, x, build_moved(&im->b, x, rank - 1, rank - 2));
    int64_t none[IR_MAX_RANK] = {0}, more[IR_MAX_RANK] = {0};
    more[rank - 1] = more[rank - 2] = t.dims[rank - 1] % 2;
    return import_padded(im, x, import_number(im, t.element, 0), none, more, none);
}

static ir_value cut(importer *im, ir_value x, int from, ir_dim n) {
    for (int axis = from; axis < import_type_of(im, x)->rank; axis++)
        x = build_slice_axis(&im->b, x, axis, 0, n);
    return x;
}

/* Ascending values, and vectors in the same order. */
static bool ordered(importer *im, const shlo_op *op, ir_value w, ir_value v, ir_value *results) {
    const int axis = import_type_of(im, w)->rank - 1;
    ir_value keys = import_total_order(im, w);
    ir_named_attr attrs[] = {{"axis", ir_attr_int(im->m, axis)},
                             {"descending", ir_attr_bool(im->m, false)}};
    ir_value order = import_build(im, op, GRAPH_ARGSORT, &keys, 1, attrs, 2);
    if (!order)
        return false;
    results[0] = build_gather(&im->b, v, order, axis + 1, axis);
    results[1] = build_gather(&im->b, w, order, axis, axis);
    return true;
}

/* Does the lower triangle count? An attribute of its configuration says so, which has one of two
 * names, or the first letter. */
static bool of_lower(const shlo_op *op) {
    static const char *const names[] = {"mhlo.backend_config", "backend_config"};
    for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
        const shlo_attr *all = shlo_op_attr(op, names[at]);
        for (uint32_t i = 0; all && all->kind == SHLO_ATTR_DICT && i < all->count; i++)
            if (strcmp(all->keys[i], "lower") == 0)
                return all->items[i]->integer != 0;
    }
    return shlo_op_string(op, "backend_config", "")[0] == '1';
}

/* "Eigh", as XLA names it: of [.., n, n] the vectors, as columns, and the values. */
bool import_eigh(importer *im, const shlo_op *op, ir_value *results) {
    const bool two = op->operand_count == 1 && op->result_count == 2;
    ir_value x = two ? import_operand(im, op, 0) : 0;
    const ir_type_data t = x ? *import_type_of(im, x) : (ir_type_data){0};
    const ir_dim n = t.rank >= 2 ? t.dims[t.rank - 1] : -1;
    if (n < 0 || n > INT16_MAX || n != t.dims[t.rank - 2] || !dtype_is_float(t.element))
        return import_refuse(im, op, "Eigh needs floats [.., n, n], and gives two tensors");
    if (graph_elements(t.rank, t.dims) == 0) {
        results[0] = x;
        results[1] = import_spread(im, import_number(im, t.element, 0), t.rank - 1, t.dims);
        return true;
    }
    ir_value a = symmetric(im, build_convert(&im->b, x, DTYPE_F64), of_lower(op));
    const ir_dim places = import_type_of(im, a)->dims[t.rank - 1];
    ir_dim sweeps = EIGEN_SWEEPS;
    for (ir_dim left = places; left > 1; left /= 2)
        sweeps++;
    ir_value made[2] = {a, factor_unit(im, a)};
    const factor_loop loop = {
        .begin = {a, made[1]}, .count = sweeps * (places - 1), .turn = eigen_turn};
    factor_run(im, &loop, made);
    ir_value w = elements(im, made[0], on_diagonal);
    if (!ordered(im, op, cut(im, w, t.rank - 2, n), cut(im, made[1], t.rank - 2, n), results))
        return false;
    for (int i = 0; i < 2; i++)
        results[i] = build_convert(&im->b, results[i], t.element);
    return true;
}
