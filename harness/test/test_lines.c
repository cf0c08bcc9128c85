/* test_lines.c - lines for a person: as wide as the terminal, and whole where there is none; how
 * two implementations compare. */
#include "harness/test/test.h"

#include <string.h>

#include "common/terminal.h"
#include "gate/document.h"
#include "job/result.h"
#include "report/beside.h"
#include "report/kernel_lines.h"
#include "report/progress.h"
#include "report/table.h"

static const char long_name[] = "softmax_of_columns_with_a_mask_and_a_scale_of_the_rows";

static size_t widest(const text *t) {
    size_t most = 0;
    for (const char *p = t->data; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        size_t length = strcspn(p, "\n");
        most = length > most ? length : most;
    }
    return most;
}

static void progress_fits(void **state) {
    (void)state;
    progress p = {.total = 189, .done = 92};
    for (int columns = 1; columns <= 200; columns += 3)
        for (int known = 0; known < 2; known++) {
            text line;
            text_init(&line);
            progress_line(&p, long_name, known ? 12345 : -1, columns, &line);
            assert_true(line.length <= (size_t)columns);
            if (columns >= 150)
                assert_non_null(strstr(line.data, long_name));
            text_release(&line);
        }
}

static void kernels_fit(int width, bool whole) {
    kernel_lines k = {.width = width};
    text out;
    text_init(&out);
    json_t *result =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:s}", "kernel", long_name, "case", "tiny", "backend",
                  "cpu", "profile", "strict", "threads", 1, "status", "ok");
    kernel_lines_expect(&k, long_name, "cpu", "strict");
    kernel_lines_add(&k, result, -1, &out);
    kernel_lines_end(&k, &out);
    assert_int_equal(strstr(out.data, long_name) != NULL, whole);
    assert_true(widest(&out) <= (size_t)width);
    kernel_lines_release(&k);
    json_decref(result);
    text_release(&out);
}

static void names_are_cut_on_a_terminal_only(void **state) {
    (void)state;
    kernels_fit(60, false);
    kernels_fit(120, true);
    kernels_fit(TERMINAL_UNBOUNDED, true);
}

static void gate_fits(int width, bool fits) {
    char kernel[] = "softmax_rows", where[] = "large", device[] = "cpu",
         profile[] = "deterministic";
    gate_side_unit unit = {
        .kernel = kernel, .case_name = where, .backend = device, .profile = profile, .threads = 16};
    gate_row row = {.units = {&unit, &unit},
                    .verdict = GATE_REGRESSED,
                    .change = {.known = true,
                               .estimate = 2.418,
                               .low = 2.4,
                               .high = 2.44,
                               .confidence = 0.95,
                               .median_ns = {12345, 42345}},
                    .timed = true,
                    .detectable = 0.084,
                    .replicas = 40,
                    .facts = {{2072, 8, 100, 0, -1}, {5656, 8, 104, 22, -1}}};
    gate_settings settings = {.margin = 0.005, .bound = 0.02, .alpha = 0.01, .power = 0.95};
    gate g = {.settings = &settings};
    gate_table_options how = {.width = width};
    text out;
    text_init(&out);
    vec_push(&g.rows, row);
    gate_table(&g, &how, &out);
    assert_int_equal(widest(&out) <= 80, fits);
    assert_non_null(strstr(out.data, "+241.80 % [+240.00, +244.00]"));
    assert_non_null(strstr(out.data, "FLOPs 2072 -> 5656, code bytes 100 -> 104, spills 0 -> 22"));
    assert_non_null(strstr(out.data, "minimum detectable effect: 8.40 % (asked for: 2.00 %)"));
    vec_release(&g.rows);
    text_release(&out);
}

static void a_gate_keeps_to_the_terminal(void **state) {
    (void)state;
    gate_fits(80, true);
    gate_fits(TERMINAL_UNBOUNDED, false);
}

static void add_time(json_t *results, const char *of, const char *name, double ns, double spread) {
    json_array_append_new(
        results, json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:{s:s}, s:{s:f, s:f, s:f}}", "kernel",
                           "k", "case", name, "backend", of, "profile", "fast", "threads", 1,
                           "status", "ok", "implementation", "path", of, "time_ns", "median", ns,
                           "low", ns / spread, "high", ns * spread));
}

/* 1.5 and 2.4 times: 1.897 as a geometric mean; intervals of 2 % and 2 % make 2.8 % of a case, and
 * 2 % of the mean of two. */
static void two_implementations_are_compared(void **state) {
    (void)state;
    const struct {
        double spread;
        const char *words;
    } rows[] = {{1.02, "b.so is 1.90x (1.86 to 1.94) slower than a.so, geometric mean of 2 cases"},
                {3, "no difference shown between b.so and a.so: 1.90x (0.63 to 5.69), geometric"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *results = json_array();
        text out;
        text_init(&out);
        add_time(results, "a.so", "one", 100, rows[i].spread);
        add_time(results, "b.so", "one", 150, rows[i].spread);
        add_time(results, "a.so", "two", 100, rows[i].spread);
        add_time(results, "b.so", "two", 240, rows[i].spread);
        add_time(results, "b.so", "alone", 7, rows[i].spread);
        beside_means(results, &out);
        assert_non_null(strstr(out.data, rows[i].words));
        text_clear(&out);
        beside_untried(results, "tsr fuzz k.tsr", &out);
        assert_non_null(strstr(out.data, "3 cases"));
        json_object_set_new(json_array_get(results, 0), "status", json_string("mismatch"));
        text_clear(&out);
        beside_untried(results, "tsr fuzz k.tsr", &out);
        assert_int_equal(out.length, 0);
        text_release(&out);
        json_decref(results);
    }
}

/* Names of kernels differ at their ends. */
static void cut_names_stay_apart(void **state) {
    (void)state;
    enum { WIDTH = 15 };
    static const char *const names[] = {"matmul_bf16_pairs_xt", "matmul_bf16_pairs_yt", "short"};
    char cut[3][WIDTH + 1];
    for (int i = 0; i < 3; i++) {
        text out;
        text_init(&out);
        table_cut(names[i], WIDTH, &out);
        assert_int_equal(out.length, WIDTH);
        memcpy(cut[i], out.data, WIDTH + 1);
        text_release(&out);
    }
    assert_string_not_equal(cut[0], cut[1]);
    assert_memory_equal(cut[2], "short ", 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_names_stay_apart),
        cmocka_unit_test(progress_fits),
        cmocka_unit_test(names_are_cut_on_a_terminal_only),
        cmocka_unit_test(two_implementations_are_compared),
        cmocka_unit_test(a_gate_keeps_to_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
