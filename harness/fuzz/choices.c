/* choices.c - drawn by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), or replayed. */
#include "fuzz/choices.h"

static uint64_t next_word(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void choices_draw(choices *c, uint64_t seed, uint64_t number) {
    *c = (choices){.state = seed};
    c->state = next_word(&c->state) ^ number;
    c->state = next_word(&c->state);
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
                             : (uint32_t)(next_word(&c->state) >> 32);
    uint32_t choice = word % limit;
    vec_push(&c->made, choice);
    return choice;
}

bool choose_rarely(choices *c, uint32_t n) {
    return choose_below(c, n) == n - 1;
}
