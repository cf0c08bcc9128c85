/* generate.h - random kernels, valid by construction: the source text of one, from its choices.
 *
 * Each production (productions.def) appends one statement to the kernel where it finds operands
 * that fit. Shapes are plain numbers: 0, 1, primes, and what lies around vectors, blocks and
 * chunks. */
#ifndef TESSERA_HARNESS_FUZZ_GENERATE_H
#define TESSERA_HARNESS_FUZZ_GENERATE_H

#include "base/text.h"
#include "fuzz/choices.h"
#include "tessera/compiler.h"

#define FUZZ_KERNEL "fuzzed"
#define FUZZ_CASE "only"

/* Appends the text of a module with one kernel, FUZZ_KERNEL, and one case, FUZZ_CASE. */
void fuzz_generate(choices *c, text *out);

#endif
