/* inputs.c - lanes by number: SplitMix64 of it is all the chance that there is. */
#include "inputs.h"

#include "base/splitmix64.h"

const char *const input_names[INPUT_KIND_COUNT] = {"any bits", "special", "numbers",
                                                   "border",   "cancels", "rounds up"};

typedef struct source {
    uint64_t state;
} source;

static uint64_t draw(source *s) {
    return splitmix64(&s->state);
}

static uint32_t below(source *s, uint32_t limit) {
    return (uint32_t)((draw(s) >> 32) * limit >> 32);
}

/* Any sign and digits, a biased exponent from `low` on. */
static uint32_t number(source *s, uint32_t low, uint32_t exponents) {
    uint32_t digits = (uint32_t)draw(s) & 0x807fffffu;
    return digits | (low + below(s, exponents)) << 23;
}

static uint32_t narrow(source *s, uint32_t low, uint32_t exponents) {
    return number(s, low, exponents) >> 16;
}

static uint32_t two(uint32_t odd, uint32_t even) {
    return odd << 16 | even;
}

static uint32_t special(source *s) {
    static const uint32_t table[] = {0x0000, 0x0001, 0x007f, 0x0080, 0x0081, 0x3f80, 0x3f81,
                                     0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x1f80, 0x2000, 0x4000};
    uint32_t sign = (uint32_t)draw(s) & 0x8000u;
    return sign | table[below(s, sizeof table / sizeof *table)];
}

static lane like_magnitudes(source *s, uint32_t sum, uint32_t factor, uint32_t exponents) {
    lane l = {.sum = number(s, sum, exponents)};
    l.x = two(narrow(s, factor, exponents), narrow(s, factor, exponents));
    l.y = two(narrow(s, factor, exponents), narrow(s, factor, exponents));
    return l;
}

/* A sum that is one of the products, but for a few of its last digits, with the sign against it. */
static lane cancelling(source *s) {
    lane l = like_magnitudes(s, 127, below(s, 4) ? 64 : 110, 4);
    bool odd = draw(s) & 1;
    uint32_t product = bits_of_float(lane_factor(l.x, odd) * lane_factor(l.y, odd));
    l.sum = (product ^ 0x80000000u) + below(s, 5) - 2;
    return l;
}

/* 2^-126 and a few last digits, less a product of about so much: digits 2^-149 apart, and what is
 * taken away down to 2^-156. The other product is 0, or as small. */
static lane rounding_up(source *s) {
    uint32_t sign = (uint32_t)draw(s) & 0x80000000u, low = 127 - 75 - below(s, 4), other = 0;
    uint32_t x = narrow(s, 127 - 75, 1) & 0x7fffu, y = narrow(s, low, 3) & 0x7fffu;
    lane l = {.sum = sign | (0x00800000u + below(s, 4))};
    y |= (sign ? 0 : 0x8000u);
    if (draw(s) & 1)
        other = narrow(s, 127 - 80, 2);
    bool odd = draw(s) & 1;
    l.x = odd ? two(x, other) : two(other, x);
    l.y = odd ? two(y, other) : two(other, y);
    return l;
}

lane input_lane(input_kind kind, uint64_t at) {
    source s = {at * INPUT_KIND_COUNT + kind};
    switch (kind) {
    case INPUT_SPECIAL:
        return (lane){.sum = special(&s) << 16 | (below(&s, 4) ? 0 : (uint32_t)draw(&s) & 0xffffu),
                      .x = two(special(&s), special(&s)),
                      .y = two(special(&s), special(&s))};
    case INPUT_NUMBERS:
        return like_magnitudes(&s, 127, 126, 3);
    case INPUT_BORDER:
        return like_magnitudes(&s, 0, 62, 4);
    case INPUT_CANCELS:
        return cancelling(&s);
    case INPUT_ROUNDS_UP:
        return rounding_up(&s);
    default:
        return (lane){.sum = (uint32_t)draw(&s), .x = (uint32_t)draw(&s), .y = (uint32_t)draw(&s)};
    }
}
