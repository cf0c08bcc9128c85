/* test_align.c - two sequences aligned: as long as the longest common subsequence, and never
 * anything unequal. */
#include <stdlib.h>
#include <string.h>

#include "base/splitmix64.h"
#include "diff/align.h"
#include "diff/stream_pairs.h"
#include "test.h"

enum { LENGTH = 60, TRIES = 2000 };

static size_t longest(const uint32_t *a, size_t n, const uint32_t *b, size_t m) {
    size_t best[LENGTH + 1][LENGTH + 1] = {{0}};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++) {
            size_t skip = best[i][k + 1] > best[i + 1][k] ? best[i][k + 1] : best[i + 1][k];
            best[i + 1][k + 1] = a[i] == b[k] ? best[i][k] + 1 : skip;
        }
    return best[n][m];
}

/* Partners rise and are equal; their number. */
static size_t check(const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                    const size_t *partner) {
    size_t count = 0, next = 0;
    for (size_t i = 0; i < n; i++) {
        if (partner[i] == ALIGN_NONE)
            continue;
        assert_true(partner[i] >= next && partner[i] < m);
        assert_int_equal(a[i], b[partner[i]]);
        next = partner[i] + 1;
        count++;
    }
    return count;
}

static void it_is_the_longest(void **state) {
    uint32_t a[LENGTH], b[LENGTH];
    size_t partner[LENGTH];
    uint64_t seed = 7;
    (void)state;
    for (int i = 0; i < TRIES; i++) {
        size_t n = splitmix64(&seed) % (LENGTH + 1), m = splitmix64(&seed) % (LENGTH + 1);
        uint32_t letters = (uint32_t)(1 + splitmix64(&seed) % 20);
        for (size_t k = 0; k < n; k++)
            a[k] = (uint32_t)(splitmix64(&seed) % letters);
        for (size_t k = 0; k < m; k++)
            b[k] = (uint32_t)(splitmix64(&seed) % (letters + 2));
        assert_true(align_sequences(a, n, b, m, partner));
        assert_int_equal(check(a, n, b, m, partner), longest(a, n, b, m));
    }
}

/* More differences than are looked for: still a sound alignment, and it is said. */
static void too_many_differences(void **state) {
    enum { MANY = 20000 };
    uint32_t *a = malloc(MANY * sizeof *a), *b = malloc(MANY * sizeof *b);
    size_t *partner = malloc(MANY * sizeof *partner);
    uint64_t seed = 11;
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        a[i] = (uint32_t)(splitmix64(&seed) % 500);
        b[i] = (uint32_t)(splitmix64(&seed) % 500);
    }
    assert_false(align_sequences(a, MANY, b, MANY, partner));
    assert_true(check(a, MANY, b, MANY, partner) > 0);
    free(a);
    free(b);
    free(partner);
}

/* ---- calls of programs ---- */

/* "34|5": two threads, one of which makes calls with inputs 3 and 4; letters are calls of another
 * function. */
static void make_stream(const char *plan, capture_stream *s) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    static char words[sizeof digits][2];
    uint32_t thread = 0;
    *s = (capture_stream){0};
    for (const char *at = plan; *at; at++) {
        if (*at == '|') {
            thread++;
            continue;
        }
        size_t k = (size_t)(strchr(digits, *at) - digits);
        words[k][0] = *at;
        capture_call call = {.thread = thread,
                             .signature = k < 10 ? "f" : "g",
                             .inputs = words[k],
                             .outputs = words[k]};
        vec_push(&s->calls, call);
    }
}

static const struct {
    const char *a, *b;
    size_t equal, alike;
} plans[] = {
    {"345", "345", 3, 0},     {"34|5", "3|45", 3, 0},  {"34|5", "53|4", 3, 0},
    {"34|5", "5|34", 3, 0},   {"34|5", "4|5|3", 3, 0}, {"3|4|5", "345", 3, 0},
    {"345", "347", 2, 1},     {"34|5", "3|47", 2, 0},  {"3a4", "3b4", 2, 1},
    {"333|4", "3|334", 4, 0}, {"34", "34|5", 2, 0},    {"", "3", 0, 0},
};

static void calls_of_other_threads(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * sizeof plans / sizeof *plans; i++) {
        bool turned = i % 2;
        capture_stream a, b;
        stream_pairs p;
        size_t equal = 0, alike = 0;
        make_stream(turned ? plans[i / 2].b : plans[i / 2].a, &a);
        make_stream(turned ? plans[i / 2].a : plans[i / 2].b, &b);
        stream_pairs_make(&p, &a, &b);
        for (size_t k = 0; k < a.calls.count; k++) {
            if (p.of_a[k] == PAIR_NONE)
                continue;
            const capture_call *x = &a.calls.items[k], *y = &b.calls.items[p.of_a[k]];
            assert_int_equal(p.of_b[p.of_a[k]], k);
            assert_string_equal(x->signature, y->signature);
            *(strcmp(x->inputs, y->inputs) == 0 ? &equal : &alike) += 1;
        }
        if (equal != plans[i / 2].equal || alike != plans[i / 2].alike || p.moved > equal)
            fail_msg("%s and %s: %zu equal, %zu alike, %zu moved", plans[i / 2].a, plans[i / 2].b,
                     equal, alike, p.moved);
        stream_pairs_release(&p);
        vec_release(&a.calls);
        vec_release(&b.calls);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_the_longest),
                                       cmocka_unit_test(too_many_differences),
                                       cmocka_unit_test(calls_of_other_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
