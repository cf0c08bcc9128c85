/* changepoints.c - E-divisive with a permutation test. */
#include "statistics/changepoints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/philox.h"
#include "statistics/statistics.h"

/* One segment under test. `order` is the sequence that is looked at: positions among the sorted
 * values, so that sums of distances to any set of them are sums over two trees. */
typedef struct test {
    const changepoint_options *options;
    size_t count;
    double *sorted;       /* ascending */
    double *to_all;       /* of each position: sum of distances to all values */
    uint32_t *order;      /* the sequence, as positions */
    double *tree_sums;    /* Fenwick trees over positions: of the values in X, */
    uint32_t *tree_count; /* and how many they are */
    uint64_t drawn;       /* Philox elements used */
    uint32_t stream;      /* tells the tests of a series apart */
} test;

changepoint_options changepoint_defaults(void) {
    return (changepoint_options){
        .significance = 0.01, .permutations = 199, .shortest = 5, .seed = 1};
}

/* ---- sums of distances ---- */
static void tree_add(test *t, size_t position) {
    for (size_t i = position + 1; i <= t->count; i += i & -i) {
        t->tree_sums[i] += t->sorted[position];
        t->tree_count[i]++;
    }
}

/* Sum and count of the values in X up to a position. */
static void tree_query(const test *t, size_t position, double *sum, uint32_t *count) {
    *sum = 0;
    *count = 0;
    for (size_t i = position + 1; i > 0; i -= i & -i) {
        *sum += t->tree_sums[i];
        *count += t->tree_count[i];
    }
}

/* Sum of |value at position - x| over X, which has `size` values of sum `total`. */
static double distance_to_x(const test *t, size_t position, double total, size_t size) {
    double below, value = t->sorted[position];
    uint32_t count;
    tree_query(t, position, &below, &count);
    return value * (double)count - below + (total - below) - value * (double)(size - count);
}

static double score(double across, double inside_x, double inside_y, double n, double m) {
    return n * m / (n + m) *
           (2 / (n * m) * across - 2 * inside_x / (n * (n - 1)) - 2 * inside_y / (m * (m - 1)));
}

/* The greatest score of any split of the sequence; *where: how many values come before it. */
static double best_split(test *t, size_t *where) {
    double inside_x = 0, inside_y = 0, all = 0, total = 0, best = -INFINITY;
    memset(t->tree_sums, 0, (t->count + 1) * sizeof *t->tree_sums);
    memset(t->tree_count, 0, (t->count + 1) * sizeof *t->tree_count);
    for (size_t i = 0; i < t->count; i++)
        all += t->to_all[i] / 2;
    inside_y = all;
    *where = 0;
    for (size_t n = 1; n < t->count; n++) {
        size_t position = t->order[n - 1];
        double to_x = distance_to_x(t, position, total, n - 1);
        inside_x += to_x;
        inside_y -= t->to_all[position] - to_x;
        tree_add(t, position);
        total += t->sorted[position];
        size_t m = t->count - n;
        if (n < t->options->shortest || m < t->options->shortest)
            continue;
        double q = score(all - inside_x - inside_y, inside_x, inside_y, (double)n, (double)m);
        if (q > best) {
            best = q;
            *where = n;
        }
    }
    return best;
}

/* ---- the test ---- */
typedef struct ranked {
    double value;
    size_t index;
} ranked;

static int by_value(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void test_open(test *t, const double *values, size_t count, const changepoint_options *o,
                      uint32_t stream) {
    *t = (test){.options = o, .count = count, .stream = stream};
    t->sorted = base_malloc(count * sizeof *t->sorted);
    t->to_all = base_malloc(count * sizeof *t->to_all);
    t->order = base_malloc(count * sizeof *t->order);
    t->tree_sums = base_malloc((count + 1) * sizeof *t->tree_sums);
    t->tree_count = base_malloc((count + 1) * sizeof *t->tree_count);
    ranked *rank = base_malloc(count * sizeof *rank);
    double total = 0, below = 0;
    for (size_t i = 0; i < count; i++)
        rank[i] = (ranked){log(values[i]), i};
    qsort(rank, count, sizeof *rank, by_value);
    for (size_t i = 0; i < count; i++) {
        t->sorted[i] = rank[i].value;
        t->order[rank[i].index] = (uint32_t)i;
        total += rank[i].value;
    }
    for (size_t i = 0; i < count; i++) {
        double value = t->sorted[i];
        t->to_all[i] = value * (double)i - below + (total - below) - value * (double)(count - i);
        below += value;
    }
    free(rank);
}

static void test_close(test *t) {
    free(t->sorted);
    free(t->to_all);
    free(t->order);
    free(t->tree_sums);
    free(t->tree_count);
}

/* In [0, bound), by the high half of a product: its bias is below bound / 2^32. */
static uint32_t draw(test *t, uint32_t bound) {
    philox_words words =
        philox_element(t->options->seed, t->drawn / 4, t->stream, PHILOX_DOMAIN_PERMUTATIONS);
    uint32_t word = words.w[t->drawn % 4];
    t->drawn++;
    return (uint32_t)(((uint64_t)word * bound) >> 32);
}

static void shuffle(test *t) {
    for (size_t i = t->count - 1; i > 0; i--) {
        size_t k = draw(t, (uint32_t)i + 1);
        uint32_t kept = t->order[i];
        t->order[i] = t->order[k];
        t->order[k] = kept;
    }
}

/* Share of random orders that score as well, the given one included. Stops where it is clear that
 * the share is above the significance. */
static double chance(test *t, double found) {
    double most = t->options->significance * (t->options->permutations + 1);
    double level = found - 1e-9 * fabs(found);
    uint32_t as_good = 1, tried = 1;
    while (tried <= t->options->permutations && as_good <= most) {
        size_t where;
        shuffle(t);
        as_good += best_split(t, &where) >= level;
        tried++;
    }
    return (double)as_good / tried;
}

/* ---- a series ---- */
typedef struct series {
    const double *values;
    const changepoint_options *options;
    changepoints *out;
    double *copy; /* room for a median */
    uint32_t tests;
} series;

static double median_of(const series *s, size_t begin, size_t end) {
    memcpy(s->copy, s->values + begin, (end - begin) * sizeof *s->copy);
    return statistics_of(s->copy, end - begin).median;
}

/* Splits [begin, end) for as long as there is reason to; `p` belongs to its beginning. */
static void divide(series *s, size_t begin, size_t end, double p) {
    size_t where = 0;
    double found_p = 1;
    if (end - begin >= 2 * s->options->shortest) {
        test t;
        test_open(&t, s->values + begin, end - begin, s->options, s->tests++);
        double found = best_split(&t, &where);
        found_p = found > 0 ? chance(&t, found) : 1;
        test_close(&t);
    }
    if (where && found_p <= s->options->significance) {
        divide(s, begin, begin + where, p);
        divide(s, begin + where, end, found_p);
        return;
    }
    s->out->segments[s->out->count++] =
        (changepoint_segment){begin, end, median_of(s, begin, end), p};
}

bool changepoints_find(const double *values, size_t count, const changepoint_options *o,
                       changepoints *out) {
    *out = (changepoints){0};
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]) || values[i] <= 0)
            return false;
    if (count == 0)
        return false;
    out->segments = base_malloc((count / o->shortest + 1) * sizeof *out->segments);
    series s = {values, o, out, base_malloc(count * sizeof(double)), 0};
    divide(&s, 0, count, 1);
    free(s.copy);
    return true;
}

void changepoints_release(changepoints *c) {
    free(c->segments);
    *c = (changepoints){0};
}
