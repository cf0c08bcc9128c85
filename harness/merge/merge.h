/* merge.h - one database of many: tsr log --merge.
 *
 * A run is taken over as it was, and says which file it came from. Runs of shards (case/shard.h)
 * are taken over together: of a complete set one run is made, in the order that the whole one would
 * have had, whose head says of each shard which run, machine and file it was, and each of whose
 * results says of which shard it is. What is in the database already is left alone, so that a merge
 * can be done again, and with more files.
 *
 * Nothing is written where one run is there with other results. Where one case of one build on one
 * machine has other bits in two runs, under a profile that promises equal ones, both runs are kept,
 * and the exit code says so. */
#ifndef TESSERA_HARNESS_MERGE_MERGE_H
#define TESSERA_HARNESS_MERGE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct merge_request {
    const char *database; /* made where it is not there */
    const char *const *files;
    size_t count;
    bool json; /* tsr.merge/1 on stdout, else lines */
} merge_request;

/* The exit code: 1 for results that contradict each other, 3 for shards of different lists and
 * files that are no databases of this version, 5 for incomplete sets. */
int merge_run(const merge_request *request);

#endif
