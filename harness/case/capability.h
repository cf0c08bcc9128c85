/* capability.h - what a backend lacks of what a kernel needs, and takes something else for: the
 * table capabilities.def (device/capability.h) against a graph. */
#ifndef TESSERA_HARNESS_CASE_CAPABILITY_H
#define TESSERA_HARNESS_CASE_CAPABILITY_H

#include "case/backend.h"
#include "device/capability.h"

/* The types of a graph's values that the backend lacks, each once, in the order of dtype.h; at most
 * DTYPE_COUNT. Returns how many. */
uint32_t capability_fallbacks(backend_id id, const ir_module *graph, dtype *lacking);

#endif
