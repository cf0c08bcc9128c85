/* plan.c - looks, shares, Holm's procedure, and what can be detected. */
#include "statistics/plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "statistics/rank.h"

/* The first look can only prove equality; the others share what errors may be made. */
enum { EQUAL_PAIRS = 8, CHANGE_LOOKS = 4, SPARE_PAIRS = 2, LEAST_PAIRS = 5 };
static const double change_shares[CHANGE_LOOKS] = {0.4, 0.3, 0.2, 0.1};
static const double look_factors[CHANGE_LOOKS] = {1, 1.5, 2.2, 3.2};
/* Eight pairs on one side have p = 1/256. */
#define FIRST_EQUAL_SHARE 0.2

static double level_of(const plan_request *r, double share) {
    return r->alpha / 2 * share / (double)(r->family ? r->family : 1);
}

static size_t first_change_look(const plan_request *r) {
    size_t pairs = 1;
    while (pairs < PLAN_PAIRS_MAX / 2 && rank_least_p(pairs) > level_of(r, change_shares[0]))
        pairs++;
    return pairs + SPARE_PAIRS;
}

static void add_look(plan *p, size_t pairs, double change_share, double equal_level) {
    size_t limit = p->request.pairs ? p->request.pairs : PLAN_PAIRS_MAX;
    pairs = pairs < limit ? pairs : limit;
    plan_look *last = p->look_count ? &p->looks[p->look_count - 1] : NULL;
    if (last && last->pairs >= pairs) { /* cut short: its shares are spent at the last look */
        last->change_share += change_share;
        last->equal_level += equal_level;
        return;
    }
    p->looks[p->look_count++] = (plan_look){pairs, change_share, equal_level};
}

void plan_make(plan *p, const plan_request *request) {
    double equal = (1 - request->power) / 2;
    *p = (plan){.request = *request,
                .log_margin = log1p(request->margin),
                .log_bound = log1p(request->bound)};
    size_t first = first_change_look(request);
    add_look(p, EQUAL_PAIRS, 0, equal * FIRST_EQUAL_SHARE);
    for (int i = 0; i < CHANGE_LOOKS; i++)
        add_look(p, (size_t)ceil((double)first * look_factors[i]), change_shares[i],
                 equal * (1 - FIRST_EQUAL_SHARE) / CHANGE_LOOKS);
}

size_t plan_next(const plan *p, size_t pairs) {
    for (size_t i = 0; i < p->look_count; i++)
        if (p->looks[i].pairs > pairs)
            return p->looks[i].pairs;
    return 0;
}

void plan_series_init(plan_series *s) {
    *s = (plan_series){.slower = 1, .faster = 1};
}

void plan_look_at(const plan *p, plan_series *s) {
    for (size_t i = 0; i < p->look_count; i++) {
        const plan_look *look = &p->looks[i];
        if (look->pairs != s->count || s->looked >= look->pairs)
            continue;
        s->looked = look->pairs;
        if (look->change_share > 0) {
            double slower = rank_above(s->values, s->count, p->log_margin) / look->change_share;
            double faster = rank_below(s->values, s->count, -p->log_margin) / look->change_share;
            s->slower = fmin(s->slower, slower);
            s->faster = fmin(s->faster, faster);
        }
        s->equal |= rank_below(s->values, s->count, p->log_bound) <= look->equal_level &&
                    rank_above(s->values, s->count, -p->log_bound) <= look->equal_level;
    }
}

typedef struct ordered {
    double p;
    size_t index;
} ordered;

static int by_p(const void *a, const void *b) {
    const ordered *x = a, *y = b;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* One side: marks what Holm's procedure rejects. */
static void holm(const plan *p, const plan_series *const *all, size_t count, plan_change side,
                 plan_change *out, double *adjusted) {
    ordered *o = base_calloc(count + 1, sizeof *o);
    double running = 0;
    for (size_t i = 0; i < count; i++)
        o[i] = (ordered){side == PLAN_SLOWER ? all[i]->slower : all[i]->faster, i};
    qsort(o, count, sizeof *o, by_p);
    size_t family = p->request.family > count ? p->request.family : count;
    for (size_t i = 0; i < count; i++) {
        running = fmax(running, fmin(1, o[i].p * (double)(family - i)));
        if (running <= p->request.alpha / 2)
            out[o[i].index] = side;
        if (adjusted)
            adjusted[o[i].index] = fmin(adjusted[o[i].index], running);
    }
    free(o);
}

void plan_decide(const plan *p, const plan_series *const *all, size_t count, plan_change *out,
                 double *adjusted) {
    for (size_t i = 0; i < count; i++) {
        out[i] = PLAN_NONE;
        if (adjusted)
            adjusted[i] = 1;
    }
    holm(p, all, count, PLAN_FASTER, out, adjusted);
    holm(p, all, count, PLAN_SLOWER, out, adjusted);
}

double plan_normal_quantile(double probability) {
    double low = -40, high = 40;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(-middle / sqrt(2)) < probability)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Standard error of the Hodges-Lehmann estimate, from the width of its exact interval: an outlier
 * among the pairs moves it as little as it moves the estimate. */
static double standard_error(const plan_series *s) {
    rank_interval i = rank_centre_interval(s->values, s->count, 0.95);
    return (i.high - i.low) / (2 * plan_normal_quantile(0.5 + i.confidence / 2));
}

double plan_detectable(const plan *p, const plan_series *s) {
    if (s->count < LEAST_PAIRS || p->look_count == 0)
        return INFINITY;
    const plan_look *last = &p->looks[p->look_count - 1];
    double level = level_of(&p->request, last->change_share);
    if (rank_least_p(last->pairs) > level)
        return INFINITY;
    double error = standard_error(s) * sqrt((double)s->count / (double)last->pairs);
    return expm1(p->log_margin +
                 (plan_normal_quantile(1 - level) + plan_normal_quantile(p->request.power)) *
                     error);
}

/* P(X <= hits) of Binomial(trials, q). */
static double binomial_below(size_t hits, size_t trials, double q) {
    double sum = 0, n = (double)trials;
    for (size_t k = 0; k <= hits; k++) {
        double i = (double)k;
        sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + (k ? i * log(q) : 0) +
                   (k < trials ? (n - i) * log1p(-q) : 0));
    }
    return sum;
}

double plan_upper_limit(size_t hits, size_t trials, double confidence) {
    double low = 0, high = 1;
    if (hits >= trials)
        return 1;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (binomial_below(hits, trials, middle) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double plan_lower_limit(size_t hits, size_t trials, double confidence) {
    return 1 - plan_upper_limit(trials - hits, trials, confidence);
}
