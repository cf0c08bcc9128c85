/* self_test.c - the campaign: gates of known truth, one after the other, each kept when it is done.
 */
#include "gate/self_test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "measure/host_facts.h"

enum { FILE_BYTES_MAX = 1 << 28, EVERY = 10 };

static const double slowdowns[SELF_TEST_KINDS] = {0, 0.01, 0.02, 0.05};

/* ---- which cases ---- */

static uint64_t bytes_moved(const gate_side_unit *unit) {
    status ignored = STATUS_INIT;
    uint64_t flops = 0, bytes = 0;
    compiler_instance *instance = corpus_case_instance(unit->item, &ignored);
    if (instance)
        compiler_cost(instance, &flops, &bytes, &ignored);
    compiler_instance_free(instance);
    return bytes;
}

/* The unit of each kernel that moves the most; returns how many kernels there are. */
static size_t greatest_of_kernels(const gate_side *a, size_t *best) {
    size_t kernels = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < a->units.count; i++) {
        const gate_side_unit *unit = &a->units.items[i];
        bool same = kernels && strcmp(unit->kernel, a->units.items[best[kernels - 1]].kernel) == 0;
        uint64_t bytes = unit->item ? bytes_moved(unit) : 0;
        if (same && bytes <= most)
            continue;
        kernels += !same;
        best[kernels - 1] = i;
        most = bytes;
    }
    return kernels;
}

void self_test_choose(gate_side *a, size_t count) {
    if (count == 0)
        return;
    size_t *best = base_calloc(a->units.count + 1, sizeof *best);
    size_t kernels = greatest_of_kernels(a, best);
    size_t wanted = kernels < count ? kernels : count;
    bool *keep = base_calloc(a->units.count + 1, sizeof *keep);
    for (size_t i = 0; i < wanted; i++)
        keep[best[i * kernels / wanted]] = true;
    for (size_t i = 0; i < a->units.count; i++)
        a->units.items[i].left_out = !keep[i];
    free(keep);
    free(best);
}

/* ---- one gate ---- */

static json_t *gate_line(const gate *g, size_t kind, size_t number) {
    json_t *rows = json_array();
    double load = 0;
    (void)getloadavg(&load, 1);
    for (size_t i = 0; i < g->rows.count; i++) {
        const gate_row *row = &g->rows.items[i];
        if (!row->timed && row->verdict == GATE_EQUIVALENT)
            continue; /* it has no output: nothing can be slower */
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:s, s:f, s:o, s:I}", "case", row->key, "verdict",
                            gate_verdict_name(row->verdict), "reason",
                            gate_reasons[row->reason].name, "estimate", row->change.estimate, "mde",
                            isfinite(row->detectable) ? json_real(row->detectable) : json_null(),
                            "pairs", (json_int_t)row->series.count));
    }
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:o}", "kind", (json_int_t)kind, "number",
                     (json_int_t)number, "slowdown", slowdowns[kind], "seconds", g->seconds, "load",
                     load, "rows", rows);
}

static json_t *one_gate(const self_test_request *r, size_t kind, size_t number, bool *interrupted,
                        status *st) {
    gate_settings settings = *r->settings;
    settings.slowdown = slowdowns[kind];
    settings.always_time = true;
    settings.seed = r->settings->seed + kind * 100003 + number * 17;
    gate g = {.settings = &settings,
              .sides = {r->sides[0], r->sides[1]},
              .choice = r->choice,
              .data = {.fd = -1},
              .stop = r->stop};
    json_t *line = NULL;
    if (gate_run(&g, st) && !g.interrupted)
        line = gate_line(&g, kind, number);
    *interrupted = g.interrupted || *r->stop;
    gate_release(&g);
    return line;
}

/* ---- the file ---- */

/* Gates are comparable where all of this is the same. */
static json_t *headline(const self_test_request *r) {
    json_t *cases = json_array(), *host = host_facts();
    for (size_t i = 0; i < r->sides[1]->units.count; i++)
        if (!r->sides[1]->units.items[i].left_out)
            json_array_append_new(cases, json_string(r->sides[1]->units.items[i].key));
    const gate_settings *s = r->settings;
    json_t *head = json_pack(
        "{s:s, s:o, s:O, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:o}", "schema", "tsr.self-test/1",
        "tsr", program_facts(), "cpu", json_object_get(host, "cpu"), "margin", s->margin, "mde",
        s->bound, "alpha", s->alpha, "power", s->power, "pairs", (json_int_t)s->pairs, "rounds",
        (json_int_t)s->rounds, "seed", (json_int_t)s->seed, "cases", cases);
    json_decref(host);
    return head;
}

static bool append_line(const char *path, const json_t *line, status *st) {
    FILE *file = fopen(path, "ae");
    if (!file)
        return status_set_errno(st, errno, "%s", path);
    char *words = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(10));
    fprintf(file, "%s\n", words);
    free(words);
    bool ok = fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (!ok)
        status_set_errno(st, errno, "%s", path);
    fclose(file);
    return ok;
}

static void tally(self_test *t, const json_t *line, double *loads) {
    size_t kind = (size_t)json_integer_value(json_object_get(line, "kind")), i;
    const json_t *row;
    bool changed = false;
    if (kind >= SELF_TEST_KINDS)
        return;
    self_test_kind *k = &t->kinds[kind];
    json_array_foreach(json_object_get(line, "rows"), i, row) {
        const char *verdict = json_string_value(json_object_get(row, "verdict"));
        bool slower = verdict && strcmp(verdict, "REGRESSED") == 0;
        bool faster = verdict && strcmp(verdict, "IMPROVED") == 0;
        bool equal = verdict && strcmp(verdict, "EQUIVALENT") == 0;
        bool failed = verdict && strcmp(verdict, "FAILED") == 0;
        k->slower += slower;
        k->faster += faster || failed;
        k->equal += equal;
        k->unsure += !slower && !faster && !equal && !failed;
        k->cases++;
        changed |= slower || faster || failed;
    }
    k->gates++;
    k->gates_changed += changed;
    k->seconds += json_number_value(json_object_get(line, "seconds"));
    *loads += json_number_value(json_object_get(line, "load"));
}

/* Takes up what is there. False where the file is of another campaign, or damaged before its last
 * line; the last may be cut short. */
static bool take_up(const self_test_request *r, const json_t *head, self_test *t, double *loads,
                    status *st) {
    char *data = NULL;
    size_t size, line_number = 0;
    if (!file_exists(r->path))
        return file_make_parent(r->path, st) && append_line(r->path, head, st);
    if (!file_read(r->path, FILE_BYTES_MAX, &data, &size, st))
        return false;
    bool ok = true;
    char *line = data;
    for (char *end; ok && (end = memchr(line, '\n', size - (size_t)(line - data)));
         line = end + 1) {
        json_t *object = json_loadb(line, (size_t)(end - line), 0, NULL);
        if (line_number++ == 0)
            ok = json_equal(object, head) ||
                 status_set(st, STATUS_INVALID,
                            "%s is a campaign of another build, machine, choice of cases or "
                            "settings: remove it, or name another file with --state",
                            r->path);
        else if (object)
            tally(t, object, loads);
        else
            ok = status_set(st, STATUS_CORRUPT, "%s: line %zu is damaged", r->path, line_number);
        json_decref(object);
    }
    /* A line that was cut short goes: the next begins where it did. */
    if (ok && line < data + size && truncate(r->path, line - data) != 0)
        ok = status_set_errno(st, errno, "%s", r->path);
    free(data);
    return ok;
}

/* ---- the campaign ---- */

/* Slowdowns come spread among the gates of equal sides: all see the same weather. */
static size_t next_kind(const self_test_request *r, const self_test *t) {
    size_t every = r->slowed ? r->gates / r->slowed : EVERY;
    for (size_t kind = 1; kind < SELF_TEST_KINDS; kind++)
        if (t->kinds[kind].gates < r->slowed &&
            (t->kinds[0].gates >= r->gates ||
             t->kinds[kind].gates * (every ? every : 1) < t->kinds[0].gates))
            return kind;
    return t->kinds[0].gates < r->gates ? 0 : SELF_TEST_KINDS;
}

static size_t done_of(const self_test *t) {
    size_t done = 0;
    for (size_t kind = 0; kind < SELF_TEST_KINDS; kind++)
        done += t->kinds[kind].gates;
    return done;
}

static bool campaign(const self_test_request *r, self_test *t, double *loads, bool *interrupted,
                     status *st) {
    size_t all = r->gates + (SELF_TEST_KINDS - 1) * r->slowed, kind;
    while ((kind = next_kind(r, t)) < SELF_TEST_KINDS && !*interrupted) {
        char words[80];
        snprintf(words, sizeof words, "gate %zu of %zu, slowdown %.0f %%", done_of(t) + 1, all,
                 slowdowns[kind] * 100);
        if (r->progress)
            r->progress(r->progress_context, words, (double)done_of(t) / (double)all);
        json_t *line = one_gate(r, kind, t->kinds[kind].gates, interrupted, st);
        if (!line)
            return *interrupted;
        bool ok = append_line(r->path, line, st);
        tally(t, line, loads);
        json_decref(line);
        if (!ok)
            return false;
    }
    return true;
}

bool self_test_run(const self_test_request *request, self_test *out, bool *interrupted,
                   status *st) {
    double loads = 0;
    *out = (self_test){0};
    *interrupted = false;
    for (size_t kind = 0; kind < SELF_TEST_KINDS; kind++)
        out->kinds[kind].slowdown = slowdowns[kind];
    const gate_side *a = request->sides[1];
    for (size_t i = 0; i < a->units.count; i++)
        if (!a->units.items[i].left_out && out->case_count++ < SELF_TEST_NAMED)
            out->cases[out->case_count - 1] = a->units.items[i].key;
    json_t *head = headline(request);
    bool ok =
        take_up(request, head, out, &loads, st) && campaign(request, out, &loads, interrupted, st);
    json_decref(head);
    out->load = done_of(out) ? loads / (double)done_of(out) : 0;
    return ok;
}
