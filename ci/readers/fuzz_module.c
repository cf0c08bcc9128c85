/* fuzz_module.c - module files and their metadata: what loads is launched, on the driver that runs
 * nothing, with dimensions of every size. Bytes that begin like JSON are the metadata of a module
 * whose hashes fit, so that they are read at all. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "module.h"
#include "runtime.h"

enum {
    ARGUMENTS_MAX = 2 * METADATA_PARAMETERS_MAX + METADATA_DIMS_MAX,
    LAUNCHED_MAX = 512,
    APART = 4096
};

static void launch(tsr_module_t module, int64_t dim) {
    static _Alignas(64) unsigned char memory[APART * LAUNCHED_MAX];
    static void *buffers[ARGUMENTS_MAX], *args[ARGUMENTS_MAX];
    const metadata *m = module->kernel.metadata;
    uint32_t count = m->inputs + m->outputs;
    for (uint32_t i = 0; i < count && i < LAUNCHED_MAX; i++) {
        buffers[i] = memory + (size_t)APART * i;
        args[i] = &buffers[i];
    }
    for (uint32_t i = 0; i < m->dims; i++)
        args[count + i] = &dim;
    kernel_launch *request = calloc(1, sizeof *request);
    launch_begin(request, &module->kernel, NULL);
    request->dims = request->room.dims;
    for (uint32_t i = 0; i < m->dims; i++)
        request->dims[i] = dim;
    bool small = launch_find_needs(request) == TSR_SUCCESS && request->workspace_bytes < 1 << 20;
    small = small && (!m->program || (!m->program->conditional && m->program->steps < 1 << 12));
    for (uint32_t i = 0; small && i < request->code->description->phase_count; i++)
        small = request->workgroups[i] < 1 << 20;
    launch_end(request);
    free(request);
    if (small && count <= LAUNCHED_MAX)
        tsrLaunch(&module->kernel, NULL, (tsr_launch_t){0}, args, count + m->dims);
}

static void load(const void *image, size_t size) {
    static const int64_t dims[] = {0, 1, 7, 4096, INT64_C(1) << 40, INT64_MAX, -1};
    tsr_context_t context;
    tsr_module_t module;
    if (context_create_on(device_driver_find("null"), 0, 1, 0, &context) != TSR_SUCCESS)
        abort();
    if (tsrLoadModule(context, image, size, &module) == TSR_SUCCESS) {
        for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
            launch(module, dims[i]);
        if (tsrUnloadModule(module) != TSR_SUCCESS)
            abort();
    }
    if (tsrDestroyContext(context) != TSR_SUCCESS)
        abort();
}

/* Makes a kernel that a program may have: two inputs and an output of 64 bytes. */
static void make_kernel(void **image, size_t *size) {
    static const char json[] =
        "{\"schema\": \"tsr.module/2\", \"name\": \"k\", \"inputs\": ["
        "{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [16]},"
        "{\"name\": \"b\", \"dtype\": \"f32\", \"shape\": [16]}], \"outputs\": ["
        "{\"name\": \"c\", \"dtype\": \"f32\", \"shape\": [16]}],"
        "\"workspace_bytes\": 0, \"scratch_bytes\": 0, \"phases\": [{\"symbol\": \"p\", "
        "\"grid\": 1}]}";
    static const module_part parts[] = {{"metadata", json, sizeof json - 1},
                                        {"x86_64-elf/x86-64-v3", "code", 4}};
    if (!module_write(parts, 2, image, size, NULL))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    void *image = NULL, *kernel = NULL;
    size_t image_size, kernel_size;
    status st = STATUS_INIT;
    if (size == 0 || data[0] != '{') {
        load(data, size);
        return 0;
    }
    make_kernel(&kernel, &kernel_size);
    module_part parts[] = {{"metadata", data, size},
                           {"kernel:0", kernel, kernel_size},
                           {"x86_64-elf/x86-64-v3", "code", 4},
                           {"x86_64-elf/x86-64-v3:1", "more", 4},
                           {"x86_64-elf/x86-64-v4", "code", 4}};
    /* Descriptions name the parts that are there, or some of them. */
    for (size_t count = 1; count <= sizeof parts / sizeof *parts; count++) {
        if (!module_write(parts, count, &image, &image_size, &st))
            abort();
        load(image, image_size);
        free(image);
    }
    free(kernel);
    return 0;
}
