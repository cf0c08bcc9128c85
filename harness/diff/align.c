/* align.c - what only one side has is left out first, then what is equal at both ends; the rest is
 * Myers' search, whose every step is kept to walk back. */
#include "diff/align.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { DIFFERENCES_MAX = 4000 }; /* D*D/2 numbers are kept: 64 MiB */

/* The elements that the other side has, too: their places in the whole. */
typedef struct shared {
    uint32_t *values;
    size_t *places, count;
} shared;

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static shared shared_of(const uint32_t *own, size_t count, const uint32_t *other,
                        size_t other_count) {
    uint32_t *sorted = base_malloc((other_count + 1) * sizeof *sorted);
    shared s = {base_malloc((count + 1) * sizeof *s.values),
                base_malloc((count + 1) * sizeof *s.places), 0};
    if (other_count)
        memcpy(sorted, other, other_count * sizeof *sorted);
    qsort(sorted, other_count, sizeof *sorted, by_value);
    for (size_t i = 0; i < count; i++)
        if (bsearch(&own[i], sorted, other_count, sizeof *sorted, by_value)) {
            s.values[s.count] = own[i];
            s.places[s.count++] = i;
        }
    free(sorted);
    return s;
}

static void shared_free(shared *s) {
    free(s->values);
    free(s->places);
}

/* ---- Myers ---- */

typedef struct search {
    const uint32_t *a, *b;
    int64_t n, m;
    int64_t *reach; /* by diagonal, from -limit - 1 to limit + 1 */
    int64_t limit;
    int32_t **steps; /* reach of each number of differences, diagonals -d to d */
} search;

static int64_t start_of(const int64_t *at, int64_t d, int64_t k) {
    return k == -d || (k != d && at[k - 1] < at[k + 1]) ? at[k + 1] : at[k - 1] + 1;
}

/* The number of differences; -1: more than the limit. */
static int64_t run(search *s) {
    int64_t *at = s->reach + s->limit + 1;
    at[1] = 0;
    for (int64_t d = 0; d <= s->limit; d++) {
        for (int64_t k = -d; k <= d; k += 2) {
            int64_t x = start_of(at, d, k), y = x - k;
            while (x < s->n && y < s->m && s->a[x] == s->b[y])
                x++, y++;
            at[k] = x;
            if (x >= s->n && y >= s->m)
                return d;
        }
        s->steps[d] = base_malloc((size_t)(2 * d + 1) * sizeof **s->steps);
        for (int64_t k = -d; k <= d; k++)
            s->steps[d][k + d] = (int32_t)at[k];
    }
    return -1;
}

static void walk_back(const search *s, int64_t d, size_t *partner) {
    int64_t x = s->n, y = s->m;
    for (; d > 0; d--) {
        const int32_t *at = s->steps[d - 1] + (d - 1);
        int64_t k = x - y;
        bool down = k == -d || (k != d && at[k - 1] < at[k + 1]);
        int64_t before = down ? k + 1 : k - 1;
        int64_t from = at[before], begin = down ? from : from + 1;
        while (x > begin)
            x--, y--, partner[x] = (size_t)y;
        x = from;
        y = from - before;
    }
    while (x > 0)
        x--, y--, partner[x] = (size_t)y;
}

static bool align_exactly(const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                          size_t *partner) {
    int64_t most = (int64_t)(n + m), limit = most < DIFFERENCES_MAX ? most : DIFFERENCES_MAX;
    search s = {.a = a, .b = b, .n = (int64_t)n, .m = (int64_t)m, .limit = limit};
    s.reach = base_calloc((size_t)(2 * limit + 4), sizeof *s.reach);
    s.steps = base_calloc((size_t)limit + 1, sizeof *s.steps);
    int64_t d = run(&s);
    if (d >= 0)
        walk_back(&s, d, partner);
    for (int64_t i = 0; i <= limit; i++)
        free(s.steps[i]);
    free(s.steps);
    free(s.reach);
    return d >= 0;
}

/* Each with the next free one within sight. */
static void align_greedily(const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                           size_t *partner) {
    enum { SIGHT = 1000 };
    size_t next = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = next; k < m && k < next + SIGHT; k++)
            if (a[i] == b[k]) {
                partner[i] = k;
                next = k + 1;
                break;
            }
}

static bool align_shared(const shared *a, const shared *b, size_t *partner) {
    size_t head = 0, tail = 0, least = a->count < b->count ? a->count : b->count;
    while (head < least && a->values[head] == b->values[head])
        partner[head] = head, head++;
    while (tail < least - head &&
           a->values[a->count - 1 - tail] == b->values[b->count - 1 - tail]) {
        partner[a->count - 1 - tail] = b->count - 1 - tail;
        tail++;
    }
    size_t n = a->count - head - tail, m = b->count - head - tail;
    if (n == 0 || m == 0)
        return true;
    bool exact = align_exactly(a->values + head, n, b->values + head, m, partner + head);
    if (!exact)
        align_greedily(a->values + head, n, b->values + head, m, partner + head);
    for (size_t i = head; i < head + n; i++)
        if (partner[i] != ALIGN_NONE)
            partner[i] += head;
    return exact;
}

bool align_sequences(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                     size_t *partner) {
    shared x = shared_of(a, a_count, b, b_count), y = shared_of(b, b_count, a, a_count);
    size_t *inside = base_malloc((x.count + 1) * sizeof *inside);
    for (size_t i = 0; i < a_count; i++)
        partner[i] = ALIGN_NONE;
    for (size_t i = 0; i < x.count; i++)
        inside[i] = ALIGN_NONE;
    bool exact = align_shared(&x, &y, inside);
    for (size_t i = 0; i < x.count; i++)
        if (inside[i] != ALIGN_NONE)
            partner[x.places[i]] = y.places[inside[i]];
    free(inside);
    shared_free(&x);
    shared_free(&y);
    return exact;
}
