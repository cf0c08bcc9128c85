/* device_bench.h - an open device with queues, and commands for them; for the tests of drivers. */
#ifndef TESSERA_RUNTIME_DEVICE_BENCH_H
#define TESSERA_RUNTIME_DEVICE_BENCH_H

#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "test/module_maker.h"

enum { FLOATS = KERNEL_CELLS, BYTES = FLOATS * sizeof(float) };

/* An open device with a synchronous queue and two others. */
typedef struct bench {
    const device_driver *driver;
    uint32_t index;
    device *d;
    device_queue *sync, *queues[2];
} bench;

static inline void must(bool ok, const status *st) {
    if (!ok)
        fail_msg("%s: %s", status_code_name(st->code), st->message);
}

static inline device_memory *new_memory(const bench *b, size_t size, device_memory_kind kind) {
    device_memory *m;
    status st = STATUS_INIT;
    must(b->driver->alloc(b->d, size, kind, &m, &st), &st);
    return m;
}

static inline device_span span_of(const device_memory *m) {
    return (device_span){m->address, m};
}

static inline device_span host_span(const void *host) {
    return (device_span){(void *)(uintptr_t)host, NULL};
}

static inline device_command copy_of(device_span to, device_span from, size_t size) {
    return (device_command){.kind = DEVICE_COPY, .range = {to, from, size}};
}

static inline device_command fill_of(device_span to, unsigned char byte, size_t size) {
    return (device_command){
        .kind = DEVICE_FILL, .byte = byte, .range = {.to = to, .size_bytes = size}};
}

static inline device_command event_command(device_command_kind kind, device_event *event) {
    return (device_command){.kind = kind, .event = event};
}

static inline void submit(device_queue *q, const bench *b, device_command c) {
    status st = STATUS_INIT;
    must(b->driver->submit(q, &c, 1, &st), &st);
}

static inline void await(const bench *b, device_queue *q) {
    status st = STATUS_INIT;
    must(b->driver->await(q, &st), &st);
}

static inline void write_to(const bench *b, const device_memory *m, const void *from, size_t size) {
    submit(b->sync, b, copy_of(span_of(m), host_span(from), size));
}

static inline void read_from(const bench *b, const device_memory *m, void *to, size_t size) {
    submit(b->sync, b, copy_of(host_span(to), span_of(m), size));
}

/* Files of a driver's kernels: one for all, or one for each. */
static const struct {
    const char *driver, *folder, *file;
} kernel_files[] = {
    {"emulated", TEST_OBJECT_DIR, "kernel_emulated.o"},
    {"vulkan", TEST_OBJECT_DIR, "kernels_vulkan.spv"},
    {"opencl", TEST_OBJECT_DIR, "%s.spv"},
    {"level_zero", TEST_OBJECT_DIR, "%s.spv"},
    {"cuda", TEST_SOURCE_DIR, "kernels.ptx"},
    {"hip", TEST_SOURCE_DIR, "kernels.ptx"}, /* the stub reads nothing else */
};

static inline bytes read_kernels(const char *driver, const char *object_name) {
    for (size_t i = 0; i < COUNT_OF(kernel_files); i++)
        if (strcmp(kernel_files[i].driver, driver) == 0)
            return read_test_file(kernel_files[i].folder, kernel_files[i].file, object_name);
    return read_object(object_name);
}

/* A file with phases of these names. */
static inline device_image *load(const bench *b, const char *object_name, const char *first,
                                 const char *second) {
    const char *symbols[] = {first, second};
    bytes object = read_kernels(b->driver->name, object_name);
    device_image *image;
    status st = STATUS_INIT;
    const device_source source = {object.data, object.size, b->d->info.targets[0],
                                  object_name, symbols,     second ? 2 : 1,
                                  0,           NULL,        NULL,
                                  NULL};
    must(b->driver->load(b->d, &source, &image, &st), &st);
    free(object.data);
    return image;
}

/* A launch of an image whose buffers are `a` and `out`. */
typedef struct launch_of {
    void *buffers[2];
    const device_memory *memories[2];
    int64_t workgroups[2];
    device_command command;
} launch_of;

static inline launch_of *launch_new(device_image *image, const device_memory *a,
                                    const device_memory *out) {
    launch_of *l = calloc(1, sizeof *l);
    *l = (launch_of){.buffers = {a->address, out->address},
                     .memories = {a, out},
                     .workgroups = {FLOATS, FLOATS},
                     .command = {.kind = DEVICE_DISPATCH}};
    l->command.dispatch = (device_dispatch){.image = image,
                                            .label = "affine",
                                            .buffers = l->buffers,
                                            .memories = l->memories,
                                            .workgroups = l->workgroups,
                                            .buffer_count = 2,
                                            .workspace_bytes = BYTES,
                                            .workgroup_bytes = 64};
    return l;
}

static inline bool computes(const bench *b) {
    return strcmp(b->driver->name, "null") != 0;
}

#endif
