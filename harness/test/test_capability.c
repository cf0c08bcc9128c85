/* test_capability.c - the table of what backends do with types has a reason for each line, and
 * takes nothing of lower precision. */
#include "test/test.h"

#include "case/capability.h"

static void what_is_taken_holds_every_value(void **state) {
    (void)state;
    for (int b = 0; b < BACKEND_COUNT; b++)
        for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++) {
            const capability *c = capability_of((backend_id)b, (dtype)t);
            assert_int_equal(c->as != DTYPE_NONE, c->why != NULL);
            if (c->as != DTYPE_NONE)
                assert_true(c->as != (dtype)t && dtype_holds(c->as, (dtype)t));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_holds_every_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
