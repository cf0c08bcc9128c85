/* match.c - pairs the results of two sides. */
#include "diff/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "case/backend.h"
#include "job/result.h"

static bool same(const json_t *a, const json_t *b, result_field field) {
    return json_equal(result_get(a, field), result_get(b, field)) == 1;
}

/* The interpreter runs every case once, as strict. */
static bool is_oracle(const json_t *result) {
    const char *name = result_string(result, RESULT_BACKEND);
    backend_id id = name ? backend_from_name(name) : BACKEND_COUNT;
    return id != BACKEND_COUNT && !backend_is_compiled(&backend_table[id]);
}

/* Code of others is held to another profile than ours, and named by its column. */
static bool is_foreign(const json_t *result) {
    return json_is_object(result_get(result, RESULT_IMPLEMENTATION));
}

/* Score of how two results fit; -1: not at all, EXACT: in all. */
enum { SAME_THREADS = 1, SAME_PROFILE = 2, SAME_BACKEND = 4, EXACT = 7 };

static int fitness(const side *sa, const side *sb, const json_t *a, const json_t *b) {
    if (!same(a, b, RESULT_KERNEL) || !same(a, b, RESULT_CASE))
        return -1;
    int score = (same(a, b, RESULT_BACKEND) ? SAME_BACKEND : 0) |
                (same(a, b, RESULT_PROFILE) ? SAME_PROFILE : 0) |
                (same(a, b, RESULT_THREADS) ? SAME_THREADS : 0);
    if (!(score & SAME_BACKEND) && !(sa->backend && sb->backend))
        return -1;
    bool other_profile = (sa->profile && sb->profile) || is_oracle(a) || is_oracle(b) ||
                         (is_foreign(a) != is_foreign(b) && !(score & SAME_BACKEND));
    return (score & SAME_PROFILE) || other_profile ? score : -1;
}

typedef struct matching {
    const side *a, *b;
    bool *a_taken, *b_taken;
    result_pairs *out;
} matching;

static void take(matching *m, size_t i, size_t k) {
    result_pair pair = {json_array_get(m->a->results, i), json_array_get(m->b->results, k)};
    m->a_taken[i] = m->b_taken[k] = true;
    vec_push(m->out, pair);
}

static void take_exact(matching *m) {
    for (size_t i = 0; i < json_array_size(m->a->results); i++)
        for (size_t k = 0; k < json_array_size(m->b->results) && !m->a_taken[i]; k++)
            if (!m->b_taken[k] && fitness(m->a, m->b, json_array_get(m->a->results, i),
                                          json_array_get(m->b->results, k)) == EXACT)
                take(m, i, k);
}

/* The best partner of what is left: one that is left, too, or any one of another backend. */
static void take_best(matching *m, bool of_a) {
    const json_t *left = of_a ? m->a->results : m->b->results,
                 *right = of_a ? m->b->results : m->a->results;
    const bool *left_taken = of_a ? m->a_taken : m->b_taken,
               *right_taken = of_a ? m->b_taken : m->a_taken;
    for (size_t i = 0; i < json_array_size(left); i++) {
        int best = -1;
        size_t at = 0;
        for (size_t k = 0; k < json_array_size(right) && !left_taken[i]; k++) {
            const json_t *l = json_array_get(left, i), *r = json_array_get(right, k);
            int score = of_a ? fitness(m->a, m->b, l, r) : fitness(m->a, m->b, r, l);
            if ((score & SAME_BACKEND) && right_taken[k])
                score = -1;
            if (score > best) {
                best = score;
                at = k;
            }
        }
        if (best >= 0)
            take(m, of_a ? i : at, of_a ? at : i);
    }
}

void match_results(const side *a, const side *b, result_pairs *out) {
    size_t a_count = json_array_size(a->results), b_count = json_array_size(b->results);
    matching m = {a, b, base_calloc(a_count + 1, 1), base_calloc(b_count + 1, 1), out};
    take_exact(&m);
    take_best(&m, true);
    take_best(&m, false);
    for (size_t i = 0; i < a_count; i++)
        if (!m.a_taken[i])
            vec_push(out, ((result_pair){json_array_get(a->results, i), NULL}));
    for (size_t i = 0; i < b_count; i++)
        if (!m.b_taken[i])
            vec_push(out, ((result_pair){NULL, json_array_get(b->results, i)}));
    free(m.a_taken);
    free(m.b_taken);
}
