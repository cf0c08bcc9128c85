/* case_sample.h - what is expected of a case for which the interpreter and the f64 reference are
 * too slow: the whole result from our code, and both of them at elements that are drawn.
 *
 * Along one or two axes of the outputs, which positions are apart from each other, one position is
 * drawn of every SAMPLE_STRIP, and the kernel is computed at these alone (compiler_part). So each
 * cell of SAMPLE_STRIP x SAMPLE_STRIP elements has one that was drawn, and any 16 x 16 elements
 * hold such a cell as a whole (docs/measuring.md, "Large results"). The draws come from the system
 * when they are needed, and no kernel sees them.
 *
 * Strict bits are those of code without any optimisation, held to the interpreter where it was
 * drawn: any difference there, and the interpreter computes all. The reference has its own bound
 * where it was drawn; elsewhere the strict value stands for it, with a few times the greatest of
 * those bounds, and who is outside of that is held to the reference itself (case_sample_exact). */
#ifndef TESSERA_HARNESS_CASE_CASE_SAMPLE_H
#define TESSERA_HARNESS_CASE_CASE_SAMPLE_H

#include "case/case_context.h"

enum { SAMPLE_STRIP = 8 };

/* True where the case is judged so; plans it when first asked. */
bool case_sample_applies(case_context *s);
/* In s->oracle. False: the code cannot be had or differs, and nothing is there. */
bool case_sample_oracle(case_context *s);
/* In s->references, s->bounds and s->limits, with s->sampled: how many elements were drawn. The
 * oracle is there. */
bool case_sample_reference(case_context *s, status *st);
/* Puts the reference and its bound for one element in the place of what stands for them. */
bool case_sample_exact(case_context *s, uint32_t output, int64_t element, status *st);

#endif
