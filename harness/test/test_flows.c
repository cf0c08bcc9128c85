/* test_flows.c - messages that share links: times that are known by hand, one rank that stands for
 * all beside all of them one by one, and what a topology without contention must give. */
#include <math.h>
#include <stdlib.h>

#include "comm/collectives.h"
#include "comm/flows.h"
#include "test/test.h"

enum { NIC, BUS, WIDE };

/* Nodes of two ranks: a NIC of 10 bytes in a ns for each rank, and a bus of 16 for each node. */
static topology two_nodes(void) {
    return (topology){.links = {{"nic", 0, 10, 0, 1, true}, {"bus", 0, 16, 0, 2, true}},
                      .levels = {{"node", 2, {NIC}, 1}, {"all", 4, {NIC, BUS}, 2}},
                      .link_count = 2,
                      .level_count = 2,
                      .ranks = 4,
                      .sum = 1};
}

static double ns_of(const topology *t, const double (*messages)[3], size_t count) {
    flow_set s = {.t = t};
    for (size_t i = 0; i < count; i++)
        flows_add(&s, (uint32_t)messages[i][0], (uint32_t)messages[i][1], messages[i][2]);
    const double ns = flows_ns(&s);
    flows_release(&s);
    return ns;
}

static void near(double a, double b) {
    if (fabs(a / b - 1) > 1e-6)
        fail_msg("%.9g, and not %.9g", a, b);
}

static void one_message_has_its_link(void **state) {
    (void)state;
    topology t = two_nodes();
    near(ns_of(&t, (const double[][3]){{0, 1, 100}}, 1), 10);
    t.links[NIC].latency_ns = 3; /* out and in */
    near(ns_of(&t, (const double[][3]){{0, 1, 100}}, 1), 16);
    t.links[NIC].message_ns = 7; /* at the same time on both sides */
    near(ns_of(&t, (const double[][3]){{0, 1, 100}}, 1), 23);
}

/* Both have 5; when the short one is through, the other one has 10. */
static void what_one_leaves_the_other_takes(void **state) {
    (void)state;
    const topology t = two_nodes();
    near(ns_of(&t, (const double[][3]){{0, 1, 100}, {0, 2, 400}}, 2), 50);
}

/* The bus gives four messages 4 each, though each NIC could send two of 5; of a fifth one, within
 * the node of the receivers, only the NIC counts, whose three share its 10: 3.33. */
static void the_narrowest_link_decides_first(void **state) {
    (void)state;
    const topology t = two_nodes();
    const double four[][3] = {{0, 2, 400}, {0, 3, 400}, {1, 2, 400}, {1, 3, 400}},
                 five[][3] = {{0, 2, 400}, {0, 3, 400}, {1, 2, 400}, {1, 3, 400}, {2, 3, 1}};
    near(ns_of(&t, four, 4), 100);
    /* For 0.3 ns those into rank 3 have 10 / 3 each, and the others what that leaves of the bus,
     * 14 / 3; then 4 each, until the others end at 0.3 + 398.6 / 4; the rest, 0.4, has 5 each. */
    near(ns_of(&t, five, 5), 0.3 + 398.6 / 4 + 0.4 / 5);
}

/* In one direction at a time, a message takes its bytes twice: it goes out and in by the same. */
static void memory_is_passed_twice(void **state) {
    (void)state;
    topology t = {.links = {{"memory", 0, 10, 0, 2, false}},
                  .levels = {{"machine", 2, {0}, 1}},
                  .link_count = 1,
                  .level_count = 1,
                  .ranks = 2,
                  .sum = 1};
    near(ns_of(&t, (const double[][3]){{0, 1, 100}}, 1), 20);
    near(ns_of(&t, (const double[][3]){{0, 1, 100}, {1, 0, 100}}, 2), 40);
    t.links[0].duplex = true;
    near(ns_of(&t, (const double[][3]){{0, 1, 100}, {1, 0, 100}}, 2), 20);
}

/* Nodes of four, racks of two nodes, two racks: all links shared by some. */
static topology racks(void) {
    return (topology){
        .links = {{"port", 5, 20, 2, 1, true},
                  {"nic", 11, 6, 3, 2, true},
                  {"spine", 17, 9, 0, 8, false}},
        .levels = {{"node", 4, {0}, 1}, {"rack", 8, {0, 1}, 2}, {"all", 16, {0, 1, WIDE}, 3}},
        .link_count = 3,
        .level_count = 3,
        .ranks = 16,
        .round_ns = 0,
        .sum = 1e9};
}

static void one_rank_stands_for_all(void **state) {
    (void)state;
    const topology t = racks();
    static const double sizes[] = {1, 100, 1e6};
    for (size_t i = 0; i < 3; i++) {
        flow_set alike = {.t = &t}, each = {.t = &t};
        const uint32_t counts[] = {3, 4, 8};
        flows_add_alike(&alike, counts, sizes[i]);
        for (uint32_t a = 0; a < t.ranks; a++)
            for (uint32_t b = 0; b < t.ranks; b++)
                if (a != b)
                    flows_add(&each, a, b, sizes[i]);
        near(flows_ns(&alike), flows_ns(&each));
        flows_release(&alike);
        flows_release(&each);
    }
}

/* The exchange of a program is that of its groups: here of ranks that are 4 apart, to the next. */
static void an_exchange_is_that_of_all_groups(void **state) {
    (void)state;
    const topology t = racks();
    const int64_t to_next[] = {0, 800, 0, 0}, to_all[] = {0, 800, 800, 800};
    flow_set next = {.t = &t}, all = {.t = &t};
    for (uint32_t rank = 0; rank < t.ranks; rank++)
        for (uint32_t i = 1; i < 4; i++) {
            if (i == 1)
                flows_add(&next, rank, (rank + 4) % 16, 800);
            flows_add(&all, rank, (rank + 4 * i) % 16, 800);
        }
    near(collective_exchange_ns(&t, 4, 4, to_next), flows_ns(&next));
    near(collective_exchange_ns(&t, 4, 4, to_all), flows_ns(&all));
    flows_release(&next);
    flows_release(&all);
}

/* Behind one switch without latency all ways that send the least take the same, which is the bound:
 * each rank sends 2 n (p - 1) / p. */
static void without_contention_the_bound_is_met(void **state) {
    (void)state;
    const topology t = {.links = {{"port", 0, 2, 0, 1, true}},
                        .levels = {{"all", 8, {0}, 1}},
                        .link_count = 1,
                        .level_count = 1,
                        .ranks = 8,
                        .sum = 1e12};
    const double n = 8e6, bound = 2 * n * 7 / 8 / 2;
    near(collective_ns(&t, ALGORITHM_all_reduce_parts, n), bound);
    near(collective_ns(&t, ALGORITHM_all_reduce_ring, n), bound);
    near(collective_ns(&t, ALGORITHM_all_reduce_halving, n), bound);
    near(collective_ns(&t, ALGORITHM_all_reduce_whole, n), 7 * n / 2);
    near(collective_ns(&t, ALGORITHM_all_reduce_doubling, n), 3 * n / 2);
    near(collective_bus(COLLECTIVE_all_reduce, 8, n, bound), 2);
    assert_int_equal(collective_choice(&t, COLLECTIVE_all_reduce, n), ALGORITHM_all_reduce_parts);
    topology slow = t;
    slow.round_ns = 1e9;
    assert_int_equal(collective_choice(&slow, COLLECTIVE_all_reduce, n),
                     ALGORITHM_all_reduce_whole);
    slow.ranks = slow.levels[0].ranks = 6;
    assert_true(isinf(collective_ns(&slow, ALGORITHM_all_reduce_doubling, n)));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_message_has_its_link),
                                       cmocka_unit_test(what_one_leaves_the_other_takes),
                                       cmocka_unit_test(the_narrowest_link_decides_first),
                                       cmocka_unit_test(memory_is_passed_twice),
                                       cmocka_unit_test(one_rank_stands_for_all),
                                       cmocka_unit_test(an_exchange_is_that_of_all_groups),
                                       cmocka_unit_test(without_contention_the_bound_is_met)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
