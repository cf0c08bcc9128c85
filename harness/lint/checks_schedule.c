/* checks_schedule.c - does each parameter of @schedule change any schedule, and each @specialize
 * count for any target? */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/capability.h"
#include "lint/lint_kernel.h"

/* Schedules are cut for a number of threads: one, and several. */
static const uint32_t thread_counts[] = {1, 4};

/* The schedule of a case as text; nothing where there is none. */
static bool schedule_of(const lint_case *c, const compiler_schedule *schedule, uint32_t threads,
                        text *out, status *st) {
    compiler_options options = {
        .profile = PROFILE_STRICT, .threads = threads, .source_schedule = schedule};
    return compiler_emit(c->instance, &options, "schedule", out, st);
}

static bool changes(const lint_kernel *k, const compiler_schedule *without) {
    bool differs = false;
    for (size_t i = 0; i < k->case_count && !differs; i++)
        for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts && !differs; t++) {
            text with_it, without_it;
            status st = STATUS_INIT, ignored = STATUS_INIT;
            text_init(&with_it);
            text_init(&without_it);
            bool ok =
                schedule_of(&k->cases[i], k->kernel->schedule, thread_counts[t], &with_it, &st);
            /* Without it the others may fit no more: then it has an effect. */
            differs = ok && (!schedule_of(&k->cases[i], without, thread_counts[t], &without_it,
                                          &ignored) ||
                             strcmp(with_it.data, without_it.data) != 0);
            text_release(&with_it);
            text_release(&without_it);
        }
    return differs;
}

/* A schedule that does not fit is an error of the source, and is told once. */
static bool fits(const lint_kernel *k) {
    bool ok = true;
    for (size_t i = 0; i < k->case_count && ok; i++) {
        text ignored;
        status st = STATUS_INIT;
        text_init(&ignored);
        ok = schedule_of(&k->cases[i], k->kernel->schedule, thread_counts[0], &ignored, &st);
        if (!ok)
            lint_add_failure(k, k->cases[i].c, &st);
        text_release(&ignored);
    }
    return ok;
}

/* For how many targets a special counts among those of `schedule`. */
static size_t counts_for(const compiler_schedule *schedule, const compiler_special *special) {
    const capability_chip *chip;
    size_t count = 0;
    for (size_t i = 0; (chip = capability_chip_at(i)); i++)
        count += compiler_special_of(schedule, chip->name) == special;
    return count;
}

static void check_specials(const lint_kernel *k, const compiler_schedule *s) {
    for (uint32_t i = 0; i < s->special_count; i++) {
        const compiler_special *special = &s->specials[i];
        const compiler_schedule alone = {.specials = special, .special_count = 1};
        if (counts_for(s, special) == 0)
            lint_add(k, LINT_UNUSED_SPECIALIZATION, (lint_span){special->start, special->end}, NULL,
                     counts_for(&alone, special) ? "of %s one above fits wherever %s does"
                                                 : "%s: no target has %s",
                     k->kernel->name, special->when);
    }
}

void lint_check_schedule(const lint_kernel *k) {
    const compiler_schedule *s = k->kernel->schedule;
    if (s)
        check_specials(k, s);
    if (!s || !fits(k))
        return;
    compiler_schedule_entry *rest = base_calloc(s->count + 1, sizeof *rest);
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t kept = 0;
        for (uint32_t j = 0; j < s->count; j++)
            if (j != i)
                rest[kept++] = s->entries[j];
        compiler_schedule without = *s;
        without.entries = rest;
        without.count = kept;
        const compiler_schedule_entry *e = &s->entries[i];
        if (!changes(k, &without))
            lint_add(k, LINT_SCHEDULE_NO_EFFECT, (lint_span){e->start, e->end}, NULL,
                     "%s (%s) makes no difference to any case of %s", e->word, e->name,
                     k->kernel->name);
    }
    free(rest);
}
