/* host_facts.h - the machine and the program, as the report states them. */
#ifndef TESSERA_HARNESS_MEASURE_HOST_FACTS_H
#define TESSERA_HARNESS_MEASURE_HOST_FACTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

/* The document's "host" and "tsr"; owned. */
json_t *host_facts(void);
json_t *program_facts(void);
/* Checks that a document with these facts ("tsr") is of this very build. Facts without a build id,
 * of an older tsr, are compared by version, commit and LLVM. */
bool program_made(const json_t *facts);
/* "CPU, ISA level, operating system": who made a golden. */
void host_name(text *out);
/* Runs on machines of equal text may be compared: CPU, ISA level of the code, cores. */
void host_machine(const char *isa, text *out);

#endif
