/* test_failures.c - the folder of packs keeps the newest, by number and by bytes, and touches
 * nothing else. */
#include "harness/test/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "run/failures.h"

#define PACK "k-only-0123456789a%c.repro.tar.lz4"

static char folder[] = "/tmp/tsr-failures-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static void path_of(const char *name, char out[200]) {
    snprintf(out, 200, "%s/%s", folder, name);
}

/* A file of some bytes that was last changed `age` seconds after 1970. */
static void put(const char *name, size_t bytes, int age) {
    char path[200], content[64] = {0};
    status st = STATUS_INIT;
    struct timespec times[2] = {{age, 0}, {age, 0}};
    path_of(name, path);
    assert_true(bytes <= sizeof content);
    assert_true(file_write_atomic(path, content, bytes, &st));
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void put_pack(char letter, size_t bytes, int age) {
    char name[64];
    snprintf(name, sizeof name, PACK, letter);
    put(name, bytes, age);
}

static bool is_there(const char *name) {
    char path[200];
    path_of(name, path);
    return file_exists(path);
}

/* The letters of the packs that are there, of "abcdef". */
static const char *packs(void) {
    static char letters[8];
    size_t n = 0;
    for (const char *at = "abcdef"; *at; at++) {
        char name[64];
        snprintf(name, sizeof name, PACK, *at);
        if (is_there(name))
            letters[n++] = *at;
    }
    letters[n] = '\0';
    return letters;
}

static void trim(const char *name, uint32_t kept, uint64_t kept_bytes) {
    char path[200];
    path_of(name, path);
    failures_trim(folder, path, kept, kept_bytes);
}

static int remove_folder(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void test_names(void **state) {
    (void)state;
    assert_true(failures_is_pack("softmax_rows-prime-0c1d5e6f7a8b.repro.tar.lz4"));
    assert_false(failures_is_pack("softmax_rows-prime.repro.tar.lz4"));
    assert_false(failures_is_pack("softmax_rows-prime-0c1d5e6f7a8g.repro.tar.lz4"));
    assert_false(failures_is_pack("softmax_rows-prime-0c1d5e6f7a8b.repro.tar.lz4.old"));
    assert_false(failures_is_pack(".repro.tar.lz4"));
    assert_true(failures_is_source("fuzz-1-20.tsr"));
    assert_false(failures_is_source("fuzz-1-20-mine.tsr"));
    assert_false(failures_is_source("fuzz--20.tsr"));
    assert_false(failures_is_source("fuzz-1-.tsr"));
    assert_false(failures_is_source("softmax.tsr"));
}

static void test_number(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++)
        put_pack((char)('a' + i), 10, 100 + i);
    put("k-only-0123456789ac.repro.tar.lz4.intoto.json", 10, 1);
    put("k-only-0123456789ae.repro.tar.lz4.intoto.json", 10, 1);
    put("fuzz-1-1.tsr", 10, 1);
    put("fuzz-1-2.tsr", 10, 2);
    put("mine.tsr", 10, 1);
    put("notes-0123456789ab.txt", 10, 1);
    /* b was found again: it is the newest now. */
    trim("k-only-0123456789ab.repro.tar.lz4", 3, 1000);
    assert_string_equal(packs(), "bef");
    /* A signature goes with its pack. */
    assert_false(is_there("k-only-0123456789ac.repro.tar.lz4.intoto.json"));
    assert_true(is_there("k-only-0123456789ae.repro.tar.lz4.intoto.json"));
    assert_true(is_there("fuzz-1-1.tsr"));
    trim("fuzz-1-1.tsr", 1, 1000);
    assert_true(is_there("fuzz-1-1.tsr"));
    assert_false(is_there("fuzz-1-2.tsr"));
    assert_string_equal(packs(), "b");
    assert_true(is_there("mine.tsr"));
    assert_true(is_there("notes-0123456789ab.txt"));
}

static void test_bytes(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++)
        put_pack((char)('a' + i), 60, 100 + i);
    trim("k-only-0123456789af.repro.tar.lz4", 100, 200);
    assert_string_equal(packs(), "def");
    /* A pack that was just written stays, however large. */
    trim("k-only-0123456789ad.repro.tar.lz4", 100, 10);
    assert_string_equal(packs(), "d");
}

/* A link in the folder is no pack, wherever it leads. */
static void test_link(void **state) {
    (void)state;
    char link[200], target[200];
    put("mine", 10, 1);
    path_of("k-only-0123456789aa.repro.tar.lz4", link);
    path_of("mine", target);
    assert_int_equal(symlink(target, link), 0);
    put_pack('b', 10, 100);
    trim("k-only-0123456789ab.repro.tar.lz4", 1, 1000);
    assert_string_equal(packs(), "ab");
}

static bool is_c(void *context, const char *name) {
    (void)context;
    return strcmp(name, "k-only-0123456789ac.repro.tar.lz4") == 0;
}

static void test_prune(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++)
        put_pack((char)('a' + i), 10, 100 + i);
    put("fuzz-1-1.tsr", 10, 1);
    assert_int_equal(failures_prune(folder, is_c, NULL), 5);
    assert_string_equal(packs(), "c");
    assert_true(is_there("fuzz-1-1.tsr"));
    assert_int_equal(failures_prune("/dev/null/absent", is_c, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test_setup_teardown(test_number, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_bytes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_link, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_prune, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
