/* promise.h - @verify.numerics of functions that kernels call: each call as a kernel of its own, to
 * be proved or tried. */
#ifndef TESSERA_PROMISE_H
#define TESSERA_PROMISE_H

#include "tessera/compiler.h"

typedef struct compiler_promise {
    const char *function;
    uint32_t line; /* of the call, in the source's first file */
    const compiler_numerics *numerics;
    compiler_instance *body; /* what the call computes of what it reads */
    /* Gives what it reads, of the kernel's inputs: its outputs are the inputs of `body`, and behind
     * them a bool for each turn of the loops around the call: does it happen there? Axes in front
     * of an input are the bool's first ones, turns of the loops in which it changes. NULL: a
     * combiner calls it, for pairs of elements, or it reads too many axes for a loop's to come in
     * front. */
    compiler_instance *arguments;
    compiler_instance *results; /* of the call, of the kernel's inputs; NULL: it stands in a branch
                                   or in a loop */
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
