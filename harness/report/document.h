/* document.h - the JSON document of a run (docs/bench.schema.json), and its exports. */
#ifndef TESSERA_HARNESS_REPORT_DOCUMENT_H
#define TESSERA_HARNESS_REPORT_DOCUMENT_H

#include <jansson.h>
#include <stdio.h>

#include "base/status.h"
#include "base/text.h"
#include "measure/ceilings.h"

/* Without ceilings and results; owned. */
json_t *document_head(const char *run, const char *started);
json_t *document_ceilings(const ceilings *c);
/* Takes over `ceilings_json` and `results`; `head` is copied. */
json_t *document_make(const json_t *head, json_t *ceilings_json, json_t *results);

/* Indented, one newline at the end. */
void document_print(const json_t *document, FILE *out);

/* FORMAT=FILE: false when the format is unknown, does not take documents of `schema` (EXPORT_BENCH,
 * EXPORT_GATE, EXPORT_LINT: report/export/export.h), or names no file. */
bool document_export_check(const char *spec, unsigned schema, status *st);
/* Names of the formats that take such documents, with commas between them. */
void document_export_names(unsigned schema, text *out);
/* Checks that the file can be there; for a spec that was checked. */
bool document_export_place(const char *spec, status *st);
/* For a spec that was checked. See output_write. */
bool document_export(const json_t *document, const char *spec, status *st);

#endif
