/* implementation.h - a kernel of your own, in C, for `tsr bench --with FILE.so`: all that it needs.
 *
 *     #include <tessera/implementation.h>
 *
 *     TSR_IMPLEMENTATION int scale(DLTensor *const *t, int32_t count) {
 *         const float *x = t[0]->data;
 *         float *out = t[1]->data;
 *         for (int64_t i = 0; i < t[0]->shape[0]; i++)
 *             out[i] = 2 * x[i];
 *         return 0;
 *     }
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags tessera) scale.c -o scale.so
 *
 * or, in a checkout that is not installed, with -Iruntime/include.
 *
 * The function has the name of the kernel that it implements. It gets the kernel's inputs, in the
 * order of its parameters, and then its outputs: `count` tensors in all. It writes all elements of
 * the outputs, which hold anything before, and nothing else. It returns 0, or
 * TSR_IMPLEMENTATION_UNSUPPORTED for types or shapes that it does not take; any other value is a
 * failure. The library may give the reason by `const char *tessera_error(void)`.
 *
 * Tensors lie in memory of the CPU, row-major without gaps (`strides` is NULL, byte_offset 0),
 * aligned to 64 bytes; they last for the call. `tsr check --relation strides` alone gives others: a
 * function that takes none of them returns TSR_IMPLEMENTATION_UNSUPPORTED where `strides` is there.
 * Types: DLPack's, as it has them (bf16 is kDLBfloat
 * of 16 bits); f8 as DLPack 1.1 numbers them; tf32 is a float of 32 bits; i4 an int of 8 bits, one
 * for each byte; bool is kDLBool, one for each byte.
 *
 * It runs in a process of its own, one call at a time. How many threads it may use stands in
 * OMP_NUM_THREADS there.
 *
 * Functions of the TVM FFI convention (`__tvm_ffi_scale`) need none of this: they are found by
 * their names, and called with the same tensors, with strides: as Tensor objects where their
 * library brings libtvm_ffi, else as addresses of DLTensors. */
#ifndef TESSERA_IMPLEMENTATION_H
#define TESSERA_IMPLEMENTATION_H

#include <stdint.h>

/* DLPack's own header where it was included before or is installed; else the part of it that is
 * used here (DLPack 0.6 and later have this layout). */
#if !defined(DLPACK_DLPACK_H_) && defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
typedef struct DLDevice {
    int32_t device_type, device_id;
} DLDevice;
typedef struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;
typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
#endif

/* DLPack's codes of types: kDLInt, kDLUInt, kDLFloat, kDLBfloat, kDLBool, kDLFloat8_e4m3fn,
 * kDLFloat8_e5m2; older headers lack the last ones. */
enum {
    TSR_DL_INT = 0,
    TSR_DL_UINT = 1,
    TSR_DL_FLOAT = 2,
    TSR_DL_BFLOAT = 4,
    TSR_DL_BOOL = 6,
    TSR_DL_FLOAT8_E4M3FN = 10,
    TSR_DL_FLOAT8_E5M2 = 12
};

#ifdef __cplusplus
#define TSR_IMPLEMENTATION extern "C" __attribute__((visibility("default")))
#else
#define TSR_IMPLEMENTATION __attribute__((visibility("default")))
#endif

/* "Not with these types or shapes." */
enum { TSR_IMPLEMENTATION_UNSUPPORTED = 95 };

/* The type of such a function. */
typedef int (*tsr_implementation_fn)(DLTensor *const *tensors, int32_t count);

#endif
