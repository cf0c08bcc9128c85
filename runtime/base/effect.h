/* effect.h - outputs that are no results: what a launch prints or checks, as one string,
 * "check:12:words", in the graph and in a module's metadata. */
#ifndef TESSERA_BASE_EFFECT_H
#define TESSERA_BASE_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum effect_kind {
    EFFECT_PRINT,
    EFFECT_PRINT_MORE, /* on the line of the one before */
    EFFECT_CHECK       /* its output is of bools */
} effect_kind;

typedef struct effect {
    effect_kind kind;
    uint32_t line;     /* of the source; nine digits at most */
    const char *words; /* in `source`: around the value {}, or the message of a check */
} effect;

/* "print", "more", "check". */
const char *effect_kind_name(effect_kind kind);
/* False: `source` is no effect; NULL is none. */
bool effect_read(const char *source, effect *out);

#endif
