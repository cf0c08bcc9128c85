/* effect.h - outputs that are no results: what a launch prints or checks, as one string,
 * "check:12:words", in the graph and in a module's metadata.
 *
 * What stands in blocks of loops and branches has their numbers behind its line, the outermost
 * first: "print:12.1.4:words". A loop gives its values one more axis, of its turns; where only some
 * of these happen, and of a branch, "turns:11.1:" says which. */
#ifndef TESSERA_BASE_EFFECT_H
#define TESSERA_BASE_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"

typedef enum effect_kind {
    EFFECT_PRINT,
    EFFECT_PRINT_MORE, /* on the line of the one before */
    EFFECT_CHECK,      /* its output is of bools */
    EFFECT_TURNS       /* how many turns of a loop happened, i32; was a branch taken, bool */
} effect_kind;

typedef struct effect {
    effect_kind kind;
    uint32_t line;      /* of the source; nine digits at most */
    const char *blocks; /* in `source`: ".1.4:..." */
    const char *words;  /* in `source`: around the value {}, or the message of a check */
} effect;

/* "print", "more", "check", "turns". */
const char *effect_kind_name(effect_kind kind);
/* False: `source` is no effect; NULL is none. */
bool effect_read(const char *source, effect *out);
/* Can its output be of that type? */
bool effect_is_of(effect_kind kind, dtype type);
/* The number of the block at that depth, from 0; 0: so deep it does not stand. */
uint32_t effect_block(const effect *e, uint32_t depth);

#endif
