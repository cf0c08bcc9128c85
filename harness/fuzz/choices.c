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
