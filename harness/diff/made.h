/* made.h - what two ways of running a kernel make of the same inputs, side by side. */
#ifndef TESSERA_HARNESS_DIFF_MADE_H
#define TESSERA_HARNESS_DIFF_MADE_H

#include <jansson.h>

#include "base/text.h"
#include "case/case_context.h"
#include "diff/compute.h"

/* One way, and the tensors that it made. All borrowed. */
typedef struct made {
    case_context *context;
    compute_request request;
    tensor *outputs; /* tensors_new */
} made;

/* Appends to `out` how the outputs differ, and, where the two were made in different ways, the
 * first operation that does; adds to `entry` the keys "outputs" and "first_operation"
 * (docs/diff.md), or "why". */
void made_compare(const made *a, const made *b, text *out, json_t *entry);

#endif
