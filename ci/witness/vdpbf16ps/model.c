/* model.c - the models in f64, by a sum that is rounded to odd: rounding that to 24 bits is
 * rounding the exact sum (Boldo and Melquiond, IEEE TC 57, 2008). */
#include "model.h"

#include <math.h>
#include <string.h>

static float without_subnormal(float x) {
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* x + y with the last bit set where that is not all of it. */
static double add_to_odd(double x, double y) {
    double sum = x + y, back = sum - x, error = (x - (sum - back)) + (y - back);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (!isfinite(sum) || error == 0 || (bits & 1))
        return sum;
    return nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

/* To f32; tiny numbers are zeros of their sign. What 24 bits hold with any exponent is what f32
 * holds of 2^64 times that. */
static float rounded(model m, double exact) {
    float stored = (float)exact;
    bool tiny = fabs(exact) < 0x1p-126;
    if (m != MODEL_FLUSH_BEFORE)
        tiny = fabs(exact) < 0x1p-100 && fabsf((float)(exact * 0x1p64)) < 0x1p-62f;
    if (m == MODEL_FLUSH_STORED)
        tiny = fabsf(stored) < 0x1p-126f;
    return tiny ? (float)copysign(0, exact) : stored;
}

/* A product of two bf16 is exact in f64. */
static double product(const lane *l, bool odd) {
    return (double)without_subnormal(lane_factor(l->x, odd)) *
           (double)without_subnormal(lane_factor(l->y, odd));
}

uint32_t model_result(model m, const lane *l) {
    bool odd_first = m != MODEL_EVEN_FIRST;
    float sum = without_subnormal(float_of_bits(l->sum));
    double first = product(l, odd_first), second = product(l, !odd_first);
    if (m == MODEL_ONE_ROUNDING)
        return canonical_bits(
            bits_of_float(rounded(m, add_to_odd(add_to_odd(first, second), (double)sum))));
    sum = rounded(m, add_to_odd(first, (double)sum));
    return canonical_bits(bits_of_float(rounded(m, add_to_odd(second, (double)sum))));
}
