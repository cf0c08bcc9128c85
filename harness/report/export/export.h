/* export.h - documents in formats that other programs read; formats.def lists them.
 *
 * Each export_NAME appends the whole file to `out`. Documents are those of docs/bench.schema.json
 * (tsr.bench/1), of docs/gate.md (tsr.gate/1), and what tsr lint --json prints
 * (tsr.lint/1). A document of a run may carry one member more, "samples": for each result by its
 * key, the times of its samples in ns, in the order taken. It is for the formats that have a place
 * for single samples; the others leave it out. What a document has no value for is left out: no
 * format gets a 0 for it. */
#ifndef TESSERA_HARNESS_REPORT_EXPORT_EXPORT_H
#define TESSERA_HARNESS_REPORT_EXPORT_EXPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

/* Schemas of documents, as bits. */
enum { EXPORT_BENCH = 1, EXPORT_GATE = 2, EXPORT_LINT = 4 };
/* The bit of a document's schema; 0 where it is none of these. */
unsigned export_schema(const json_t *document);

#define FORMAT(name, what, schemas) void export_##name(const json_t *document, text *out);
#include "report/export/formats.def"
#undef FORMAT

/* ---- for the files of this folder ---- */

/* With the precision of all documents; `flags` are jansson's. */
void export_append_json(text *out, const json_t *value, size_t flags);
/* Text from elsewhere for a format of lines: escaped (base/escape.h) and cut, its newlines kept. */
void export_words(const char *words, text *out);
/* Indented, with a newline at the end; takes over `value`. */
void export_append_document(text *out, json_t *value);
/* result[outer], or result[outer][inner]; NULL where it is absent or null. `inner` may be NULL. */
const json_t *export_value(const json_t *result, const char *outer, const char *inner);
/* The same as a number; NAN where it is absent. */
double export_number(const json_t *result, const char *outer, const char *inner);
/* The median in ns of a result that is ok; NAN of any other: no format gets the time of a result
 * that is wrong. */
double export_median(const json_t *result);
/* "kernel/case@backend,profile,threads"; of a row of a gate without the parts that it lacks. */
void export_name(const json_t *result, text *out);
/* Describes a row of a gate, in a line: "+2.00 % [+1.51, +2.49]; spills 0 -> 2", its change and the
 * counts that differ. Nothing where it has neither. */
void export_change(const json_t *result, text *out);
/* Times of single samples of the result of this name; NULL where there are none. */
const json_t *export_samples(const json_t *document, const char *name);

#endif
