/* array.c - arrays of others as memory: by the buffer protocol, else by DLPack. */
#include <stdio.h>
#include <string.h>

#include "dlpack_capsule.h"
#include "extension.h"
#include "guest/guest.h"

/* ---- types ---- */

/* DLPack's code of a letter of PEP 3118; -1: there is none. */
static int code_of(char letter) {
    if (letter == '?')
        return TSR_DL_BOOL;
    if (letter && strchr("efd", letter))
        return TSR_DL_FLOAT;
    if (letter && strchr("bhilqn", letter))
        return TSR_DL_INT;
    return letter && strchr("BHILQN", letter) ? TSR_DL_UINT : -1;
}

static bool take_format(const char *format, Py_ssize_t item_bytes, DLDataType *out) {
    const char *letter = format ? format : "B";
    letter += *letter && strchr("@=<", *letter) ? 1 : 0;
    int code = letter[0] && !letter[1] && item_bytes <= 8 ? code_of(letter[0]) : -1;
    if (code < 0) {
        PyErr_Format(PyExc_TypeError, "an array of elements '%s', which no kernel has", format);
        return false;
    }
    *out = (DLDataType){(uint8_t)code, (uint8_t)(8 * item_bytes), 1};
    return true;
}

const char *array_type_name(DLDataType type) {
    static const char *const words[] = {[TSR_DL_INT] = "int",
                                        [TSR_DL_UINT] = "uint",
                                        [TSR_DL_FLOAT] = "float",
                                        [TSR_DL_BFLOAT] = "bfloat",
                                        [TSR_DL_BOOL] = "bool",
                                        [TSR_DL_FLOAT8_E4M3FN] = "float8_e4m3fn",
                                        [TSR_DL_FLOAT8_E5M2] = "float8_e5m2"};
    static char name[40];
    bool known = type.code < sizeof words / sizeof *words && words[type.code];
    bool alone = type.code >= TSR_DL_BOOL;
    snprintf(name, sizeof name, alone ? "%s" : "%s%u", known ? words[type.code] : "type",
             known ? type.bits : type.code);
    return name;
}

bool array_type_fits(DLDataType found, dtype wanted) {
    DLDataType own = guest_dl_type(wanted);
    bool bits = own.code > TSR_DL_FLOAT && own.code != TSR_DL_BOOL && found.code == TSR_DL_UINT;
    return found.lanes == 1 && found.bits == own.bits && (found.code == own.code || bits);
}

/* ---- opening ---- */

static bool from_buffer(array_view *v) {
    const Py_buffer *b = &v->buffer;
    v->data = b->buf;
    v->readonly = b->readonly;
    v->rank = b->ndim;
    if (v->rank > TENSOR_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "an array of %d axes; %d at most", v->rank, TENSOR_MAX_RANK);
        return false;
    }
    for (int axis = 0; axis < v->rank; axis++) {
        v->shape[axis] = b->shape[axis];
        v->strides_bytes[axis] = b->strides[axis];
    }
    return take_format(b->format, b->itemsize, &v->type);
}

/* Only the second generation can say that it is read-only. */
static const DLTensor *tensor_in(array_view *v) {
    if (PyCapsule_IsValid(v->capsule, DLPACK_VERSIONED)) {
        const dlpack_versioned *m = PyCapsule_GetPointer(v->capsule, DLPACK_VERSIONED);
        v->readonly = (m->flags & DLPACK_READ_ONLY) != 0;
        if (m->major == 1)
            return &m->tensor;
        PyErr_Format(PyExc_BufferError, "a tensor of DLPack %u; 1 is known", m->major);
        return NULL;
    }
    const dlpack_managed *m = PyCapsule_GetPointer(v->capsule, DLPACK_OLD);
    return m ? &m->tensor : NULL;
}

/* DLPack's number of the default stream of the array's device; -1: it has none. Launches wait for
 * that one (tsrImportMemory), and whoever made the array orders it behind its own work. */
static int default_stream_of(PyObject *o) {
    PyObject *device = PyObject_HasAttrString(o, "__dlpack_device__")
                           ? PyObject_CallMethod(o, "__dlpack_device__", NULL)
                           : NULL;
    PyObject *type = device && PyTuple_Check(device) ? PyTuple_GetItem(device, 0) : NULL;
    const long kind = type ? PyLong_AsLong(type) : DLPACK_CPU;
    Py_XDECREF(device);
    PyErr_Clear();
    return kind == DLPACK_CUDA ? 1 : kind == DLPACK_ROCM ? 0 : -1;
}

/* As the specification asks for it; objects of before take no arguments. */
static PyObject *ask_for_capsule(PyObject *o) {
    const int stream = default_stream_of(o);
    PyObject *method = PyObject_GetAttrString(o, "__dlpack__"), *none = PyTuple_New(0);
    PyObject *words = stream < 0
                          ? Py_BuildValue("{s:(ii)}", "max_version", 1, 0)
                          : Py_BuildValue("{s:(ii), s:i}", "max_version", 1, 0, "stream", stream);
    PyObject *capsule = method && none && words ? PyObject_Call(method, none, words) : NULL;
    if (!capsule && method && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_CallNoArgs(method);
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(words);
    return capsule;
}

static bool from_capsule(array_view *v) {
    const DLTensor *t = tensor_in(v);
    if (!t)
        return false;
    int64_t item_bytes = t->dtype.bits / 8, step = item_bytes;
    if (t->ndim > TENSOR_MAX_RANK || item_bytes < 1) {
        PyErr_Format(PyExc_ValueError, "an array of %d axes, or of parts of bytes", t->ndim);
        return false;
    }
    v->device = t->device;
    v->data = (const char *)t->data + t->byte_offset;
    v->rank = t->ndim;
    v->type = t->dtype;
    for (int axis = t->ndim - 1; axis >= 0; axis--) {
        v->shape[axis] = t->shape[axis];
        v->strides_bytes[axis] = t->strides ? t->strides[axis] * item_bytes : step;
        step *= t->shape[axis];
    }
    return true;
}

/* A tensor of ours in memory of a context, which the host may not reach. */
static bool from_context(PyObject *o, array_view *v) {
    const tensor_object *t = (const tensor_object *)o;
    if (!tensor_is_there(t))
        return false;
    v->tensor = Py_NewRef(o);
    if (context_device_of(t).device_type)
        v->device = context_device_of(t);
    v->data = t->data;
    v->rank = t->rank;
    v->type = guest_dl_type(t->type);
    v->readonly = t->readonly;
    memcpy(v->shape, t->shape, sizeof v->shape);
    memcpy(v->strides_bytes, t->strides_bytes, sizeof v->strides_bytes);
    return true;
}

bool array_view_is_reachable(const array_view *v) {
    if (v->tensor)
        return tensor_is_reachable((const tensor_object *)v->tensor);
    if (v->device.device_type == DLPACK_CPU)
        return true;
    PyErr_Format(PyExc_ValueError,
                 "an array on DLPack's device (%d, %d), which the host does not reach",
                 (int)v->device.device_type, v->device.device_id);
    return false;
}

bool array_view_open(PyObject *o, array_view *v) {
    if (!array_view_describe(o, v))
        return false;
    if (array_view_is_reachable(v))
        return true;
    array_view_release(v);
    return false;
}

bool array_view_describe(PyObject *o, array_view *v) {
    memset(v, 0, sizeof *v);
    v->device.device_type = DLPACK_CPU;
    if (tensor_is(o) && ((const tensor_object *)o)->context)
        return from_context(o, v);
    if (PyObject_CheckBuffer(o) && PyObject_GetBuffer(o, &v->buffer, PyBUF_RECORDS_RO) == 0) {
        bool ok = from_buffer(v);
        if (ok && tensor_is(o)) /* the buffer shows bits of what Python has no letter for */
            v->type = guest_dl_type(((const tensor_object *)o)->type);
        if (!ok)
            array_view_release(v);
        return ok;
    }
    PyErr_Clear();
    if (!PyObject_HasAttrString(o, "__dlpack__")) {
        PyErr_Format(PyExc_TypeError,
                     "an object of %R is no array: it has neither the buffer protocol nor "
                     "__dlpack__",
                     (PyObject *)Py_TYPE(o));
        return false;
    }
    v->capsule = ask_for_capsule(o);
    if (v->capsule && from_capsule(v))
        return true;
    array_view_release(v);
    return false;
}

/* A capsule that keeps its name frees what it holds. */
void array_view_release(array_view *v) {
    if (v->tensor)
        Py_CLEAR(v->tensor);
    else if (v->capsule)
        Py_CLEAR(v->capsule);
    else if (v->buffer.obj)
        PyBuffer_Release(&v->buffer);
}

/* ---- copying ---- */

size_t array_view_bytes(const array_view *v) {
    size_t bytes = v->type.bits / 8u;
    for (int axis = 0; axis < v->rank; axis++)
        bytes *= (size_t)v->shape[axis];
    return bytes;
}

bool array_is_contiguous(const array_view *v) {
    int64_t step = v->type.bits / 8;
    for (int axis = v->rank - 1; axis >= 0; axis--) {
        if (v->shape[axis] == 0)
            return true;
        if (v->shape[axis] != 1 && v->strides_bytes[axis] != step)
            return false;
        step *= v->shape[axis];
    }
    return true;
}

static char *copy_axis(const array_view *v, int axis, const char *from, char *to) {
    size_t item_bytes = v->type.bits / 8u;
    if (axis == v->rank) {
        memcpy(to, from, item_bytes);
        return to + item_bytes;
    }
    for (int64_t i = 0; i < v->shape[axis]; i++)
        to = copy_axis(v, axis + 1, from + i * v->strides_bytes[axis], to);
    return to;
}

void array_copy(const array_view *v, void *to) {
    size_t bytes = v->type.bits / 8u;
    for (int axis = 0; axis < v->rank; axis++)
        bytes *= (size_t)v->shape[axis];
    if (bytes && array_is_contiguous(v))
        memmove(to, v->data, bytes);
    else if (bytes)
        copy_axis(v, 0, v->data, to);
}

/* The same into a tensor with gaps. */
static void copy_apart(const array_view *v, const tensor_object *to, int axis, const char *from,
                       char *at) {
    if (axis == v->rank) {
        memcpy(at, from, v->type.bits / 8u);
        return;
    }
    for (int64_t i = 0; i < v->shape[axis]; i++)
        copy_apart(v, to, axis + 1, from + i * v->strides_bytes[axis],
                   at + i * to->strides_bytes[axis]);
}

static PyObject *tuple_of(int rank, const int64_t *shape) {
    PyObject *tuple = PyTuple_New(rank);
    for (int axis = 0; axis < rank && tuple; axis++)
        PyTuple_SetItem(tuple, axis, PyLong_FromLongLong(shape[axis]));
    return tuple;
}

/* Always false. */
static bool refuse(const array_view *v, const tensor_object *to, const char *name) {
    PyObject *found = tuple_of(v->rank, v->shape), *wanted = tuple_of(to->rank, to->shape);
    char type[40];
    snprintf(type, sizeof type, "%s", array_type_name(v->type));
    if (found && wanted)
        PyErr_Format(PyExc_TypeError, "'%s' is %s %R here, the kernel's is %s %R", name, type,
                     found, array_type_name(guest_dl_type(to->type)), wanted);
    Py_XDECREF(found);
    Py_XDECREF(wanted);
    return false;
}

bool array_store(PyObject *o, const tensor_object *to, const char *name) {
    array_view v;
    if (!array_view_open(o, &v))
        return false;
    bool same = v.rank == to->rank && array_type_fits(v.type, to->type) &&
                memcmp(v.shape, to->shape, (size_t)v.rank * sizeof *v.shape) == 0;
    if (same && !tensor_is_dense(to))
        copy_apart(&v, to, 0, v.data, to->data);
    else if (same)
        array_copy(&v, to->data);
    else
        refuse(&v, to, name);
    array_view_release(&v);
    return same;
}
