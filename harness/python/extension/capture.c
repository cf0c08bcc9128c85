/* capture.c - calls of Python functions as lines of a stream (capture/record/record.h). Nothing
 * here raises because of what an array is: recording changes nothing for the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/record/record.h"
#include "extension.h"

/* A call between its two halves. */
typedef struct token {
    record_call call;
    array_view views[RECORD_TENSORS_MAX];
    char *names[RECORD_TENSORS_MAX];
    uint32_t count;
} token;

/* Finds Tessera's name and NumPy's of a type; false: neither has it. */
static bool name_type(DLDataType type, const char **name, const char **descr) {
    static const struct {
        uint8_t code, bits;
        const char *name, *descr;
    } types[] = {
        {TSR_DL_FLOAT, 64, "f64", "<f8"},        {TSR_DL_FLOAT, 32, "f32", "<f4"},
        {TSR_DL_FLOAT, 16, "f16", "<f2"},        {TSR_DL_BFLOAT, 16, "bf16", "<u2"},
        {TSR_DL_INT, 64, "i64", "<i8"},          {TSR_DL_INT, 32, "i32", "<i4"},
        {TSR_DL_INT, 16, "i16", "<i2"},          {TSR_DL_INT, 8, "i8", "|i1"},
        {TSR_DL_UINT, 64, "u64", "<u8"},         {TSR_DL_UINT, 32, "u32", "<u4"},
        {TSR_DL_UINT, 16, "u16", "<u2"},         {TSR_DL_UINT, 8, "u8", "|u1"},
        {TSR_DL_BOOL, 8, "bool", "|b1"},         {TSR_DL_FLOAT8_E4M3FN, 8, "f8e4m3fn", "|u1"},
        {TSR_DL_FLOAT8_E5M2, 8, "f8e5m2", "|u1"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type.code == types[i].code && type.bits == types[i].bits && type.lanes == 1) {
            *name = types[i].name;
            *descr = types[i].descr;
            return true;
        }
    return false;
}

static bool describe(const array_view *v, record_tensor *t) {
    if (!name_type(v->type, &t->dtype, &t->descr))
        return false;
    t->item_bytes = v->type.bits / 8u;
    t->rank = v->rank;
    t->data = v->data;
    for (int axis = 0; axis < v->rank; axis++) {
        t->shape[axis] = v->shape[axis];
        t->strides[axis] = v->strides_bytes[axis] / (int64_t)t->item_bytes;
        if (v->strides_bytes[axis] % (int64_t)t->item_bytes)
            return false;
    }
    return true;
}

/* False: it is no array that can be read here. */
static bool put_array(token *k, const char *name, PyObject *array, record_role role, bool result) {
    record_tensor t = {.role = role};
    if (k->count == RECORD_TENSORS_MAX)
        return false;
    array_view *v = &k->views[k->count];
    if (!array_view_open(array, v)) {
        PyErr_Clear();
        return false;
    }
    char *own = strdup(name);
    if (!own || !describe(v, &t)) {
        free(own);
        array_view_release(v);
        return false;
    }
    t.name = k->names[k->count++] = own;
    if (result)
        record_result_of(&k->call, &t);
    else
        record_tensor_of(&k->call, &t);
    return true;
}

static void put_value(token *k, const char *name, PyObject *value, record_role role) {
    if (PyLong_Check(value)) {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        record_integer(&k->call, name, overflow ? 0 : number);
    } else if (PyFloat_Check(value)) {
        record_real(&k->call, name, PyFloat_AsDouble(value));
    } else if (PyUnicode_Check(value)) {
        const char *word = PyUnicode_AsUTF8AndSize(value, NULL);
        record_word(&k->call, name, word ? word : "");
        PyErr_Clear();
    } else if (!put_array(k, name, value, role, false)) {
        PyObject *type = PyType_GetName(Py_TYPE(value));
        const char *word = type ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
        record_word(&k->call, name, word ? word : "?");
        Py_XDECREF(type);
        PyErr_Clear();
    }
}

static void release(token *k) {
    for (uint32_t i = 0; i < k->count; i++) {
        array_view_release(&k->views[i]);
        free(k->names[i]);
    }
    free(k);
}

static void forget(PyObject *capsule) {
    token *k = PyCapsule_GetPointer(capsule, "tessera.call");
    if (!k)
        return;
    record_drop(&k->call);
    release(k);
}

/* capture_open(function, values): values is a list of (name, value, written). */
PyObject *capture_open(PyObject *module, PyObject *arguments) {
    const char *function;
    PyObject *values;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "sO!", &function, &PyList_Type, &values))
        return NULL;
    token *k = calloc(1, sizeof *k);
    if (!k || !record_open(&k->call, function)) {
        free(k);
        Py_RETURN_NONE;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(values); i++) {
        const char *name;
        PyObject *value;
        int written;
        if (!PyArg_ParseTuple(PyList_GetItem(values, i), "sOp", &name, &value, &written)) {
            record_drop(&k->call);
            release(k);
            return NULL;
        }
        put_value(k, name, value, written ? RECORD_BOTH : RECORD_INPUT);
    }
    record_before(&k->call);
    PyObject *capsule = PyCapsule_New(k, "tessera.call", forget);
    if (!capsule) {
        record_drop(&k->call);
        release(k);
    }
    return capsule;
}

/* capture_close(call, function, results): results is a list of (name, value). */
PyObject *capture_close(PyObject *module, PyObject *arguments) {
    PyObject *capsule, *results;
    const char *function;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OsO!", &capsule, &function, &PyList_Type, &results))
        return NULL;
    token *k = PyCapsule_GetPointer(capsule, "tessera.call");
    if (!k)
        return NULL;
    k->call.function = function;
    for (Py_ssize_t i = 0; i < PyList_Size(results); i++) {
        const char *name;
        PyObject *value;
        if (!PyArg_ParseTuple(PyList_GetItem(results, i), "sO", &name, &value))
            return NULL;
        put_array(k, name, value, RECORD_OUTPUT, true);
    }
    record_close(&k->call);
    Py_RETURN_NONE;
}

static void finish(void) {
    record_finish();
}

bool capture_ready(PyObject *module) {
    record_start();
    if (record_is_on())
        Py_AtExit(finish);
    return PyModule_AddObjectRef(module, "capturing", record_is_on() ? Py_True : Py_False) == 0;
}
