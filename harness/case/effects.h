/* effects.h - outputs that are no results: what a launch prints, and what it checks
 * (compiler_buffer.effect). */
#ifndef TESSERA_HARNESS_CASE_EFFECTS_H
#define TESSERA_HARNESS_CASE_EFFECTS_H

#include <stdio.h>

#include "base/effect.h"
#include "base/text.h"
#include "tessera/compiler.h"

/* Is it a check (its words are the message)? False of NULL, a result. */
bool effect_is_check(const char *source, effect *out);
/* The first check of the outputs that does not hold; -1: all do. */
int effects_failed(const compiler_signature *signature, const tensor *outputs);
/* Appends what that check says, and the counts that states have behind it, of which it may be:
 * "the cache is full (cache.length: 7)". */
void effects_message(const compiler_signature *signature, const tensor *outputs, int failed,
                     text *out);
/* Does the kernel print? */
bool effects_any(const compiler_signature *signature);
/* Prints what print() shows, a line each; of a loop, turn by turn. */
void effects_print(const compiler_signature *signature, const tensor *outputs, FILE *to);

#endif
