/* extension.h - tessera._tessera, the C part of the Python package: tensors that other frameworks
 * can see, arrays of theirs as memory, and the guest's loop. Limited API of Python 3.11, so that
 * one file serves every later Python.
 *
 * Functions that return NULL or false have set a Python exception. Each is called with the
 * interpreter's lock held. */
#ifndef TESSERA_PYTHON_EXTENSION_H
#define TESSERA_PYTHON_EXTENSION_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/tensor.h"
#include "device/shared/host_memory.h"
#include "tessera/implementation.h"
#include "tessera/tessera.h"

/* ---- tensor.c: memory with a type and a shape, row-major without gaps; shows itself by the buffer
 * protocol and by DLPack. ---- */
typedef struct tensor_object {
    PyObject_HEAD void *data;
    PyObject *context;   /* whose memory it is; NULL: of the host's own */
    PyObject *signature; /* once it was asked for */
    dtype type;
    int rank, lent; /* lent: to buffers and capsules that are held now */
    bool readonly;
    host_memory own; /* of the host's own, where `data` is freed with the object */
    bool donated;    /* a launch gave its memory to a result */
    int64_t shape[TENSOR_MAX_RANK], strides_bytes[TENSOR_MAX_RANK];
} tensor_object;

extern PyTypeObject *tensor_type;
bool tensor_type_ready(PyObject *module);
/* `data` is borrowed and must outlive the object; NULL: memory of its own, aligned to 64 bytes, not
 * initialised. */
PyObject *tensor_new(void *data, dtype type, int rank, const int64_t *shape, bool readonly);
/* Memory of a context, not initialised. */
PyObject *tensor_new_in(PyObject *context, dtype type, int rank, const int64_t *shape);
/* Its elements lie apart, `strides` elements from one to the next along each axis. */
void tensor_set_strides(PyObject *of, const int64_t *strides);
bool tensor_is_dense(const tensor_object *t);
size_t tensor_object_bytes(const tensor_object *t);
/* A tensor that was made by tensor_new. */
static inline bool tensor_is(PyObject *o) {
    return PyObject_TypeCheck(o, tensor_type);
}

/* Checks that no launch took its memory. */
bool tensor_is_there(const tensor_object *t);
/* ... and that the host may look at it. */
bool tensor_is_reachable(const tensor_object *t);

/* Is the memory a context's that a launch may give to a result? Nobody else looks at it. */
bool tensor_is_donatable(const tensor_object *t);
/* Another tensor with this one's memory, which is none any more. */
PyObject *tensor_give(tensor_object *t);

/* ---- dlpack.c: Tensor.__dlpack__ ---- */
PyObject *tensor_dlpack(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *tensor_dlpack_device(PyObject *self, PyObject *nothing);

/* ---- array.c: any array that has the buffer protocol or __dlpack__, as memory ---- */
typedef struct array_view {
    const char *data;
    int rank;
    int64_t shape[TENSOR_MAX_RANK], strides_bytes[TENSOR_MAX_RANK];
    DLDataType type;
    DLDevice device; /* DLPack's; the CPU where that has none */
    bool readonly;
    Py_buffer buffer;           /* held where `capsule` and `tensor` are NULL */
    PyObject *capsule, *tensor; /* tensor: in memory of a context */
} array_view;
bool array_view_open(PyObject *o, array_view *v);
/* ... and which may lie where the host does not reach it. */
bool array_view_describe(PyObject *o, array_view *v);
bool array_view_is_reachable(const array_view *v);
size_t array_view_bytes(const array_view *v);
void array_view_release(array_view *v);
/* Checks that elements of the array can stand for the type: its own in DLPack; and where frameworks
 * lack it, unsigned integers with its bits. */
bool array_type_fits(DLDataType found, dtype wanted);
bool array_is_contiguous(const array_view *v);
/* All elements, row-major. */
void array_copy(const array_view *v, void *to);
/* Into an output of that name, whose type and shape the array must have. */
bool array_store(PyObject *o, const tensor_object *to, const char *name);
/* "float32", "bfloat16": static storage, one at a time. */
const char *array_type_name(DLDataType type);

/* ---- context.c: Error, Context ---- */
typedef struct context_object {
    PyObject_HEAD tsr_context_t context;
    bool host_addressable;
    DLDevice device; /* in DLPack's numbers; its type is 0 where that has none */
} context_object;
extern PyTypeObject *context_type;
extern PyObject *error_class; /* tessera._tessera.Error */
/* False with an Error. */
bool context_held(tsr_status_t code);
bool context_type_ready(PyObject *module);
/* Memory of a context, aligned to 64 bytes; NULL with an exception. */
void *context_alloc(PyObject *context, size_t bytes);
void context_free(PyObject *context, void *memory);
/* Between memory of the context and the host's, at once. */
bool context_copy(PyObject *context, void *to, const void *from, size_t bytes);
static inline bool context_reaches_host(PyObject *context) {
    return ((const context_object *)context)->host_addressable;
}
/* The device of a tensor's memory, as DLPack has it; its type is 0 where that has none. */
DLDevice context_device_of(const tensor_object *t);
/* Foreign memory of the context's device as its own, until it is released; NULL with an exception:
 * it is another device's, or lies apart. */
tsr_import_t context_import(PyObject *context, const array_view *v);
void context_release_import(tsr_import_t import); /* may be NULL */
/* Another tensor in the memory of this one's context. */
PyObject *context_copy_of(const tensor_object *t);
PyObject *context_get(PyObject *self, PyObject *given);
void extension_free_object(PyObject *self);
PyTypeObject *extension_make_type(PyType_Spec *spec, PyObject *module, const char *name);
PyObject *launch_devices(PyObject *module, PyObject *nothing);
PyObject *launch_capabilities(PyObject *module, PyObject *index);
PyObject *launch_check_policy(PyObject *module, PyObject *path);
PyObject *launch_backends(PyObject *module, PyObject *nothing);

/* ---- loaded.c: Module ---- */
bool loaded_type_ready(PyObject *module);
PyObject *loaded_signature(PyObject *module, PyObject *arrays);
bool loaded_check(PyObject *value); /* Is it a Module? */

PyObject *ffi_handler(PyObject *module, PyObject *nothing);
PyObject *ffi_keep(PyObject *module, PyObject *kept);

/* ---- callable.c: Callable ---- */
bool callable_type_ready(PyObject *module);

/* ---- tree.c: values of several arrays ---- */
PyObject *tree_gather(PyObject *module, PyObject *arguments);
PyObject *tree_scatter(PyObject *module, PyObject *arguments);
bool tree_ready(void);

/* ---- capture.c: calls of functions, recorded where TESSERA_CAPTURE says so ---- */
PyObject *capture_open(PyObject *module, PyObject *arguments);
PyObject *capture_close(PyObject *module, PyObject *arguments);
bool capture_ready(PyObject *module);

/* ---- guest.c ---- */
PyObject *guest_serve_python(PyObject *module, PyObject *arguments);

#endif
