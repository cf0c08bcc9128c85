/* test_verdict.c - every rule of repro_judge, as a table. */
#include "test.h"

#include "repro/verdict.h"

#define DIGESTS(...)                                                                               \
    (const char *const[]){__VA_ARGS__}, COUNT_OF(((const char *const[]){__VA_ARGS__}))
#define NONE NULL, 0

static const repro_outcome ok_a = {"ok", "", "", DIGESTS("a", "b")};
static const repro_outcome ok_b = {"ok", "", "", DIGESTS("a", "c")};
static const repro_outcome ok_short = {"ok", "", "", DIGESTS("a")};
static const repro_outcome ok_without = {"ok", "", "", NONE};
static const repro_outcome wrong_a = {"mismatch", "check", "exact at dot", DIGESTS("x", "y")};
static const repro_outcome wrong_b = {"mismatch", "check", "exact at dot", DIGESTS("x", "z")};
static const repro_outcome wrong_op = {"mismatch", "check", "exact at add", DIGESTS("x", "y")};
static const repro_outcome wrong_later = {"mismatch", "repeat", "exact at dot", DIGESTS("x", "y")};
static const repro_outcome wrong_without = {"mismatch", "check", "exact at dot", NONE};
static const repro_outcome crash = {"crash", "launch", "SIGSEGV", NONE};
static const repro_outcome crash_null = {"crash", "launch", NULL, NONE};
static const repro_outcome crash_compile = {"crash", "compile", "SIGSEGV", NONE};
static const repro_outcome timeout = {"timeout", "launch", "", NONE};
static const repro_outcome error = {"error", "compile", "pass assign_layout", NONE};

static const struct {
    const repro_outcome *recorded, *replays[3];
    repro_verdict expected;
} cases[] = {
    {&ok_a, {&ok_a}, REPRODUCED_EXACT},
    {&ok_a, {&ok_a, &ok_a, &ok_a}, REPRODUCED_EXACT},
    {&ok_without, {&ok_without}, REPRODUCED_EXACT},
    {&ok_a, {&ok_b}, DIFFERENT_FAILURE},
    {&ok_a, {&ok_short}, DIFFERENT_FAILURE},
    {&ok_a, {&ok_without}, DIFFERENT_FAILURE},
    {&ok_a, {&wrong_a}, DIFFERENT_FAILURE},
    {&ok_a, {&crash}, DIFFERENT_FAILURE},
    {&wrong_a, {&ok_a}, NOT_REPRODUCED},
    {&crash, {&ok_a, &ok_a, &ok_a}, NOT_REPRODUCED},
    {&timeout, {&ok_without}, NOT_REPRODUCED},
    {&wrong_a, {&wrong_a}, REPRODUCED_EXACT},
    {&wrong_a, {&wrong_a, &wrong_a, &wrong_a}, REPRODUCED_EXACT},
    {&wrong_a, {&wrong_b}, REPRODUCED_CLASS},
    {&wrong_a, {&wrong_without}, REPRODUCED_CLASS},
    {&wrong_a, {&wrong_op}, DIFFERENT_FAILURE},
    {&wrong_a, {&wrong_later}, DIFFERENT_FAILURE},
    {&wrong_a, {&crash}, DIFFERENT_FAILURE},
    {&crash, {&crash}, REPRODUCED_CLASS},
    {&crash, {&crash_null}, REPRODUCED_CLASS},
    {&crash, {&crash_compile}, DIFFERENT_FAILURE},
    {&crash, {&timeout}, DIFFERENT_FAILURE},
    {&timeout, {&timeout, &timeout, &timeout}, REPRODUCED_CLASS},
    {&error, {&error}, REPRODUCED_CLASS},
    {&error, {&wrong_a}, DIFFERENT_FAILURE},
    {&ok_a, {&ok_a, &ok_b, &ok_a}, NONDETERMINISTIC},
    {&ok_a, {&ok_a, &ok_a, &wrong_a}, NONDETERMINISTIC},
    {&wrong_a, {&wrong_a, &wrong_b}, NONDETERMINISTIC},
    {&wrong_a, {&wrong_a, &wrong_op}, NONDETERMINISTIC},
    {&crash, {&crash, &timeout, &crash}, NONDETERMINISTIC},
    {&crash, {&crash, &crash_null}, NONDETERMINISTIC},
};

static void every_rule_holds(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        repro_outcome replays[3];
        size_t count = 0;
        while (count < 3 && cases[i].replays[count]) {
            replays[count] = *cases[i].replays[count];
            count++;
        }
        repro_verdict found = repro_judge(cases[i].recorded, replays, count);
        if (found != cases[i].expected)
            fail_msg("case %zu: %s, not %s", i, repro_verdict_name(found),
                     repro_verdict_name(cases[i].expected));
    }
}

static void nothing_run_is_no_verdict(void **state) {
    (void)state;
    static const repro_verdict untouched;
    assert_int_equal(untouched, REPRO_NO_VERDICT);
    assert_int_equal(repro_judge(&ok_a, NULL, 0), REPRO_NO_VERDICT);
    assert_string_equal(repro_verdict_name(REPRO_NO_VERDICT), "none");
    assert_int_equal(repro_verdict_exit(REPRO_NO_VERDICT), 70);
}

static void names_and_exit_codes_are_the_documented_ones(void **state) {
    (void)state;
    static const struct {
        repro_verdict verdict;
        const char *name;
        int exit_code;
    } expected[] = {
        {REPRODUCED_EXACT, "REPRODUCED_EXACT", 0}, {REPRODUCED_CLASS, "REPRODUCED_CLASS", 0},
        {NOT_REPRODUCED, "NOT_REPRODUCED", 1},     {DIFFERENT_FAILURE, "DIFFERENT_FAILURE", 1},
        {NONDETERMINISTIC, "NONDETERMINISTIC", 1}, {INVALID_PACK, "INVALID_PACK", 3},
        {NEEDS_TRUST, "NEEDS_TRUST", 4},           {INCOMPATIBLE, "INCOMPATIBLE", 4}};
    assert_int_equal(COUNT_OF(expected) + 1, REPRO_VERDICT_COUNT);
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_string_equal(repro_verdict_name(expected[i].verdict), expected[i].name);
        assert_int_equal(repro_verdict_exit(expected[i].verdict), expected[i].exit_code);
        assert_true(repro_verdict_meaning(expected[i].verdict)[0] != '\0');
    }
    assert_string_equal(repro_verdict_name(REPRO_VERDICT_COUNT), "unknown");
    assert_int_equal(repro_verdict_exit(REPRO_VERDICT_COUNT), 70);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_holds),
        cmocka_unit_test(nothing_run_is_no_verdict),
        cmocka_unit_test(names_and_exit_codes_are_the_documented_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
