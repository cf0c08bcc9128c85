/* instances.h - what the files share that look at a checked graph with a case's dimensions. */
#ifndef TESSERA_CHECK_INSTANCES_H
#define TESSERA_CHECK_INSTANCES_H

#include "check/check.h"

typedef struct instance {
    compiler_source *source;
    diagnostics *report;
    ir_module *m;
    const compiler_case *c;
    ir_bindings known; /* the case's dimensions, and indices of program instances and loops */
} instance;

/* False where it has no value that is known. */
bool instance_number(const instance *in, ir_dim dim, int64_t *out);
span instance_place(const instance *in, ir_op op);
/* A slice lies inside its axes, results have sizes. False when reported. */
bool instance_slice_fits(const instance *in, ir_op op);
bool instance_results_exist(const instance *in, ir_op op);

/* instances_tiles.c: the program instances of tessera.tiles. False when reported. */
bool instance_tiles_fit(const instance *in, ir_op tiles);

#endif
