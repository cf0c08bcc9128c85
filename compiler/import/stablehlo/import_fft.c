/* import_fft.c - Fourier transforms by a plan that the length alone decides.
 *
 * Up to RADIX, and of a prime length, the transform is a product with the matrix of roots of unity,
 * each sum in chunk512. A longer one of n = a b, a the greatest divisor up to RADIX: transforms of
 * length a, products with roots of n, transforms of length b. Roots are rounded once from more than
 * twice the digits of f64 (import_roots.c), so they have one set of bits everywhere. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import.h"
#include "import/stablehlo/import_roots.h"

enum { RADIX = 64, LENGTH_MAX = 1 << 20 };

typedef struct fourier {
    ir_value re, im; /* im 0: a real input */
} fourier;

/* ---- constants ---- */

/* cos and sin of 2 pi i k / n for each i of rows and k of columns, the sine with this sign. */
static fourier roots(importer *im, dtype t, int64_t rows, int64_t columns, int64_t n, int sign) {
    const ir_dim dims[] = {rows, columns};
    const size_t bytes = dtype_size(t), count = (size_t)(rows * columns);
    uint8_t *parts[2];
    ir_value made[2];
    for (int part = 0; part < 2; part++)
        parts[part] = base_malloc(count * bytes + 1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++) {
            double cosine, sine;
            root_of_unity(i * k % n, n, &cosine, &sine);
            dtype_store(t, parts[0], (size_t)(i * columns + k), cosine);
            dtype_store(t, parts[1], (size_t)(i * columns + k), sign < 0 ? -sine : sine);
        }
    for (int part = 0; part < 2; part++) {
        made[part] =
            import_dense(im, ir_type_tensor(im->m, t, 2, dims), parts[part], count * bytes);
        free(parts[part]);
    }
    return (fourier){made[0], made[1]};
}

/* ---- steps ---- */

/* An axis of x by a matrix: the axis goes, and its like comes last. */
static ir_value contracted(importer *im, ir_value x, int axis, ir_value matrix) {
    return build_dot(&im->b, x, matrix, &(dot_axes){.x = {axis}, .contracted = 1});
}

/* The transform along an axis, which comes last. */
static fourier by_matrix(importer *im, fourier x, int axis, int64_t n, int sign) {
    const fourier w = roots(im, import_type_of(im, x.re)->element, n, n, n, sign);
    fourier y = {contracted(im, x.re, axis, w.re), contracted(im, x.re, axis, w.im)};
    if (x.im) {
        y.re = import_sub(im, y.re, contracted(im, x.im, axis, w.im));
        y.im = import_add(im, y.im, contracted(im, x.im, axis, w.re));
    }
    return y;
}

static fourier reshaped(importer *im, fourier x, int rank, const ir_dim *dims) {
    return (fourier){import_shaped(im, x.re, rank, dims),
                     x.im ? import_shaped(im, x.im, rank, dims) : 0};
}

/* Products with the roots [a, b] of n, of the last two axes. */
static fourier twiddled(importer *im, fourier x, int64_t a, int64_t b, int sign) {
    const ir_type_data t = *import_type_of(im, x.re);
    const int64_t axes[] = {t.rank - 2, t.rank - 1};
    fourier w = roots(im, t.element, a, b, a * b, sign);
    w.re = build_broadcast(&im->b, w.re, t.rank, t.dims, axes);
    w.im = build_broadcast(&im->b, w.im, t.rank, t.dims, axes);
    return (fourier){import_sub(im, import_mul(im, x.re, w.re), import_mul(im, x.im, w.im)),
                     import_add(im, import_mul(im, x.re, w.im), import_mul(im, x.im, w.re))};
}

/* The greatest divisor up to RADIX; 1 of a prime above it. */
static int64_t radix_of(int64_t n) {
    int64_t a = RADIX;
    while (n % a)
        a--;
    return a;
}

/* The last axis of [m, n]; n loses a factor of at most RADIX a turn. Element i b + j is at [i, j]:
 * a transform over i for each j, then one over j for each of the results k, and element k + a l of
 * the whole is at [k, l]. */
static fourier transformed(importer *im, fourier x, int64_t n, int sign) {
    VEC(int64_t) radices = {0};
    const ir_dim m = import_type_of(im, x.re)->dims[0];
    int64_t left = n, rows = m;
    while (left > RADIX && radix_of(left) > 1) {
        const int64_t a = radix_of(left), b = left / a;
        x = reshaped(im, x, 3, (ir_dim[]){rows, a, b});
        x = by_matrix(im, x, 1, a, sign); /* [rows, b, a] */
        x.re = build_moved(&im->b, x.re, 2, 1);
        x.im = build_moved(&im->b, x.im, 2, 1);
        x = twiddled(im, x, a, b, sign);
        vec_push(&radices, a);
        rows *= a;
        left = b;
        x = reshaped(im, x, 2, (ir_dim[]){rows, left});
    }
    x = by_matrix(im, x, 1, left, sign); /* [m, a1, a2, .., l] */
    while (radices.count) {              /* [.., a, l] is [.., l, a] */
        const int64_t a = vec_pop(&radices);
        rows /= a;
        x = reshaped(im, x, 3, (ir_dim[]){rows, a, left});
        x.re = build_moved(&im->b, x.re, 2, 1);
        x.im = build_moved(&im->b, x.im, 2, 1);
        left *= a;
        x = reshaped(im, x, 2, (ir_dim[]){rows, left});
    }
    vec_release(&radices);
    return x;
}

/* ---- axes ---- */

static fourier along(importer *im, fourier x, int axis, int sign) {
    const int last = import_type_of(im, x.re)->rank - 1;
    x.re = build_moved(&im->b, x.re, axis, last);
    x.im = x.im ? build_moved(&im->b, x.im, axis, last) : 0;
    const ir_type_data t = *import_type_of(im, x.re);
    const ir_dim n = t.dims[last], flat[] = {graph_elements(last, t.dims), n};
    fourier y = transformed(im, reshaped(im, x, 2, flat), n, sign);
    y = reshaped(im, y, t.rank, t.dims);
    y.re = build_moved(&im->b, y.re, last, axis);
    y.im = build_moved(&im->b, y.im, last, axis);
    return y;
}

static fourier sliced(importer *im, fourier x, int axis, int64_t from, int64_t to) {
    return (fourier){build_slice_axis(&im->b, x.re, axis, from, to),
                     build_slice_axis(&im->b, x.im, axis, from, to)};
}

/* The second half of a spectrum of real numbers: element n - i is the conjugate of element i. */
static fourier completed(importer *im, fourier x, int axis, int64_t n) {
    const int64_t half = n / 2 + 1, rest = n - half;
    if (rest == 0)
        return x;
    ir_value places = import_places(im, rest);
    places = import_sub(im, import_like(im, places, (double)(n - half)), places);
    ir_value re[] = {x.re, build_gather(&im->b, x.re, places, axis, 0)};
    ir_value side = build_gather(&im->b, x.im, places, axis, 0);
    ir_value both[] = {x.im, build_unary(&im->b, GRAPH_NEG, side)};
    return (fourier){build_concat(&im->b, axis, re, 2), build_concat(&im->b, axis, both, 2)};
}

typedef struct transform {
    const char *type;
    int64_t length[IR_MAX_RANK];
    int count, rank;
} transform;

static bool read_transform(importer *im, const shlo_op *op, transform *t) {
    if (!import_takes(im, op, 1) || !import_result_type(im, op, 0))
        return false;
    const ir_type_data *x = import_type_of(im, import_operand(im, op, 0));
    t->type = shlo_op_string(op, "fft_type", "FFT");
    t->count = (int)shlo_op_ints(op, "fft_length", t->length, IR_MAX_RANK);
    t->rank = x->rank;
    const bool halves = strcmp(t->type, "IRFFT") == 0;
    if (t->count < 1 || t->count > 3 || t->count > t->rank || !dtype_is_float(x->element) ||
        import_is_complex(op->operands[0]) != (strcmp(t->type, "RFFT") != 0) ||
        import_is_complex(&op->results[0]) == halves)
        return import_refuse(im, op, "its type and its lengths do not fit the operand");
    for (int i = 0; i < t->count; i++) {
        const int64_t n = t->length[i], extent = x->dims[t->rank - t->count + i];
        const int64_t wanted = halves && i == t->count - 1 ? (n > 0 ? n / 2 + 1 : 0) : n;
        if (n < 0 || n > LENGTH_MAX || extent != wanted)
            return import_refuse(im, op, "length %lld does not fit its axis, or is above 2^20",
                                 (long long)n);
    }
    return true;
}

/* Inverse transforms are divided by the number of elements. */
static ir_value divided(importer *im, ir_value x, const transform *t) {
    double count = 1;
    for (int i = 0; i < t->count; i++)
        count *= (double)t->length[i];
    return import_div(im, x, import_like(im, x, count));
}

bool import_fft(importer *im, const shlo_op *op, int graph, ir_value *results) {
    transform t;
    (void)graph;
    if (!read_transform(im, op, &t))
        return false;
    const ir_type_data result = *ir_type_get(im->m, import_result_type(im, op, 0));
    const bool inverse = t.type[0] == 'I', halves = strcmp(t.type, "IRFFT") == 0;
    if (graph_elements(result.rank, result.dims) == 0) {
        results[0] =
            import_spread(im, import_number(im, result.element, 0), result.rank, result.dims);
        results[1] = halves ? 0 : results[0];
        return true;
    }
    const uint32_t number = op->operands[0]->number;
    const int last = t.rank - 1;
    fourier x = {im->made[number], im->imaginary[number]};
    const int sign = inverse ? 1 : -1;
    /* Real numbers are transformed along the last axis first, and come from it last. */
    if (!halves)
        x = along(im, x, last, sign);
    if (strcmp(t.type, "RFFT") == 0)
        x = sliced(im, x, last, 0, t.length[t.count - 1] / 2 + 1);
    for (int i = 1; i < t.count; i++)
        x = along(im, x, last - i, sign);
    if (halves)
        x = along(im, completed(im, x, last, t.length[t.count - 1]), last, sign);
    results[0] = inverse ? divided(im, x.re, &t) : x.re;
    results[1] = halves ? 0 : inverse ? divided(im, x.im, &t) : x.im;
    return true;
}
