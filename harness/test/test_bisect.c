/* test_bisect.c - the search: every history up to a length, every place of the first bad commit,
 * every set of commits that cannot be judged. */
#include "harness/test/test.h"

#include <stdlib.h>

#include "bisect/search.h"

enum { LONGEST = 9 };

/* Searches as bisect_run does; returns the tries. */
static size_t search(size_t count, size_t first_bad, uint64_t skipped, bisect_range *found) {
    bisect_mark marks[64] = {BISECT_UNTRIED};
    size_t tries = 0;
    marks[count - 1] = BISECT_BAD;
    *found = bisect_search(marks, count);
    while (found->next < found->end) {
        size_t i = found->next;
        assert_int_equal(marks[i], BISECT_UNTRIED);
        assert_true(found->begin <= i && i + 1 < found->end);
        marks[i] = skipped >> i & 1 ? BISECT_SKIPPED : i >= first_bad ? BISECT_BAD : BISECT_GOOD;
        tries++;
        *found = bisect_search(marks, count);
    }
    return tries;
}

static void the_first_bad_commit_is_found(void **state) {
    (void)state;
    for (size_t count = 1; count <= 40; count++)
        for (size_t bad = 0; bad < count; bad++) {
            bisect_range r;
            size_t most = 0, tries = search(count, bad, 0, &r);
            assert_int_equal(r.begin, bad);
            assert_int_equal(r.end, bad + 1);
            while ((size_t)1 << most < count)
                most++;
            assert_true(tries <= most);
        }
}

/* The range left holds it, and has nothing that was judged but its end. */
static void skips_leave_it_among_the_rest(void **state) {
    (void)state;
    for (size_t count = 1; count <= LONGEST; count++)
        for (size_t bad = 0; bad < count; bad++)
            for (uint64_t skipped = 0; skipped < (uint64_t)1 << (count - 1); skipped++) {
                bisect_range r;
                search(count, bad, skipped, &r);
                assert_true(r.begin <= bad && bad < r.end);
                for (size_t i = r.begin; i + 1 < r.end; i++)
                    assert_true(skipped >> i & 1);
                assert_false(skipped >> (r.end - 1) & 1);
            }
}

static void names_come_back(void **state) {
    (void)state;
    for (int i = 0; i < BISECT_MARK_COUNT; i++)
        assert_int_equal(bisect_mark_of(bisect_mark_name((bisect_mark)i)), i);
    assert_int_equal(bisect_mark_of("else"), BISECT_MARK_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_bad_commit_is_found),
        cmocka_unit_test(skips_leave_it_among_the_rest),
        cmocka_unit_test(names_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
