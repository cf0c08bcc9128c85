/* ours.c - `prepare module FILE KERNEL [constant INPUT]`: a compiled module through the C ABI; the
 * constant is prepared outside of the time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/tessera.h>

#include "peer.h"

enum { BUFFERS_MAX = 16 };

static tsr_context_t context;
static tsr_module_t module;
static tsr_kernel_t kernel;
static tsr_prepared_t prepared; /* NULL: the kernel has no constant */
static void *buffers[BUFFERS_MAX], *arguments[BUFFERS_MAX];
static uint32_t argument_count;

const char *peer_version(void) {
    static char version[64];
    uint32_t major, minor;
    tsrGetVersion(&major, &minor);
    snprintf(version, sizeof version, "Tessera, ABI %u.%u", major, minor);
    return version;
}

static bool good(peer_case *c, tsr_status_t status) {
    return status == TSR_SUCCESS ||
           peer_refuse(c, "%s: %s", tsrStatusName(status), tsrGetLastError());
}

static bool load(peer_case *c, const char *path, const char *name) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return peer_refuse(c, "cannot open %s", path);
    fseek(file, 0, SEEK_END);
    size_t bytes = (size_t)ftell(file);
    rewind(file);
    void *image = malloc(bytes);
    bool whole = image && fread(image, 1, bytes, file) == bytes;
    fclose(file);
    bool ok = whole ? good(c, tsrLoadModule(context, image, bytes, &module)) &&
                          good(c, tsrGetKernel(module, name, &kernel))
                    : peer_refuse(c, "cannot read %s", path);
    free(image);
    return ok;
}

/* Buffer `index` of the kernel: an input with its values, or an output; the first output is what is
 * compared. */
static bool make_buffer(peer_case *c, const tsr_kernel_info_t *info, uint32_t index) {
    const char *name, *element;
    const int64_t *dims;
    uint32_t rank;
    peer_type type;
    size_t count = 1;
    if (!good(c, tsrGetKernelParameter(kernel, index, &name, &element, &rank, &dims)) ||
        !peer_type_of(c, element, &type))
        return false;
    for (uint32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    if (index < info->inputs)
        buffers[index] = peer_input(c, (int)index, type, count);
    else if (index == info->inputs)
        buffers[index] = peer_output_buffer(c, type, count);
    else
        buffers[index] = peer_buffer(count * peer_type_bytes(type));
    arguments[index] = &buffers[index];
    return true;
}

static bool prepare_constant(peer_case *c, const tsr_kernel_info_t *info, const char *constant) {
    const char *name;
    for (uint32_t i = 0; i < info->inputs; i++) {
        if (!good(c, tsrGetKernelParameter(kernel, i, &name, NULL, NULL, NULL)))
            return false;
        if (strcmp(name, constant) == 0)
            return good(c, tsrPrepareKernel(kernel, &i, 1, arguments, argument_count, &prepared));
    }
    return peer_refuse(c, "no input is called %s", constant);
}

static tsr_status_t launch(void) {
    const tsr_launch_t grid = {0};
    return prepared ? tsrLaunchPrepared(prepared, NULL, grid, arguments, argument_count)
                    : tsrLaunch(kernel, NULL, grid, arguments, argument_count);
}

bool peer_prepare(peer_case *c) {
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    bool constant = c->count == 5 && strcmp(c->words[3], "constant") == 0;
    if ((c->count != 3 && !constant) || strcmp(c->words[0], "module") != 0)
        return peer_refuse(c, "usage: prepare module FILE KERNEL [constant INPUT]");
    if (!context && !good(c, tsrCreateContextOn(0, (uint32_t)c->threads, 0, &context)))
        return false;
    if (!load(c, c->words[1], c->words[2]) || !good(c, tsrGetKernelInfo(kernel, &info)))
        return false;
    argument_count = info.inputs + info.outputs;
    if (argument_count > BUFFERS_MAX || info.dims > 0)
        return peer_refuse(c, "at most %d buffers, all of fixed shape", BUFFERS_MAX);
    for (uint32_t i = 0; i < argument_count; i++)
        if (!make_buffer(c, &info, i))
            return false;
    if (constant && !prepare_constant(c, &info, c->words[4]))
        return false;
    return good(c, launch());
}

void peer_run(void) {
    if (launch() != TSR_SUCCESS) {
        fprintf(stderr, "%s\n", tsrGetLastError());
        exit(3);
    }
}

void peer_release(void) {
    if (prepared)
        tsrDestroyPrepared(prepared);
    prepared = NULL;
    if (module)
        tsrUnloadModule(module);
    module = NULL;
}
