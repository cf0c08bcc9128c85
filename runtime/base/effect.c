/* effect.c - see effect.h. */
#include "base/effect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [EFFECT_PRINT] = "print", [EFFECT_PRINT_MORE] = "more", [EFFECT_CHECK] = "check"};

enum { KINDS = sizeof names / sizeof *names, LINE_DIGITS_MAX = 9 };

const char *effect_kind_name(effect_kind kind) {
    return names[kind];
}

bool effect_read(const char *source, effect *out) {
    for (size_t i = 0; source && i < KINDS; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(source, names[i], length) != 0 || source[length] != ':')
            continue;
        const char *line = source + length + 1;
        const size_t digits = strspn(line, "0123456789");
        if (digits == 0 || digits > LINE_DIGITS_MAX || line[digits] != ':')
            return false;
        *out = (effect){(effect_kind)i, (uint32_t)strtoul(line, NULL, 10), line + digits + 1};
        return true;
    }
    return false;
}
