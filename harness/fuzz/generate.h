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
/* Kernel beside one of tiles that computes the same on whole tensors, or beside a batch in a loop.
 */
#define FUZZ_MEANING "meaning"

/* Appends the text of a module with one kernel, FUZZ_KERNEL, and one case, FUZZ_CASE. */
void fuzz_generate(choices *c, text *out);
/* The same of a kernel that is made of tiles, with FUZZ_MEANING behind it: the same parameters,
 * the same case, and to the bit the same results. */
void fuzz_generate_tiles(choices *c, text *out);
/* The same of a kernel that is vmap of a function, with FUZZ_MEANING, which is the function in a
 * loop.
 */
void fuzz_generate_batches(choices *c, text *out);
/* The same of a kernel that is a program: its formula is Graph IR. */
void fuzz_generate_programs(choices *c, text *out);
/* The same of a kernel of derivatives, which checks them itself. */
void fuzz_generate_derivatives(choices *c, text *out);

#endif
