/* test_store_speed.c - every result is in the database when store_put_result returns: another
 * reader finds it. What that costs is shown, not judged: with something to do between two records,
 * as `tsr bench` has, and back to back, where a record waits for the disk to have the one before;
 * beside what the disk takes by itself. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/timer.h"
#include "store/store.h"

enum {
    RECORDS = 200,
    LOOKED_AT = 20,
    SAMPLES = 51,
    RECORD_BYTES = 2200,
    PAGE_BYTES = 4096,
    PAGES = 3
};

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct spread {
    double median_us, p90_us;
} spread;

static spread spread_of(double *us, size_t count) {
    qsort(us, count, sizeof *us, ascending);
    return (spread){us[count / 2], us[count * 9 / 10]};
}

typedef struct counted {
    const char *key;
    size_t results;
    bool found;
} counted;

static bool count_result(void *context, const char *key, const double *ns, size_t count) {
    counted *c = context;
    c->results++;
    c->found |= strcmp(key, c->key) == 0 && count == SAMPLES && (int)ns[0] == 1000;
    return true;
}

typedef struct record_state {
    store *store;
    const char *path;
    int64_t run;
    size_t records;
} record_state;

/* Another reader, which knows nothing of the writer but the file. */
static void expect_there(const record_state *r, const char *key) {
    status st = STATUS_INIT;
    counted c = {.key = key};
    store *reader = store_open_existing(r->path, &st);
    if (!reader || !store_each_samples(reader, r->run, count_result, &c, &st))
        fail_msg("%s", st.message);
    store_close(reader);
    assert_true(c.found);
    assert_int_equal(c.results, r->records);
}

static spread time_records(record_state *to, unsigned pause_us, status *st) {
    static double us[RECORDS];
    static char record[RECORD_BYTES];
    double samples[SAMPLES];
    char key[64];
    memset(record, 'x', sizeof record - 1);
    memcpy(record, "{\"a\":\"", 6);
    memcpy(record + sizeof record - 3, "\"}", 2);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = 1000.5 + i;
    for (int i = 0; i < RECORDS; i++) {
        snprintf(key, sizeof key, "kernel_%d/case@cpu,strict,%u", i, pause_us);
        store_result r = {key, "ok", 1000.5, record, samples, SAMPLES};
        uint64_t start = timer_now_ns();
        assert_true(store_put_result(to->store, to->run, &r, st));
        us[i] = (double)(timer_now_ns() - start) * 1e-3;
        to->records++;
        if (i % LOOKED_AT == 0)
            expect_there(to, key);
        if (pause_us)
            usleep(pause_us);
    }
    return spread_of(us, RECORDS);
}

/* Some pages and fdatasync, again and again. */
static spread time_disk(const char *path) {
    static double us[RECORDS];
    static char pages[PAGES * PAGE_BYTES];
    int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    for (int i = 0; i < RECORDS; i++) {
        uint64_t start = timer_now_ns();
        assert_int_equal(pwrite(fd, pages, sizeof pages, (off_t)i * (off_t)sizeof pages),
                         sizeof pages);
        assert_int_equal(fdatasync(fd), 0);
        us[i] = (double)(timer_now_ns() - start) * 1e-3;
    }
    close(fd);
    return spread_of(us, RECORDS);
}

static void test_recording(void **state) {
    char folder[] = "/tmp/tsr-store-XXXXXX", path[64], file[64];
    status st = STATUS_INIT;
    record_state to = {.path = path};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/results.db", folder);
    snprintf(file, sizeof file, "%s/pages", folder);
    to.store = store_open(path, &st);
    if (!to.store)
        fail_msg("%s", st.message);
    store_run begun = {.id = "r",
                       .started = "2026-01-01T00:00:00Z",
                       .arguments = "{}",
                       .machine = "m",
                       .head = "{}"};
    assert_true(store_begin_run(to.store, &begun, &to.run, &st));
    spread paced = time_records(&to, 2000, &st), packed = time_records(&to, 0, &st);
    spread disk = time_disk(file);
    store_close(to.store);
    print_message("a record of %d samples, a case between two: median %.0f us, 90 %% %.0f us\n"
                  "back to back: median %.0f us, 90 %% %.0f us; the disk alone: median %.0f us,"
                  " 90 %% %.0f us\n",
                  SAMPLES, paced.median_us, paced.p90_us, packed.median_us, packed.p90_us,
                  disk.median_us, disk.p90_us);
    char *command = NULL;
    assert_true(asprintf(&command, "rm -rf %s", folder) > 0);
    assert_int_equal(system(command), 0);
    free(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recording)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
