/* stored_run.h - a run of the database as the document that it was (docs/bench.schema.json). */
#ifndef TESSERA_HARNESS_RUN_STORED_RUN_H
#define TESSERA_HARNESS_RUN_STORED_RUN_H

#include <jansson.h>

#include "store/store.h"

/* Reads a run by its number; owned. NULL with the reason in `st`; a record that is no JSON is
 * STATUS_CORRUPT. */
json_t *stored_run_document(store *s, int64_t run, status *st);
/* Adds the member "samples" (report/export/export.h). */
bool stored_run_add_samples(store *s, int64_t run, json_t *document, status *st);

#endif
