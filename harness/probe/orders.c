/* orders.c - docs/numerics.md, "Order of accumulation", as sizes of subtrees. A written tree and a
 * matrix unit's order are not here: no code of ours has the first, and what a unit adds at once is
 * no tree of additions of two. Nor is an exact sum one: any two elements meet there alone. */
#include "probe/orders.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 512, LANES = 64, BLOCK = 4096 };

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* One chain in ascending order: below the addition of j is everything up to j. */
static int64_t meeting_in_chain(int64_t i, int64_t j) {
    return (i > j ? i : j) + 1;
}

static int64_t meeting_in_chunks(int64_t chunk, int64_t n, int64_t i, int64_t j) {
    int64_t later = i > j ? i : j;
    if (i / chunk == j / chunk)
        return meeting_in_chain(i % chunk, j % chunk);
    return least(n, (later / chunk + 1) * chunk);
}

/* Size of "chunk64"; 0: it is another order. */
static int64_t chunk_of(const char *order) {
    static const int64_t sizes[] = {16, 32, 64, 128, 256, 512};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[16];
        snprintf(name, sizeof name, "chunk%d", (int)sizes[i]);
        if (strcmp(order, name) == 0)
            return sizes[i];
    }
    return 0;
}

/* In a chunk of `n`, of each pair the odd one comes first; the last of an odd number follows a
 * zero, which is none of them. */
static int64_t meeting_in_pairs(int64_t n, int64_t i, int64_t j) {
    int64_t later = i > j ? i : j, size = (i ^ 1) > (j ^ 1) ? (i ^ 1) + 1 : (j ^ 1) + 1;
    if (i / CHUNK != j / CHUNK)
        return least(n, (later / CHUNK + 1) * CHUNK);
    int64_t first = later / CHUNK * CHUNK;
    return least(size, n) - first;
}

/* Elements of a sequence of `n` that stand in lanes r, r + w, r + 2w, ... */
static int64_t in_lanes(int64_t n, int64_t r, int64_t w) {
    return n > r ? (n - r + w - 1) / w : 0;
}

/* Meeting in a sequence of at most one block. */
static int64_t meeting_in_block(int64_t n, int64_t i, int64_t j) {
    int64_t w = LANES;
    if (i % LANES == j % LANES)
        return meeting_in_chain(i / LANES, j / LANES);
    while (i % w != j % w)
        w /= 2;
    return in_lanes(n, i % w, w);
}

/* Elements of the whole that lie below element `item` of the sequence at `level`. */
static int64_t weight(int64_t n, int level, int64_t item) {
    int64_t size = 1;
    while (level-- > 0)
        size *= BLOCK;
    return least(n - item * size, size);
}

/* The same, where the items of the block's sequence are sums of whole blocks below: their elements
 * are counted, item by item. */
static int64_t weighted_meeting(int64_t n, int level, int64_t first, int64_t count, int64_t i,
                                int64_t j) {
    int64_t size = 0, w = LANES;
    bool same_lane = i % LANES == j % LANES;
    while (i % w != j % w)
        w /= 2;
    for (int64_t k = 0; k < count; k++)
        if (same_lane ? k % LANES == i % LANES && k / LANES < meeting_in_chain(i / LANES, j / LANES)
                      : k % w == i % w)
            size += weight(n, level, first + k);
    return size;
}

static int64_t meeting_in_lanes(int64_t n, int64_t i, int64_t j) {
    int64_t count = n;
    int level = 0;
    /* Up to the level at which both are in one block. */
    while (i / BLOCK != j / BLOCK) {
        i /= BLOCK;
        j /= BLOCK;
        count = (count + BLOCK - 1) / BLOCK;
        level++;
    }
    int64_t first = i / BLOCK * BLOCK, here = least(BLOCK, count - first);
    if (level == 0)
        return meeting_in_block(here, i % BLOCK, j % BLOCK);
    return weighted_meeting(n, level, first, here, i % BLOCK, j % BLOCK);
}

bool order_is_in_no_tree(const char *order) {
    return strcmp(order, "exact") == 0;
}

bool order_meeting_size(const char *order, int64_t n, int64_t i, int64_t j, int64_t *size) {
    if (strcmp(order, "seq") == 0)
        *size = meeting_in_chain(i, j);
    else if (chunk_of(order))
        *size = meeting_in_chunks(chunk_of(order), n, i, j);
    else if (strcmp(order, "pairs512") == 0)
        *size = meeting_in_pairs(n, i, j);
    else if (strcmp(order, "lanes64") == 0)
        *size = meeting_in_lanes(n, i, j);
    else if (order_is_in_no_tree(order))
        *size = 2;
    else
        return false;
    return true;
}
