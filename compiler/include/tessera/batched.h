/* batched.h - a kernel for several sets of inputs at once (docs/batches.md). */
#ifndef TESSERA_BATCHED_H
#define TESSERA_BATCHED_H

#include "tessera/compiler.h"

/* Every input and output has the sets along a new axis 0, of so many places; each has the bits that
 * it has alone. Owned by the caller (compiler_instance_free). NULL with a status,
 * STATUS_UNAVAILABLE where the kernel has no form for more than one: of tiles, without a formula,
 * or with a tensor of IR_MAX_RANK axes. */
compiler_instance *compiler_batched(compiler_instance *instance, int64_t parts, status *st);

#endif
