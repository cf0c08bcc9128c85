/* test_program.c - programs: which are loaded and which are refused, and how launches of one share
 * what is the program's. That they run on every device is test_conformance.c's. */
#include "test/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "runtime.h"
#include "test/abi_fixture.h"
#include "test/program_maker.h"
#include "test/program_rules.h"
#include "test/small_program.h"

enum { BYTES = KERNEL_CELLS * sizeof(float) };

/* ---- rules ---- */

static void expect_rule(tsr_context_t context, const char *json, const char *words) {
    tsr_module_t module;
    tsr_status_t result = load_program(context, json, &module);
    if (words ? result != TSR_ECORRUPT || !strstr(tsrGetLastError(), words) : result != TSR_SUCCESS)
        fail_msg("%s: %s, %s; expected %s", json, tsrStatusName(result),
                 result == TSR_SUCCESS ? "" : tsrGetLastError(), words ? words : "success");
    if (result == TSR_SUCCESS)
        OK(tsrUnloadModule(module));
}

static void programs_are_held_to_their_rules(void **state) {
    tsr_context_t context;
    (void)state;
    OK(tsrCreateContextOn(0, 1, 0, &context));
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        char json[4096];
        snprintf(json, sizeof json, SMALL_WITH("1024", "\"kernel:0\"", "%s"), rules[i].commands);
        expect_rule(context, json, rules[i].words);
    }
    OK(tsrDestroyContext(context));
}

/* ---- documents ---- */

static void documents_of_programs_are_read(void **state) {
    tsr_context_t context;
    (void)state;
    OK(tsrCreateContextOn(0, 1, 0, &context));
    for (size_t i = 0; i < COUNT_OF(documents); i++)
        expect_rule(context, documents[i].commands, documents[i].words);
    OK(tsrDestroyContext(context));
}

static void expect_kernel(tsr_context_t context, bytes kernel, tsr_status_t code,
                          const char *words) {
    tsr_module_t module;
    bytes image = make_program(SMALL_WITH("0", "\"kernel:0\"", END), kernel);
    REFUSED(tsrLoadModule(context, image.data, image.size, &module), code, words);
    free(image.data);
}

/* Kernels of a program are ordinary modules. */
static void sections_of_programs_are_kernels(void **state) {
    tsr_context_t context;
    tsr_module_t module;
    bytes kernel = good_module(), object = read_object("kernel_good");
    bytes nested = make_program(SMALL_WITH("0", "\"kernel:0\"", END), kernel);
    bytes open = make_module(
        "{\"schema\": \"tsr.module/2\", \"name\": \"open\", \"dims\": [\"N\"], \"inputs\": [], "
        "\"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [\"N\"]}], "
        "\"workspace_bytes\": 400, \"scratch_bytes\": 64, \"phases\": []}",
        "x86_64-elf/x86-64-v2+fma", object);
    (void)state;
    OK(tsrCreateContextOn(0, 1, 0, &context));
    expect_kernel(context, nested, TSR_ECORRUPT, "section 'kernel:0': a program is no kernel");
    expect_kernel(context, open, TSR_ECORRUPT, "no kernel of fixed shapes");
    expect_kernel(context, (bytes){kernel.data, 40}, TSR_ECORRUPT, "section 'kernel:0'");
    kernel.data[10] = 77;
    expect_kernel(context, kernel, TSR_EVERSION, "section 'kernel:0'");
    kernel.data[10] = 0;
    void *image;
    size_t size;
    const char *json = SMALL_WITH("0", "\"kernel:0\"", END);
    const module_part parts[] = {{"metadata", json, strlen(json)},
                                 {"kernel:0", kernel.data, kernel.size},
                                 {"x86_64-elf/x86-64-v2+fma", object.data, object.size}};
    assert_true(module_write_for(MODULE_ABI_MINOR_PROGRAM, parts, 3, &image, &size, NULL));
    REFUSED(tsrLoadModule(context, image, size, &module), TSR_ECORRUPT, "has the image");
    OK(tsrDestroyContext(context));
    free(image);
    free(open.data);
    free(nested.data);
    free(kernel.data);
    free(object.data);
}

/* ---- launches ---- */

static tsr_status_t launch_on(const rig *r, tsr_stream_t stream, float *a, float *out) {
    void *args[] = {&a, &out};
    return tsrLaunch(r->kernel, stream, (tsr_launch_t){0}, args, 2);
}

/* Ten launches, each on what the one before made. */
#define TEN_OF                                                                                     \
    COPY(ARENA("0"), IN, "400")                                                                    \
    "," LOOP("10", DISPATCH(ARENA("0"), ARENA("448")) "," COPY(                                    \
                       ARENA("0"), ARENA("448"), "400")) "," COPY(OUT, ARENA("0"), "400")
#define TEN SMALL_WITH("1024", "\"kernel:0\"", TEN_OF)

static void expect_ten(const float *out, float first) {
    for (int i = 0; i < KERNEL_CELLS; i++) {
        float x = first;
        for (int k = 0; k < 10; k++)
            x = 2 * x + (float)(i % 4 + 1);
        assert_true(out[i] == x);
    }
}

enum { MANY = METADATA_PARAMETERS_MAX, CELLS = 16 };

static void many_buffers_are_launched(void **state) {
    static const int counts[] = {LAUNCH_SMALL_BUFFERS / 2, LAUNCH_SMALL_BUFFERS / 2 + 1, 300, MANY};
    static _Alignas(64) float memory[2 * MANY][CELLS];
    static void *buffers[2 * MANY], *args[2 * MANY];
    (void)state;
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        rig r;
        const size_t n = (size_t)counts[k];
        text json = many_json(counts[k], "\"donated\": [[0, 0], [3, 7]], ", "");
        open_rig(&r, 0, json.data);
        for (size_t i = 0; i < 2 * n; i++) {
            buffers[i] = memory[i];
            args[i] = &buffers[i];
            for (int c = 0; c < CELLS; c++)
                memory[i][c] = i < n ? (float)(i * CELLS) + (float)c : -1;
        }
        OK(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 2 * n));
        assert_memory_equal(memory, memory[n], n * sizeof *memory);
        buffers[0] = memory[n - 1]; /* inputs may be one */
        OK(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 2 * n));
        assert_memory_equal(memory[n - 1], memory[n], sizeof *memory);
        buffers[n + 3] = memory[7];
        REFUSED(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 2 * n), TSR_EINVAL, "overlaps");
        buffers[n + 3] = memory[2 * n - 2];
        REFUSED(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 2 * n), TSR_EINVAL, "overlaps");
        buffers[n + 3] = memory[n + 3];
        buffers[n + 7] = memory[3]; /* input 3 is donated to output 7 */
        OK(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 2 * n));
        assert_memory_equal(memory[3], memory[7], sizeof *memory);
        buffers[5] = memory[3];
        REFUSED(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 2 * n), TSR_EINVAL, "overlaps");
        REFUSED(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 2 * n - 1), TSR_EINVAL,
                "arguments");
        close_rig(&r);
        text_release(&json);
    }
}

static void forged_counts_are_refused(void **state) {
    tsr_context_t context;
    text json = many_json(MANY + 1, "", "");
    (void)state;
    OK(tsrCreateContextOn(0, 1, 0, &context));
    expect_rule(context, json.data, "\"inputs\"");
    text_release(&json);
    json = many_json(3, "", ", {\"dispatch\": 0, \"operands\": [[\"input\", 0, 0]");
    json.length -= 3;
    for (int i = 0; i < 2 * MANY; i++)
        text_append(&json, ", [\"input\", 0, 0]");
    text_append(&json, "]}]}}");
    expect_rule(context, json.data, "too long");
    text_release(&json);
    OK(tsrDestroyContext(context));
}

static void programs_describe_themselves(void **state) {
    rig r;
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    tsr_prepared_t prepared;
    _Alignas(64) float a[KERNEL_CELLS] = {0}, out[KERNEL_CELLS];
    float *buffers[] = {a, out};
    void *args[] = {&buffers[0], &buffers[1]};
    const char *isa, *kernels_isa;
    (void)state;
    open_rig(&r, 0, TEN);
    OK(tsrGetKernelInfo(r.kernel, &info));
    assert_int_equal(info.workspace_bytes, 1024);
    assert_int_equal(info.phases, 0);
    OK(tsrGetModuleIsa(r.module, &isa));
    OK(tsrGetModuleIsa(r.module->kernels[0], &kernels_isa));
    assert_string_equal(isa, kernels_isa);
    REFUSED(launch_on(&r, NULL, a, a), TSR_EINVAL, "overlaps");
    REFUSED(launch_on(&r, NULL, a, out + 1), TSR_EINVAL, "aligned");
    REFUSED(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 1), TSR_EINVAL, "2 arguments");
    REFUSED(tsrLaunch(r.kernel, NULL, (tsr_launch_t){.grid_x = 2}, args, 2), TSR_EINVAL, "grid");
    OK(tsrPrepareKernel(r.kernel, (const uint32_t[]){0}, 1, args, 2, &prepared));
    OK(tsrLaunchPrepared(prepared, NULL, (tsr_launch_t){0}, args, 2));
    expect_ten(out, 0);
    OK(tsrDestroyPrepared(prepared));
    close_rig(&r);
}

/* `a` is donated to `out`, and so to nothing else. */
static void donated_inputs_are_launched_in_place(void **state) {
    static const uint32_t flags[] = {0, TSR_CONTEXT_DEBUG};
    (void)state;
    for (size_t f = 0; f < COUNT_OF(flags); f++) {
        rig r;
        tsr_stream_t stream;
        tsr_graph_t graph;
        uint32_t output = TSR_NOT_DONATED;
        _Alignas(64) float a[2 * KERNEL_CELLS];
        open_rig(&r, flags[f], DONATED(TEN_OF));
        OK(tsrCreateStream(r.context, &stream));
        OK(tsrGetDonatedOutput(r.kernel, 0, &output));
        assert_int_equal(output, 0);
        REFUSED(tsrGetDonatedOutput(r.kernel, 1, &output), TSR_ENOTFOUND, "no input 1");
        REFUSED(tsrGetDonatedOutput(r.kernel, 0, NULL), TSR_EINVAL, "output is NULL");
        for (int way = 0; way < 3; way++) {
            for (int i = 0; i < KERNEL_CELLS; i++)
                a[i] = (float)way;
            OK(way == 2 ? tsrBeginCapture(stream) : TSR_SUCCESS);
            OK(launch_on(&r, way ? stream : NULL, a, a));
            if (way == 2) {
                OK(tsrEndCapture(stream, &graph));
                OK(tsrLaunchGraph(graph, stream));
                OK(tsrDestroyGraph(graph));
            }
            OK(tsrStreamSynchronize(r.context, stream));
            expect_ten(a, (float)way);
        }
        REFUSED(launch_on(&r, NULL, a, a + 64), TSR_EINVAL, "overlaps");
        OK(tsrDestroyStream(stream));
        close_rig(&r);
        open_rig(&r, flags[f], TEN);
        OK(tsrGetDonatedOutput(r.kernel, 0, &output));
        assert_int_equal(output, TSR_NOT_DONATED);
        close_rig(&r);
    }
}

/* A state's memory is in the place of both, and no argument of a launch. */
static void a_state_stays_from_launch_to_launch(void **state) {
    rig r, other;
    tsr_state_t kept, none;
    void *memory;
    uint64_t size;
    float *a, b[1];
    (void)state;
    open_rig(&r, 0, DONATED(TEN_OF));
    OK(tsrCreateState(r.kernel, &kept));
    REFUSED(tsrGetStateBuffer(kept, "b", &memory, NULL), TSR_ENOTFOUND, "no 'b'");
    OK(tsrGetStateBuffer(kept, "a", &memory, &size));
    assert_int_equal(size, BYTES);
    a = memory;
    for (int turn = 0; turn < 2; turn++) {
        const float last = a[KERNEL_CELLS - 1];
        float x = last;
        for (int k = 0; k < 10; k++)
            x = 2 * x + (float)((KERNEL_CELLS - 1) % 4 + 1);
        OK(tsrLaunchState(r.kernel, kept, NULL, (tsr_launch_t){0}, NULL, 0));
        assert_true(a[KERNEL_CELLS - 1] == x && x > last);
    }
    void *extra[] = {b};
    REFUSED(tsrLaunchState(r.kernel, kept, NULL, (tsr_launch_t){0}, extra, 1), TSR_EINVAL,
            "takes 0 arguments beside its state, not 1");
    REFUSED(tsrDestroyContext(r.context), TSR_EINVAL, "1 states");
    open_rig(&other, 0, TEN);
    REFUSED(tsrCreateState(other.kernel, &none), TSR_EINVAL, "has no state");
    REFUSED(tsrLaunchState(other.kernel, kept, NULL, (tsr_launch_t){0}, NULL, 0), TSR_EINVAL,
            "another context");
    close_rig(&other);
    OK(tsrDestroyState(kept));
    close_rig(&r);
}

/* They are more commands than a batch has room for. */
enum { STREAMS = 3, ROUNDS = 200 };

typedef struct launcher {
    const rig *r;
    tsr_stream_t stream;
    _Alignas(64) float a[KERNEL_CELLS];
    _Alignas(64) float out[ROUNDS][KERNEL_CELLS + 12]; /* each aligned */
    float first;
} launcher;

static void *launch_many(void *argument) {
    launcher *l = argument;
    for (int i = 0; i < KERNEL_CELLS; i++)
        l->a[i] = l->first;
    for (int round = 0; round < ROUNDS; round++)
        OK(launch_on(l->r, l->stream, l->a, l->out[round]));
    return NULL;
}

/* ... and all of them use one arena. */
static void launches_of_a_program_follow_each_other(void **state) {
    static launcher launchers[STREAMS + 1]; /* one on the default stream */
    pthread_t threads[STREAMS + 1];
    rig r;
    (void)state;
    open_rig(&r, 0, TEN);
    for (int i = 0; i <= STREAMS; i++) {
        launcher *l = &launchers[i];
        l->r = &r;
        l->first = (float)i;
        if (i < STREAMS)
            OK(tsrCreateStream(r.context, &l->stream));
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, l), 0);
    }
    for (int i = 0; i <= STREAMS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i <= STREAMS; i++) {
        OK(tsrStreamSynchronize(r.context, launchers[i].stream));
        for (int round = 0; round < ROUNDS; round++)
            expect_ten(launchers[i].out[round], launchers[i].first);
        if (launchers[i].stream)
            OK(tsrDestroyStream(launchers[i].stream));
    }
    close_rig(&r);
}

/* More commands than a stream is given at once. */
static void long_loops_run_to_their_end(void **state) {
    enum { TURNS = 50000 };
    _Alignas(64) float a[KERNEL_CELLS] = {0}, out[KERNEL_CELLS];
    rig r;
    tsr_stream_t streams[] = {NULL, NULL};
    int64_t turn;
    (void)state;
    open_rig(&r, 0, SMALL_WITH("0", "", COPY(OUT, IN, "400") "," LOOP("50000", TURN(OUT, "8"))));
    OK(tsrCreateStream(r.context, &streams[1]));
    for (int i = 0; i < 2; i++) {
        OK(launch_on(&r, streams[i], a, out));
        OK(tsrStreamSynchronize(r.context, streams[i]));
        memcpy(&turn, out, sizeof turn);
        assert_int_equal(turn, TURNS - 1);
        memset(out, 0, sizeof out);
    }
    OK(tsrDestroyStream(streams[1]));
    close_rig(&r);
}

/* Kernels with more operands than a batch of commands has room for. */
static void operands_of_a_batch_are_kept_apart(void **state) {
    enum { OUTPUTS = 120 };
    _Alignas(64) float a[KERNEL_CELLS], out[KERNEL_CELLS] = {0};
    text kernel_json, json;
    rig r;
    bytes object = read_object("kernel_probe"), kernel, image;
    (void)state;
    text_init(&kernel_json);
    text_init(&json);
    text_append(&kernel_json,
                "{\"schema\": \"tsr.module/2\", \"name\": \"copies\", \"inputs\": "
                "[{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [100]}], \"outputs\": [");
    text_append(
        &json, SMALL_HEAD
        "\"program\": {\"arena_bytes\": 65536, \"kernels\": [\"kernel:0\"], "
        "\"commands\": [" COPY(ARENA("0"), IN,
                               "400") ", {\"loop\": 100, "
                                      "\"body\": [{\"dispatch\": 0, \"operands\": [" ARENA("0"));
    for (int i = 0; i < OUTPUTS; i++) {
        text_printf(&kernel_json, "%s{\"name\": \"o%d\", \"dtype\": \"f32\", \"shape\": [%d]}",
                    i ? "," : "", i, i ? 1 : KERNEL_CELLS);
        text_printf(&json, ", [\"arena\", 0, %d%s]", i ? 16384 + 64 * i : 448, i ? "" : ", 64");
    }
    text_append(&kernel_json, "], \"workspace_bytes\": 0, \"scratch_bytes\": 0, \"phases\": "
                              "[{\"symbol\": \"phase_copy\", \"grid\": 100}]}");
    text_append(&json, "]}]}, " COPY(OUT, ARENA("6784"), "400") "]}}");
    kernel = make_module(kernel_json.data, "x86_64-elf/x86-64-v2+fma", object);
    image = make_program(json.data, kernel);
    OK(tsrCreateContextOn(0, 1, 0, &r.context));
    OK(tsrLoadModule(r.context, image.data, image.size, &r.module));
    OK(tsrGetKernel(r.module, "small", &r.kernel));
    for (int i = 0; i < KERNEL_CELLS; i++)
        a[i] = (float)i;
    OK(launch_on(&r, NULL, a, out));
    for (int i = 0; i < KERNEL_CELLS; i++) /* of the last turn */
        assert_true(out[i] == a[i]);
    close_rig(&r);
    free(object.data);
    free(kernel.data);
    free(image.data);
    text_release(&kernel_json);
    text_release(&json);
}

static void programs_run_under_debug(void **state) {
    rig r;
    tsr_stream_t stream;
    tsr_graph_t graph;
    _Alignas(64) float a[KERNEL_CELLS] = {0}, out[KERNEL_CELLS];
    (void)state;
    open_rig(&r, TSR_CONTEXT_DEBUG, TEN);
    OK(tsrCreateStream(r.context, &stream));
    for (int way = 0; way < 3; way++) {
        memset(out, 0, sizeof out);
        if (way == 2) {
            OK(tsrBeginCapture(stream));
            OK(launch_on(&r, stream, a, out));
            OK(tsrEndCapture(stream, &graph));
            OK(tsrLaunchGraph(graph, stream));
            OK(tsrDestroyGraph(graph));
        } else {
            OK(launch_on(&r, way ? stream : NULL, a, out));
        }
        OK(tsrStreamSynchronize(r.context, stream));
        expect_ten(out, 0);
    }
    OK(tsrDestroyStream(stream));
    close_rig(&r);
}

static void kernels_that_leave_the_arena_are_caught(void **state) {
    rig r;
    tsr_stream_t stream;
    tsr_graph_t graph;
    _Alignas(64) float a[KERNEL_CELLS] = {0}, out[KERNEL_CELLS];
    bytes kernel = module_of("kernel_probe", "phase_nothing", "phase_past_end");
    bytes image = make_program(
        SMALL_WITH("400", "\"kernel:0\"", DISPATCH(IN, ARENA("0")) "," COPY(OUT, IN, "400")),
        kernel);
    (void)state;
    OK(tsrCreateContextOn(0, 2, TSR_CONTEXT_DEBUG, &r.context));
    OK(tsrLoadModule(r.context, image.data, image.size, &r.module));
    OK(tsrGetKernel(r.module, "small", &r.kernel));
    OK(tsrCreateStream(r.context, &stream));
    REFUSED(launch_on(&r, NULL, a, out), TSR_EINTERNAL, "arena of program 'small'");
    OK(launch_on(&r, stream, a, out));
    REFUSED(tsrStreamSynchronize(r.context, stream), TSR_EINTERNAL, "arena of program 'small'");
    OK(tsrBeginCapture(stream));
    OK(launch_on(&r, stream, a, out));
    OK(tsrEndCapture(stream, &graph));
    REFUSED(tsrLaunchGraph(graph, NULL), TSR_EINTERNAL, "a program in the graph");
    OK(tsrLaunchGraph(graph, stream));
    REFUSED(tsrStreamSynchronize(r.context, stream), TSR_EINTERNAL, "a program in the graph");
    OK(tsrDestroyGraph(graph));
    OK(tsrDestroyStream(stream));
    close_rig(&r);
    free(kernel.data);
    free(image.data);
}

#define FOREVER SMALL_WITH("64", "\"kernel:0\"", END "," WHILE(OUT, "", END))
#define LONG SMALL_WITH("64", "\"kernel:0\"", END "," LOOP("1099511627776", TURN(ARENA("0"), "8")))

static void graphs_hold_no_branches_and_no_endless_loops(void **state) {
    static const char *const documents_of[] = {FOREVER, LONG};
    static const char *const words[] = {"depend on its data", "does not hold as many"};
    _Alignas(64) float a[KERNEL_CELLS] = {0}, out[KERNEL_CELLS];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        rig r;
        tsr_stream_t stream;
        tsr_graph_t graph;
        open_rig(&r, 0, documents_of[i]);
        OK(tsrCreateStream(r.context, &stream));
        OK(tsrBeginCapture(stream));
        REFUSED(launch_on(&r, stream, a, out), TSR_EUNAVAILABLE, words[i]);
        OK(tsrEndCapture(stream, &graph));
        OK(tsrDestroyGraph(graph));
        OK(tsrDestroyStream(stream));
        close_rig(&r);
    }
}

/* The limit is for the whole of a launch: no command of these takes long. */
static void watchdogs_end_programs(void **state) {
    static const char *const documents_of[] = {FOREVER, LONG};
    _Alignas(64) static float a[KERNEL_CELLS], out[KERNEL_CELLS];
    (void)state;
    for (int way = 0; way < 4; way++) {
        rig r;
        tsr_stream_t stream = NULL;
        a[0] = 0x1.000002p+0f; /* so that the first byte of what is made of it is not 0 */
        open_rig(&r, 0, documents_of[way / 2]);
        if (way % 2)
            OK(tsrCreateStream(r.context, &stream));
        OK(tsrSetWatchdog(r.context, 20000000));
        REFUSED(launch_on(&r, stream, a, out), TSR_ETIMEOUT, "watchdog's 20 ms");
        REFUSED(launch_on(&r, stream, a, out), TSR_ETIMEOUT, "watchdog's 20 ms");
        REFUSED(tsrUnloadModule(r.module), TSR_ETIMEOUT, "watchdog's 20 ms");
        OK(tsrDestroyContext(r.context));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_held_to_their_rules),
        cmocka_unit_test(documents_of_programs_are_read),
        cmocka_unit_test(sections_of_programs_are_kernels),
        cmocka_unit_test(many_buffers_are_launched),
        cmocka_unit_test(forged_counts_are_refused),
        cmocka_unit_test(programs_describe_themselves),
        cmocka_unit_test(donated_inputs_are_launched_in_place),
        cmocka_unit_test(a_state_stays_from_launch_to_launch),
        cmocka_unit_test(launches_of_a_program_follow_each_other),
        cmocka_unit_test(long_loops_run_to_their_end),
        cmocka_unit_test(operands_of_a_batch_are_kept_apart),
        cmocka_unit_test(programs_run_under_debug),
        cmocka_unit_test(kernels_that_leave_the_arena_are_caught),
        cmocka_unit_test(graphs_hold_no_branches_and_no_endless_loops),
        cmocka_unit_test(watchdogs_end_programs),
    };
    SKIP_WITHOUT_KERNELS;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
