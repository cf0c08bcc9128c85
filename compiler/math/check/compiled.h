/* compiled.h - a specified function as compiled code for one CPU level, through the whole pipeline
 * and the runtime's loader. One thread at a time. */
#ifndef TESSERA_MATH_CHECK_COMPILED_H
#define TESSERA_MATH_CHECK_COMPILED_H

#include "base/sha256.h"
#include "math/math.h"
#include "tessera/compiler.h"
#include "tessera/tessera.h"

enum { COMPILED_COUNT = 1 << 14 }; /* elements a call */

typedef struct compiled {
    const char *isa;
    sha256 image; /* of the module */
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    float *in, *out; /* COMPILED_COUNT each; NULL: this machine cannot run the level */
} compiled;

/* False with a reason where the level exists but code for it cannot be made or loaded. */
bool compiled_open(compiled *c, math_set set, math_function function, const char *isa, status *st);
/* c->out[i] = function(c->in[i]); NaNs are canonical. */
bool compiled_run(compiled *c);
void compiled_close(compiled *c);

#endif
