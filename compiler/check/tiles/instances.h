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

/* ---- kernels of tiles ---- */

enum { INSTANCE_INDICES = IR_MAX_RANK + 2 };

typedef struct grid_index {
    const char *name;
    int64_t count;
} grid_index;

/* A walk through program instances, of which lengths are followed. */
typedef struct tile_walk {
    instance in; /* `known` is `values` */
    const instance *whole;
    ir_op tiles;
    VEC(ir_binding) values; /* of the case's dimensions, then of indices */
    grid_index grid[INSTANCE_INDICES];
    uint32_t grid_count;
    ir_type *now; /* by value: its type in this instance */
    bool fits;    /* so far, of whole tiles */
    bool every;   /* value of an index */
    uint32_t steps;
    bool stopped; /* too much of it, or not of the form that is known here */
} tile_walk;

/* instances_tiles.c: the program instances of tessera.tiles. False when reported. */
bool instance_tiles_fit(const instance *in, ir_op tiles);

/* instances_results.c: what the instance at hand gives, and that there is nothing to give where
 * there is no instance. False when reported. */
bool instance_results_fit(tile_walk *w, ir_op give);
bool instance_nothing_fits(const tile_walk *w);

#endif
