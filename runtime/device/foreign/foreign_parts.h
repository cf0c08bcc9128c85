/* foreign_parts.h - what the files that watch over guests share: which guests live, and which
 * processes these have started. All with the mutex held. */
#ifndef TESSERA_RUNTIME_FOREIGN_PARTS_H
#define TESSERA_RUNTIME_FOREIGN_PARTS_H

#include "device/foreign/foreign.h"

extern pthread_mutex_t foreign_living_mutex;
extern foreign_image *foreign_living;

/* A process that a guest has started. */
typedef struct foreign_started_process {
    pid_t pid;
    uint64_t owner; /* number of the guest */
    bool stopped, found, holds_memory;
    unsigned looks; /* how often it was found */
} foreign_started_process;
typedef VEC(foreign_started_process) foreign_started_list;
extern foreign_started_list foreign_started;

typedef VEC(pid_t) foreign_processes;

/* foreign_started.c: brings the list up to date; one that is not a descendant of a guest any more
 * is `in_hand`'s. Whether there is a new one. */
bool foreign_find_started(uint64_t in_hand);
/* All descendants of this process but guests, and those that are spared with theirs. */
foreign_processes foreign_left_behind(bool (*spared)(pid_t pid));
/* foreign_freeze.c */
bool foreign_is_spared(pid_t pid);

#endif
