/* capability.h - what a backend lacks, and what it takes instead: the table capabilities.def
 * against a kernel. */
#ifndef TESSERA_HARNESS_CASE_CAPABILITY_H
#define TESSERA_HARNESS_CASE_CAPABILITY_H

#include "case/backend.h"

typedef struct capability {
    bool known; /* the table has a line */
    dtype as;   /* DTYPE_NONE: native */
    const char *why;
} capability;

const capability *capability_of(backend_id id, dtype type);

/* The types of a graph's values that the backend lacks, each once, in the order of dtype.h; at most
 * DTYPE_COUNT. Returns how many. */
uint32_t capability_fallbacks(backend_id id, const ir_module *graph, dtype *lacking);

#endif
