/* pack_opinion.h - who says that a pack's case is wrong where neither the interpreter nor a golden
 * does: a second opinion of a pass (tessera/opinion.h), or code, of the interpreter. */
#ifndef TESSERA_HARNESS_RUN_PACK_OPINION_H
#define TESSERA_HARNESS_RUN_PACK_OPINION_H

#include <jansson.h>
#include <stdbool.h>

#include "case/backend.h"

/* A manifest's outcome.opinion as a job has it, "PASS OPERATION" or "PASS"; NULL: there is none.
 * Owned. */
char *pack_opinion_words(const json_t *said);
/* The other way round; owned. */
json_t *pack_opinion_json(const char *words);
/* Has this program one of that pass? */
bool pack_opinion_is_known(const char *words);
/* Code is asked of the interpreter's results alone. */
bool pack_opinion_fits(const char *words, backend_id id);

#endif
