/* effect.c - see effect.h. */
#include "base/effect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {[EFFECT_PRINT] = "print",
                                    [EFFECT_PRINT_MORE] = "more",
                                    [EFFECT_CHECK] = "check",
                                    [EFFECT_TURNS] = "turns"};

enum { KINDS = sizeof names / sizeof *names, DIGITS_MAX = 9 };

const char *effect_kind_name(effect_kind kind) {
    return names[kind];
}

/* The end of a number; NULL: there is none. */
static const char *behind_number(const char *at) {
    const size_t digits = strspn(at, "0123456789");
    return digits && digits <= DIGITS_MAX ? at + digits : NULL;
}

bool effect_read(const char *source, effect *out) {
    for (size_t i = 0; source && i < KINDS; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(source, names[i], length) != 0 || source[length] != ':')
            continue;
        const char *line = source + length + 1, *blocks = behind_number(line), *end = blocks;
        while (end && *end == '.')
            end = behind_number(end + 1);
        if (!end || *end != ':')
            return false;
        *out = (effect){(effect_kind)i, (uint32_t)strtoul(line, NULL, 10), blocks, end + 1};
        return i != EFFECT_TURNS || *blocks == '.';
    }
    return false;
}

bool effect_is_of(effect_kind kind, dtype type) {
    return kind == EFFECT_CHECK ? type == DTYPE_BOOL
                                : kind != EFFECT_TURNS || type == DTYPE_BOOL || type == DTYPE_I32;
}

uint32_t effect_block(const effect *e, uint32_t depth) {
    const char *at = e->blocks;
    for (; *at == '.' && depth; depth--)
        at = behind_number(at + 1);
    return *at == '.' ? (uint32_t)strtoul(at + 1, NULL, 10) : 0;
}
