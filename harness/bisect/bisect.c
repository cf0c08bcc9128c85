/* bisect.c - the commits between good and bad, and the loop over them. */
#include "bisect/bisect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "common/interrupt.h"
#include "common/json_text.h"
#include "common/say.h"
#include "process/checkout.h"
#include "process/git.h"
#include "process/program.h"

/* ---- git ---- */
static char *resolve(const char *name, status *st) {
    text out;
    text_init(&out);
    char *hash = git_resolve(name, &out, st) ? text_take(&out) : NULL;
    text_release(&out);
    if (!hash && st->code != STATUS_UNAVAILABLE) { /* git does not say what it looked for */
        *st = (status)STATUS_INIT;
        status_set(st, STATUS_NOT_FOUND, "there is no commit '%s' in the repository here", name);
    }
    return hash;
}

/* "HASH SUBJECT" lines, from bad back along first parents; up to good. */
static bool take_commits(bisect *b, char *lines, status *st) {
    bool found = false;
    for (char *line = strtok(lines, "\n"); line && !found; line = strtok(NULL, "\n")) {
        char *space = strchr(line, ' ');
        if (space)
            *space = '\0';
        found = strcmp(line, b->good) == 0;
        bisect_commit c = {.hash = found ? NULL : base_strdup(line),
                           .subject = found ? NULL : base_strdup(space ? space + 1 : "")};
        if (!found)
            vec_push(&b->commits, c);
    }
    for (size_t i = 0, k = b->commits.count; i + 1 < k--; i++) {
        bisect_commit kept = b->commits.items[i];
        b->commits.items[i] = b->commits.items[k];
        b->commits.items[k] = kept;
    }
    if (!found)
        return status_set(st, STATUS_INVALID, "%.12s does not come from %.12s along first parents",
                          b->bad, b->good);
    return b->commits.count ||
           status_set(st, STATUS_INVALID, "good and bad are the same commit, %.12s", b->good);
}

/* Checkouts of a search that was given up are removed with those of this one. */
static void take_over(bisect *b) {
    status ignored = STATUS_INIT;
    bisect old = {0};
    if (bisect_load(&old, &ignored))
        for (size_t i = 0; i < old.made.count; i++)
            vec_push(&b->made, base_strdup(old.made.items[i]));
    bisect_close(&old);
}

bool bisect_open(bisect *b, const bisect_request *request, status *st) {
    *b = (bisect){.build = request->build ? base_strdup(request->build) : NULL,
                  .gate = json_incref(request->gate)};
    take_over(b);
    b->good = resolve(request->good, st);
    b->bad = b->good ? resolve(request->bad, st) : NULL;
    if (!b->bad)
        return false;
    const char *const arguments[] = {"git",  "log", "--first-parent", "--format=%H %s",
                                     b->bad, NULL};
    text lines;
    text_init(&lines);
    bool ok =
        git_ask(arguments, &lines, st) && take_commits(b, lines.data, st) && bisect_save(b, st);
    text_release(&lines);
    return ok;
}

bool bisect_resume(bisect *b, status *st) {
    *b = (bisect){0};
    return bisect_load(b, st);
}

void bisect_close(bisect *b) {
    for (size_t i = 0; i < b->commits.count; i++) {
        free(b->commits.items[i].hash);
        free(b->commits.items[i].subject);
        free(b->commits.items[i].why);
    }
    for (size_t i = 0; i < b->made.count; i++)
        free(b->made.items[i]);
    vec_release(&b->commits);
    vec_release(&b->made);
    free(b->good);
    free(b->bad);
    free(b->build);
    json_decref(b->gate);
    *b = (bisect){0};
}

/* ---- the loop ---- */
static void tell(const bisect_commit *c) {
    say(stderr, "tsr: %.12s %s: %s", c->hash, bisect_mark_name(c->mark), c->why);
    if (c->changed)
        say(stderr, " (%+.2f %%, %+.2f to %+.2f)", 100 * c->change, 100 * c->low, 100 * c->high);
    say(stderr, "\n");
}

static bool try_one(bisect *b, size_t i, status *st) {
    bisect_commit *c = &b->commits.items[i];
    say(stderr, "tsr: trying %.12s %s\n", c->hash, c->subject);
    if (!bisect_judge(b, c, st))
        return false;
    tell(c);
    return bisect_save(b, st);
}

static bisect_range range_of(const bisect *b) {
    bisect_mark *marks = base_calloc(b->commits.count, sizeof *marks);
    for (size_t i = 0; i < b->commits.count; i++)
        marks[i] = b->commits.items[i].mark;
    bisect_range r = bisect_search(marks, b->commits.count);
    free(marks);
    return r;
}

/* Only folders that checkout_make made for this search. */
static void remove_checkouts(const bisect *b) {
    for (size_t i = 0; i < b->made.count; i++) {
        const char *const arguments[] = {"rm", "-rf", "--", b->made.items[i], NULL};
        program p = {.arguments = arguments};
        status st = STATUS_INIT;
        int code = 0;
        if (!program_run(&p, &code, &st) || code != 0)
            say(stderr, "tsr: %s could not be removed\n", b->made.items[i]);
    }
    unlink(BISECT_STATE);
}

exit_code bisect_run(bisect *b, status *st) {
    size_t last = b->commits.count - 1;
    interrupt_watch();
    if (b->commits.items[last].mark == BISECT_UNTRIED && !try_one(b, last, st))
        return interrupt_seen ? EXIT_INTERRUPTED : exit_code_of_status(st->code);
    if (b->commits.items[last].mark != BISECT_BAD) {
        if (!interrupt_settle())
            return EXIT_INTERRUPTED;
        say(stderr, "tsr: %.12s is not known to be slower than %.12s: there is nothing to find\n",
            b->bad, b->good);
        remove_checkouts(b);
        return EXIT_NO_VERDICT;
    }
    bisect_range r = range_of(b);
    while (r.next < r.end && !interrupt_seen) {
        say(stderr, "tsr: %zu commits left, about %zu to try\n", r.end - r.begin, r.left);
        if (!try_one(b, r.next, st))
            break;
        r = range_of(b);
    }
    if (!interrupt_settle() || st->code != STATUS_OK) {
        say(stderr, "tsr: what was found is kept: go on with tsr bisect-perf --resume\n");
        return interrupt_seen ? EXIT_INTERRUPTED : exit_code_of_status(st->code);
    }
    remove_checkouts(b);
    return r.end - r.begin == 1 ? EXIT_DONE : EXIT_NO_VERDICT;
}

/* ---- what was found ---- */
static json_t *commit_json(const bisect_commit *c) {
    json_t *made =
        json_pack("{s:s, s:o, s:s, s:o}", "commit", c->hash, "subject", json_text(c->subject),
                  "mark", bisect_mark_name(c->mark), "why", json_text(c->why));
    json_object_set_new(made, "change",
                        c->changed ? json_pack("{s:f, s:f, s:f}", "estimate", c->change, "low",
                                               c->low, "high", c->high)
                                   : json_null());
    return made;
}

json_t *bisect_json(const bisect *b) {
    json_t *commits = json_array(), *suspects = json_array();
    bool known = b->commits.count && b->commits.items[b->commits.count - 1].mark == BISECT_BAD;
    bisect_range r = known ? range_of(b) : (bisect_range){0};
    for (size_t i = 0; i < b->commits.count; i++)
        json_array_append_new(commits, commit_json(&b->commits.items[i]));
    for (size_t i = r.begin; i < r.end; i++)
        json_array_append_new(suspects, json_string(b->commits.items[i].hash));
    bool found = r.end - r.begin == 1;
    return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:o}", "schema", "tsr.bisect/1", "good", b->good,
                     "bad", b->bad, "first_bad", found ? b->commits.items[r.begin].hash : NULL,
                     "suspects", suspects, "commits", commits);
}

void bisect_show(const bisect *b, text *out) {
    if (b->commits.items[b->commits.count - 1].mark != BISECT_BAD)
        return;
    bisect_range r = range_of(b);
    if (r.end - r.begin > 1)
        text_show(out, "the first bad commit is one of these %zu; those between were skipped:\n",
                  r.end - r.begin);
    for (size_t i = r.begin; i < r.end; i++) {
        const bisect_commit *c = &b->commits.items[i];
        text_show(out, "%s%s %s\n", c->hash,
                  r.end - r.begin == 1 ? " is the first bad commit:" : "", c->subject);
        if (c->why)
            text_show(out, "    %s: %s\n", bisect_mark_name(c->mark), c->why);
        if (c->changed)
            text_show(out, "    %+.2f %% against %.12s (%+.2f to %+.2f)\n", 100 * c->change,
                      b->good, 100 * c->low, 100 * c->high);
    }
}
