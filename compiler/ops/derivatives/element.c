/* element.c - derivatives of element-wise operations: factors (derivative.h). */
#include <math.h>

#include "ops/derivatives/derivative.h"

static const factor one = {FACTOR_ONE, 0}, minus = {FACTOR_MINUS, 0};

static factor times(ir_value by) {
    return (factor){FACTOR_TIMES, by};
}

static factor over(ir_value by) {
    return (factor){FACTOR_OVER, by};
}

static ir_value number(const element *e, double value) {
    return build_number(e->b, value, e->y);
}

static ir_value add(const element *e, ir_value x, ir_value y) {
    return build_binary(e->b, GRAPH_ADD, x, y);
}

static ir_value sub(const element *e, ir_value x, ir_value y) {
    return build_binary(e->b, GRAPH_SUB, x, y);
}

static ir_value mul(const element *e, ir_value x, ir_value y) {
    return build_binary(e->b, GRAPH_MUL, x, y);
}

static ir_value divide(const element *e, ir_value x, ir_value y) {
    return build_binary(e->b, GRAPH_DIV, x, y);
}

/* value where x has that relation to a number, else `otherwise` */
static ir_value where(const element *e, ir_value x, const char *predicate, double bound,
                      ir_value value, ir_value otherwise) {
    return build_select(e->b, build_compare(e->b, predicate, x, number(e, bound)), value,
                        otherwise);
}

/* ---- one operand ---- */

static factor factor_neg(const element *e, uint32_t i) {
    (void)e, (void)i;
    return minus;
}

/* The sign of x; 0 at 0. */
static factor factor_abs(const element *e, uint32_t i) {
    (void)i;
    ir_value below = where(e, e->x[0], "lt", 0, number(e, -1), number(e, 0));
    return times(where(e, e->x[0], "gt", 0, number(e, 1), below));
}

static factor factor_sqrt(const element *e, uint32_t i) {
    (void)i;
    return over(mul(e, number(e, 2), e->y));
}

static factor factor_rsqrt(const element *e, uint32_t i) {
    (void)i;
    return times(mul(e, number(e, -0.5), divide(e, e->y, e->x[0])));
}

static factor factor_exp(const element *e, uint32_t i) {
    (void)i;
    return times(e->y);
}

static factor factor_exp2(const element *e, uint32_t i) {
    (void)i;
    return times(mul(e, e->y, number(e, M_LN2)));
}

static factor factor_expm1(const element *e, uint32_t i) {
    (void)i;
    return times(add(e, e->y, number(e, 1)));
}

static factor factor_log(const element *e, uint32_t i) {
    (void)i;
    return over(e->x[0]);
}

static factor factor_log2(const element *e, uint32_t i) {
    (void)i;
    return over(mul(e, e->x[0], number(e, M_LN2)));
}

static factor factor_log1p(const element *e, uint32_t i) {
    (void)i;
    return over(add(e, e->x[0], number(e, 1)));
}

static factor factor_tanh(const element *e, uint32_t i) {
    (void)i;
    return times(sub(e, number(e, 1), mul(e, e->y, e->y)));
}

/* 2 / sqrt(pi) * exp(-x * x) */
static factor factor_erf(const element *e, uint32_t i) {
    (void)i;
    ir_value square = build_unary(e->b, GRAPH_NEG, mul(e, e->x[0], e->x[0]));
    return times(mul(e, number(e, M_2_SQRTPI), build_unary(e->b, GRAPH_EXP, square)));
}

static factor factor_logistic(const element *e, uint32_t i) {
    (void)i;
    return times(mul(e, e->y, sub(e, number(e, 1), e->y)));
}

static factor factor_sin(const element *e, uint32_t i) {
    (void)i;
    return times(build_unary(e->b, GRAPH_COS, e->x[0]));
}

static factor factor_cos(const element *e, uint32_t i) {
    (void)i;
    return times(build_unary(e->b, GRAPH_NEG, build_unary(e->b, GRAPH_SIN, e->x[0])));
}

/* ---- two and three ---- */

/* y * x^(y - 1), 0 where y is 0; log(x) * x^y, 0 where x is 0 */
static factor factor_pow(const element *e, uint32_t i) {
    ir_value x = e->x[0], y = e->x[1], zero = number(e, 0), one_ = number(e, 1);
    if (i == 1) {
        ir_value log = build_unary(e->b, GRAPH_LOG, where(e, x, "eq", 0, one_, x));
        return times(mul(e, log, e->y));
    }
    ir_value less = where(e, y, "eq", 0, one_, sub(e, y, one_));
    return times(where(e, y, "eq", 0, zero, mul(e, y, build_binary(e->b, GRAPH_POW, x, less))));
}

/* atan2(y, x): x / (x * x + y * y), -y / (x * x + y * y). */
static factor factor_atan2(const element *e, uint32_t i) {
    ir_value y = e->x[0], x = e->x[1], sum = add(e, mul(e, x, x), mul(e, y, y));
    return times(divide(e, i == 0 ? x : build_unary(e->b, GRAPH_NEG, y), sum));
}

static factor factor_add(const element *e, uint32_t i) {
    (void)e, (void)i;
    return one;
}

static factor factor_sub(const element *e, uint32_t i) {
    (void)e;
    return i == 0 ? one : minus;
}

static factor factor_mul(const element *e, uint32_t i) {
    return times(e->x[1 - i]);
}

/* 1 / y, -(x / y) / y */
static factor factor_div(const element *e, uint32_t i) {
    if (i == 0)
        return over(e->x[1]);
    return times(divide(e, build_unary(e->b, GRAPH_NEG, e->y), e->x[1]));
}

/* The operand that is the result has all; of two that both are, each has a half. */
static factor factor_maximum(const element *e, uint32_t i) {
    ir_value both = build_compare(e->b, "eq", e->x[0], e->x[1]),
             its = build_compare(e->b, "eq", e->x[i], e->y);
    ir_value alone = build_select(e->b, its, number(e, 1), number(e, 0));
    return times(build_select(e->b, both, number(e, 0.5), alone));
}

/* It flows where x is above 0. */
static factor factor_relu(const element *e, uint32_t i) {
    (void)i;
    return (factor){FACTOR_WHERE, build_compare(e->b, "gt", e->x[0], number(e, 0))};
}

static factor factor_select(const element *e, uint32_t i) {
    return (factor){i == 0 ? FACTOR_NONE : i == 1 ? FACTOR_WHERE : FACTOR_WHERE_NOT, e->x[0]};
}

static factor factor_fma(const element *e, uint32_t i) {
    return i == 2 ? one : times(e->x[1 - i]);
}

/* ---- other types ---- */

static void transpose_convert(ir_builder *b, ir_op op, ir_value cotangent, const bool *wanted,
                              ir_value *out) {
    (void)wanted;
    out[0] = build_convert(b, cotangent, build_type(b, ir_op_get(b->m, op)->operands[0])->element);
}

static ir_value forward_convert(ir_builder *b, ir_op op, const ir_value *tangents) {
    return build_convert(b, tangents[0], build_type(b, ir_op_get(b->m, op)->results[0])->element);
}

#define FACTOR(name) const derivative derivative_##name = {.factor = factor_##name}
FACTOR(neg);
FACTOR(abs);
FACTOR(sqrt);
FACTOR(rsqrt);
FACTOR(exp);
FACTOR(exp2);
FACTOR(expm1);
FACTOR(log);
FACTOR(log2);
FACTOR(log1p);
FACTOR(tanh);
FACTOR(erf);
FACTOR(logistic);
FACTOR(sin);
FACTOR(cos);
FACTOR(pow);
FACTOR(atan2);
FACTOR(add);
FACTOR(sub);
FACTOR(mul);
FACTOR(div);
FACTOR(maximum);
FACTOR(select);
FACTOR(fma);
FACTOR(relu);
#undef FACTOR

const derivative derivative_minimum = {.factor = factor_maximum};
const derivative derivative_zero = {.zero = true};
/* Roundings count as exact. */
const derivative derivative_convert = {.forward = forward_convert, .transpose = transpose_convert};
const derivative derivative_stochastic_round = {.forward = forward_convert,
                                                .transpose = transpose_convert};
