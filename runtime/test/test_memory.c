/* test_memory.c - kinds of memory, mapping, and copies, fills and graphs in the order of streams,
 * on every device. */
#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "device/simulated/simulated.h"
#include "test/abi_fixture.h"

enum { BYTES = KERNEL_CELLS * sizeof(float) };

typedef struct rig {
    tsr_context_t context;
    tsr_stream_t stream, other;
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *a, *out;
    void *args[2];
} rig;

static void open_rig(rig *r, uint32_t index, uint32_t flags) {
    bytes image = good_module();
    OK(tsrCreateContextOn(index, 2, flags, &r->context));
    OK(tsrCreateStream(r->context, &r->stream));
    OK(tsrCreateStream(r->context, &r->other));
    OK(tsrLoadModule(r->context, image.data, image.size, &r->module));
    free(image.data);
    OK(tsrGetKernel(r->module, "affine", &r->kernel));
    OK(tsrAlloc(r->context, BYTES, TSR_ALLOC_DEFAULT, &r->a));
    OK(tsrAlloc(r->context, BYTES, TSR_ALLOC_ZERO, &r->out));
    r->args[0] = &r->a;
    r->args[1] = &r->out;
}

static void close_rig(rig *r) {
    OK(tsrDestroyStream(r->stream));
    OK(tsrDestroyStream(r->other));
    if (r->a)
        OK(tsrFree(r->context, r->a));
    OK(tsrFree(r->context, r->out));
    OK(tsrUnloadModule(r->module));
    OK(tsrDestroyContext(r->context));
}

static tsr_status_t run(rig *r, tsr_stream_t stream) {
    return tsrLaunch(r->kernel, stream, (tsr_launch_t){0}, r->args, 2);
}

static void number(float *a, int from) {
    for (int i = 0; i < KERNEL_CELLS; i++)
        a[i] = (float)(i + from);
}

static void expect(const float *out, int from) {
    for (int i = 0; i < KERNEL_CELLS; i++)
        assert_true(out[i] == (float)(2 * (i + from) + i % 4 + 1));
}

/* Copy in, launch, copy out: one stream keeps them in order, whatever another does. */
static void streams_order_copies(uint32_t index) {
    rig r;
    float a[3][KERNEL_CELLS], out[3][KERNEL_CELLS];
    open_rig(&r, index, 0);
    for (int round = 0; round < 3; round++) {
        number(a[round], round);
        OK(tsrFillAsync(r.context, r.stream, r.out, 0xFF, BYTES));
        OK(tsrCopyAsync(r.context, r.stream, r.a, a[round], BYTES));
        OK(run(&r, r.stream));
        OK(tsrCopyAsync(r.context, r.stream, out[round], r.out, BYTES));
    }
    OK(tsrStreamSynchronize(r.context, r.stream));
    for (int round = 0; round < 3; round++)
        expect(out[round], round);
    close_rig(&r);
}

static void events_order_streams(uint32_t index) {
    rig r;
    tsr_event_t written, done;
    float a[KERNEL_CELLS], out[KERNEL_CELLS];
    uint64_t early, late;
    open_rig(&r, index, 0);
    OK(tsrCreateEvent(r.context, &written));
    OK(tsrCreateEvent(r.context, &done));
    assert_int_equal(tsrGetEventTime(done, &late), TSR_EINVAL);
    for (int round = 0; round < 10; round++) {
        number(a, round);
        OK(tsrCopyAsync(r.context, r.stream, r.a, a, BYTES));
        OK(tsrRecordEvent(written, r.stream));
        OK(tsrWaitEvent(written, r.other));
        OK(run(&r, r.other));
        OK(tsrRecordEvent(done, r.other));
        OK(tsrWaitEvent(done, r.stream));
        OK(tsrCopyAsync(r.context, r.stream, out, r.out, BYTES));
        OK(tsrStreamSynchronize(r.context, r.stream));
        expect(out, round);
        OK(tsrGetEventTime(written, &early));
        OK(tsrGetEventTime(done, &late));
        assert_true(early <= late);
    }
    assert_int_equal(tsrWaitEvent(NULL, r.stream), TSR_EINVAL);
    OK(tsrDestroyEvent(written));
    OK(tsrDestroyEvent(done));
    close_rig(&r);
}

static void memory_is_of_kinds(uint32_t index) {
    static const uint32_t kinds[] = {TSR_ALLOC_HOST_VISIBLE, TSR_ALLOC_PINNED};
    rig r;
    tsr_device_info_t info = {.struct_size = sizeof info};
    open_rig(&r, index, 0);
    OK(tsrGetDeviceInfo(index, &info));
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        void *p, *again;
        float *host, out[KERNEL_CELLS];
        assert_true(info.memory_kinds & kinds[i]);
        OK(tsrAlloc(r.context, BYTES, kinds[i] | TSR_ALLOC_ZERO, &p));
        assert_int_equal(tsrUnmap(r.context, p), TSR_EINVAL);
        OK(tsrMap(r.context, p, (void **)&host));
        assert_true((p == host) == (info.host_addressable != 0));
        assert_int_equal(tsrMap(r.context, p, &again), TSR_EINVAL);
        assert_true(host[0] == 0 && host[KERNEL_CELLS - 1] == 0);
        number(host, 5);
        OK(tsrUnmap(r.context, p));
        void *args[] = {&p, &r.out};
        OK(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 2));
        OK(tsrCopy(r.context, out, r.out, BYTES));
        expect(out, 5);
        OK(tsrMap(r.context, p, (void **)&host));
        OK(tsrFree(r.context, p)); /* unmaps */
        assert_int_equal(tsrMap(r.context, p, &again), TSR_EINVAL);
    }
    void *host;
    assert_int_equal(tsrMap(r.context, r.a, &host),
                     info.host_addressable ? TSR_SUCCESS : TSR_EINVAL);
    assert_int_equal(tsrMap(r.context, r.a, NULL), TSR_EINVAL);
    close_rig(&r);
}

static void the_programs_memory_is_for_hosts(uint32_t index) {
    rig r;
    tsr_device_info_t info = {.struct_size = sizeof info};
    static _Alignas(64) float own[KERNEL_CELLS];
    void *mine = own, *args[] = {&mine, NULL};
    open_rig(&r, index, 0);
    args[1] = &r.out;
    OK(tsrGetDeviceInfo(index, &info));
    assert_int_equal(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, args, 2),
                     info.host_addressable ? TSR_SUCCESS : TSR_EINVAL);
    close_rig(&r);
}

static void wrong_transfers_are_refused(uint32_t index) {
    rig r;
    float a[KERNEL_CELLS];
    open_rig(&r, index, 0);
    assert_int_equal(tsrCopyAsync(r.context, r.stream, r.a, a, BYTES + 1), TSR_EINVAL);
    assert_int_equal(tsrCopyAsync(r.context, r.stream, a, r.a, BYTES + 1), TSR_EINVAL);
    assert_int_equal(tsrFillAsync(r.context, r.stream, r.a, 0, BYTES + 1), TSR_EINVAL);
    assert_int_equal(tsrFillAsync(r.context, r.stream, NULL, 0, 1), TSR_EINVAL);
    assert_int_equal(tsrCopyAsync(r.context, NULL, NULL, a, 1), TSR_EINVAL);
    assert_int_equal(tsrCopyAsync(NULL, NULL, r.a, a, 1), TSR_EINVAL);
    OK(tsrCopyAsync(r.context, NULL, NULL, NULL, 0));
    OK(tsrFillAsync(r.context, NULL, NULL, 1, 0));
    close_rig(&r);
}

/* ---- graphs ---- */

static tsr_graph_t capture(rig *r, float *a, float *out) {
    tsr_graph_t graph;
    OK(tsrBeginCapture(r->stream));
    OK(tsrFillAsync(r->context, r->stream, r->out, 0xFF, BYTES));
    OK(tsrCopyAsync(r->context, r->stream, r->a, a, BYTES));
    OK(run(r, r->stream));
    OK(tsrCopyAsync(r->context, r->stream, out, r->out, BYTES));
    OK(tsrEndCapture(r->stream, &graph));
    return graph;
}

static void graphs_are_replayed(uint32_t index) {
    for (uint32_t flags = 0; flags <= TSR_CONTEXT_DEBUG; flags++) {
        rig r;
        float a[KERNEL_CELLS], out[KERNEL_CELLS] = {0};
        open_rig(&r, index, flags);
        number(a, 0);
        tsr_graph_t graph = capture(&r, a, out);
        OK(tsrStreamSynchronize(r.context, r.stream));
        assert_true(out[0] == 0); /* nothing ran yet */
        for (int round = 0; round < 6; round++) {
            tsr_stream_t stream = round % 3 == 0 ? NULL : round % 3 == 1 ? r.stream : r.other;
            number(a, round);
            OK(tsrLaunchGraph(graph, stream));
            OK(tsrStreamSynchronize(r.context, stream));
            expect(out, round);
        }
        assert_int_equal(tsrUnloadModule(r.module), TSR_EINVAL);
        assert_int_equal(tsrDestroyContext(r.context), TSR_EINVAL);
        OK(tsrDestroyGraph(graph));
        close_rig(&r);
    }
}

/* Memory that lies at the same address again is found; where none does, the launch is refused. */
static void graphs_look_for_their_memory(uint32_t index) {
    rig r;
    float a[KERNEL_CELLS], out[KERNEL_CELLS] = {0};
    open_rig(&r, index, 0);
    number(a, 0);
    tsr_graph_t graph = capture(&r, a, out);
    OK(tsrFree(r.context, r.a));
    r.a = NULL;
    assert_int_equal(tsrLaunchGraph(graph, r.stream), TSR_EINVAL);
    assert_int_equal(tsrLaunchGraph(graph, NULL), TSR_EINVAL);
    assert_true(out[0] == 0);
    OK(tsrDestroyGraph(graph));
    close_rig(&r);
}

static void wrong_captures_are_refused(uint32_t index) {
    rig r;
    tsr_event_t event;
    tsr_graph_t graph;
    open_rig(&r, index, 0);
    OK(tsrCreateEvent(r.context, &event));
    assert_int_equal(tsrBeginCapture(NULL), TSR_EINVAL);
    assert_int_equal(tsrEndCapture(r.stream, &graph), TSR_EINVAL);
    OK(tsrBeginCapture(r.stream));
    assert_int_equal(tsrBeginCapture(r.stream), TSR_EINVAL);
    assert_int_equal(tsrRecordEvent(event, r.stream), TSR_EINVAL);
    assert_int_equal(tsrWaitEvent(event, r.stream), TSR_EINVAL);
    assert_int_equal(tsrStreamSynchronize(r.context, r.stream), TSR_EINVAL);
    void *same[] = {&r.a, &r.a};
    assert_int_equal(tsrLaunch(r.kernel, r.stream, (tsr_launch_t){0}, same, 2), TSR_EINVAL);
    assert_int_equal(tsrEndCapture(r.stream, NULL), TSR_EINVAL);
    OK(tsrEndCapture(r.stream, &graph));
    OK(tsrLaunchGraph(graph, r.stream)); /* of nothing */
    OK(tsrBeginCapture(r.other));
    assert_int_equal(tsrLaunchGraph(graph, r.other), TSR_EINVAL);
    OK(run(&r, r.other));
    OK(tsrDestroyStream(r.other)); /* and what it captured */
    OK(tsrCreateStream(r.context, &r.other));
    assert_int_equal(tsrLaunchGraph(NULL, r.other), TSR_EINVAL);
    assert_int_equal(tsrDestroyGraph(NULL), TSR_EINVAL);
    OK(tsrDestroyGraph(graph));
    OK(tsrDestroyEvent(event));
    close_rig(&r);
}

/* ---- sizes ---- */

/* Memory of all sizes from a page to huge pages of its own, taken and given back out
 * of order: no two share a byte. */
static void sizes_lie_apart(uint32_t index) {
    enum { COUNT = 97 };
    static const size_t sizes[] = {4096,    262143,        262144,  262145,       1 << 20,
                                   3 << 20, (4 << 20) - 1, 4 << 20, (4 << 20) + 1};
    rig r;
    unsigned char *held[COUNT] = {0}, back;
    open_rig(&r, index, 0);
    for (unsigned turn = 0; turn < 3 * COUNT; turn++) {
        const unsigned i = turn * 31 % COUNT;
        if (held[i]) {
            const size_t last = sizes[i % COUNT_OF(sizes)] - 1;
            OK(tsrCopy(r.context, &back, held[i], 1));
            assert_int_equal(back, i);
            OK(tsrCopy(r.context, &back, held[i] + last, 1));
            assert_int_equal(back, i);
            OK(tsrFree(r.context, held[i]));
            held[i] = NULL;
        }
        if (turn < 2 * COUNT) {
            const size_t size = sizes[i % COUNT_OF(sizes)];
            OK(tsrAlloc(r.context, size, TSR_ALLOC_DEFAULT, (void **)&held[i]));
            OK(tsrFillAsync(r.context, r.stream, held[i], (unsigned char)i, size));
            OK(tsrStreamSynchronize(r.context, r.stream));
        }
    }
    close_rig(&r);
}

/* ---- the table ---- */

static const struct {
    const char *name;
    void (*check)(uint32_t index);
} rows[] = {
    {"streams order copies", streams_order_copies},
    {"events order streams", events_order_streams},
    {"memory is of kinds", memory_is_of_kinds},
    {"the program's memory is for hosts", the_programs_memory_is_for_hosts},
    {"wrong transfers are refused", wrong_transfers_are_refused},
    {"graphs are replayed", graphs_are_replayed},
    {"graphs look for their memory", graphs_look_for_their_memory},
    {"wrong captures are refused", wrong_captures_are_refused},
    {"sizes lie apart", sizes_lie_apart},
};

static void every_device_does(void **state) {
    uint32_t count;
    (void)state;
    OK(tsrGetDeviceCount(&count));
    assert_int_equal(count, 2);
    for (uint32_t index = 0; index < count; index++)
        for (size_t row = 0; row < COUNT_OF(rows); row++) {
            print_message("device %u: %s\n", index, rows[row].name);
            rows[row].check(index);
        }
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    setenv(SIMULATED_COUNT, "1", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_device_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
