/* abi_graphs.h - graphs on a device of any driver, and how often it recorded them; for the
 * conformance of the public functions. */
#ifndef TESSERA_RUNTIME_ABI_GRAPHS_H
#define TESSERA_RUNTIME_ABI_GRAPHS_H

#include "test/abi_bench.h"

/* Checks that each launch of a graph has replayed what was recorded, where the driver records. */
static inline void expect_counted(const abi_bench *b, uint64_t recordings, uint64_t replays) {
    device_counts counts;
    if (!b->driver->sequence_create)
        return;
    b->driver->count(b->context->device, &counts);
    assert_int_equal(counts.recordings, recordings);
    assert_int_equal(counts.replays, replays);
}

/* Runs of a graph on two streams that nothing orders, each on what another one made: where they are
 * recorded, none begins before another one ends: the streams
 * of CUDA and HIP do not order them. */
static inline void graphs_run_one_at_a_time(const abi_bench *b) {
    enum { RUNS = 100 };
    tsr_stream_t streams[2];
    tsr_graph_t graph;
    if (!b->driver->sequence_create)
        return;
    for (int i = 0; i < 2; i++)
        OK(tsrCreateStream(b->context, &streams[i]));
    OK(tsrBeginCapture(streams[0]));
    OK(launch_abi(b, streams[0], b->a, b->out));
    OK(tsrCopyAsync(b->context, streams[0], b->a, b->out, BYTES));
    OK(tsrEndCapture(streams[0], &graph));
    put(b, b->a, 0);
    for (int i = 0; i < RUNS; i++)
        OK(tsrLaunchGraph(graph, streams[i % 2]));
    OK(tsrDestroyGraph(graph));
    for (int i = 0; i < 2; i++) {
        OK(tsrStreamSynchronize(b->context, streams[i]));
        OK(tsrDestroyStream(streams[i]));
    }
    expect_at(b, b->out, 0, RUNS);
    expect_counted(b, 1, RUNS);
}

#endif
