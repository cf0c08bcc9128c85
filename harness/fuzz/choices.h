/* choices.h - the numbers that a random kernel is made from.
 *
 * A kernel is a function of a sequence of small numbers: the generator asks for one below a limit,
 * and gets the next of the sequence. A fresh sequence is drawn from a seed; a given one is
 * replayed, and past its end every choice is 0, which always means the simplest. So a failing
 * kernel shrinks by shrinking its sequence, whatever the generator does with it. */
#ifndef TESSERA_HARNESS_FUZZ_CHOICES_H
#define TESSERA_HARNESS_FUZZ_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/vec.h"

typedef VEC(uint32_t) choice_list;

typedef struct choices {
    choice_list made; /* what was chosen so far, each below its limit */
    const choice_list *given;
    uint64_t state; /* of the generator, where `given` is NULL */
} choices;

/* Draws from the stream `number` of `seed`. */
void choices_draw(choices *c, uint64_t seed, uint64_t number);
void choices_replay(choices *c, const choice_list *given);
void choices_release(choices *c);

/* 0 <= result < limit; limit is at least 1. */
uint32_t choose_below(choices *c, uint32_t limit);
/* A place in `weights`, whose sum is at least 1: the greater its weight, the oftener. */
uint32_t choose_weighted(choices *c, const uint32_t *weights, uint32_t count);
/* True with a chance of one in `n`; false is the simpler. */
bool choose_rarely(choices *c, uint32_t n);
/* Words of a source: a number that stands beside elements of the type, and what a case draws an
 * input of it from ("": the default). */
const char *choose_number(choices *c, dtype type);
const char *choose_distribution(choices *c, dtype type);

#endif
