/* size_search.c - tries sizes from the largest down. */
#include "schedule/size_search.h"

#include <string.h>

#include "schedule/integers.h"

enum { FIRST, LARGEST, NESTED }; /* orders */
enum { HALVES, STEPS, DIVISORS };
enum { EVEN = -1 };
/* Workgroups of a thread that even out by themselves, and the share of time for which threads have
 * work that is enough. */
enum { MANY_CELLS = 8 };
static const double even_enough = 0.94;

static const struct rule {
    int order, walk, workgroups, of, alone;
} rules[] = {
#define SIZES(NAME, order, walk, workgroups, of, alone, summary)                                   \
    {order, walk, workgroups, of, alone},
#include "schedule/sizes.def"
};

static int64_t product(const size_search *z, const int64_t *sizes) {
    int64_t n = 1;
    for (int i = 0; i < z->count; i++)
        n *= sizes[i];
    return n;
}

int64_t size_workgroups(const size_search *z, const int64_t *sizes) {
    int64_t n = z->around;
    for (int i = 0; i < z->count; i++)
        n *= (z->dims[i].extent + sizes[i] - 1) / sizes[i];
    return n;
}

/* The share of its time for which a thread has work, when all begin together. */
static double evenness(const size_search *z, const int64_t *sizes) {
    int64_t workgroups = size_workgroups(z, sizes), threads = z->threads;
    int64_t rounds = (workgroups + threads - 1) / threads;
    double work = (double)z->around;
    for (int i = 0; i < z->count; i++)
        work *= (double)z->dims[i].extent;
    if (threads == 1 || workgroups >= MANY_CELLS * threads)
        return 1;
    return work / ((double)(threads * rounds) * (double)product(z, sizes));
}

/* From 0, for what has no room, to what is enough. */
static double score(const size_search *z, const struct rule *r, const int64_t *sizes) {
    if (z->each * product(z, sizes) > z->room || (z->fits && !z->fits(z->of, sizes)))
        return 0;
    if (r->workgroups == EVEN)
        return evenness(z, sizes);
    if (r->workgroups == 0)
        return 1;
    int64_t wanted = z->threads > 1 ? r->workgroups * z->threads : r->alone;
    return (double)(size_workgroups(z, sizes) * r->of) / (double)wanted;
}

static int64_t smaller(const struct rule *r, const size_dim *d, int64_t size) {
    int64_t step = d->step > 1 ? d->step : 1;
    if (r->walk == STEPS)
        return size - step;
    if (r->walk == HALVES)
        return round_up((size + 1) / 2, step);
    do
        size--;
    while (d->extent % size != 0);
    return size;
}

/* False: there are no smaller ones. */
static bool next(const size_search *z, const struct rule *r, int64_t *sizes) {
    int pick = -1;
    for (int i = 0; i < z->count; i++) {
        bool can = sizes[i] > 1 && sizes[i] > z->dims[i].least;
        if (can &&
            (pick < 0 || r->order == NESTED || (r->order == LARGEST && sizes[i] > sizes[pick])))
            pick = i;
    }
    if (pick < 0)
        return false;
    sizes[pick] = smaller(r, &z->dims[pick], sizes[pick]);
    for (int i = pick + 1; i < z->count && r->order == NESTED; i++)
        sizes[i] = z->dims[i].most;
    return true;
}

void size_search_run(const size_search *z, int64_t *sizes) {
    const struct rule *r = &rules[z->rule];
    double best = 0, enough = r->workgroups == EVEN ? even_enough : 1;
    int64_t at[SIZE_DIMS];
    for (int i = 0; i < z->count; i++)
        at[i] = z->dims[i].most;
    do {
        double now = score(z, r, at);
        if (best == 0 || (now > best && product(z, at) >= z->worth)) {
            best = now;
            memcpy(sizes, at, sizeof *at * (size_t)z->count);
        }
    } while (best < enough && next(z, r, at));
}

int64_t size_search_one(size_search z, size_dim dim) {
    int64_t size;
    z.count = 1;
    z.dims[0] = dim;
    size_search_run(&z, &size);
    return size;
}

int64_t size_that_fits(int64_t most, int64_t least, int64_t each, int64_t room) {
    return size_search_one((size_search){.rule = SIZES_FIT, .each = each, .room = room},
                           (size_dim){.most = most, .least = least});
}
