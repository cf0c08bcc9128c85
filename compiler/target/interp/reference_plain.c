/* reference_plain.c - see reference_plain.h. The loops have no branches, so that the compiler takes
 * vectors for them; each element's formula is that of reference_elementwise.c. */
#include "target/interp/reference_plain.h"

#include <float.h>
#include <math.h>

#include "target/interp/reference_enclosure.h"

#define ALWAYS static inline __attribute__((always_inline))

/* A block of operands and of the result. */
typedef struct block {
    const double *x, *x_bound, *y, *y_bound;
    double *value, *bound;
} block;

/* Roundings of the result, which is plain where its magnitude stays below `limit`. */
typedef struct rounding {
    double roundings, roundoff, spacing, limit;
} rounding;

/* IEEE 754-2019's maximum of two numbers: -0 < +0. */
ALWAYS double greater(double a, double b) {
    return a > b || (a == b && !signbit(a)) ? a : b;
}

ALWAYS bounded operate(int opcode, bounded x, bounded y) {
    double q;
    switch (opcode) {
    case GRAPH_NEG:
        return (bounded){-x.value, x.bound};
    case GRAPH_ABS:
        return (bounded){fabs(x.value), x.bound};
    case GRAPH_ADD:
        return (bounded){x.value + y.value, x.bound + y.bound};
    case GRAPH_SUB:
        return (bounded){x.value - y.value, x.bound + y.bound};
    case GRAPH_MUL:
        return (bounded){x.value * y.value,
                         fabs(x.value) * y.bound + fabs(y.value) * x.bound + x.bound * y.bound};
    case GRAPH_DIV:
        q = x.value / y.value;
        return (bounded){q, (x.bound + fabs(q) * y.bound) / (fabs(y.value) - y.bound)};
    case GRAPH_MAXIMUM:
        return (bounded){greater(x.value, y.value), greater(x.bound, y.bound)};
    default:
        return (bounded){-greater(-x.value, -y.value), greater(x.bound, y.bound)};
    }
}

/* Zeros that are certain need no rounding. */
ALWAYS double rounded(const rounding *r, bounded x) {
    double more = r->roundings * (r->roundoff * (fabs(x.value) + x.bound) + r->spacing);
    return x.value == 0 && x.bound == 0 ? 0 : x.bound + more;
}

/* `sign`: a result that may be on either side of 0 is not plain. */
ALWAYS bool compute(int opcode, const block *b, const rounding *r, bool sign) {
    const double *restrict x_value = b->x, *restrict x_bound = b->x_bound, *restrict y_value = b->y,
                           *restrict y_bound = b->y_bound;
    double *restrict value = b->value, *restrict bound = b->bound;
    int64_t odd = 0;
    for (int i = 0; i < REFERENCE_PLAIN; i++) {
        const bounded x = {x_value[i], x_bound[i]}, y = {y_value[i], y_bound[i]};
        const bounded z = operate(opcode, x, y);
        const double own = r->roundings > 0 ? rounded(r, z) : z.bound;
        odd |= !(fabs(x.value) <= DBL_MAX) | !(fabs(y.value) <= DBL_MAX);
        odd |= !(x.bound <= DBL_MAX) | !(y.bound <= DBL_MAX);
        odd |= !(fabs(z.value) + own < r->limit);
        if (opcode == GRAPH_DIV)
            odd |= !(fabs(y.value) > y.bound);
        if (sign)
            odd |= (own > 0) & (fabs(z.value) <= own);
        value[i] = z.value;
        bound[i] = own;
    }
    return !odd;
}

static bool compute_by(int opcode, const block *b, const rounding *r, bool square) {
    switch (opcode) {
    case GRAPH_NEG:
        return compute(GRAPH_NEG, b, r, false);
    case GRAPH_ABS:
        return compute(GRAPH_ABS, b, r, true);
    case GRAPH_ADD:
        return compute(GRAPH_ADD, b, r, false);
    case GRAPH_SUB:
        return compute(GRAPH_SUB, b, r, false);
    case GRAPH_MUL:
        return compute(GRAPH_MUL, b, r, square);
    case GRAPH_DIV:
        return compute(GRAPH_DIV, b, r, false);
    case GRAPH_MAXIMUM:
        return compute(GRAPH_MAXIMUM, b, r, true);
    case GRAPH_MINIMUM:
        return compute(GRAPH_MINIMUM, b, r, true);
    default:
        return false;
    }
}

bool reference_plain(const reference_step *s, double roundings, int64_t first) {
    const dtype_format *f = dtype_format_of(s->type);
    const reference_value *x = s->in[0], *y = s->in[s->in_count > 1 ? 1 : 0];
    if (!f->infinity || x->limits || y->limits || reference_is_unlimited())
        return false;
    const block b = {(const double *)x->value.data + first, (const double *)x->bound.data + first,
                     (const double *)y->value.data + first, (const double *)y->bound.data + first,
                     (double *)s->out->value.data + first,  (double *)s->out->bound.data + first};
    const rounding r = {roundings, reference_roundoff(s->type), f->spacing,
                        f->largest * (1 - 0x1p-20)};
    return compute_by(s->opcode, &b, &r, x == y);
}
