/* model.c - the aligned sum of a matrix unit: model.h. */
#include "model.h"

#include <math.h>
#include <string.h>

/* name, chain, step, fraction bits, align, zero counts, c apart, result fraction bits, round */
const sum_model sum_models[] = {
    {"mma.sm80.f16", false, 8, 24, ALIGN_CUT, false, false, 23, ROUND_CUT},
    {"mma.sm80.f16.f16", false, 8, 24, ALIGN_CUT, false, false, 10, ROUND_NEAREST_EVEN},
    {"mma.sm80.bf16", false, 8, 24, ALIGN_CUT, true, false, 23, ROUND_CUT},
    {"mma.sm80.tf32", false, 4, 24, ALIGN_CUT, true, false, 23, ROUND_CUT},
    {"mma.sm90.f16", false, 16, 25, ALIGN_CUT, false, false, 23, ROUND_CUT},
    {"mma.sm90.f16.f16", false, 16, 25, ALIGN_CUT, false, false, 10, ROUND_NEAREST_EVEN},
    {"mma.sm90.bf16", false, 16, 25, ALIGN_CUT, true, false, 23, ROUND_CUT},
    {"mma.sm90.tf32", false, 8, 25, ALIGN_CUT, true, false, 23, ROUND_CUT},
    {"mma.sm90.fp8", false, 32, 13, ALIGN_CUT, false, false, 13, ROUND_CUT},
    {"mma.sm90.fp8.f16", false, 32, 13, ALIGN_CUT, false, false, 10, ROUND_NEAREST_EVEN},
    {"fma.chain", true, 1, 0, ALIGN_CUT, false, false, 52, ROUND_NEAREST_EVEN},
};
const size_t sum_model_count = sizeof sum_models / sizeof *sum_models;

/* No exponent: below those of all products and accumulators. */
enum { NOWHERE = -4096, ANYWHERE = -2048 };

const sum_model *model_named(const char *name) {
    for (size_t i = 0; i < sum_model_count; i++)
        if (strcmp(sum_models[i].name, name) == 0)
            return &sum_models[i];
    return NULL;
}

void operands_decode(operands *row, const float_format *format, const uint64_t *codes,
                     size_t count) {
    row->count = count;
    row->special = false;
    row->format = format;
    for (size_t k = 0; k < count; k++) {
        number x = format_decode(format, codes[k]);
        row->code[k] = codes[k];
        row->exponent[k] = x.exponent;
        row->nonzero_exponent[k] = x.kind == NUMBER_ZERO ? NOWHERE : x.exponent;
        row->significand[k] = x.negative ? -(int64_t)x.significand : (int64_t)x.significand;
        row->special |= x.kind == NUMBER_INFINITE || x.kind == NUMBER_NAN;
    }
}

static double as_double(uint64_t code) {
    double x;
    memcpy(&x, &code, sizeof x);
    return x;
}

static uint64_t fma_chain(const operands *a, const operands *b, uint64_t c) {
    double sum = as_double(c);
    for (size_t k = 0; k < a->count; k++)
        sum = fma(as_double(a->code[k]), as_double(b->code[k]), sum);
    if (isnan(sum))
        return format_nan(&format_f64);
    memcpy(&c, &sum, sizeof c);
    return c;
}

/* Products first .. last - 1, and c. */
typedef struct terms {
    const sum_model *model;
    const operands *a, *b;
    size_t first, last;
    const float_format *c_format;
    number c;
} terms;

/* Signs of the infinities among the terms, as two bits; 3 also for a NaN and for infinity times
 * zero. */
static unsigned infinities(const terms *t) {
    unsigned found = t->c.kind == NUMBER_NAN        ? 3u
                     : t->c.kind == NUMBER_INFINITE ? 1u << t->c.negative
                                                    : 0;
    for (size_t k = t->first; k < t->last; k++) {
        number x = format_decode(t->a->format, t->a->code[k]),
               y = format_decode(t->b->format, t->b->code[k]);
        number_kind greater = x.kind > y.kind ? x.kind : y.kind,
                    less = x.kind > y.kind ? y.kind : x.kind;
        if (greater == NUMBER_NAN || (greater == NUMBER_INFINITE && less == NUMBER_ZERO))
            found |= 3u;
        else if (greater == NUMBER_INFINITE)
            found |= 1u << (x.negative != y.negative);
    }
    return found;
}

static uint64_t special_result(const terms *t, unsigned found) {
    return found == 3 ? format_nan(t->c_format) : format_infinity(t->c_format, found == 2);
}

/* significand * 2^-shift, aligned. Of a zero, the shift may be negative. */
static inline int64_t align(int64_t significand, int shift, alignment how) {
    int bits = shift < 0 ? 0 : shift > 62 ? 62 : shift;
    int64_t half = how == ALIGN_NEAREST ? (INT64_C(1) << bits) / 2 : 0;
    int64_t sign = how == ALIGN_CUT ? significand >> 63 : 0;
    return ((((significand + half) ^ sign) - sign) >> bits ^ sign) - sign;
}

/* The greatest exponent among the products, or NOWHERE. */
static int greatest_product(const terms *t) {
    const int32_t *a = t->model->zero_counts ? t->a->exponent : t->a->nonzero_exponent;
    const int32_t *b = t->model->zero_counts ? t->b->exponent : t->b->nonzero_exponent;
    int greatest = NOWHERE;
    for (size_t k = t->first; k < t->last; k++) {
        int exponent = a[k] + b[k];
        greatest = exponent > greatest ? exponent : greatest;
    }
    return greatest < ANYWHERE ? NOWHERE : greatest;
}

static int64_t sum_of_products(const terms *t, int greatest) {
    int excess =
        t->a->format->fraction_bits + t->b->format->fraction_bits - t->model->fraction_bits;
    int up = excess < 0 ? -excess : 0, down = excess < 0 ? 0 : excess;
    alignment how = t->model->align;
    int64_t sum = 0;
    for (size_t k = t->first; k < t->last; k++) {
        int64_t product = t->a->significand[k] * t->b->significand[k] * (INT64_C(1) << up);
        sum += align(product, greatest - t->a->exponent[k] - t->b->exponent[k] + down, how);
    }
    return sum;
}

/* c in units of the last kept bit. */
static int64_t aligned_c(const terms *t, int greatest) {
    int excess = t->c_format->fraction_bits - t->model->fraction_bits;
    int64_t c = t->c.negative ? -(int64_t)t->c.significand : (int64_t)t->c.significand;
    if (excess < 0)
        c *= INT64_C(1) << -excess;
    return align(c, greatest - t->c.exponent + (excess < 0 ? 0 : excess), t->model->align);
}

static uint64_t finite_step(const terms *t) {
    const sum_model *model = t->model;
    bool c_counts = model->zero_counts || t->c.kind != NUMBER_ZERO;
    int own = c_counts ? t->c.exponent : NOWHERE, products = greatest_product(t);
    int greatest = own > products ? own : products;
    if (greatest == NOWHERE)
        return 0;
    int64_t sum = model->c_apart
                      ? align(sum_of_products(t, products), greatest - products, model->align)
                      : sum_of_products(t, greatest);
    sum += aligned_c(t, greatest);
    uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    return format_encode(t->c_format, model->result_fraction_bits, model->round, sum < 0, magnitude,
                         greatest - model->fraction_bits);
}

uint64_t model_element(const sum_model *model, const operands *a, const operands *b,
                       const float_format *c_format, uint64_t c) {
    if (model->chain)
        return fma_chain(a, b, c);
    for (size_t k = 0; k < a->count; k += (size_t)model->step) {
        size_t last = k + (size_t)model->step < a->count ? k + (size_t)model->step : a->count;
        terms t = {model, a, b, k, last, c_format, format_decode(c_format, c)};
        bool special =
            a->special || b->special || t.c.kind == NUMBER_INFINITE || t.c.kind == NUMBER_NAN;
        unsigned found = special ? infinities(&t) : 0;
        c = found ? special_result(&t, found) : finite_step(&t);
    }
    return c;
}
