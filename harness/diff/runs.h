/* runs.h - tsr diff of two sides of results. */
#ifndef TESSERA_HARNESS_DIFF_RUNS_H
#define TESSERA_HARNESS_DIFF_RUNS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "common/exit_code.h"
#include "diff/side.h"

typedef struct diff_request {
    uint64_t timeout_seconds; /* to make one result again */
    bool colour;
} diff_request;

/* Appends what a person reads to `out`; *document is owned by the caller. EXIT_CHECK where bits or
 * statuses differ, EXIT_NO_VERDICT where nothing differs but one side has results that the other
 * has not, else EXIT_DONE. */
exit_code diff_runs(const side *a, const side *b, const diff_request *request, text *out,
                    json_t **document);

#endif
