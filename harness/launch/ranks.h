/* ranks.h - a program on several ranks: a launch for each, on threads of this process or in
 * processes of their own, which are told alike what to do. launch.h does all of this with one that
 * was opened for several. */
#ifndef TESSERA_HARNESS_LAUNCH_RANKS_H
#define TESSERA_HARNESS_LAUNCH_RANKS_H

#include "base/text.h"
#include "launch/launch.h"
#include "tessera/ranks.h"

typedef struct launch_ranks launch_ranks;
struct telemetry_record;

/* Opens a launch for each rank, of requests with modules of their own, borrowed until it is open.
 * `transport` is one of runtime/comm/transports.def. NULL: one of them failed. */
launch_ranks *launch_ranks_open(const launch_request *requests, uint32_t count,
                                const char *transport, status *st);
void launch_ranks_close(launch_ranks *r); /* may be NULL */
/* The same bytes for all ranks. */
bool launch_ranks_write(launch_ranks *r, uint32_t input, const void *data, size_t bytes,
                        status *st);
bool launch_ranks_poison(launch_ranks *r, status *st);
/* So many launches, one behind the other; *ns: from the first one's beginning to the last one's
 * end, on whatever rank, or NULL. */
bool launch_ranks_run(launch_ranks *r, uint64_t launches, uint64_t *ns, status *st);
/* One launch, of which the first rank gives what its telemetry has, oldest first: up to `capacity`
 * records, of which there are *count. */
bool launch_ranks_trace(launch_ranks *r, struct telemetry_record *records, size_t capacity,
                        size_t *count, status *st);
/* As launch_share_donated. */
bool launch_ranks_share(launch_ranks *r, bool shared);
bool launch_ranks_read_input(launch_ranks *r, uint32_t input, void *to, size_t bytes, status *st);
bool launch_ranks_read(launch_ranks *r, uint32_t rank, uint32_t output, void *to, size_t bytes,
                       status *st);
/* Has each rank keep its shards of states in a file, or take them from files, as its order says
 * (state/part_file.h); `hashes`: by rank, of what is kept, added to texts. */
bool launch_ranks_states(launch_ranks *r, bool keep, char *const *orders, text *hashes, status *st);
/* Has one of them ended, so that the others do without it, or end? */
bool launch_ranks_lost(const launch_ranks *r);
uint32_t launch_ranks_count(const launch_ranks *r);
/* The part that a rank has of a buffer, inputs first; NULL: all. */
const shard_part *launch_ranks_part(const launch_ranks *r, uint32_t rank, uint32_t buffer);

/* A rank in a process of its own, which is told through the pipes 3 and 4 what to do, or, where
 * mpirun started it, through those of this folder that have its number; gives the process's exit
 * code. */
int launch_rank_serve(const char *folder);
/* One launch of such a rank, told by these; false: it was told nothing. */
bool launch_rank_session(int in, int out);

#endif
