/* localize_before.h - a graph that is wrong as it is read, although no module differs from it. */
#ifndef TESSERA_HARNESS_LOCALIZE_LOCALIZE_BEFORE_H
#define TESSERA_HARNESS_LOCALIZE_LOCALIZE_BEFORE_H

#include "localize/probes.h"

/* Is it, in a case of the interpreter, that alone? Puts the place into `found` then. */
bool localize_interpreter(probes *p, const char *edits, json_t *found);
/* Is code for threads right where these wait before each access to memory? Likewise. */
bool localize_barriers(probes *p, const char *edits, json_t *found);
/* Puts into `found` the place: the pass that a second opinion finds wrong, else the suspects. The
 * steps are those of the case behind these edits. */
void localize_before(probes *p, const char *edits, const json_t *steps, json_t *found);

#endif
