/* test_reductions.c - what a pass may make of the accumulations that were there before it. */
#include "ir/dim.h"
#include "ir/ir.h"
#include "ops/graph.h"
#include "ops/reductions.h"
#include "runtime/test/test.h"
#include "tessera/compiler.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static reduction_list list_of(const reduction_record *records, size_t count, bool open) {
    reduction_list list = {.open = open};
    for (size_t i = 0; i < count; i++)
        vec_push(&list.items, records[i]);
    return list;
}

static void expect_kept(const reduction_record *a, size_t n, bool open, const reduction_record *b,
                        size_t k, const char *message) {
    reduction_list before = list_of(a, n, open), after = list_of(b, k, false);
    status st = STATUS_INIT;
    assert_int_equal(reductions_kept(&before, &after, &st), message == NULL);
    if (message)
        assert_string_equal(st.message, message);
    reductions_release(&before);
    reductions_release(&after);
}

static void test_reductions(void **state) {
    (void)state;
    const reduction_record dot = {"dot", ORDER_CHUNK512, "chunk512", 600, 4},
                           sum = {"sum", ORDER_LANES64, "lanes64", 600, 2},
                           seq = {"dot", ORDER_SEQ, "seq", 600, 4},
                           shorter = {"dot", ORDER_CHUNK512, "chunk512", 599, 4},
                           ampere = {"dot", ORDER_UNIT, "mma.sm80.bf16", 600, 4},
                           hopper = {"dot", ORDER_UNIT, "mma.sm90.bf16", 600, 4};
    const reduction_record all[] = {dot, sum, dot}, fewer[] = {sum, dot}, other[] = {dot, sum, seq},
                           swapped[] = {sum, dot, dot}, cut[] = {shorter, sum, dot};
    expect_kept(all, 3, false, all, 3, NULL);
    expect_kept(all, 3, false, fewer, 2, NULL); /* dropped */
    expect_kept(fewer, 2, true, all, 3, NULL);  /* a composite's came to light */
    expect_kept(fewer, 2, false, all, 3,
                "sum number 1 over 600 elements in order 'lanes64' is not one that was there "
                "before");
    expect_kept(all, 3, false, other, 3,
                "dot number 2 over 600 elements in order 'seq' is not one that was there before");
    expect_kept(all, 3, false, swapped, 3,
                "dot number 2 over 600 elements in order 'chunk512' is not one that was there "
                "before");
    expect_kept(all, 3, false, cut, 3,
                "dot number 0 over 599 elements in order 'chunk512' is not one that was there "
                "before");
    expect_kept(&ampere, 1, false, &ampere, 1, NULL);
    expect_kept(&ampere, 1, false, &hopper, 1, /* one order of units is not another */
                "dot number 0 over 600 elements in order 'mma.sm90.bf16' is not one that was there "
                "before");
    expect_kept(all, 3, true, fewer, 2,
                "sum number 1 over 600 elements in order 'lanes64' was there before, and is lost");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reductions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
