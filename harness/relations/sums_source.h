/* sums_source.h - a tree that was found as the source of a kernel in that order. */
#ifndef TESSERA_HARNESS_RELATIONS_SUMS_SOURCE_H
#define TESSERA_HARNESS_RELATIONS_SUMS_SOURCE_H

#include "relations/summing.h"

/* The kernel at the shape in hand, in the order of the tree in hand, with one case. False where no
 * order describes it, or the text would be too long. */
bool sums_source(summing *s, text *out, status *st);
/* Does the function give the bits that the interpreter gives for the source, in all elements,
 * for random inputs? */
bool sums_confirm(summing *s, const char *source, status *st);

#endif
