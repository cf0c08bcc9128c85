/* tvm_ffi.h - functions of the TVM FFI convention, `__tvm_ffi_NAME`: FlashInfer, TileLang and the
 * CuTe DSL export them. */
#ifndef TESSERA_RUNTIME_TVM_FFI_H
#define TESSERA_RUNTIME_TVM_FFI_H

#include "guest/guest.h"

typedef struct tvm_ffi tvm_ffi;

/* A function of a library that is loaded, which keeps its tensors' types and shapes. Lives as long
 * as the process. */
tvm_ffi *tvm_ffi_open(const guest_function *s, void *library, void *function);
/* Calls it with the tensors of `s`. */
bool tvm_ffi_call(tvm_ffi *f, const guest_function *s, status *st);

#endif
