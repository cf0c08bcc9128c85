/* failures.h - the folder of packs in the current directory, .tsr/failures, which is kept small.
 *
 * Only files whose names are those of packs (KERNEL-CASE-<12 digits>.repro.tar.lz4) or of the
 * fuzzer's sources (fuzz-SEED-NUMBER.tsr) are ever removed, and only there: a folder that the user
 * named is the user's. */
#ifndef TESSERA_HARNESS_RUN_FAILURES_H
#define TESSERA_HARNESS_RUN_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#define FAILURES_FOLDER ".tsr/failures"

enum { FAILURES_KEPT = 100 };                                    /* of each kind */
#define FAILURES_KEPT_BYTES ((uint64_t)FAILURES_KEPT * 10000000) /* of all */

bool failures_is_pack(const char *name);
bool failures_is_source(const char *name);

/* Makes `path`, a file that was written or found again, the newest of `folder` and removes the
 * oldest beyond `kept` of each kind and `kept_bytes`; never `path` itself. What cannot be removed
 * stays. */
void failures_trim(const char *folder, const char *path, uint32_t kept, uint64_t kept_bytes);

/* Removes the packs of `folder` whose name `wanted` does not claim; their number. */
typedef bool (*failures_wanted_fn)(void *context, const char *name);
uint64_t failures_prune(const char *folder, failures_wanted_fn wanted, void *context);

#endif
