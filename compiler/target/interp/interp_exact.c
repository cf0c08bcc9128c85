/* interp_exact.c - the order exact, in words. */
#include "target/interp/interp_exact.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { WORDS = INTERP_EXACT_WORDS, LEAST = -1074, SIGNIFICAND = 52, BIAS = 1075, DIGIT = 32 };

#define DIGITS UINT64_C(0xffffffff)

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

void interp_exact_add(interp_exact *a, double x) {
    const uint64_t bits = bits_of(x), field = bits >> SIGNIFICAND & 0x7ff,
                   fraction = bits & ((UINT64_C(1) << SIGNIFICAND) - 1),
                   number = fraction | (uint64_t)(field > 0) << SIGNIFICAND;
    a->minus = (a->minus || !a->any) && x == 0 && signbit(x);
    a->any = true;
    if (!isfinite(x)) {
        a->special += x;
        return;
    }
    const int place = (int)(field ? field : 1) - BIAS - LEAST, k = place / DIGIT,
              by = place % DIGIT;
    const uint64_t low = number & DIGITS, high = number >> DIGIT;
    const uint64_t parts[] = {low << by, high << by};
    for (int i = 0; i < 2; i++) { /* the part of weight 32 (k + i), and what reaches over it */
        const int64_t here = (int64_t)(parts[i] & DIGITS), next = (int64_t)(parts[i] >> DIGIT);
        if (here)
            a->words[k + i] += signbit(x) ? -here : here;
        if (next)
            a->words[k + i + 1] += signbit(x) ? -next : next;
    }
}

/* Digits from 0 to 2^32 - 1 of the magnitude. Returns whether the sum is below 0. */
static bool digits_of(const interp_exact *a, uint64_t *digits) {
    int64_t carry = 0;
    for (int k = 0; k < WORDS; k++) {
        const int64_t sum = a->words[k] + carry;
        digits[k] = (uint64_t)sum & DIGITS;
        carry = (sum - (int64_t)digits[k]) / ((int64_t)DIGITS + 1);
    }
    uint64_t one = 1;
    for (int k = 0; carry < 0 && k < WORDS; k++) { /* the complement, plus one */
        const uint64_t sum = (~digits[k] & DIGITS) + one;
        digits[k] = sum & DIGITS;
        one = sum >> DIGIT;
    }
    return carry < 0;
}

static bool bit_at(const uint64_t *digits, int place) {
    return place >= 0 && (digits[place / DIGIT] >> place % DIGIT & 1);
}

/* Bits from `last` to `top` stay: to nearest, ties to even, or to odd. */
static double rounded(const uint64_t *digits, int top, int last, bool odd) {
    uint64_t kept = 0;
    bool rest = false;
    for (int i = top; i >= last; i--)
        kept = kept << 1 | bit_at(digits, i);
    for (int i = last - 2; i >= 0 && !rest; i--)
        rest = bit_at(digits, i);
    if (odd)
        kept |= rest || bit_at(digits, last - 1);
    else if (bit_at(digits, last - 1) && (rest || (kept & 1)))
        kept++;
    const double x = ldexp((double)kept, last + LEAST);
    return odd && isinf(x) ? DBL_MAX : x;
}

double interp_exact_round(const interp_exact *a, dtype to, bool odd) {
    const bool wide = to == DTYPE_F64;
    const int bits = wide ? 53 : 24, least = (wide ? -1074 : -149) - LEAST;
    uint64_t digits[WORDS];
    if (a->special != 0) /* a NaN, too */
        return a->special;
    const bool negative = digits_of(a, digits);
    int top = WORDS * DIGIT - 1;
    while (top >= 0 && !bit_at(digits, top))
        top--;
    if (top < 0)
        return a->minus ? -0.0 : 0.0;
    const int last = top - bits + 1 > least ? top - bits + 1 : least;
    const double x = rounded(digits, top, last, odd);
    return negative ? -x : x;
}

float interp_exact_f32(const float *x, int64_t n) {
    interp_exact a = {.any = false};
    for (int64_t i = 0; i < n; i++)
        interp_exact_add(&a, (double)x[i]);
    return (float)interp_exact_round(&a, DTYPE_F32, false);
}

double interp_exact_f64(const double *x, int64_t n, bool odd) {
    interp_exact a = {.any = false};
    for (int64_t i = 0; i < n; i++)
        interp_exact_add(&a, x[i]);
    return interp_exact_round(&a, DTYPE_F64, odd);
}
