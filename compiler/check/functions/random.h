/* random.h - random words, drawn for the places of elements. */
#ifndef TESSERA_CHECK_FUNCTIONS_RANDOM_H
#define TESSERA_CHECK_FUNCTIONS_RANDOM_H

#include "check/check.h"

typedef struct random_draw {
    int64_t seed;
    entity step;  /* i32, without axes */
    entity index; /* i32: the place of each element in the whole tensor */
    span at;
} random_draw;

/* Reads the arguments `seed` and `step`, and in tiles `rows` and `cols`, of a call that draws for
 * the elements of a tensor like this one. False when reported. */
bool random_begin(checker *c, const call_arguments *a, const entity *like, random_draw *out);
/* i32: a word for each element, of a site of its own. */
entity random_word(checker *c, const random_draw *d);

#endif
