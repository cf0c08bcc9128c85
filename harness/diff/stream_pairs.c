/* stream_pairs.c - numbers for what is compared, lanes, and the three rounds of pairing. */
#include "diff/stream_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "diff/align.h"

enum { LANE_PAIRS_MAX = 1 << 16 };

/* A stream with a number for each signature, and for each signature with its inputs; numbers are
 * the same in both streams. */
typedef struct numbered {
    const capture_stream *stream;
    uint32_t *alike, *equal; /* of each call */
    uint32_t *lane_of;       /* of each call: its lane */
    size_t lane_count;
} numbered;

typedef struct pairing {
    numbered a, b;
    size_t equal_count; /* the number of different values in `equal` */
    stream_pairs *out;
} pairing;

static uint32_t number_of(map *known, const char *key) {
    intptr_t value;
    if (map_get(known, key, &value))
        return (uint32_t)value;
    value = (intptr_t)known->count;
    map_put(known, key, value);
    return (uint32_t)value;
}

static void number_calls(numbered *n, const capture_stream *s, map *alike, map *equal) {
    size_t count = s->calls.count;
    map lanes;
    text key;
    map_init(&lanes);
    text_init(&key);
    n->stream = s;
    n->alike = base_malloc((count + 1) * sizeof *n->alike);
    n->equal = base_malloc((count + 1) * sizeof *n->equal);
    n->lane_of = base_malloc((count + 1) * sizeof *n->lane_of);
    for (size_t i = 0; i < count; i++) {
        const capture_call *c = &s->calls.items[i];
        n->alike[i] = number_of(alike, c->signature);
        text_clear(&key);
        text_printf(&key, "%u %s", n->alike[i], c->inputs);
        n->equal[i] = number_of(equal, key.data);
        text_clear(&key);
        text_printf(&key, "%u/%u", c->process, c->thread);
        n->lane_of[i] = number_of(&lanes, key.data);
    }
    n->lane_count = lanes.count;
    text_release(&key);
    map_release(&lanes);
}

static void numbered_release(numbered *n) {
    free(n->alike);
    free(n->equal);
    free(n->lane_of);
}

/* ---- lanes ---- */

typedef struct lane_pair {
    uint32_t a, b;
    size_t equal, alike; /* calls in common */
} lane_pair;

/* The calls of one lane: their places in the stream. */
typedef struct lane {
    size_t *places, count;
} lane;

static lane *lanes_of(const numbered *n) {
    lane *lanes = base_calloc(n->lane_count + 1, sizeof *lanes);
    size_t count = n->stream->calls.count;
    for (size_t i = 0; i < count; i++)
        lanes[n->lane_of[i]].count++;
    for (size_t l = 0; l < n->lane_count; l++) {
        lanes[l].places = base_malloc((lanes[l].count + 1) * sizeof *lanes[l].places);
        lanes[l].count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        lane *l = &lanes[n->lane_of[i]];
        l->places[l->count++] = i;
    }
    return lanes;
}

static void lanes_free(lane *lanes, size_t count) {
    for (size_t l = 0; l < count; l++)
        free(lanes[l].places);
    free(lanes);
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t *values_of(const lane *l, const uint32_t *numbers) {
    uint32_t *values = base_malloc((l->count + 1) * sizeof *values);
    for (size_t i = 0; i < l->count; i++)
        values[i] = numbers[l->places[i]];
    return values;
}

static size_t in_common(const lane *a, const uint32_t *of_a, const lane *b, const uint32_t *of_b) {
    uint32_t *x = values_of(a, of_a), *y = values_of(b, of_b);
    size_t common = 0, i = 0, k = 0;
    qsort(x, a->count, sizeof *x, by_value);
    qsort(y, b->count, sizeof *y, by_value);
    while (i < a->count && k < b->count) {
        common += x[i] == y[k];
        bool step_a = x[i] <= y[k], step_b = y[k] <= x[i];
        i += step_a;
        k += step_b;
    }
    free(x);
    free(y);
    return common;
}

/* The most in common first; then as they stand. */
static int by_merit(const void *a, const void *b) {
    const lane_pair *x = a, *y = b;
    if (x->equal != y->equal)
        return x->equal > y->equal ? -1 : 1;
    if (x->alike != y->alike)
        return x->alike > y->alike ? -1 : 1;
    uint32_t apart_x = x->a > x->b ? x->a - x->b : x->b - x->a;
    uint32_t apart_y = y->a > y->b ? y->a - y->b : y->b - y->a;
    if (apart_x != apart_y)
        return apart_x < apart_y ? -1 : 1;
    return x->a < y->a ? -1 : x->a > y->a;
}

/* ---- calls ---- */

static void join(stream_pairs *out, size_t a, size_t b) {
    out->of_a[a] = b;
    out->of_b[b] = a;
}

/* The calls in [from, to) of a lane that have no partner yet; their places are the caller's. */
static lane without_partner(const lane *l, size_t from, size_t to, const size_t *partner) {
    lane rest = {base_malloc((to - from + 1) * sizeof *rest.places), 0};
    for (size_t i = from; i < to; i++)
        if (partner[l->places[i]] == PAIR_NONE)
            rest.places[rest.count++] = l->places[i];
    return rest;
}

static void align_alike(pairing *p, lane part_a, lane part_b) {
    if (part_a.count == 0 || part_b.count == 0)
        return;
    uint32_t *x = values_of(&part_a, p->a.alike), *y = values_of(&part_b, p->b.alike);
    size_t *partner = base_malloc(part_a.count * sizeof *partner);
    p->out->exact &= align_sequences(x, part_a.count, y, part_b.count, partner);
    for (size_t i = 0; i < part_a.count; i++)
        if (partner[i] != ALIGN_NONE)
            join(p->out, part_a.places[i], part_b.places[partner[i]]);
    free(partner);
    free(x);
    free(y);
}

/* The calls from `begin` to before `end`. */
typedef struct lane_part {
    const lane *of;
    size_t begin, end;
} lane_part;

/* Calls of two lanes that are alike, where both have no partner. */
static void pair_alike(pairing *p, lane_part a, lane_part b) {
    lane part_a = without_partner(a.of, a.begin, a.end, p->out->of_a);
    lane part_b = without_partner(b.of, b.begin, b.end, p->out->of_b);
    align_alike(p, part_a, part_b);
    free(part_a.places);
    free(part_b.places);
}

static void pair_equal_of(pairing *p, const lane *a, const lane *b, size_t *partner) {
    uint32_t *x = values_of(a, p->a.equal), *y = values_of(b, p->b.equal);
    p->out->exact &= align_sequences(x, a->count, y, b->count, partner);
    for (size_t i = 0; i < a->count; i++)
        if (partner[i] != ALIGN_NONE)
            join(p->out, a->places[i], b->places[partner[i]]);
    free(x);
    free(y);
}

/* Between the calls that pair_equal_of has joined. */
static void pair_alike_of(pairing *p, const lane *a, const lane *b, const size_t *partner) {
    size_t a0 = 0, b0 = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (partner[i] == ALIGN_NONE)
            continue;
        pair_alike(p, (lane_part){a, a0, i}, (lane_part){b, b0, partner[i]});
        a0 = i + 1;
        b0 = partner[i] + 1;
    }
    pair_alike(p, (lane_part){a, a0, a->count}, (lane_part){b, b0, b->count});
}

/* The best pairs come first; how many there are, of which no two share a lane. */
static size_t choose_pairs(const pairing *p, lane_pair *pairs, size_t count) {
    bool *taken_a = base_calloc(p->a.lane_count + 1, sizeof *taken_a);
    bool *taken_b = base_calloc(p->b.lane_count + 1, sizeof *taken_b);
    size_t chosen = 0;
    qsort(pairs, count, sizeof *pairs, by_merit);
    for (size_t i = 0; i < count; i++) {
        const lane_pair best = pairs[i];
        if (taken_a[best.a] || taken_b[best.b])
            continue;
        taken_a[best.a] = taken_b[best.b] = true;
        pairs[chosen++] = best;
    }
    free(taken_a);
    free(taken_b);
    return chosen;
}

static void pair_moved(pairing *p);

/* Equal calls of paired lanes, then of all lanes; what is only alike comes last. */
static void pair_calls(pairing *p, const lane *a, const lane *b, const lane_pair *pairs,
                       size_t count) {
    size_t **partners = base_calloc(count + 1, sizeof *partners);
    for (size_t i = 0; i < count; i++) {
        partners[i] = base_malloc((a[pairs[i].a].count + 1) * sizeof **partners);
        pair_equal_of(p, &a[pairs[i].a], &b[pairs[i].b], partners[i]);
    }
    pair_moved(p);
    for (size_t i = 0; i < count; i++) {
        pair_alike_of(p, &a[pairs[i].a], &b[pairs[i].b], partners[i]);
        free(partners[i]);
    }
    free(partners);
}

/* Pairs lanes; of very many, each goes with the one of its place. */
static void pair_all_lanes(pairing *p) {
    lane *a = lanes_of(&p->a), *b = lanes_of(&p->b);
    size_t n = p->a.lane_count, m = p->b.lane_count, count = 0;
    bool all = n * m <= LANE_PAIRS_MAX;
    lane_pair *pairs = base_malloc(((all ? n * m : n) + 1) * sizeof *pairs);
    for (size_t i = 0; i < n; i++)
        for (size_t k = all ? 0 : i; k < (all || i >= m ? m : i + 1); k++) {
            lane_pair *pair = &pairs[count++];
            *pair = (lane_pair){(uint32_t)i, (uint32_t)k, 0, 0};
            if (n * m > 1 && all) {
                pair->equal = in_common(&a[i], p->a.equal, &b[k], p->b.equal);
                pair->alike = in_common(&a[i], p->a.alike, &b[k], p->b.alike);
            }
        }
    pair_calls(p, a, b, pairs, choose_pairs(p, pairs, count));
    free(pairs);
    lanes_free(a, n);
    lanes_free(b, m);
}

/* Pairs what is left by its number, in the order of both. */
static void pair_moved(pairing *p) {
    size_t n = p->a.stream->calls.count, m = p->b.stream->calls.count;
    size_t equal_count = p->equal_count;
    size_t *first = base_malloc((equal_count + 1) * sizeof *first);
    size_t *next = base_malloc((m + 1) * sizeof *next);
    for (size_t i = 0; i < equal_count; i++)
        first[i] = PAIR_NONE;
    for (size_t k = m; k-- > 0;)
        if (p->out->of_b[k] == PAIR_NONE) {
            next[k] = first[p->b.equal[k]];
            first[p->b.equal[k]] = k;
        }
    for (size_t i = 0; i < n; i++) {
        size_t k = p->out->of_a[i] == PAIR_NONE ? first[p->a.equal[i]] : PAIR_NONE;
        if (k == PAIR_NONE)
            continue;
        first[p->a.equal[i]] = next[k];
        join(p->out, i, k);
        p->out->moved++;
    }
    free(first);
    free(next);
}

void stream_pairs_make(stream_pairs *out, const capture_stream *a, const capture_stream *b) {
    pairing p = {.out = out};
    map alike, equal;
    map_init(&alike);
    map_init(&equal);
    number_calls(&p.a, a, &alike, &equal);
    number_calls(&p.b, b, &alike, &equal);
    p.equal_count = equal.count;
    *out = (stream_pairs){.exact = true};
    out->of_a = base_malloc((a->calls.count + 1) * sizeof *out->of_a);
    out->of_b = base_malloc((b->calls.count + 1) * sizeof *out->of_b);
    for (size_t i = 0; i < a->calls.count; i++)
        out->of_a[i] = PAIR_NONE;
    for (size_t i = 0; i < b->calls.count; i++)
        out->of_b[i] = PAIR_NONE;
    pair_all_lanes(&p);
    numbered_release(&p.a);
    numbered_release(&p.b);
    map_release(&alike);
    map_release(&equal);
}

void stream_pairs_release(stream_pairs *p) {
    free(p->of_a);
    free(p->of_b);
    *p = (stream_pairs){0};
}
