/* model_document.h - a model of exchanges as docs/comm.schema.json has it, and as a table. */
#ifndef TESSERA_HARNESS_COMM_MODEL_DOCUMENT_H
#define TESSERA_HARNESS_COMM_MODEL_DOCUMENT_H

#include <jansson.h>

#include "base/text.h"
#include "comm/probe.h"

/* Owned. */
json_t *model_document(const probe_result *results, uint32_t count);
/* Appends what was measured of each size beside what the fit says. */
void model_table(const json_t *document, text *out);

#endif
