/* context.c - devices and contexts in Python, and memory of theirs. */
#include <string.h>

#include "device/backends.h"
#include "dlpack_capsule.h"
#include "extension.h"
#include "policy.h"

PyTypeObject *context_type;
PyObject *error_class;

bool context_held(tsr_status_t code) {
    if (code != TSR_SUCCESS)
        PyErr_Format(error_class, "%s: %s", tsrStatusName(code), tsrGetLastError());
    return code == TSR_SUCCESS;
}

void extension_free_object(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

PyTypeObject *extension_make_type(PyType_Spec *spec, PyObject *module, const char *name) {
    PyObject *type = PyType_FromSpec(spec);
    return type && PyModule_AddObjectRef(module, name, type) == 0 ? (PyTypeObject *)type : NULL;
}

/* ---- devices ---- */

static PyObject *describe_device(uint32_t index) {
    tsr_device_info_t d = {.struct_size = sizeof d};
    if (!context_held(tsrGetDeviceInfo(index, &d)))
        return NULL;
    return Py_BuildValue("{s:s, s:s, s:s, s:I, s:K, s:O, s:z}", "backend", d.backend, "name",
                         d.name, "isa", d.isa, "compute_units", d.compute_units, "memory_bytes",
                         (unsigned long long)d.memory_bytes, "host_addressable",
                         d.host_addressable ? Py_True : Py_False, "unavailable", d.unavailable);
}

PyObject *launch_devices(PyObject *module, PyObject *nothing) {
    uint32_t count = 0;
    (void)module, (void)nothing;
    if (!context_held(tsrGetDeviceCount(&count)))
        return NULL;
    PyObject *all = PyList_New(0);
    for (uint32_t i = 0; i < count && all; i++) {
        PyObject *one = describe_device(i);
        if (!one || PyList_Append(all, one) != 0)
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

PyObject *launch_capabilities(PyObject *module, PyObject *index) {
    const char *json = NULL;
    unsigned long device = PyLong_AsUnsignedLong(index);
    (void)module;
    if (PyErr_Occurred() || !context_held(tsrGetCapabilities((uint32_t)device, &json)))
        return NULL;
    return PyUnicode_FromString(json);
}

PyObject *launch_check_policy(PyObject *module, PyObject *path) {
    policy p;
    status st = STATUS_INIT;
    const char *name = PyUnicode_AsUTF8AndSize(path, NULL);
    (void)module;
    if (!name)
        return NULL;
    const bool ok = policy_of_file(name, &p, &st);
    policy_release(&p);
    if (!ok)
        return PyErr_Format(error_class, "%s", st.message);
    Py_RETURN_NONE;
}

PyObject *launch_backends(PyObject *module, PyObject *nothing) {
    enum { INTERPRETER, COMPILER, TOOLS, FOREIGN };
    static const struct {
        int class, device;
        const char *name, *driver, *level;
    } rows[] = {
#define BACKEND(id, name, class, driver, device, target, ...) {class, device, name, driver, target},
#include "device/backends.def"
#undef BACKEND
    };
    PyObject *all = PyDict_New();
    (void)module, (void)nothing;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && all; i++) {
        if (rows[i].class != COMPILER)
            continue;
        int device = rows[i].device == ANY_DEVICE ? 0 : rows[i].device;
        PyObject *row = Py_BuildValue("(sis)", rows[i].driver, device, rows[i].level);
        if (!row || PyDict_SetItemString(all, rows[i].name, row) != 0)
            Py_CLEAR(all);
        Py_XDECREF(row);
    }
    return all;
}

static PyObject *context_create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static const char *const names[] = {"device", "threads", NULL};
    unsigned device = 0, threads = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|II", (char **)names, &device, &threads))
        return NULL;
    context_object *c = (context_object *)PyType_GenericAlloc(type, 0);
    tsr_device_info_t info = {.struct_size = sizeof info};
    if (c && (!context_held(tsrCreateContextOn(device, threads, 0, &c->context)) ||
              !context_held(tsrGetDeviceInfo(device, &info))))
        Py_CLEAR(c);
    if (c) {
        c->host_addressable = info.host_addressable;
        c->device.device_type = info.host_addressable ? DLPACK_CPU : (int32_t)info.dlpack_type;
        c->device.device_id = (int32_t)info.dlpack_index;
    }
    return (PyObject *)c;
}

static void context_release(PyObject *self) {
    context_object *c = (context_object *)self;
    if (c->context)
        tsrDestroyContext(c->context);
    extension_free_object(self);
}

/* ---- memory ---- */

static tsr_context_t context_of(PyObject *context) {
    return ((const context_object *)context)->context;
}

void *context_alloc(PyObject *context, size_t bytes) {
    void *memory = NULL;
    return context_held(
               tsrAlloc(context_of(context), bytes ? bytes : 1, TSR_ALLOC_DEFAULT, &memory))
               ? memory
               : NULL;
}

void context_free(PyObject *context, void *memory) {
    (void)tsrFree(context_of(context), memory);
}

bool context_copy(PyObject *context, void *to, const void *from, size_t bytes) {
    return bytes == 0 || context_held(tsrCopy(context_of(context), to, from, bytes));
}

/* ---- memory of others ---- */

DLDevice context_device_of(const tensor_object *t) {
    return t->context ? ((const context_object *)t->context)->device
                      : (DLDevice){.device_type = DLPACK_CPU};
}

tsr_import_t context_import(PyObject *context, const array_view *v) {
    const DLDevice here = ((const context_object *)context)->device, there = v->device;
    tsr_import_t import = NULL;
    if (here.device_type != there.device_type || here.device_id != there.device_id) {
        PyErr_Format(PyExc_ValueError,
                     "an array on DLPack's device (%d, %d); the device in use is (%d, %d) there",
                     (int)there.device_type, there.device_id, (int)here.device_type,
                     here.device_id);
        return NULL;
    }
    if (!array_is_contiguous(v)) {
        PyErr_SetString(PyExc_ValueError, "an array on a device that is not row-major");
        return NULL;
    }
    tsr_status_t code;
    Py_BEGIN_ALLOW_THREADS;
    code = tsrImportMemory(context_of(context), (void *)(uintptr_t)v->data, array_view_bytes(v),
                           &import);
    Py_END_ALLOW_THREADS;
    return context_held(code) ? import : NULL;
}

void context_release_import(tsr_import_t import) {
    if (import)
        (void)tsrReleaseImport(import);
}

PyObject *context_copy_of(const tensor_object *t) {
    PyObject *made = tensor_new_in(t->context, t->type, t->rank, t->shape);
    if (made &&
        !context_copy(t->context, ((tensor_object *)made)->data, t->data, tensor_object_bytes(t)))
        Py_CLEAR(made);
    return made;
}

/* ---- what contexts do ---- */

/* Elements of memory of the device, which never come to the host. */
static bool put_within(PyObject *self, const array_view *v, tensor_object *to) {
    if (array_view_bytes(v) == 0)
        return true;
    tsr_import_t import = context_import(self, v);
    bool ok = import && context_copy(self, to->data, v->data, array_view_bytes(v));
    context_release_import(import);
    return ok;
}

static bool put_from_host(PyObject *self, const array_view *v, tensor_object *to) {
    PyObject *dense =
        array_view_is_reachable(v) ? tensor_new(NULL, to->type, v->rank, v->shape, false) : NULL;
    if (!dense)
        return false;
    const tensor_object *host = (tensor_object *)dense;
    array_copy(v, host->data);
    bool ok = context_copy(self, to->data, host->data, tensor_object_bytes(host));
    Py_DECREF(dense);
    return ok;
}

/* put(array, dtype): a Tensor here with its elements. */
static PyObject *context_put(PyObject *self, PyObject *arguments) {
    PyObject *array, *made = NULL;
    const char *name;
    array_view v;
    if (!PyArg_ParseTuple(arguments, "Os", &array, &name) || !array_view_describe(array, &v))
        return NULL;
    const dtype type = dtype_from_name(name);
    if (type == DTYPE_NONE || !array_type_fits(v.type, type))
        PyErr_Format(PyExc_TypeError, "an array of %s is none of '%s'", array_type_name(v.type),
                     name);
    else
        made = tensor_new_in(self, type, v.rank, v.shape);
    if (made && !(v.device.device_type == DLPACK_CPU ? put_from_host
                                                     : put_within)(self, &v, (tensor_object *)made))
        Py_CLEAR(made);
    array_view_release(&v);
    return made;
}

/* get(tensor): its elements in memory of the host. */
PyObject *context_get(PyObject *self, PyObject *given) {
    (void)self;
    if (!tensor_is(given))
        return PyErr_Format(PyExc_TypeError, "a Tensor, not %R", (PyObject *)Py_TYPE(given));
    const tensor_object *t = (tensor_object *)given;
    PyObject *made =
        tensor_is_there(t) ? tensor_new(NULL, t->type, t->rank, t->shape, false) : NULL;
    void *to = made ? ((tensor_object *)made)->data : NULL;
    if (made && t->context && !context_copy(t->context, to, t->data, tensor_object_bytes(t)))
        Py_CLEAR(made);
    else if (made && !t->context && !array_store(given, (const tensor_object *)made, "tensor"))
        Py_CLEAR(made);
    return made;
}

bool context_type_ready(PyObject *module) {
    static PyMethodDef methods[] = {
        {"put", context_put, METH_VARARGS, "put(array, dtype): a Tensor with its elements here."},
        {"get", context_get, METH_O, "get(tensor): the same in memory of the host."},
        {0}};
    static PyType_Slot slots[] = {{Py_tp_new, context_create},
                                  {Py_tp_dealloc, context_release},
                                  {Py_tp_methods, methods},
                                  {0}};
    static PyType_Spec spec = {"tessera._tessera.Context", sizeof(context_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
    error_class = PyErr_NewException("tessera.Error", PyExc_RuntimeError, NULL);
    context_type = extension_make_type(&spec, module, "Context");
    return error_class && context_type && PyModule_AddObjectRef(module, "Error", error_class) == 0;
}
