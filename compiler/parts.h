/* parts.h - parts of inputs and outputs that a rank has, of a graph and in a module's metadata:
 * "part" of a buffer, and its "shape" of that part. */
#ifndef TESSERA_COMPILER_PARTS_H
#define TESSERA_COMPILER_PARTS_H

#include <jansson.h>

#include "ir/ir.h"
#include "tessera/ranks.h"

/* Parts of the kernel's inputs, then outputs (ops/sharding.h); free(). NULL: all are whole. */
shard_part *parts_of(const ir_module *m);
/* Shapes in a signature become those of the parts of its kernel. */
void parts_write(const ir_module *m, json_t *signature);

#endif
