/* variants.h - other forms of a kernel that have its bits, or its values: what `tsr check`
 * compares. */
#ifndef TESSERA_VARIANTS_H
#define TESSERA_VARIANTS_H

#include "tessera/compiler.h"

/* For several sets of inputs at once (docs/batches.md): every input and output has the sets along a
 * new axis 0, of so many places; each has the bits that it has alone. Owned by the caller
 * (compiler_instance_free). NULL with a status, STATUS_UNAVAILABLE where the kernel has no form for
 * more than one: of tiles, without a formula, or with a tensor of IR_MAX_RANK axes. */
compiler_instance *compiler_batched(compiler_instance *instance, int64_t parts, status *st);

/* With derivatives that compute all values of their functions again, or (`keeps`) none, whatever
 * checkpoints the kernel has. Owned by the caller. NULL with a status, STATUS_UNAVAILABLE where it
 * takes no derivative in reverse. */
compiler_instance *compiler_recomputed(compiler_instance *instance, bool keeps, status *st);

/* Without rules of functions, but for those that say that they differ: derivatives go through the
 * functions. Same inputs and outputs, within error bounds and not bit for bit. Owned by the caller.
 * NULL with a status, STATUS_UNAVAILABLE where the kernel has no such rule, or a function has no
 * other derivative. */
compiler_instance *compiler_without_rules(compiler_instance *instance, status *st);

#endif
