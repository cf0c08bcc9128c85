/* github_summary.c - the summary of a job in GitHub's Markdown: what failed, then everything. */
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"
#include "report/export/export.h"
#include "report/github.h"
#include "report/table.h"

/* Room that is kept for the end of a summary that is cut short. */
enum { TAIL_BYTES = 160 };

/* Into the cell of a table: no markup, one line, not too long. */
static void cell(const char *words, text *out) {
    text shown;
    text_init(&shown);
    text_show(&shown, "%s", words);
    text_append(out, " ");
    for (const char *p = shown.data; *p; p++)
        if (strchr("&<>|`*_\\[]~#", *p))
            text_printf(out, "&#%d;", *p);
        else
            text_append_char(out, *p);
    text_append(out, " |");
    text_release(&shown);
}

static void duration_cell(double ns, text *out) {
    text words;
    text_init(&words);
    if (!isnan(ns))
        table_duration(ns, &words);
    cell(words.data, out);
    text_release(&words);
}

static void name_cell(const json_t *result, text *out) {
    text name;
    text_init(&name);
    export_name(result, &name);
    text_append_char(out, '|');
    cell(name.data, out);
    text_release(&name);
}

static const char *why_of(const json_t *result) {
    const char *why = result_text(result, RESULT_WHY);
    return *why ? why : json_text_at(result, "reason");
}

static bool needs_attention(const json_t *result) {
    const char *verdict = json_text_at(result, "verdict");
    if (!*verdict)
        return outcome_is_failure(result_outcome(result)) ||
               result_outcome(result) == OUTCOME_UNJUDGED;
    return strcmp(verdict, "EQUIVALENT") != 0 && strcmp(verdict, "IMPROVED") != 0;
}

static void bench_row(const json_t *result, text *out) {
    double median = export_median(result), gflops = result_number(result, RESULT_GFLOPS),
           fraction = result_number(result, RESULT_FRACTION);
    text words;
    text_init(&words);
    name_cell(result, out);
    cell(result_text(result, RESULT_STATUS), out);
    duration_cell(median, out);
    if (!isnan(median) && !isnan(gflops))
        text_show(&words, "%.4g", gflops);
    cell(words.data, out);
    text_clear(&words);
    if (!isnan(median) && !isnan(fraction))
        text_show(&words, "%.0f %%", 100 * fraction);
    cell(words.data, out);
    cell(why_of(result), out);
    text_append_char(out, '\n');
    text_release(&words);
}

static void gate_row(const json_t *result, text *out) {
    double estimate = export_number(result, "change", "estimate"),
           low = export_number(result, "change", "low"),
           high = export_number(result, "change", "high");
    text words;
    text_init(&words);
    name_cell(result, out);
    cell(json_text_at(result, "verdict"), out);
    if (!isnan(estimate))
        text_show(&words, "%+.2f %% (%+.2f to %+.2f)", 100 * estimate, 100 * low, 100 * high);
    cell(words.data, out);
    duration_cell(export_number(result, "baseline_ns", NULL), out);
    duration_cell(export_number(result, "against_ns", NULL), out);
    cell(why_of(result), out);
    text_append_char(out, '\n');
    text_release(&words);
}

typedef struct layout {
    const char *title, *columns;
    void (*row)(const json_t *result, text *out);
} layout;

static const layout bench_layout = {
    "tsr bench",
    "| result | status | median | GFLOP/s | of roofline | why |\n|---|---|---:|---:|---:|---|\n",
    bench_row};
static const layout gate_layout = {
    "tsr gate",
    "| result | verdict | change | baseline | against | why |\n|---|---|---:|---:|---:|---|\n",
    gate_row};

/* Rows of all results, or of those that need attention, for as long as there is room. */
static void put_rows(const json_t *list, const layout *l, bool all, size_t limit, text *out) {
    size_t i, left_out = 0;
    json_t *result;
    text row;
    text_init(&row);
    json_array_foreach((json_t *)list, i, result) {
        if (!all && !needs_attention(result))
            continue;
        text_clear(&row);
        l->row(result, &row);
        if (left_out || out->length + row.length + TAIL_BYTES > limit)
            left_out++;
        else
            text_append(out, row.data);
    }
    if (left_out)
        text_show(out, "\n%zu more rows were left out: a summary holds 1 MiB.\n", left_out);
    text_release(&row);
}

/* "960 results, 2 need attention", and of a gate what it could have seen. */
static void put_head(const json_t *document, const layout *l, size_t count, size_t attention,
                     text *out) {
    double mde = export_number(document, "mde", NULL);
    const char *baseline = json_text_at(json_object_get(document, "baseline"), "name"),
               *against = json_text_at(json_object_get(document, "against"), "name");
    text_show(out, "### %s: %zu results, %zu need attention\n\n", l->title, count, attention);
    if (*baseline || *against) {
        text_append(out, "|");
        cell(*against ? against : "this build", out);
        cell("against", out);
        cell(baseline, out);
        text_append(out, "\n|---|---|---|\n\n");
    }
    if (!isnan(mde))
        text_show(out, "Slowdowns of at least %.2f %% would have been seen.\n\n", 100 * mde);
}

static void lint_row(const json_t *finding, text *out) {
    text place;
    text_init(&place);
    text_show(&place, "%s:%" JSON_INTEGER_FORMAT, json_text_at(finding, "path"),
              json_integer_value(json_object_get(finding, "line")));
    text_append_char(out, '|');
    cell(place.data, out);
    cell(json_text_at(finding, "severity"), out);
    cell(json_text_at(finding, "id"), out);
    cell(json_text_at(finding, "message"), out);
    text_append_char(out, '\n');
    text_release(&place);
}

/* A lint without findings has no summary. */
static void lint_summary(const json_t *document, size_t limit, text *out) {
    static const layout l = {
        "tsr lint", "| place | severity | check | finding |\n|---|---|---|---|\n", lint_row};
    const json_t *findings = json_object_get(document, "findings");
    text body;
    text_init(&body);
    text_show(&body, "### %s: %zu findings\n\n", l.title, json_array_size(findings));
    text_append(&body, l.columns);
    put_rows(findings, &l, true, limit, &body);
    text_append_char(&body, '\n');
    if (json_array_size(findings) && body.length <= limit)
        text_append(out, body.data);
    text_release(&body);
}

void github_summary(const json_t *document, size_t limit, text *out) {
    if (export_schema(document) == EXPORT_LINT) {
        lint_summary(document, limit, out);
        return;
    }
    const layout *l = export_schema(document) == EXPORT_GATE ? &gate_layout : &bench_layout;
    size_t i, attention = 0, count = json_array_size(json_object_get(document, "results"));
    json_t *result;
    text body;
    text_init(&body);
    json_array_foreach(json_object_get(document, "results"), i, result) attention +=
        needs_attention(result);
    put_head(document, l, count, attention, &body);
    if (attention) {
        text_append(&body, l->columns);
        put_rows(json_object_get(document, "results"), l, false, limit / 2, &body);
    }
    text_append(&body, "\n<details><summary>All results</summary>\n\n");
    text_append(&body, l->columns);
    put_rows(json_object_get(document, "results"), l, true, limit, &body);
    text_append(&body, "\n</details>\n\n");
    if (body.length <= limit)
        text_append(out, body.data);
    text_release(&body);
}
