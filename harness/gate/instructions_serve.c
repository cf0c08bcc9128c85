/* instructions_serve.c - the process that callgrind watches: one launch of each module is counted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "base/file.h"
#include "gate/gate.h"
#include "tessera/tessera.h"

enum { BUFFERS_MAX = 32, DIMS_MAX = 64 };

typedef struct launch {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *buffers[BUFFERS_MAX];
    int64_t dims[DIMS_MAX];
    void *args[BUFFERS_MAX + DIMS_MAX];
    size_t count;
} launch;

static bool load(launch *l, const unsigned char *data, const json_t *one) {
    const json_t *place = json_object_get(one, "module");
    const char *name = json_string_value(json_object_get(one, "name"));
    return tsrLoadModule(l->context, data + json_integer_value(json_array_get(place, 0)),
                         (size_t)json_integer_value(json_array_get(place, 1)),
                         &l->module) == TSR_SUCCESS &&
           tsrGetKernel(l->module, name, &l->kernel) == TSR_SUCCESS;
}

/* The inputs of the first set, and room for the outputs. */
static bool fill(launch *l, const unsigned char *data, const json_t *one) {
    json_int_t inputs = json_integer_value(json_object_get(one, "inputs"));
    const unsigned char *from =
        data + json_integer_value(json_array_get(json_object_get(one, "sets"), 0));
    const json_t *sizes = json_object_get(one, "sizes"), *size;
    json_array_foreach(sizes, l->count, size) {
        size_t bytes = (size_t)json_integer_value(size);
        if (tsrAlloc(l->context, bytes ? bytes : 1, TSR_ALLOC_ZERO, &l->buffers[l->count]) !=
            TSR_SUCCESS)
            return false;
        l->args[l->count] = &l->buffers[l->count];
        if ((json_int_t)l->count >= inputs)
            continue;
        memcpy(l->buffers[l->count], from, bytes);
        from += (bytes + 63) / 64 * 64;
    }
    return true;
}

static bool bind_dims(launch *l, const json_t *one) {
    const char *document = NULL;
    if (tsrGetModuleMetadata(l->module, &document) != TSR_SUCCESS)
        return false;
    json_t *root = json_loads(document, 0, NULL), *name;
    size_t i;
    json_array_foreach(json_object_get(root, "dims"), i, name) {
        l->dims[i] = json_integer_value(
            json_object_get(json_object_get(one, "dims"), json_string_value(name)));
        l->args[l->count] = &l->dims[i];
        l->count++;
    }
    json_decref(root);
    return true;
}

static bool run(const launch *l) {
    tsr_launch_t grid = {0};
    return tsrLaunch(l->kernel, NULL, grid, (void **)(uintptr_t)l->args, l->count) == TSR_SUCCESS;
}

/* The first launch finds its memory; the second is counted. */
static bool count_one(launch *l, const unsigned char *data, const json_t *one) {
    bool ok = load(l, data, one) && fill(l, data, one) && bind_dims(l, one) && run(l);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    ok = ok && run(l);
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
    for (size_t i = 0; i < BUFFERS_MAX; i++)
        if (l->buffers[i])
            tsrFree(l->context, l->buffers[i]);
    if (l->module)
        tsrUnloadModule(l->module);
    if (!ok)
        fprintf(stderr, "%s\n", tsrGetLastError());
    return ok;
}

static const unsigned char *map_file(const char *path) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        return NULL;
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return data == MAP_FAILED ? NULL : data;
}

int instructions_serve(const char *path) {
    char *words = NULL;
    size_t size, i;
    status st = STATUS_INIT;
    json_t *manifest = file_read(path, 1 << 28, &words, &size, &st)
                           ? json_loadb(words, size, 0, NULL)
                           : NULL,
           *one;
    const char *scratch_path = json_string_value(json_object_get(manifest, "scratch"));
    const unsigned char *data = scratch_path ? map_file(scratch_path) : NULL;
    tsr_context_t context = NULL;
    bool ok = data && tsrCreateContextOn(0, 1, 0, &context) == TSR_SUCCESS;
    json_array_foreach(json_object_get(manifest, "cases"), i, one) {
        launch l = {.context = context};
        ok = ok && count_one(&l, data, one);
    }
    if (context)
        tsrDestroyContext(context);
    json_decref(manifest);
    free(words);
    return ok ? EXIT_DONE : EXIT_BUG;
}
