/* judge.c - one commit against the good one, by tsr gate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "bisect/bisect.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/say.h"
#include "gate/side.h"
#include "job/job.h"
#include "process/checkout.h"
#include "process/program.h"

/* Pairs of processes for a retry: as many as a gate ever has. */
#define MOST_PAIRS "96"

static void settle(bisect_commit *c, bisect_mark mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void settle(bisect_commit *c, bisect_mark mark, const char *format, ...) {
    va_list args;
    text words;
    text_init(&words);
    va_start(args, format);
    text_vprintf(&words, format, args);
    va_end(args);
    free(c->why);
    c->why = text_take(&words);
    c->mark = mark;
    text_release(&words);
}

static bool is_noted(const bisect *b, const char *folder) {
    for (size_t i = 0; i < b->made.count; i++)
        if (strcmp(b->made.items[i], folder) == 0)
            return true;
    return false;
}

/* Its tree, built. A folder that is new is noted before it is made: whatever ends the search, it is
 * known whose it is. */
static bool check_out(bisect *b, const char *hash, status *st) {
    char commit[65];
    text folder;
    bool ok = true;
    text_init(&folder);
    text_printf(&folder, ".tsr/checkouts/%s", hash);
    if (!file_is_dir(folder.data) && !is_noted(b, folder.data)) {
        vec_push(&b->made, base_strdup(folder.data));
        ok = bisect_save(b, st);
    }
    char *made = ok ? checkout_make(hash, b->build, commit, st) : NULL;
    text_release(&folder);
    free(made);
    return made != NULL;
}

/* The document of a gate; NULL where there is none. */
static json_t *run_gate(const bisect *b, const char *hash, bool again, status *st) {
    VEC(const char *) words = {0};
    text baseline, against, out;
    text_init(&baseline);
    text_init(&against);
    text_init(&out);
    text_printf(&baseline, "commit:%s", b->good);
    text_printf(&against, "commit:%s", hash);
    const char *fixed[] = {b->judge ? b->judge : "/proc/self/exe",
                           "gate",
                           "--json",
                           "--baseline",
                           baseline.data,
                           "--against",
                           against.data};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        vec_push(&words, fixed[i]);
    if (b->build) {
        vec_push(&words, "--build");
        vec_push(&words, b->build);
    }
    if (again) {
        vec_push(&words, "--pairs");
        vec_push(&words, MOST_PAIRS);
    }
    for (size_t i = 0; i < json_array_size(b->gate); i++)
        vec_push(&words, json_string_value(json_array_get(b->gate, i)));
    vec_push(&words, NULL);
    program p = {.arguments = words.items, .output = &out};
    int code = 0;
    json_t *document = NULL;
    if (program_run(&p, &code, st)) {
        document = json_loads(out.data, 0, NULL);
        if (!document && !interrupt_seen)
            status_set(st, STATUS_INVALID, "tsr gate ended with code %d: see its message above",
                       code);
    }
    vec_release(&words);
    text_release(&baseline);
    text_release(&against);
    text_release(&out);
    return document;
}

static size_t count_of(const json_t *document, const char *verdict) {
    size_t i, count = 0;
    json_t *row;
    json_array_foreach(json_object_get(document, "results"), i, row) count +=
        strcmp(json_text_at(row, "verdict"), verdict) == 0;
    return count;
}

/* The row of the greatest change with that verdict; any verdict where it is NULL. */
static const json_t *worst(const json_t *document, const char *verdict) {
    const json_t *found = NULL;
    double most = -INFINITY;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(document, "results"), i, row) {
        const json_t *change = json_object_get(json_object_get(row, "change"), "estimate");
        if (verdict && strcmp(json_text_at(row, "verdict"), verdict) != 0)
            continue;
        if (!found || (json_is_number(change) && json_number_value(change) > most)) {
            found = row;
            most = json_is_number(change) ? json_number_value(change) : most;
        }
    }
    return found;
}

static void put_change(bisect_commit *c, const json_t *row) {
    const json_t *change = json_object_get(row, "change");
    c->changed = json_is_object(change);
    c->change = json_number_value(json_object_get(change, "estimate"));
    c->low = json_number_value(json_object_get(change, "low"));
    c->high = json_number_value(json_object_get(change, "high"));
}

static void mark(bisect_commit *c, bisect_mark which, const json_t *row, const char *what) {
    const char *why = json_text_at(row, "why"), *reason = json_text_at(row, "reason");
    settle(c, which, "%s/%s %s%s%s", json_text_at(row, "kernel"), json_text_at(row, "case"), what,
           *why || *reason ? ": " : "", *why ? why : reason);
    put_change(c, row);
}

/* False: no verdict yet. */
static bool decide(bisect_commit *c, const json_t *document) {
    if (json_array_size(json_object_get(document, "results")) == 0)
        settle(c, BISECT_SKIPPED, "it has no such case");
    else if (count_of(document, "REGRESSED"))
        mark(c, BISECT_BAD, worst(document, "REGRESSED"), "is slower");
    else if (count_of(document, "FAILED"))
        mark(c, BISECT_SKIPPED, worst(document, "FAILED"), "cannot be compared");
    else if (count_of(document, "INCONCLUSIVE"))
        return false;
    else
        mark(c, BISECT_GOOD, worst(document, NULL), "is not slower");
    return true;
}

bool bisect_judge(bisect *b, bisect_commit *c, status *st) {
    status built = STATUS_INIT;
    if (!check_out(b, b->good, st))
        return false;
    if (!check_out(b, c->hash, &built)) {
        if (interrupt_seen || built.code != STATUS_INVALID)
            return status_set(st, built.code, "%s", built.message);
        settle(c, BISECT_SKIPPED, "it does not build: %s", built.message);
        return true;
    }
    for (int attempt = 0; attempt < 2; attempt++) {
        json_t *document = run_gate(b, c->hash, attempt > 0, st);
        bool decided = document && decide(c, document);
        if (document && !decided && attempt > 0)
            mark(c, BISECT_SKIPPED, worst(document, "INCONCLUSIVE"), "cannot be told from noise");
        json_decref(document);
        if (!document || decided)
            return document != NULL && !interrupt_seen;
        if (attempt == 0)
            say(stderr, "tsr: no verdict; once more, with " MOST_PAIRS " pairs of processes\n");
    }
    return !interrupt_seen;
}
