/* plan.c - calls of a module: their arrays compared with those of earlier ones, the memory of their
 * results, and the results as arrays of the caller's framework. */
#include <stdlib.h>
#include <string.h>

#include "dlpack_capsule.h"
#include "launch.h"

/* Smaller tensors are made anew, so that a full cache's length stays what it was. */
enum { IN_PLACE_BYTES = 4096 };

/* ---- calls ---- */

bool call_open(call *c, PyObject *arrays) {
    const Py_ssize_t count = PyTuple_Size(arrays);
    *c = (call){.arrays = arrays, .views = malloc(((size_t)count + 1) * sizeof *c->views)};
    if (!c->views) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!array_view_describe(PyTuple_GetItem(arrays, i), &c->views[i]))
            return false;
        c->opened++;
    }
    return true;
}

void call_close(call *c) {
    for (uint32_t i = 0; i < c->opened; i++)
        array_view_release(&c->views[i]);
    free(c->views);
}

static bool is_on_host(const array_view *v) {
    return !v->tensor && v->device.device_type == DLPACK_CPU;
}

static int64_t first_on_host(const call *c) {
    for (uint32_t i = 0; i < c->opened; i++)
        if (is_on_host(&c->views[i]))
            return i;
    return -1;
}

/* ---- plans ---- */

static bool fits(const array_shape *wanted, const array_view *found) {
    return wanted->rank == found->rank && wanted->type.code == found->type.code &&
           wanted->type.bits == found->type.bits && wanted->type.lanes == found->type.lanes &&
           memcmp(wanted->shape, found->shape, (size_t)found->rank * sizeof *found->shape) == 0;
}

static bool fits_all(const module_object *m, const plan *p, const call *c) {
    if (c->opened != m->inputs)
        return false;
    for (uint32_t i = 0; i < m->inputs; i++)
        if (!fits(&p->inputs[i], &c->views[i]))
            return false;
    return true;
}

const plan *plan_find(module_object *m, const call *c) {
    for (plan **at = &m->plans; *at; at = &(*at)->next) {
        plan *found = *at;
        if (!fits_all(m, found, c))
            continue;
        *at = found->next;
        found->next = m->plans;
        m->plans = found;
        return found;
    }
    return NULL;
}

static void free_plan(plan *p) {
    free(p->inputs);
    free(p->outputs);
    free(p->dims);
    free(p);
}

void plan_free_all(module_object *m) {
    while (m->plans) {
        plan *first = m->plans;
        m->plans = first->next;
        free_plan(first);
    }
}

static plan *alloc_plan(const module_object *m) {
    plan *p = calloc(1, sizeof *p);
    if (p) {
        p->inputs = calloc((size_t)m->inputs + 1, sizeof *p->inputs);
        p->outputs = calloc((size_t)m->outputs + 1, sizeof *p->outputs);
        p->dims = calloc((size_t)m->dims + 1, sizeof *p->dims);
    }
    if (p && p->inputs && p->outputs && p->dims)
        return p;
    if (p)
        free_plan(p);
    PyErr_NoMemory();
    return NULL;
}

/* Numbers of a tuple; their count, -1 with an exception. */
static int read_numbers(PyObject *tuple, int room, int64_t *numbers) {
    const Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (count < 0 || count > room) {
        PyErr_Format(PyExc_TypeError, "%R is no tuple of at most %d numbers", tuple, room);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    return PyErr_Occurred() ? -1 : (int)count;
}

static bool read_inputs(const module_object *m, plan *p, const call *c) {
    for (uint32_t i = 0; i < m->inputs; i++) {
        const array_view *v = &c->views[i];
        if (!array_type_fits(v->type, m->types[i])) {
            PyErr_Format(PyExc_TypeError, "input %u has another type than the kernel's", i);
            return false;
        }
        p->inputs[i] = (array_shape){.type = v->type, .rank = v->rank};
        memcpy(p->inputs[i].shape, v->shape, sizeof v->shape);
    }
    return true;
}

static bool read_outputs(const module_object *m, plan *p, PyObject *shapes, PyObject *dims) {
    for (uint32_t i = 0; i < m->outputs; i++) {
        array_shape *one = &p->outputs[i];
        one->rank = read_numbers(PyTuple_GetItem(shapes, i), TENSOR_MAX_RANK, one->shape);
        if (one->rank < 0)
            return false;
    }
    return read_numbers(dims, (int)m->dims, p->dims) == (int)m->dims;
}

PyObject *plan_add(PyObject *self, PyObject *arguments) {
    module_object *m = (module_object *)self;
    PyObject *arrays, *shapes, *dims;
    call c;
    if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyTuple_Type, &arrays, &PyTuple_Type, &shapes,
                          &PyTuple_Type, &dims))
        return NULL;
    if (PyTuple_Size(arrays) != m->inputs || PyTuple_Size(shapes) != m->outputs ||
        PyTuple_Size(dims) != m->dims)
        return PyErr_Format(PyExc_TypeError,
                            "the kernel has %u inputs, %u outputs and %u dimensions", m->inputs,
                            m->outputs, m->dims);
    plan *p = call_open(&c, arrays) ? alloc_plan(m) : NULL;
    if (p && (!read_inputs(m, p, &c) || !read_outputs(m, p, shapes, dims))) {
        free_plan(p);
        p = NULL;
    }
    call_close(&c);
    if (!p)
        return NULL;
    p->next = m->plans;
    m->plans = p;
    Py_RETURN_NONE;
}

/* ---- room for results ---- */

static bool is_large(dtype type, const array_shape *s) {
    size_t bytes = dtype_size(type);
    for (int axis = 0; axis < s->rank; axis++)
        bytes *= (size_t)s->shape[axis];
    return bytes >= IN_PLACE_BYTES;
}

/* The input that the output replaces, where its memory may become the output's; else NULL. */
static PyObject *replaceable(const module_object *m, const module_output *one, const call *c) {
    PyObject *held = one->replaced < 0 ? NULL : c->views[one->replaced].tensor;
    const tensor_object *t = (const tensor_object *)held;
    return t && t->context == m->context && tensor_is_donatable(t) ? held : NULL;
}

static PyObject *make_output(const module_object *m, const plan *p, const call *c, uint32_t i,
                             bool all_there) {
    const module_output *one = &m->made[i];
    const array_shape *s = &p->outputs[i];
    const dtype type = m->types[m->inputs + i];
    const bool there = one->replaced < 0 ? all_there : !is_on_host(&c->views[one->replaced]);
    if (one->is_effect || !there)
        return tensor_new(NULL, type, s->rank, s->shape, false);
    PyObject *held = is_large(type, s) ? replaceable(m, one, c) : NULL;
    return held ? Py_NewRef(held) : tensor_new_in(m->context, type, s->rank, s->shape);
}

PyObject *plan_make_room(const module_object *m, const plan *p, const call *c) {
    const bool all_there = m->inputs > 0 && first_on_host(c) < 0;
    PyObject *outputs = PyTuple_New(m->outputs);
    for (uint32_t i = 0; i < m->outputs && outputs; i++) {
        PyObject *one = make_output(m, p, c, i, all_there);
        if (!one || PyTuple_SetItem(outputs, i, one) != 0)
            Py_CLEAR(outputs);
    }
    return outputs;
}

/* ---- results ---- */

/* The array whose framework the results are of: the first on the host; where all lie on a device,
 * the first that is no tensor of ours. -1: there is none. */
static int64_t find_model(const call *c) {
    int64_t near = first_on_host(c);
    for (uint32_t i = 0; i < c->opened && near < 0; i++)
        if (!c->views[i].tensor)
            near = i;
    return near;
}

static bool check_holds(PyObject *output) {
    const tensor_object *t = (const tensor_object *)output;
    return !memchr(t->data, 0, tensor_object_bytes(t));
}

static uint32_t count_told(const module_object *m, PyObject *outputs) {
    uint32_t results = m->outputs;
    bool told = false;
    while (results > 0 && m->made[results - 1].is_effect) {
        results--;
        told |= !m->made[results].is_check || !check_holds(PyTuple_GetItem(outputs, results));
    }
    return told ? m->outputs : results;
}

static PyObject *make_result(const module_output *one, const call *c, PyObject *output,
                             PyObject *make, bool makes_all) {
    if (one->replaced >= 0 && output == PyTuple_GetItem(c->arrays, one->replaced))
        return tensor_give((tensor_object *)output);
    const bool is_made = !one->is_effect && (makes_all || !((tensor_object *)output)->context);
    return is_made ? PyObject_CallFunctionObjArgs(make, output, NULL) : Py_NewRef(output);
}

PyObject *plan_make_results(const module_object *m, const call *c, PyObject *outputs,
                            PyObject *maker) {
    const int64_t model = find_model(c);
    const bool makes_all = model >= 0 && first_on_host(c) < 0;
    const uint32_t count = count_told(m, outputs);
    PyObject *like = model < 0 ? Py_None : PyTuple_GetItem(c->arrays, model);
    PyObject *make = PyObject_CallFunctionObjArgs(maker, like, NULL);
    PyObject *results = make ? PyTuple_New(count) : NULL;
    for (uint32_t i = 0; i < count && results; i++) {
        PyObject *output = PyTuple_GetItem(outputs, i);
        PyObject *one = make_result(&m->made[i], c, output, make, makes_all);
        if (!one || PyTuple_SetItem(results, i, one) != 0)
            Py_CLEAR(results);
    }
    Py_XDECREF(make);
    return results;
}
