/* callable.c - tessera._tessera.Callable: what a user calls. Its call is the method _call; an error
 * of ours, or of those that a class names in _errors, ends at the user's line, as no frame of
 * Python's is between. */
#include "extension.h"

/* Is it one that the class names in `_errors`, or where it names none one of ours? */
static bool is_own(PyObject *self, PyObject *type) {
    PyObject *named = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "_errors");
    if (!named)
        PyErr_Clear();
    const bool own = PyErr_GivenExceptionMatches(type, named ? named : error_class);
    Py_XDECREF(named);
    return own;
}

/* Leaves such an error without a traceback and without others that led to it. */
static void forget_frames(PyObject *self) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    if (is_own(self, type)) {
        PyErr_NormalizeException(&type, &error, &traceback);
        Py_CLEAR(traceback);
        PyException_SetTraceback(error, Py_None);
        PyException_SetContext(error, NULL);
        PyException_SetCause(error, NULL);
    }
    PyErr_Restore(type, error, traceback);
}

static PyObject *call(PyObject *self, PyObject *arguments, PyObject *keywords) {
    PyObject *method = PyObject_GetAttrString(self, "_call");
    PyObject *result = method ? PyObject_Call(method, arguments, keywords) : NULL;
    Py_XDECREF(method);
    if (!result)
        forget_frames(self);
    return result;
}

bool callable_type_ready(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_call, call}, {0}};
    static PyType_Spec spec = {"tessera._tessera.Callable", sizeof(PyObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    return extension_make_type(&spec, module, "Callable") != NULL;
}
