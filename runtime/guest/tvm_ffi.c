/* tvm_ffi.c - the stable C ABI of TVM FFI (tvm/ffi/c_api.h), as far as a caller needs it: a value
 * is an index of its type and 8 bytes; an object begins with 24 bytes of its own.
 *
 * A function that takes a Tensor wants an object of the library libtvm_ffi, one that takes a
 * TensorView also an address of a DLTensor: objects, where the function's library brings that one;
 * else it knows addresses alone. */
#include "guest/tvm_ffi.h"

#include <dlfcn.h>
#include <string.h>

#include "base/arena.h"

typedef struct ffi_any {
    int32_t type_index;
    uint32_t padding;
    union {
        int64_t integer;
        void *pointer;
    };
} ffi_any;
enum {
    OBJECT_BYTES = 24,
    FFI_NONE = 0,
    FFI_DLTENSOR_POINTER = 7,
    FFI_OBJECTS = 64,
    FFI_TENSOR = 70
};
typedef struct ffi_bytes {
    const char *data;
    size_t size;
} ffi_bytes;
typedef struct ffi_error {
    char object[OBJECT_BYTES];
    ffi_bytes kind, message;
} ffi_error;

/* DLPack's tensor, which the library copies; its memory is freed by nobody here. */
typedef struct managed_tensor {
    DLTensor tensor;
    void *context;
    void (*deleter)(struct managed_tensor *self);
} managed_tensor;

struct tvm_ffi {
    int (*function)(void *handle, const ffi_any *arguments, int32_t count, ffi_any *result);
    int (*release)(void *object); /* NULL: libtvm_ffi is not there */
    void (*take_error)(void **object);
    /* One for each tensor: */
    ffi_any *arguments;
    DLTensor **tensors; /* inside of the arguments */
    managed_tensor *described;
    int64_t (*strides)[TENSOR_MAX_RANK];
};

/* The convention wants strides, which plain C is spared. */
static void describe(tvm_ffi *f, const guest_function *s, uint32_t i) {
    int64_t step = 1;
    f->described[i] = (managed_tensor){.tensor = s->tensors[i]};
    f->described[i].tensor.strides = f->strides[i];
    for (int axis = s->tensors[i].ndim - 1; axis >= 0; axis--) {
        f->strides[i][axis] = step;
        step *= s->shapes[i][axis] ? s->shapes[i][axis] : 1;
    }
    f->tensors[i] = &f->described[i].tensor;
    f->arguments[i] = (ffi_any){FFI_DLTENSOR_POINTER, 0, {.pointer = f->tensors[i]}};
}

/* An object is a DLTensor behind its own bytes. */
static void make_object(tvm_ffi *f, uint32_t i,
                        int (*make)(managed_tensor *, int32_t, int32_t, void **)) {
    void *object = NULL;
    if (make(&f->described[i], 0, 0, &object) != 0 || !object)
        return;
    f->tensors[i] = (DLTensor *)(void *)((char *)object + OBJECT_BYTES);
    f->arguments[i] = (ffi_any){FFI_TENSOR, 0, {.pointer = object}};
}

tvm_ffi *tvm_ffi_open(const guest_function *s, void *library, void *function) {
    const size_t count = (size_t)s->count + 1;
    tvm_ffi *f = base_calloc(1, sizeof *f);
    f->arguments = base_calloc(count, sizeof *f->arguments);
    f->tensors = base_calloc(count, sizeof *f->tensors);
    f->described = base_calloc(count, sizeof *f->described);
    f->strides = base_calloc(count, sizeof *f->strides);
    int (*make)(managed_tensor *, int32_t, int32_t, void **) = NULL;
    void *found[] = {function, dlsym(library, "TVMFFIObjectDecRef"),
                     dlsym(library, "TVMFFIErrorMoveFromRaised"),
                     dlsym(library, "TVMFFITensorFromDLPack")};
    memcpy(&f->function, &found[0], sizeof found[0]);
    memcpy(&f->release, &found[1], sizeof found[1]);
    memcpy(&f->take_error, &found[2], sizeof found[2]);
    memcpy(&make, &found[3], sizeof found[3]);
    for (uint32_t i = 0; i < s->count; i++) {
        describe(f, s, i);
        if (make)
            make_object(f, i, make);
    }
    return f;
}

static void release(const tvm_ffi *f, void *object) {
    if (f->release)
        (void)f->release(object);
}

static bool failed(const tvm_ffi *f, const guest_function *s, int code, status *st) {
    static const char unsupported_kind[] = "NotImplementedError";
    void *raised = NULL;
    if (f->take_error)
        f->take_error(&raised);
    if (!raised)
        return status_set(st, STATUS_INVALID, "%s returned %d", s->symbol, code);
    const ffi_error *e = raised;
    bool unsupported = e->kind.size == strlen(unsupported_kind) &&
                       memcmp(e->kind.data, unsupported_kind, e->kind.size) == 0;
    status_set(st, unsupported ? STATUS_UNAVAILABLE : STATUS_INVALID, "%s: %.*s: %.*s", s->symbol,
               (int)e->kind.size, e->kind.data, e->message.size < 600 ? (int)e->message.size : 600,
               e->message.data);
    release(f, raised);
    return false;
}

bool tvm_ffi_call(tvm_ffi *f, const guest_function *s, status *st) {
    ffi_any result = {.type_index = FFI_NONE};
    for (uint32_t i = 0; i < s->count; i++)
        f->tensors[i]->data = s->tensors[i].data;
    int code = f->function(NULL, f->arguments, (int32_t)s->count, &result);
    if (code != 0)
        return failed(f, s, code, st);
    if (result.type_index >= FFI_OBJECTS)
        release(f, result.pointer);
    return true;
}
