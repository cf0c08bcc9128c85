/* test_emulate_launch.c - launches of the emulator: the memory that they are given, those that
 * cannot be, how mistakes are told, and how one is given up. */
#include "test/emulate_bench.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 96 };

static void each_writes_its_own(emulated_thread *t) {
    int64_t index = t->workgroup * t->threads + t->thread;
    store_buffer(t, 1, index, 2 * load_buffer(t, 0, index, 1), 2);
}

static void reads_prepared(emulated_thread *t) {
    load_at(t, (const float *)(void *)t->prepared + t->thread, 1);
}

static void past_the_workspace(emulated_thread *t) {
    if (t->thread == 17)
        store_at(t, (float *)(void *)t->workspace + BENCH_FLOATS, 0, 1);
}

static void neighbours_without_barrier(emulated_thread *t) {
    store_shared(t, t->thread, 1, 1);
    load_shared(t, (t->thread + 1) % t->threads, 3);
}

/* ---- memory of launches ---- */

/* Buffer 1 begins in the middle of buffer 0, and ends behind it: at 384 of its 512 floats. */
static void writes_through_both(emulated_thread *t) {
    store_buffer(t, 1, 216 + t->thread, 1, 2); /* in one of them */
    store_buffer(t, 1, t->thread, 1, 2);
    load_buffer(t, 0, 384 + (t->thread + 1) % t->threads, 1);
}

static void buffers_that_overlap_share_their_history(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {writes_through_both};
    for (size_t o = 0; o < COUNT_OF(bench_orders); o++) {
        emulate_bench *b = bench_new(&bench_orders[o]);
        b->spans[0].size_bytes = 512 * sizeof(float);
        b->spans[1] = (emulate_span){b->spans[0].address + 384 * sizeof(float),
                                     (BENCH_FLOATS - 384) * sizeof(float)};
        bool ok = bench_run(b, phases, 1, THREADS, 1);
        bench_expect(b, ok, EMULATE_RACE, "buffers that overlap");
        assert_int_equal(b->finding.now.site + b->finding.before.site, 3);
        bench_free(b);
    }
}

/* A buffer whose last word is not whole: whoever reads that reads past the end. */
static void reads_the_last_words(emulated_thread *t) {
    for (uint32_t i = 0; i <= 2; i++)
        load_buffer(t, 0, BENCH_FLOATS - 4 + i, 1);
}

static void buffers_may_end_anywhere(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {reads_the_last_words};
    emulate_bench *b = bench_new(&bench_orders[0]);
    for (uint32_t missing = 0; missing < 16; missing++) {
        b->spans[0].size_bytes = sizeof b->inputs.data - missing;
        bool ok = bench_run(b, phases, 1, THREADS, 1);
        bench_expect(b, ok, missing <= 4 ? EMULATE_NO_FAULT : EMULATE_OUT_OF_BOUNDS, "end");
        assert_true(ok || b->finding.memory_bytes == sizeof b->inputs.data - missing);
    }
    bench_free(b);
}

/* Buffer 0 ends in the middle of the floats that buffer 1 begins with: a site that is known to be
 * buffer 0's may not go on there. */
static void reads_past_the_first(emulated_thread *t) {
    load_buffer(t, 0, 255 + t->thread / 64, 1);
}

static void a_site_keeps_to_its_buffer(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {reads_past_the_first};
    static const int32_t any[] = {-1, -1}, first[] = {-1, 0};
    emulate_bench *b = bench_new(&bench_orders[0]);
    b->spans[0].size_bytes = 256 * sizeof(float);
    b->spans[1] = (emulate_span){b->spans[0].address + 256 * sizeof(float),
                                 (BENCH_FLOATS - 256) * sizeof(float)};
    b->launch.sites = (emulate_sites){.buffers = any, .buffers_count = COUNT_OF(any)};
    bool ok = bench_run(b, phases, 1, THREADS, 1);
    bench_expect(b, ok, EMULATE_NO_FAULT, "any buffer");
    b->launch.sites.buffers = first;
    ok = bench_run(b, phases, 1, THREADS, 1);
    bench_expect(b, ok, EMULATE_OUT_OF_BOUNDS, "its own buffer");
    assert_int_equal(b->finding.buffer, 0);
    assert_int_equal(b->finding.offset, 1024);
    assert_int_equal(b->finding.memory_bytes, 1024);
    bench_free(b);
}

static void what_a_launch_prepares_it_writes_first(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {reads_prepared};
    emulate_bench *b = bench_new(&bench_orders[0]);
    b->launch.prepared_here = true;
    bool ok = bench_run(b, phases, 1, THREADS, 1);
    bench_expect(b, ok, EMULATE_UNINITIALISED, "prepared here");
    assert_int_equal(b->finding.memory, EMULATE_PREPARED);
    bench_free(b);
}

/* The access that fails does not happen, and those before it did. */
static void a_wrong_store_is_not_made(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {each_writes_its_own, past_the_workspace};
    emulate_bench *b = bench_new(&bench_orders[0]);
    b->workspace.gap[0] = 5;
    b->inputs.data[3] = 21;
    bool ok = bench_run(b, phases, 2, THREADS, 3);
    bench_expect(b, ok, EMULATE_OUT_OF_BOUNDS, "past the workspace");
    assert_true(b->outputs.data[3] == 42);
    assert_true(b->workspace.gap[0] == 5);
    bench_free(b);
}

static void launches_that_cannot_be_are_refused(void **state) {
    (void)state;
    static const struct {
        uint32_t threads, subgroup;
        uint64_t shared_bytes;
        status_code code;
    } wrong[] = {{0, 32, 64, STATUS_CORRUPT},
                 {1025, 32, 64, STATUS_CORRUPT},
                 {32, 16, 64, STATUS_CORRUPT},
                 {32, 32, UINT64_C(1) << 62, STATUS_OUT_OF_MEMORY}};
    static const emulated_phase_fn phases[] = {each_writes_its_own};
    emulate_bench *b = bench_new(&bench_orders[0]);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        b->launch.subgroup = wrong[i].subgroup;
        b->launch.shared_bytes = wrong[i].shared_bytes;
        assert_false(bench_run(b, phases, 1, wrong[i].threads, 1));
        assert_int_equal(b->st.code, wrong[i].code);
        assert_int_equal(b->finding.fault, EMULATE_NO_FAULT);
    }
    b->launch.subgroup = 64;
    b->launch.shared_bytes = 0;
    assert_true(bench_run(b, phases, 1, 1024, 1));
    assert_true(bench_run(b, phases, 0, 1, 1));
    assert_true(bench_run(b, phases, 1, 1, 0));
    bench_free(b);
}

/* ---- words ---- */

static void messages_name_places(void **state) {
    (void)state;
    static const emulated_site sites[] = {
        {0, 0, 0, 0}, {12, 5, 9, 1}, {0, 0, 0, 7}, {34, 7, 8, 99}};
    static const char names[] = "\0store\0load";
    static const emulated_phase_fn phases[] = {neighbours_without_barrier};
    static const struct {
        uint64_t count;
        const char *told[2];
    } kinds[] = {
        {4, {"12:5 (store)", "34:7"}}, {2, {"12:5 (store)", "site 3"}}, {0, {"site 1", "site 3"}}};
    emulate_bench *b = bench_new(&bench_orders[0]);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        b->launch.sites = (emulate_sites){.sites = kinds[i].count ? sites : NULL,
                                          .count = kinds[i].count,
                                          .names = names,
                                          .names_bytes = sizeof names};
        assert_false(bench_run(b, phases, 1, THREADS, 1));
        for (int k = 0; k < 2; k++)
            assert_non_null(strstr(b->st.message, kinds[i].told[k]));
    }
    bench_free(b);
}

/* ---- giving up ---- */

static void never_ends(emulated_thread *t) {
    for (;;)
        load_buffer(t, 0, 0, 1);
}

static void *give_up(void *argument) {
    usleep(20000);
    emulate_cancel(argument);
    return NULL;
}

static void launches_can_be_given_up(void **state) {
    (void)state;
    static const emulated_phase_fn phases[] = {never_ends};
    pthread_t thread;
    emulate_bench *b = bench_new(&bench_orders[0]);
    assert_int_equal(pthread_create(&thread, NULL, give_up, b->e), 0);
    assert_false(bench_run(b, phases, 1, THREADS, 1));
    assert_int_equal(b->st.code, STATUS_INTERRUPTED);
    assert_int_equal(b->finding.fault, EMULATE_NO_FAULT);
    pthread_join(thread, NULL);
    bench_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_that_overlap_share_their_history),
        cmocka_unit_test(buffers_may_end_anywhere),
        cmocka_unit_test(a_site_keeps_to_its_buffer),
        cmocka_unit_test(what_a_launch_prepares_it_writes_first),
        cmocka_unit_test(a_wrong_store_is_not_made),
        cmocka_unit_test(launches_that_cannot_be_are_refused),
        cmocka_unit_test(messages_name_places),
        cmocka_unit_test(launches_can_be_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
