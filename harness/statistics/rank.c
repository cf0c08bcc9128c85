/* rank.c - enumerates the distributions of signed-rank and rank sums. */
#include "statistics/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of_sorted(const double *sorted, size_t count) {
    if (count == 0)
        return 0;
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Twice the midrank of each of `sorted` (ascending): whole numbers even where values tie. */
static void double_ranks(const double *sorted, size_t count, unsigned *ranks) {
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && sorted[end] == sorted[i])
            end++;
        for (size_t k = i; k < end; k++)
            ranks[k] = (unsigned)(i + 1 + end);
        i = end;
    }
}

/* ---- signed ranks ---- */

typedef struct deviation {
    double size;
    int above;
} deviation;

static int by_size(const void *a, const void *b) {
    double x = ((const deviation *)a)->size, y = ((const deviation *)b)->size;
    return (x > y) - (x < y);
}

/* P(sum of a random subset of `ranks` >= wanted): each rank is in with probability 1/2. */
static double subset_tail(const unsigned *ranks, size_t count, unsigned wanted) {
    unsigned total = 0;
    for (size_t i = 0; i < count; i++)
        total += ranks[i];
    double *p = base_calloc(total + 1, sizeof *p), tail = 0;
    p[0] = 1;
    unsigned reach = 0;
    for (size_t i = 0; i < count; i++) {
        reach += ranks[i];
        for (unsigned s = reach + 1; s-- > 0;)
            p[s] = 0.5 * p[s] + (s >= ranks[i] ? 0.5 * p[s - ranks[i]] : 0);
    }
    for (unsigned s = wanted; s <= total; s++)
        tail += p[s];
    free(p);
    return tail < 1 ? tail : 1;
}

/* `sign` 1: above the shift; -1: below it. */
static double signed_tail(const double *values, size_t count, double shift, int sign) {
    deviation d[RANK_VALUES_MAX];
    double sizes[RANK_VALUES_MAX] = {0};
    unsigned ranks[RANK_VALUES_MAX], sum = 0;
    if (count == 0 || count > RANK_VALUES_MAX)
        return 1;
    for (size_t i = 0; i < count; i++) {
        double from = (values[i] - shift) * sign;
        d[i] = (deviation){fabs(from), from > 0};
    }
    qsort(d, count, sizeof *d, by_size);
    for (size_t i = 0; i < count; i++)
        sizes[i] = d[i].size;
    double_ranks(sizes, count, ranks);
    for (size_t i = 0; i < count; i++)
        if (d[i].above)
            sum += ranks[i];
    return subset_tail(ranks, count, sum);
}

double rank_above(const double *values, size_t count, double shift) {
    return signed_tail(values, count, shift, 1);
}

double rank_below(const double *values, size_t count, double shift) {
    return signed_tail(values, count, shift, -1);
}

double rank_least_p(size_t count) {
    return ldexp(1, -(int)count);
}

/* All means of pairs, sorted; owned. */
static double *walsh_averages(const double *values, size_t count, size_t *pairs) {
    double *means = base_malloc((count * (count + 1) / 2 + 1) * sizeof *means);
    *pairs = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i; k < count; k++)
            means[(*pairs)++] = (values[i] + values[k]) / 2;
    qsort(means, *pairs, sizeof *means, ascending);
    return means;
}

double rank_centre(const double *values, size_t count) {
    size_t pairs;
    double *means = walsh_averages(values, count, &pairs);
    double centre = median_of_sorted(means, pairs);
    free(means);
    return centre;
}

/* Order statistics that an interval may leave out on each side: the greatest k with 2 P(T < k) <= 1
 * - confidence, and at least 1; `p` is the distribution of T. */
static size_t left_out(const double *p, size_t size, double confidence, double *reached) {
    double tail = p[0], wanted = (1 - confidence) / 2;
    size_t k = 1;
    while (k < size / 2 && tail + p[k] <= wanted)
        tail += p[k++];
    *reached = 1 - 2 * tail > 0 ? 1 - 2 * tail : 0;
    return k;
}

rank_interval rank_centre_interval(const double *values, size_t count, double confidence) {
    size_t pairs, reach = 0;
    if (count == 0)
        return (rank_interval){-INFINITY, INFINITY, 1};
    double *means = walsh_averages(values, count, &pairs);
    double *p = base_calloc(pairs + 1, sizeof *p), reached;
    p[0] = 1;
    for (size_t rank = 1; rank <= count; rank++) {
        reach += rank;
        for (size_t s = reach + 1; s-- > 0;)
            p[s] = 0.5 * p[s] + (s >= rank ? 0.5 * p[s - rank] : 0);
    }
    size_t k = left_out(p, pairs + 1, confidence, &reached);
    rank_interval found = {means[k - 1], means[pairs - k], reached};
    free(p);
    free(means);
    return found;
}

/* ---- two samples ---- */

typedef struct ranked {
    double value;
    int is_b;
} ranked;

static int by_value(const void *a, const void *b) {
    double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
    return (x > y) - (x < y);
}

/* P(sum of `chosen` of the ranks, drawn without replacement, >= wanted). */
static double drawn_tail(const unsigned *ranks, size_t count, size_t chosen, unsigned wanted) {
    unsigned total = 0;
    for (size_t i = 0; i < count; i++)
        total += ranks[i];
    size_t width = total + 1;
    double *ways = base_calloc((chosen + 1) * width, sizeof *ways), all = 0, tail = 0;
    ways[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = chosen; k-- > 0;)
            for (unsigned s = total + 1 - ranks[i]; s-- > 0;)
                ways[(k + 1) * width + s + ranks[i]] += ways[k * width + s];
    for (unsigned s = 0; s <= total; s++) {
        all += ways[chosen * width + s];
        tail += s >= wanted ? ways[chosen * width + s] : 0;
    }
    free(ways);
    return tail / all;
}

static double sum_tail(const rank_samples *s, double shift, int sign) {
    ranked r[RANK_VALUES_MAX] = {{0}};
    double values[RANK_VALUES_MAX] = {0};
    unsigned ranks[RANK_VALUES_MAX], sum = 0;
    size_t count = s->a_count + s->b_count;
    if (s->a_count == 0 || s->b_count == 0 || count > RANK_VALUES_MAX)
        return 1;
    for (size_t i = 0; i < s->a_count; i++)
        r[i] = (ranked){sign * (s->a[i] + shift), 0};
    for (size_t i = 0; i < s->b_count; i++)
        r[s->a_count + i] = (ranked){sign * s->b[i], 1};
    qsort(r, count, sizeof *r, by_value);
    for (size_t i = 0; i < count; i++)
        values[i] = r[i].value;
    double_ranks(values, count, ranks);
    for (size_t i = 0; i < count; i++)
        if (r[i].is_b)
            sum += ranks[i];
    return drawn_tail(ranks, count, s->b_count, sum);
}

double rank_sum_above(const rank_samples *s, double shift) {
    return sum_tail(s, shift, 1);
}

double rank_sum_below(const rank_samples *s, double shift) {
    return sum_tail(s, shift, -1);
}

double rank_sum_least_p(size_t a_count, size_t b_count) {
    double ways = 1;
    for (size_t i = 1; i <= a_count; i++)
        ways = ways * (double)(b_count + i) / (double)i;
    return 1 / ways;
}

static double *differences(const rank_samples *s) {
    double *found = base_malloc((s->a_count * s->b_count + 1) * sizeof *found);
    size_t pairs = 0;
    for (size_t i = 0; i < s->a_count; i++)
        for (size_t k = 0; k < s->b_count; k++)
            found[pairs++] = s->b[k] - s->a[i];
    qsort(found, pairs, sizeof *found, ascending);
    return found;
}

double rank_shift(const rank_samples *s) {
    double *all = differences(s);
    double shift = median_of_sorted(all, s->a_count * s->b_count);
    free(all);
    return shift;
}

/* Distribution of Mann and Whitney's U without ties, as probabilities 0 .. a * b; owned. */
static double *u_distribution(size_t a, size_t b) {
    size_t width = a * b + 1;
    double *ways = base_calloc((b + 1) * width, sizeof *ways), all = 0;
    double *p = base_malloc(width * sizeof *p);
    ways[0] = 1;
    /* Rank i + 1 goes to b: with k of b before it, it beats i - k of a. */
    for (size_t i = 0; i < a + b; i++)
        for (size_t k = b < i + 1 ? b : i + 1; k-- > 0;) {
            size_t beats = i - k;
            for (size_t u = beats <= a ? width - beats : 0; u-- > 0;)
                ways[(k + 1) * width + u + beats] += ways[k * width + u];
        }
    for (size_t u = 0; u < width; u++)
        all += ways[b * width + u];
    for (size_t u = 0; u < width; u++)
        p[u] = ways[b * width + u] / all;
    free(ways);
    return p;
}

rank_interval rank_shift_interval(const rank_samples *s, double confidence) {
    size_t pairs = s->a_count * s->b_count;
    double reached;
    if (pairs == 0)
        return (rank_interval){-INFINITY, INFINITY, 1};
    double *all = differences(s), *p = u_distribution(s->a_count, s->b_count);
    size_t k = left_out(p, pairs + 1, confidence, &reached);
    rank_interval found = {all[k - 1], all[pairs - k], reached};
    free(p);
    free(all);
    return found;
}
