/* test_reductions.c - ids of accumulations, and the changes to them that a pass may make. */
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

static bool starts_with(const char *message, const char *start) {
    return strncmp(message, start, strlen(start)) == 0;
}

/* `start`: how the message begins; NULL: all is kept. */
static void expect_kept(const reduction_list *before, const reduction_list *after,
                        const char *start) {
    status st = STATUS_INIT;
    bool kept = reductions_kept(before, after, &st);
    if (kept == (start == NULL) && (kept || starts_with(st.message, start)))
        return;
    fail_msg("expected %s, found %s", start ? start : "that all is kept",
             kept ? "that all is kept" : st.message);
}

static reduction_record with_id(reduction_record r, int64_t id, bool needed) {
    r.id = id;
    r.needed = needed;
    return r;
}

static void test_kept(void **state) {
    ir_module *m = ir_module_new();
    (void)state;
    const reduction_record
        dot = {"dot", ORDER_CHUNK512, "chunk512", 600, 4, 0, true, 0, 0, false},
        sum = {"sum", ORDER_LANES64, "lanes64", 600, 2, 1, true, 0, 0, false},
        seq = {"dot", ORDER_SEQ, "seq", 600, 4, 0, true, 0, 0, false},
        shorter = {"dot", ORDER_CHUNK512, "chunk512", 599, 4, 0, true, 0, 0, false},
        long_dot = {"dot", ORDER_CHUNK512, "chunk512", 1536, 4, 0, true, 0, 0, false},
        chunks = {"dot", ORDER_CHUNK512, "chunk512", 512, 12, 0, true, 3, 0, false},
        not_added = {"dot", ORDER_CHUNK512, "chunk512", 512, 12, 0, true, -1, 0, false},
        too_few = {"dot", ORDER_CHUNK512, "chunk512", 512, 8, 0, true, 2, 0, false},
        long_sum = {"sum", ORDER_LANES64, "lanes64", 8193, 2, 0, true, 0, 0, false},
        blocks = {"sum", ORDER_LANES64, "lanes64", 4096, 4, 0, true, 2, 1, false},
        lost = {"sum", ORDER_LANES64, "lanes64", 4096, 4, 0, true, 2, 0, false},
        fewer = {"dot", ORDER_CHUNK512, "chunk512", 600, 3, 0, true, 0, 0, false},
        most = {"max", ORDER_LANES64, "lanes64", 600, 2, 1, true, 0, 0, false},
        ampere = {"dot", ORDER_UNIT, "mma.sm80.bf16", 600, 4, 0, true, 0, 0, false},
        hopper = {"dot", ORDER_UNIT, "mma.sm90.bf16", 600, 4, 0, true, 0, 0, false},
        symbol = {"dot", ORDER_CHUNK512, "chunk512", ir_dim_symbol(m, "K"), 4, 0, true, 0,
                  0,     false};
    const reduction_record twin = with_id(dot, 2, true), unused = with_id(sum, 3, false),
                           nameless = with_id(sum, REDUCTION_NO_ID, true);
    const struct {
        reduction_record before[3], after[3];
        size_t n, k;
        bool open;
        const char *start;
    } rows[] = {
        {{dot, sum, twin}, {dot, sum, twin}, 3, 3, false, NULL},
        {{dot, sum, unused}, {dot, sum}, 3, 2, false, NULL},
        {{dot, sum, unused}, {dot, sum}, 3, 2, true, NULL},
        {{dot, sum, twin}, {dot, sum}, 3, 2, false, NULL}, /* equal sums became one */
        {{dot, sum, twin}, {sum, twin}, 3, 2, false, NULL},
        {{symbol, sum}, {dot, sum}, 2, 2, false, NULL}, /* a symbol was bound */
        {{sum}, {dot, sum}, 1, 2, true, NULL},          /* a composite's came to light */
        {{sum}, {dot, sum}, 1, 2, false, "dot with id 0 over 600 elements in order 'chunk512' is"},
        {{dot, sum}, {dot}, 2, 1, false, "sum with id 1 over 600 elements in order 'lanes64' was"},
        {{dot, sum}, {dot}, 2, 1, true, "sum with id 1 "},
        {{dot, twin}, {with_id(dot, 7, true)}, 2, 1, false, "dot with id 7 "}, /* forged */
        {{dot, sum}, {sum, with_id(dot, 7, true)}, 2, 2, false, "dot with id 7 "},
        {{dot, sum}, {with_id(sum, 0, true), with_id(dot, 1, true)}, 2, 2, false, "sum with id 0 "},
        {{dot}, {seq}, 1, 1, false, "dot with id 0 over 600 elements in order 'seq' was"},
        {{dot}, {seq}, 1, 1, true, "dot with id 0 "},
        {{dot}, {shorter}, 1, 1, false, "dot with id 0 over 599 elements "},
        {{dot}, {fewer}, 1, 1, false, "dot with id 0 "},
        {{long_dot}, {chunks}, 1, 1, false, NULL}, /* split into its chunks */
        {{long_dot}, {not_added}, 1, 1, false, "the chunks of the dot with id 0 are not"},
        {{long_dot}, {too_few}, 1, 1, false, "dot with id 0 over 512 elements "},
        {{long_sum}, {blocks}, 1, 1, false, NULL}, /* and a rest of one element */
        {{long_sum}, {lost}, 1, 1, false, "sum with id 0 over 4096 elements "},
        {{chunks}, {long_dot}, 1, 1, false, "dot with id 0 over 1536 elements "},
        {{sum}, {most}, 1, 1, false, "max with id 1 "},
        {{ampere}, {ampere}, 1, 1, false, NULL},
        {{ampere}, {hopper}, 1, 1, false, "dot with id 0 "}, /* another unit's order */
        {{sum}, {nameless}, 1, 1, false, "a reduction (sum) has no id"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reduction_list before = list_of(rows[i].before, rows[i].n, rows[i].open),
                       after = list_of(rows[i].after, rows[i].k, false);
        expect_kept(&before, &after, rows[i].start);
        reductions_release(&before);
        reductions_release(&after);
    }
    ir_module_free(m);
}

/* ---- graphs ---- */

static const char kernel_text[] =
    "\"builtin.module\"() ({\n"
    "  \"tessera.kernel\"() <{inputs = [\"x\"], name = \"f\", outputs = [\"a\", \"b\"]}> ({\n"
    "  ^bb0(%%arg0: tensor<6x6xf32>):\n"
    "%s"
    "  }) : () -> ()\n"
    "}) : () -> ()\n";

enum { OF_X, OF_EXP }; /* what a sum is made of */
typedef struct sum_spec {
    int of;
    const char *attrs; /* besides kind and axes */
} sum_spec;

static ir_module *graph_of(const sum_spec *sums, size_t count, const size_t outputs[2]) {
    text body, whole;
    status st = STATUS_INIT;
    text_init(&body);
    text_init(&whole);
    text_append(&body, "%0 = \"tessera.exp\"(%arg0) : (tensor<6x6xf32>) -> tensor<6x6xf32>\n");
    for (size_t i = 0; i < count; i++)
        text_printf(&body,
                    "%%%zu = \"tessera.reduce\"(%s) <{axes = [1], %skind = \"sum\", order = "
                    "\"lanes64\"}> : (tensor<6x6xf32>) -> tensor<6xf32>\n",
                    i + 1, sums[i].of == OF_X ? "%arg0" : "%0", sums[i].attrs);
    text_printf(&body, "\"tessera.return\"(%%%zu, %%%zu) : (tensor<6xf32>, tensor<6xf32>) -> ()\n",
                outputs[0], outputs[1]);
    text_printf(&whole, kernel_text, body.data);
    ir_module *m = ir_parse(whole.data, &st);
    if (!m || !ir_verify(m, &st))
        fail_msg("%s: %s", whole.data, st.message);
    text_release(&body);
    text_release(&whole);
    return m;
}

static void expect_ids(const ir_module *m, const int64_t *ids, const bool *needed, size_t count) {
    reduction_list list;
    reductions_of(m, &list);
    assert_int_equal(list.items.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list.items.items[i].id, ids[i]);
        assert_int_equal(list.items.items[i].needed, needed[i]);
        bool named = ids[i] != REDUCTION_NO_ID;
        assert_int_equal(reduction_index(&list, ids[i]), named ? i : count);
        assert_ptr_equal(reduction_find(&list, ids[i]), named ? &list.items.items[i] : NULL);
    }
    assert_null(reduction_find(&list, 99));
    assert_null(reduction_find(&list, REDUCTION_NO_ID));
    reductions_release(&list);
}

/* Sums without an id get the next ones; those that have one keep it, and two of one id are one. */
static void test_numbers(void **state) {
    (void)state;
    const sum_spec sums[] = {
        {OF_X, ""}, {OF_X, "id = 5 : i64, "}, {OF_EXP, ""}, {OF_X, "id = 5 : i64, "}};
    ir_module *m = graph_of(sums, 4, (const size_t[]){1, 4});
    expect_ids(m, (const int64_t[]){REDUCTION_NO_ID, REDUCTION_NO_ID, 5},
               (const bool[]){true, false, true}, 3);
    for (int again = 0; again < 2; again++) {
        reductions_number(m);
        expect_ids(m, (const int64_t[]){5, 6, 7}, (const bool[]){true, true, false}, 3);
    }
    ir_module_free(m);
}

/* The text that identifies a kernel has no ids, and a text with ids is read back with them. */
static void test_text(void **state) {
    (void)state;
    const sum_spec sums[] = {{OF_X, ""}, {OF_EXP, ""}};
    ir_module *m = graph_of(sums, 2, (const size_t[]){1, 2}), *numbered = ir_module_clone(m);
    status st = STATUS_INIT;
    text before, after, again;
    text_init(&before);
    text_init(&after);
    text_init(&again);
    reductions_number(numbered);
    ir_print(m, &before);
    ir_print(numbered, &after);
    assert_null(strstr(before.data, "id = "));
    assert_non_null(strstr(after.data, "id = 1 : i64"));
    ir_module *read = ir_parse(after.data, &st);
    assert_non_null(read);
    ir_print(read, &again);
    assert_string_equal(after.data, again.data);
    text_release(&before);
    text_release(&after);
    text_release(&again);
    ir_module_free(read);
    ir_module_free(numbered);
    ir_module_free(m);
}

/* Outcomes of two different sums, of which both are needed: ids and not places decide. */
static void test_two_sums(void **state) {
    (void)state;
    const sum_spec x = {OF_X, "id = 0 : i64, "}, e = {OF_EXP, "id = 1 : i64, "};
    const struct {
        sum_spec sums[4];
        size_t count, outputs[2];
        const char *start;
    } rows[] = {
        {{e, x}, 2, {2, 1}, NULL},       /* moved */
        {{x, e, x, e}, 4, {1, 4}, NULL}, /* computed twice */
        {{x, x}, 2, {1, 2}, NULL},       /* an equal one stands for the other */
        {{x, e, {OF_X, "id = 2 : i64, "}}, 3, {1, 3}, "sum with id 2 "},
    };
    ir_module *m = graph_of((const sum_spec[]){x, e}, 2, (const size_t[]){1, 2});
    reduction_list before, after;
    reductions_of(m, &before);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ir_module *changed = graph_of(rows[i].sums, rows[i].count, rows[i].outputs);
        reductions_of(changed, &after);
        expect_kept(&before, &after, rows[i].start);
        reductions_release(&after);
        ir_module_free(changed);
    }
    reductions_release(&before);
    ir_module_free(m);
}

static int set_up(void **state) {
    (void)state;
    compiler_init();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_two_sums),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
