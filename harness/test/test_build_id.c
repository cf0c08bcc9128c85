/* test_build_id.c - the program's build id, and whose documents are of this build. */
#include "harness/test/test.h"

#include <string.h>

#include "common/build_id.h"
#include "measure/host_facts.h"

static void is_a_sha1(void **state) {
    (void)state;
    assert_int_equal(strlen(build_id()), 40);
    assert_int_equal(strspn(build_id(), "0123456789abcdef"), 40);
}

/* This program's facts with one of them changed, or left out (NULL). */
static bool made_with(json_t *facts, const char *name, const char *value) {
    json_t *other = json_copy(facts);
    if (value)
        json_object_set_new(other, name, json_string(value));
    else
        json_object_del(other, name);
    bool made = program_made(other);
    json_decref(other);
    return made;
}

static void a_build_is_its_id(void **state) {
    (void)state;
    json_t *facts = program_facts();
    assert_true(program_made(facts));
    assert_false(made_with(facts, "build", "0123456789abcdef0123456789abcdef01234567"));
    assert_false(made_with(facts, "build", ""));
    assert_false(made_with(facts, "llvm", "1.0"));
    assert_true(made_with(facts, "commit", "another"));
    json_decref(facts);
}

static void without_one_it_is_the_commit(void **state) {
    (void)state;
    json_t *facts = program_facts();
    json_object_del(facts, "build");
    assert_true(program_made(facts));
    assert_false(made_with(facts, "commit", "another"));
    assert_false(made_with(facts, "commit", NULL));
    assert_false(made_with(facts, "version", "0"));
    assert_false(made_with(facts, "llvm", "1.0"));
    json_decref(facts);
    assert_false(program_made(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_sha1),
        cmocka_unit_test(a_build_is_its_id),
        cmocka_unit_test(without_one_it_is_the_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
