/* topology.h - ranks, and the links between them: levels of a hierarchy, from inside out.
 *
 * Two ranks that have a level in common, and no smaller one, send each other messages on its path:
 * out by the links of one, in by those of the other. Ranks r of a link with `ranks` k share
 * instance r / k of it. */
#ifndef TESSERA_HARNESS_COMM_TOPOLOGY_H
#define TESSERA_HARNESS_COMM_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "document.h"

#define TOPOLOGY_SCHEMA "tsr.topology/1"

enum { TOPOLOGY_LINKS_MAX = 16, TOPOLOGY_LEVELS_MAX = 8, TOPOLOGY_RANKS_MAX = 4096 };

typedef struct topology_link {
    const char *name;
    double latency_ns; /* of one pass */
    double bandwidth;  /* bytes in a ns, in each direction */
    double message_ns; /* for which a pass of a message holds the link besides */
    uint32_t ranks;    /* that share one */
    bool duplex;       /* one direction takes nothing from the other */
} topology_link;

typedef struct topology_level {
    const char *name;
    uint32_t ranks;
    uint32_t path[TOPOLOGY_LINKS_MAX], path_count; /* links */
} topology_level;

typedef struct topology {
    document file;
    const char *name;
    topology_link links[TOPOLOGY_LINKS_MAX];
    topology_level levels[TOPOLOGY_LEVELS_MAX];
    uint32_t link_count, level_count, ranks;
    double begin_ns, round_ns; /* of an operation; of each of its rounds */
    double sum;                /* bytes of two terms that a rank adds in a ns */
} topology;

/* False: `st` has the place in the file and what is wrong there. topology_release in any case. */
bool topology_read(topology *t, const char *path, status *st);
void topology_release(topology *t);
/* Its first ranks alone. False: they are no whole number of groups of each level. */
bool topology_cut(topology *t, uint32_t ranks, status *st);
/* The smallest level that both are in. */
uint32_t topology_level_of(const topology *t, uint32_t a, uint32_t b);

#endif
