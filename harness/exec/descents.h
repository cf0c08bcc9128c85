/* descents.h - the way down of a case, pass by pass: of several ranks that of each, side by side.
 */
#ifndef TESSERA_HARNESS_EXEC_DESCENTS_H
#define TESSERA_HARNESS_EXEC_DESCENTS_H

#include "exec/execution.h"
#include "launch/way_of_sums.h"
#include "tessera/descent.h"

typedef struct descents {
    uint32_t count; /* of ranks */
    compiler_descent **all;
    shard_ranks *ranks;
    way_of_sums sums; /* as the transport has them */
} descents;

/* descents_close in any case. */
bool descents_open(const execution *e, const compiler_options *options, descents *out, status *st);
void descents_close(descents *d);
/* That of the first rank, which speaks for all of names, levels and kinds. */
const compiler_descent *descents_first(const descents *d);
/* The next pass, of each. */
bool descents_run(descents *d, status *st);
/* The SHA-256 of the modules of all. */
json_t *descents_digest(const descents *d);
/* The outputs, initialised by the call. STATUS_MISMATCH: ranks do not agree. */
bool descents_evaluate(const descents *d, const case_context *s, tensor *outputs, status *st);

#endif
