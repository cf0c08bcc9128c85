/* tree.c - the arrays in a value of several: in dicts, lists, tuples, and objects with attributes.
 * A form has the places of the arrays: a dict by words of the parts, in their order. */
#include <ctype.h>
#include <stdlib.h>

#include "extension.h"

static PyObject *mapping_type, *namespace_type, *replace_function;
static PyObject *fields_name, *attributes_name; /* interned */

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
    PyObject *all = PyObject_GetAttr(value, attributes_name);
    found result = has_parts(all ? PyObject_Size(all) : -1, form);
    Py_XDECREF(all);
    return result == FOUND ? gather_parts(w, value, form, PyObject_GetAttr) : result;
}

typedef enum kind { LEAF, SEQUENCE, MAPPING, DATACLASS, NAMESPACE } kind;

static kind kind_of(PyObject *value) {
    if (PyList_Check(value) || PyTuple_Check(value))
        return SEQUENCE;
    if (PyDict_Check(value))
        return MAPPING;
    if ((PyObject *)Py_TYPE(value) == namespace_type)
        return NAMESPACE;
    if (!PyType_Check(value) && PyObject_HasAttr(value, fields_name))
        return DATACLASS;
    return PyObject_IsInstance(value, mapping_type) == 1 ? MAPPING : LEAF;
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
    switch (kind_of(value)) {
    case SEQUENCE:
        result = has_parts(PySequence_Size(value), form);
        result = result == FOUND ? gather_parts(w, value, form, item_of) : result;
        break;
    case MAPPING:
        result = has_parts(PyObject_Size(value), form);
        result = result == FOUND ? gather_parts(w, value, form, PyObject_GetItem) : result;
        break;
    case DATACLASS:
    case NAMESPACE:
        result = gather_attributes(w, value, form);
        break;
    case LEAF:
        break;
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

/* ---- the other way ---- */

static PyObject *scatter(PyObject *value, PyObject *form, PyObject *arrays);

/* A part of the value whose form a new one takes, new reference; None where there is none. */
static PyObject *part_like(PyObject *value, PyObject *word) {
    static get_part *const get[] = {[SEQUENCE] = item_of,
                                    [MAPPING] = PyObject_GetItem,
                                    [DATACLASS] = PyObject_GetAttr,
                                    [NAMESPACE] = PyObject_GetAttr};
    const kind k = kind_of(value);
    return k == LEAF ? Py_NewRef(Py_None) : get[k](value, word);
}

/* Parts by their words. */
static PyObject *scatter_parts(PyObject *value, PyObject *form, PyObject *arrays) {
    PyObject *word, *inside, *made = PyDict_New();
    Py_ssize_t at = 0;
    while (made && PyDict_Next(form, &at, &word, &inside)) {
        PyObject *like = PyLong_Check(inside) ? Py_NewRef(Py_None) : part_like(value, word);
        PyObject *part = like ? scatter(like, inside, arrays) : NULL;
        if (!part || PyDict_SetItem(made, word, part) != 0)
            Py_CLEAR(made);
        Py_XDECREF(part);
        Py_XDECREF(like);
    }
    return made;
}

static bool is_list(PyObject *form) {
    PyObject *word, *inside;
    Py_ssize_t at = 0;
    return PyDict_Next(form, &at, &word, &inside) && isdigit((int)PyUnicode_ReadChar(word, 0));
}

static PyObject *list_like(PyObject *value, PyObject *parts) {
    PyObject *list = PyDict_Values(parts);
    PyObject *made = list && PyTuple_Check(value) ? PyList_AsTuple(list) : Py_XNewRef(list);
    Py_XDECREF(list);
    return made;
}

/* One with other parts: all of them, or some. */
static PyObject *dataclass_like(PyObject *value, PyObject *parts) {
    PyObject *fields = PyObject_GetAttr(value, fields_name);
    const Py_ssize_t count = fields ? PyObject_Size(fields) : -1;
    Py_XDECREF(fields);
    const bool is_whole = count == PyDict_Size(parts);
    PyObject *given = count < 0 ? NULL : is_whole ? PyTuple_New(0) : Py_BuildValue("(O)", value);
    PyObject *make = is_whole ? (PyObject *)Py_TYPE(value) : replace_function;
    PyObject *made = given ? PyObject_Call(make, given, parts) : NULL;
    Py_XDECREF(given);
    return made;
}

static PyObject *made_like(PyObject *value, PyObject *form, PyObject *parts) {
    if (is_list(form))
        return list_like(value, parts);
    const kind k = kind_of(value);
    if (k == DATACLASS)
        return dataclass_like(value, parts);
    if (k != NAMESPACE)
        return Py_NewRef(parts);
    PyObject *none = PyTuple_New(0),
             *made = none ? PyObject_Call(namespace_type, none, parts) : NULL;
    Py_XDECREF(none);
    return made;
}

/* The arrays of a form as a value like `value`, a dict where that has no parts. */
static PyObject *scatter(PyObject *value, PyObject *form, PyObject *arrays) {
    if (PyLong_Check(form))
        return Py_XNewRef(PyTuple_GetItem(arrays, PyLong_AsSsize_t(form)));
    if (Py_EnterRecursiveCall(" in a value of several arrays"))
        return NULL;
    PyObject *parts = scatter_parts(value, form, arrays);
    PyObject *made = parts ? made_like(value, form, parts) : NULL;
    Py_XDECREF(parts);
    Py_LeaveRecursiveCall();
    return made;
}

PyObject *tree_scatter(PyObject *module, PyObject *arguments) {
    PyObject *value, *form, *arrays;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOO!", &value, &form, &PyTuple_Type, &arrays))
        return NULL;
    return scatter(value, form, arrays);
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
    replace_function = imported("dataclasses", "replace");
    fields_name = PyUnicode_InternFromString("__dataclass_fields__");
    attributes_name = PyUnicode_InternFromString("__dict__");
    return mapping_type && namespace_type && replace_function && fields_name && attributes_name;
}
