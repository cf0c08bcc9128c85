/* test_prepare.c - prepared kernels: what is made once from a constant is what launches use, on the
 * host and on a simulated device; and what is refused. */
#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "device/simulated/simulated.h"
#include "test/abi_fixture.h"

enum { BYTES = KERNEL_CELLS * sizeof(float), DEVICES = 2 };

/* `a` is a constant. The code for N = 100 prepares from it; that for any N saves nothing. */
static const char sound[] =
    "{\"schema\": \"tsr.module/2\", \"name\": \"twice\", \"dims\": [\"N\"], \"constants\": [\"a\"],"
    " \"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [\"N\"]}],"
    " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [\"N\"]}], \"images\": ["
    "{\"isa\": \"x86-64-v2+fma\", \"section\": \"x86_64-elf/x86-64-v2+fma\","
    " \"workspace_bytes\": \"4*N\", \"scratch_bytes\": 0, \"phases\": ["
    "{\"symbol\": \"phase_twice\", \"grid\": \"N\"}, {\"symbol\": \"phase_add\", \"grid\": "
    "\"N\"}]},"
    "{\"isa\": \"x86-64-v2+fma\", \"section\": \"x86_64-elf/x86-64-v2+fma:1\", \"when\": {\"N\": "
    "100},"
    " \"workspace_bytes\": 4, \"scratch_bytes\": 0, \"prepared_bytes\": 400, \"phases\": ["
    "{\"symbol\": \"phase_twice_prepared\", \"grid\": 100, \"constant\": \"a\"},"
    "{\"symbol\": \"phase_add_prepared\", \"grid\": 100}]}]}";

static tsr_status_t load_module(tsr_context_t context, const char *json, tsr_module_t *module) {
    bytes object = read_object("kernel_prepared");
    void *image;
    size_t size;
    module_part parts[] = {{"metadata", json, strlen(json)},
                           {"x86_64-elf/x86-64-v2+fma", object.data, object.size},
                           {"x86_64-elf/x86-64-v2+fma:1", object.data, object.size}};
    assert_true(module_write_for(MODULE_ABI_MINOR_PREPARED, parts, 3, &image, &size, NULL));
    tsr_status_t result = tsrLoadModule(context, image, size, module);
    free(image);
    free(object.data);
    return result;
}

typedef struct rig {
    tsr_context_t context;
    tsr_stream_t stream;
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *a, *out;
    int64_t n;
    void *args[3];
} rig;

static void write_input(rig *r, float scale) {
    float values[KERNEL_CELLS];
    for (int i = 0; i < KERNEL_CELLS; i++)
        values[i] = scale * (float)i;
    OK(tsrCopy(r->context, r->a, values, BYTES));
}

static void open_rig(rig *r, uint32_t index, uint32_t flags) {
    OK(tsrCreateContextOn(index, 2, flags, &r->context));
    OK(tsrCreateStream(r->context, &r->stream));
    OK(load_module(r->context, sound, &r->module));
    OK(tsrGetKernel(r->module, "twice", &r->kernel));
    OK(tsrAlloc(r->context, BYTES, TSR_ALLOC_DEFAULT, &r->a));
    OK(tsrAlloc(r->context, BYTES, TSR_ALLOC_DEFAULT, &r->out));
    r->n = KERNEL_CELLS;
    r->args[0] = &r->a;
    r->args[1] = &r->out;
    r->args[2] = &r->n;
    write_input(r, 1);
}

static void close_rig(rig *r) {
    OK(tsrDestroyStream(r->stream));
    OK(tsrFree(r->context, r->a));
    OK(tsrFree(r->context, r->out));
    OK(tsrUnloadModule(r->module));
    OK(tsrDestroyContext(r->context));
}

static tsr_prepared_t prepare(rig *r) {
    const uint32_t a = 0;
    void *args[] = {r->args[0], NULL, r->args[2]}; /* the output is not looked at */
    tsr_prepared_t prepared;
    OK(tsrPrepareKernel(r->kernel, &a, 1, args, 3, &prepared));
    return prepared;
}

static tsr_status_t launch_prepared(rig *r, tsr_prepared_t prepared, tsr_stream_t stream) {
    return tsrLaunchPrepared(prepared, stream, (tsr_launch_t){0}, r->args, 3);
}

static tsr_status_t launch_whole(rig *r) {
    return tsrLaunch(r->kernel, NULL, (tsr_launch_t){0}, r->args, 3);
}

static void expect_output(rig *r, float scale) {
    float values[KERNEL_CELLS];
    OK(tsrCopy(r->context, values, r->out, BYTES));
    for (int i = 0; i < r->n; i++)
        assert_true(values[i] == 2 * scale * (float)i + 1);
    OK(tsrFillAsync(r->context, NULL, r->out, 0xA5, BYTES));
}

static void expect_saved(tsr_prepared_t prepared, uint32_t phases, uint64_t size_bytes) {
    tsr_prepared_info_t info = {.struct_size = sizeof info};
    OK(tsrGetPreparedInfo(prepared, &info));
    assert_int_equal(info.phases, phases);
    assert_int_equal(info.bytes, size_bytes);
}

/* ---- rows: on each device ---- */

/* That the input is another one by then shows that its phase did not run again. */
static void what_was_made_once_is_used(rig *r) {
    OK(launch_whole(r));
    expect_output(r, 1);
    tsr_prepared_t first = prepare(r);
    expect_saved(first, 1, BYTES);
    write_input(r, 3);
    tsr_prepared_t second = prepare(r);
    for (int i = 0; i < 3; i++) {
        OK(launch_prepared(r, first, i == 1 ? r->stream : NULL));
        OK(tsrStreamSynchronize(r->context, r->stream));
        expect_output(r, 1);
        OK(launch_prepared(r, second, NULL));
        expect_output(r, 3);
        OK(launch_whole(r));
        expect_output(r, 3);
    }
    OK(tsrDestroyPrepared(first));
    OK(launch_prepared(r, second, NULL));
    expect_output(r, 3);
    OK(tsrDestroyPrepared(second));
}

/* Code that saves nothing is prepared for free. */
static void other_sizes_are_other_preparations(rig *r) {
    tsr_prepared_t fixed = prepare(r), any;
    r->n = 99;
    REFUSED(launch_prepared(r, fixed, NULL), TSR_EINVAL, "was prepared for N=100, not 99");
    any = prepare(r);
    expect_saved(any, 0, 0);
    OK(launch_prepared(r, any, NULL));
    expect_output(r, 1);
    OK(tsrDestroyPrepared(fixed));
    OK(tsrDestroyPrepared(any));
}

static void nothing_goes_before_what_uses_it(rig *r) {
    tsr_prepared_t prepared = prepare(r);
    tsr_graph_t graph;
    OK(tsrBeginCapture(r->stream));
    OK(launch_prepared(r, prepared, r->stream));
    OK(tsrEndCapture(r->stream, &graph));
    REFUSED(tsrDestroyPrepared(prepared), TSR_EINVAL, "graphs use the prepared kernel");
    for (int i = 0; i < 3; i++)
        OK(tsrLaunchGraph(graph, r->stream));
    OK(tsrStreamSynchronize(r->context, r->stream));
    expect_output(r, 1);
    OK(tsrDestroyGraph(graph));
    REFUSED(tsrUnloadModule(r->module), TSR_EINVAL, "1 prepared kernels are of the module");
    REFUSED(tsrDestroyContext(r->context), TSR_EINVAL, "1 prepared kernels");
    OK(launch_prepared(r, prepared, r->stream));
    OK(tsrDestroyPrepared(prepared)); /* after that launch has ended */
    OK(tsrStreamSynchronize(r->context, r->stream));
    expect_output(r, 1);
}

static void wrong_arguments_are_refused(rig *r) {
    const uint32_t a = 0, none = 1;
    tsr_prepared_t prepared = prepare(r), failed;
    void *other, *null = NULL, *args[] = {&null, NULL, &r->n}, *odd;
    tsr_prepared_info_t info = {.struct_size = 1};
    OK(tsrAlloc(r->context, BYTES, TSR_ALLOC_DEFAULT, &other));
    odd = (char *)other + 1;
    REFUSED(tsrPrepareKernel(NULL, &a, 1, args, 3, &failed), TSR_EINVAL, "kernel");
    REFUSED(tsrPrepareKernel(r->kernel, &a, 1, args, 3, NULL), TSR_EINVAL, "prepared");
    REFUSED(tsrPrepareKernel(r->kernel, NULL, 1, args, 3, &failed), TSR_EINVAL, "inputs");
    REFUSED(tsrPrepareKernel(r->kernel, &none, 1, args, 3, &failed), TSR_EINVAL, "no input 1");
    REFUSED(tsrPrepareKernel(r->kernel, NULL, 0, args, 3, &failed), TSR_EINVAL, "the constant 'a'");
    REFUSED(tsrPrepareKernel(r->kernel, &a, 1, args, 2, &failed), TSR_EINVAL, "takes 3 arguments");
    REFUSED(tsrPrepareKernel(r->kernel, &a, 1, args, 3, &failed), TSR_EINVAL, "('a') is NULL");
    args[0] = &odd;
    REFUSED(tsrPrepareKernel(r->kernel, &a, 1, args, 3, &failed), TSR_EINVAL, "not aligned");
    args[0] = NULL;
    REFUSED(tsrPrepareKernel(r->kernel, &a, 1, args, 3, &failed), TSR_EINVAL, "args[0] is NULL");
    args[0] = &other;
    args[1] = &r->out;
    REFUSED(tsrLaunchPrepared(prepared, NULL, (tsr_launch_t){0}, args, 3), TSR_EINVAL,
            "the input 'a' of kernel 'twice' was prepared at");
    REFUSED(tsrLaunchPrepared(prepared, NULL, (tsr_launch_t){.grid_x = 7}, r->args, 3), TSR_EINVAL,
            "is launched with grid");
    REFUSED(tsrLaunchPrepared(NULL, NULL, (tsr_launch_t){0}, args, 3), TSR_EINVAL, "prepared");
    REFUSED(tsrGetPreparedInfo(prepared, &info), TSR_EINVAL, "struct_size");
    REFUSED(tsrDestroyPrepared(NULL), TSR_EINVAL, "prepared");
    OK(tsrFree(r->context, other));
    OK(tsrDestroyPrepared(prepared));
}

static const struct {
    const char *what;
    void (*run)(rig *r);
} rows[] = {{"what was made once is used", what_was_made_once_is_used},
            {"other sizes are other preparations", other_sizes_are_other_preparations},
            {"nothing goes before what uses it", nothing_goes_before_what_uses_it},
            {"wrong arguments are refused", wrong_arguments_are_refused}};

static void each_device_prepares(void **state) {
    (void)state;
    setenv(SIMULATED_COUNT, "1", 1);
    for (uint32_t d = 0; d < DEVICES; d++) {
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            rig r;
            print_message("device %u: %s\n", d, rows[i].what);
            open_rig(&r, d, 0);
            rows[i].run(&r);
            close_rig(&r);
        }
    }
    assert_int_equal(simulated_memory_used(0), 0);
    unsetenv(SIMULATED_COUNT);
}

/* ---- the rest ---- */

static void debug_sees_changed_contents(void **state) {
    (void)state;
    rig r;
    tsr_graph_t graph;
    setenv(SIMULATED_COUNT, "1", 1);
    for (uint32_t d = 0; d < DEVICES; d++) {
        open_rig(&r, d, TSR_CONTEXT_DEBUG);
        tsr_prepared_t prepared = prepare(&r);
        OK(launch_prepared(&r, prepared, NULL));
        expect_output(&r, 1);
        OK(tsrBeginCapture(r.stream));
        OK(launch_prepared(&r, prepared, r.stream));
        OK(tsrEndCapture(r.stream, &graph));
        write_input(&r, 2);
        REFUSED(launch_prepared(&r, prepared, NULL), TSR_EINVAL, "was changed since");
        REFUSED(tsrLaunchGraph(graph, r.stream), TSR_EINVAL, "was changed since");
        write_input(&r, 1);
        OK(launch_prepared(&r, prepared, NULL));
        expect_output(&r, 1);
        OK(tsrDestroyGraph(graph));
        OK(tsrDestroyPrepared(prepared));
        close_rig(&r);
    }
    unsetenv(SIMULATED_COUNT);
}

static void a_lost_context_takes_it_along(void **state) {
    (void)state;
    rig r;
    setenv(SIMULATED_COUNT, "1", 1);
    setenv(SIMULATED_FAULTS, "0:lost=4", 1); /* after the input, its phase and a launch */
    simulated_reset();
    open_rig(&r, 1, 0);
    tsr_prepared_t prepared = prepare(&r);
    OK(launch_prepared(&r, prepared, NULL));
    assert_int_equal(launch_prepared(&r, prepared, NULL), TSR_EDEVICELOST);
    assert_int_equal(tsrDestroyPrepared(prepared), TSR_EDEVICELOST);
    OK(tsrDestroyContext(r.context));
    assert_int_equal(simulated_memory_used(0), 0);
    unsetenv(SIMULATED_COUNT);
    unsetenv(SIMULATED_FAULTS);
    simulated_reset();
}

static void what_metadata_cannot_say_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *was, *is, *words;
    } changes[] = {{"[\"a\"]", "[\"b\"]", "\"constants\" names no input"},
                   {"[\"a\"]", "  17 ", "\"constants\" is not an array"},
                   {"\"constants\"", "\"Constants\"", "\"constant\" is none of"},
                   {"\"constant\": \"a\"", "\"constant\": 17 ", "\"constant\" is none of"},
                   {"\"symbol\": \"phase_twice_prepared\", \"grid\": 100,",
                    "\"symbol\": \"p\", \"concurrent\": true, \"grid\":100,", "\"concurrent\""},
                   {"\"symbol\": \"phase_twice_prepared\", \"grid\": 100,",
                    "\"symbol\": \"p\", \"concurrent\": 1, \"grid\": 100,  ", "\"concurrent\""},
                   {"\"prepared_bytes\": 400", "\"prepared_bytes\":  -4", "\"prepared_bytes\""}};
    tsr_context_t context;
    tsr_module_t module;
    OK(tsrCreateContextOn(0, 1, 0, &context));
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        char json[sizeof sound];
        memcpy(json, sound, sizeof sound);
        memcpy(strstr(json, changes[i].was), changes[i].is, strlen(changes[i].is));
        REFUSED(load_module(context, json, &module), TSR_ECORRUPT, changes[i].words);
    }
    OK(tsrDestroyContext(context));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_device_prepares),
        cmocka_unit_test(debug_sees_changed_contents),
        cmocka_unit_test(a_lost_context_takes_it_along),
        cmocka_unit_test(what_metadata_cannot_say_is_refused),
    };
    SKIP_WITHOUT_KERNELS;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
