/* document.h - a gate as JSON (tsr.gate/1, docs/gate.schema.json) and as lines for a person. */
#ifndef TESSERA_HARNESS_GATE_DOCUMENT_H
#define TESSERA_HARNESS_GATE_DOCUMENT_H

#include "base/text.h"
#include "gate/gate.h"

/* Owned. `id` and `started` name it, as a run. */
json_t *gate_document(const gate *g, const char *id, const char *started);

typedef struct gate_table_options {
    bool colour, all; /* all: also what is equal without having been timed */
    int width;        /* of the terminal */
} gate_table_options;
/* The rows and a summary that says what was proved, and with what error rates. */
void gate_table(const gate *g, const gate_table_options *options, text *out);

#endif
