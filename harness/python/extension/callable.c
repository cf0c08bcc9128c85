/* callable.c - tessera._tessera.Callable: what a user calls. Its call is the method _call; an error
 * of ours ends at the user's line, as no frame of Python's is between. */
#include "extension.h"

/* Leaves an error of ours without a traceback and without others that led to it. */
static void forget_frames(void) {
    PyObject *type, *error, *traceback;
    if (!PyErr_ExceptionMatches(error_class))
        return;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    Py_XDECREF(traceback);
    PyException_SetTraceback(error, Py_None);
    PyException_SetContext(error, NULL);
    PyException_SetCause(error, NULL);
    PyErr_Restore(type, error, NULL);
}

static PyObject *call(PyObject *self, PyObject *arguments, PyObject *keywords) {
    PyObject *method = PyObject_GetAttrString(self, "_call");
    PyObject *result = method ? PyObject_Call(method, arguments, keywords) : NULL;
    Py_XDECREF(method);
    if (!result)
        forget_frames();
    return result;
}

bool callable_type_ready(PyObject *module) {
    static PyType_Slot slots[] = {{Py_tp_call, call}, {0}};
    static PyType_Spec spec = {"tessera._tessera.Callable", sizeof(PyObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    return extension_make_type(&spec, module, "Callable") != NULL;
}
