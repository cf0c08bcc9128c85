/* choices.c - drawn by SplitMix64, or replayed. */
#include "fuzz/choices.h"

#include "base/splitmix64.h"

void choices_draw(choices *c, uint64_t seed, uint64_t number) {
    *c = (choices){.state = seed};
    c->state = splitmix64(&c->state) ^ number;
    c->state = splitmix64(&c->state);
}

void choices_replay(choices *c, const choice_list *given) {
    *c = (choices){.given = given};
}

void choices_release(choices *c) {
    vec_release(&c->made);
}

uint32_t choose_below(choices *c, uint32_t limit) {
    size_t at = c->made.count;
    uint32_t word = c->given ? (at < c->given->count ? c->given->items[at] : 0)
                             : (uint32_t)(splitmix64(&c->state) >> 32);
    uint32_t choice = word % limit;
    vec_push(&c->made, choice);
    return choice;
}

uint32_t choose_weighted(choices *c, const uint32_t *weights, uint32_t count) {
    uint32_t all = 0, i = 0;
    for (uint32_t n = 0; n < count; n++)
        all += weights[n];
    for (uint32_t at = choose_below(c, all); at >= weights[i]; i++)
        at -= weights[i];
    return i;
}

bool choose_rarely(choices *c, uint32_t n) {
    return choose_below(c, n) == n - 1;
}

/* The last ones are not of every type. */
const char *choose_number(choices *c, dtype type) {
    static const char *const floats[] = {"1.0", "0.5", "-0.0", "3.14159265358979", "1e-30", "inf"};
    static const char *const integers[] = {"1", "3", "0", "7", "-1"};
    const bool lacks_last = type == DTYPE_F8E4M3FN || dtype_is_unsigned(type);
    return dtype_is_float(type) ? floats[choose_below(c, lacks_last ? 5 : 6)]
                                : integers[choose_below(c, lacks_last ? 4 : 5)];
}

const char *choose_distribution(choices *c, dtype type) {
    static const char *const floats[] = {
        "", "", "", "special()", "constant(-0.0)", "uniform(-100, 100)", "integers(-4, 5)"};
    static const char *const integers[] = {"", "", "special()", "constant(0)", "integers(-4, 5)"};
    if (type == DTYPE_BOOL)
        return "";
    return dtype_is_float(type) ? floats[choose_below(c, 7)]
                                : integers[choose_below(c, dtype_is_unsigned(type) ? 4 : 5)];
}
