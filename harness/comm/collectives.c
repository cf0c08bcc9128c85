/* collectives.c - see collectives.h. */
#include "comm/collectives.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "comm/flows.h"

const algorithm_info algorithm_table[ALGORITHMS] = {
#define ALGORITHM(collective, name, ours, meaning) {COLLECTIVE_##collective, #name, meaning, ours},
#include "comm/collectives.def"
};

const char *const collective_names[COLLECTIVES] = {
#define COLLECTIVE(name, bus, payload) #name,
#include "comm/collectives.def"
};

/* ---- rounds ---- */

/* `added`: bytes that a rank adds meanwhile. */
static double round_ns(const topology *t, flow_set *s, double added) {
    const double ns = t->round_ns + fmax(flows_ns(s), added / t->sum);
    flows_release(s);
    return ns;
}

/* Counts the others of its group that a rank has in each level. */
static void count_levels(const topology *t, uint32_t stride, uint32_t count, uint32_t *counts) {
    for (uint32_t i = 0; i < t->level_count; i++)
        counts[i] = 0;
    for (uint32_t i = 1; i < count; i++)
        counts[topology_level_of(t, 0, i * stride)]++;
}

static double all_ns(const topology *t, double bytes) {
    flow_set s = {.t = t};
    uint32_t counts[TOPOLOGY_LEVELS_MAX];
    count_levels(t, 1, t->ranks, counts);
    flows_add_alike(&s, counts, bytes);
    return round_ns(t, &s, 0);
}

static double shift_ns(const topology *t, double bytes) {
    flow_set s = {.t = t};
    for (uint32_t i = 0; i < t->ranks; i++)
        flows_add(&s, i, (i + 1) % t->ranks, bytes);
    return round_ns(t, &s, 0);
}

static double pairs_ns(const topology *t, uint32_t distance, double bytes, bool adds) {
    flow_set s = {.t = t};
    for (uint32_t i = 0; i < t->ranks; i++)
        flows_add(&s, i, i ^ distance, bytes);
    return round_ns(t, &s, adds ? bytes : 0);
}

/* A step of all rings, which move `bytes` together. */
static double ring_ns(const topology *t, double bytes, bool adds) {
    const uint32_t group = t->levels[0].ranks, groups = t->ranks / group,
                   rings = groups > 1 ? group : 1;
    flow_set s = {.t = t};
    for (uint32_t ring = 0; ring < rings; ring++)
        for (uint32_t i = 0; i < t->ranks; i++) {
            const uint32_t place = i % group, node = i / group;
            const bool leaves = groups > 1 && place == (ring + group - 1) % group;
            const uint32_t next =
                leaves ? (node + 1) % groups * group + ring : node * group + (place + 1) % group;
            flows_add(&s, i, next, bytes / rings);
        }
    return round_ns(t, &s, adds ? bytes : 0);
}

/* ---- ways ---- */

static double doubling_ns(const topology *t, double bytes, double factor, bool adds) {
    double ns = 0;
    if (t->ranks & (t->ranks - 1))
        return INFINITY;
    for (uint32_t k = 1; k < t->ranks; k *= 2, bytes *= factor)
        ns += pairs_ns(t, k, bytes, adds);
    return ns;
}

double collective_ns(const topology *t, algorithm a, double n) {
    const double p = t->ranks, sum = 1 / t->sum, begin = t->begin_ns;
    switch (a) {
    case ALGORITHM_all_reduce_whole:
        return begin + all_ns(t, n) + (p - 1) * n * sum;
    case ALGORITHM_all_reduce_parts:
        return begin + 2 * all_ns(t, n / p) + (p - 1) * n / p * sum;
    case ALGORITHM_all_reduce_ring:
        return begin + (p - 1) * (ring_ns(t, n / p, true) + ring_ns(t, n / p, false));
    case ALGORITHM_all_reduce_doubling:
        return begin + doubling_ns(t, n, 1, true);
    case ALGORITHM_all_reduce_halving:
        return begin + doubling_ns(t, n / 2, 0.5, true) + doubling_ns(t, n / 2, 0.5, false);
    case ALGORITHM_all_gather_direct:
    case ALGORITHM_all_to_all_direct:
        return begin + all_ns(t, n / p);
    case ALGORITHM_all_gather_ring:
        return begin + (p - 1) * ring_ns(t, n / p, false);
    case ALGORITHM_all_gather_doubling:
        return begin + doubling_ns(t, n / p, 2, false);
    case ALGORITHM_reduce_scatter_direct:
        return begin + all_ns(t, n / p) + (p - 1) * n / p * sum;
    case ALGORITHM_reduce_scatter_ring:
        return begin + (p - 1) * ring_ns(t, n / p, true);
    case ALGORITHM_reduce_scatter_halving:
        return begin + doubling_ns(t, n / 2, 0.5, true);
    case ALGORITHM_permute_direct:
        return begin + shift_ns(t, n);
    case ALGORITHMS:
        break;
    }
    return INFINITY;
}

double collective_bus(collective c, uint32_t ranks, double bytes, double ns) {
    const double p = ranks;
    switch (c) {
#define COLLECTIVE(name, bus, payload)                                                             \
    case COLLECTIVE_##name:                                                                        \
        return bytes / ns * (bus);
#include "comm/collectives.def"
    case COLLECTIVES:
        break;
    }
    return 0;
}

algorithm collective_choice(const topology *t, collective c, double bytes) {
    algorithm best = ALGORITHMS;
    for (int a = 0; a < ALGORITHMS; a++)
        if (algorithm_table[a].of == c && algorithm_table[a].ours &&
            (best == ALGORITHMS ||
             collective_ns(t, (algorithm)a, bytes) < collective_ns(t, best, bytes)))
            best = (algorithm)a;
    return best;
}

/* ---- an exchange of a program ---- */

static bool are_alike(const int64_t *bytes, uint32_t count) {
    for (uint32_t i = 2; i < count; i++)
        if (bytes[i] != bytes[1])
            return false;
    return true;
}

double collective_exchange_ns(const topology *t, uint32_t stride, uint32_t count,
                              const int64_t *bytes) {
    flow_set s = {.t = t};
    if (are_alike(bytes, count)) {
        uint32_t counts[TOPOLOGY_LEVELS_MAX];
        count_levels(t, stride, count, counts);
        flows_add_alike(&s, counts, (double)bytes[1]);
        return round_ns(t, &s, 0);
    }
    for (uint32_t rank = 0; rank < t->ranks; rank++)
        for (uint32_t i = 1; i < count; i++) {
            const uint32_t place = rank / stride % count,
                           other = rank + ((place + i) % count) * stride - place * stride;
            flows_add(&s, rank, other, (double)bytes[i]);
        }
    return round_ns(t, &s, 0);
}
