/* part.h - the parts of a tensor that ranks have: cut out of the whole, and put back. */
#ifndef TESSERA_HARNESS_STATE_PART_H
#define TESSERA_HARNESS_STATE_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/ranks.h"

size_t part_bytes(const shard_part *p);
size_t part_whole_bytes(const shard_part *p); /* of the tensor that it is a part of */
bool part_is_cut(const shard_part *p);        /* along some dimension */
/* Between all of the tensor, in the order of rows, and the part, likewise. */
void part_take(const shard_part *p, const void *whole, void *part);
void part_put(const shard_part *p, const void *part, void *whole);

#endif
