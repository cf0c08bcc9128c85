/* test_store.c - the database: writing and reading back, an older and a newer one, damage, and a
 * full disk. */
#include "harness/test/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "store/store.h"

static char directory[64];
static char path[96];

static int set_up(void **state) {
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/tsr-store-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/a/results.db", directory);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static int64_t begin(store *s, const char *id) {
    store_run run = {.id = id,
                     .started = "2026-01-01T00:00:00Z",
                     .arguments = "a",
                     .machine = "m",
                     .head = "{}"};
    status st = STATUS_INIT;
    int64_t number = 0;
    assert_true(store_begin_run(s, &run, &number, &st));
    return number;
}

static bool put(store *s, int64_t run, const char *key, const char *outcome, double median_ns,
                status *st) {
    double samples[] = {1, 2, 3};
    store_result result = {key, outcome, median_ns, "{\"x\":1}", samples, 3};
    return store_put_result(s, run, &result, st);
}

static bool count_one(void *context, const store_result *result) {
    assert_string_equal(result->record, "{\"x\":1}");
    ++*(int *)context;
    return true;
}

static void records_come_back(void **state) {
    (void)state;
    status st = STATUS_INIT;
    store *s = store_open(path, &st);
    assert_non_null(s);
    int64_t first = begin(s, "one"), found;
    assert_true(put(s, first, "k/c@cpu,strict,1", "ok", 100, &st));
    assert_true(put(s, first, "k/d@cpu,strict,1", "crash", -1, &st));
    store_close(s);
    s = store_open_existing(path, &st);
    int count = 0;
    assert_true(store_each_result(s, first, count_one, &count, &st));
    assert_int_equal(count, 2);
    assert_true(store_find_unfinished(s, "a", "m", &found, &st));
    assert_int_equal(found, first);
    assert_true(store_finish_run(s, first, 1, &st));
    assert_true(store_find_unfinished(s, "a", "m", &found, &st));
    assert_int_equal(found, 0);
    store_close(s);
}

static void the_last_comparable_result_is_found(void **state) {
    (void)state;
    status st = STATUS_INIT;
    double median;
    store *s = store_open(path, &st);
    assert_true(put(s, begin(s, "one"), "k", "ok", 100, &st));
    assert_true(put(s, begin(s, "two"), "k", "mismatch", 50, &st));
    int64_t third = begin(s, "three");
    store_peer peer = {third, "m", "k", -1, -1};
    assert_true(store_last_median(s, &peer, &median, &st));
    assert_true(median > 99 && median < 101);
    peer.machine = "another machine";
    assert_true(store_last_median(s, &peer, &median, &st));
    assert_true(median < 0);
    store_close(s);
}

static void other_work_is_not_compared(void **state) {
    (void)state;
    status st = STATUS_INIT;
    double median, samples[] = {1};
    store *s = store_open(path, &st);
    store_result small = {"k", "ok", 10, "{\"flops\":100,\"bytes\":8}", samples, 1};
    store_result large = {"k", "ok", 900, "{\"flops\":9000,\"bytes\":720}", samples, 1};
    assert_true(store_put_result(s, begin(s, "one"), &small, &st));
    assert_true(store_put_result(s, begin(s, "two"), &large, &st));
    store_peer peer = {begin(s, "three"), "m", "k", 100, 8};
    assert_true(store_last_median(s, &peer, &median, &st));
    assert_true(median > 9 && median < 11);
    peer.bytes = 720;
    assert_true(store_last_median(s, &peer, &median, &st));
    assert_true(median < 0);
    store_close(s);
}

static void runs_are_found_by_prefix(void **state) {
    (void)state;
    status st = STATUS_INIT;
    int64_t found;
    store *s = store_open(path, &st);
    begin(s, "2026-aa");
    int64_t second = begin(s, "2026-ab");
    assert_true(store_find_run(s, "2026-ab", &found, &st));
    assert_int_equal(found, second);
    assert_true(store_find_run(s, "last", &found, &st));
    assert_int_equal(found, second);
    assert_false(store_find_run(s, "2026", &found, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    st = (status)STATUS_INIT;
    assert_false(store_find_run(s, "%", &found, &st));
    assert_int_equal(st.code, STATUS_NOT_FOUND);
    store_close(s);
}

static void pruning_keeps_the_newest(void **state) {
    (void)state;
    status st = STATUS_INIT;
    store_pruned deleted = {0};
    int64_t found;
    store *s = store_open(path, &st);
    assert_true(put(s, begin(s, "one"), "k", "ok", 1, &st));
    assert_true(put(s, begin(s, "two"), "k", "ok", 1, &st));
    assert_true(store_prune(s, 1, true, &deleted, &st));
    assert_int_equal(deleted.runs, 1);
    assert_int_equal(deleted.gates, 0);
    assert_true(store_find_run(s, "two", &found, &st));
    assert_false(store_find_run(s, "one", &found, &st));
    store_close(s);
}

static bool put_gate(store *s, const char *id, int exit_code, status *st) {
    store_gate gate = {.id = id,
                       .started = "2026-01-01T00:00:00Z",
                       .exit_code = exit_code,
                       .document = "{\"schema\":\"tsr.gate/1\"}"};
    return store_put_gate(s, &gate, st);
}

static bool spell_gate(void *context, const store_gate *gate) {
    assert_string_equal(gate->document, "{\"schema\":\"tsr.gate/1\"}");
    assert_null(gate->machine);
    text_printf(context, "%s:%d ", gate->id, gate->exit_code);
    return strcmp(gate->id, "stop") != 0;
}

static void expect_gates(store *s, const char *wanted) {
    status st = STATUS_INIT;
    text seen;
    text_init(&seen);
    assert_true(store_each_gate(s, spell_gate, &seen, &st));
    assert_string_equal(seen.data, wanted);
    text_release(&seen);
}

static void gates_come_back_newest_first(void **state) {
    (void)state;
    status st = STATUS_INIT;
    store *s = store_open(path, &st);
    expect_gates(s, "");
    assert_true(put_gate(s, "one", 0, &st) && put_gate(s, "stop", 5, &st) &&
                put_gate(s, "two", 1, &st));
    expect_gates(s, "two:1 stop:5 ");
    assert_false(put_gate(s, "one", 0, &st));
    assert_non_null(strstr(st.message, "storing a gate"));
    store_pruned deleted = {0};
    assert_true(store_prune(s, 1, false, &deleted, &st));
    assert_int_equal(deleted.gates, 2);
    expect_gates(s, "two:1 ");
    store_close(s);
}

static void of_gates_the_newest_1000_are_kept(void **state) {
    (void)state;
    status st = STATUS_INIT;
    store_pruned deleted = {0};
    store *s = store_open(path, &st);
    for (int i = 0; i < 1002; i++) {
        char id[16];
        snprintf(id, sizeof id, "g%d", i);
        assert_true(put_gate(s, id, 0, &st));
    }
    assert_true(store_prune(s, 0, false, &deleted, &st));
    assert_int_equal(deleted.gates, 1000);
    store_close(s);
}

static void sql(const char *words) {
    char command[512];
    snprintf(command, sizeof command,
             "python3 -c 'import sqlite3; c = sqlite3.connect(\"%s\"); c.executescript(\"%s\")'",
             path, words);
    assert_int_equal(system(command), 0);
}

static void an_older_database_is_migrated(void **state) {
    (void)state;
    status st = STATUS_INIT;
    store_close(store_open(path, &st));
    sql("DROP TABLE gates; DROP INDEX results_by_key; PRAGMA user_version=1");
    store *s = store_open(path, &st);
    assert_non_null(s);
    assert_true(put(s, begin(s, "one"), "k", "ok", 1, &st));
    assert_true(put_gate(s, "one", 0, &st));
    store_close(s);
    sql("DROP INDEX results_by_key");
}

static void a_newer_database_is_refused(void **state) {
    (void)state;
    status st = STATUS_INIT;
    store_close(store_open(path, &st));
    sql("PRAGMA user_version=99");
    assert_null(store_open(path, &st));
    assert_int_equal(st.code, STATUS_CORRUPT);
    assert_non_null(strstr(st.message, "newer tsr"));
}

static void what_is_no_database_is_refused(void **state) {
    (void)state;
    status st = STATUS_INIT;
    snprintf(path, sizeof path, "%s/not.db", directory);
    char rubbish[4096];
    memset(rubbish, 'x', sizeof rubbish);
    assert_true(file_write_atomic(path, rubbish, sizeof rubbish, &st));
    assert_null(store_open(path, &st));
    assert_int_equal(st.code, STATUS_CORRUPT);
}

/* A limit on file size stands in for the end of the disk. */
static void a_full_disk_loses_nothing(void **state) {
    (void)state;
    status st = STATUS_INIT;
    struct rlimit old, tight;
    signal(SIGXFSZ, SIG_IGN);
    store *s = store_open(path, &st);
    int64_t run = begin(s, "one");
    assert_true(put(s, run, "before", "ok", 1, &st));
    getrlimit(RLIMIT_FSIZE, &old);
    tight = (struct rlimit){256 << 10, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    int stored = 0;
    char key[32];
    while (stored < 100000) {
        snprintf(key, sizeof key, "key%d", stored);
        if (!put(s, run, key, "ok", 1, &st))
            break;
        stored++;
    }
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
    assert_non_null(strstr(st.message, "no room"));
    store_close(s);
    st = (status)STATUS_INIT;
    s = store_open(path, &st);
    assert_non_null(s);
    int count = 0;
    assert_true(store_each_result(s, run, count_one, &count, &st));
    assert_int_equal(count, stored + 1);
    store_close(s);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void a_run_has_one_process(void **state) {
    (void)state;
    status st = STATUS_INIT;
    int64_t found;
    store_pruned deleted;
    char own[128];
    snprintf(own, sizeof own, "%s/claims.db", directory);
    store *first = store_open(own, &st), *second = store_open(own, &st);
    assert_non_null(first);
    assert_non_null(second);
    int64_t run = begin(first, "one");
    assert_false(store_resume_run(second, "a", "m", &found, &st));
    assert_int_equal(st.code, STATUS_UNAVAILABLE);
    st = (status)STATUS_INIT;
    assert_true(store_resume_run(second, "b", "m", &found, &st));
    assert_int_equal(found, 0);
    assert_true(store_prune(second, 0, false, &deleted, &st));
    assert_int_equal(deleted.runs, 0);
    store_close(first);
    assert_true(store_resume_run(second, "a", "m", &found, &st));
    assert_int_equal(found, run);
    first = store_open(own, &st);
    assert_false(store_resume_run(first, "a", "m", &found, &st));
    st = (status)STATUS_INIT;
    assert_true(store_finish_run(second, run, 0, &st));
    assert_true(store_prune(first, 0, false, &deleted, &st));
    assert_int_equal(deleted.runs, 1);
    store_close(first);
    store_close(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_run_has_one_process),
        STORE_TEST(records_come_back),
        STORE_TEST(the_last_comparable_result_is_found),
        STORE_TEST(other_work_is_not_compared),
        STORE_TEST(runs_are_found_by_prefix),
        STORE_TEST(gates_come_back_newest_first),
        STORE_TEST(of_gates_the_newest_1000_are_kept),
        STORE_TEST(pruning_keeps_the_newest),
        STORE_TEST(an_older_database_is_migrated),
        STORE_TEST(a_newer_database_is_refused),
        STORE_TEST(what_is_no_database_is_refused),
        STORE_TEST(a_full_disk_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
