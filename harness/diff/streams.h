/* streams.h - tsr diff RUN_A RUN_B of two recorded programs: the first call that was given the same
 * and gave something else. */
#ifndef TESSERA_HARNESS_DIFF_STREAMS_H
#define TESSERA_HARNESS_DIFF_STREAMS_H

#include <jansson.h>

#include "base/status.h"
#include "base/text.h"
#include "common/exit_code.h"

/* Appends what a person reads to `out`; *document ("tsr.streams/1") is owned by the caller, NULL on
 * failure. EXIT_DONE: the same; EXIT_CHECK: some call differs; EXIT_NO_VERDICT: none does, but the
 * streams do not have the same calls. On failure `st` says why. */
exit_code diff_streams(const char *a, const char *b, text *out, json_t **document, status *st);

#endif
