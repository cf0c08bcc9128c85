/* tensor.c - tessera.Tensor: memory with a type and a shape. */
#include <stdlib.h>
#include <string.h>

#include "extension.h"

PyTypeObject *tensor_type;

/* PEP 3118's letters. What Python has no letter for shows its bits. */
static const char *format_of(dtype type) {
    static const char *const formats[DTYPE_COUNT] = {
        [DTYPE_F64] = "d",  [DTYPE_F32] = "f",      [DTYPE_TF32] = "f",   [DTYPE_F16] = "e",
        [DTYPE_BF16] = "H", [DTYPE_F8E4M3FN] = "B", [DTYPE_F8E5M2] = "B", [DTYPE_I64] = "q",
        [DTYPE_I32] = "i",  [DTYPE_I16] = "h",      [DTYPE_I8] = "b",     [DTYPE_I4] = "b",
        [DTYPE_U64] = "Q",  [DTYPE_U32] = "I",      [DTYPE_U16] = "H",    [DTYPE_U8] = "B",
        [DTYPE_BOOL] = "?"};
    return formats[type];
}

size_t tensor_object_bytes(const tensor_object *t) {
    size_t bytes = dtype_size(t->type);
    for (int axis = 0; axis < t->rank; axis++)
        bytes *= (size_t)t->shape[axis];
    return bytes;
}

/* Without memory. */
static PyObject *new_tensor(dtype type, int rank, const int64_t *shape) {
    PyObject *o = PyType_GenericAlloc(tensor_type, 0);
    if (!o)
        return NULL;
    tensor_object *t = (tensor_object *)o;
    int64_t step = (int64_t)dtype_size(type);
    t->type = type;
    t->rank = rank;
    for (int axis = rank - 1; axis >= 0; axis--) {
        t->shape[axis] = shape[axis];
        t->strides_bytes[axis] = step;
        step *= shape[axis];
    }
    return o;
}

PyObject *tensor_new_in(PyObject *context, dtype type, int rank, const int64_t *shape) {
    PyObject *o = new_tensor(type, rank, shape);
    tensor_object *t = (tensor_object *)o;
    if (o && !(t->data = context_alloc(context, tensor_object_bytes(t))))
        Py_CLEAR(o);
    if (o)
        t->context = Py_NewRef(context);
    return o;
}

PyObject *tensor_new(void *data, dtype type, int rank, const int64_t *shape, bool readonly) {
    PyObject *o = new_tensor(type, rank, shape);
    if (!o)
        return NULL;
    tensor_object *t = (tensor_object *)o;
    t->readonly = readonly;
    t->data = data;
    status st = STATUS_INIT;
    if (!data && !host_memory_map(tensor_object_bytes(t), false, &t->own, &st)) {
        status_clear(&st);
        Py_DECREF(o);
        return PyErr_NoMemory();
    }
    if (!data)
        t->data = t->own.data;
    return o;
}

void tensor_set_strides(PyObject *of, const int64_t *strides) {
    tensor_object *t = (tensor_object *)of;
    for (int axis = 0; axis < t->rank; axis++)
        t->strides_bytes[axis] = strides[axis] * (int64_t)dtype_size(t->type);
}

bool tensor_is_dense(const tensor_object *t) {
    int64_t step = (int64_t)dtype_size(t->type);
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        if (t->shape[axis] > 1 && t->strides_bytes[axis] != step)
            return false;
        step *= t->shape[axis];
    }
    return true;
}

static void release(PyObject *self) {
    tensor_object *t = (tensor_object *)self;
    host_memory_unmap(&t->own);
    if (t->context && t->data)
        context_free(t->context, t->data);
    Py_XDECREF(t->context);
    Py_XDECREF(t->signature);
    extension_free_object(self);
}

/* ---- where it lies ---- */

bool tensor_is_there(const tensor_object *t) {
    if (t->donated)
        PyErr_SetString(error_class,
                        "this tensor was donated to a launch, which gave its memory to a "
                        "result: use what the kernel returned");
    return !t->donated;
}

bool tensor_is_reachable(const tensor_object *t) {
    if (!tensor_is_there(t))
        return false;
    if (!t->context || context_reaches_host(t->context))
        return true;
    PyErr_SetString(PyExc_BufferError, "the tensor lies on a device with memory of its own: "
                                       "tessera.device_get() brings it here");
    return false;
}

bool tensor_is_donatable(const tensor_object *t) {
    return t->context && !t->donated && t->lent == 0;
}

static PyObject *get_donatable(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(tensor_is_donatable((const tensor_object *)self));
}

PyObject *tensor_give(tensor_object *t) {
    PyObject *made = tensor_is_there(t) ? new_tensor(t->type, t->rank, t->shape) : NULL;
    if (made) {
        ((tensor_object *)made)->data = t->data;
        ((tensor_object *)made)->context = t->context;
        t->data = NULL;
        t->context = NULL;
        t->donated = true;
    }
    return made;
}

static PyObject *get_context(PyObject *self, void *closure) {
    const tensor_object *t = (const tensor_object *)self;
    (void)closure;
    return Py_NewRef(t->context ? t->context : Py_None);
}

/* Every Py_ssize_t is 64 bits where this runs. */
_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes are lent as they are");

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    tensor_object *t = (tensor_object *)self;
    bool wants_columns = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && t->rank > 1;
    const int without_gaps = (PyBUF_C_CONTIGUOUS | PyBUF_ANY_CONTIGUOUS) & ~PyBUF_STRIDES;
    bool wants_dense = (flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & without_gaps);
    bool has_gaps = wants_dense && !tensor_is_dense(t);
    if (!tensor_is_reachable(t)) {
        view->obj = NULL;
        return -1;
    }
    if (wants_columns || has_gaps || ((flags & PyBUF_WRITABLE) && t->readonly)) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, has_gaps        ? "the tensor has gaps"
                                           : wants_columns ? "the tensor is row-major"
                                                           : "the tensor is an input: read-only");
        return -1;
    }
    *view = (Py_buffer){.buf = t->data,
                        .obj = self,
                        .len = (Py_ssize_t)tensor_object_bytes(t),
                        .itemsize = (Py_ssize_t)dtype_size(t->type),
                        .readonly = t->readonly,
                        .ndim = t->rank};
    if (flags & PyBUF_FORMAT)
        view->format = (char *)format_of(t->type);
    if (flags & PyBUF_ND)
        view->shape = (Py_ssize_t *)t->shape;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
        view->strides = (Py_ssize_t *)t->strides_bytes;
    Py_INCREF(self);
    t->lent++;
    return 0;
}

static void release_buffer(PyObject *self, Py_buffer *view) {
    (void)view;
    ((tensor_object *)self)->lent--;
}

static PyObject *get_shape(PyObject *self, void *closure) {
    const tensor_object *t = (const tensor_object *)self;
    PyObject *shape = PyTuple_New(t->rank);
    (void)closure;
    for (int axis = 0; axis < t->rank && shape; axis++) {
        PyObject *n = PyLong_FromLongLong(t->shape[axis]);
        if (!n || PyTuple_SetItem(shape, axis, n) != 0)
            Py_CLEAR(shape);
    }
    return shape;
}

static PyObject *get_dtype(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(dtype_name(((const tensor_object *)self)->type));
}

static PyObject *get_readonly(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((const tensor_object *)self)->readonly);
}

static PyObject *represent(PyObject *self) {
    PyObject *shape = get_shape(self, NULL);
    PyObject *words = shape ? PyUnicode_FromFormat("<tessera.Tensor %s %R>",
                                                   dtype_name(((tensor_object *)self)->type), shape)
                            : NULL;
    Py_XDECREF(shape);
    return words;
}

/* Tensor(dtype, shape): memory of its own. */
static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static const char *const names[] = {"dtype", "shape", NULL};
    const char *name;
    PyObject *given;
    int64_t shape[TENSOR_MAX_RANK], elements = 1;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sO!", (char **)names, &name,
                                     &PyTuple_Type, &given))
        return NULL;
    Py_ssize_t rank = PyTuple_Size(given);
    if (dtype_from_name(name) == DTYPE_NONE || rank > TENSOR_MAX_RANK)
        return PyErr_Format(PyExc_ValueError, "no type '%s', or more than %d axes", name,
                            TENSOR_MAX_RANK);
    for (Py_ssize_t axis = 0; axis < rank; axis++) {
        shape[axis] = PyLong_AsLongLong(PyTuple_GetItem(given, axis));
        if (PyErr_Occurred())
            return NULL;
        if (shape[axis] < 0 || __builtin_mul_overflow(elements, shape[axis], &elements) ||
            elements > INT64_MAX / 16)
            return PyErr_Format(PyExc_ValueError, "no tensor has the shape %R", given);
    }
    return tensor_new(NULL, dtype_from_name(name), (int)rank, shape, false);
}

static PyMethodDef methods[] = {{"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS,
                                 "Tensor[\"M\", \"N\", f32]: the type of a kernel's parameter."},
                                {"__dlpack__", (PyCFunction)(void (*)(void))tensor_dlpack,
                                 METH_VARARGS | METH_KEYWORDS,
                                 "A capsule with a DLPack tensor that shares this memory."},
                                {"__dlpack_device__", tensor_dlpack_device, METH_NOARGS,
                                 "(1, 0): the CPU; (2, 0): the first GPU of CUDA."},
                                {0}};
static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "a tuple", NULL},
    {"dtype", get_dtype, NULL, "the kernel's word: 'bf16'", NULL},
    {"context", get_context, NULL, "whose memory it is, or None", NULL},
    {"donatable", get_donatable, NULL, "a launch may give its memory to a result", NULL},
    {"readonly", get_readonly, NULL, "an input", NULL},
    {0}};

bool tensor_type_ready(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_doc, (char *)"Memory with a type and a shape: numpy.asarray(), memoryview() and any "
                            "from_dlpack() share it."},
        {Py_tp_new, create},
        {Py_tp_dealloc, release},
        {Py_tp_repr, represent},
        {Py_tp_methods, methods},
        {Py_tp_getset, attributes},
        {Py_bf_getbuffer, get_buffer},
        {Py_bf_releasebuffer, release_buffer},
        {0}};
    static PyType_Spec spec = {"tessera.Tensor", sizeof(tensor_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
    tensor_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return tensor_type && PyModule_AddObjectRef(module, "Tensor", (PyObject *)tensor_type) == 0;
}
