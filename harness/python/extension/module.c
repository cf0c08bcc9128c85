/* module.c - the module tessera._tessera. */
#include "base/status.h"
#include "extension.h"

PyMODINIT_FUNC PyInit__tessera(void);

PyMODINIT_FUNC PyInit__tessera(void) {
    static PyMethodDef functions[] = {
        {"serve", guest_serve_python, METH_VARARGS,
         "serve(open, explain): runs the guest's loop; returns only without a device, with an exit "
         "code."},
        {"devices", launch_devices, METH_NOARGS, "A list of dicts."},
        {"check_policy", launch_check_policy, METH_O, "Raises where the file is no policy."},
        {"capabilities", launch_capabilities, METH_O, "Of the device of that index: JSON."},
        {"backends", launch_backends, METH_NOARGS,
         "A dict, by the names of the command line: (driver, which of its devices, level of code: "
         "'' for this CPU's best, 'device' for the device's own)."},
        {"signature", loaded_signature, METH_O,
         "signature(arrays): a tuple of (type, shape) of each."},
        {"gather", tree_gather, METH_VARARGS,
         "gather(value, form, arrays): puts the arrays of a value at the places that the form has, "
         "dicts by words; True, or the place of an array that is not there, or None where the "
         "value has another form."},
        {"scatter", tree_scatter, METH_VARARGS,
         "scatter(value, form, arrays): the arrays of a tuple in the form of the value; dicts, "
         "lists and tuples where it has none."},
        {"ffi_handler", ffi_handler, METH_NOARGS,
         "The handler of custom calls of XLA, in a capsule."},
        {"ffi_keep", ffi_keep, METH_O,
         "ffi_keep(module): keeps a Module for the handler, and gives its number."},
        {"capture_open", capture_open, METH_VARARGS,
         "capture_open(function, values): a call whose arguments are recorded, or None; values is "
         "a "
         "list of (name, value, whether it is written)."},
        {"capture_close", capture_close, METH_VARARGS,
         "capture_close(call, function, results): results is a list of (name, value)."},
        {0}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                     "tessera._tessera",
                                     "The C part of tessera.",
                                     -1,
                                     functions,
                                     NULL,
                                     NULL,
                                     NULL,
                                     NULL};
    PyObject *module = PyModule_Create(&definition);
    if (module &&
        (!tensor_type_ready(module) || !context_type_ready(module) || !loaded_type_ready(module) ||
         !callable_type_ready(module) || !capture_ready(module) || !tree_ready() ||
         PyModule_AddStringConstant(module, "version", TESSERA_PACKAGE_VERSION) != 0 ||
         PyModule_AddIntConstant(module, "INVALID", STATUS_INVALID) != 0 ||
         PyModule_AddIntConstant(module, "UNAVAILABLE", STATUS_UNAVAILABLE) != 0))
        Py_CLEAR(module);
    return module;
}
