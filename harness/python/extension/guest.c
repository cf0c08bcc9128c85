/* guest.c - a Python callable as an implementation: the guest's loop (runtime/guest) with a kind of
 * its own.
 *
 * Arrays are made once for each set of addresses, since calls come from few buffers. The
 * interpreter's lock is held while Python runs and at no other time. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "extension.h"
#include "guest/guest.h"

enum { KEPT = 64 };

/* Arrays over one set of addresses. */
typedef struct kept_call {
    uint64_t *addresses;
    PyObject *arguments, *outputs; /* tuples: as the function takes them; Tensors */
} kept_call;

typedef struct python_guest {
    PyObject *open, *explain; /* borrowed from serve()'s caller */
    PyObject *function, *make;
    int writes; /* it takes outputs, too, and returns nothing */
    kept_call kept[KEPT];
    size_t count, last;
    PyThreadState *thread;
} python_guest;

static python_guest guest; /* a process has one */

/* The exception in hand becomes the status; always false. */
static bool failed(status *st) {
    PyObject *type, *value, *trace;
    int code = STATUS_INVALID;
    const char *message = "it raised an exception that cannot be told";
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace)
        PyException_SetTraceback(value, trace);
    PyObject *told = value ? PyObject_CallFunctionObjArgs(guest.explain, value, NULL) : NULL;
    if (told && !PyArg_ParseTuple(told, "is", &code, &message))
        message = "it raised an exception that cannot be told";
    status_set(st, (status_code)code, "%s", message);
    PyErr_Clear();
    Py_XDECREF(told);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return false;
}

/* ---- opening ---- */

static bool open_function(guest_function *s, status *st) {
    char *words = json_dumps(s->description, JSON_COMPACT);
    PyObject *found = words ? PyObject_CallFunction(guest.open, "s", words) : PyErr_NoMemory();
    free(words);
    bool ok = found && PyArg_ParseTuple(found, "OOp", &guest.function, &guest.make, &guest.writes);
    Py_XINCREF(ok ? guest.function : NULL);
    Py_XINCREF(ok ? guest.make : NULL);
    Py_XDECREF(found);
    return ok || failed(st);
}

static bool python_open(guest_function *s, status *st) {
    PyEval_RestoreThread(guest.thread);
    bool ok = open_function(s, st);
    guest.thread = PyEval_SaveThread();
    return ok;
}

/* ---- arrays ---- */

/* Tensors `from` to `end` of the call. */
static PyObject *tensors_of(const guest_function *s, uint32_t from, uint32_t end) {
    PyObject *all = PyTuple_New(end - from);
    for (uint32_t i = from; i < end && all; i++) {
        const DLTensor *d = &s->tensors[i];
        PyObject *t = tensor_new((char *)d->data + d->byte_offset, s->types[i], d->ndim,
                                 s->shapes[i], i < s->inputs);
        if (t && d->strides)
            tensor_set_strides(t, d->strides);
        if (!t || PyTuple_SetItem(all, i - from, t) != 0)
            Py_CLEAR(all);
    }
    return all;
}

static bool is_of(const kept_call *k, const guest_function *s) {
    for (uint32_t i = 0; i < s->count; i++)
        if (k->addresses[i] != (uint64_t)(uintptr_t)s->tensors[i].data)
            return false;
    return true;
}

static kept_call *make_arrays(const guest_function *s) {
    size_t at = guest.count < KEPT ? guest.count : (guest.last + 1) % KEPT;
    kept_call *k = &guest.kept[at];
    PyObject *given = tensors_of(s, 0, guest.writes ? s->count : s->inputs);
    PyObject *outputs = tensors_of(s, s->inputs, s->count);
    PyObject *arguments =
        given && outputs ? PyObject_CallFunctionObjArgs(guest.make, given, NULL) : NULL;
    Py_XDECREF(given);
    if (!arguments || !PyTuple_Check(arguments)) {
        Py_XDECREF(outputs);
        Py_XDECREF(arguments);
        return NULL;
    }
    Py_XDECREF(k->arguments);
    Py_XDECREF(k->outputs);
    if (!k->addresses)
        k->addresses = base_calloc((size_t)s->count + 1, sizeof *k->addresses);
    for (uint32_t i = 0; i < s->count; i++)
        k->addresses[i] = (uint64_t)(uintptr_t)s->tensors[i].data;
    k->arguments = arguments;
    k->outputs = outputs;
    guest.count += guest.count < KEPT;
    guest.last = at;
    return k;
}

/* Buffers come in turns: the next is looked at first. */
static kept_call *arrays_of(const guest_function *s) {
    for (size_t i = 1; i <= guest.count; i++) {
        size_t at = (guest.last + i) % guest.count;
        if (is_of(&guest.kept[at], s)) {
            guest.last = at;
            return &guest.kept[at];
        }
    }
    return make_arrays(s);
}

/* ---- calling ---- */

static bool store_one(const guest_function *s, const kept_call *k, uint32_t i, PyObject *value) {
    return array_store(value, (const tensor_object *)PyTuple_GetItem(k->outputs, i),
                       s->names[s->inputs + i]);
}

static bool store_all(const guest_function *s, const kept_call *k, PyObject *result) {
    uint32_t outputs = s->count - s->inputs;
    bool several = PyTuple_Check(result) || PyList_Check(result);
    if (!several && outputs == 1)
        return store_one(s, k, 0, result);
    if (!several || PySequence_Size(result) != (Py_ssize_t)outputs) {
        PyErr_Format(
            PyExc_TypeError,
            "%s returned an object of %R with %zd elements where the kernel has %u output%s",
            s->symbol, (PyObject *)Py_TYPE(result),
            several ? PySequence_Size(result) : (Py_ssize_t)1, outputs, outputs == 1 ? "" : "s");
        return false;
    }
    for (uint32_t i = 0; i < outputs; i++) {
        PyObject *one = PySequence_GetItem(result, i);
        bool ok = one && store_one(s, k, i, one);
        Py_XDECREF(one);
        if (!ok)
            return false;
    }
    return true;
}

static bool is_nothing(const guest_function *s, PyObject *result) {
    if (result != Py_None)
        PyErr_Format(PyExc_TypeError,
                     "%s takes the outputs to write them, and returned an object of %R; it returns "
                     "None",
                     s->symbol, (PyObject *)Py_TYPE(result));
    return result == Py_None;
}

static bool call(const guest_function *s) {
    kept_call *k = arrays_of(s);
    PyObject *result = k ? PyObject_Call(guest.function, k->arguments, NULL) : NULL;
    bool ok = result && (guest.writes ? is_nothing(s, result) : store_all(s, k, result));
    Py_XDECREF(result);
    return ok;
}

static bool python_call(guest_function *s, status *st) {
    PyEval_RestoreThread(guest.thread);
    bool ok = call(s) || failed(st);
    guest.thread = PyEval_SaveThread();
    return ok;
}

PyObject *guest_serve_python(PyObject *module, PyObject *arguments) {
    static const guest_kind kinds[] = {{"python", python_open, python_call}, {0}};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OO", &guest.open, &guest.explain))
        return NULL;
    guest.thread = PyEval_SaveThread();
    int code = guest_serve(kinds);
    PyEval_RestoreThread(guest.thread);
    return PyLong_FromLong(code);
}
