/* pack_level.h - the modules that a pack has stored on the way down of its kernel. */
#ifndef TESSERA_HARNESS_RUN_PACK_LEVEL_H
#define TESSERA_HARNESS_RUN_PACK_LEVEL_H

#include "repro/pack.h"

/* Levels to begin at, for a message. */
#define PACK_LEVELS "graph, schedule, tile or target"
bool pack_level_is_one(const char *level);

typedef struct pack_level {
    char pass[64];  /* that made it; "": it is before all passes */
    const char *ir; /* its text, borrowed from the pack */
} pack_level;
/* False: the pack holds none of that level. */
bool pack_level_find(const pack *p, const char *level, pack_level *out);

#endif
