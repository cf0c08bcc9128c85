/* launch.c - launches in Python: arrays of others put where kernels want them, and the results
 * brought back. */
#include <stdlib.h>

#include "dlpack_capsule.h"
#include "launch.h"

enum { ALIGNMENT = 64 };

typedef struct launch {
    PyObject *context;
    const call *call;
    void **copies, **buffers,
        **arguments;       /* copies: of each buffer, NULL where it is used itself */
    tsr_import_t *imports; /* of each input, NULL where it is none */
} launch;

static void free_room(launch *l) {
    free(l->imports);
    free(l->copies);
    free(l->buffers);
    free(l->arguments);
}

static bool make_room(launch *l, const module_object *m, const call *c) {
    size_t buffers = (size_t)m->inputs + m->outputs;
    l->call = c;
    l->context = m->context;
    l->imports = calloc((size_t)m->inputs + 1, sizeof *l->imports);
    l->copies = calloc(buffers + 1, sizeof *l->copies);
    l->buffers = calloc(buffers + 1, sizeof *l->buffers);
    l->arguments = calloc(buffers + m->dims + 1, sizeof *l->arguments);
    if (l->imports && l->copies && l->buffers && l->arguments)
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
    const array_view *v = &l->call->views[i];
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
    const array_view *v = &l->call->views[i];
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
static bool place_output(launch *l, const module_object *m, uint32_t i, const tensor_object *t) {
    const uint32_t buffer = m->inputs + i;
    l->buffers[buffer] = t->data;
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

static bool place_all(launch *l, const module_object *m, PyObject *outputs) {
    for (uint32_t i = 0; i < m->inputs; i++)
        if (!place_input(l, i))
            return false;
    for (uint32_t i = 0; i < m->outputs; i++)
        if (!place_output(l, m, i, (const tensor_object *)PyTuple_GetItem(outputs, i)))
            return false;
    return true;
}

static bool run(launch *l, const module_object *m, const plan *p) {
    uint32_t buffers = m->inputs + m->outputs;
    tsr_launch_t grid = {0};
    tsr_status_t code;
    for (uint32_t i = 0; i < buffers; i++)
        l->arguments[i] = &l->buffers[i];
    for (uint32_t i = 0; i < m->dims; i++)
        l->arguments[buffers + i] = &p->dims[i];
    Py_BEGIN_ALLOW_THREADS;
    code = tsrLaunch(m->kernel, NULL, grid, l->arguments, buffers + m->dims);
    Py_END_ALLOW_THREADS;
    return context_held(code);
}

bool launch_run(const module_object *m, const plan *p, const call *c, PyObject *outputs) {
    launch l;
    bool ok = make_room(&l, m, c) && place_all(&l, m, outputs) && run(&l, m, p) &&
              fetch_outputs(&l, m, outputs);
    for (uint32_t i = 0; l.copies && i < m->inputs + m->outputs; i++)
        free_copy(&l, l.copies[i]);
    for (uint32_t i = 0; l.imports && i < m->inputs; i++)
        context_release_import(l.imports[i]);
    free_room(&l);
    return ok;
}
