/* cuda.c - the CUDA driver, by dlopen: cuda.h. */
#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cuda_functions cuda;

enum {
    ATTRIBUTE_MAJOR = 75,
    ATTRIBUTE_MINOR = 76,
    JIT_ERROR_LOG = 5,
    JIT_ERROR_LOG_BYTES = 6,
    LOG_BYTES = 8192
};

static const char *load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return "no libcuda.so.1";
    struct {
        const char *name;
        void *function;
    } wanted[] = {
#define F(name, parameters) {#name, &cuda.name},
        CUDA_FUNCTIONS(F)
#undef F
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *function = dlsym(library, wanted[i].name);
        if (!function)
            return "libcuda.so.1 is too old";
        memcpy(wanted[i].function, &function, sizeof function);
    }
    return NULL;
}

/* The driver's own version is not in its API. */
static void print_driver(void) {
    char line[256] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file && fgets(line, sizeof line, file))
        printf("driver: %s", line);
    if (file)
        fclose(file);
}

const char *cuda_open(void) {
    const char *why = load();
    if (why)
        return why;
    int device, major = 0, minor = 0, version = 0;
    if (cuda.cuInit(0) || cuda.cuDeviceGet(&device, 0))
        return "no device";
    CUDA_CHECK(cuda.cuDeviceGetAttribute(&major, ATTRIBUTE_MAJOR, device));
    CUDA_CHECK(cuda.cuDeviceGetAttribute(&minor, ATTRIBUTE_MINOR, device));
    char name[128] = "";
    CUDA_CHECK(cuda.cuDeviceGetName(name, sizeof name, device));
    CUDA_CHECK(cuda.cuDriverGetVersion(&version));
    printf("device: %s, compute capability %d.%d, driver API %d\n", name, major, minor, version);
    print_driver();
    if (major != 9 || minor != 0)
        return "the device is not of compute capability 9.0";
    cuda_context context;
    CUDA_CHECK(cuda.cuDevicePrimaryCtxRetain(&context, device));
    CUDA_CHECK(cuda.cuCtxSetCurrent(context));
    return NULL;
}

void cuda_check(int error, const char *call) {
    const char *name = "?";
    if (!error)
        return;
    cuda.cuGetErrorName(error, &name);
    fprintf(stderr, "matrix-units: %s: %s\n", call, name);
    exit(2);
}

cuda_function cuda_assemble(const char *ptx, const char *entry, cuda_module *module) {
    static char log[LOG_BYTES];
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    log[0] = '\0';
    int error = cuda.cuModuleLoadDataEx(module, ptx, 2, options, values);
    if (error)
        fprintf(stderr, "%s\n%s\n", ptx, log);
    cuda_check(error, "cuModuleLoadDataEx");
    cuda_function function;
    CUDA_CHECK(cuda.cuModuleGetFunction(&function, *module, entry));
    return function;
}

device_address cuda_allocate(size_t bytes) {
    device_address address;
    CUDA_CHECK(cuda.cuMemAlloc_v2(&address, bytes ? bytes : 1));
    return address;
}
