/* draft.c - schedules as text, and whether they fit. */
#include "tune/draft.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void draft_text(const draft *d, text *out) {
    for (uint32_t i = 0; i < d->count; i++)
        text_printf(out, "%s%s=%" PRId64, i ? "," : "", d->values[i].name, d->values[i].value);
}

bool draft_set(draft *d, const char *name, int64_t value) {
    uint32_t at = 0;
    while (at < d->count && strcmp(d->values[at].name, name) != 0)
        at++;
    if (at == DRAFT_MAX)
        return false;
    snprintf(d->values[at].name, sizeof d->values[at].name, "%s", name);
    d->values[at].value = value;
    d->count += at == d->count;
    return true;
}

void draft_remove(draft *d, uint32_t index) {
    memmove(&d->values[index], &d->values[index + 1], (d->count - index - 1) * sizeof d->values[0]);
    d->count--;
}

bool draft_space(const draft *d, const draft_kernel *k, compiler_space *out, status *st) {
    text words;
    compiler_options options = k->options;
    text_init(&words);
    draft_text(d, &words);
    options.schedule = words.data;
    bool ok = compiler_space_of(k->instance, &options, out, st);
    text_release(&words);
    return ok;
}

bool draft_fits(const draft *d, const draft_kernel *k) {
    compiler_space space;
    status st = STATUS_INIT;
    bool ok = draft_space(d, k, &space, &st);
    compiler_space_release(&space);
    return ok;
}
