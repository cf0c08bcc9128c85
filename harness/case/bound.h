/* bound.h - cases that a command line makes with --dims, of kernels whose source has none or
 * others. */
#ifndef TESSERA_HARNESS_CASE_BOUND_H
#define TESSERA_HARNESS_CASE_BOUND_H

#include "base/vec.h"
#include "tessera/compiler.h"

/* The kernel's case of "M=128,N=256,T=bf16"; borrowed from the source. NULL with the diagnostics in
 * `st`. */
const compiler_case *case_bound(compiler_source *source, const compiler_kernel *kernel,
                                const char *dims, status *st);

/* Does the kernel have neither dimensions nor type variables? Then it has one case, that of "". */
bool kernel_is_fixed(const compiler_kernel *kernel);

/* Appends the line to type for a kernel: what it `begin`s with ("tsr bench"), the file, and --dims
 * with the kernel's own names, and the values of those that were given (NULL: none). */
void bound_line(const char *begin, const compiler_kernel *kernel, const compiler_values *given,
                text *out);

/* Kernels that --dims does not fit; borrowed. */
typedef VEC(const compiler_kernel *) unbound_kernels;
/* Appends a line for each of the first few, with what to type for it. */
void unbound_tell(const unbound_kernels *kernels, const char *begin, const compiler_values *given,
                  text *out);

#endif
