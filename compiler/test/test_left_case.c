/* test_left_case.c - what a program asked the compiler for stays on the disk where the compiler
 * dies of it, and nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "left_case.h"

static char folder[] = "/tmp/tsr-left-XXXXXX";
static const left_source source = {"k.tsr", "def it's: ...\n", 14, "it's", "prime"};

static int make_folder(void **state) {
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) && setenv("TESSERA_FAILURES", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[64];
    unsetenv("TESSERA_FAILURES");
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Counts the folders that there are; `name` receives the last one's. */
static int count(char name[128]) {
    int found = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            snprintf(name, 128, "%.127s", e->d_name);
            found++;
        }
    closedir(d);
    return found;
}

static void die_within(const tsr_compile_options_t *options) {
    int ended;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        static const struct rlimit none = {0, 0};
        left_case l;
        setrlimit(RLIMIT_CORE, &none);
        left_case_begin(&l, &source, options);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_true(WIFSIGNALED(ended));
}

/* A line of what the script runs, with a program in tsr's place. */
static void run_script(const char *name, char out[512]) {
    char command[256];
    snprintf(command, sizeof command, "TSR=echo sh %s/%s/pack.sh -o x.lz4", folder, name);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    assert_non_null(fgets(out, 512, pipe));
    assert_int_equal(pclose(pipe), 0);
}

static void what_died_stays(void **state) {
    (void)state;
    char name[128], line[512], expected[512], path[256], data[32] = "";
    const tsr_compile_options_t options = {
        .profile = "fast", .isa = "x86-64-v3", .threads = 3, .constants = "w,b", .generic = 1};
    die_within(&options);
    assert_int_equal(count(name), 1);
    assert_int_equal(strncmp(name, "compile-", 8), 0);
    snprintf(path, sizeof path, "%s/%s/source.tsr", folder, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(data, sizeof data, file));
    fclose(file);
    assert_string_equal(data, source.source);
    run_script(name, line);
    snprintf(expected, sizeof expected,
             "pack-repro it's %s --case prime --backend cpu --profile fast --isa x86-64-v3 "
             "--threads 3 --constant w,b --generic -o x.lz4\n",
             path);
    assert_string_equal(line, expected);
}

static void what_came_back_does_not(void **state) {
    (void)state;
    static const status_code ends[] = {STATUS_OK, STATUS_INVALID, STATUS_UNAVAILABLE};
    const tsr_compile_options_t options = {.dims = "M=3"};
    char name[128];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        left_case l;
        const status st = {.code = ends[i]};
        left_case_begin(&l, &source, &options);
        assert_int_equal(count(name), 1);
        left_case_end(&l, &st);
        assert_int_equal(count(name), 0);
    }
}

/* Its own failure has a name without the process, so the same one twice is one. */
static void own_failures_stay(void **state) {
    (void)state;
    static const status_code ends[] = {STATUS_INTERNAL, STATUS_OUT_OF_MEMORY};
    const tsr_compile_options_t options = {.dims = "M=3"};
    char name[128], line[512];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        left_case l;
        const status st = {.code = ends[i]};
        left_case_begin(&l, &source, &options);
        left_case_end(&l, &st);
    }
    assert_int_equal(count(name), 1);
    assert_null(strchr(name, '.'));
    run_script(name, line);
    assert_non_null(strstr(line, " --dims M=3 --backend cpu "));
}

static void nobody_asks_and_nothing_is_written(void **state) {
    (void)state;
    const tsr_compile_options_t options = {.dims = "M=3"};
    char name[128];
    unsetenv("TESSERA_FAILURES");
    die_within(&options);
    setenv("TESSERA_FAILURES", "", 1);
    die_within(&options);
    setenv("TESSERA_FAILURES", "/proc/nowhere", 1);
    die_within(&options);
    assert_int_equal(count(name), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_died_stays),
        TEST(what_came_back_does_not),
        TEST(own_failures_stay),
        TEST(nobody_asks_and_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
