/* record_check.h - do the numbers of a recorded result agree with each other?
 *
 * A time, its rate, its place on the roofline and the ceilings of its run say the same thing
 * several times over. What was damaged, or changed in one place only, no longer does. Nothing here
 * knows who wrote a record: one that is forged throughout, ceilings included, is a result of
 * another machine. */
#ifndef TESSERA_HARNESS_GATE_RECORD_CHECK_H
#define TESSERA_HARNESS_GATE_RECORD_CHECK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "diff/side.h"

/* Checks a result that result_check.h has let pass. `fraction` receives the share of its roof,
 * worked out from rate and ceiling; 0 where it has no time. False with STATUS_CORRUPT. */
bool record_check(const side *from, const json_t *result, const char *name, double *fraction,
                  status *st);
/* Checks that two lists of results are of one run, whatever it is called: most of what was timed in
 * both took exactly as long. */
bool record_is_same_run(const json_t *results, const json_t *others);

#endif
