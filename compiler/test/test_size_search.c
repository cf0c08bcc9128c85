/* test_size_search.c - sizes by the rules of sizes.def: what has room, what keeps threads busy, in
 * the order that a rule gives. */
#include "runtime/test/test.h"

#include "schedule/size_search.h"

static const struct {
    const char *what;
    size_search search;
    int64_t sizes[SIZE_DIMS];
} searches[] = {
    {"all has room", {.rule = SIZES_FIT, .count = 1, .dims = {{.most = 64}}}, {64}},
    {"halves, until there is room",
     {.rule = SIZES_FIT, .each = 10, .room = 200, .count = 1, .dims = {{.most = 64}}},
     {16}},
    {"never below the least",
     {.rule = SIZES_FIT, .each = 10, .room = 1, .count = 1, .dims = {{.most = 64, .least = 8}}},
     {8}},
    {"halves are multiples of a step",
     {.rule = SIZES_WINDOW_BLOCK,
      .threads = 2,
      .around = 1,
      .count = 1,
      .dims = {{.extent = 48, .most = 48, .least = 16, .step = 16}}},
     {16}},
    {"one thread is busy with one",
     {.rule = SIZES_WINDOW_BLOCK,
      .threads = 1,
      .around = 1,
      .count = 1,
      .dims = {{.extent = 48, .most = 48, .least = 16, .step = 16}}},
     {48}},
    {"columns first, then lines",
     {.rule = SIZES_WINDOW_BLOCK,
      .threads = 8,
      .around = 1,
      .count = 2,
      .dims = {{.extent = 64, .most = 64, .least = 16, .step = 16}, {.extent = 8, .most = 8}}},
     {16, 2}},
    {"lines divide what there are",
     {.rule = SIZES_WINDOW_LINES,
      .threads = 2,
      .around = 1,
      .each = 1,
      .room = 1000,
      .count = 1,
      .dims = {{.extent = 15, .most = 15}}},
     {3}},
    {"steps less",
     {.rule = SIZES_CHAIN_BLOCK,
      .threads = 4,
      .around = 2,
      .count = 1,
      .dims = {{.extent = 96, .most = 36, .least = 6, .step = 6}}},
     {12}},
    {"the larger side first",
     {.rule = SIZES_UNIT_TILE,
      .threads = 16,
      .around = 1,
      .worth = 1,
      .count = 2,
      .dims = {{.extent = 128, .most = 128}, {.extent = 256, .most = 64}}},
     {32, 64}},
    {"nothing that is not worth it",
     {.rule = SIZES_UNIT_TILE,
      .threads = 1000,
      .around = 1,
      .worth = 1024,
      .count = 2,
      .dims = {{.extent = 64, .most = 64}, {.extent = 64, .most = 64}}},
     {32, 32}},
    {"all combinations, and the most even",
     {.rule = SIZES_CORE_BLOCK,
      .threads = 3,
      .around = 1,
      .worth = 1,
      .count = 2,
      .dims = {{.extent = 6, .most = 6, .least = 2, .step = 2},
               {.extent = 16, .most = 16, .least = 16, .step = 16}}},
     {2, 16}},
};

static void sizes_follow_from_rules(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(searches); i++) {
        int64_t sizes[SIZE_DIMS] = {0};
        size_search_run(&searches[i].search, sizes);
        for (int d = 0; d < searches[i].search.count; d++)
            if (sizes[d] != searches[i].sizes[d])
                fail_msg("%s: size %d is %d, not %d", searches[i].what, d, (int)sizes[d],
                         (int)searches[i].sizes[d]);
    }
}

static void one_size_is_that_of_its_dimension(void **state) {
    (void)state;
    assert_int_equal(size_that_fits(16, 4, 3, 24), 8);
    assert_int_equal(size_search_one((size_search){.rule = SIZES_FIT, .each = 3, .room = 24},
                                     (size_dim){.most = 16, .least = 4}),
                     8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_follow_from_rules),
                                       cmocka_unit_test(one_size_is_that_of_its_dimension)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
