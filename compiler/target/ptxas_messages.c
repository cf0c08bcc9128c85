/* ptxas_messages.c - the numbers in what `ptxas -v` says:
 *
 *   ptxas info    : Compiling entry function 'NAME' for 'sm_80'
 *   ptxas info    : Function properties for NAME
 *       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 32 registers, used 0 barriers, 376 bytes cmem[0] */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/target.h"

enum { NAME_BYTES = 512 };
static const char begins[] = "Compiling entry function '";

static const struct known {
    const char *name, *before, *behind;
} known[] = {
#define PTXAS(name, before, behind) {#name, before, behind},
#include "target/resources.def"
};

/* The number that stands before `behind` and after `before`, in `length` characters. -1: none. */
static int64_t number_in(const char *words, size_t length, const struct known *k) {
    const char *found = memmem(words, length, k->behind, strlen(k->behind)), *start = found;
    while (start && start > words && isdigit((unsigned char)start[-1]))
        start--;
    size_t before = strlen(k->before);
    if (!found || start == found || (size_t)(start - words) < before ||
        memcmp(start - before, k->before, before) != 0)
        return -1;
    return strtoll(start, NULL, 10);
}

void ptxas_resources(const char *messages, const resource_reader *reader) {
    const char *at = strstr(messages, begins);
    while (at) {
        char symbol[NAME_BYTES];
        at += sizeof begins - 1;
        const char *next = strstr(at, begins);
        size_t length = next ? (size_t)(next - at) : strlen(at);
        snprintf(symbol, sizeof symbol, "%.*s", (int)strcspn(at, "'"), at);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            int64_t value = number_in(at, length, &known[i]);
            if (value >= 0)
                reader->tell(reader->context, symbol, known[i].name, value);
        }
        at = next;
    }
}
