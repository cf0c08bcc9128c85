/* promise.h - @verify.numerics of functions that kernels call: each call as a kernel of its own, to
 * be proved or tried. */
#ifndef TESSERA_PROMISE_H
#define TESSERA_PROMISE_H

#include "tessera/compiler.h"

typedef struct compiler_promise {
    const char *function;
    uint32_t line; /* of the call, in the source's first file */
    const compiler_numerics *numerics;
    compiler_instance *body;      /* what the call computes of what it reads */
    compiler_instance *arguments; /* what it reads, of the kernel's inputs: its outputs are the
                                     inputs of `body`; NULL: it reads nothing, or the call stands in
                                     a branch, or in a loop that is none over a range */
    uint32_t depth; /* ... each output has so many axes in front: the turns of loops around it */
} compiler_promise;

/* The calls of a kernel, in the order in which they are written out; *count may be 0. Strings live
 * until compiler_close, the list until compiler_promises_free. NULL with diagnostics appended. */
compiler_promise *compiler_promises(compiler_source *source, const compiler_kernel *kernel,
                                    const compiler_case *c, uint32_t *count, text *diagnostics);
void compiler_promises_free(compiler_promise *list, uint32_t count); /* may be NULL */

/* Does the promise hold for any finite floats in place of those of the inputs? By intervals: false
 * says nothing. */
bool compiler_proves(const compiler_promise *promise, const tensor *inputs, bool *proved,
                     status *st);

#endif
