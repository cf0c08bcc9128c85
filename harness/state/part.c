/* part.c - a dimension that is cut along n axes of the mesh is n dimensions of shards, and one of
 * what a shard has; so a part is a box. */
#include "state/part.h"

#include <stdint.h>
#include <string.h>

enum { BOX_DIMS = SHARD_PART_DIMS * (SHARD_PART_AXES + 1) };

typedef struct box {
    int rank;
    int64_t first[BOX_DIMS], count[BOX_DIMS], total[BOX_DIMS];
} box;

static void add(box *b, int64_t first, int64_t count, int64_t total) {
    b->first[b->rank] = first;
    b->count[b->rank] = count;
    b->total[b->rank++] = total;
}

static box box_of(const shard_part *p) {
    box b = {0};
    for (uint32_t d = 0; d < p->rank; d++) {
        int64_t rest = p->dims[d];
        for (uint32_t i = 0; i < p->axes[d]; i++) {
            const shard_span *s = &p->spans[d][i];
            add(&b, s->first, s->count, s->total);
            rest /= s->count;
        }
        add(&b, 0, rest, rest);
    }
    return b;
}

static size_t bytes_of(const shard_part *p, const int64_t *dims) {
    size_t bytes = p->element_bytes;
    for (uint32_t d = 0; d < p->rank; d++)
        bytes *= (size_t)dims[d];
    return bytes;
}

size_t part_bytes(const shard_part *p) {
    return bytes_of(p, p->dims);
}

size_t part_whole_bytes(const shard_part *p) {
    return bytes_of(p, p->whole);
}

bool part_is_cut(const shard_part *p) {
    bool cut = false;
    for (uint32_t d = 0; d < p->rank; d++)
        cut |= p->axes[d] > 0;
    return cut;
}

/* Calls of memcpy for runs that lie together in both. */
static void copy(const shard_part *p, char *whole, char *part, bool take) {
    box b = box_of(p);
    int64_t at[BOX_DIMS] = {0}, run = p->element_bytes;
    if (part_bytes(p) == 0)
        return;
    while (b.rank && b.count[b.rank - 1] == b.total[b.rank - 1])
        run *= b.count[--b.rank];
    if (b.rank) /* neighbours along the last dimension that is cut */
        run *= b.count[b.rank - 1];
    for (bool more = true; more; part += run) {
        int64_t place = 0;
        for (int d = 0; d < b.rank; d++)
            place = place * b.total[d] + b.first[d] + at[d];
        char *there = whole + (b.rank ? place * (run / b.count[b.rank - 1]) : 0);
        memcpy(take ? part : there, take ? there : part, (size_t)run);
        int d = b.rank - 2;
        while (d >= 0 && ++at[d] == b.count[d])
            at[d--] = 0;
        more = d >= 0;
    }
}

void part_take(const shard_part *p, const void *whole, void *part) {
    copy(p, (char *)whole, part, true);
}

void part_put(const shard_part *p, const void *part, void *whole) {
    copy(p, whole, (char *)part, false);
}
