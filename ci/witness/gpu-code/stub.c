/* stub.c - a CUDA driver without a GPU, for test.py: of PTX it looks at the names alone, and every
 * kernel adds a number of 64 bits to floats: parameters x, n, out. A kernel `lost` fails, and one
 * with shared memory over 48 KiB must have asked for it. `mapped` has x in the map that is
 * parameter 4. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_PTX = 218, NOT_FOUND = 500, LAUNCH_FAILED = 719, INVALID_VALUE = 1 };
enum { DEFAULT_SHARED = 48 * 1024 };

static char kernel[64];
static const char *module_text;
static int asked_shared;

#define ENTRY __attribute__((visibility("default")))
ENTRY int cuInit(unsigned flags);
ENTRY int cuDeviceGet(int *device, int number);
ENTRY int cuDeviceGetAttribute(int *value, int attribute, int device);
ENTRY int cuDevicePrimaryCtxRetain(void **context, int device);
ENTRY int cuCtxSetCurrent(void *context);
ENTRY int cuModuleLoadData(void **module, const void *image);
ENTRY int cuModuleGetFunction(void **function, void *module, const char *name);
ENTRY int cuFuncSetAttribute(void *function, int attribute, int value);
ENTRY int cuMemAlloc_v2(uint64_t *address, size_t size);
ENTRY int cuMemcpyHtoD_v2(uint64_t address, const void *from, size_t size);
ENTRY int cuMemcpyDtoH_v2(void *to, uint64_t address, size_t size);
ENTRY int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned tx,
                         unsigned ty, unsigned tz, unsigned shared, void *stream, void **parameters,
                         void **extra);
ENTRY int cuCtxSynchronize(void);
ENTRY int cuTensorMapEncodeTiled(void *map, int element, uint32_t rank, uint64_t address,
                                 const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                 const uint32_t *element_strides, int interleave, int swizzle,
                                 int promotion, int fill);
ENTRY int cuGetErrorName(int error, const char **name);

int cuInit(unsigned flags) {
    return flags ? INVALID_VALUE : OK;
}

int cuDeviceGet(int *device, int number) {
    *device = number;
    return OK;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 8 : 6; /* sm_86 */
    return device ? INVALID_VALUE : OK;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = kernel;
    return device ? INVALID_VALUE : OK;
}

int cuCtxSetCurrent(void *context) {
    return context == kernel ? OK : INVALID_VALUE;
}

int cuModuleLoadData(void **module, const void *image) {
    *module = kernel;
    module_text = image;
    return strstr(image, ".version") ? OK : INVALID_PTX;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
    char entry[96];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    snprintf(kernel, sizeof kernel, "%s", name);
    *function = module;
    return strstr(module_text, entry) ? OK : NOT_FOUND;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
    asked_shared = attribute == 8 ? value : 0;
    return function == kernel ? OK : INVALID_VALUE;
}

int cuMemAlloc_v2(uint64_t *address, size_t size) {
    *address = (uint64_t)(uintptr_t)malloc(size);
    return OK;
}

int cuMemcpyHtoD_v2(uint64_t address, const void *from, size_t size) {
    memcpy((void *)(uintptr_t)address, from, size);
    return OK;
}

int cuMemcpyDtoH_v2(void *to, uint64_t address, size_t size) {
    memcpy(to, (const void *)(uintptr_t)address, size);
    return OK;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned tx, unsigned ty,
                   unsigned tz, unsigned shared, void *stream, void **parameters, void **extra) {
    if (function != kernel || gy * gz * ty * tz != 1 || stream || extra)
        return INVALID_VALUE;
    if (shared > DEFAULT_SHARED && (int)shared > asked_shared)
        return INVALID_VALUE;
    bool mapped = strcmp(kernel, "mapped") == 0;
    const float *x = *(float **)parameters[mapped ? 4 : 0];
    const int64_t n = *(int64_t *)parameters[1];
    float *out = *(float **)parameters[2];
    for (unsigned i = 0; i < gx * tx; i++)
        out[i] = x[i] + (float)n;
    return OK;
}

int cuTensorMapEncodeTiled(void *map, int element, uint32_t rank, uint64_t address,
                           const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *element_strides, int interleave, int swizzle,
                           int promotion, int fill) {
    bool ok = element == 2 && rank == 2 && dims[0] == 32 && dims[1] == 4 && strides[0] == 128 &&
              box[0] == 32 && box[1] == 1 && element_strides[1] == 1 && swizzle == 3;
    memset(map, 0, 128);
    memcpy(map, &address, sizeof address);
    return ok && (uintptr_t)map % 64 == 0 && !interleave && !promotion && !fill ? OK
                                                                                : INVALID_VALUE;
}

int cuCtxSynchronize(void) {
    return strcmp(kernel, "lost") == 0 ? LAUNCH_FAILED : OK;
}

int cuGetErrorName(int error, const char **name) {
    *name = error == INVALID_PTX     ? "CUDA_ERROR_INVALID_PTX"
            : error == NOT_FOUND     ? "CUDA_ERROR_NOT_FOUND"
            : error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
                                     : "CUDA_ERROR_INVALID_VALUE";
    return OK;
}
