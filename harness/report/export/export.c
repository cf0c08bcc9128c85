/* export.c - what the formats share: finding values, naming results, writing JSON. */
#include "report/export/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"

enum { JSON_DIGITS = 10 };

unsigned export_schema(const json_t *document) {
    static const struct {
        const char *name;
        unsigned bit;
    } schemas[] = {
        {"tsr.bench/1", EXPORT_BENCH}, {"tsr.gate/1", EXPORT_GATE}, {"tsr.lint/1", EXPORT_LINT}};
    const char *name = json_text_at(document, "schema");
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        if (strcmp(name, schemas[i].name) == 0)
            return schemas[i].bit;
    return 0;
}

void export_append_json(text *out, const json_t *value, size_t flags) {
    char *body = json_dumps(value, flags | JSON_REAL_PRECISION(JSON_DIGITS) | JSON_ENCODE_ANY);
    if (body)
        text_screen_json(out, body, strlen(body));
    free(body);
}

void export_words(const char *words, text *out) {
    size_t whole = strlen(words), most = TEXT_SHOWN_BYTES_MAX;
    size_t length = whole > most ? text_utf8_cut(words, most) : whole;
    for (const char *line = words, *end = words + length; line <= end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t bytes = newline ? (size_t)(newline - line) : (size_t)(end - line);
        text_escape(out, line, bytes, SIZE_MAX / 2);
        if (newline)
            text_append_char(out, '\n');
        line += bytes + 1;
    }
    if (length < whole)
        text_printf(out, "...(%zu bytes)", whole);
}

void export_append_document(text *out, json_t *value) {
    export_append_json(out, value, JSON_INDENT(2));
    text_append_char(out, '\n');
    json_decref(value);
}

const json_t *export_value(const json_t *result, const char *outer, const char *inner) {
    const json_t *value = json_object_get(result, outer);
    if (inner)
        value = json_object_get(value, inner);
    return json_is_null(value) ? NULL : value;
}

double export_number(const json_t *result, const char *outer, const char *inner) {
    const json_t *value = export_value(result, outer, inner);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

double export_median(const json_t *result) {
    bool ok = result_outcome(result) == OUTCOME_OK;
    return ok ? result_number(result, RESULT_MEDIAN) : NAN;
}

void export_name(const json_t *result, text *out) {
    const json_t *threads = export_value(result, "threads", NULL);
    const char *backend = result_text(result, RESULT_BACKEND),
               *profile = result_text(result, RESULT_PROFILE);
    text_printf(out, "%s/%s", result_text(result, RESULT_KERNEL), result_text(result, RESULT_CASE));
    if (*backend)
        text_printf(out, "@%s", backend);
    if (*profile)
        text_printf(out, ",%s", profile);
    if (json_is_integer(threads))
        text_printf(out, ",%" JSON_INTEGER_FORMAT, json_integer_value(threads));
}

const json_t *export_samples(const json_t *document, const char *name) {
    const json_t *samples = json_object_get(json_object_get(document, "samples"), name);
    return json_array_size(samples) ? samples : NULL;
}

/* Counts that both sides have and that differ. */
static void append_counts(const json_t *result, text *out) {
    static const struct {
        const char *key, *name;
    } rows[] = {{"flops", "FLOPs"},
                {"bytes", "bytes"},
                {"code_bytes", "code bytes"},
                {"spills", "spills"},
                {"instructions", "instructions"}};
    const char *between = out->length ? "; " : "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const json_t *pair = export_value(result, "static", rows[i].key),
                     *was = json_array_get(pair, 0), *is = json_array_get(pair, 1);
        if (!json_is_integer(was) || !json_is_integer(is) || json_equal(was, is))
            continue;
        text_printf(out, "%s%s %" JSON_INTEGER_FORMAT " -> %" JSON_INTEGER_FORMAT, between,
                    rows[i].name, json_integer_value(was), json_integer_value(is));
        between = ", ";
    }
}

void export_change(const json_t *result, text *out) {
    double estimate = export_number(result, "change", "estimate"),
           low = export_number(result, "change", "low"),
           high = export_number(result, "change", "high");
    if (!isnan(estimate))
        text_printf(out, "%+.2f %% [%+.2f, %+.2f]", 100 * estimate, 100 * low, 100 * high);
    append_counts(result, out);
}
