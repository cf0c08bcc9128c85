/* test_github.c - annotations with hard characters, and summaries that keep to their limit. */
#include "harness/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "report/github.h"

static json_t *load(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "harness/test/export/%s.json", name);
    json_t *document = json_load_file(path, 0, NULL);
    assert_non_null(document);
    return document;
}

static bool has(const text *t, const char *words) {
    return strstr(t->data, words) != NULL;
}

static size_t lines(const text *t, const char *start) {
    size_t count = 0;
    for (const char *p = t->data; *p; p = strchr(p, '\n') + 1)
        count += strncmp(p, start, strlen(start)) == 0;
    return count;
}

static void annotations_are_escaped(void **state) {
    (void)state;
    json_t *document = load("bench"),
           *wrong = json_array_get(json_object_get(document, "results"), 1);
    text out;
    text_init(&out);
    setenv("GITHUB_WORKSPACE", "/home/runner/w", 1);
    json_object_set_new(wrong, "source",
                        json_pack("{s:s, s:i}", "path", "/home/runner/w/a,b:c%.tsr", "line", 12));
    github_annotations(document, &out);
    assert_true(has(&out, "::error file=a%2Cb%3Ac%25.tsr,line=12,title=k/wrong@cpu%2Cstrict%2C2%3A "
                          "mismatch::out[3, 4]: expected 1.5, got \"2\" <&> 50 %25\\r%0Asecond "
                          "line, with: a colon"));
    assert_true(has(&out, "%0Atsr replay .tsr/failures/k-wrong"));
    assert_true(has(&out, "::error title=k/impossible@cpu%2Cstrict%2C2%3A error::2.00 of"));
    assert_int_equal(lines(&out, "::"), 2);
    unsetenv("GITHUB_WORKSPACE");
    text_release(&out);
    json_decref(document);
}

static void a_gate_has_errors_and_warnings(void **state) {
    (void)state;
    json_t *document = load("gate");
    text out;
    text_init(&out);
    github_annotations(document, &out);
    assert_int_equal(lines(&out, "::error title=k/slow@"), 1);
    assert_true(
        has(&out, "::+2.00 %25 [+1.51, +2.49]; code bytes 100 -> 104, spills 0 -> 2%0A2.0 "));
    assert_int_equal(lines(&out, "::error title=l/gone@cpu%2Cstrict%2C2%3A FAILED::missing"), 1);
    assert_int_equal(lines(&out, "::warning title=l/noise@"), 1);
    assert_int_equal(lines(&out, "::"), 3);
    text_release(&out);
    json_decref(document);
}

static json_t *with_failures(size_t count) {
    json_t *document = load("bench"), *results = json_object_get(document, "results"),
           *wrong = json_array_get(results, 1);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(results, json_deep_copy(wrong));
    return document;
}

static void ten_annotations_are_the_most(void **state) {
    (void)state;
    json_t *document = with_failures(50);
    text out;
    text_init(&out);
    github_annotations(document, &out);
    assert_int_equal(lines(&out, "::"), 10);
    assert_true(has(&out, "::error title=tsr::43 more results"));
    text_release(&out);
    json_decref(document);
}

static void a_summary_shows_what_failed_first(void **state) {
    (void)state;
    json_t *document = load("gate");
    text out;
    text_init(&out);
    github_summary(document, 1 << 20, &out);
    assert_true(has(&out, "### tsr gate: 5 results, 3 need attention"));
    assert_true(has(&out, "Slowdowns of at least 3.00 % would have been seen"));
    assert_true(has(&out, "+2.00 % (+1.51 to +2.49)"));
    assert_true(has(&out, "&#60;&#38;&#62;"));
    assert_false(has(&out, "<&>"));
    assert_true(strstr(out.data, "k/slow") < strstr(out.data, "k/same"));
    text_release(&out);
    json_decref(document);
}

static void a_summary_keeps_to_its_limit(void **state) {
    (void)state;
    json_t *document = with_failures(3000);
    for (size_t limit = 0; limit < 200000; limit = limit * 3 + 100) {
        text out;
        text_init(&out);
        github_summary(document, limit, &out);
        assert_true(out.length <= limit);
        if (limit > 2000)
            assert_true(has(&out, "more rows were left out"));
        text_release(&out);
    }
    json_decref(document);
}

/* The file of a step may already hold something, and is never made longer than 1 MiB. */
static void the_file_is_appended_to(void **state) {
    (void)state;
    char path[] = "/tmp/tsr-summary-XXXXXX";
    char *data;
    size_t size;
    status st = STATUS_INIT;
    json_t *document = with_failures(5000);
    FILE *nowhere = fopen("/dev/null", "w");
    int file = mkstemp(path);
    assert_int_equal(write(file, "before\n", 7), 7);
    close(file);
    setenv("GITHUB_STEP_SUMMARY", path, 1);
    setenv("GITHUB_ACTIONS", "false", 1);
    assert_true(github_report(document, nowhere, &st));
    assert_true(file_read(path, 2 << 20, &data, &size, &st));
    assert_int_equal(size, 7);
    free(data);
    setenv("GITHUB_ACTIONS", "true", 1);
    for (int i = 0; i < 3; i++)
        assert_true(github_report(document, nowhere, &st));
    assert_true(file_read(path, 2 << 20, &data, &size, &st));
    assert_true(size > 500000 && size <= 1 << 20);
    assert_memory_equal(data, "before\n### tsr bench", 20);
    free(data);
    setenv("GITHUB_STEP_SUMMARY", "/nowhere/summary", 1);
    assert_false(github_report(document, nowhere, &st));
    assert_non_null(strstr(st.message, "/nowhere/summary"));
    unsetenv("GITHUB_ACTIONS");
    unsetenv("GITHUB_STEP_SUMMARY");
    unlink(path);
    fclose(nowhere);
    json_decref(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotations_are_escaped),
        cmocka_unit_test(a_gate_has_errors_and_warnings),
        cmocka_unit_test(ten_annotations_are_the_most),
        cmocka_unit_test(a_summary_shows_what_failed_first),
        cmocka_unit_test(a_summary_keeps_to_its_limit),
        cmocka_unit_test(the_file_is_appended_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
