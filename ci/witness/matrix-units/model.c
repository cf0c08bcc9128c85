/* model.c - the aligned sum of a matrix unit: model.h. */
#include "model.h"

#include <math.h>
#include <string.h>

/* name, order, as f16, step, fraction bits, align, zero counts, least exponent, result fraction
 * bits, round */
const sum_model sum_models[] = {
    {"mma.sm80.f16", SUM_ALIGNED, false, 8, 24, ALIGN_CUT, false, -133, 23, ROUND_CUT},
    {"mma.sm80.f16.f16", SUM_ALIGNED, false, 8, 24, ALIGN_CUT, false, -21, 10, ROUND_NEAREST_EVEN},
    {"mma.sm80.bf16", SUM_ALIGNED, false, 8, 24, ALIGN_CUT, false, -133, 23, ROUND_CUT},
    {"mma.sm80.tf32", SUM_ALIGNED, false, 4, 24, ALIGN_CUT, false, -133, 23, ROUND_CUT},
    {"mma.sm90.f16", SUM_ALIGNED, false, 16, 25, ALIGN_CUT, false, -133, 23, ROUND_CUT},
    {"mma.sm90.f16.f16", SUM_ALIGNED, false, 16, 25, ALIGN_CUT, false, -21, 10, ROUND_NEAREST_EVEN},
    {"mma.sm90.bf16", SUM_ALIGNED, false, 16, 25, ALIGN_CUT, false, -133, 23, ROUND_CUT},
    {"mma.sm90.tf32", SUM_ALIGNED, false, 8, 25, ALIGN_CUT, false, -133, 23, ROUND_CUT},
    {"mma.sm90.fp8", SUM_ALIGNED, false, 32, 13, ALIGN_CUT, false, -133, 13, ROUND_CUT},
    {"mma.sm90.fp8.f16", SUM_ALIGNED, false, 32, 13, ALIGN_CUT, false, -21, 10, ROUND_NEAREST_EVEN},
    {"mma.sm90.fp8_as_f16", SUM_ALIGNED, true, 0, 25, ALIGN_CUT, false, -133, 23, ROUND_CUT},
    {"mma.sm90.fp8_as_f16.f16", SUM_ALIGNED, true, 0, 25, ALIGN_CUT, false, -21, 10,
     ROUND_NEAREST_EVEN},
    {.name = "fma.f64", .order = SUM_CHAIN},
    {.name = "fma.f32.then_c", .order = SUM_THEN_C},
    {.name = "fma.f32.pairs", .order = SUM_PAIRS},
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

/* Which k comes in place `at`. */
static size_t taken(const sum_model *model, size_t at, size_t count) {
    size_t half = count / 2;
    return !model->as_f16 ? at : at % half / 2 * 4 + at % half % 2 + at / half * 2;
}

void operands_decode(operands *row, const sum_model *model, const float_format *format,
                     const uint64_t *codes, size_t count) {
    row->count = count;
    row->special = false;
    row->format = model->as_f16 ? &format_f16 : format;
    for (size_t k = 0; k < count; k++) {
        uint64_t code = codes[taken(model, k, count)];
        if (model->as_f16)
            code = format_round(&format_f16, format_value(format, code));
        number x = format_decode(row->format, code);
        row->code[k] = code;
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

static bool is_nan64(uint64_t code) {
    return format_decode(&format_f64, code).kind == NUMBER_NAN;
}

/* a * b + c. Of several NaNs b's is kept, else c's, else a's, made quiet; an invalid operation
 * gives a negative one. */
static uint64_t fma64(uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t quiet = UINT64_C(1) << 51, invalid = UINT64_C(0xfff8000000000000);
    if (is_nan64(a) || is_nan64(b) || is_nan64(c))
        return (is_nan64(b) ? b : is_nan64(c) ? c : a) | quiet;
    double sum = fma(as_double(a), as_double(b), as_double(c));
    memcpy(&c, &sum, sizeof c);
    return is_nan64(c) ? invalid : c;
}

static uint64_t chain64(const operands *a, const operands *b, uint64_t c) {
    for (size_t k = 0; k < a->count; k++)
        c = fma64(a->code[k], b->code[k], c);
    return c;
}

static float factor(const operands *row, size_t k) {
    return (float)format_value(row->format, row->code[k]);
}

static float then_c(const operands *a, const operands *b, float c) {
    float sum = 0;
    for (size_t k = 0; k < a->count; k++)
        sum = fmaf(factor(a, k), factor(b, k), sum);
    return c + sum;
}

static float pairs(const operands *a, const operands *b, float c) {
    for (size_t k = 0; k + 1 < a->count; k += 2)
        c += fmaf(factor(a, k + 1), factor(b, k + 1), factor(a, k) * factor(b, k));
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
    int greatest = greatest_product(t);
    if (t->c.kind != NUMBER_ZERO && t->c.exponent > greatest)
        greatest = t->c.exponent;
    if (model->least_exponent > greatest)
        greatest = model->least_exponent;
    int64_t sum = sum_of_products(t, greatest) + aligned_c(t, greatest);
    uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    uint64_t code = format_encode(t->c_format, model->result_fraction_bits, model->round, sum < 0,
                                  magnitude, greatest - model->fraction_bits);
    return code & format_nan(t->c_format) ? code : 0;
}

static uint64_t steps(const sum_model *model, const operands *a, const operands *b,
                      const float_format *c_format, uint64_t c) {
    size_t step = model->as_f16 ? a->count / 2 : (size_t)model->step;
    for (size_t k = 0; k < a->count; k += step) {
        size_t last = k + step < a->count ? k + step : a->count;
        terms t = {model, a, b, k, last, c_format, format_decode(c_format, c)};
        bool special =
            a->special || b->special || t.c.kind == NUMBER_INFINITE || t.c.kind == NUMBER_NAN;
        unsigned found = special ? infinities(&t) : 0;
        c = found ? special_result(&t, found) : finite_step(&t);
    }
    return c;
}

uint64_t model_element(const sum_model *model, const operands *a, const operands *b,
                       const float_format *c_format, uint64_t c) {
    if (model->order == SUM_CHAIN)
        return chain64(a, b, c);
    double c_value = format_value(c_format, c);
    if (model->order == SUM_THEN_C)
        return format_round(c_format, (double)then_c(a, b, (float)c_value));
    if (model->order == SUM_PAIRS)
        return format_round(c_format, (double)pairs(a, b, (float)c_value));
    if (!model->as_f16)
        return steps(model, a, b, c_format, c);
    return format_round(c_format,
                        c_value + format_value(c_format, steps(model, a, b, c_format, 0)));
}
