/* csv.c - a line for each result: JSON objects, or a table. */
#include <string.h>

#include "job/result.h"
#include "report/export/export.h"

/* The member that names the document in each of its lines. */
static const char *identity(const json_t *document) {
    return export_schema(document) == EXPORT_GATE ? "gate" : "run";
}

void export_jsonl(const json_t *document, text *out) {
    const char *name = identity(document);
    size_t i;
    json_t *result;
    json_array_foreach(json_object_get(document, "results"), i, result) {
        json_t *line = json_object();
        json_object_set(line, name, json_object_get(document, name));
        json_object_update(line, result);
        export_append_json(out, line, JSON_COMPACT);
        text_append_char(out, '\n');
        json_decref(line);
    }
}

/* Column title, then the path of keys below a result. */
typedef struct column {
    const char *title, *outer, *inner;
} column;

static const column gate_columns[] = {
    {"kernel", "kernel", NULL},
    {"case", "case", NULL},
    {"backend", "backend", NULL},
    {"profile", "profile", NULL},
    {"threads", "threads", NULL},
    {"verdict", "verdict", NULL},
    {"reason", "reason", NULL},
    {"why", "why", NULL},
    {"tier", "tier", NULL},
    {"change", "change", "estimate"},
    {"change_low", "change", "low"},
    {"change_high", "change", "high"},
    {"confidence", "change", "confidence"},
    {"p_regressed", "p_regressed", NULL},
    {"p_improved", "p_improved", NULL},
    {"mde", "mde", NULL},
    {"pairs", "pairs", NULL},
    {"baseline_ns", "baseline_ns", NULL},
    {"against_ns", "against_ns", NULL},
};

/* RFC 4180: quoted where it must be; null is the empty field. */
static void field(const json_t *value, text *out) {
    if (!value || json_is_null(value))
        return;
    if (!json_is_string(value)) {
        export_append_json(out, value, JSON_COMPACT);
        return;
    }
    text words;
    text_init(&words);
    export_words(json_string_value(value), &words);
    const char *quote = strpbrk(words.data, ",\"\n") ? "\"" : "";
    text_append(out, quote);
    for (const char *p = words.data; *p; p++) {
        if (*p == '"')
            text_append_char(out, '"');
        text_append_char(out, *p);
    }
    text_append(out, quote);
    text_release(&words);
}

static void table(const json_t *document, const column *columns, size_t count, text *out) {
    const char *name = identity(document);
    text_append(out, name);
    for (size_t i = 0; i < count; i++)
        text_printf(out, ",%s", columns[i].title);
    text_append(out, "\r\n");
    size_t row;
    json_t *result;
    json_array_foreach(json_object_get(document, "results"), row, result) {
        field(json_object_get(document, name), out);
        for (size_t i = 0; i < count; i++) {
            text_append_char(out, ',');
            field(export_value(result, columns[i].outer, columns[i].inner), out);
        }
        text_append(out, "\r\n");
    }
}

void export_csv(const json_t *document, text *out) {
    column columns[RESULT_FIELD_COUNT];
    size_t count = 0;
    for (int i = 0; i < RESULT_FIELD_COUNT; i++) {
        const result_field_info *f = &result_fields[i];
        if (f->csv)
            columns[count++] = (column){f->csv, f->outer, *f->inner ? f->inner : NULL};
    }
    if (export_schema(document) == EXPORT_GATE)
        table(document, gate_columns, sizeof gate_columns / sizeof *gate_columns, out);
    else
        table(document, columns, count, out);
}
