/* loaded.c - compiled modules in Python: tessera._tessera.Module. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

static PyTypeObject *module_type;

static bool read_types(module_object *m) {
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    if (!context_held(tsrGetKernelInfo(m->kernel, &info)))
        return false;
    m->inputs = info.inputs;
    m->outputs = info.outputs;
    m->dims = info.dims;
    m->types = calloc((size_t)info.inputs + info.outputs + 1, sizeof *m->types);
    m->made = calloc((size_t)info.outputs + 1, sizeof *m->made);
    if (!m->types || !m->made) {
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

/* "effect" of an output is "check:LINE:WORDS", and others; "donated" has pairs (input, output). */
static void read_outputs(module_object *m, const json_t *root) {
    const json_t *outputs = json_object_get(root, "outputs"), *pair;
    for (uint32_t i = 0; i < m->outputs; i++) {
        const json_t *one = json_array_get(outputs, i);
        const char *effect = json_string_value(json_object_get(one, "effect"));
        m->made[i] = (module_output){.replaced = -1,
                                     .is_effect = effect != NULL,
                                     .is_check = effect && strncmp(effect, "check:", 6) == 0};
    }
    size_t at;
    json_array_foreach(json_object_get(root, "donated"), at, pair) {
        const json_int_t source = json_integer_value(json_array_get(pair, 0));
        const json_int_t target = json_integer_value(json_array_get(pair, 1));
        if (target >= 0 && target < m->outputs && source >= 0 && source < m->inputs)
            m->made[target].replaced = (int32_t)source;
    }
}

/* A module has one kernel, whose name is in the metadata. */
static bool read_module(module_object *m) {
    const char *metadata;
    if (!context_held(tsrGetModuleMetadata(m->module, &metadata)))
        return false;
    json_t *root = json_loads(metadata, 0, NULL);
    const char *name = json_string_value(json_object_get(root, "name"));
    bool ok = context_held(tsrGetKernel(m->module, name ? name : "", &m->kernel)) && read_types(m);
    if (ok)
        read_outputs(m, root);
    json_decref(root);
    return ok;
}

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
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
             read_module(m);
    }
    PyBuffer_Release(&image);
    if (!ok)
        Py_CLEAR(m);
    return (PyObject *)m;
}

static void release(PyObject *self) {
    module_object *m = (module_object *)self;
    if (m->module)
        tsrUnloadModule(m->module);
    Py_XDECREF(m->context);
    plan_free_all(m);
    free(m->types);
    free(m->made);
    extension_free_object(self);
}

static PyObject *get_isa(PyObject *self, void *closure) {
    const char *isa;
    (void)closure;
    return context_held(tsrGetModuleIsa(((module_object *)self)->module, &isa))
               ? PyUnicode_FromString(isa)
               : NULL;
}

static PyObject *get_metadata(PyObject *self, void *closure) {
    const char *json;
    (void)closure;
    return context_held(tsrGetModuleMetadata(((module_object *)self)->module, &json))
               ? PyUnicode_FromString(json)
               : NULL;
}

/* run(arrays, maker): results and effects; None where no plan fits the arrays. */
static PyObject *run(PyObject *self, PyObject *arguments) {
    module_object *m = (module_object *)self;
    PyObject *arrays, *maker, *outputs = NULL, *results = NULL;
    call c;
    if (!PyArg_ParseTuple(arguments, "O!O", &PyTuple_Type, &arrays, &maker))
        return NULL;
    const bool opened = call_open(&c, arrays);
    const plan *p = opened ? plan_find(m, &c) : NULL;
    if (p)
        outputs = plan_make_room(m, p, &c);
    if (outputs && launch_run(m, p, &c, outputs))
        results = plan_make_results(m, &c, outputs, maker);
    call_close(&c);
    Py_XDECREF(outputs);
    return opened && !p ? Py_NewRef(Py_None) : results;
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

PyObject *loaded_signature(PyObject *module, PyObject *arrays) {
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

bool loaded_type_ready(PyObject *module) {
    static PyMethodDef methods[] = {
        {"plan", plan_add, METH_VARARGS,
         "plan(arrays, shapes, dims): takes in the outputs' shapes and the kernel's dimensions for "
         "arrays of the types and shapes that these have."},
        {"run", run, METH_VARARGS,
         "run(arrays, maker): launches, waits, and returns the results, then the effects unless "
         "all are checks that hold; None where there is no plan for these arrays. maker(array) "
         "gives the function that makes an array of its framework."},
        {0}};
    static PyGetSetDef attributes[] = {
        {"isa", get_isa, NULL, "the level of the image that runs", NULL},
        {"metadata", get_metadata, NULL, "the document, JSON", NULL},
        {0}};
    static PyType_Slot slots[] = {{Py_tp_new, create},
                                  {Py_tp_dealloc, release},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, attributes},
                                  {0}};
    static PyType_Spec spec = {"tessera._tessera.Module", sizeof(module_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
    module_type = extension_make_type(&spec, module, "Module");
    return module_type != NULL;
}

bool loaded_check(PyObject *value) {
    return PyObject_TypeCheck(value, module_type);
}
