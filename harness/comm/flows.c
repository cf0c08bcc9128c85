/* flows.c - see flows.h. */
#include "comm/flows.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

/* Shares that differ by rounding are one, and a flow with less than this left has ended. */
#define TINY 1e-9

/* ---- resources: each instance of a link, in each direction where these are apart ---- */

static uint32_t instances_of(const topology *t, uint32_t link) {
    return (t->ranks + t->links[link].ranks - 1) / t->links[link].ranks;
}

static uint32_t first_of(const topology *t, uint32_t link) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < link; i++)
        first += 2 * instances_of(t, i);
    return first;
}

static uint32_t resource_of(const topology *t, uint32_t link, uint32_t rank, bool in) {
    const topology_link *l = &t->links[link];
    return first_of(t, link) + 2 * (rank / l->ranks) + (l->duplex && in);
}

static double *capacities(const topology *t, uint32_t *count) {
    *count = first_of(t, t->link_count);
    double *all = base_calloc((size_t)*count + 1, sizeof *all);
    for (uint32_t i = 0; i < t->link_count; i++)
        for (uint32_t k = 0; k < 2 * instances_of(t, i); k++)
            all[first_of(t, i) + k] = t->links[i].bandwidth;
    return all;
}

/* ---- flows ---- */

static flow *add(flow_set *s, double bytes) {
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 64;
        s->items = base_realloc(s->items, s->capacity * sizeof *s->items);
    }
    flow *f = &s->items[s->count++];
    *f = (flow){.bytes = bytes};
    return f;
}

void flows_release(flow_set *s) {
    free(s->items);
    *s = (flow_set){.t = s->t};
}

static void use(flow *f, uint32_t resource, double weight) {
    uint32_t i = 0;
    while (i < f->use_count && f->uses[i].resource != resource)
        i++;
    if (i == f->use_count)
        f->uses[f->use_count++] = (flow_use){resource, 0};
    f->uses[i].weight += weight;
}

static double weight_of(const topology_link *l, double bytes) {
    return 1 + l->message_ns * l->bandwidth / bytes;
}

void flows_add(flow_set *s, uint32_t from, uint32_t to, double bytes) {
    const topology *t = s->t;
    const topology_level *level = &t->levels[topology_level_of(t, from, to)];
    if (bytes <= 0)
        return;
    flow *f = add(s, bytes);
    for (uint32_t i = 0; i < level->path_count; i++) {
        const topology_link *l = &t->links[level->path[i]];
        use(f, resource_of(t, level->path[i], from, false), weight_of(l, bytes));
        use(f, resource_of(t, level->path[i], to, true), weight_of(l, bytes));
        f->latency_ns += 2 * l->latency_ns;
    }
}

/* Out and in are loaded alike, so that where directions are apart one of them stands for both. */
void flows_add_alike(flow_set *s, const uint32_t *counts, double bytes) {
    const topology *t = s->t;
    for (uint32_t k = 0; k < t->level_count; k++) {
        const topology_level *level = &t->levels[k];
        if (!counts[k] || bytes <= 0)
            continue;
        flow *f = add(s, bytes);
        for (uint32_t i = 0; i < level->path_count; i++) {
            const topology_link *l = &t->links[level->path[i]];
            use(f, resource_of(t, level->path[i], 0, false),
                weight_of(l, bytes) * l->ranks * counts[k] * (l->duplex ? 1 : 2));
            f->latency_ns += 2 * l->latency_ns;
        }
    }
}

/* ---- rates ---- */

typedef struct filling {
    flow_set *s;
    double *left;   /* of each resource */
    double *weight; /* of the flows on it whose rates still grow */
    uint32_t count;
} filling;

static void weigh(const filling *f) {
    for (uint32_t i = 0; i < f->count; i++)
        f->weight[i] = 0;
    for (uint32_t i = 0; i < f->s->count; i++)
        for (uint32_t k = 0; !f->s->items[i].settled && k < f->s->items[i].use_count; k++)
            f->weight[f->s->items[i].uses[k].resource] += f->s->items[i].uses[k].weight;
}

static double least_share(const filling *f) {
    double least = INFINITY;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->weight[i] > 0 && f->left[i] / f->weight[i] < least)
            least = f->left[i] / f->weight[i];
    return least;
}

/* Flows on links that are full at this rate keep it. */
static void settle(const filling *f, double rate) {
    for (uint32_t i = 0; i < f->s->count; i++) {
        flow *one = &f->s->items[i];
        bool full = false;
        for (uint32_t k = 0; !one->settled && k < one->use_count; k++) {
            const uint32_t r = one->uses[k].resource;
            full = full || f->left[r] / f->weight[r] <= rate * (1 + TINY);
        }
        if (full) {
            one->settled = true;
            one->rate = rate;
        }
    }
}

/* The rates of all that have not ended. */
static void fill(const filling *f, const double *capacity) {
    for (uint32_t i = 0; i < f->s->count; i++) {
        f->s->items[i].settled = f->s->items[i].left <= 0;
        f->s->items[i].rate = 0;
    }
    for (;;) {
        weigh(f);
        for (uint32_t i = 0; i < f->count; i++)
            f->left[i] = capacity[i];
        for (uint32_t i = 0; i < f->s->count; i++)
            for (uint32_t k = 0; k < f->s->items[i].use_count; k++)
                f->left[f->s->items[i].uses[k].resource] -=
                    f->s->items[i].uses[k].weight * f->s->items[i].rate;
        const double rate = least_share(f);
        if (rate == INFINITY)
            return;
        settle(f, rate);
    }
}

double flows_ns(flow_set *s) {
    double now = 0, last = 0;
    filling f = {.s = s};
    double *capacity = capacities(s->t, &f.count);
    f.left = base_calloc((size_t)f.count + 1, sizeof *f.left);
    f.weight = base_calloc((size_t)f.count + 1, sizeof *f.weight);
    for (uint32_t i = 0; i < s->count; i++)
        s->items[i].left = s->items[i].bytes;
    for (uint32_t ended = 0; ended < s->count;) {
        double next = INFINITY;
        fill(&f, capacity);
        for (uint32_t i = 0; i < s->count; i++)
            if (s->items[i].left > 0 && s->items[i].left / s->items[i].rate < next)
                next = s->items[i].left / s->items[i].rate;
        now += next;
        for (uint32_t i = 0; i < s->count; i++) {
            flow *one = &s->items[i];
            if (one->left <= 0)
                continue;
            one->left -= one->rate * next;
            if (one->left > one->bytes * TINY)
                continue;
            one->left = 0;
            ended++;
            last = fmax(last, now + one->latency_ns);
        }
    }
    free(capacity);
    free(f.left);
    free(f.weight);
    return last;
}
