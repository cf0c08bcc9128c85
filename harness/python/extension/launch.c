/* launch.c - compiled modules in Python: devices, contexts, and launches on arrays. */
#include <stdlib.h>
#include <string.h>

#include "dlpack_capsule.h"
#include "extension.h"
#include "guest/guest.h"

enum { ALIGNMENT = 64 };

typedef struct module_object {
    PyObject_HEAD PyObject *context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    uint32_t inputs, outputs, dims;
    dtype *types; /* of each buffer */
} module_object;

static PyTypeObject *module_type;

/* ---- modules ---- */

static bool read_types(module_object *m) {
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    if (!context_held(tsrGetKernelInfo(m->kernel, &info)))
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
        if (!context_held(tsrGetKernelParameter(m->kernel, i, &name, &type, &rank, &dims)))
            return false;
        m->types[i] = dtype_from_name(type);
    }
    return true;
}

/* A module has one, whose name is in the metadata. */
static bool find_kernel(module_object *m) {
    const char *metadata;
    if (!context_held(tsrGetModuleMetadata(m->module, &metadata)))
        return false;
    json_t *root = json_loads(metadata, 0, NULL);
    const char *name = json_string_value(json_object_get(root, "name"));
    bool ok = context_held(tsrGetKernel(m->module, name ? name : "", &m->kernel));
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
        ok = context_held(tsrLoadModule(((context_object *)context)->context, image.buf,
                                        (size_t)image.len, &m->module)) &&
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
    extension_free_object(self);
}

static PyObject *module_isa(PyObject *self, void *closure) {
    const char *isa;
    (void)closure;
    return context_held(tsrGetModuleIsa(((module_object *)self)->module, &isa))
               ? PyUnicode_FromString(isa)
               : NULL;
}

static PyObject *module_metadata(PyObject *self, void *closure) {
    const char *json;
    (void)closure;
    return context_held(tsrGetModuleMetadata(((module_object *)self)->module, &json))
               ? PyUnicode_FromString(json)
               : NULL;
}

/* ---- launches ---- */

typedef struct launch {
    PyObject *context;
    array_view *inputs;
    void **copies, **buffers,
        **arguments;       /* copies: of each buffer, NULL where it is used itself */
    tsr_import_t *imports; /* of each input, NULL where it is none */
    int64_t *dims;
    uint32_t opened;
} launch;

static void free_room(launch *l) {
    free(l->inputs);
    free(l->imports);
    free(l->copies);
    free(l->buffers);
    free(l->arguments);
    free(l->dims);
}

static bool make_room(launch *l, const module_object *m) {
    size_t buffers = (size_t)m->inputs + m->outputs;
    l->opened = 0;
    l->context = m->context;
    l->inputs = calloc((size_t)m->inputs + 1, sizeof *l->inputs);
    l->imports = calloc((size_t)m->inputs + 1, sizeof *l->imports);
    l->copies = calloc(buffers + 1, sizeof *l->copies);
    l->buffers = calloc(buffers + 1, sizeof *l->buffers);
    l->arguments = calloc(buffers + m->dims + 1, sizeof *l->arguments);
    l->dims = calloc((size_t)m->dims + 1, sizeof *l->dims);
    if (l->inputs && l->imports && l->copies && l->buffers && l->arguments && l->dims)
        return true;
    PyErr_NoMemory();
    return false;
}

static void *alloc_copy(const launch *l, size_t bytes) {
    if (!context_reaches_host(l->context))
        return context_alloc(l->context, bytes);
    void *memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
    if (!memory)
        PyErr_NoMemory();
    return memory;
}

static void free_copy(const launch *l, void *copy) {
    if (context_reaches_host(l->context))
        free(copy);
    else if (copy)
        context_free(l->context, copy);
}

/* All elements on a device that does not reach the host's memory. */
static bool put_input(const launch *l, const array_view *v, void *to) {
    const size_t bytes = array_view_bytes(v);
    if (array_is_contiguous(v))
        return context_copy(l->context, to, v->data, bytes);
    void *dense = malloc(bytes + 1);
    if (!dense) {
        PyErr_NoMemory();
        return false;
    }
    array_copy(v, dense);
    bool ok = context_copy(l->context, to, dense, bytes);
    free(dense);
    return ok;
}

/* An array of others on the device: copied within it where it is not aligned as kernels want it. */
static bool place_import(launch *l, uint32_t i) {
    const array_view *v = &l->inputs[i];
    const size_t bytes = array_view_bytes(v);
    l->imports[i] = bytes ? context_import(l->context, v) : NULL;
    if (bytes && !l->imports[i])
        return false;
    if (bytes && (uintptr_t)v->data % ALIGNMENT == 0)
        return true;
    l->copies[i] = l->buffers[i] = alloc_copy(l, bytes);
    return l->copies[i] && context_copy(l->context, l->copies[i], v->data, bytes);
}

/* Shared where it lies as kernels want it, dense and aligned to its elements, else copied. */
static bool place_input(launch *l, uint32_t i) {
    const array_view *v = &l->inputs[i];
    const bool near = context_reaches_host(l->context);
    const PyObject *in = v->tensor ? ((const tensor_object *)v->tensor)->context : NULL;
    l->buffers[i] = (void *)v->data;
    if (in == l->context)
        return true;
    if (v->device.device_type != DLPACK_CPU)
        return place_import(l, i);
    if (in && !tensor_is_reachable((const tensor_object *)v->tensor))
        return false;
    if (near && array_is_contiguous(v) && (uintptr_t)v->data % (v->type.bits / 8u) == 0 && v->data)
        return true;
    l->copies[i] = l->buffers[i] = alloc_copy(l, array_view_bytes(v));
    if (l->copies[i] && near)
        array_copy(v, l->copies[i]);
    return l->copies[i] && (near || put_input(l, v, l->copies[i]));
}

/* A result in memory of the host's own is copied there where the device does not reach it. */
static bool place_output(launch *l, const module_object *m, uint32_t i, PyObject *output) {
    const tensor_object *t = (const tensor_object *)output;
    const uint32_t buffer = m->inputs + i;
    if (!tensor_is(output) || t->type != m->types[buffer]) {
        PyErr_SetString(PyExc_TypeError, "an output is a Tensor of the kernel's type");
        return false;
    }
    l->buffers[buffer] = t->data;
    if (!tensor_is_there(t) || (t->context && t->context != m->context && !tensor_is_reachable(t)))
        return false;
    if (t->context == m->context || context_reaches_host(m->context))
        return true;
    l->copies[buffer] = l->buffers[buffer] = alloc_copy(l, tensor_object_bytes(t));
    return l->copies[buffer] != NULL;
}

static bool fetch_outputs(const launch *l, const module_object *m, PyObject *outputs) {
    bool ok = true;
    for (uint32_t i = 0; i < m->outputs && ok; i++) {
        const tensor_object *t = (const tensor_object *)PyTuple_GetItem(outputs, i);
        const void *from = l->copies[m->inputs + i];
        ok = !from || context_copy(l->context, t->data, from, tensor_object_bytes(t));
    }
    return ok;
}

/* The caller has compared shapes; sizes are compared here, so that nothing is read past its end. */
static bool take_input(launch *l, const module_object *m, uint32_t i, PyObject *pair) {
    PyObject *array;
    unsigned long long elements;
    if (!PyArg_ParseTuple(pair, "OK", &array, &elements) ||
        !array_view_describe(array, &l->inputs[i]))
        return false;
    l->opened = i + 1;
    const array_view *v = &l->inputs[i];
    if (!array_type_fits(v->type, m->types[i]) ||
        array_view_bytes(v) != elements * dtype_size(m->types[i])) {
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
    for (uint32_t i = 0; i < m->outputs; i++)
        if (!place_output(l, m, i, PyTuple_GetItem(outputs, i)))
            return false;
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
    return context_held(code);
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
    bool ok = make_room(&l, m) && take_all(&l, m, inputs, outputs, dims) && run(&l, m) &&
              fetch_outputs(&l, m, outputs);
    for (uint32_t i = 0; l.copies && i < m->inputs + m->outputs; i++)
        free_copy(&l, l.copies[i]);
    for (uint32_t i = 0; i < l.opened; i++) {
        context_release_import(l.imports[i]);
        array_view_release(&l.inputs[i]);
    }
    free_room(&l);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- what arrays are ---- */

static PyObject *made_signature(PyObject *array) {
    array_view v;
    if (!array_view_describe(array, &v))
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

/* A tensor of ours keeps it: its type and shape never change. */
static PyObject *signature_of(PyObject *array) {
    if (!tensor_is(array))
        return made_signature(array);
    tensor_object *t = (tensor_object *)array;
    if (!tensor_is_there(t))
        return NULL;
    if (!t->signature)
        t->signature = made_signature(array);
    return t->signature ? Py_NewRef(t->signature) : NULL;
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

bool launch_types_ready(PyObject *module) {
    static PyType_Slot module_slots[] = {{Py_tp_new, module_create},
                                         {Py_tp_dealloc, module_release},
                                         {Py_tp_methods, module_methods},
                                         {Py_tp_getset, module_attributes},
                                         {0}};
    static PyType_Spec loaded = {"tessera._tessera.Module", sizeof(module_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, module_slots};
    module_type = extension_make_type(&loaded, module, "Module");
    return module_type != NULL;
}
