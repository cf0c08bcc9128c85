/* document.c - assembles the document and writes it as json, jsonl or csv. */
#include "report/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/error_table.h"
#include "report/host_facts.h"
#include "report/output.h"

enum { JSON_DIGITS = 10 };

json_t *document_head(const char *run, const char *started) {
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "schema", "tsr.bench/1", "run", run, "started",
                     started, "tsr", program_facts(), "host", host_facts());
}

json_t *document_ceilings(const ceilings *c) {
    json_t *list = json_array();
    for (size_t i = 0; i < c->count; i++) {
        const ceiling *item = &c->items[i];
        json_t *entry = json_pack("{s:s}", "resource", item->resource);
        if (item->profile)
            json_object_set_new(entry, "profile", json_string(item->profile));
        json_object_set_new(entry, "value", json_real(item->value));
        json_object_set_new(entry, "unit", json_string(item->unit));
        json_array_append_new(list, entry);
    }
    return list;
}

json_t *document_make(const json_t *head, json_t *ceilings_json, json_t *results) {
    json_t *document = json_deep_copy(head);
    json_object_set_new(document, "ceilings", ceilings_json);
    json_object_set_new(document, "results", results);
    json_object_set_new(document, "errors", error_table_json(results));
    return document;
}

void document_print(const json_t *document, FILE *out) {
    json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(JSON_DIGITS));
    fputc('\n', out);
}

static void append_json(text *out, const json_t *value, size_t flags) {
    char *body = json_dumps(value, flags | JSON_REAL_PRECISION(JSON_DIGITS) | JSON_ENCODE_ANY);
    text_append(out, body);
    free(body);
}

static void export_json(const json_t *document, text *out) {
    append_json(out, document, JSON_INDENT(2));
    text_append_char(out, '\n');
}

/* One result a line, each naming its run. */
static void export_jsonl(const json_t *document, text *out) {
    size_t i;
    json_t *result;
    json_array_foreach(json_object_get(document, "results"), i, result) {
        json_t *line = json_object();
        json_object_set(line, "run", json_object_get(document, "run"));
        json_object_update(line, result);
        append_json(out, line, JSON_COMPACT);
        text_append_char(out, '\n');
        json_decref(line);
    }
}

/* Column title, then the path of keys below a result. */
static const struct csv_column {
    const char *title, *outer, *inner;
} csv_columns[] = {
    {"kernel", "kernel", NULL},
    {"case", "case", NULL},
    {"backend", "backend", NULL},
    {"profile", "profile", NULL},
    {"threads", "threads", NULL},
    {"status", "status", NULL},
    {"why", "why", NULL},
    {"against", "check", "against"},
    {"bitwise", "check", "bitwise"},
    {"max_ulp", "check", "max_ulp"},
    {"max_error_over_bound", "check", "max_error_over_bound"},
    {"max_ulp_f64", "check", "max_ulp_f64"},
    {"median_ns", "time_ns", "median"},
    {"low_ns", "time_ns", "low"},
    {"high_ns", "time_ns", "high"},
    {"confidence", "time_ns", "confidence"},
    {"samples", "time_ns", "samples"},
    {"min_ns", "time_ns", "min"},
    {"iqr_ns", "time_ns", "iqr"},
    {"flops", "flops", NULL},
    {"bytes", "bytes", NULL},
    {"gflops", "rate", "gflops"},
    {"gbps", "rate", "gbps"},
    {"bound", "roofline", "bound"},
    {"ceiling", "roofline", "ceiling"},
    {"fraction", "roofline", "fraction"},
    {"compile_ns", "compile_ns", NULL},
    {"compile_cached", "compile_cached", NULL},
    {"schedule", "schedule", NULL},
    {"schedule_values", "schedule_values", NULL},
    {"schedule_hash", "schedule_hash", NULL},
    {"module_hash", "module_hash", NULL},
};
enum { CSV_COLUMNS = sizeof csv_columns / sizeof csv_columns[0] };

/* RFC 4180: quoted where it must be; null is the empty field. */
static void csv_field(const json_t *value, text *out) {
    if (!value || json_is_null(value))
        return;
    if (!json_is_string(value)) {
        append_json(out, value, JSON_COMPACT);
        return;
    }
    const char *words = json_string_value(value);
    if (!strpbrk(words, ",\"\r\n")) {
        text_append(out, words);
        return;
    }
    text_append_char(out, '"');
    for (const char *p = words; *p; p++) {
        if (*p == '"')
            text_append_char(out, '"');
        text_append_char(out, *p);
    }
    text_append_char(out, '"');
}

static void export_csv(const json_t *document, text *out) {
    text_append(out, "run");
    for (int i = 0; i < CSV_COLUMNS; i++)
        text_printf(out, ",%s", csv_columns[i].title);
    text_append(out, "\r\n");
    size_t row;
    json_t *result;
    json_array_foreach(json_object_get(document, "results"), row, result) {
        csv_field(json_object_get(document, "run"), out);
        for (int i = 0; i < CSV_COLUMNS; i++) {
            const json_t *value = json_object_get(result, csv_columns[i].outer);
            text_append_char(out, ',');
            csv_field(csv_columns[i].inner ? json_object_get(value, csv_columns[i].inner) : value,
                      out);
        }
        text_append(out, "\r\n");
    }
}

static const struct export_format {
    const char *name;
    void (*write)(const json_t *document, text *out);
} export_formats[] = {{"json", export_json}, {"jsonl", export_jsonl}, {"csv", export_csv}};
enum { EXPORT_FORMATS = sizeof export_formats / sizeof export_formats[0] };

static const struct export_format *format_of(const char *spec) {
    const char *equals = strchr(spec, '=');
    size_t length = equals ? (size_t)(equals - spec) : 0;
    for (int i = 0; i < EXPORT_FORMATS; i++)
        if (strlen(export_formats[i].name) == length &&
            strncmp(export_formats[i].name, spec, length) == 0)
            return equals[1] ? &export_formats[i] : NULL;
    return NULL;
}

bool document_export_check(const char *spec, status *st) {
    return format_of(spec) != NULL ||
           status_set(st, STATUS_INVALID,
                      "--export wants json=FILE, jsonl=FILE or csv=FILE, not '%s'", spec);
}

bool document_export_place(const char *spec, status *st) {
    return output_check(strchr(spec, '=') + 1, st);
}

bool document_export(const json_t *document, const char *spec, status *st) {
    text body;
    text_init(&body);
    format_of(spec)->write(document, &body);
    bool ok = output_write(strchr(spec, '=') + 1, body.data, body.length, st);
    text_release(&body);
    return ok;
}
