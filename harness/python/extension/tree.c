/* tree.c - the arrays in a value of several: in dicts, lists, tuples, and objects with attributes.
 */
#include <stdlib.h>

#include "extension.h"

static PyObject *mapping_type, *namespace_type;

typedef struct walk {
    PyObject *arrays; /* a list, filled by place */
    PyObject *absent; /* the form of a part that is not there; borrowed */
} walk;

typedef enum found { FOUND, OTHERWISE, RAISED } found;

static found gather(walk *w, PyObject *value, PyObject *form);

/* An exception that tells that there is no such part. */
static found note_absent(walk *w, PyObject *form) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError) && !PyErr_ExceptionMatches(PyExc_LookupError))
        return RAISED;
    PyErr_Clear();
    w->absent = form;
    return OTHERWISE;
}

/* Has it as many parts as the form? `count` is -1 where that raised. */
static found has_parts(Py_ssize_t count, PyObject *form) {
    return count < 0 ? RAISED : count == PyDict_Size(form) ? FOUND : OTHERWISE;
}

static PyObject *item_of(PyObject *sequence, PyObject *word) {
    const char *digits = PyUnicode_AsUTF8AndSize(word, NULL);
    char *end = NULL;
    long place = digits ? strtol(digits, &end, 10) : 0;
    if (digits && (end == digits || *end)) {
        PyErr_SetObject(PyExc_KeyError, word);
        return NULL;
    }
    return digits ? PySequence_GetItem(sequence, place) : NULL;
}

typedef PyObject *get_part(PyObject *value, PyObject *word);

static found gather_parts(walk *w, PyObject *value, PyObject *form, get_part *get) {
    PyObject *word, *inside;
    Py_ssize_t at = 0;
    found result = FOUND;
    while (result == FOUND && PyDict_Next(form, &at, &word, &inside)) {
        PyObject *part = get(value, word);
        result = part ? gather(w, part, inside) : note_absent(w, inside);
        Py_XDECREF(part);
    }
    return result;
}

static found gather_attributes(walk *w, PyObject *value, PyObject *form) {
    PyObject *all = PyObject_GetAttrString(value, "__dict__");
    found result = has_parts(all ? PyObject_Size(all) : -1, form);
    Py_XDECREF(all);
    return result == FOUND ? gather_parts(w, value, form, PyObject_GetAttr) : result;
}

static bool has_attributes(PyObject *value) {
    return (PyObject *)Py_TYPE(value) == namespace_type ||
           PyObject_HasAttrString(value, "__dataclass_fields__");
}

/* Puts the arrays of a value at the places that the form has. */
static found gather(walk *w, PyObject *value, PyObject *form) {
    found result = OTHERWISE;
    if (PyLong_Check(form)) {
        if (PyDict_Check(value) || PyList_Check(value) || PyTuple_Check(value))
            return OTHERWISE;
        return PyList_SetItem(w->arrays, PyLong_AsSsize_t(form), Py_NewRef(value)) == 0 ? FOUND
                                                                                        : RAISED;
    }
    if (Py_EnterRecursiveCall(" in a value of several arrays"))
        return RAISED;
    if (PyList_Check(value) || PyTuple_Check(value)) {
        result = has_parts(PySequence_Size(value), form);
        result = result == FOUND ? gather_parts(w, value, form, item_of) : result;
    } else if (PyDict_Check(value) || PyObject_IsInstance(value, mapping_type) == 1) {
        result = has_parts(PyObject_Size(value), form);
        result = result == FOUND ? gather_parts(w, value, form, PyObject_GetItem) : result;
    } else if (has_attributes(value)) {
        result = gather_attributes(w, value, form);
    }
    Py_LeaveRecursiveCall();
    return PyErr_Occurred() ? RAISED : result;
}

/* The place of the first array of a form; borrowed. */
static PyObject *first_place(PyObject *form) {
    PyObject *word, *inside;
    while (form && PyDict_Check(form)) {
        Py_ssize_t at = 0;
        form = PyDict_Next(form, &at, &word, &inside) ? inside : NULL;
    }
    return form ? form : Py_None;
}

PyObject *tree_gather(PyObject *module, PyObject *arguments) {
    walk w = {0};
    PyObject *value, *form;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOO!", &value, &form, &PyList_Type, &w.arrays))
        return NULL;
    found result = gather(&w, value, form);
    if (result == RAISED)
        return NULL;
    return result == FOUND ? PyBool_FromLong(1)
           : w.absent      ? Py_NewRef(first_place(w.absent))
                           : Py_NewRef(Py_None);
}

static PyObject *imported(const char *module, const char *name) {
    PyObject *from = PyImport_ImportModule(module);
    PyObject *object = from ? PyObject_GetAttrString(from, name) : NULL;
    Py_XDECREF(from);
    return object;
}

bool tree_ready(void) {
    mapping_type = imported("collections.abc", "Mapping");
    namespace_type = imported("types", "SimpleNamespace");
    return mapping_type && namespace_type;
}
