/* test_emulate.c - what the emulator judges: for each mistake a kernel that makes it and a
 * neighbour that does not, in every order of threads and workgroups. */
#include "test/emulate_bench.h"

enum { THREADS = 96 };

/* ---- races in shared memory ---- */

static void passes_on(emulated_thread *t, bool with_barrier) {
    store_shared(t, t->thread, 1, 1);
    if (with_barrier)
        barrier(t, 2);
    load_shared(t, (t->thread + 1) % t->threads, 3);
}

static void neighbours_without_barrier(emulated_thread *t) {
    passes_on(t, false);
}

static void one_neighbour_writes(emulated_thread *t) {
    if (t->thread == 1)
        store_shared(t, 0, 1, 1);
    if (t->thread == 0)
        load_shared(t, 0, 3);
    barrier(t, 2);
}

static void neighbours_with_barrier(emulated_thread *t) {
    passes_on(t, true);
}

static void all_write_the_same(emulated_thread *t) {
    store_shared(t, 5, 7, 1);
}

static void one_writes(emulated_thread *t) {
    if (t->thread == 40)
        store_shared(t, 5, 7, 1);
    barrier(t, 2);
    load_shared(t, 5, 3);
}

static void loops(emulated_thread *t, bool second_barrier) {
    for (int i = 0; i < 3; i++) {
        store_shared(t, t->thread, (float)i, 1);
        barrier(t, 2);
        load_shared(t, t->threads - 1 - t->thread, 3);
        if (second_barrier)
            barrier(t, 4);
    }
}

static void loop_of_one_barrier(emulated_thread *t) {
    loops(t, false);
}

static void loop_of_two_barriers(emulated_thread *t) {
    loops(t, true);
}

/* A thread may write what it alone has read; not what others read, too. */
static void reads_then_writes(emulated_thread *t, uint32_t readers) {
    store_shared(t, t->thread, 0, 1);
    barrier(t, 2);
    if (t->thread < readers)
        load_shared(t, 0, 3);
    if (t->thread == 0)
        store_shared(t, 0, 1, 4);
}

static void one_reads_and_writes(emulated_thread *t) {
    reads_then_writes(t, 1);
}

static void two_read_and_one_writes(emulated_thread *t) {
    reads_then_writes(t, 2);
}

static void all_read_and_one_writes(emulated_thread *t) {
    reads_then_writes(t, THREADS);
}

/* Threads of a subgroup leave each other in the middle of an epoch, too. */
static void all_read_and_one_writes_after_a_shuffle(emulated_thread *t) {
    store_shared(t, t->thread, 0, 1);
    barrier(t, 2);
    load_shared(t, 0, 3);
    t->hooks->shuffle(t, 1, 0, 5);
    if (t->thread == 0)
        store_shared(t, 0, 1, 4);
}

static void one_reads_and_writes_after_a_shuffle(emulated_thread *t) {
    store_shared(t, t->thread, 0, 1);
    barrier(t, 2);
    load_shared(t, t->thread, 3);
    t->hooks->shuffle(t, 1, 0, 5);
    store_shared(t, t->thread, 1, 4);
}

static void bytes(emulated_thread *t, uint32_t at, uint32_t count, uint32_t site) {
    t->hooks->access(t, t->shared + at, count, site | EMULATED_SHARED | EMULATED_WRITE);
    memset(t->shared + at, 1, count);
}

static void halves_of_words(emulated_thread *t) {
    bytes(t, 2 * t->thread, 2, 1);
}

static void single_bytes(emulated_thread *t) {
    bytes(t, t->thread, 1, 1);
}

static void words_that_overlap_by_a_byte(emulated_thread *t) {
    bytes(t, 3 * t->thread, 4, 1);
}

static void vectors_side_by_side(emulated_thread *t) {
    bytes(t, 16 * t->thread, 16, 1);
    barrier(t, 2);
    bytes(t, 16 * t->thread + 4, 4, 3);
}

static void a_word_in_the_next_vector(emulated_thread *t) {
    bytes(t, 16 * t->thread, 16, 1);
    bytes(t, (16 * t->thread + 24) % (16 * THREADS), 4, 3);
}

static void across_pages_of_the_shadow(emulated_thread *t) {
    if (t->thread == 0)
        bytes(t, 1020, 8, 1);
    if (t->thread == 1)
        bytes(t, 1026, 2, 3);
}

static void beside_pages_of_the_shadow(emulated_thread *t) {
    if (t->thread == 0)
        bytes(t, 1020, 8, 1);
    if (t->thread == 1)
        bytes(t, 1028, 2, 3);
}

/* ---- races in global memory ---- */

static int64_t index_of(const emulated_thread *t) {
    return t->workgroup * t->threads + t->thread;
}

static void each_writes_its_own(emulated_thread *t) {
    store_buffer(t, 1, index_of(t), 2 * load_buffer(t, 0, index_of(t), 1), 2);
}

static void groups_share_an_element(emulated_thread *t) {
    store_buffer(t, 1, t->thread, (float)t->workgroup, 1);
}

static void reads_of_the_next_group(emulated_thread *t) {
    store_buffer(t, 1, index_of(t), 1, 1);
    load_buffer(t, 1, (index_of(t) + t->threads) % BENCH_FLOATS, 2);
}

static void all_groups_read_and_one_writes(emulated_thread *t) {
    load_buffer(t, 0, 3, 1);
    barrier(t, 2);
    if (t->workgroup == 1 && t->thread == 5)
        store_buffer(t, 0, 3, 1, 3);
}

static void reads_what_all_wrote(emulated_thread *t) {
    load_buffer(t, 1, BENCH_FLOATS / 2 - index_of(t), 1);
}

static void buffer_without_barrier(emulated_thread *t) {
    store_buffer(t, 1, index_of(t), 1, 1);
    load_buffer(t, 1, t->workgroup * t->threads + (t->thread + 1) % t->threads, 3);
}

static void buffer_with_barrier(emulated_thread *t) {
    store_buffer(t, 1, index_of(t), 1, 1);
    barrier(t, 2);
    load_buffer(t, 1, t->workgroup * t->threads + (t->thread + 1) % t->threads, 3);
    barrier(t, 4);
    store_buffer(t, 1, index_of(t), 2, 5);
}

/* ---- barriers ---- */

static void one_ends_early(emulated_thread *t) {
    if (t->thread == 70)
        return;
    barrier(t, 1);
}

static void odd_threads_elsewhere(emulated_thread *t) {
    if (t->thread % 2)
        barrier(t, 1);
    else
        barrier(t, 2);
}

static void one_barrier_more(emulated_thread *t) {
    barrier(t, 1);
    if (t->thread >= 32)
        barrier(t, 2);
}

static void same_way_for_all(emulated_thread *t) {
    for (uint32_t i = 0; i < 10; i++)
        barrier(t, i % 2);
}

static void half_shuffles(emulated_thread *t) {
    if (t->thread % 2)
        barrier(t, 1);
    else
        t->hooks->shuffle(t, 1, 0, 2);
}

static void shuffles_with_the_dead(emulated_thread *t) {
    if (t->thread != 33)
        t->hooks->shuffle(t, 1, 0, 2);
}

static void shuffles_at_two_sites(emulated_thread *t) {
    t->hooks->shuffle(t, 1, 0, t->thread % 32 < 16 ? 1 : 2);
}

static void subgroups_go_their_own_ways(emulated_thread *t) {
    for (uint32_t i = 0; i < t->thread / 32; i++)
        t->hooks->shuffle(t, 1, 0, t->thread / 32);
    barrier(t, 9);
}

/* ---- bounds ---- */

static void reads_at(emulated_thread *t, int64_t index) {
    if (index_of(t) == 17)
        load_buffer(t, 1, index, 1);
}

static void last_element(emulated_thread *t) {
    reads_at(t, BENCH_FLOATS - 1);
}

static void past_the_end(emulated_thread *t) {
    reads_at(t, BENCH_FLOATS);
}

static void before_the_beginning(emulated_thread *t) {
    if (index_of(t) == 17)
        load_buffer(t, 0, -1, 1);
}

static void far_away(emulated_thread *t) {
    if (index_of(t) == 17)
        t->hooks->access(t, (const void *)(UINTPTR_MAX - 4095), 4, 1);
}

static void across_the_end(emulated_thread *t) {
    if (index_of(t) == 17)
        t->hooks->access(t, (float *)t->buffers[1] + BENCH_FLOATS - 2, 16, 1);
}

static void past_the_workspace(emulated_thread *t) {
    if (index_of(t) == 17)
        store_at(t, (float *)(void *)t->workspace + BENCH_FLOATS, 0, 1);
}

static void past_shared_memory(emulated_thread *t) {
    if (index_of(t) == 17)
        store_shared(t, 1024, 1, 1);
}

static void global_said_to_be_shared(emulated_thread *t) {
    if (index_of(t) == 17)
        store_at(t, t->buffers[1], 1, 1 | EMULATED_SHARED);
}

/* ---- what nobody has written ---- */

static void shared_of_nobody(emulated_thread *t) {
    load_shared(t, t->thread, 1);
}

static void shared_of_the_group_before(emulated_thread *t) {
    if (t->workgroup % 2 == 0)
        store_shared(t, t->thread, 1, 1);
    else
        load_shared(t, t->thread, 3);
}

static void a_vector_of_which_a_part_is_written(emulated_thread *t) {
    for (uint32_t i = 0; i < 3; i++)
        store_shared(t, 4 * t->thread + i, 1, 2);
    t->hooks->access(t, t->shared + 16 * t->thread, 16, 1 | EMULATED_SHARED);
}

static void a_vector_written_in_parts(emulated_thread *t) {
    for (uint32_t i = 0; i < 4; i++)
        store_shared(t, 4 * t->thread + i, 1, 2);
    t->hooks->access(t, t->shared + 16 * t->thread, 16, 1 | EMULATED_SHARED);
}

static void reads_workspace(emulated_thread *t) {
    load_at(t, (const float *)(void *)t->workspace + index_of(t), 1);
}

static void writes_workspace(emulated_thread *t) {
    store_at(t, (float *)(void *)t->workspace + index_of(t), 1, 2);
}

static void writes_half_the_workspace(emulated_thread *t) {
    if (t->thread % 2)
        writes_workspace(t);
}

static void workspace_of_another_group(emulated_thread *t) {
    float *at = (float *)(void *)t->workspace + 5;
    if (t->thread == 0 && t->workgroup == 0)
        load_at(t, at, 1);
    if (t->thread == 0 && t->workgroup == 2)
        store_at(t, at, 1, 2);
}

static void reads_prepared(emulated_thread *t) {
    load_at(t, (const float *)(void *)t->prepared + index_of(t), 1);
}

/* ---- the table ---- */

#define GOOD(name, ...)                                                                            \
    { name, {__VA_ARGS__}, EMULATE_NO_FAULT, {0, 0}, EMULATE_SHARED, 0 }
#define BAD(name, fault, first, second, memory, offset, ...)                                       \
    { name, {__VA_ARGS__}, EMULATE_##fault, {first, second}, EMULATE_##memory, offset }

static const struct {
    const char *name;
    emulated_phase_fn phases[BENCH_PHASES]; /* the second may be none */
    emulate_fault fault;
    uint32_t sites[2]; /* of the two that are told, the smaller first; of one: 0 and its */
    emulate_memory memory;
    int64_t offset; /* -1: it depends on the order */
} rows[] = {
    BAD("neighbours, no barrier", RACE, 1, 3, SHARED, -1, neighbours_without_barrier),
    BAD("one neighbour writes", RACE, 1, 3, SHARED, 0, one_neighbour_writes),
    GOOD("neighbours, a barrier", neighbours_with_barrier),
    BAD("all write the same", RACE, 1, 1, SHARED, 20, all_write_the_same),
    GOOD("one writes", one_writes),
    BAD("a loop of one barrier", RACE, 1, 3, SHARED, -1, loop_of_one_barrier),
    GOOD("a loop of two barriers", loop_of_two_barriers),
    GOOD("one reads and writes", one_reads_and_writes),
    BAD("two read and one writes", RACE, 3, 4, SHARED, 0, two_read_and_one_writes),
    BAD("all read and one writes", RACE, 3, 4, SHARED, 0, all_read_and_one_writes),
    BAD("a shuffle is no barrier", RACE, 3, 4, SHARED, 0, all_read_and_one_writes_after_a_shuffle),
    GOOD("what a shuffle may part", one_reads_and_writes_after_a_shuffle),
    GOOD("halves of words", halves_of_words),
    GOOD("single bytes", single_bytes),
    BAD("overlap by a byte", RACE, 1, 1, SHARED, -1, words_that_overlap_by_a_byte),
    GOOD("vectors side by side", vectors_side_by_side),
    BAD("a word in the next vector", RACE, 1, 3, SHARED, -1, a_word_in_the_next_vector),
    BAD("across pages", RACE, 1, 3, SHARED, 1026, across_pages_of_the_shadow),
    GOOD("beside pages", beside_pages_of_the_shadow),
    GOOD("each writes its own", each_writes_its_own),
    BAD("groups share an element", RACE, 1, 1, BUFFER, -1, groups_share_an_element),
    BAD("reads of the next group", RACE, 1, 2, BUFFER, -1, reads_of_the_next_group),
    BAD("all groups read, one writes", RACE, 1, 3, BUFFER, 12, all_groups_read_and_one_writes),
    GOOD("a phase after the other", each_writes_its_own, reads_what_all_wrote),
    GOOD("groups write in both phases", each_writes_its_own, each_writes_its_own),
    BAD("a buffer, no barrier", RACE, 1, 3, BUFFER, -1, buffer_without_barrier),
    GOOD("a buffer, a barrier", buffer_with_barrier),
    BAD("one ends early", DIVERGENT_BARRIER, 0, 1, NOWHERE, 0, one_ends_early),
    BAD("odd threads elsewhere", DIVERGENT_BARRIER, 1, 2, NOWHERE, 0, odd_threads_elsewhere),
    BAD("one barrier more", DIVERGENT_BARRIER, 0, 2, NOWHERE, 0, one_barrier_more),
    GOOD("the same way for all", same_way_for_all),
    BAD("half of them shuffle", DIVERGENT_BARRIER, 1, 2, NOWHERE, 0, half_shuffles),
    BAD("shuffles with the dead", DIVERGENT_BARRIER, 0, 2, NOWHERE, 0, shuffles_with_the_dead),
    BAD("shuffles at two sites", DIVERGENT_BARRIER, 1, 2, NOWHERE, 0, shuffles_at_two_sites),
    GOOD("subgroups differ", subgroups_go_their_own_ways),
    GOOD("the last element", last_element),
    BAD("past the end", OUT_OF_BOUNDS, 0, 1, BUFFER, 4096, past_the_end),
    BAD("before the beginning", OUT_OF_BOUNDS, 0, 1, BUFFER, -4, before_the_beginning),
    BAD("far away", OUT_OF_BOUNDS, 0, 1, NOWHERE, 0, far_away),
    BAD("across the end", OUT_OF_BOUNDS, 0, 1, BUFFER, 4088, across_the_end),
    BAD("past the workspace", OUT_OF_BOUNDS, 0, 1, WORKSPACE, 4096, past_the_workspace),
    BAD("past shared memory", OUT_OF_BOUNDS, 0, 1, SHARED, 4096, past_shared_memory),
    BAD("global said to be shared", OUT_OF_BOUNDS, 0, 1, SHARED, -1, global_said_to_be_shared),
    BAD("shared of nobody", UNINITIALISED, 0, 1, SHARED, -1, shared_of_nobody),
    BAD("shared of another group", UNINITIALISED, 0, 3, SHARED, -1, shared_of_the_group_before),
    BAD("a part of a vector", UNINITIALISED, 0, 1, SHARED, -1, a_vector_of_which_a_part_is_written),
    GOOD("a vector in parts", a_vector_written_in_parts),
    BAD("workspace of nobody", UNINITIALISED, 0, 1, WORKSPACE, -1, reads_workspace),
    GOOD("workspace of a phase", writes_workspace, reads_workspace),
    BAD("workspace by halves", UNINITIALISED, 0, 1, WORKSPACE, -1, writes_half_the_workspace,
        reads_workspace),
    BAD("workspace of another group", RACE, 1, 2, WORKSPACE, 20, workspace_of_another_group),
    GOOD("prepared before", reads_prepared),
};

/* A thread that has ended has no site. */
static void expect_row(const emulate_bench *b, size_t row) {
    const emulate_finding *f = &b->finding;
    uint32_t now = f->now.site, before = f->before.site;
    if (f->fault == EMULATE_NO_FAULT)
        return;
    assert_int_equal(now < before ? now : before, rows[row].sites[0]);
    assert_int_equal(now < before ? before : now, rows[row].sites[1]);
    assert_int_equal(f->memory, rows[row].memory);
    if (rows[row].offset != -1)
        assert_int_equal(f->offset, rows[row].offset);
    if (f->fault == EMULATE_RACE) {
        assert_true(f->now.workgroup != f->before.workgroup || f->now.thread != f->before.thread);
        assert_true(f->now.act == EMULATE_WRITES || f->before.act == EMULATE_WRITES);
    }
    assert_true(f->now.thread < THREADS && f->before.thread < THREADS);
    assert_true(f->now.workgroup < 3 && f->before.workgroup < 3);
}

/* One emulator runs them all, so a launch that fails must leave nothing behind. */
static void mistakes_are_found_in_every_order(void **state) {
    (void)state;
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = bench_new(&bench_orders[o]);
        for (size_t row = 0; row < COUNT_OF(rows); row++) {
            uint32_t phases = rows[row].phases[1] ? 2 : 1;
            bool ok = bench_run(b, rows[row].phases, phases, THREADS, 3);
            bench_expect(b, ok, rows[row].fault, rows[row].name);
            expect_row(b, row);
        }
        bench_free(b);
    }
}

/* ---- a reduction tree ---- */

static uint32_t left_out; /* the barrier that is missing */

static void tree(emulated_thread *t) {
    uint32_t step = 1;
    store_shared(t, t->thread, load_buffer(t, 0, t->thread, 1), 2);
    for (uint32_t half = t->threads / 2; half; half /= 2, step++) {
        if (step != left_out)
            barrier(t, 10 + step);
        if (t->thread < half)
            store_shared(t, t->thread,
                         load_shared(t, t->thread, 3) + load_shared(t, t->thread + half, 4), 5);
    }
    if (step != left_out)
        barrier(t, 10 + step);
    store_buffer(t, 1, t->thread, load_shared(t, 0, 6), 7);
}

static void each_barrier_of_a_tree_is_needed(void **state) {
    (void)state;
    enum { LEAVES = 256, BARRIERS = 9 };
    static const emulated_phase_fn phases[] = {tree};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = bench_new(&bench_orders[o]);
        for (int i = 0; i < LEAVES; i++)
            b->inputs.data[i] = (float)i;
        for (left_out = 0; left_out <= BARRIERS; left_out++) {
            bool ok = bench_run(b, phases, 1, LEAVES, 1);
            bench_expect(b, ok, left_out ? EMULATE_RACE : EMULATE_NO_FAULT, "tree");
            for (int i = 0; i < LEAVES && ok; i++)
                assert_true(b->outputs.data[i] == LEAVES * (LEAVES - 1) / 2);
        }
        bench_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_found_in_every_order),
        cmocka_unit_test(each_barrier_of_a_tree_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
