/* shrink.h - the smallest kernel that still fails in the same way.
 *
 * What shrinks is the sequence of choices: shorter first, then with smaller numbers. Every
 * candidate is generated and run like the first one. */
#ifndef TESSERA_HARNESS_FUZZ_SHRINK_H
#define TESSERA_HARNESS_FUZZ_SHRINK_H

#include "fuzz/choices.h"

/* Does the kernel of these choices fail in the same way? */
typedef bool (*shrink_fails_fn)(void *context, const choice_list *choices);

/* Shrinks `best`, which fails, in place with at most `attempts` calls; returns how many were made.
 */
uint32_t shrink_choices(choice_list *best, shrink_fails_fn fails, void *context, uint32_t attempts);

#endif
