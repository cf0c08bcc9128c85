/* closing.c - the closing screen of a run. */
#include "report/closing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/map.h"
#include "base/vec.h"
#include "common/command_line.h"
#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"
#include "report/beside.h"
#include "report/error_table.h"
#include "report/idle.h"
#include "report/table.h"

enum { FAILURES_LISTED = 10, NOTES_LISTED = 3, LISTED = 3, BINS = 10 };

/* Shorter times are bound by the launch, not by a ceiling. */
static const double telling_ns = 10000;

static void label(const char *word, text *out) {
    text_printf(out, "%-9s ", word);
}

static void append_case(const json_t *r, text *out) {
    text_show(out, "%s/%s", result_text(r, RESULT_KERNEL), result_text(r, RESULT_CASE));
}

static void append_key(const json_t *r, text *out) {
    text key;
    text_init(&key);
    result_key(r, &key);
    text_show(out, "%s", key.data); /* names are foreign */
    text_release(&key);
}

/* ---- shares of the ceilings ---- */

typedef VEC(double) shares;

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void append_bins(const closing *c, const shares *s, text *out) {
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char ascii[] = " .:-=+*#@";
    size_t bins[BINS] = {0}, most = 1;
    for (size_t i = 0; i < s->count; i++) {
        int bin = (int)(s->items[i] * BINS);
        bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
        most = ++bins[bin] > most ? bins[bin] : most;
    }
    for (int i = 0; i < BINS; i++) {
        size_t level = (bins[i] * 8 + most - 1) / most;
        if (c->unicode)
            text_append(out, blocks[level]);
        else
            text_append_char(out, ascii[level]);
    }
}

static double value_of(const closing *c, const char *name, const char **unit) {
    size_t i, length = strlen(name);
    const json_t *ceiling;
    double most = 0;
    json_array_foreach(c->ceilings, i, ceiling) {
        const char *resource = json_text_at(ceiling, "resource");
        double value = json_number_value(json_object_get(ceiling, "value"));
        if (strncmp(resource, name, length) != 0 || !strchr(":.", resource[length]) ||
            value <= most)
            continue;
        most = value;
        *unit = json_text_at(ceiling, "unit");
    }
    return most;
}

static void append_ceiling(const closing *c, const char *name, shares *s, text *out) {
    const char *unit = "";
    double value = value_of(c, name, &unit);
    qsort(s->items, s->count, sizeof *s->items, ascending);
    text_show(out, "  %-18s %7.4g %-7s %5zu   %3.0f %% %3.0f %% %3.0f %%  |", name, value, unit,
              s->count, 100 * s->items[0], 100 * s->items[s->count / 2],
              100 * s->items[s->count - 1]);
    append_bins(c, s, out);
    text_append(out, "|\n");
}

/* Each ceiling that bounds a result, whatever its number of threads and the size of its set. */
static void append_roofline(const closing *c, text *out) {
    map names;
    size_t i, k;
    const json_t *result;
    char name[TABLE_RESOURCE_BYTES];
    map_init(&names);
    json_array_foreach(c->results, i, result) {
        table_resource(result, name);
        if (*name)
            map_put(&names, name, 1);
    }
    if (names.count)
        text_append(out, "share of the ceiling        results  least  mid best  0 %  100 %\n");
    for (i = 0; i < names.count; i++) {
        shares s = {0};
        json_array_foreach(c->results, k, result) {
            table_resource(result, name);
            if (strcmp(name, names.entries[i].key) == 0)
                vec_push(&s, result_number(result, RESULT_FRACTION));
        }
        append_ceiling(c, names.entries[i].key, &s, out);
        vec_release(&s);
    }
    map_release(&names);
}

/* ---- extremes ---- */

typedef struct extreme {
    const json_t *result;
    double value;
} extreme;

/* Keeps the greatest in order, of each kernel one. */
static void keep(extreme *best, const json_t *result, double value) {
    int at = 0, of_kernel = LISTED - 1; /* that leaves its place */
    const char *kernel = result_text(result, RESULT_KERNEL);
    while (at < LISTED && best[at].result && best[at].value >= value)
        at++;
    for (int i = LISTED - 1; i >= 0; i--)
        if (best[i].result && strcmp(result_text(best[i].result, RESULT_KERNEL), kernel) == 0)
            of_kernel = i;
    if (at == LISTED || (of_kernel < at && best[of_kernel].result &&
                         strcmp(result_text(best[of_kernel].result, RESULT_KERNEL), kernel) == 0))
        return;
    memmove(&best[at + 1], &best[at], (size_t)(of_kernel - at) * sizeof *best);
    best[at] = (extreme){result, value};
}

static void describe_extreme(const extreme *e, bool times, text *out) {
    append_case(e->result, out);
    text_append_char(out, ' ');
    if (times)
        table_duration(e->value, out);
    else
        text_printf(out, "%.0f %% of %s", 100 * result_number(e->result, RESULT_FRACTION),
                    result_text(e->result, RESULT_BOUND));
}

/* As many as fit into a line. */
static void append_extremes(const closing *c, const char *word, const extreme *best, bool times,
                            text *out) {
    size_t start = out->length;
    if (!best[0].result)
        return;
    label(word, out);
    for (int i = 0; i < LISTED && best[i].result; i++) {
        text one;
        text_init(&one);
        describe_extreme(&best[i], times, &one);
        if (i == 0 || out->length - start + 2 + one.length <= (size_t)c->width) {
            text_append(out, i ? ", " : "");
            text_append(out, one.data);
        }
        text_release(&one);
    }
    text_append_char(out, '\n');
}

static void append_slowest(const closing *c, text *out) {
    extreme slow[LISTED] = {{0}}, far[LISTED] = {{0}}, compiled[LISTED] = {{0}};
    size_t i, cached = 0;
    const json_t *r;
    json_array_foreach(c->results, i, r) {
        double ns = result_number(r, RESULT_MEDIAN), share = result_number(r, RESULT_FRACTION),
               compile = json_number_value(result_get(r, RESULT_COMPILE));
        cached += result_flag(r, RESULT_COMPILE_CACHED);
        if (!isnan(ns))
            keep(slow, r, ns);
        if (!isnan(share) && ns >= telling_ns)
            keep(far, r, -share);
        if (compile > 0)
            keep(compiled, r, compile);
    }
    append_extremes(c, "slowest", slow, true, out);
    append_extremes(c, "furthest", far, false, out);
    append_extremes(c, "compiling", compiled, true, out);
    if (cached)
        text_printf(out, "          %zu module%s came from the cache\n", cached, text_s(cached));
}

/* ---- errors ---- */

/* The worst share of a derived bound. ULP only where they say something: near zero a difference far
 * below the bound is of millions. */
static void append_errors(const closing *c, text *out) {
    size_t i, count = 0;
    const json_t *r, *worst = NULL;
    double most = 0;
    json_array_foreach(c->results, i, r) {
        double share = result_number(r, RESULT_MAX_ERROR);
        if (isnan(share))
            continue;
        count++;
        if (!worst || share > most) {
            most = share;
            worst = r;
        }
    }
    if (!worst)
        return;
    int64_t ulp = result_whole(worst, RESULT_MAX_ULP_F64);
    label("errors", out);
    text_printf(out, "%zu against f64, at most %.3g %% of the derived bound", count, 100 * most);
    if (ulp >= 0 && ulp <= ERROR_TABLE_ULP)
        text_printf(out, " (%lld ULP)", (long long)ulp);
    text_append(out, ":\n");
    label("", out);
    append_key(worst, out);
    text_append_char(out, '\n');
}

/* ---- notes and failures ---- */

static void count_note(map *counts, const char *words) {
    intptr_t before = 0;
    (void)map_get(counts, words, &before);
    map_put(counts, words, before + 1);
}

static void note_fallbacks(const json_t *result, map *counts) {
    size_t i;
    const json_t *one;
    json_array_foreach(result_get(result, RESULT_FALLBACKS), i, one) {
        text words;
        text_init(&words);
        text_printf(&words, "%s as %s", json_text_at(one, "type"), json_text_at(one, "as"));
        count_note(counts, words.data);
        text_release(&words);
    }
}

/* Appends notes of results that hold: each text once, or its first line, with how many say it. */
static void append_notes(const closing *c, text *out) {
    map counts;
    size_t i, listed = 0;
    const json_t *r;
    map_init(&counts);
    json_array_foreach(c->results, i, r) {
        const char *why = result_text(r, RESULT_WHY);
        if (*why && !outcome_is_failure(result_outcome(r)) && !idle_has(c->results, r))
            count_note(&counts, why);
        note_fallbacks(r, &counts);
    }
    for (i = 0; i < counts.count && listed < NOTES_LISTED; i++, listed++) {
        label(listed ? "" : "notes", out);
        const char *words = counts.entries[i].key;
        text_show(out, "%.*s (%lld)\n", (int)strcspn(words, "\n"), words,
                  (long long)counts.entries[i].value);
    }
    map_release(&counts);
}

/* Names of hints that no code depends on, in one line; the results have their values. */
static void append_hints(const closing *c, text *out) {
    map names;
    size_t i, k, results = 0;
    const json_t *r, *one;
    map_init(&names);
    json_array_foreach(c->results, i, r) {
        const json_t *hints = result_get(r, RESULT_UNUSED_HINTS);
        results += json_array_size(hints) > 0;
        json_array_foreach(hints, k, one) {
            char *name = base_strdup(json_string_value(one));
            name[strcspn(name, "=")] = '\0';
            count_note(&names, name);
            free(name);
        }
    }
    if (results)
        label("hints", out);
    for (i = 0; i < names.count; i++)
        text_show(out, "%s%s", i ? ", " : "", names.entries[i].key);
    if (results)
        text_printf(out, ": no code here depends on them (%zu result%s)\n", results,
                    results == 1 ? "" : "s");
    map_release(&names);
}

/* Promises of functions: proved, tried, or neither, with the number of results. */
static void append_promises(const closing *c, text *out) {
    map calls;
    size_t i, k;
    const json_t *r, *one;
    map_init(&calls);
    json_array_foreach(c->results, i, r) {
        json_array_foreach(result_get(r, RESULT_PROMISES), k, one) {
            const char *by = json_text_at(one, "by");
            const json_t *holds = json_object_get(one, "holds");
            text words;
            text_init(&words);
            text_show(&words, "%s in line %lld %s", json_text_at(one, "function"),
                      (long long)json_integer_value(json_object_get(one, "line")),
                      json_is_false(holds)       ? "broken"
                      : strcmp(by, "proof") == 0 ? "proved"
                      : strcmp(by, "test") == 0  ? "tested"
                                                 : "not verified");
            count_note(&calls, words.data);
            text_release(&words);
        }
    }
    if (calls.count)
        label("promises", out);
    for (i = 0; i < calls.count; i++)
        text_show(out, "%s%s (%lld)", i ? ", " : "", calls.entries[i].key,
                  (long long)calls.entries[i].value);
    if (calls.count)
        text_append_char(out, '\n');
    map_release(&calls);
}

/* Elements without a bound of results that hold by the others. */
static void append_unjudged(const closing *c, text *out) {
    size_t i, results = 0;
    long long elements = 0;
    const json_t *r;
    json_array_foreach(c->results, i, r) {
        int64_t unjudged = result_whole(r, RESULT_NOT_JUDGED);
        if (unjudged <= 0 || result_outcome(r) != OUTCOME_OK)
            continue;
        elements += unjudged;
        results++;
    }
    if (!results)
        return;
    label("unjudged", out);
    text_printf(out,
                "%lld elements of %zu result%s have no error bound, and were not judged (-v)\n",
                elements, results, results == 1 ? "" : "s");
}

/* Results that hold by --tolerance alone, and the one with the fewest elements within their bounds.
 */
static void append_tolerated(const closing *c, text *out) {
    size_t i, results = 0;
    const json_t *r, *worst = NULL;
    json_array_foreach(c->results, i, r) {
        double matched = result_number(r, RESULT_MATCHED);
        if (!(matched < 1) || result_outcome(r) != OUTCOME_OK)
            continue;
        results++;
        if (!worst || matched < result_number(worst, RESULT_MATCHED))
            worst = r;
    }
    if (!results)
        return;
    label("tolerated", out);
    text_printf(out,
                "%zu result%s within --tolerance %g, not within derived bounds; least %.4g %% of ",
                results, results == 1 ? " is" : "s are", result_number(worst, RESULT_TOLERANCE),
                100 * result_number(worst, RESULT_MATCHED));
    append_case(worst, out);
    text_append_char(out, '\n');
}

static void append_failures(const closing *c, text *out) {
    size_t i, failed = 0;
    const json_t *r;
    json_array_foreach(c->results, i, r) {
        if (!outcome_is_failure(result_outcome(r)) || ++failed > FAILURES_LISTED)
            continue;
        text_append(out, c->colour ? TABLE_RED : "");
        label(result_text(r, RESULT_STATUS), out);
        text_append(out, c->colour ? TABLE_PLAIN : "");
        append_key(r, out);
        text_append_char(out, '\n');
    }
    if (failed > FAILURES_LISTED)
        text_printf(out, "          and %zu more\n", failed - FAILURES_LISTED);
}

static void append_verdict(const closing *c, text *out) {
    size_t i, failed = 0;
    const json_t *r;
    json_array_foreach(c->results, i, r) failed += outcome_is_failure(result_outcome(r));
    text_append(out, !c->colour ? "" : failed ? TABLE_RED : TABLE_GREEN);
    table_counts(c->results, out);
    text_append(out, c->colour ? TABLE_PLAIN : "");
    table_checked(c->results, out);
}

static void append_places(const closing *c, text *out) {
    if (!c->run)
        return;
    text_show(out, "run %s, in %s\n", c->run, c->database);
    text word;
    text_init(&word);
    text_show(out, "tsr report %s%s%s -o report.html\n", c->run, c->named ? " --db " : "",
              c->named ? command_line_quoted(&word, c->database) : "");
    text_release(&word);
}

void closing_print(const closing *c, text *out) {
    text_append_char(out, '\n');
    append_roofline(c, out);
    append_slowest(c, out);
    beside_means(c->results, out);
    append_errors(c, out);
    append_unjudged(c, out);
    append_tolerated(c, out);
    append_notes(c, out);
    append_hints(c, out);
    append_promises(c, out);
    append_failures(c, out);
    append_verdict(c, out);
    if (c->seconds > 0)
        text_printf(out, "it took %.0f s\n", c->seconds);
    append_places(c, out);
    beside_untried(c->results, c->untried, out);
    idle_lines(c->results, out);
}
