/* reference_products.c - products along axes, and running ones, with their bounds. */
#include "target/interp/reference_products.h"

#include <math.h>

/* A product so far, of numbers near theirs. Partial products may be as great as all factors above 1
 * together make them, and lose what is subnormal before such factors come. */
typedef struct product_so_far {
    double value, high, reach;
    bool nan, unknown;
} product_so_far;

static void multiply_in(product_so_far *p, double x, double e) {
    double most = fabs(x) + e;
    p->nan |= reference_is_nan((bounded){x, e});
    p->unknown |= !isfinite(most);
    p->value *= x;
    p->high *= most;
    p->reach *= fmax(most, 1);
}

static bounded product_end(const product_so_far *p, double n, dtype wide, dtype result) {
    double limit = dtype_format_of(wide)->largest, least = wide == DTYPE_F32 ? 0x1p-149 : 0x1p-1074;
    if (p->nan)
        return (bounded){NAN, 0};
    if (p->unknown || !(p->reach * (1 + 0x1p-20) <= limit))
        return (bounded){p->value, HUGE_VAL};
    double own = reference_product(reference_gamma(2 * n, reference_roundoff(wide)), p->high);
    bounded total = {p->value, p->high - fabs(p->value) + own + n * least * p->reach};
    if (n <= 1)
        total.bound = p->high - fabs(p->value);
    return result == wide ? reference_rounded(total, wide, 0) : reference_rounded(total, result, 1);
}

bounded reference_product_row(const double *x, const double *e, int64_t n, dtype wide, dtype type) {
    product_so_far p = {.value = 1, .high = 1, .reach = 1};
    for (int64_t i = 0; i < n; i++)
        multiply_in(&p, x[i], e[i]);
    return product_end(&p, (double)n, wide, type);
}

void reference_running_product(const reference_step *s, const scan_rows *rows, int64_t start,
                               dtype wide) {
    const double *x = s->in[0]->value.data, *e = s->in[0]->bound.data;
    product_so_far p = {.value = 1, .high = 1, .reach = 1};
    for (int64_t i = 0; i < rows->length; i++) {
        int64_t at = start + i * rows->stride;
        multiply_in(&p, x[at], e[at]);
        bounded r = product_end(&p, (double)i + 1, wide, s->type);
        ((double *)s->out->value.data)[at] = r.value;
        ((double *)s->out->bound.data)[at] = r.bound;
    }
}
