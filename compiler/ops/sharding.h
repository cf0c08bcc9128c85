/* sharding.h - how a value lies on a mesh, as graphs write it: "dp=4,,tp=2+sp=2".
 *
 * An entry for each dimension, with commas between: the axes of the mesh that it is cut along, the
 * first one outermost, each with its number of shards; an empty one: it is not cut. The attribute
 * `sharding` of tessera.placed is such a text, and so are those of `shardings` of a kernel, one for
 * each input and then each output; "": each rank has all of the value.
 *
 * Of code for one rank, `parts` has their place: which shards of how many this one has,
 * FIRST+COUNT/TOTAL for each axis, "2+1/4,,0+1/2 1+1/2"; the value has these alone then.
 *
 * A sharding changes no bit: it says which part of a value a rank keeps (transforms/partition.c),
 * and with one rank it says nothing. */
#ifndef TESSERA_OPS_SHARDING_H
#define TESSERA_OPS_SHARDING_H

#include "ir/ir.h"

enum { SHARDING_AXES = 4 /* of one dimension */ };

typedef struct sharding_axis {
    const char *name; /* `length` bytes of the text */
    size_t length;
    int64_t shards;
} sharding_axis;

typedef struct sharding_dim {
    uint32_t count;
    sharding_axis axes[SHARDING_AXES];
} sharding_dim;

/* Fills an entry for each dimension. False: it is no sharding of so many dimensions, or names an
 * axis twice. */
bool sharding_read(const char *words, int rank, sharding_dim *out);
/* ... or a dimension that is known is no multiple of its shards. */
bool sharding_fits(const char *words, const ir_type_data *type);
/* The text of an input of a kernel, or (after them) of an output; NULL: each rank has all. */
const char *sharding_of(const ir_module *m, ir_op kernel, uint32_t number);
/* The same of the part of this rank. */
const char *sharding_part(const ir_module *m, ir_op kernel, uint32_t number);
/* Inputs and outputs of the module's kernel, and one of them by its number. */
uint32_t sharding_count(const ir_module *m);
ir_value sharding_value(const ir_module *m, uint32_t number);
/* Calls `visit` with the axes of all texts of the module, those of the kernel and then those of
 * tessera.placed, as long as it returns true. */
bool sharding_each_axis(const ir_module *m, bool (*visit)(const sharding_axis *axis, void *context),
                        void *context);
/* Each of the attribute's texts fits the value that it is of. */
bool sharding_verify(const ir_module *m, ir_op kernel, status *st);

#endif
