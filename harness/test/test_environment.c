/* test_environment.c - what was printed is made lasting, and surroundings are compared. */
#include "harness/test/test.h"

#include <stdlib.h>
#include <string.h>

#include "run/environment.h"
#include "run/printed.h"

static void expect_printed(const char *words, const char *expected) {
    text out;
    text_init(&out);
    printed_lasting(words, &out);
    assert_string_equal(out.data ? out.data : "", expected);
    text_release(&out);
}

static void what_changes_from_run_to_run_is_left_out(void **state) {
    (void)state;
    expect_printed("", "");
    expect_printed("assertion x < 7 failed\n", "assertion x < 7 failed\n");
    expect_printed(" #0 0x00007ffd1234 main", " #0 0x- main\n");
    expect_printed("color 0xff, mask 0x1234\n", "color 0xff, mask 0x1234\n");
    expect_printed("==4711==ERROR", "==-==ERROR\n");
    expect_printed("process 17, Thread #3 of 12, pid=9", "process -, Thread #- of 12, pid=-\n");
    expect_printed("at 12:59:01 it died; shape 12:59\n", "at --:--:-- it died; shape 12:59\n");
    expect_printed("M=1024 N=2048", "M=1024 N=2048\n");
}

static void the_end_is_kept(void **state) {
    (void)state;
    char *words = malloc(PRINTED_BYTES_MAX + 10);
    memset(words, 'a', PRINTED_BYTES_MAX + 9);
    words[0] = 'b';
    words[PRINTED_BYTES_MAX + 8] = '\n';
    words[PRINTED_BYTES_MAX + 9] = '\0';
    text out;
    text_init(&out);
    printed_lasting(words, &out);
    assert_int_equal(out.length, PRINTED_BYTES_MAX);
    assert_int_equal(out.data[0], 'a');
    text_release(&out);
    free(words);
}

static bool differences(const char *there, text *out) {
    json_t *here = json_pack("{s:{s:s, s:s}, s:{s:s}}", "cpu", "features", "avx fma sse", "name",
                             "one", "variables", "LANG", "C");
    text_init(out);
    bool ok = environment_differences(there, strlen(there), here, out);
    json_decref(here);
    return ok;
}

static void each_difference_is_named(void **state) {
    (void)state;
    text out;
    assert_true(differences("{\"cpu\": {\"features\": \"avx fma sse\", \"name\": \"one\"}, "
                            "\"variables\": {\"LANG\": \"C\"}}",
                            &out));
    assert_int_equal(out.length, 0);
    text_release(&out);
    assert_true(differences("{\"cpu\": {\"features\": \"avx avx512f sse\", \"name\": \"two\"}, "
                            "\"floats\": {\"mxcsr\": \"0x9fc0\"}}",
                            &out));
    assert_string_equal(out.data, "  cpu.features: there alone avx512f; here alone fma\n"
                                  "  cpu.name: two there, one here\n"
                                  "  floats.mxcsr: 0x9fc0 there, not here\n"
                                  "  variables.LANG: not there, C here\n");
    text_release(&out);
}

static void a_stranger_s_text_is_no_environment(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "", "7", "[]", "{\"cpu\": 7}", "{\"cpu\": {\"a\": 1}}", "{\"a", "{\"a\": {}, \"a\": {}}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        text out;
        assert_false(differences(wrong[i], &out));
        text_release(&out);
    }
    text out;
    assert_true(differences("{\"cpu\": {\"name\": \"\\u001b[31mred\"}}", &out));
    assert_null(strchr(out.data, '\x1b'));
    text_release(&out);
}

/* The same state of a machine is the same bytes, with the rounding that this thread has. */
static void facts_stay_the_same(void **state) {
    (void)state;
    json_t *one = environment_facts(), *other = environment_facts();
    assert_true(json_equal(one, other));
    assert_true(json_object_size(json_object_get(one, "libraries")) > 0);
#if defined(__x86_64__)
    assert_string_equal(json_string_value(json_object_get(json_object_get(one, "floats"), "mxcsr")),
                        "0x1f80");
#endif
    json_decref(one);
    json_decref(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changes_from_run_to_run_is_left_out),
        cmocka_unit_test(the_end_is_kept),
        cmocka_unit_test(each_difference_is_named),
        cmocka_unit_test(a_stranger_s_text_is_no_environment),
        cmocka_unit_test(facts_stay_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
