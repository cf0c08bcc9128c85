/* test_philox.c - the known answers published with Random123 (kat_vectors, philox4x32 10), and the
 * distributions. */
#include "test/test.h"

#include <math.h>

#include "base/philox.h"

typedef struct known_answer {
    philox_words counter;
    uint32_t key[2];
    philox_words words;
} known_answer;

static const known_answer answers[] = {
    {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
     {0xffffffff, 0xffffffff},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     {0xa4093822, 0x299f31d0},
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
};

static void published_answers_hold(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        philox_words got = philox4x32_10(answers[i].counter, answers[i].key[0], answers[i].key[1]);
        assert_memory_equal(&got, &answers[i].words, sizeof got);
    }
}

static void an_element_is_a_counter_and_a_key(void **state) {
    (void)state;
    philox_words got =
        philox_element(0x299f31d0a4093822u, 0x85a308d3243f6a88u, 0x13198a2e, 0x03707344);
    assert_memory_equal(&got, &answers[2].words, sizeof got);
}

static void distributions_keep_their_ranges_and_moments(void **state) {
    (void)state;
    enum { N = 100000 };
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < N; i++) {
        philox_words w = philox_element(42, i, 1, 0);
        float u = philox_uniform(w, -2, 3);
        int32_t n = philox_integer(w, -4, 5);
        assert_true(u >= -2 && u < 3 && n >= -4 && n < 5);
        double z = (double)philox_normal(w, 0, 1);
        sum += z;
        squares += z * z;
    }
    assert_true(fabs(sum / N) < 0.02 && fabs(squares / N - 1) < 0.02);
    assert_int_equal(philox_integer((philox_words){{UINT32_MAX, 0, 0, 0}}, INT32_MIN, INT32_MAX),
                     INT32_MAX - 1);
    assert_true(philox_normal((philox_words){{0xffffffff, 0xffffffff, 0, 0}}, 5, 2) == 5.0f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_answers_hold),
        cmocka_unit_test(an_element_is_a_counter_and_a_key),
        cmocka_unit_test(distributions_keep_their_ranges_and_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
