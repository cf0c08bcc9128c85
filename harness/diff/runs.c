/* runs.c - pairs of results: a table, then what is behind each difference. */
#include "diff/runs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "diff/investigate.h"
#include "diff/match.h"
#include "job/result.h"
#include "report/table.h"

#define RED "\033[31m"
#define PLAIN "\033[0m"

/* To make tensors again takes time; beyond this many the digests alone are compared. */
enum { INVESTIGATED_MAX = 10, NAME_WIDTH_MIN = 4 };

typedef struct finding {
    bool status_differs;
    int bits; /* 1: equal, 0: different, -1: a side has no outputs */
} finding;

typedef struct run_diff {
    const side *a, *b;
    const diff_request *request;
    result_pairs pairs;
    int name_width, how_width;
    size_t compared, different, unknown, a_alone, b_alone, investigated;
    text *out, details;
    json_t *list, *only_a, *only_b;
} run_diff;

static void append_name(const json_t *result, text *out) {
    text_show(out, "%s/%s", result_text(result, RESULT_KERNEL), result_text(result, RESULT_CASE));
}

static void append_how(const json_t *result, text *out) {
    text_show(out, "%s,%s,%" JSON_INTEGER_FORMAT, result_text(result, RESULT_BACKEND),
              result_text(result, RESULT_PROFILE),
              json_integer_value(result_get(result, RESULT_THREADS)));
}

/* "cpu,strict,2", or both where they differ. */
static void append_ways(const result_pair *p, text *out) {
    text a, b;
    text_init(&a);
    text_init(&b);
    append_how(p->a, &a);
    append_how(p->b, &b);
    text_append(out, a.data);
    if (strcmp(a.data, b.data) != 0)
        text_show(out, " | %s", b.data);
    text_release(&a);
    text_release(&b);
}

static const json_t *digests_of(const json_t *result) {
    return result_get(result, RESULT_SHA256);
}

static double median_of(const json_t *result) {
    const json_t *median = result_get(result, RESULT_MEDIAN);
    return json_is_number(median) ? json_number_value(median) : -1;
}

static finding look_at(const result_pair *p) {
    finding f = {.bits = -1};
    f.status_differs =
        strcmp(result_text(p->a, RESULT_STATUS), result_text(p->b, RESULT_STATUS)) != 0;
    if (json_array_size(digests_of(p->a)) && json_array_size(digests_of(p->b)))
        f.bits = json_equal(digests_of(p->a), digests_of(p->b)) == 1;
    return f;
}

/* ---- a line of the table ---- */

static void time_cell(double ns, text *out) {
    text cell;
    text_init(&cell);
    if (ns < 0)
        text_append_char(&cell, '-');
    else
        table_duration(ns, &cell);
    text_show(out, " %10s", cell.data);
    text_release(&cell);
}

static void change_cell(double a, double b, text *out) {
    double change = 100 * (b / a - 1);
    if (a > 0 && b > 0)
        text_show(out, " %+7.1f%%", fabs(change) < 0.05 ? 0 : change);
    else
        text_show(out, " %8s", "-");
}

static void bits_cell(const finding *f, bool colour, text *out) {
    bool red = colour && f->bits == 0;
    text_append(out, red ? RED : "");
    text_show(out, "%-6s", f->bits < 0 ? "-" : f->bits ? "equal" : "differ");
    text_append(out, red ? PLAIN : "");
}

static void table_row(run_diff *d, const result_pair *p, const finding *f) {
    text name, how;
    text_init(&name);
    text_init(&how);
    append_name(p->a, &name);
    append_ways(p, &how);
    text_show(d->out, "%-*s  %-*s  ", d->name_width, name.data, d->how_width, how.data);
    bits_cell(f, d->request->colour, d->out);
    time_cell(median_of(p->a), d->out);
    time_cell(median_of(p->b), d->out);
    change_cell(median_of(p->a), median_of(p->b), d->out);
    text_show(d->out, "  %s", result_text(p->a, RESULT_STATUS));
    if (f->status_differs)
        text_show(d->out, " -> %s", result_text(p->b, RESULT_STATUS));
    text_append_char(d->out, '\n');
    text_release(&name);
    text_release(&how);
}

static void table_head(run_diff *d) {
    text_show(d->out, "%-*s  %-*s  %-6s %10s %10s %8s  %s\n", d->name_width, "case", d->how_width,
              "backend,profile,threads", "bits", "time of A", "time of B", "change", "status");
}

static int greater(int a, size_t b) {
    return (size_t)a > b ? a : (int)b;
}

static void measure(run_diff *d) {
    d->name_width = NAME_WIDTH_MIN;
    d->how_width = (int)strlen("backend,profile,threads");
    for (size_t i = 0; i < d->pairs.count; i++) {
        const result_pair *p = &d->pairs.items[i];
        if (!p->a || !p->b)
            continue;
        text words;
        text_init(&words);
        append_name(p->a, &words);
        d->name_width = greater(d->name_width, words.length);
        text_clear(&words);
        append_ways(p, &words);
        d->how_width = greater(d->how_width, words.length);
        text_release(&words);
    }
}

/* ---- what is behind a difference ---- */

/* "max ULP 0 -> 3": how the checks of the two runs themselves came out. */
static void check_change(const result_pair *p, result_field field, const char *words, text *out) {
    const json_t *a = result_get(p->a, field), *b = result_get(p->b, field);
    if (!json_is_number(a) || !json_is_number(b) || json_number_value(a) == json_number_value(b))
        return;
    text_show(out, "  %s: A %.10g, B %.10g\n", words, json_number_value(a), json_number_value(b));
}

static void why_line(const char *letter, const json_t *result, text *out) {
    const char *why = result_string(result, RESULT_WHY);
    if (why && *why && result_outcome(result) != OUTCOME_OK)
        text_show(out, "  %s is %s: %s\n", letter, result_text(result, RESULT_STATUS), why);
    input_set set;
    if (result_failed_on(result, &set) && set.number)
        text_append(out, "  the bits that are compared are of the case's own inputs\n");
}

static void explain(run_diff *d, const result_pair *p, const finding *f, json_t *entry) {
    text *out = &d->details;
    text_append_char(out, '\n');
    append_name(p->a, out);
    text_append_char(out, ' ');
    append_ways(p, out);
    text_append_char(out, '\n');
    why_line("A", p->a, out);
    why_line("B", p->b, out);
    check_change(p, RESULT_MAX_ULP, "max ULP from the strict bits", out);
    check_change(p, RESULT_MAX_ERROR, "error over bound, as recorded", out);
    if (f->bits != 0)
        return;
    if (d->investigated++ < INVESTIGATED_MAX)
        investigate(d->a, d->b, p, d->request->timeout_seconds, out, entry);
    else
        text_append(out, "  not looked into: name this case alone to see its elements\n");
}

static json_t *brief(const json_t *result) {
    return json_pack(
        "{s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?}", "backend",
        result_get(result, RESULT_BACKEND), "profile", result_get(result, RESULT_PROFILE),
        "threads", result_get(result, RESULT_THREADS), "status", result_get(result, RESULT_STATUS),
        "sha256", result_get(result, RESULT_SHA256), "max_ulp", result_get(result, RESULT_MAX_ULP),
        "max_error_over_bound", result_get(result, RESULT_MAX_ERROR), "median_ns",
        result_get(result, RESULT_MEDIAN));
}

static json_t *entry_of(const result_pair *p, const finding *f) {
    double a = median_of(p->a), b = median_of(p->b);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:n, s:[], s:n}", "kernel",
                     result_text(p->a, RESULT_KERNEL), "case", result_text(p->a, RESULT_CASE), "a",
                     brief(p->a), "b", brief(p->b), "bits_equal",
                     f->bits < 0 ? json_null() : json_boolean(f->bits), "time_change",
                     a > 0 && b > 0 ? json_real(b / a - 1) : json_null(), "why", "outputs",
                     "first_operation");
}

static void compare_pair(run_diff *d, const result_pair *p) {
    finding f = look_at(p);
    json_t *entry = entry_of(p, &f);
    d->compared++;
    table_row(d, p, &f);
    d->unknown += f.bits < 0;
    if (f.status_differs || f.bits == 0) {
        d->different++;
        explain(d, p, &f, entry);
    }
    json_array_append_new(d->list, entry);
}

/* ---- coverage ---- */

static void list_alone(run_diff *d, bool of_a) {
    size_t count = of_a ? d->a_alone : d->b_alone;
    if (count == 0)
        return;
    text_show(d->out, "\nonly in %s:\n", of_a ? "A" : "B");
    for (size_t i = 0; i < d->pairs.count; i++) {
        const result_pair *p = &d->pairs.items[i];
        if (of_a ? p->b != NULL : p->a != NULL)
            continue;
        text key;
        text_init(&key);
        append_name(of_a ? p->a : p->b, &key);
        text_append_char(&key, '@');
        append_how(of_a ? p->a : p->b, &key);
        text_show(d->out, "  %s\n", key.data);
        json_array_append_new(of_a ? d->only_a : d->only_b, json_string(key.data));
        text_release(&key);
    }
}

static void summarise(run_diff *d) {
    text_show(d->out, "\n%zu compared: %zu differ, %zu equal", d->compared, d->different,
              d->compared - d->different);
    if (d->unknown)
        text_show(d->out, " (%zu without outputs on a side)", d->unknown);
    text_show(d->out, "; %zu only in A, %zu only in B\n", d->a_alone, d->b_alone);
}

static void name_sides(run_diff *d) {
    text_show(d->out, "A  %s (run %s)\nB  %s (run %s)\n", d->a->name, d->a->run, d->b->name,
              d->b->run);
}

static exit_code verdict_of(const run_diff *d) {
    if (d->different)
        return EXIT_CHECK;
    return d->a_alone || d->b_alone || d->compared == 0 ? EXIT_NO_VERDICT : EXIT_DONE;
}

exit_code diff_runs(const side *a, const side *b, const diff_request *request, text *out,
                    json_t **document) {
    run_diff d = {.a = a,
                  .b = b,
                  .request = request,
                  .out = out,
                  .list = json_array(),
                  .only_a = json_array(),
                  .only_b = json_array()};
    text_init(&d.details);
    match_results(a, b, &d.pairs);
    measure(&d);
    name_sides(&d);
    table_head(&d);
    for (size_t i = 0; i < d.pairs.count; i++) {
        const result_pair *p = &d.pairs.items[i];
        d.a_alone += p->b == NULL;
        d.b_alone += p->a == NULL;
        if (p->a && p->b)
            compare_pair(&d, p);
    }
    text_append(out, d.details.data);
    list_alone(&d, true);
    list_alone(&d, false);
    summarise(&d);
    exit_code code = verdict_of(&d);
    *document = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o}", "schema",
                          "tsr.diff/1", "kind", "results", "a", a->name, "b", b->name, "a_run",
                          a->run, "b_run", b->run, "equal", code == EXIT_DONE, "results", d.list,
                          "only_a", d.only_a, "only_b", d.only_b);
    vec_release(&d.pairs);
    text_release(&d.details);
    return code;
}
