/* test_align.c - two sequences aligned: as long as the longest common subsequence, and never
 * anything unequal. */
#include <stdlib.h>
#include <string.h>

#include "base/splitmix64.h"
#include "diff/align.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_the_longest),
                                       cmocka_unit_test(too_many_differences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
