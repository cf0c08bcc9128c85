/* goldens.h - goldens that several machines recorded, in one folder: tsr golden merge.
 *
 * For each case of the corpus the golden of its present key counts; one of another key is stale,
 * wherever it lies. Two of one key with other bits are a contradiction: both are named, and neither
 * is taken. Each golden is copied whole or not at all, so that a merge can be done again. */
#ifndef TESSERA_HARNESS_MERGE_GOLDENS_H
#define TESSERA_HARNESS_MERGE_GOLDENS_H

#include "case/case.h"

/* One corpus, loaded once for each folder of goldens: the cases are the same, in the same order. */
typedef struct goldens_request {
    const corpus *into;        /* with the folder that receives them */
    const corpus *const *from; /* with the others */
    size_t from_count;
    uint64_t seed;
    bool json; /* tsr.golden-merge/1 */
} goldens_request;

/* Prints what became of each case; the exit code: 1 for a contradiction, 3 for a damaged golden, 5
 * where a case has none anywhere. */
int goldens_merge(const goldens_request *request);

#endif
