/* dims_from_arrays.h - a kernel's dimensions, solved from the shapes of arrays. */
#ifndef TESSERA_HARNESS_CASE_DIMS_FROM_ARRAYS_H
#define TESSERA_HARNESS_CASE_DIMS_FROM_ARRAYS_H

#include "tessera/compiler.h"

enum { BIND_DIMS_MAX = 32 };

typedef struct dim_bindings {
    ir_binding items[BIND_DIMS_MAX]; /* names are borrowed from the graph */
    uint32_t count;
} dim_bindings;

/* Binds every symbol that stands alone as a dimension, then checks all other dimensions by
 * evaluating them. The message names the parameter, what the kernel wants and what the array has.
 * `arrays` is one per parameter. */
bool dims_from_arrays(ir_module *graph, const char *const *parameter_names, const tensor *arrays,
                      uint32_t count, dim_bindings *out, status *st);

#endif
