/* shard.h - one part of many of a corpus, the same on every machine.
 *
 * A unit is a case, or a kernel with all its cases. The cost of a case is estimated from its FLOPs
 * and bytes by a table (shard_costs.def), in whole numbers; units go from the dearest to the
 * cheapest, equal ones by name, each to the shard that has the least so far. So the corpus and the
 * options decide alone, and neither the order of files nor anything measured has a say. */
#ifndef TESSERA_HARNESS_CASE_SHARD_H
#define TESSERA_HARNESS_CASE_SHARD_H

#include <jansson.h>

#include "case/backend.h"
#include "case/case.h"

enum { SHARDS_MAX = 65536, SHARD_SET_BYTES = 65 };

/* "I/N" or "I/N:SET". Shards of one SET belong together; without a name, all that have none do. */
typedef struct shard_name {
    uint32_t index, of;        /* index: from 1 to `of` */
    char set[SHARD_SET_BYTES]; /* "": none */
} shard_name;

/* False: `st` says what is wrong. */
bool shard_read(const char *words, shard_name *out, status *st);
void shard_words(const shard_name *name, text *out);

typedef enum shard_unit { SHARD_CASES, SHARD_KERNELS } shard_unit;

typedef struct shard_request {
    shard_name name;
    shard_unit unit;
    bool backends[BACKEND_COUNT]; /* that were named; none: the usual ones, as the processor's */
} shard_request;

/* Keeps the shard's cases, of which there may be none; the others become those of elsewhere. Fills
 * what a run says of its shard,
 * {index, of, set, digest, total, node, cases: [{case, position, cost_ns}]}:
 *   digest    of the whole list: names, costs and graphs; shards of other lists have another
 *   total     units of the whole list
 *   node      the machine's name in its network
 *   cases     of this shard; position: in the whole list, in the order of the command line */
void shard_take(corpus *c, const shard_request *request);

/* "shard 2 of 3, set night: 12 of 40 cases", of what a run says. */
void shard_describe(const json_t *shard, text *out);

#endif
