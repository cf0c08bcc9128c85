/* size_search.h - the one search for sizes of blocks and tiles: from the largest down, by a rule of
 * sizes.def, the first that have room and keep all threads busy, or else those that come nearest.
 *
 * Sizes change speed and never bits. Thread-safe. */
#ifndef TESSERA_SCHEDULE_SIZE_SEARCH_H
#define TESSERA_SCHEDULE_SIZE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

typedef enum size_rule {
#define SIZES(NAME, order, walk, workgroups, of, alone, summary) SIZES_##NAME,
#include "schedule/sizes.def"
    SIZES_COUNT
} size_rule;

enum { SIZE_DIMS = 2 };

typedef struct size_dim {
    int64_t extent; /* of what is cut into pieces of this size, of which each is a workgroup's */
    int64_t most;   /* tried first; at least 1 */
    int64_t least;  /* no more is taken off; 0: 1 */
    int64_t step;   /* all sizes are multiples of it; 0: 1 */
} size_dim;

typedef struct size_search {
    size_rule rule;
    int64_t threads; /* that wait for workgroups */
    int64_t around;  /* workgroups for each piece */
    /* Bytes, registers or sums of the product of all sizes, and the room for them; 0 each: there is
     * no limit. A limit that is no product; NULL: there is none. */
    int64_t each, room;
    bool (*fits)(const void *of, const int64_t *sizes);
    const void *of;
    int64_t worth; /* the least product that is worth more workgroups */
    int count;
    size_dim dims[SIZE_DIMS];
} size_search;

/* Workgroups that pieces of these sizes are. */
int64_t size_workgroups(const size_search *z, const int64_t *sizes);
/* Receives a size for each dimension. */
void size_search_run(const size_search *z, int64_t *sizes);
/* Returns that of the only one. */
int64_t size_search_one(size_search z, size_dim dim);
/* ... which is the largest of most, most / 2, ..., least, of which so many fit `room`. */
int64_t size_that_fits(int64_t most, int64_t least, int64_t each, int64_t room);

#endif
