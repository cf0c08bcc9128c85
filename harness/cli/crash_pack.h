/* crash_pack.h - a command that compiles in its own process leaves a pack of what brought it down:
 * a signal, a refusal of the verifier, a lack of memory, more time than --timeout gives it.
 *
 * tsr pack-repro makes it, in a process of its own, whose worker meets the same end: so it is of
 * the case by its source, and of nothing that this process has in memory. It goes to
 * $TESSERA_FAILURES, else to .tsr/failures; TESSERA_FAILURES= (empty) keeps none. */
#ifndef TESSERA_HARNESS_CLI_CRASH_PACK_H
#define TESSERA_HARNESS_CLI_CRASH_PACK_H

#include "base/status.h"
#include "cli/options.h"

/* From now on, of this case of the file; `dims`, "M=3,N=4", instead of its name, or NULL. */
typedef struct crash_case {
    const char *path, *kernel, *name, *dims, *backend;
} crash_case;
/* Packs, and ends with EXIT_CHECK, once --timeout is over. Returns EXIT_USAGE for a wrong number of
 * seconds. */
int crash_pack_limit(const options *o);
void crash_pack_watch(const options *o, const crash_case *c);
/* No longer. */
void crash_pack_end(void);
/* Packs where the status is the compiler's own failure. */
void crash_pack_failed(const status *st);

#endif
