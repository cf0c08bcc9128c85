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
#include "tessera/implementation.h"

/* ---- tensor.c: memory with a type and a shape, row-major without gaps; shows itself by the buffer
 * protocol and by DLPack. ---- */
typedef struct tensor_object {
    PyObject_HEAD void *data;
    dtype type;
    int rank;
    bool readonly, owned; /* owned: `data` is freed with the object */
    int64_t shape[TENSOR_MAX_RANK], strides_bytes[TENSOR_MAX_RANK];
} tensor_object;

extern PyTypeObject *tensor_type;
bool tensor_type_ready(PyObject *module);
/* `data` is borrowed and must outlive the object; NULL: memory of its own, aligned to 64 bytes, not
 * initialised. */
PyObject *tensor_new(void *data, dtype type, int rank, const int64_t *shape, bool readonly);
/* Its elements lie apart, `strides` elements from one to the next along each axis. */
void tensor_set_strides(PyObject *of, const int64_t *strides);
bool tensor_is_dense(const tensor_object *t);
size_t tensor_object_bytes(const tensor_object *t);
/* A tensor that was made by tensor_new. */
static inline bool tensor_is(PyObject *o) {
    return PyObject_TypeCheck(o, tensor_type);
}

/* ---- dlpack.c: Tensor.__dlpack__ ---- */
PyObject *tensor_dlpack(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *tensor_dlpack_device(PyObject *self, PyObject *nothing);

/* ---- array.c: any array that has the buffer protocol or __dlpack__, as memory ---- */
typedef struct array_view {
    const char *data;
    int rank;
    int64_t shape[TENSOR_MAX_RANK], strides_bytes[TENSOR_MAX_RANK];
    DLDataType type;
    bool readonly;
    Py_buffer buffer; /* held where `capsule` is NULL */
    PyObject *capsule;
} array_view;
bool array_view_open(PyObject *o, array_view *v);
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

/* ---- launch.c: Error, Context, Module ---- */
bool launch_types_ready(PyObject *module);
PyObject *launch_devices(PyObject *module, PyObject *nothing);
PyObject *launch_capabilities(PyObject *module, PyObject *index);
PyObject *launch_signature(PyObject *module, PyObject *arrays);

/* ---- capture.c: calls of functions, recorded where TESSERA_CAPTURE says so ---- */
PyObject *capture_open(PyObject *module, PyObject *arguments);
PyObject *capture_close(PyObject *module, PyObject *arguments);
bool capture_ready(PyObject *module);

/* ---- guest.c ---- */
PyObject *guest_serve_python(PyObject *module, PyObject *arguments);

#endif
