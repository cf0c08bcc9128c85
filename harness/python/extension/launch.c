/* launch.c - compiled modules in Python: devices, contexts, and launches on arrays. */
#include <stdlib.h>
#include <string.h>

#include "extension.h"
#include "guest/guest.h"
#include "tessera/tessera.h"

enum { ALIGNMENT = 64 };
static PyObject *error_class; /* tessera._tessera.Error */

typedef struct context_object {
    PyObject_HEAD tsr_context_t context;
} context_object;

typedef struct module_object {
    PyObject_HEAD PyObject *context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    uint32_t inputs, outputs, dims;
    dtype *types; /* of each buffer */
} module_object;

static PyTypeObject *context_type, *module_type;

static bool held(tsr_status_t code) {
    if (code != TSR_SUCCESS)
        PyErr_Format(error_class, "%s: %s", tsrStatusName(code), tsrGetLastError());
    return code == TSR_SUCCESS;
}

static void free_object(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

/* ---- devices and contexts ---- */

static PyObject *describe_device(uint32_t index) {
    tsr_device_info_t d = {.struct_size = sizeof d};
    if (!held(tsrGetDeviceInfo(index, &d)))
        return NULL;
    return Py_BuildValue("{s:s, s:s, s:s, s:I, s:K, s:O, s:z}", "backend", d.backend, "name",
                         d.name, "isa", d.isa, "compute_units", d.compute_units, "memory_bytes",
                         (unsigned long long)d.memory_bytes, "host_addressable",
                         d.host_addressable ? Py_True : Py_False, "unavailable", d.unavailable);
}

PyObject *launch_devices(PyObject *module, PyObject *nothing) {
    uint32_t count = 0;
    (void)module, (void)nothing;
    if (!held(tsrGetDeviceCount(&count)))
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
    if (PyErr_Occurred() || !held(tsrGetCapabilities((uint32_t)device, &json)))
        return NULL;
    return PyUnicode_FromString(json);
}

static PyObject *context_create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static const char *const names[] = {"device", "threads", NULL};
    unsigned device = 0, threads = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|II", (char **)names, &device, &threads))
        return NULL;
    context_object *c = (context_object *)PyType_GenericAlloc(type, 0);
    if (c && !held(tsrCreateContextOn(device, threads, 0, &c->context)))
        Py_CLEAR(c);
    return (PyObject *)c;
}

static void context_release(PyObject *self) {
    context_object *c = (context_object *)self;
    if (c->context)
        tsrDestroyContext(c->context);
    free_object(self);
}

/* ---- modules ---- */

static bool read_types(module_object *m) {
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    if (!held(tsrGetKernelInfo(m->kernel, &info)))
        return false;
    m->inputs = info.inputs;
    m->outputs = info.outputs;
    m->dims = info.dims;
    m->types = calloc((size_t)info.inputs + info.outputs + 1, sizeof *m->types);
    if (!m->types) {
        PyErr_NoMemory();
        return false;
    }
    for (uint32_t i = 0; i < info.inputs + info.outputs; i++) {
        const char *name, *type;
        const int64_t *dims;
        uint32_t rank;
        if (!held(tsrGetKernelParameter(m->kernel, i, &name, &type, &rank, &dims)))
            return false;
        m->types[i] = dtype_from_name(type);
    }
    return true;
}

/* A module has one, whose name is in the metadata. */
static bool find_kernel(module_object *m) {
    const char *metadata;
    if (!held(tsrGetModuleMetadata(m->module, &metadata)))
        return false;
    json_t *root = json_loads(metadata, 0, NULL);
    const char *name = json_string_value(json_object_get(root, "name"));
    bool ok = held(tsrGetKernel(m->module, name ? name : "", &m->kernel));
    json_decref(root);
    return ok;
}

static PyObject *module_create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static const char *const names[] = {"context", "image", NULL};
    PyObject *context;
    Py_buffer image;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!y*", (char **)names, context_type,
                                     &context, &image))
        return NULL;
    module_object *m = (module_object *)PyType_GenericAlloc(type, 0);
    bool ok = m != NULL;
    if (ok) {
        Py_INCREF(context);
        m->context = context;
        ok = held(tsrLoadModule(((context_object *)context)->context, image.buf, (size_t)image.len,
                                &m->module)) &&
             find_kernel(m) && read_types(m);
    }
    PyBuffer_Release(&image);
    if (!ok)
        Py_CLEAR(m);
    return (PyObject *)m;
}

static void module_release(PyObject *self) {
    module_object *m = (module_object *)self;
    if (m->module)
        tsrUnloadModule(m->module);
    Py_XDECREF(m->context);
    free(m->types);
    free_object(self);
}

static PyObject *module_isa(PyObject *self, void *closure) {
    const char *isa;
    (void)closure;
    return held(tsrGetModuleIsa(((module_object *)self)->module, &isa)) ? PyUnicode_FromString(isa)
                                                                        : NULL;
}

static PyObject *module_metadata(PyObject *self, void *closure) {
    const char *json;
    (void)closure;
    return held(tsrGetModuleMetadata(((module_object *)self)->module, &json))
               ? PyUnicode_FromString(json)
               : NULL;
}

/* ---- launches ---- */

typedef struct launch {
    array_view *inputs;
    void **copies, **buffers, **arguments;
    int64_t *dims;
    uint32_t opened;
} launch;

static void free_room(launch *l) {
    free(l->inputs);
    free(l->copies);
    free(l->buffers);
    free(l->arguments);
    free(l->dims);
}

static bool make_room(launch *l, const module_object *m) {
    size_t buffers = (size_t)m->inputs + m->outputs;
    l->opened = 0;
    l->inputs = calloc((size_t)m->inputs + 1, sizeof *l->inputs);
    l->copies = calloc((size_t)m->inputs + 1, sizeof *l->copies);
    l->buffers = calloc(buffers + 1, sizeof *l->buffers);
    l->arguments = calloc(buffers + m->dims + 1, sizeof *l->arguments);
    l->dims = calloc((size_t)m->dims + 1, sizeof *l->dims);
    if (l->inputs && l->copies && l->buffers && l->arguments && l->dims)
        return true;
    PyErr_NoMemory();
    return false;
}

static size_t view_bytes(const array_view *v) {
    size_t bytes = v->type.bits / 8u;
    for (int axis = 0; axis < v->rank; axis++)
        bytes *= (size_t)v->shape[axis];
    return bytes;
}

/* Shared where it lies as kernels want it, dense and aligned to its elements, else copied. */
static bool place_input(launch *l, uint32_t i) {
    const array_view *v = &l->inputs[i];
    l->buffers[i] = (void *)v->data;
    if (array_is_contiguous(v) && (uintptr_t)v->data % (v->type.bits / 8u) == 0 && v->data)
        return true;
    size_t bytes = (view_bytes(v) + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    l->copies[i] = l->buffers[i] = aligned_alloc(ALIGNMENT, bytes);
    if (!l->copies[i]) {
        PyErr_NoMemory();
        return false;
    }
    array_copy(v, l->copies[i]);
    return true;
}

/* The caller has compared shapes; sizes are compared here, so that nothing is read past its end. */
static bool take_input(launch *l, const module_object *m, uint32_t i, PyObject *pair) {
    PyObject *array;
    unsigned long long elements;
    if (!PyArg_ParseTuple(pair, "OK", &array, &elements) || !array_view_open(array, &l->inputs[i]))
        return false;
    l->opened = i + 1;
    l->copies[i] = NULL;
    const array_view *v = &l->inputs[i];
    if (!array_type_fits(v->type, m->types[i]) ||
        view_bytes(v) != elements * dtype_size(m->types[i])) {
        PyErr_Format(PyExc_TypeError, "input %u has another type or size than the kernel's", i);
        return false;
    }
    return place_input(l, i);
}

static bool take_all(launch *l, const module_object *m, PyObject *inputs, PyObject *outputs,
                     PyObject *dims) {
    if (PyTuple_Size(inputs) != m->inputs || PyTuple_Size(outputs) != m->outputs ||
        PyTuple_Size(dims) != m->dims) {
        PyErr_Format(PyExc_TypeError, "the kernel has %u inputs, %u outputs and %u dimensions",
                     m->inputs, m->outputs, m->dims);
        return false;
    }
    for (uint32_t i = 0; i < m->inputs; i++)
        if (!take_input(l, m, i, PyTuple_GetItem(inputs, i)))
            return false;
    for (uint32_t i = 0; i < m->outputs; i++) {
        PyObject *o = PyTuple_GetItem(outputs, i);
        if (!tensor_is(o) || ((tensor_object *)o)->type != m->types[m->inputs + i]) {
            PyErr_SetString(PyExc_TypeError, "an output is a Tensor of the kernel's type");
            return false;
        }
        l->buffers[m->inputs + i] = ((tensor_object *)o)->data;
    }
    for (uint32_t i = 0; i < m->dims; i++)
        l->dims[i] = PyLong_AsLongLong(PyTuple_GetItem(dims, i));
    return !PyErr_Occurred();
}

static bool run(launch *l, const module_object *m) {
    uint32_t buffers = m->inputs + m->outputs;
    tsr_launch_t grid = {0};
    tsr_status_t code;
    for (uint32_t i = 0; i < buffers; i++)
        l->arguments[i] = &l->buffers[i];
    for (uint32_t i = 0; i < m->dims; i++)
        l->arguments[buffers + i] = &l->dims[i];
    Py_BEGIN_ALLOW_THREADS;
    code = tsrLaunch(m->kernel, NULL, grid, l->arguments, buffers + m->dims);
    Py_END_ALLOW_THREADS;
    return held(code);
}

/* launch(inputs, outputs, dims): inputs are pairs of an array and the elements that it must have.
 */
static PyObject *module_launch(PyObject *self, PyObject *arguments) {
    const module_object *m = (const module_object *)self;
    PyObject *inputs, *outputs, *dims;
    if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyTuple_Type, &inputs, &PyTuple_Type, &outputs,
                          &PyTuple_Type, &dims))
        return NULL;
    launch l;
    bool ok = make_room(&l, m) && take_all(&l, m, inputs, outputs, dims) && run(&l, m);
    for (uint32_t i = 0; i < l.opened; i++) {
        free(l.copies[i]);
        array_view_release(&l.inputs[i]);
    }
    free_room(&l);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- what arrays are ---- */

static PyObject *signature_of(PyObject *array) {
    array_view v;
    if (!array_view_open(array, &v))
        return NULL;
    PyObject *shape = PyTuple_New(v.rank), *one = NULL;
    for (int axis = 0; axis < v.rank && shape; axis++)
        if (PyTuple_SetItem(shape, axis, PyLong_FromLongLong(v.shape[axis])) != 0)
            Py_CLEAR(shape);
    if (shape)
        one = Py_BuildValue("(sN)", array_type_name(v.type), shape);
    array_view_release(&v);
    return one;
}

PyObject *launch_signature(PyObject *module, PyObject *arrays) {
    (void)module;
    if (!PyTuple_Check(arrays))
        return PyErr_Format(PyExc_TypeError, "a tuple of arrays");
    Py_ssize_t count = PyTuple_Size(arrays);
    PyObject *all = PyTuple_New(count);
    for (Py_ssize_t i = 0; i < count && all; i++) {
        PyObject *one = signature_of(PyTuple_GetItem(arrays, i));
        if (!one || PyTuple_SetItem(all, i, one) != 0)
            Py_CLEAR(all);
    }
    return all;
}

/* ---- types ---- */

static PyMethodDef module_methods[] = {
    {"launch", module_launch, METH_VARARGS,
     "launch(((array, elements), ...), outputs, dims): returns when it has ended."},
    {0}};
static PyGetSetDef module_attributes[] = {
    {"isa", module_isa, NULL, "the level of the image that runs", NULL},
    {"metadata", module_metadata, NULL, "the document, JSON", NULL},
    {0}};

static PyTypeObject *make_type(PyType_Spec *spec, PyObject *module, const char *name) {
    PyObject *type = PyType_FromSpec(spec);
    return type && PyModule_AddObjectRef(module, name, type) == 0 ? (PyTypeObject *)type : NULL;
}

bool launch_types_ready(PyObject *module) {
    static PyType_Slot context_slots[] = {
        {Py_tp_new, context_create}, {Py_tp_dealloc, context_release}, {0}};
    static PyType_Spec context = {"tessera._tessera.Context", sizeof(context_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, context_slots};
    static PyType_Slot module_slots[] = {{Py_tp_new, module_create},
                                         {Py_tp_dealloc, module_release},
                                         {Py_tp_methods, module_methods},
                                         {Py_tp_getset, module_attributes},
                                         {0}};
    static PyType_Spec loaded = {"tessera._tessera.Module", sizeof(module_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, module_slots};
    error_class = PyErr_NewException("tessera.Error", PyExc_RuntimeError, NULL);
    context_type = make_type(&context, module, "Context");
    module_type = make_type(&loaded, module, "Module");
    return error_class && context_type && module_type &&
           PyModule_AddObjectRef(module, "Error", error_class) == 0;
}
