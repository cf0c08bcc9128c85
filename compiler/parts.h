/* parts.h - parts of inputs and outputs in a module's metadata: "part" of a buffer, and its "shape"
 * of that part. */
#ifndef TESSERA_COMPILER_PARTS_H
#define TESSERA_COMPILER_PARTS_H

#include <jansson.h>

#include "ir/ir.h"

/* Shapes in a signature become those of the parts that the module's kernel has (ops/sharding.h). */
void parts_write(const ir_module *m, json_t *signature);

#endif
