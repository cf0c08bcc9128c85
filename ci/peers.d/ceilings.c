/* ceilings.c - what this machine can do at this moment, with the loops of `tsr roofline`: `peak
 * f32|bf16|i8`, `copy BYTES`, a non-temporal copy that reads half of the bytes and writes the
 * other half, and `read BYTES`. */
#include <string.h>

#include <omp.h>

#include "device/host.h"
#include "measure/ceiling_kernels.h"
#include "measure/cpu_feature.h"
#include "peer.h"

enum { ROUNDS = 2000, STEP_BYTES = 8192 };

static const ceiling_compute_kernel *compute;
static const ceiling_memory_kernel *memory;
static unsigned char *data;
static size_t thread_bytes;
static int threads;

const char *peer_version(void) {
    return "ceilings";
}

static bool prepare_peak(peer_case *c, const char *element) {
    for (size_t i = 0; i < ceiling_compute_kernel_count && !compute; i++) {
        const ceiling_compute_kernel *kernel = &ceiling_compute_kernels[i];
        if (strcmp(kernel->element, element) == 0 && host_isa_supports(kernel->isa) &&
            cpu_has_feature(kernel->feature))
            compute = kernel;
    }
    if (!compute)
        return peer_refuse(c, "no loop shows the peak of %s on %s", element, host_isa());
    c->work = compute->run(ROUNDS) * threads;
    peer_run(); /* starts the team */
    return true;
}

static bool prepare_stream(peer_case *c, size_t bytes) {
    const char *operation = strcmp(c->words[0], "copy") == 0 ? "copy-nt" : "read";
    for (size_t i = 0; i < ceiling_memory_kernel_count && !memory; i++)
        if (strcmp(ceiling_memory_kernels[i].operation, operation) == 0 &&
            host_isa_supports(ceiling_memory_kernels[i].isa))
            memory = &ceiling_memory_kernels[i];
    if (!memory)
        return peer_refuse(c, "no %s for %s", c->words[0], host_isa());
    size_t step = STEP_BYTES * (size_t)threads;
    thread_bytes = (bytes + step - 1) / step * STEP_BYTES;
    data = peer_buffer(thread_bytes * (size_t)threads);
    c->work = (double)thread_bytes * threads;
    peer_run();
    return true;
}

bool peer_prepare(peer_case *c) {
    threads = c->threads;
    if (strcmp(c->words[0], "peak") == 0 && c->count == 2)
        return prepare_peak(c, c->words[1]);
    if ((strcmp(c->words[0], "copy") == 0 || strcmp(c->words[0], "read") == 0) && c->count == 2)
        return prepare_stream(c, (size_t)peer_number(c, 1));
    return peer_refuse(c, "usage: prepare peak f32|bf16|i8, or prepare copy|read BYTES");
}

void peer_run(void) {
#pragma omp parallel num_threads(threads)
    {
        if (compute)
            compute->run(ROUNDS);
        else
            memory->run(data + thread_bytes * (size_t)omp_get_thread_num(), thread_bytes);
    }
}

void peer_release(void) {
    compute = NULL;
    memory = NULL;
}
