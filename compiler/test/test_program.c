/* test_program.c - kernels with branches, loops, or more phases than one kernel has: as programs on
 * a CPU and on an emulated chip they give the bits of the interpreter; and equal parts are compiled
 * once. */
#include "runtime/test/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/philox.h"
#include "graph/passes.h"
#include "pipeline.h"
#include "program/build.h"
#include "runtime.h"
#include "target/interp/interp.h"
#include "tessera/compiler.h"

enum { BUFFERS_MAX = 16 };

#define OK(call) assert_ok((call), #call)
static void assert_ok(tsr_status_t s, const char *call) {
    if (s != TSR_SUCCESS)
        fail_msg("%s: %s: %s", call, tsrStatusName(s), tsrGetLastError());
}

/* ---- programs ---- */

static ir_module *parsed(const char *source) {
    status st = STATUS_INIT;
    ir_module *m = ir_parse(source, &st);
    if (!m || !ir_verify(m, &st))
        fail_msg("%s", st.message);
    return m;
}

static ir_module *control(void) {
    size_t size;
    status st = STATUS_INIT;
    char *source;
    assert_true(file_read("compiler/test/cases/graph/control.mlir", 1 << 20, &source, &size, &st));
    char *end = strstr(source, "// -----");
    if (end)
        *end = '\0';
    ir_module *m = parsed(source);
    free(source);
    return m;
}

/* A state that goes through equal layers: normalised, multiplied, activated, added. */
enum { LAYERS = 24, WIDTH = 32, ROWS = 5 };
#define STATE "tensor<5x32xf32>"
static ir_module *layers(void) {
    text t;
    text_init(&t);
    text_append(
        &t,
        "\"builtin.module\"() ({\n  \"tessera.kernel\"() <{inputs = [\"x\", \"w\", \"g\"], name = "
        "\"layers\", outputs = [\"y\"]}> ({\n  ^bb0(%s0: " STATE
        ", %w: tensor<32x32xf32>, %g: tensor<32xf32>):\n");
    for (int i = 0; i < LAYERS; i++)
        text_printf(&t,
                    "    %%s%d = \"tessera.call\"(%%s%d, %%w, %%g) <{callee = \"layer\"}> : (" STATE
                    ", tensor<32x32xf32>, tensor<32xf32>) -> " STATE "\n",
                    i + 1, i);
    text_printf(&t,
                "    \"tessera.return\"(%%s%d) : (" STATE ") -> ()\n  }) : () -> ()\n"
                "  \"tessera.function\"() <{inputs = [\"x\", \"w\", \"g\"], name = \"layer\", "
                "outputs = [\"y\"]}> ({\n"
                "  ^bb0(%%x: " STATE ", %%v: tensor<32x32xf32>, %%h: tensor<32xf32>):\n"
                "    %%n = \"tessera.rmsnorm\"(%%x, %%h) <{eps = #tessera.bits<f64, "
                "0x3eb0c6f7a0b5ed8d>}> : (" STATE ", tensor<32xf32>) -> " STATE "\n"
                "    %%a = \"tessera.matmul\"(%%n, %%v) <{order = \"chunk512\"}> : (" STATE
                ", tensor<32x32xf32>) -> " STATE "\n"
                "    %%p = \"tessera.softmax\"(%%a) <{axis = 1 : i64}> : (" STATE ") -> " STATE "\n"
                "    %%b = \"tessera.matmul\"(%%p, %%v) <{order = \"chunk512\"}> : (" STATE
                ", tensor<32x32xf32>) -> " STATE "\n"
                "    %%c = \"tessera.silu\"(%%b) : (" STATE ") -> " STATE "\n"
                "    %%o = \"tessera.matmul\"(%%c, %%v) <{order = \"chunk512\"}> : (" STATE
                ", tensor<32x32xf32>) -> " STATE "\n"
                "    %%y = \"tessera.add\"(%%x, %%o) : (" STATE ", " STATE ") -> " STATE "\n"
                "    \"tessera.return\"(%%y) : (" STATE ") -> ()\n  }) : () -> ()\n}) : () -> ()\n",
                LAYERS);
    ir_module *m = parsed(t.data);
    text_release(&t);
    return m;
}

/* ---- running ---- */

typedef struct trial {
    compiler_instance *instance;
    compiler_signature signature;
    tensor inputs[BUFFERS_MAX], outputs[BUFFERS_MAX]; /* of the interpreter */
} trial;

static void fill(tensor *t, uint32_t seed) {
    for (int64_t k = 0; k < tensor_count(t); k++)
        if (t->type == DTYPE_I32)
            ((int32_t *)t->data)[k] = (int32_t)seed;
        else
            dtype_store(t->type, t->data, (size_t)k,
                        (double)philox_normal(philox_element(seed, (uint64_t)k, 0, 0), 0, 1));
}

static void set_up(trial *t, ir_module *m, ir_bindings dims, uint32_t seed) {
    status st = STATUS_INIT;
    *t = (trial){.instance = compiler_instance_new(m, dims)};
    assert_true(compiler_signature_of(t->instance, &t->signature, &st));
    for (uint32_t i = 0; i < t->signature.input_count; i++) {
        const struct compiler_buffer *b = &t->signature.inputs[i];
        assert_true(tensor_init(&t->inputs[i], b->type, b->rank, b->dims, &st));
        fill(&t->inputs[i], seed + i);
    }
    ir_module *plain = ir_module_clone(m);
    bool ok = graph_inline(plain, &st) && graph_specialize(plain, dims, &st) &&
              graph_decompose_all(plain, &st) && interp_module(plain, t->inputs, t->outputs, &st);
    if (!ok)
        fail_msg("%s", st.message);
    ir_module_free(plain);
}

static void tear_down(trial *t) {
    tensor_release_all(t->inputs, t->signature.input_count);
    tensor_release_all(t->outputs, t->signature.output_count);
    compiler_instance_free(t->instance);
}

static void launch(const trial *t, tsr_context_t context, tsr_kernel_t kernel) {
    void *buffers[2 * BUFFERS_MAX], *args[2 * BUFFERS_MAX];
    uint32_t inputs = t->signature.input_count, count = inputs + t->signature.output_count;
    for (uint32_t i = 0; i < count; i++) {
        const tensor *x = i < inputs ? &t->inputs[i] : &t->outputs[i - inputs];
        OK(tsrAlloc(context, tensor_bytes(x), TSR_ALLOC_ZERO, &buffers[i]));
        if (i < inputs)
            OK(tsrCopy(context, buffers[i], x->data, tensor_bytes(x)));
        args[i] = &buffers[i];
    }
    OK(tsrLaunch(kernel, NULL, (tsr_launch_t){0}, args, count));
    for (uint32_t i = 0; i < count; i++) {
        const tensor *x = i < inputs ? &t->inputs[i] : &t->outputs[i - inputs];
        void *found = malloc(tensor_bytes(x));
        OK(tsrCopy(context, found, buffers[i], tensor_bytes(x)));
        assert_memory_equal(found, x->data, tensor_bytes(x));
        free(found);
        OK(tsrFree(context, buffers[i]));
    }
}

static void run_on(const trial *t, const char *driver, uint32_t index, const char *isa,
                   bool unoptimised) {
    compiler_options options = {
        .isa = isa, .threads = 2, .unoptimised = unoptimised, .verify = true};
    compiler_artifact made;
    status st = STATUS_INIT;
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    if (!compiler_build(t->instance, &options, &made, &st))
        fail_msg("%s: %s", driver, st.message);
    OK(context_create_on(device_driver_find(driver), index, 2, 0, &context));
    OK(tsrLoadModule(context, made.image, made.image_size, &module));
    const ir_module *graph = compiler_instance_graph(t->instance);
    OK(tsrGetKernel(module, ir_op_string(graph, ir_module_kernel(graph), "name", ""), &kernel));
    launch(t, context, kernel);
    launch(t, context, kernel); /* nothing of the first is left */
    OK(tsrUnloadModule(module));
    OK(tsrDestroyContext(context));
    compiler_artifact_release(&made);
}

static void run_everywhere(const trial *t) {
    const char *chip = compiler_emulated_target("sm_80");
    run_on(t, "cpu", 0, NULL, false);
    run_on(t, "cpu", 0, NULL, true);
    if (chip)
        run_on(t, "emulated", 0, chip, false);
}

/* `n` decides how often the while goes on, and with that which side of the branch is taken. */
static void branches_and_loops_have_the_interpreters_bits(void **state) {
    (void)state;
    static const uint32_t values[] = {1, 97, 1000};
    ir_binding turns = {"N", 3};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        trial t;
        set_up(&t, control(), (ir_bindings){&turns, 1}, values[i]);
        run_everywhere(&t);
        tear_down(&t);
    }
}

static void layers_have_the_interpreters_bits(void **state) {
    (void)state;
    trial t;
    set_up(&t, layers(), (ir_bindings){0}, 7);
    run_everywhere(&t);
    tear_down(&t);
}

/* The program of many layers has the kernels of one. */
static void equal_dispatches_are_compiled_once(void **state) {
    (void)state;
    status st = STATUS_INIT;
    compiler_instance *instance = compiler_instance_new(layers(), (ir_bindings){0});
    compiler_options options = {.verify = true};
    draft p;
    ir_module *m = pipeline_dispatches(instance, &options, &st);
    assert_non_null(m);
    assert_true(draft_build(m, &p, &st));
    assert_true(p.commands.count >= 3 * LAYERS);
    assert_true(p.kernels.count < 2 * p.commands.count / LAYERS);
    assert_true(p.arena_bytes <= 2 * p.needed_bytes);
    assert_true(p.arena_bytes < 8 * ROWS * WIDTH * (int64_t)sizeof(float));
    draft_release(&p);
    ir_module_free(m);
    compiler_instance_free(instance);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_and_loops_have_the_interpreters_bits),
        cmocka_unit_test(layers_have_the_interpreters_bits),
        cmocka_unit_test(equal_dispatches_are_compiled_once),
    };
    setenv("TESSERA_EMULATED", "1", 1);
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
