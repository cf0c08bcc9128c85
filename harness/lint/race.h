/* race.h - inside the lint: what the emulator says, as a finding. */
#ifndef TESSERA_HARNESS_LINT_RACE_H
#define TESSERA_HARNESS_LINT_RACE_H

#include "lint/lint_kernel.h"

/* From the keyword of a mistake that the emulator found on (docs/emulator.md); NULL: the words are
 * of something else. */
const char *race_keyword_in(const char *why);
/* The first place in the source that they name; line 0: they name none. */
ir_location race_location_in(const char *words);
/* Adds why a case failed on the emulator, told at its place. */
void lint_add_race(const lint_kernel *k, const compiler_case *c, const char *why);

#endif
