/* model_document.c - see model_document.h. */
#include "comm/model_document.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "measure/host_facts.h"
#include "statistics/statistics.h"

static const char *const pattern_names[] = {
#define NAME(id, name, meaning) name,
    PROBE_PATTERNS(NAME)
#undef NAME
};

static json_t *samples_of(const comm_fit *f, const probe_result *r, double *errors) {
    json_t *all = json_array();
    for (uint32_t i = 0; i < r->cell_count; i++) {
        const probe_cell *c = &r->cells[i];
        const double predicted = probe_predicted_ns(f, r, c), error = predicted / c->ns - 1;
        errors[i] = fabs(error);
        json_array_append_new(all, json_pack("{s:s, s:I, s:f, s:f, s:f}", "pattern",
                                             pattern_names[c->pattern], "bytes",
                                             (json_int_t)c->bytes, "measured_ns", c->ns,
                                             "predicted_ns", predicted, "error", error));
    }
    return all;
}

static json_t *fit_document(const probe_result *r) {
    comm_fit f;
    double errors[PROBE_CELLS_MAX], most = 0;
    probe_fit(r, &f);
    json_t *one = json_pack("{s:s, s:i}", "transport", f.transport, "ranks", (int)f.ranks);
#define PUT(member, key) json_object_set_new(one, key, json_real(f.member));
    COMM_NUMBERS(PUT)
#undef PUT
    json_object_set_new(one, "whole_bytes",
                        json_integer((json_int_t)comm_fit_whole_bytes(&f, f.ranks)));
    json_t *samples = samples_of(&f, r, errors);
    for (uint32_t i = 0; i < r->cell_count; i++)
        most = errors[i] > most ? errors[i] : most;
    json_object_set_new(one, "error_median",
                        json_real(statistics_of(errors, r->cell_count).median));
    json_object_set_new(one, "error_most", json_real(most));
    json_object_set_new(one, "samples", samples);
    return one;
}

json_t *model_document(const probe_result *results, uint32_t count) {
    char started[32];
    struct tm utc;
    const time_t now = time(NULL);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_t *fits = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(fits, fit_document(&results[i]));
    return json_pack("{s:s, s:o, s:o, s:s, s:o}", "schema", COMM_MODEL_SCHEMA, "tsr",
                     program_facts(), "host", host_facts(), "started", started, "fits", fits);
}

/* ---- the table ---- */

static double real_of(const json_t *object, const char *name) {
    return json_number_value(json_object_get(object, name));
}

static void print_fit(const json_t *f, text *out) {
    size_t i;
    const json_t *s;
    const double byte = real_of(f, "byte_ns"), sum = real_of(f, "sum_ns");
    text_printf(out, "%s, %d ranks: latency %.2f us, %.2f us for each more message, ",
                json_string_value(json_object_get(f, "transport")),
                (int)json_integer_value(json_object_get(f, "ranks")), real_of(f, "alpha_ns") / 1e3,
                real_of(f, "message_ns") / 1e3);
    if (byte > 0)
        text_printf(out, "%.2f GB/s, each other pair takes %.0f %% of that; ", 1 / byte,
                    100 * real_of(f, "contention_ns") / byte);
    else
        text_printf(out, "%.3f ns for each byte and each other pair; ",
                    real_of(f, "contention_ns"));
    text_printf(out, "sums of %.2f GB/s\n", 1 / sum);
    text_printf(out, "  %-6s %10s %14s %14s %8s\n", "who", "bytes", "measured us", "fitted us",
                "error");
    json_array_foreach(json_object_get(f, "samples"), i, s) text_printf(
        out, "  %-6s %10lld %14.2f %14.2f %+7.0f%%\n",
        json_string_value(json_object_get(s, "pattern")),
        (long long)json_integer_value(json_object_get(s, "bytes")), real_of(s, "measured_ns") / 1e3,
        real_of(s, "predicted_ns") / 1e3, 100 * real_of(s, "error"));
    text_printf(out,
                "  errors: %.0f %% in the middle, %.0f %% at most; up to %lld bytes each rank "
                "adds all of a sum, above a part\n",
                100 * real_of(f, "error_median"), 100 * real_of(f, "error_most"),
                (long long)json_integer_value(json_object_get(f, "whole_bytes")));
}

void model_table(const json_t *document, text *out) {
    size_t i;
    const json_t *f;
    json_array_foreach(json_object_get(document, "fits"), i, f) print_fit(f, out);
}
