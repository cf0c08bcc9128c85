/* test_prints.c - what a job costs in printed graphs (ir_print is counted: the linker gives its
 * callers the one here), and that the keys made of that text are those of the recorded goldens. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "case/backend.h"
#include "case/case.h"
#include "case/golden.h"
#include "common/json_text.h"
#include "common/scratch_folder.h"
#include "exec/backend_device.h"
#include "exec/execute.h"
#include "ir/opset.h"
#include "job/result.h"
#include "tune/cache.h"

/* ---- counting ---- */

typedef struct printed_graph {
    sha256 digest;
    uint32_t times;
} printed_graph;

static VEC(printed_graph) printed;

void __real_ir_print(const ir_module *m, text *out);
void __wrap_ir_print(const ir_module *m, text *out);

static bool is_graph(const ir_module *m) {
    ir_op kernel = ir_module_kernel(m);
    return kernel && op_info_get(ir_op_get(m, kernel)->opcode)->level == IR_LEVEL_GRAPH;
}

void __wrap_ir_print(const ir_module *m, text *out) {
    size_t start = out->length, i = 0;
    __real_ir_print(m, out);
    if (!is_graph(m))
        return;
    sha256 digest = sha256_of(out->data + start, out->length - start);
    while (i < printed.count && memcmp(&printed.items[i].digest, &digest, sizeof digest) != 0)
        i++;
    if (i == printed.count)
        vec_push(&printed, ((printed_graph){.digest = digest}));
    printed.items[i].times++;
}

/* Most prints of one and the same graph since the last call. */
static uint32_t most_prints(void) {
    uint32_t most = 0;
    for (size_t i = 0; i < printed.count; i++)
        most = printed.items[i].times > most ? printed.items[i].times : most;
    vec_release(&printed);
    return most;
}

/* ---- jobs ---- */

static void no_stage(void *context, const char *stage) {
    (void)context;
    (void)stage;
}

static void open_corpus(corpus *c, const char *filter) {
    static const char *const path = "corpus";
    const corpus_query query = {.paths = &path,
                                .path_count = 1,
                                .filters = &filter,
                                .filter_count = filter ? 1 : 0,
                                .skip_large = true};
    text diagnostics;
    status st = STATUS_INIT;
    text_init(&diagnostics);
    if (!corpus_load(c, &query, &diagnostics, &st))
        fail_msg("%s", st.message);
    assert_string_equal(diagnostics.data, "");
    text_release(&diagnostics);
}

static void run(case_context *s, const job *j) {
    json_t *result = execute_job(s, j, &(execute_hooks){.stage = no_stage});
    if (result_outcome(result) != OUTCOME_OK)
        fail_msg("%s/%s: %s: %s", j->kernel, j->case_name, result_text(result, RESULT_STATUS),
                 result_text(result, RESULT_WHY));
    json_decref(result);
}

/* Compiled, checked, timed and probed; then with the module from the cache; under another profile;
 * and in the interpreter. */
static void check_case(const corpus_case *item, const char *cache) {
    case_context s = {0};
    job j = {.path = item->path,
             .kernel = item->kernel->name,
             .case_name = item->c->name,
             .golden_path = item->golden_path,
             .backend = "cpu",
             .profile = "strict",
             .threads = 2,
             .seed = 1,
             .quick = true,
             .order_probe = true,
             .cache = cache};
    run(&s, &j);
    assert_int_equal(most_prints(), 1);
    j.order_probe = false;
    run(&s, &j);
    assert_int_equal(most_prints(), 0);
    case_context_close(&s);
    run(&s, &j);
    assert_int_equal(most_prints(), 1);
    j.profile = "deterministic";
    run(&s, &j);
    assert_int_equal(most_prints(), 0);
    j.backend = "interp";
    j.profile = "strict";
    run(&s, &j);
    assert_int_equal(most_prints(), 0);
    case_context_close(&s);
    run(&s, &j);
    assert_int_equal(most_prints(), 1);
    case_context_close(&s);
}

static void test_a_job_prints_its_graph_once(void **state) {
    (void)state;
    static const char *const cases[] = {"matmul_f32/chunks", "softmax_rows/prime",
                                        "sum_rows/blocks", "attention_causal/*"};
    scratch_folder cache;
    status st = STATUS_INIT;
    uint32_t device;
    if (!backend_device(&backend_table[BACKEND_CPU], NULL, &device, &st))
        skip();
    assert_true(scratch_folder_open(&cache, NULL, SCRATCH_FOLDER_PREFIX, &st));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        corpus c;
        open_corpus(&c, cases[i]);
        most_prints();
        check_case(&c.cases.items[0], cache.path);
        corpus_release(&c);
    }
    scratch_folder_close(&cache);
}

/* ---- keys ---- */

static void check_keys(const corpus_case *item) {
    status st = STATUS_INIT;
    char key[65], hex[65];
    golden g;
    golden_state state;
    compiler_instance *instance = corpus_case_instance(item, &st);
    assert_non_null(instance);
    golden_key(instance, item->c, item->kernel->parameter_count, 1, key);
    assert_true(golden_read(item->golden_path, key, &g, &state, &st));
    if (state != GOLDEN_PRESENT)
        fail_msg("%s: its golden is %s", item->name, golden_state_name(state));
    golden_release(&g);
    sha256 digest = ir_hash(compiler_instance_graph(instance));
    sha256_hex(&digest, hex);
    const job j = {.kernel = item->kernel->name, .case_name = item->c->name, .profile = "strict"};
    json_t *entry = tune_entry(instance, item->c, "x86-64-v3", &j);
    assert_string_equal(json_text_at(entry, "graph"), hex);
    json_decref(entry);
    assert_int_equal(most_prints(), 1);
    compiler_instance_free(instance);
}

static void test_keys_are_those_of_the_goldens(void **state) {
    (void)state;
    corpus c;
    open_corpus(&c, NULL);
    most_prints();
    assert_true(c.cases.count >= 400);
    for (size_t i = 0; i < c.cases.count; i++)
        check_keys(&c.cases.items[i]);
    corpus_release(&c);
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job_prints_its_graph_once),
        cmocka_unit_test(test_keys_are_those_of_the_goldens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
