/* run_retry.h - a run of steps whose rank is lost, and that goes on with fewer: what is told of it,
 * and what the index of its states keeps (state/index.h). */
#ifndef TESSERA_HARNESS_CLI_RUN_RETRY_H
#define TESSERA_HARNESS_CLI_RUN_RETRY_H

#include <stdint.h>

#include <jansson.h>

#include "base/status.h"

/* Adds to `retried` that so many ranks were too many, behind the step that the folder holds, for
 * the reason in `st`, which is cleared. False: nothing is kept to go on from, as `st` says. */
bool run_retry_note(json_t *retried, const char *folder, uint32_t from, status *st);
/* Adds to the last of them how many there are now, and tells it. */
void run_retry_begin(json_t *retried, uint32_t to);

#endif
