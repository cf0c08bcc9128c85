/* backends.h - tsr diff of programs: each case on two backends, and the operation from which they
 * part. */
#ifndef TESSERA_HARNESS_DIFF_BACKENDS_H
#define TESSERA_HARNESS_DIFF_BACKENDS_H

#include <jansson.h>

#include "case/case.h"
#include "common/exit_code.h"
#include "diff/compute.h"
#include "diff/runs.h"

/* A backend as --backend names it. `how.symbol` is each kernel's. */
typedef struct diff_backend {
    const char *word;
    compute_how how;
} diff_backend;

/* Appends what a person reads to `out`; *document is owned by the caller. EXIT_CHECK where bits
 * differ, EXIT_ABSENT where a side could not compute a case, else EXIT_DONE. */
exit_code diff_backends(const diff_backend sides[2], const corpus *cases, uint64_t seed,
                        const diff_request *request, text *out, json_t **document);

#endif
