/* test_philox.c - the known answers published with Random123 (kat_vectors, philox4x32 10), and the
 * distributions. */
#include "test/test.h"

#include <math.h>

#include "base/dtype.h"
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

/* docs/numerics.md prints these; they were computed in Python, with exact fractions. */
static void stochastic_rounding_has_its_published_results(void **state) {
    (void)state;
    static const dtype types[] = {DTYPE_BF16, DTYPE_F16, DTYPE_F8E4M3FN, DTYPE_F8E5M2};
    static const struct {
        uint32_t x, random, rounded[4];
    } vector[] = {{0x3f804000, 0x14e87fae, {0x3f81, 0x3c02, 0x38, 0x3c}},
                  {0xbf334000, 0xabcfdde9, {0xbf33, 0xb99a, 0xb3, 0xb9}},
                  {0x40490fdb, 0x5e42a19c, {0x4049, 0x4249, 0x45, 0x42}},
                  {0x3a83126f, 0x355e74ed, {0x3a83, 0x1419, 0x01, 0x14}},
                  {0xc396599a, 0xa754ffba, {0xc396, 0xdcb3, 0xf9, 0xdd}},
                  {0x40000000, 0xf82ee067, {0x4000, 0x4000, 0x40, 0x40}}};
    for (uint64_t i = 0; i < COUNT_OF(vector); i++) {
        uint32_t random = philox_element(3, i, 0, PHILOX_DOMAIN_ROUNDING).w[0];
        assert_int_equal(random, vector[i].random);
        for (int t = 0; t < 4; t++)
            assert_int_equal(
                f32_to_narrow_stochastic(types[t], f32_from_bits(vector[i].x), random, false),
                vector[i].rounded[t]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_answers_hold),
        cmocka_unit_test(an_element_is_a_counter_and_a_key),
        cmocka_unit_test(stochastic_rounding_has_its_published_results),
        cmocka_unit_test(distributions_keep_their_ranges_and_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
