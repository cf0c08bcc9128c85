/* document.c - assembles the document, and finds the format of an export. */
#include "report/document.h"

#include <string.h>

#include "base/text.h"
#include "common/output.h"
#include "common/say.h"
#include "measure/host_facts.h"
#include "report/error_table.h"
#include "report/export/export.h"

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
    say_json(out, document, JSON_DIGITS);
}

static const struct export_format {
    const char *name, *what;
    unsigned schemas;
    void (*write)(const json_t *document, text *out);
} export_formats[] = {
#define FORMAT(name, what, schemas) {#name, what, schemas, export_##name},
#include "report/export/formats.def"
#undef FORMAT
};
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

void document_export_names(unsigned schema, text *out) {
    for (int i = 0; i < EXPORT_FORMATS; i++)
        if (export_formats[i].schemas & schema)
            text_printf(out, "%s%s", out->length ? ", " : "", export_formats[i].name);
}

bool document_export_check(const char *spec, unsigned schema, status *st) {
    const struct export_format *format = format_of(spec);
    if (format && (format->schemas & schema))
        return true;
    text names;
    text_init(&names);
    document_export_names(schema, &names);
    status_set(st, STATUS_INVALID, "--export wants FORMAT=FILE, not '%s'; formats here: %s", spec,
               names.data);
    text_release(&names);
    return false;
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
