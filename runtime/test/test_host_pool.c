/* test_host_pool.c - the thread pool: every cell once, whatever the threads, with the default
 * rounding mode. */
#include "test/test.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/host_pool.h"

enum { CELLS = 10007 };

typedef struct tally {
    atomic_uchar seen[CELLS];
    atomic_int wrong_rounding, misaligned;
} tally;

static void count_cells(void *context, unsigned char *scratch, int64_t begin, int64_t end) {
    tally *t = context;
    memset(scratch, 1, 5000);
    if (fegetround() != FE_TONEAREST)
        atomic_fetch_add(&t->wrong_rounding, 1);
    if ((uintptr_t)scratch % 64 != 0)
        atomic_fetch_add(&t->misaligned, 1);
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&t->seen[i], 1);
}

static void expect_each_once(tally *t, int64_t cells) {
    for (int64_t i = 0; i < CELLS; i++)
        assert_int_equal(atomic_load(&t->seen[i]), i < cells);
    assert_int_equal(t->wrong_rounding, 0);
    assert_int_equal(t->misaligned, 0);
}

static void every_cell_runs_once(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 64, 1000, CELLS};
    for (uint32_t threads = 1; threads <= 9; threads += 2) {
        host_pool *pool = host_pool_new(threads, NULL);
        assert_int_equal(host_pool_threads(pool), threads);
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            tally *t = calloc(1, sizeof *t);
            host_pool_grid grid = {count_cells, t, sizes[i], 5000, false};
            fesetround(FE_UPWARD);
            assert_true(host_pool_run(pool, &grid, NULL));
            assert_int_equal(fegetround(), FE_UPWARD);
            fesetround(FE_TONEAREST);
            expect_each_once(t, sizes[i]);
            free(t);
        }
        host_pool_free(pool);
    }
}

static void add(void *context, unsigned char *scratch, int64_t begin, int64_t end) {
    (void)scratch;
    atomic_fetch_add((_Atomic int64_t *)context, end - begin);
}

/* Pauses between launches let workers fall asleep, or catch them just while they do. */
static void workers_wake_whenever_they_are_needed(void **state) {
    (void)state;
    host_pool *pool = host_pool_new(4, NULL);
    _Atomic int64_t sum = 0;
    for (int i = 0; i < 3000; i++) {
        host_pool_grid grid = {add, &sum, 5, 0, false};
        assert_true(host_pool_run(pool, &grid, NULL));
        assert_int_equal(sum, 5 * (i + 1));
        if (i % 100 == 0) {
            struct timespec pause = {0, (i % 7) * 20000};
            nanosleep(&pause, NULL);
        }
    }
    host_pool_free(pool);
}

typedef struct caller {
    host_pool *pool;
    _Atomic int64_t sum;
} caller;

static void *call_often(void *argument) {
    caller *c = argument;
    for (int i = 0; i < 500; i++) {
        host_pool_grid grid = {add, &c->sum, 11, 64, false};
        host_pool_run(c->pool, &grid, NULL);
    }
    return NULL;
}

static void several_threads_share_a_pool(void **state) {
    (void)state;
    caller c = {host_pool_new(3, NULL), 0};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &c), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(c.sum, 3 * 500 * 11);
    host_pool_free(c.pool);
}

static void scratch_that_cannot_be_had_is_a_failure(void **state) {
    (void)state;
    host_pool *pool = host_pool_new(2, NULL);
    _Atomic int64_t sum = 0;
    status st = STATUS_INIT;
    host_pool_grid grid = {add, &sum, 5, (size_t)1 << 62, false};
    assert_false(host_pool_run(pool, &grid, &st));
    assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
    assert_int_equal(sum, 0);
    grid.scratch_bytes = 64;
    assert_true(host_pool_run(pool, &grid, NULL));
    assert_int_equal(sum, 5);
    host_pool_free(pool);
}

static void write_scratch(void *context, unsigned char *scratch, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    for (int i = 0; i < 100; i++)
        if (scratch[i] != 0xCB)
            return; /* the test sees that this call did not write */
    scratch[*(int *)context] = 0;
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
            host_pool_grid grid = {write_scratch, &at, 20, 100, true};
            assert_int_equal(host_pool_run(pool, &grid, &st), writes[i].sound);
            assert_non_null(strstr(st.message, writes[i].words));
        }
        host_pool_free(pool);
    }
}

typedef struct cancelling {
    host_pool *pool;
    _Atomic int64_t cells;
} cancelling;

static void cancel_in_a_cell(void *context, unsigned char *scratch, int64_t begin, int64_t end) {
    cancelling *c = context;
    (void)scratch;
    atomic_fetch_add(&c->cells, end - begin);
    host_pool_cancel(c->pool);
}

static void a_cancelled_pool_hands_out_no_more_cells(void **state) {
    (void)state;
    status st = STATUS_INIT;
    cancelling c = {host_pool_new(2, NULL), 0};
    host_pool_grid grid = {cancel_in_a_cell, &c, 100000, 0, false};
    assert_false(host_pool_run(c.pool, &grid, &st));
    assert_int_equal(st.code, STATUS_TIMEOUT);
    assert_true(c.cells > 0 && c.cells < 100000);
    c.cells = 0;
    assert_false(host_pool_run(c.pool, &grid, NULL));
    assert_int_equal(c.cells, 0);
    host_pool_free(c.pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_runs_once),
        cmocka_unit_test(workers_wake_whenever_they_are_needed),
        cmocka_unit_test(several_threads_share_a_pool),
        cmocka_unit_test(scratch_that_cannot_be_had_is_a_failure),
        cmocka_unit_test(guarded_scratch_is_poisoned_and_checked),
        cmocka_unit_test(a_cancelled_pool_hands_out_no_more_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
