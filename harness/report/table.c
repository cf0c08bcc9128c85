/* table.c - one line per result. */
#include "report/table.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"
#include "report/error_table.h"

void table_cut(const char *name, int width, text *out) {
    int length = (int)strlen(name), tail = (width - 2) / 2, head = width - 2 - tail;
    if (length <= width || head < 1)
        text_show(out, "%-*.*s", width, width, name);
    else
        text_show(out, "%.*s..%s", head, name, name + length - tail);
}

void table_duration(double ns, text *out) {
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    int i = 0;
    while (i < 3 && ns < units[i].scale)
        i++;
    double value = ns / units[i].scale;
    text_show(out,
              value < 10    ? "%.3f %s"
              : value < 100 ? "%.2f %s"
                            : "%.1f %s",
              value, units[i].unit);
}

/* A number of a field that is an object; NAN: it is not there. */
static double number_in(const json_t *result, result_field field, const char *name) {
    const json_t *value = json_object_get(result_get(result, field), name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void table_header(const table *t, text *out) {
    if (t->colour)
        text_append(out, TABLE_DIM);
    text_show(out, "%-*s %-7s %-*s %2s  %10s  %-9s %15s  %-22s %7s  %s", t->name_width, "case",
              "backend", t->profile_width, "profile", "t", "median", "interval", "rate",
              "of roofline", "change", "verdict");
    if (t->colour)
        text_append(out, TABLE_PLAIN);
    text_append_char(out, '\n');
}

void table_resource(const json_t *result, char out[TABLE_RESOURCE_BYTES]) {
    snprintf(out, TABLE_RESOURCE_BYTES, "%s", result_text(result, RESULT_RESOURCE));
    char *suffix = strchr(out, ':') ? strchr(out, ':') : strstr(out, ".t");
    if (suffix)
        *suffix = '\0';
}

static void append_padded(text *out, const text *cell, int width) {
    text_show(out, "%*s", width, cell->data);
}

static void time_cells(const json_t *result, text *out) {
    text cell;
    text_init(&cell);
    double median = result_number(result, RESULT_MEDIAN);
    if (isnan(median)) {
        text_show(out, "%10s  %-9s", "-", "");
    } else {
        table_duration(median, &cell);
        append_padded(out, &cell, 10);
        text_clear(&cell);
        double low = result_number(result, RESULT_LOW), high = result_number(result, RESULT_HIGH);
        text_show(&cell, "-%.1f+%.1f%%", 100 * (median - low) / median,
                  100 * (high - median) / median);
        text_show(out, "  %-9s", cell.data);
    }
    text_release(&cell);
}

static void rate_cell(const json_t *result, text *out) {
    text cell;
    text_init(&cell);
    const char *bound = result_string(result, RESULT_BOUND);
    bool memory = bound ? strcmp(bound, "memory") == 0 : result_number(result, RESULT_FLOPS) == 0;
    double rate = result_number(result, memory ? RESULT_GBPS : RESULT_GFLOPS);
    if (isnan(rate))
        text_append(&cell, "-");
    else
        text_show(&cell, "%.4g %s", rate, memory ? "GB/s" : "GFLOP/s");
    text_show(out, " %15s", cell.data);
    text_release(&cell);
}

static void roofline_cell(const json_t *result, text *out) {
    text cell;
    text_init(&cell);
    double fraction = result_number(result, RESULT_FRACTION);
    char resource[TABLE_RESOURCE_BYTES];
    table_resource(result, resource);
    const char *bound = result_string(result, RESULT_BOUND);
    if (isnan(fraction))
        text_append(&cell, "-");
    else
        text_show(&cell, "%3.0f%% %s", 100 * fraction, *resource ? resource : bound);
    text_show(out, "  %-22s", cell.data);
    text_release(&cell);
}

static void change_cell(const json_t *result, double previous_ns, text *out) {
    double median = result_number(result, RESULT_MEDIAN);
    if (isnan(median) || !(previous_ns > 0))
        text_show(out, " %7s", "-");
    else
        text_show(out, " %+6.1f%%", 100 * (median / previous_ns - 1));
}

static const char *outcome_colour(job_outcome o) {
    if (o == OUTCOME_OK)
        return TABLE_GREEN;
    return outcome_is_failure(o) ? TABLE_RED : TABLE_YELLOW;
}

/* "; tf32 as f32" */
static void fallbacks_note(const json_t *result, text *out) {
    size_t i;
    json_t *one;
    json_array_foreach(result_get(result, RESULT_FALLBACKS), i, one) text_show(
        out, "%s %s as %s", i ? "," : ";", json_text_at(one, "type"), json_text_at(one, "as"));
}

static void reason_cell(table *t, const json_t *result, text *out) {
    job_outcome outcome = result_outcome(result);
    const char *why = result_text(result, RESULT_WHY);
    bool fine = outcome == OUTCOME_OK || outcome == OUTCOME_SKIPPED;
    bool again = t->said && *why && strcmp(why, t->said) == 0;
    if (!*why)
        return;
    t->said = why;
    text_append(out, fine || again ? " (" : "\n    ");
    text_show_lines(out, "    ", again ? "as above" : why);
    text_append(out, fine || again ? ")" : "");
}

static void verdict_cell(table *t, const json_t *result, text *out) {
    job_outcome outcome = result_outcome(result);
    const char *against = result_string(result, RESULT_AGAINST);
    text_append(out, "  ");
    text_append(out, t->colour ? outcome_colour(outcome) : "");
    text_show(out, "%s", result_text(result, RESULT_STATUS));
    text_append(out, t->colour ? TABLE_PLAIN : "");
    if (outcome == OUTCOME_OK && against && strcmp(against, "none") != 0) {
        text_show(out, " (%s, ", against);
        double ratio = result_number(result, RESULT_MAX_ERROR);
        if (result_flag(result, RESULT_BITWISE))
            text_append(out, "same bits");
        else
            text_show(out, "error %.2g of bound", ratio);
        double matched = result_number(result, RESULT_MATCHED);
        if (matched < 1)
            text_printf(out, "; within a tolerance of %g, matched %.4g %%",
                        result_number(result, RESULT_TOLERANCE), 100 * matched);
        int64_t unjudged = result_whole(result, RESULT_NOT_JUDGED);
        if (unjudged > 0)
            text_printf(out, "; %lld not judged", (long long)unjudged);
        fallbacks_note(result, out);
        text_append(out, ")");
    }
    double cold = number_in(result, RESULT_COLD, "median");
    if (!isnan(cold)) {
        text_append(out, ", cold ");
        table_duration(cold, out);
    }
    double beside = json_number_value(
        json_object_get(json_object_get(result_get(result, RESULT_BESIDE), "ratio"), "median"));
    if (beside > 0)
        text_printf(out, ", %.2f of our time", beside);
    reason_cell(t, result, out);
    if (result_string(result, RESULT_PACK)) {
        text_append(out, "\n    ");
        result_replay(result, out);
    }
    text_append_char(out, '\n');
}

void table_line(table *t, const json_t *result, double previous_ns, text *out) {
    text name;
    text_init(&name);
    text_show(&name, "%s/%s", result_text(result, RESULT_KERNEL), result_text(result, RESULT_CASE));
    text_show(out, "%-*s %-7s %-*s %2.0f  ", t->name_width, name.data,
              result_text(result, RESULT_BACKEND), t->profile_width,
              result_text(result, RESULT_PROFILE), result_number(result, RESULT_THREADS));
    text_release(&name);
    time_cells(result, out);
    rate_cell(result, out);
    roofline_cell(result, out);
    change_cell(result, previous_ns, out);
    verdict_cell(t, result, out);
}

void table_counts(const json_t *results, text *out) {
    text_show(out, "%zu result%s:", json_array_size(results), text_s(json_array_size(results)));
    const char *separator = " ";
    for (int k = 0; k < OUTCOME_COUNT; k++) {
        size_t i, count = 0;
        json_t *result;
        json_array_foreach(results, i, result) count += (int)result_outcome(result) == k;
        if (count) {
            text_show(out, "%s%zu %s", separator, count, outcome_name((job_outcome)k));
            separator = ", ";
        }
    }
    text_append_char(out, '\n');
}

static size_t count_against(const json_t *results, const char *against) {
    size_t i, count = 0;
    json_t *result;
    json_array_foreach(results, i, result) {
        const char *found = result_string(result, RESULT_AGAINST);
        count += found && strcmp(found, against) == 0;
    }
    return count;
}

/* Counts results of kernels without a formula. */
static size_t count_unverified(const json_t *results) {
    size_t i, count = 0;
    json_t *result;
    json_array_foreach(results, i, result) {
        const char *against = result_string(result, RESULT_AGAINST);
        count += result_outcome(result) == OUTCOME_OK && against && strcmp(against, "none") == 0 &&
                 !result_flag(result, RESULT_BITWISE);
    }
    return count;
}

void table_checked(const json_t *results, text *out) {
    size_t unverified = count_unverified(results);
    text_show(out, "checked: %zu against a golden, %zu against the interpreter (no golden)",
              count_against(results, "golden"), count_against(results, "reference"));
    if (unverified)
        text_show(out, ", %zu not verified (no formula)", unverified);
    text_append_char(out, '\n');
}
