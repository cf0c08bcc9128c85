/* cuda.h - the few functions of the CUDA driver that the witness calls, from libcuda.so.1 where
 * there is one. Declared here, so that no header of a toolkit is needed; names and types are those
 * of the CUDA driver API. */
#ifndef MATRIX_UNITS_CUDA_H
#define MATRIX_UNITS_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t device_address;
typedef struct CUmod_st *cuda_module;
typedef struct CUfunc_st *cuda_function;
typedef struct CUstream_st *cuda_stream;
typedef struct CUevent_st *cuda_event;
typedef struct CUctx_st *cuda_context;

#define CUDA_FUNCTIONS(F)                                                                          \
    F(cuInit, (unsigned flags))                                                                    \
    F(cuDriverGetVersion, (int *version))                                                          \
    F(cuDeviceGet, (int *device, int ordinal))                                                     \
    F(cuDeviceGetName, (char *name, int length, int device))                                       \
    F(cuDeviceGetAttribute, (int *value, int attribute, int device))                               \
    F(cuDevicePrimaryCtxRetain, (cuda_context * context, int device))                              \
    F(cuCtxSetCurrent, (cuda_context context))                                                     \
    F(cuModuleLoadDataEx,                                                                          \
      (cuda_module * module, const void *image, unsigned count, int *options, void **values))      \
    F(cuModuleGetFunction, (cuda_function * function, cuda_module module, const char *name))       \
    F(cuModuleUnload, (cuda_module module))                                                        \
    F(cuMemAlloc_v2, (device_address * address, size_t bytes))                                     \
    F(cuMemFree_v2, (device_address address))                                                      \
    F(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                              \
    F(cuMemFreeHost, (void *address))                                                              \
    F(cuMemsetD8_v2, (device_address address, unsigned char value, size_t bytes))                  \
    F(cuMemcpyHtoD_v2, (device_address to, const void *from, size_t bytes))                        \
    F(cuMemcpyDtoH_v2, (void *to, device_address from, size_t bytes))                              \
    F(cuMemcpyHtoDAsync_v2,                                                                        \
      (device_address to, const void *from, size_t bytes, cuda_stream stream))                     \
    F(cuMemcpyDtoHAsync_v2, (void *to, device_address from, size_t bytes, cuda_stream stream))     \
    F(cuMemcpyDtoDAsync_v2,                                                                        \
      (device_address to, device_address from, size_t bytes, cuda_stream stream))                  \
    F(cuLaunchKernel, (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,  \
                       unsigned block_x, unsigned block_y, unsigned block_z,                       \
                       unsigned shared_bytes, cuda_stream stream, void **arguments, void **extra)) \
    F(cuCtxSynchronize, (void))                                                                    \
    F(cuStreamCreate, (cuda_stream * stream, unsigned flags))                                      \
    F(cuStreamSynchronize, (cuda_stream stream))                                                   \
    F(cuStreamDestroy_v2, (cuda_stream stream))                                                    \
    F(cuEventCreate, (cuda_event * event, unsigned flags))                                         \
    F(cuEventRecord, (cuda_event event, cuda_stream stream))                                       \
    F(cuEventSynchronize, (cuda_event event))                                                      \
    F(cuEventElapsedTime, (float *ms, cuda_event from, cuda_event to))                             \
    F(cuEventDestroy_v2, (cuda_event event))                                                       \
    F(cuGetErrorName, (int error, const char **name))

typedef struct cuda_functions {
#define F(name, parameters) int(*name) parameters;
    CUDA_FUNCTIONS(F)
#undef F
} cuda_functions;

extern cuda_functions cuda;

/* Opens the first device. NULL, or why there is none of compute capability 9.0 here. Prints device
 * and driver. */
const char *cuda_open(void);

/* Ends the program with the error's name when a call fails. */
#define CUDA_CHECK(call) cuda_check((call), #call)
void cuda_check(int error, const char *call);

/* The entry of PTX text, assembled by the driver; its log is printed when it refuses the text. */
cuda_function cuda_assemble(const char *ptx, const char *entry, cuda_module *module);

device_address cuda_allocate(size_t bytes);

#endif
