/* specialize.h - @specialize(when=..., use=...): reading, and which targets one fits. */
#ifndef TESSERA_CHECK_SPECIALIZE_H
#define TESSERA_CHECK_SPECIALIZE_H

#include "check/check.h"
#include "device/capability.h"

/* One thing that is asked of a target: a key of device/capability_keys.def and its value. */
typedef enum special_key {
#define KEY(name, value, asked, meaning) SPECIAL_KEY_##name,
#include "device/capability_keys.def"
    SPECIAL_KEY_COUNT
} special_key;

enum { SPECIAL_WORDS_MAX = 16 };
typedef struct special_condition {
    special_key key;
    int64_t number;                       /* of a count, or a flag */
    const char *words[SPECIAL_WORDS_MAX]; /* one of these names, or all of these types */
    uint32_t count;
} special_condition;

/* One decorator; NULL when reported. `in_tiles` decides what `use` may say. */
const compiler_special *specialize_read(checker *c, compiler_source *s, const kernel_interface *k,
                                        const node *n);
/* The chip, or the level of CPUs, that a target's name means, emulated or not; NULL: none. */
const capability_chip *specialize_chip(const char *isa);
/* Does it fit a chip, or a level of CPUs? Those that are not known fit nothing. */
bool specialize_fits(const compiler_special *special, const char *isa);

#endif
