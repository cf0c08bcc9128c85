/* timing.c - launches and copies through the raw driver API: timing.h. */
#include "timing.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda.h"

enum { SAMPLES = 2000, BURST = 1000, BURSTS = 50, COPIES = 20, COPY_BYTES = 1 << 28 };

static const char empty_kernel[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty()\n{\n    ret;\n}\n";

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_median(const char *what, double *samples, size_t count, double scale,
                         const char *unit) {
    qsort(samples, count, sizeof *samples, ascending);
    printf("%-52s median %.3f %s, least %.3f, greatest %.3f of %zu\n", what,
           samples[count / 2] * scale, unit, samples[0] * scale, samples[count - 1] * scale, count);
    fflush(stdout);
}

static void launch(cuda_function empty, cuda_stream stream) {
    CUDA_CHECK(cuda.cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static void time_launches(cuda_function empty, cuda_stream stream) {
    static double call[SAMPLES], whole[SAMPLES];
    for (int warm = 0; warm < BURST; warm++)
        launch(empty, stream);
    CUDA_CHECK(cuda.cuStreamSynchronize(stream));
    for (int i = 0; i < SAMPLES; i++) {
        double start = now_us();
        launch(empty, stream);
        call[i] = now_us() - start;
        CUDA_CHECK(cuda.cuStreamSynchronize(stream));
        whole[i] = now_us() - start;
    }
    print_median("launch of an empty kernel, the call alone", call, SAMPLES, 1, "us");
    print_median("launch of an empty kernel and cuStreamSynchronize", whole, SAMPLES, 1, "us");
    for (int b = 0; b < BURSTS; b++) {
        double start = now_us();
        for (int i = 0; i < BURST; i++)
            launch(empty, stream);
        CUDA_CHECK(cuda.cuStreamSynchronize(stream));
        whole[b] = (now_us() - start) / BURST;
    }
    print_median("1000 empty kernels back to back, each", whole, BURSTS, 1, "us");
}

typedef enum { DEVICE_TO_DEVICE, HOST_TO_DEVICE, DEVICE_TO_HOST } direction;

static void copy(direction way, device_address a, device_address b, void *host, size_t bytes,
                 cuda_stream stream) {
    if (way == DEVICE_TO_DEVICE)
        CUDA_CHECK(cuda.cuMemcpyDtoDAsync_v2(a, b, bytes, stream));
    else if (way == HOST_TO_DEVICE)
        CUDA_CHECK(cuda.cuMemcpyHtoDAsync_v2(a, host, bytes, stream));
    else
        CUDA_CHECK(cuda.cuMemcpyDtoHAsync_v2(host, a, bytes, stream));
}

/* Between events on the device; for pageable memory on the host's clock, as the copy begins there.
 */
static double copy_us(direction way, device_address a, device_address b, void *host, size_t bytes,
                      cuda_stream stream, cuda_event events[2]) {
    float ms = 0;
    CUDA_CHECK(cuda.cuEventRecord(events[0], stream));
    copy(way, a, b, host, bytes, stream);
    CUDA_CHECK(cuda.cuEventRecord(events[1], stream));
    CUDA_CHECK(cuda.cuEventSynchronize(events[1]));
    CUDA_CHECK(cuda.cuEventElapsedTime(&ms, events[0], events[1]));
    return (double)ms * 1e3;
}

static void time_copy(const char *what, direction way, void *host, bool on_host_clock,
                      cuda_stream stream) {
    double rates[COPIES];
    size_t bytes = way == DEVICE_TO_DEVICE ? (size_t)COPY_BYTES * 8 : COPY_BYTES;
    device_address a = cuda_allocate(bytes), b = cuda_allocate(bytes);
    cuda_event events[2];
    CUDA_CHECK(cuda.cuEventCreate(&events[0], 0));
    CUDA_CHECK(cuda.cuEventCreate(&events[1], 0));
    CUDA_CHECK(cuda.cuMemsetD8_v2(a, 0x5a, bytes));
    CUDA_CHECK(cuda.cuMemsetD8_v2(b, 0xa5, bytes));
    for (int i = -2; i < COPIES; i++) {
        double start = now_us(), us = copy_us(way, a, b, host, bytes, stream, events);
        if (on_host_clock)
            us = now_us() - start;
        if (i >= 0)
            rates[i] = (double)bytes * (way == DEVICE_TO_DEVICE ? 2 : 1) / us * 1e-3;
    }
    print_median(what, rates, COPIES, 1, "GB/s");
    CUDA_CHECK(cuda.cuEventDestroy_v2(events[0]));
    CUDA_CHECK(cuda.cuEventDestroy_v2(events[1]));
    CUDA_CHECK(cuda.cuMemFree_v2(a));
    CUDA_CHECK(cuda.cuMemFree_v2(b));
}

void timing_print(void) {
    cuda_module module;
    cuda_stream stream;
    cuda_function empty = cuda_assemble(empty_kernel, "empty", &module);
    CUDA_CHECK(cuda.cuStreamCreate(&stream, 1));
    time_launches(empty, stream);
    void *pinned = NULL, *pageable = malloc(COPY_BYTES);
    CUDA_CHECK(cuda.cuMemHostAlloc(&pinned, COPY_BYTES, 0));
    if (!pageable)
        abort();
    memset(pageable, 0x33, COPY_BYTES);
    memset(pinned, 0x33, COPY_BYTES);
    time_copy("device to device, 2 GiB, bytes read and written", DEVICE_TO_DEVICE, NULL, false,
              stream);
    time_copy("pinned host to device, 256 MiB", HOST_TO_DEVICE, pinned, false, stream);
    time_copy("device to pinned host, 256 MiB", DEVICE_TO_HOST, pinned, false, stream);
    time_copy("pageable host to device, 256 MiB", HOST_TO_DEVICE, pageable, true, stream);
    time_copy("device to pageable host, 256 MiB", DEVICE_TO_HOST, pageable, true, stream);
    CUDA_CHECK(cuda.cuMemFreeHost(pinned));
    free(pageable);
    CUDA_CHECK(cuda.cuStreamDestroy_v2(stream));
    CUDA_CHECK(cuda.cuModuleUnload(module));
}
