/* abi_imports.h - memory that something else allocated, which here is another context of the
 * device; for the conformance of the public functions. */
#ifndef TESSERA_RUNTIME_ABI_IMPORTS_H
#define TESSERA_RUNTIME_ABI_IMPORTS_H

#include "test/abi_bench.h"

/* A part that begins with all of it, and the buffer needs all. */
static inline void imports_overlap(const abi_bench *b, const abi_bench *other) {
    tsr_import_t imports[3];
    OK(tsrImportMemory(b->context, other->a, BYTES / 2, &imports[0]));
    REFUSED(launch_abi(b, NULL, other->a, b->out), TSR_EINVAL, "its allocation has");
    OK(tsrImportMemory(b->context, other->a, BYTES, &imports[1]));
    OK(tsrImportMemory(b->context, other->a, 64, &imports[2]));
    OK(launch_abi(b, NULL, other->a, b->out));
    expect_at(b, b->out, 5, 1);
    REFUSED(tsrDestroyContext(b->context), TSR_EINVAL, "3 imports");
    for (int i = 0; i < 3; i++)
        OK(tsrReleaseImport(imports[i]));
    REFUSED(launch_abi(b, NULL, other->a, b->out), TSR_EINVAL, "no memory of this context");
}

/* Written by the one and read by the other, in a graph, too; and within the context's own. */
static inline void imports_are_memory(const abi_bench *b, const abi_bench *other) {
    tsr_import_t import, own;
    tsr_stream_t stream;
    tsr_graph_t graph;
    OK(tsrImportMemory(b->context, other->out, BYTES, &import));
    OK(tsrImportMemory(b->context, b->a, BYTES, &own));
    OK(tsrCreateStream(b->context, &stream));
    put(b, b->a, 7);
    OK(launch_abi(b, NULL, b->a, other->out));
    expect_at(other, other->out, 7, 1);
    OK(tsrBeginCapture(stream));
    OK(launch_abi(b, stream, other->out, b->out));
    OK(tsrCopyAsync(b->context, stream, other->out, b->out, BYTES));
    OK(tsrEndCapture(stream, &graph));
    for (int i = 0; i < 2; i++)
        OK(tsrLaunchGraph(graph, stream));
    OK(tsrStreamSynchronize(b->context, stream));
    expect_at(other, other->out, 7, 3);
    OK(tsrDestroyGraph(graph));
    OK(tsrDestroyStream(stream));
    OK(tsrReleaseImport(own));
    OK(tsrReleaseImport(import));
    expect_at(b, b->a, 7, 0);
    expect_at(other, other->out, 7, 3);
}

static inline void memory_is_imported(const abi_bench *b) {
    tsr_import_t import;
    abi_bench other;
    REFUSED(tsrImportMemory(b->context, NULL, 1, &import), TSR_EINVAL, "pointer");
    REFUSED(tsrReleaseImport(NULL), TSR_EINVAL, "import");
    if (!b->info.dlpack_type && !b->info.host_addressable) {
        REFUSED(tsrImportMemory(b->context, b->a, 1, &import), TSR_EUNAVAILABLE, "addresses");
        return;
    }
    open_abi_bench(&other, b->driver, b->index);
    put(&other, other.a, 5);
    if (b->info.host_addressable) {
        OK(tsrImportMemory(b->context, other.a, BYTES, &import));
        OK(launch_abi(b, NULL, other.a, b->out));
        OK(tsrReleaseImport(import));
    } else {
        imports_overlap(b, &other);
    }
    imports_are_memory(b, &other);
    close_abi_bench(&other);
}

#endif
