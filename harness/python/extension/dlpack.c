/* dlpack.c - a tensor of ours in DLPack's capsules, of both its generations. */
#include <stdlib.h>

#include "dlpack_capsule.h"
#include "extension.h"
#include "guest/guest.h"

/* One piece: what is handed out, and what it points to. */
typedef struct lent {
    union {
        dlpack_managed old;
        dlpack_versioned versioned;
    };
    PyObject *owner;
    int64_t shape[TENSOR_MAX_RANK], strides[TENSOR_MAX_RANK];
} lent;

static void give_back(lent *l) {
    PyGILState_STATE state = PyGILState_Ensure();
    ((tensor_object *)l->owner)->lent--;
    Py_DECREF(l->owner);
    PyGILState_Release(state);
    free(l);
}

static void delete_old(dlpack_managed *m) {
    give_back(m->manager_ctx);
}

static void delete_versioned(dlpack_versioned *m) {
    give_back(m->manager_ctx);
}

/* Frees a capsule that nobody took; who takes one renames it. */
static void drop(PyObject *capsule) {
    for (int i = 0; i < 2; i++) {
        const char *name = i ? DLPACK_VERSIONED : DLPACK_OLD;
        lent *l = PyCapsule_IsValid(capsule, name) ? PyCapsule_GetPointer(capsule, name) : NULL;
        if (l)
            give_back(l);
    }
}

static DLTensor describe(lent *l, const tensor_object *t) {
    int64_t item_bytes = (int64_t)dtype_size(t->type);
    for (int axis = 0; axis < t->rank; axis++) {
        l->shape[axis] = t->shape[axis];
        l->strides[axis] = t->strides_bytes[axis] / item_bytes;
    }
    return (DLTensor){.data = t->data,
                      .device = context_device_of(t),
                      .ndim = t->rank,
                      .dtype = guest_dl_type(t->type),
                      .shape = l->shape,
                      .strides = l->strides};
}

/* Checks that max_version allows the second generation; only that one can say "read-only". */
static bool is_versioned(PyObject *max_version) {
    unsigned major = 0, minor = 0;
    if (!max_version || !PyTuple_Check(max_version))
        return false;
    if (!PyArg_ParseTuple(max_version, "II", &major, &minor))
        PyErr_Clear();
    return major >= 1;
}

/* A capsule of the tensor, which it keeps. */
static PyObject *lend(PyObject *owner, bool versioned, bool copied) {
    const tensor_object *t = (const tensor_object *)owner;
    lent *l = calloc(1, sizeof *l);
    if (!l)
        return PyErr_NoMemory();
    if (versioned)
        l->versioned = (dlpack_versioned){.major = 1,
                                          .manager_ctx = l,
                                          .deleter = delete_versioned,
                                          .flags = (t->readonly ? DLPACK_READ_ONLY : 0) |
                                                   (copied ? DLPACK_IS_COPIED : 0),
                                          .tensor = describe(l, t)};
    else
        l->old = (dlpack_managed){describe(l, t), l, delete_old};
    PyObject *capsule = PyCapsule_New(l, versioned ? DLPACK_VERSIONED : DLPACK_OLD, drop);
    if (!capsule) {
        free(l);
        return NULL;
    }
    Py_INCREF(owner);
    ((tensor_object *)owner)->lent++;
    l->owner = owner;
    return capsule;
}

static bool is_far(const tensor_object *t) {
    return t->context && !context_reaches_host(t->context);
}

/* A copy in the memory of the tensor's device, or in the host's. */
static PyObject *copy_of(PyObject *self, bool to_host) {
    const tensor_object *t = (const tensor_object *)self;
    if (is_far(t))
        return to_host ? context_get(NULL, self) : context_copy_of(t);
    PyObject *made = tensor_new(NULL, t->type, t->rank, t->shape, false);
    if (made && !array_store(self, (const tensor_object *)made, "copy"))
        Py_CLEAR(made);
    return made;
}

static bool is_device(PyObject *device, DLDevice wanted) {
    int kind = 0, index = 0;
    bool known = PyTuple_Check(device) && PyArg_ParseTuple(device, "ii", &kind, &index);
    if (!known)
        PyErr_Clear();
    return known && kind == (int)wanted.device_type && index == wanted.device_id;
}

/* All that made the tensor has ended, so that it is ready on any stream that there is. */
static bool is_stream(PyObject *stream, DLDevice of) {
    const long number = stream && stream != Py_None ? PyLong_AsLong(stream) : -1;
    if (number == -1 && PyErr_Occurred())
        return false;
    const bool known = of.device_type == DLPACK_CUDA   ? number != 0
                       : of.device_type == DLPACK_ROCM ? number != 1 && number != 2
                                                       : true;
    if (!known)
        PyErr_Format(PyExc_BufferError, "DLPack's devices of kind %d have no stream %ld",
                     (int)of.device_type, number);
    return known;
}

/* Checks that the tensor can be shown there, if by a copy; `*to_host`: from a device. */
static bool can_show(const tensor_object *t, PyObject *device, PyObject *copy, bool *to_host) {
    const DLDevice own = context_device_of(t), host = {.device_type = DLPACK_CPU};
    const bool given = device && device != Py_None;
    *to_host = is_far(t) && given && is_device(device, host);
    if (!tensor_is_there(t))
        return false;
    if (*to_host && copy == Py_False)
        PyErr_SetString(PyExc_BufferError, "the tensor lies on a device: only a copy of it is "
                                           "on the host");
    else if (!*to_host && given && !is_device(device, own))
        PyErr_Format(PyExc_BufferError, "the tensor is on DLPack's device (%d, %d), not on %R",
                     (int)own.device_type, own.device_id, device);
    else if (!*to_host && !own.device_type)
        PyErr_SetString(PyExc_BufferError,
                        "the tensor lies on a device of which DLPack has no addresses: "
                        "tessera.device_get() brings it here");
    else
        return true;
    return false;
}

PyObject *tensor_dlpack(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static const char *const names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    const tensor_object *t = (const tensor_object *)self;
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    bool to_host;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO", (char **)names, &stream,
                                     &version, &device, &copy) ||
        !can_show(t, device, copy, &to_host) || !is_stream(stream, context_device_of(t)))
        return NULL;
    const bool copied = copy == Py_True || to_host;
    PyObject *owner = copied ? copy_of(self, to_host) : Py_NewRef(self);
    PyObject *capsule = owner ? lend(owner, is_versioned(version), copied) : NULL;
    Py_XDECREF(owner);
    return capsule;
}

PyObject *tensor_dlpack_device(PyObject *self, PyObject *nothing) {
    const DLDevice own = context_device_of((const tensor_object *)self);
    (void)nothing;
    return Py_BuildValue("(ii)", (int)own.device_type, (int)own.device_id);
}
