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
    ir_value cosine;    /* [.., n] */
    complex_value sine; /* ... */
} rotation;

/* a_pq of the pair that each place is in, for both from the upper one: they must turn alike. */
static int32_t of_upper(int32_t i, int32_t n) {
    return of_pair(i < n / 2 ? i : partner(i, n), n);
}

/* |a_pq|, and in the sine's place what turns it: a_pq / |a_pq|, of the upper place its conjugate.
 */
static ir_value phase_of(importer *im, complex_value a, ir_value upper, complex_value *phase) {
    const complex_value off = {elements(im, a.re, of_upper), elements(im, a.im, of_upper)};
    ir_value size = complex_magnitude(im, off);
    ir_value none = import_is(im, "eq", size, import_like(im, size, 0));
    ir_value safe = build_select(&im->b, none, import_like(im, size, 1), size);
    ir_value part = import_div(im, off.im, safe);
    phase->re = import_div(im, off.re, safe);
    phase->im = build_select(&im->b, upper, import_unary(im, GRAPH_NEG, part), part);
    return size;
}

/* t = sign(theta) / (|theta| + sqrt(theta^2 + 1)), theta = (q - p) / 2 a_pq. The partner's has the
 * other sign, also where theta is 0. Of complex numbers a_pq is its magnitude here. */
static rotation rotation_of(importer *im, complex_value a) {
    ir_value p = elements(im, a.re, on_diagonal), off = a.im ? 0 : elements(im, a.re, of_upper);
    const ir_type_data t = *import_type_of(im, p);
    const int axis = t.rank - 1;
    const ir_dim n = t.dims[axis];
    complex_value phase = {0};
    ir_value upper =
        factor_places(im, "lt", p, axis, import_number(im, DTYPE_I32, (double)(n / 2)));
    if (a.im)
        off = phase_of(im, a, upper, &phase);
    ir_value q = build_gather(&im->b, p, list(im, partner, (int32_t)n), axis, 0);
    ir_value one = import_like(im, p, 1), zero = import_like(im, p, 0);
    ir_value none = import_is(im, "eq", off, zero);
    ir_value twice = build_select(&im->b, none, one, import_add(im, off, off));
    ir_value theta = import_div(im, import_sub(im, q, p), twice);
    ir_value size = import_unary(im, GRAPH_ABS, theta);
    ir_value root = import_unary(im, GRAPH_SQRT, import_add(im, import_mul(im, theta, theta), one));
    ir_value tangent = import_div(im, one, import_add(im, size, root));
    ir_value even = import_is(im, "eq", theta, zero), less = import_is(im, "lt", theta, zero);
    ir_value down = build_select(&im->b, even, build_unary(&im->b, GRAPH_NOT, upper), less);
    tangent = build_select(&im->b, down, import_unary(im, GRAPH_NEG, tangent), tangent);
    tangent = build_select(&im->b, none, zero, tangent);
    ir_value length =
        import_unary(im, GRAPH_SQRT, import_add(im, one, import_mul(im, tangent, tangent)));
    ir_value cosine = import_div(im, one, length), sine = import_mul(im, tangent, cosine);
    return (rotation){cosine, a.im ? (complex_value){import_mul(im, sine, phase.re),
                                                     import_mul(im, sine, phase.im)}
                                   : (complex_value){sine, 0}};
}

static complex_value gathered(importer *im, complex_value x, place_fn of, int axis) {
    ir_value at = list(im, of, (int32_t)import_type_of(im, x.re)->dims[axis]);
    ir_value re = build_gather(&im->b, x.re, at, axis, 0);
    return (complex_value){re, x.im ? build_gather(&im->b, x.im, at, axis, 0) : 0};
}

/* Columns of x, each with its partner's; or rows, whose sine is the conjugate. */
static complex_value rotated(importer *im, complex_value x, const rotation *r, int axis) {
    const int last = import_type_of(im, x.re)->rank - 1, other = axis == last ? last - 1 : last;
    const complex_value beside = gathered(im, x, partner, axis);
    const complex_value sine = axis == last ? r->sine : parts_conjugate(im, r->sine);
    ir_value cosine = build_spread(&im->b, r->cosine, x.re, other);
    ir_value re = import_mul(im, cosine, x.re);
    const complex_value own = {re, x.im ? import_mul(im, cosine, x.im) : 0};
    return parts_sub(im, own, parts_mul(im, parts_spread(im, sine, x.re, other), beside));
}

/* Sets to 0 the elements that a rotation is to make so, and makes the diagonal real. */
static complex_value cleared(importer *im, complex_value a) {
    const ir_type_data t = *import_type_of(im, a.re);
    const int64_t axis = t.rank - 2;
    ir_value partners = list(im, partner, (int32_t)t.dims[axis]);
    ir_value column = build_iota(&im->b, t.rank, t.dims, t.rank - 1);
    ir_value pair =
        import_is(im, "eq", column, build_broadcast(&im->b, partners, t.rank, t.dims, &axis));
    a.re = build_select(&im->b, pair, import_like(im, a.re, 0), a.re);
    if (!a.im)
        return a;
    ir_value own = import_is(im, "eq", column, build_iota(&im->b, t.rank, t.dims, t.rank - 2));
    a.im = build_select(&im->b, import_binary(im, GRAPH_OR, pair, own), import_like(im, a.im, 0),
                        a.im);
    return a;
}

static void eigen_turn(importer *im, const factor_turn *t, ir_value *next) {
    complex_value a = {t->carried[0], t->carried[2]}, v = {t->carried[1], t->carried[3]};
    const int last = import_type_of(im, a.re)->rank - 1;
    const rotation r = rotation_of(im, a);
    a = cleared(im, rotated(im, rotated(im, a, &r, last - 1), &r, last));
    a = gathered(im, gathered(im, a, moved_from, last - 1), moved_from, last);
    v = gathered(im, rotated(im, v, &r, last), moved_from, last);
    next[0] = a.re;
    next[1] = v.re;
    next[2] = a.im;
    next[3] = v.im;
}

/* ---- the whole ---- */

/* The matrix of one triangle, with as many places as pairs have. */
static complex_value symmetric(importer *im, complex_value x, bool lower) {
    const ir_type_data t = *import_type_of(im, x.re);
    const int rank = t.rank;
    ir_value row = build_iota(&im->b, rank, t.dims, rank - 2),
             column = build_iota(&im->b, rank, t.dims, rank - 1);
    ir_value kept = import_is(im, lower ? "ge" : "le", row, column);
    x = parts_select(im, kept, x, parts_transposed(im, parts_conjugate(im, x)));
    if (x.im)
        x.im =
            build_select(&im->b, import_is(im, "eq", row, column), import_like(im, x.im, 0), x.im);
    int64_t none[IR_MAX_RANK] = {0}, more[IR_MAX_RANK] = {0};
    more[rank - 1] = more[rank - 2] = t.dims[rank - 1] % 2;
    ir_value zero = import_number(im, t.element, 0);
    x.re = import_padded(im, x.re, zero, none, more, none);
    x.im = x.im ? import_padded(im, x.im, zero, none, more, none) : 0;
    return x;
}

static ir_value cut(importer *im, ir_value x, int from, ir_dim n) {
    for (int axis = from; axis < import_type_of(im, x)->rank; axis++)
        x = build_slice_axis(&im->b, x, axis, 0, n);
    return x;
}

/* Ascending values, and vectors in the same order. */
static bool ordered(importer *im, const shlo_op *op, ir_value w, complex_value v,
                    ir_value *results) {
    const int axis = import_type_of(im, w)->rank - 1;
    ir_value keys = import_total_order(im, w);
    ir_named_attr attrs[] = {{"axis", ir_attr_int(im->m, axis)},
                             {"descending", ir_attr_bool(im->m, false)}};
    ir_value order = import_build(im, op, GRAPH_ARGSORT, &keys, 1, attrs, 2);
    if (!order)
        return false;
    results[0] = build_gather(&im->b, v.re, order, axis + 1, axis);
    results[2] = v.im ? build_gather(&im->b, v.im, order, axis + 1, axis) : 0;
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
    const complex_value x = two ? complex_operand(im, op, 0) : (complex_value){0};
    const ir_type_data t = two ? *import_type_of(im, x.re) : (ir_type_data){0};
    const ir_dim n = t.rank >= 2 ? t.dims[t.rank - 1] : -1;
    if (n < 0 || n > INT16_MAX || n != t.dims[t.rank - 2] || !dtype_is_float(t.element))
        return import_refuse(im, op, "Eigh needs floats [.., n, n], and gives two tensors");
    if (graph_elements(t.rank, t.dims) == 0) {
        results[0] = x.re;
        results[2] = x.im;
        results[1] = import_spread(im, import_number(im, t.element, 0), t.rank - 1, t.dims);
        return true;
    }
    const complex_value a = symmetric(im, parts_converted(im, x, DTYPE_F64), of_lower(op));
    const ir_dim places = import_type_of(im, a.re)->dims[t.rank - 1];
    ir_dim sweeps = EIGEN_SWEEPS;
    for (ir_dim left = places; left > 1; left /= 2)
        sweeps++;
    ir_value made[FACTOR_CARRIED] = {0};
    const factor_loop loop = {
        .begin = {a.re, factor_unit(im, a.re), a.im, a.im ? import_like(im, a.im, 0) : 0},
        .count = sweeps * (places - 1),
        .turn = eigen_turn};
    factor_run(im, &loop, made);
    const complex_value v = {cut(im, made[1], t.rank - 2, n),
                             made[3] ? cut(im, made[3], t.rank - 2, n) : 0};
    ir_value w = elements(im, made[0], on_diagonal);
    if (!ordered(im, op, cut(im, w, t.rank - 2, n), v, results))
        return false;
    for (int i = 0; i < 3 && results[i]; i++)
        results[i] = build_convert(&im->b, results[i], t.element);
    return true;
}
