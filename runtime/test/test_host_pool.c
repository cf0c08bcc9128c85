/* test_host_pool.c - the thread pool: every workgroup of every grid once, whatever the threads,
 * with the default rounding mode. */
#include "test/test.h"

#include <fenv.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/host/host_pool.h"

enum { CELLS = 10007 };

typedef struct tally {
    atomic_uchar seen[CELLS];
    atomic_int wrong_rounding, misaligned;
} tally;

/* Work of one grid; its phase finds `context` in the first buffer. */
static bool run(host_pool *pool, tsr_phase_fn phase, void *context, int64_t workgroups,
                size_t scratch, bool guarded, status *st) {
    const tsr_kernel_frame frame = {.buffers = &context};
    const host_pool_work work = {&phase, &workgroups, 1, &frame, scratch, guarded, NULL, NULL};
    return host_pool_run(pool, &work, st);
}

static void count_workgroups(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    tally *t = frame->buffers[0];
    memset(frame->scratch, 1, 5000);
    if (fegetround() != FE_TONEAREST)
        atomic_fetch_add(&t->wrong_rounding, 1);
    if ((uintptr_t)frame->scratch % 64 != 0)
        atomic_fetch_add(&t->misaligned, 1);
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&t->seen[i], 1);
}

static void expect_each_once(tally *t, int64_t workgroups) {
    for (int64_t i = 0; i < CELLS; i++)
        assert_int_equal(atomic_load(&t->seen[i]), i < workgroups);
    assert_int_equal(t->wrong_rounding, 0);
    assert_int_equal(t->misaligned, 0);
}

static void every_workgroup_runs_once(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 64, 1000, CELLS};
    for (uint32_t threads = 1; threads <= 9; threads += 2) {
        host_pool *pool = host_pool_new(threads, NULL);
        assert_int_equal(host_pool_threads(pool), threads);
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            tally *t = calloc(1, sizeof *t);
            fesetround(FE_UPWARD);
            assert_true(run(pool, count_workgroups, t, sizes[i], 5000, false, NULL));
            assert_int_equal(fegetround(), FE_UPWARD);
            fesetround(FE_TONEAREST);
            expect_each_once(t, sizes[i]);
            free(t);
        }
        host_pool_free(pool);
    }
}

/* Raises flags that stay the kernel's: the caller's environment comes back whole. */
static void raise_flags(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    (void)frame, (void)begin, (void)end;
    feraiseexcept(FE_DIVBYZERO | FE_INEXACT);
}

static void the_callers_environment_comes_back(void **state) {
    (void)state;
    host_pool *pool = host_pool_new(1, NULL);
    feclearexcept(FE_ALL_EXCEPT);
    assert_true(run(pool, raise_flags, NULL, 1, 0, false, NULL));
    assert_int_equal(fetestexcept(FE_DIVBYZERO), 0);
    host_pool_free(pool);
}

static void change_rounding(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    (void)frame, (void)begin, (void)end;
    fesetround(FE_UPWARD);
}

static void a_workgroup_that_changes_the_environment_is_told(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        host_pool *pool = host_pool_new(threads, NULL);
        status st = STATUS_INIT;
        assert_false(run(pool, change_rounding, NULL, 5, 0, false, &st));
        assert_int_equal(st.code, STATUS_INTERNAL);
        assert_int_equal(fegetround(), FE_TONEAREST);
        tally *t = calloc(1, sizeof *t);
        assert_true(run(pool, count_workgroups, t, 100, 5000, false, NULL)); /* told once */
        expect_each_once(t, 100);
        free(t);
        host_pool_free(pool);
    }
}

static void add(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    atomic_fetch_add((_Atomic int64_t *)frame->buffers[0], end - begin);
}

/* Pauses between launches let workers fall asleep, or catch them just while they do. */
static void workers_wake_whenever_they_are_needed(void **state) {
    (void)state;
    host_pool *pool = host_pool_new(4, NULL);
    _Atomic int64_t sum = 0;
    for (int i = 0; i < 3000; i++) {
        assert_true(run(pool, add, &sum, 5, 0, false, NULL));
        assert_int_equal(sum, 5 * (i + 1));
        if (i % 100 == 0) {
            struct timespec pause = {0, (i % 7) * 20000};
            nanosleep(&pause, NULL);
        }
    }
    host_pool_free(pool);
}

/* Every workgroup of a grid sees that all of the grid before it ran. */
enum { GRID = 1000 };

static void first_grid(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    atomic_fetch_add((_Atomic int64_t *)frame->buffers[0], end - begin);
}

static void second_grid(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    bool whole = *(_Atomic int64_t *)frame->buffers[0] == GRID;
    atomic_fetch_add((_Atomic int64_t *)frame->buffers[1], whole ? end - begin : 0);
}

static void grids_run_one_after_the_other(void **state) {
    (void)state;
    static const tsr_phase_fn phases[] = {first_grid, second_grid};
    static const int64_t workgroups[] = {GRID, GRID / 2};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        host_pool *pool = host_pool_new(threads, NULL);
        for (int i = 0; i < 200; i++) {
            _Atomic int64_t first = 0, second = 0;
            void *buffers[] = {&first, &second};
            device_times times = {0};
            const tsr_kernel_frame frame = {.buffers = buffers};
            const host_pool_work work = {phases, workgroups,        2,   &frame, 0,
                                         false,  i ? NULL : &times, NULL};
            assert_true(host_pool_run(pool, &work, NULL));
            assert_int_equal(second, GRID / 2);
            assert_true(i || (times.phase_ns[0] > 0 && times.phase_ns[1] > 0));
        }
        host_pool_free(pool);
    }
}

/* Each of two workgroups waits for the other: they run at once, or never end. */
static void meet(void *const *buffers, int own) {
    atomic_store((atomic_int *)buffers[own], 1);
    while (!atomic_load((atomic_int *)buffers[1 - own]))
        sched_yield();
}

static void left_side(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    assert_true(begin == 0 && end == 1);
    meet(frame->buffers, 0);
}

static void right_side(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    assert_true(begin == 0 && end == 1);
    meet(frame->buffers, 1);
}

static void phases_run_beside_each_other(void **state) {
    (void)state;
    static const tsr_phase_fn phases[] = {left_side, right_side};
    static const int64_t workgroups[] = {1, 1};
    static const bool concurrent[] = {false, true};
    host_pool *pool = host_pool_new(2, NULL);
    for (int i = 0; i < 200; i++) {
        atomic_int here = 0, there = 0;
        void *buffers[] = {&here, &there};
        const tsr_kernel_frame frame = {.buffers = buffers};
        const host_pool_work work = {phases, workgroups, 2, &frame, 0, i % 2, NULL, concurrent};
        assert_true(host_pool_run(pool, &work, NULL));
    }
    host_pool_free(pool);
}

/* Parts of two grids, whose borders no claim knows. */
static void count_second(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    const tsr_kernel_frame second = {.buffers = frame->buffers + 1, .scratch = frame->scratch};
    count_workgroups(&second, begin, end);
}

static void every_workgroup_of_phases_beside_each_other_runs_once(void **state) {
    (void)state;
    static const tsr_phase_fn phases[] = {count_workgroups, count_second, count_workgroups};
    static const bool concurrent[] = {false, true, false};
    static const int64_t rows[][3] = {{0, 7, 0}, {7, 0, 0}, {1, 1000, 0}, {CELLS, 63, 0}};
    for (uint32_t threads = 1; threads <= 3; threads++)
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            host_pool *pool = host_pool_new(threads, NULL);
            tally *t[] = {calloc(1, sizeof **t), calloc(1, sizeof **t)};
            const tsr_kernel_frame frame = {.buffers = (void **)t};
            const host_pool_work work = {phases, rows[i], 3, &frame, 5000, false, NULL, concurrent};
            assert_true(host_pool_run(pool, &work, NULL));
            for (int k = 0; k < 2; k++) {
                expect_each_once(t[k], rows[i][k]);
                free(t[k]);
            }
            host_pool_free(pool);
        }
}

static void scratch_that_cannot_be_had_is_a_failure(void **state) {
    (void)state;
    host_pool *pool = host_pool_new(2, NULL);
    _Atomic int64_t sum = 0;
    status st = STATUS_INIT;
    assert_false(run(pool, add, &sum, 5, (size_t)1 << 62, false, &st));
    assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
    assert_int_equal(sum, 0);
    assert_true(run(pool, add, &sum, 5, 64, false, &st));
    assert_int_equal(sum, 5);
    host_pool_free(pool);
}

static void write_scratch(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    for (int i = 0; i < 100; i++)
        if (frame->scratch[i] != 0xCB)
            return; /* the test sees that this call did not write */
    frame->scratch[*(int *)frame->buffers[0]] = 0;
}

static void guarded_scratch_is_poisoned_and_checked(void **state) {
    (void)state;
    static const struct {
        int at;
        bool sound;
        const char *words;
    } writes[] = {{0, true, ""}, {99, true, ""}, {100, false, "after"}, {-1, false, "before"}};
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        host_pool *pool = host_pool_new(threads, NULL);
        for (size_t i = 0; i < COUNT_OF(writes); i++) {
            int at = writes[i].at;
            status st = STATUS_INIT;
            assert_int_equal(run(pool, write_scratch, &at, 20, 100, true, &st), writes[i].sound);
            assert_non_null(strstr(st.message, writes[i].words));
        }
        host_pool_free(pool);
    }
}

typedef struct cancel_state {
    host_pool *pool;
    _Atomic int64_t workgroups;
} cancel_state;

static void cancel_in_a_workgroup(const tsr_kernel_frame *frame, int64_t begin, int64_t end) {
    cancel_state *c = frame->buffers[0];
    atomic_fetch_add(&c->workgroups, end - begin);
    host_pool_cancel(c->pool);
}

static void a_cancelled_pool_hands_out_no_more_workgroups(void **state) {
    (void)state;
    status st = STATUS_INIT;
    cancel_state c = {host_pool_new(2, NULL), 0};
    assert_false(run(c.pool, cancel_in_a_workgroup, &c, 100000, 0, false, &st));
    assert_int_equal(st.code, STATUS_TIMEOUT);
    assert_true(c.workgroups > 0 && c.workgroups < 100000);
    c.workgroups = 0;
    assert_false(run(c.pool, cancel_in_a_workgroup, &c, 100000, 0, false, NULL));
    assert_int_equal(c.workgroups, 0);
    host_pool_free(c.pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workgroup_runs_once),
        cmocka_unit_test(the_callers_environment_comes_back),
        cmocka_unit_test(a_workgroup_that_changes_the_environment_is_told),
        cmocka_unit_test(workers_wake_whenever_they_are_needed),
        cmocka_unit_test(grids_run_one_after_the_other),
        cmocka_unit_test(phases_run_beside_each_other),
        cmocka_unit_test(every_workgroup_of_phases_beside_each_other_runs_once),
        cmocka_unit_test(scratch_that_cannot_be_had_is_a_failure),
        cmocka_unit_test(guarded_scratch_is_poisoned_and_checked),
        cmocka_unit_test(a_cancelled_pool_hands_out_no_more_workgroups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
