/* spec_launch.h - what a process that launches kernels by itself is told of one: a launch request
 * out of JSON and the scratch file.
 *
 * {"modules": [[offset, bytes], ...], "kernel": [name, ...] (one for each side), "inputs",
 * "outputs", "sizes": [bytes, ...], "dims": {name: value}, "sets": [offset of the first input,
 * ...]} */
#ifndef TESSERA_HARNESS_GATE_SPEC_LAUNCH_H
#define TESSERA_HARNESS_GATE_SPEC_LAUNCH_H

#include <jansson.h>

#include "launch/launch.h"

typedef struct spec_request {
    launch_request request;
    ir_binding dims[LAUNCH_DIMS_MAX];
    size_t *sizes; /* of the request */
} spec_request;

/* The module of a side on a context. Borrows the spec and `data`, the scratch file. Released in any
 * case. */
bool spec_request_read(spec_request *out, tsr_context_t context, const unsigned char *data,
                       const json_t *spec, int side, status *st);
void spec_request_release(spec_request *r);
/* Pointers to the inputs of a set in the scratch file, each at a multiple of 64 bytes; the
 * caller's. */
const void **spec_inputs(const launch_request *request, const unsigned char *data,
                         const json_t *spec, size_t set);
/* Writes a set's inputs, and launches with outputs that hold no result. */
bool spec_launch_run(launch *l, const void *const *inputs, status *st);

#endif
