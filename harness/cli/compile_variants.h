/* compile_variants.h - --specialize: the dimensions that a module of any size has code of its own
 * for.
 */
#ifndef TESSERA_HARNESS_CLI_COMPILE_VARIANTS_H
#define TESSERA_HARNESS_CLI_COMPILE_VARIANTS_H

#include "base/arena.h"
#include "cli/kernel_choice.h"

typedef struct compile_variants {
    arena memory;
    ir_bindings items[COMPILER_VARIANTS_MAX];
    uint32_t count;
} compile_variants;

/* EXIT_DONE, or the exit code after the message was printed; only then there is nothing to release.
 */
int compile_variants_read(const options *o, const kernel_choice *k, compile_variants *out);
void compile_variants_release(compile_variants *v);

#endif
