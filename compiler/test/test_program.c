/* test_program.c - kernels with branches, loops, or more phases than one kernel has: as programs on
 * a CPU and on an emulated chip they give the bits of the interpreter; and equal parts are compiled
 * once. */
#include "runtime/test/test.h"

#include <stdio.h>
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

static void list_names(text *t, char letter, int count) {
    for (int i = 0; i < count; i++)
        text_printf(t, "%s\"%c%d\"", i ? ", " : "", letter, i);
}

/* Before operations that make %y0, %y1, ... of %x0, %x1, ..., and after them. */
static void begin_many(text *t, int inputs, int outputs, const char *type) {
    text_init(t);
    text_append(t, "\"builtin.module\"() ({\n  \"tessera.kernel\"() <{inputs = [");
    list_names(t, 'x', inputs);
    text_append(t, "], name = \"many\", outputs = [");
    list_names(t, 'y', outputs);
    text_append(t, "]}> ({\n  ^bb0(");
    for (int i = 0; i < inputs; i++)
        text_printf(t, "%s%%x%d: %s", i ? ", " : "", i, type);
    text_append(t, "):\n");
}

static char *end_many(text *t, int outputs, const char *type) {
    text_append(t, "    \"tessera.return\"(");
    for (int i = 0; i < outputs; i++)
        text_printf(t, "%s%%y%d", i ? ", " : "", i);
    text_append(t, ") : (");
    for (int i = 0; i < outputs; i++)
        text_printf(t, "%s%s", i ? ", " : "", type);
    text_append(t, ") -> ()\n  }) : () -> ()\n}) : () -> ()\n");
    return t->data;
}

static void add(text *t, const char *result, const char *a, const char *b, const char *type) {
    text_printf(t, "    %s = \"tessera.add\"(%s, %s) : (%s, %s) -> %s\n", result, a, b, type, type,
                type);
}

/* As many results as inputs, each of two inputs; the last of all of them. */
#define CELLS "tensor<6xf32>"
static char *parameters(text *t, int count) {
    char to[16], a[16], b[16];
    begin_many(t, count, count, CELLS);
    for (int i = 0; i + 1 < count; i++) {
        snprintf(to, sizeof to, "%%y%d", i);
        snprintf(a, sizeof a, "%%x%d", i);
        snprintf(b, sizeof b, "%%x%d", (7 * i + 3) % count);
        add(t, to, a, b, CELLS);
    }
    for (int i = 1; i < count; i++) {
        snprintf(to, sizeof to, i + 1 < count ? "%%s%d" : "%%y%d", i);
        snprintf(a, sizeof a, i > 1 ? "%%s%d" : "%%x%d", i - 1);
        snprintf(b, sizeof b, "%%x%d", i);
        add(t, to, a, b, CELLS);
    }
    return end_many(t, count, CELLS);
}

/* A product and a softmax of it, so many times: a dispatch each. */
#define SQUARE "tensor<4x4xf32>"
static char *products(text *t, int count) {
    begin_many(t, 2, 1, SQUARE);
    for (int i = 0; i < count; i++)
        text_printf(t,
                    "    %%p%d = \"tessera.matmul\"(%%%c%d, %%x1) <{order = \"chunk512\"}> : "
                    "(" SQUARE ", " SQUARE ") -> " SQUARE "\n"
                    "    %%%c%d = \"tessera.softmax\"(%%p%d) <{axis = 1 : i64}> : (" SQUARE
                    ") -> " SQUARE "\n",
                    i, i ? 's' : 'x', i, i + 1 < count ? 's' : 'y', i + 1 < count ? i + 1 : 0, i);
    return end_many(t, 1, SQUARE);
}

/* ---- running ---- */

typedef struct trial {
    compiler_instance *instance;
    compiler_signature signature;
    tensor *inputs, *outputs;   /* of the interpreter */
    uint32_t commands, kernels; /* of the program that ran last */
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
    t->inputs = tensors_new(t->signature.input_count);
    t->outputs = tensors_new(t->signature.output_count);
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
    tensors_free(t->inputs);
    tensors_free(t->outputs);
    compiler_instance_free(t->instance);
}

static void launch(const trial *t, tsr_context_t context, tsr_kernel_t kernel) {
    uint32_t inputs = t->signature.input_count, count = inputs + t->signature.output_count;
    void **buffers = base_calloc(count, sizeof *buffers), **args = base_calloc(count, sizeof *args);
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
    free(buffers);
    free(args);
}

static void run_on(trial *t, const char *driver, uint32_t index, const char *isa,
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
    t->commands = module->metadata.program ? module->metadata.program->command_count : 0;
    t->kernels = module->metadata.program ? module->metadata.program->kernel_count : 0;
    OK(tsrUnloadModule(module));
    OK(tsrDestroyContext(context));
    compiler_artifact_release(&made);
}

static void run_everywhere(trial *t) {
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

/* More than the emulated chip's driver passes with one launch. */
static void many_parameters_have_the_interpreters_bits(void **state) {
    (void)state;
    static const int counts[] = {300, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        trial t;
        text source;
        set_up(&t, parsed(parameters(&source, counts[i])), (ir_bindings){0}, 11);
        run_everywhere(&t);
        tear_down(&t);
        text_release(&source);
    }
}

static void many_dispatches_have_the_interpreters_bits(void **state) {
    (void)state;
    trial t;
    text source;
    set_up(&t, parsed(products(&source, 20000)), (ir_bindings){0}, 5);
    run_on(&t, "cpu", 0, NULL, false);
    assert_true(t.commands >= 20000);
    assert_true(t.kernels < 10);
    tear_down(&t);
    text_release(&source);
}

static void more_parameters_than_the_limit_are_refused(void **state) {
    (void)state;
    text source;
    status st = STATUS_INIT;
    compiler_signature signature;
    compiler_artifact made;
    compiler_options options = {0};
    compiler_instance *instance =
        compiler_instance_new(parsed(parameters(&source, LIMIT_PARAMETERS + 1)), (ir_bindings){0});
    assert_false(compiler_signature_of(instance, &signature, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    status_clear(&st);
    assert_false(compiler_build(instance, &options, &made, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    compiler_instance_free(instance);
    text_release(&source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_and_loops_have_the_interpreters_bits),
        cmocka_unit_test(layers_have_the_interpreters_bits),
        cmocka_unit_test(equal_dispatches_are_compiled_once),
        cmocka_unit_test(many_parameters_have_the_interpreters_bits),
        cmocka_unit_test(many_dispatches_have_the_interpreters_bits),
        cmocka_unit_test(more_parameters_than_the_limit_are_refused),
    };
    setenv("TESSERA_EMULATED", "1", 1);
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
