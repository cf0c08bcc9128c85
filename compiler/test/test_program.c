/* test_program.c - kernels with branches, loops, combiners, or more phases than one kernel has: as
 * programs on a CPU and on an emulated chip they give the bits of the interpreter; equal parts are
 * compiled once; and sorts, reductions and scatters do what a few lines of C do. */
#include "runtime/test/test.h"

#include <math.h>
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

static ir_module *case_of(const char *path) {
    size_t size;
    status st = STATUS_INIT;
    char *source;
    assert_true(file_read(path, 1 << 20, &source, &size, &st));
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
    uint32_t fills;             /* ... outside of its branches and loops */
    int64_t arena;              /* ... its bytes; -1: one kernel */
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

/* The buffer that the launch has for an output: that of the input that is donated to it. */
static void share_donated(tsr_kernel_t kernel, uint32_t inputs, void **args, void **buffers) {
    for (uint32_t i = 0; i < inputs; i++) {
        uint32_t output;
        OK(tsrGetDonatedOutput(kernel, i, &output));
        if (output != TSR_NOT_DONATED)
            args[inputs + output] = &buffers[i];
    }
}

static void launch(const trial *t, tsr_context_t context, tsr_kernel_t kernel, bool in_place) {
    uint32_t inputs = t->signature.input_count, count = inputs + t->signature.output_count;
    void **buffers = base_calloc(count, sizeof *buffers), **args = base_calloc(count, sizeof *args);
    for (uint32_t i = 0; i < count; i++) {
        const tensor *x = i < inputs ? &t->inputs[i] : &t->outputs[i - inputs];
        OK(tsrAlloc(context, tensor_bytes(x), TSR_ALLOC_ZERO, &buffers[i]));
        if (i < inputs)
            OK(tsrCopy(context, buffers[i], x->data, tensor_bytes(x)));
        args[i] = &buffers[i];
    }
    if (in_place)
        share_donated(kernel, inputs, args, buffers);
    OK(tsrLaunch(kernel, NULL, (tsr_launch_t){0}, args, count));
    for (uint32_t i = in_place ? inputs : 0; i < count; i++) {
        const tensor *x = i < inputs ? &t->inputs[i] : &t->outputs[i - inputs];
        void *found = malloc(tensor_bytes(x));
        OK(tsrCopy(context, found, *(void **)args[i], tensor_bytes(x)));
        assert_memory_equal(found, x->data, tensor_bytes(x));
        free(found);
    }
    for (uint32_t i = 0; i < count; i++)
        OK(tsrFree(context, buffers[i]));
    free(buffers);
    free(args);
}

static uint32_t count_fills(const program *p) {
    uint32_t fills = 0;
    for (uint32_t i = 0; p && i < p->body.count; i++)
        fills += p->body.commands[i].kind == PROGRAM_FILL;
    return fills;
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
    launch(t, context, kernel, false);
    launch(t, context, kernel, true); /* nothing of the first is left */
    t->commands = module->metadata.program ? module->metadata.program->command_count : 0;
    t->kernels = module->metadata.program ? module->metadata.program->kernel_count : 0;
    t->fills = count_fills(module->metadata.program);
    t->arena = module->metadata.program ? module->metadata.program->arena_bytes : -1;
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

/* `n` decides how often the while goes on, and with that which side of the branch is taken; N how
 * often the loop turns. */
static void branches_and_loops_have_the_interpreters_bits(void **state) {
    (void)state;
    static const struct { uint32_t n, turns; } rows[] = {{1, 3}, {97, 3}, {1000, 3}, {97, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        trial t;
        ir_binding turns = {"N", rows[i].turns};
        set_up(&t, case_of("compiler/test/cases/graph/control.mlir"), (ir_bindings){&turns, 1},
               rows[i].n);
        run_everywhere(&t);
        assert_int_equal(t.fills, 1); /* the zeros that the loop begins with */
        tear_down(&t);
    }
}

/* A donated input lies in its output: one that is read behind the first write, one that a loop
 * carries, two that change places, one that is given back as it is. So does an updated tensor in
 * its result, unless it is its own update. */
static void donated_inputs_may_be_their_outputs(void **state) {
    (void)state;
    trial t;
    static const char *const cases[] = {"compiler/test/cases/graph/donate.mlir",
                                        "compiler/test/cases/graph/donate_alike.mlir",
                                        "compiler/test/cases/graph/scatter_itself.mlir"};
    for (int i = 0; i < 3; i++) {
        set_up(&t, case_of(cases[i]), (ir_bindings){0}, 5);
        run_everywhere(&t);
        tear_down(&t);
    }
}

/* A value as large as rows times columns is made of some rows at a time. */
static void streamed_rows_have_the_interpreters_bits(void **state) {
    (void)state;
    trial t;
    set_up(&t, case_of("compiler/test/cases/graph/stream_rows.mlir"), (ir_bindings){0}, 7);
    run_everywhere(&t);
    tear_down(&t);
}

/* Outputs hold what lives between commands until they are used; one that may be an input's buffer
 * does not. The first output is used from the loop's first turn on, the last by the last command.
 */
static void outputs_lend_room_until_they_are_used(void **state) {
    (void)state;
    static const int64_t donated[] = {-1, -1, 1};
    int64_t bytes[2];
    for (int i = 0; i < 2; i++) {
        trial t;
        ir_module *m = case_of("compiler/test/cases/graph/lent.mlir");
        if (i == 1)
            ir_op_set_attr(m, ir_module_kernel(m), "donated", ir_attr_int_array(m, donated, 3));
        set_up(&t, m, (ir_bindings){0}, 3);
        run_everywhere(&t);
        bytes[i] = t.arena;
        tear_down(&t);
    }
    assert_int_equal(bytes[0], 16 * 16 * sizeof(float)); /* what the last command reads */
    assert_true(bytes[1] > bytes[0]);
}

static void layers_have_the_interpreters_bits(void **state) {
    (void)state;
    trial t;
    set_up(&t, layers(), (ir_bindings){0}, 7);
    run_everywhere(&t);
    tear_down(&t);
}

/* ---- combiners ---- */

enum {
    NEVER,
    ALWAYS,
    ROUNDED,
    ROOTS,
    DOWN,
    DOWN_PLACE,
    SUM,
    MOST,
    PLACE,
    UPDATED,
    COUNTS,
    CHAIN,
    HALF
};

typedef struct sizes {
    int64_t n, c, d, u;
} sizes;

static float number(const tensor *t, int64_t i) {
    return ((const float *)t->data)[i];
}

static int32_t integer(const tensor *t, int64_t i) {
    return ((const int32_t *)t->data)[i];
}

/* Each place once. */
static void expect_permutation(const int32_t *places, int64_t count) {
    bool *seen = calloc((size_t)count + 1, sizeof *seen);
    for (int64_t i = 0; i < count; i++) {
        assert_in_range(places[i], 0, count - 1);
        assert_false(seen[places[i]]);
        seen[places[i]] = true;
    }
    free(seen);
}

/* No key is above the next one, and equal ones are in the order of their places. */
static void expect_order(const float *keys, const int32_t *places, int64_t count) {
    expect_permutation(places, count);
    for (int64_t i = 1; i < count; i++) {
        float last = keys[places[i - 1]], next = keys[places[i]];
        assert_true(last < next || (last == next && places[i - 1] < places[i]));
    }
}

static void check_row_sorts(const trial *t, const sizes *s, int64_t row) {
    float *keys = calloc((size_t)s->n + 1, sizeof *keys);
    const int64_t at = row * s->n;
    for (int64_t i = 0; i < s->n; i++) {
        assert_int_equal(integer(&t->outputs[NEVER], at + i), i);
        assert_int_equal(integer(&t->outputs[ALWAYS], at + i), s->n - 1 - i);
        keys[i] = truncf(number(&t->inputs[0], at + i));
    }
    expect_order(keys, (const int32_t *)t->outputs[ROUNDED].data + at, s->n);
    expect_permutation((const int32_t *)t->outputs[ROOTS].data + at, s->n);
    free(keys);
}

/* The columns, each of which has the order of its elements times their logistic; downward. */
static void check_column_sort(const trial *t, const sizes *s, int64_t column) {
    int32_t *places = calloc((size_t)s->c + 1, sizeof *places);
    for (int64_t i = 0; i < s->c; i++) {
        places[i] = integer(&t->outputs[DOWN_PLACE], i * s->n + column);
        assert_in_range(places[i], 0, s->c - 1);
        float moved = number(&t->outputs[DOWN], i * s->n + column),
              x = number(&t->inputs[0], places[i] * s->n + column);
        assert_memory_equal(&moved, &x, sizeof x);
        float last = i ? number(&t->outputs[DOWN], (i - 1) * s->n + column) : HUGE_VALF;
        double a = (double)last / (1 + exp(-(double)last)), b = (double)x / (1 + exp(-(double)x));
        assert_true(i == 0 || a > b - 1e-6);
    }
    expect_permutation(places, s->c);
    free(places);
}

static void check_reductions(const trial *t, const sizes *s) {
    const tensor *x = &t->inputs[0];
    for (int64_t row = 0; row < s->c; row++) {
        float sum = 0;
        for (int64_t i = 0; i < s->n; i++)
            sum = fmaf(sum, 0.5f, number(x, row * s->n + i));
        assert_true(sum == number(&t->outputs[SUM], row));
    }
    for (int64_t column = 0; column < s->n; column++) {
        float most = -HUGE_VALF;
        int32_t place = -1;
        for (int32_t i = 0; i < s->c; i++)
            if (number(x, i * s->n + column) > most)
                most = number(x, (place = i) * s->n + column);
        assert_true(most == number(&t->outputs[MOST], column));
        assert_int_equal(place, integer(&t->outputs[PLACE], column));
    }
}

/* Each element less all before it; the second as halves. */
static void check_chains(const trial *t, const sizes *s) {
    const tensor *v = &t->inputs[2];
    uint16_t bits = 0, element = 0;
    float chain = 3;
    dtype_store(DTYPE_F16, &bits, 0, 1);
    for (int64_t i = 0; i < s->u; i++) {
        chain = number(v, i) - chain;
        dtype_store(DTYPE_F16, &element, 0, (double)number(v, i));
        dtype_store(DTYPE_F16, &bits, 0,
                    dtype_load(DTYPE_F16, &element, 0) - dtype_load(DTYPE_F16, &bits, 0));
    }
    assert_true(chain == number(&t->outputs[CHAIN], 0));
    assert_memory_equal(&bits, t->outputs[HALF].data, sizeof bits);
}

/* One update after the other, and those outside left out. */
static void check_scatter(const trial *t, const sizes *s) {
    const tensor *old = &t->inputs[1], *at = &t->inputs[2], *updates = &t->inputs[3];
    for (int64_t i = 0; i < s->d * s->c; i++) {
        float value = number(old, i);
        int32_t count = (int32_t)(i / s->c);
        for (int32_t u = 0; u < s->u; u++)
            if ((int64_t)(number(at, u) * 3) == i / s->c && number(at, u) * 3 > -1) {
                value = fmaf(value, 0.5f, number(updates, u * s->c + i % s->c));
                count = u - count;
            }
        assert_true(value == number(&t->outputs[UPDATED], i));
        assert_int_equal(count, integer(&t->outputs[COUNTS], i));
    }
}

static void combiners_do_what_they_say(void **state) {
    (void)state;
    static const sizes rows[] = {{0, 3, 0, 0},  {1, 1, 1, 1},  {2, 3, 5, 2},
                                 {3, 2, 1, 17}, {17, 3, 5, 3}, {1000, 2, 40, 300}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sizes *s = &rows[i];
        const ir_binding dims[] = {{"N", s->n}, {"C", s->c}, {"D", s->d}, {"U", s->u}};
        trial t;
        set_up(&t, case_of("compiler/test/cases/graph/combine.mlir"), (ir_bindings){dims, 4},
               (uint32_t)i + 3);
        for (int64_t row = 0; row < s->c; row++)
            check_row_sorts(&t, s, row);
        for (int64_t column = 0; column < s->n; column++)
            check_column_sort(&t, s, column);
        check_reductions(&t, s);
        check_chains(&t, s);
        check_scatter(&t, s);
        run_everywhere(&t);
        tear_down(&t);
    }
}

/* The program of many layers has the kernels of one. */
static void equal_dispatches_are_compiled_once(void **state) {
    (void)state;
    status st = STATUS_INIT;
    compiler_instance *instance = compiler_instance_new(layers(), (ir_bindings){0});
    compiler_options options = {.verify = true};
    draft p;
    ir_module *m = program_dispatches(instance, &options, &st);
    assert_non_null(m);
    assert_true(draft_build(m, false, &p, &st));
    draft_place(m, &p);
    assert_true(p.commands.count >= 3 * LAYERS);
    assert_int_equal(p.kernels.count * LAYERS, p.commands.count);
    assert_true(p.arena_bytes <= 2 * p.needed_bytes);
    assert_true(p.arena_bytes < 8 * ROWS * WIDTH * (int64_t)sizeof(float));
    for (size_t i = 0; i < p.kernels.count; i++) { /* and a kernel's module nothing of the others */
        ir_module *kernel = program_kernel(m, &p.kernels.items[i]);
        assert_true(ir_op_count(kernel) < LAYERS);
        ir_module_free(kernel);
    }
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

/* Nothing calls itself for each dispatch; the full form has five times as many. */
static void many_dispatches_have_the_interpreters_bits(void **state) {
    (void)state;
    const int count = getenv("TSR_SHORT") ? 4000 : 20000;
    trial t;
    text source;
    set_up(&t, parsed(products(&source, count)), (ir_bindings){0}, 5);
    run_on(&t, "cpu", 0, NULL, false);
    assert_true(t.commands >= (size_t)count);
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
        cmocka_unit_test(donated_inputs_may_be_their_outputs),
        cmocka_unit_test(streamed_rows_have_the_interpreters_bits),
        cmocka_unit_test(outputs_lend_room_until_they_are_used),
        cmocka_unit_test(layers_have_the_interpreters_bits),
        cmocka_unit_test(combiners_do_what_they_say),
        cmocka_unit_test(equal_dispatches_are_compiled_once),
        cmocka_unit_test(many_parameters_have_the_interpreters_bits),
        cmocka_unit_test(many_dispatches_have_the_interpreters_bits),
        cmocka_unit_test(more_parameters_than_the_limit_are_refused),
    };
    setenv("TESSERA_EMULATED", "1", 1);
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
