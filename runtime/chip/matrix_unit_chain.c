/* matrix_unit_chain.c - units that add with a rounding after each operation. Sources:
 * matrix_units.def. */
#include <math.h>

#include "base/dtype.h"
#include "chip/matrix_unit_rules.h"

static uint64_t f32_code(float x) {
    return isnan(x) ? binary_quiet_nan(&binary_f32) : f32_bits(x);
}

static float f32_of(uint64_t code) {
    return f32_from_bits((uint32_t)code);
}

static float factor(const matrix_factors *row, size_t k) {
    return (float)row->value[k];
}

/* ---- fma after fma ---- */

static bool is_nan64(uint64_t code) {
    return binary_decode(&binary_f64, code).kind == BINARY_NAN;
}

/* a * b + c. Of several NaNs b's is kept, else c's, else a's, made quiet; an invalid operation
 * gives a negative one. */
static uint64_t fma64(uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t quiet = UINT64_C(1) << 51, invalid = UINT64_C(0xfff8000000000000);
    double sum = fma(f64_from_bits(a), f64_from_bits(b), f64_from_bits(c));
    if (!isnan(sum))
        return f64_bits(sum);
    if (is_nan64(a) || is_nan64(b) || is_nan64(c))
        return (is_nan64(b) ? b : is_nan64(c) ? c : a) | quiet;
    return invalid;
}

uint64_t matrix_fma(const matrix_terms *t, uint64_t c) {
    if (t->unit->accumulator == &binary_f64) {
        for (size_t k = t->first; k < t->last; k++)
            c = fma64(t->a->code[k], t->b->code[k], c);
        return c;
    }
    float sum = f32_of(c);
    for (size_t k = t->first; k < t->last; k++)
        sum = fmaf(factor(t->a, k), factor(t->b, k), sum);
    return f32_code(sum);
}

uint64_t matrix_fma_then_c(const matrix_terms *t, uint64_t c) {
    float sum = 0;
    for (size_t k = t->first; k < t->last; k++)
        sum = fmaf(factor(t->a, k), factor(t->b, k), sum);
    return binary_round(&binary_f32, (double)(f32_of(c) + sum));
}

uint64_t matrix_fma_pairs(const matrix_terms *t, uint64_t c) {
    float sum = (float)binary_value(&binary_f16, c);
    for (size_t k = t->first; k + 1 < t->last; k += 2)
        sum += fmaf(factor(t->a, k + 1), factor(t->b, k + 1), factor(t->a, k) * factor(t->b, k));
    return binary_round(&binary_f16, (double)sum);
}

/* ---- CDNA1, CDNA2: trees ---- */

static float kept(const matrix_unit *unit, float x) {
    return unit->rule == MATRIX_UNIT_TREE_FLUSHED && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* Products first .. first + count - 1, of which those from last on are +0; a power of two. */
static float halved(const matrix_terms *t, size_t first, size_t count) {
    if (count == 1)
        return first < t->last ? kept(t->unit, fmaf(factor(t->a, first), factor(t->b, first), 0))
                               : 0;
    float lower = halved(t, first, count / 2), upper = halved(t, first + count / 2, count / 2);
    return kept(t->unit, lower + upper);
}

uint64_t matrix_tree(const matrix_terms *t, uint64_t c) {
    size_t step = (size_t)t->unit->step;
    float sum = f32_of(c);
    if (t->unit->rule == MATRIX_UNIT_TREE_FLUSHED && fabsf(sum) < 0x1p-126f)
        sum = 0; /* the sign, too */
    for (size_t k = t->first; k < t->last; k += step)
        sum = kept(t->unit, sum + halved(t, k, step));
    return f32_code(sum);
}

/* ---- x86: fma without subnormals ---- */

static float without_subnormal(float x) {
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* Operands are without subnormals. Whether the result is below the normal numbers is asked of what
 * 24 bits and any exponent would hold: `far`, which is that times 2^64. Where that is none because
 * the operands are too large, the result is far from there. */
static float flushed_fma(float x, float y, float sum) {
    float near = fmaf(x, y, sum);
    if (fabsf(near) > 0x1p-100f || isnan(near))
        return near;
    float far = fmaf(x * 0x1p64f, y, sum * 0x1p64f);
    return fabsf(far) < 0x1p-62f ? copysignf(0, far) : near;
}

uint64_t matrix_odd_first(const matrix_terms *t, uint64_t c) {
    float sum = without_subnormal(f32_of(c));
    for (size_t k = t->first; k < t->last; k += 2) {
        bool whole = k + 1 < t->last;
        sum = flushed_fma(whole ? factor(t->a, k + 1) : 0, whole ? factor(t->b, k + 1) : 0, sum);
        sum = flushed_fma(factor(t->a, k), factor(t->b, k), sum);
    }
    return f32_code(sum);
}

uint64_t matrix_lanes(const matrix_terms *t, uint64_t c) {
    float lanes[2] = {0, 0};
    for (size_t k = t->first; k < t->last; k++)
        lanes[k & 1] = flushed_fma(factor(t->a, k), factor(t->b, k), lanes[k & 1]);
    float sum = without_subnormal(lanes[0] + lanes[1]);
    return f32_code(without_subnormal(without_subnormal(f32_of(c)) + sum));
}

/* ---- Arm: pairs ---- */

/* x + y with the last bit set where that is not all of it: rounding that to 24 bits is rounding the
 * exact sum (Boldo and Melquiond, IEEE Transactions on Computers 57, 2008). */
static double add_to_odd(double x, double y) {
    double sum = x + y, back = sum - x, error = (x - (sum - back)) + (y - back);
    if (!isfinite(sum) || error == 0 || (f64_bits(sum) & 1))
        return sum;
    return nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

/* To f32: cut, and the last bit set where that is not all of it. What is below the normal numbers
 * is zero, what is above the greatest one infinity. */
static float to_odd_f32(double x) {
    uint64_t bits = f64_bits(x), below = bits & 0x1fffffff;
    double magnitude = fabs(x);
    if (isnan(x) || magnitude < 0x1p-126)
        return (float)copysign(isnan(x) ? NAN : 0, x);
    if (magnitude >= 0x1p128)
        return (float)copysign(HUGE_VAL, x);
    return f32_from_bits(f32_bits((float)f64_from_bits(bits - below)) | (below != 0));
}

static double product(const matrix_terms *t, size_t k) {
    return k < t->last ? t->a->value[k] * t->b->value[k] : 0; /* of bf16: exact */
}

uint64_t matrix_round_to_odd(const matrix_terms *t, uint64_t c) {
    float sum = f32_of(c);
    for (size_t k = t->first; k < t->last; k += 2) {
        float even = to_odd_f32(product(t, k)), odd = to_odd_f32(product(t, k + 1));
        float pair = to_odd_f32(add_to_odd((double)even, (double)odd));
        sum = to_odd_f32(add_to_odd((double)without_subnormal(sum), (double)pair));
    }
    return f32_code(sum);
}

uint64_t matrix_fused_pair(const matrix_terms *t, uint64_t c) {
    float sum = f32_of(c);
    for (size_t k = t->first; k < t->last; k += 2)
        sum += (float)add_to_odd(product(t, k), product(t, k + 1));
    return f32_code(sum);
}
