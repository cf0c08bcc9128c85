/* test_lint_race.c - what the emulator says of code with a barrier too few becomes a finding of the
 * lint, at the place in the source; what it says of whole code does not. */
#include "runtime/test/test.h"

#include <string.h>

#include "base/file.h"
#include "case/backend.h"
#include "case/case_context.h"
#include "common/scratch_folder.h"
#include "exec/backend_device.h"
#include "launch/launch.h"
#include "lint/race.h"

static const char source[] =
    "from tessera import *\n"
    "\n"
    "@cases(case('a', M=70, K=40, N=66))\n"
    "@kernel\n"
    "def product(x: Tensor['M', 'K', f32], y: Tensor['K', 'N', f32]) -> Tensor['M', 'N', f32]:\n"
    "    z = x @ y\n"
    "    return z\n"
    "\n"
    "@cases(case('a', M=3, N=4160))\n"
    "@kernel\n"
    "def rows(x: Tensor['M', 'N', f32]) -> Tensor['M', 'N', f32]:\n"
    "    return softmax(x + x, axis=-1)\n";

/* Kernels of the source, the lines that a mistake of theirs may be at, barriers that are left out.
 */
static const struct {
    const char *kernel;
    backend_id backend;
    uint32_t line, barriers;
} rows[] = {
    {"product", BACKEND_PTX_EMULATED, 6, 2},
    {"product", BACKEND_ROCM_EMULATED, 6, 2},
    {"rows", BACKEND_PTX_EMULATED, 12, 4},
    {"rows", BACKEND_ROCM_EMULATED, 12, 4},
};

/* Launches the code without that barrier (0: with all of them). The words of what went wrong, ""
 * for nothing; owned by `st`. */
static const char *launch_without(case_context *s, const backend *b, uint32_t barrier, status *st) {
    compiler_options options = {.isa = b->target, .threads = 1, .drop_barrier = barrier};
    compiler_artifact artifact = {0};
    launch_request request = {.threads = 1, .kernel = s->kernel->name};
    launch l = {0};
    bool ok = backend_device(b, NULL, &request.device, st) &&
              compiler_build(s->instance, &options, &artifact, st);
    if (!ok)
        fail_msg("%s", st->message);
    launch_request_buffers(&request, &s->signature);
    launch_request_artifact(&request, &artifact);
    if (!launch_open(&l, &request, st) || !launch_write_inputs(&l, s->inputs, st))
        fail_msg("%s", st->message);
    bool ran = launch_run(&l, st);
    launch_close(&l);
    compiler_artifact_release(&artifact);
    return ran ? "" : st->message;
}

static void check_row(const char *path, size_t row) {
    const backend *b = &backend_table[rows[row].backend];
    case_context s = {0};
    lint_report report = {.chip = NULL};
    status st = STATUS_INIT;
    case_context_request request = {
        .path = path, .kernel = rows[row].kernel, .case_name = "a", .seed = 1};
    if (!case_context_open(&s, &request, &st))
        fail_msg("%s", st.message);
    lint_file file = {path, source, sizeof source - 1};
    lint_kernel k = {&report, &file, s.source, s.kernel, NULL, 0};
    assert_string_equal(launch_without(&s, b, 0, &st), "");
    for (uint32_t i = 1; i <= rows[row].barriers; i++) {
        status why = STATUS_INIT;
        const char *words = launch_without(&s, b, i, &why);
        assert_non_null(race_keyword_in(words));
        lint_add_race(&k, s.c, words);
        const lint_finding *f = &report.findings.items[report.findings.count - 1];
        assert_string_equal(lint_finding_id(f), "race");
        assert_int_equal(f->line, rows[row].line);
        assert_true(f->column > 1 && f->length >= 1);
        assert_string_equal(f->kernel, rows[row].kernel);
        assert_string_equal(f->case_name, "a");
        status_clear(&why);
    }
    assert_int_equal(report.counts[LINT_ERROR], rows[row].barriers);
    lint_release(&report);
    case_context_close(&s);
}

static void a_barrier_too_few_is_found(void **state) {
    (void)state;
    scratch_folder folder;
    status st = STATUS_INIT;
    text path;
    text_init(&path);
    char reason[COMPILER_REASON_BYTES];
    if (!compiler_target_runs("sm_80-emulated", reason)) {
        print_message("skipped: %s\n", reason);
        skip();
    }
    assert_true(scratch_folder_open(&folder, NULL, SCRATCH_FOLDER_PREFIX, &st));
    text_printf(&path, "%s/kernels.tsr", folder.path);
    assert_true(file_write_atomic(path.data, source, sizeof source - 1, &st));
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_row(path.data, i);
    scratch_folder_close(&folder);
    text_release(&path);
}

/* Words as the emulator writes them, and their places. */
static const struct {
    const char *words;
    bool known;
    uint32_t line, column;
} words[] = {
    {"race: read-write of phase 0: thread 1 writes byte 4 at 12:5 (tile), which thread 0 read at "
     "14:9 (sum); no barrier is between them",
     true, 12, 5},
    {"launch: divergent-barrier: phase 0: thread 0 waits at 13:5 (barrier), but thread 5 has ended",
     true, 13, 5},
    {"out-of-bounds: phase 0: thread 32 reads 4 bytes at byte 4096 of buffer 0, at 14:9 (sum)",
     true, 14, 9},
    {"uninitialised: phase 0: thread 0 reads byte 0 of shared memory at site 7", true, 0, 0},
    {"out[3] is 1.5, and 2.5 was expected", false, 0, 0},
};

static void places_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        ir_location at = race_location_in(words[i].words);
        assert_int_equal(race_keyword_in(words[i].words) != NULL, words[i].known);
        assert_int_equal(at.line, words[i].line);
        assert_int_equal(at.column, words[i].column);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_too_few_is_found),
        cmocka_unit_test(places_are_read),
    };
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
