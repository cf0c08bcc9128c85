/* abi_programs.h - programs on a device of any driver; for the conformance of the public functions.
 */
#ifndef TESSERA_RUNTIME_ABI_PROGRAMS_H
#define TESSERA_RUNTIME_ABI_PROGRAMS_H

#include "test/abi_bench.h"
#include "test/program_maker.h"

typedef struct program_rig {
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *flags, *rows, *turns;
    void *args[5];
} program_rig;

static inline void open_program(const abi_bench *b, program_rig *r, const char *json) {
    bytes kernel = make_abi_module(b, &(abi_module){0}), image = make_program(json, kernel);
    OK(tsrLoadModule(b->context, image.data, image.size, &r->module));
    free(kernel.data);
    free(image.data);
    OK(tsrGetKernel(r->module, "steps", &r->kernel));
    OK(tsrAlloc(b->context, 8, TSR_ALLOC_ZERO, &r->flags));
    OK(tsrAlloc(b->context, PROGRAM_ROWS_BYTES, 0, &r->rows));
    OK(tsrAlloc(b->context, PROGRAM_TURNS_BYTES, 0, &r->turns));
    const void *args[] = {&b->a, &r->flags, &b->out, &r->rows, &r->turns};
    memcpy(r->args, args, sizeof args);
}

static inline void close_program(const abi_bench *b, const program_rig *r) {
    OK(tsrFree(b->context, r->flags));
    OK(tsrFree(b->context, r->rows));
    OK(tsrFree(b->context, r->turns));
    OK(tsrUnloadModule(r->module));
}

static inline void expect_rows_and_turns(const abi_bench *b, const program_rig *r, float first) {
    int64_t turns[6];
    for (int row = 0; row < PROGRAM_LOOP_LAUNCHES; row++)
        expect_at(b, (const char *)r->rows + row * BYTES, first, row + 1);
    OK(tsrCopy(b->context, turns, r->turns, sizeof turns));
    for (int i = 0; i < 6; i++)
        assert_int_equal(turns[i], i % 2);
}

static inline void programs_run(const abi_bench *b) {
    static const struct {
        unsigned char flags[8];
        int launches; /* beside those of the loop */
    } ways[] = {{{0}, 0}, {{1, 7, 0, 1, 0, 0, 0, 0}, 2}, {{1, 0, 0, 0, 0, 0, 0, 2}, 2}};
    tsr_stream_t streams[] = {NULL, NULL};
    program_rig r;
    open_program(b, &r, PROGRAM_OF(PROGRAM_LOOPS PROGRAM_BRANCHES));
    OK(tsrCreateStream(b->context, &streams[1]));
    for (size_t i = 0; i < 2 * COUNT_OF(ways); i++) {
        tsr_stream_t stream = streams[i % 2];
        put(b, b->a, (float)i);
        OK(tsrCopy(b->context, r.flags, ways[i / 2].flags, 8));
        OK(tsrFillAsync(b->context, stream, b->out, 0xFF, BYTES));
        OK(tsrLaunch(r.kernel, stream, (tsr_launch_t){0}, r.args, 5));
        OK(tsrStreamSynchronize(b->context, stream));
        expect_at(b, b->out, (float)i, PROGRAM_LOOP_LAUNCHES + ways[i / 2].launches);
        expect_rows_and_turns(b, &r, (float)i);
    }
    OK(tsrDestroyStream(streams[1]));
    close_program(b, &r);
}

/* ---- recorded ---- */

/* Checks how often the device recorded, and replayed what it had. */
static inline void expect_recorded(const abi_bench *b, uint64_t recordings, uint64_t replays) {
    device_counts counts;
    b->driver->count(b->context->device, &counts);
    assert_int_equal(counts.recordings, recordings);
    assert_int_equal(counts.replays, replays);
}

/* Launches with the places that came before are a replay each, those with others are recorded, and
 * the first ones are still there after that; on each stream, with the results of one by one. */
static inline void programs_are_recorded_once(const abi_bench *b) {
    enum { ROUNDS = 6 };
    tsr_stream_t streams[2] = {NULL};
    void *other;
    program_rig r;
    if (!b->driver->sequence_create)
        return;
    open_program(b, &r, PROGRAM_OF(PROGRAM_LOOPS PROGRAM_END));
    OK(tsrCreateStream(b->context, &streams[1]));
    OK(tsrAlloc(b->context, BYTES, 0, &other));
    for (int round = 0; round < 3 * ROUNDS; round++) {
        const bool changed = round / ROUNDS == 1;
        void *a = changed ? other : b->a;
        r.args[0] = &a;
        put(b, a, (float)round);
        OK(tsrLaunch(r.kernel, streams[round % 2], (tsr_launch_t){0}, r.args, 5));
        OK(tsrStreamSynchronize(b->context, streams[round % 2]));
        expect_at(b, b->out, (float)round, PROGRAM_LOOP_LAUNCHES);
        expect_rows_and_turns(b, &r, (float)round);
        expect_recorded(b, round < ROUNDS ? 1 : 2, (uint64_t)round + 1);
    }
    OK(tsrFree(b->context, other));
    OK(tsrDestroyStream(streams[1]));
    close_program(b, &r);
}

/* Launches in flight on two streams that nothing else orders, each on what the one before made:
 * catches a replay that begins while another one uses the memory between the kernels. */
static inline void programs_follow_each_other(const abi_bench *b) {
    enum { LAUNCHES = 12 };
    void *cells[] = {b->a, b->out};
    tsr_stream_t streams[2];
    program_rig r;
    open_program(b, &r, PROGRAM_OF(PROGRAM_LOOPS PROGRAM_END));
    for (int i = 0; i < 2; i++)
        OK(tsrCreateStream(b->context, &streams[i]));
    put(b, b->a, 1);
    for (int i = 0; i < LAUNCHES; i++) {
        r.args[0] = &cells[i % 2];
        r.args[2] = &cells[1 - i % 2];
        OK(tsrLaunch(r.kernel, streams[i / 3 % 2], (tsr_launch_t){0}, r.args, 5));
    }
    for (int i = 0; i < 2; i++) {
        OK(tsrStreamSynchronize(b->context, streams[i]));
        OK(tsrDestroyStream(streams[i]));
    }
    expect_at(b, b->a, 1, LAUNCHES * PROGRAM_LOOP_LAUNCHES);
    if (b->driver->sequence_create)
        expect_recorded(b, 2, LAUNCHES);
    close_program(b, &r);
}

/* Addresses that never come again are not recorded for ever, and one that does is. */
static inline void programs_with_new_places_are_not_recorded(const abi_bench *b) {
    enum { PLACES = 40, RECORDED_MOST = 8 };
    char *places;
    program_rig r;
    device_counts counts;
    if (!b->driver->sequence_create)
        return;
    open_program(b, &r, PROGRAM_OF(PROGRAM_LOOPS PROGRAM_END));
    OK(tsrAlloc(b->context, PLACES * 512, 0, (void **)&places));
    for (int i = 0; i < PLACES + 2; i++) {
        void *a = places + 512 * (i < PLACES ? i : PLACES - 1);
        r.args[0] = &a;
        put(b, a, (float)i);
        OK(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, r.args, 5));
        expect_at(b, b->out, (float)i, PROGRAM_LOOP_LAUNCHES);
    }
    b->driver->count(b->context->device, &counts);
    assert_true(counts.recordings <= RECORDED_MOST);
    assert_int_equal(counts.replays, counts.recordings + 1);
    OK(tsrFree(b->context, places));
    close_program(b, &r);
}

/* More commands than one recording takes, most of them fills of parts of words: catches one that is
 * lost where a recording ends, and a device that records no such fill. */
static inline void long_programs_are_some_recordings(const abi_bench *b) {
    int64_t last;
    device_counts counts[2];
    program_rig r;
    if (!b->driver->sequence_create)
        return;
    open_program(b, &r,
                 PROGRAM_OF(PROGRAM_LOOPS "{\"loop\": 1500, \"body\": [{\"turn\": "
                                          "[\"output\", 2, 0], \"bytes\": 8}]}," PROGRAM_END));
    for (int round = 0; round < 2; round++) {
        put(b, b->a, (float)round);
        OK(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, r.args, 5));
        expect_at(b, b->out, (float)round, PROGRAM_LOOP_LAUNCHES);
        OK(tsrCopy(b->context, &last, r.turns, sizeof last));
        assert_int_equal(last, 1499);
        b->driver->count(b->context->device, &counts[round]);
    }
    assert_in_range(counts[0].recordings, 2, 3);
    assert_int_equal(counts[0].replays, counts[0].recordings);
    assert_int_equal(counts[1].recordings, counts[0].recordings);
    assert_int_equal(counts[1].replays, 2 * counts[0].replays);
    close_program(b, &r);
}

/* Limits and times are of each command by itself; what was recorded before is still there. */
static inline void programs_are_timed_one_by_one(const abi_bench *b) {
    telemetry_record records[8];
    device_counts counts;
    program_rig r;
    if (!b->driver->sequence_create)
        return;
    open_program(b, &r, PROGRAM_OF(PROGRAM_LOOPS PROGRAM_END));
    for (int round = 0; round < 4; round++) {
        telemetry_enable(b->context, round == 1);
        OK(tsrSetWatchdog(b->context, round == 2 ? UINT64_C(60000000000) : 0));
        put(b, b->a, (float)round);
        OK(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, r.args, 5));
        expect_at(b, b->out, (float)round, PROGRAM_LOOP_LAUNCHES);
    }
    assert_int_equal(telemetry_read(b->context, records, COUNT_OF(records)), PROGRAM_LOOP_LAUNCHES);
    b->driver->count(b->context->device, &counts);
    assert_int_equal(counts.recordings, 1);
    assert_int_equal(counts.replays, 2); /* the first launch, and the last */
    close_program(b, &r);
}

/* Commands between two conditions are recorded, too, and the conditions are read each time. */
static inline void branches_are_recorded_between(const abi_bench *b) {
    static const unsigned char flags[] = {1, 1, 0, 0, 0, 0, 0, 1};
    device_counts before, after;
    program_rig r;
    if (!b->driver->sequence_create)
        return;
    open_program(b, &r, PROGRAM_OF(PROGRAM_LOOPS PROGRAM_BRANCHES));
    OK(tsrCopy(b->context, r.flags, flags, 8));
    for (int round = 0; round < 3; round++) {
        b->driver->count(b->context->device, &before);
        put(b, b->a, (float)round);
        OK(tsrLaunch(r.kernel, NULL, (tsr_launch_t){0}, r.args, 5));
        expect_at(b, b->out, (float)round, PROGRAM_LOOP_LAUNCHES + 3);
        b->driver->count(b->context->device, &after);
        assert_int_equal(after.replays - before.replays, 3); /* the loops, two turns of the while */
        assert_int_equal(after.recordings - before.recordings, round ? 0 : 2);
    }
    close_program(b, &r);
}

static inline void programs_are_captured(const abi_bench *b) {
    tsr_stream_t stream;
    tsr_graph_t graph;
    program_rig r;
    open_program(b, &r, PROGRAM_OF(PROGRAM_LOOPS PROGRAM_END));
    OK(tsrCreateStream(b->context, &stream));
    OK(tsrBeginCapture(stream));
    OK(tsrLaunch(r.kernel, stream, (tsr_launch_t){0}, r.args, 5));
    OK(tsrEndCapture(stream, &graph));
    REFUSED(tsrUnloadModule(r.module), TSR_EINVAL, "graphs use the module");
    for (int round = 0; round < 4; round++) {
        put(b, b->a, (float)round);
        OK(tsrLaunchGraph(graph, round % 2 ? NULL : stream));
        OK(tsrStreamSynchronize(b->context, stream));
        expect_at(b, b->out, (float)round, PROGRAM_LOOP_LAUNCHES);
        expect_rows_and_turns(b, &r, (float)round);
    }
    OK(tsrLaunchGraph(graph, stream)); /* destroying waits for it: it uses memory of the graph */
    OK(tsrDestroyGraph(graph));
    OK(tsrDestroyStream(stream));
    close_program(b, &r);
}

#endif
