/* run_module.c - MODULE KERNEL: runs a compiled kernel on inputs 1, 2, 3, ... and shows its outputs.
 * cc run_module.c $(pkg-config --cflags --libs tessera) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/tessera.h>

static void check(tsr_status_t status) {
    if (status == TSR_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", tsrStatusName(status), tsrGetLastError());
    exit(1);
}

int main(int argc, char **argv) {
    static char image[1 << 22];
    float *host[16]; /* where this program reaches them */
    void *buffers[16], *args[16]; /* of the device, and their addresses */
    size_t sizes[16];
    const char *name, *type;
    const int64_t *dims;
    uint32_t rank, count;
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        return fprintf(stderr, "usage: run_module MODULE KERNEL\n"), 2;
    size_t size = fread(image, 1, sizeof image, file);
    fclose(file);
    check(tsrCreateContext(&context));
    check(tsrLoadModule(context, image, size, &module));
    check(tsrGetKernel(module, argv[2], &kernel));
    check(tsrGetKernelInfo(kernel, &info));
    count = info.inputs + info.outputs;
    if (count > 16 || info.dims > 0)
        return fprintf(stderr, "at most 16 buffers, all of fixed shape\n"), 1;
    for (uint32_t i = 0; i < count; i++) {
        check(tsrGetKernelParameter(kernel, i, &name, &type, &rank, &dims));
        if (strcmp(type, "f32") != 0)
            return fprintf(stderr, "%s is %s; this program knows f32 alone\n", name, type), 1;
        for (sizes[i] = 1; rank > 0; rank--)
            sizes[i] *= (size_t)dims[rank - 1];
        check(tsrAlloc(context, sizes[i] * sizeof(float), TSR_ALLOC_HOST_VISIBLE, &buffers[i]));
        check(tsrMap(context, buffers[i], (void **)&host[i]));
        for (size_t k = 0; i < info.inputs && k < sizes[i]; k++)
            host[i][k] = (float)(k + 1);
        args[i] = &buffers[i];
    }
    check(tsrLaunch(kernel, NULL, (tsr_launch_t){0}, args, count));
    for (uint32_t i = info.inputs; i < count; i++)
        for (size_t k = 0; k < sizes[i] && k < 8; k++)
            printf("%.9g\n", (double)host[i][k]);
    for (uint32_t i = 0; i < count; i++)
        check(tsrFree(context, buffers[i]));
    check(tsrUnloadModule(module));
    check(tsrDestroyContext(context));
}
