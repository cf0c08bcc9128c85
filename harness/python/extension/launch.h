/* launch.h - modules in Python, in three rooms: loaded.c has the module, plan.c knows the arrays
 * that it was called with and makes room for the results, launch.c puts both where kernels want
 * them. A plan is made by the package once for arrays of one signature; calls compare arrays with
 * plans, without Python objects. */
#ifndef TESSERA_PYTHON_LAUNCH_H
#define TESSERA_PYTHON_LAUNCH_H

#include "extension.h"

/* An output, from the module's metadata. */
typedef struct module_output {
    int32_t replaced;         /* the input that it replaces, -1 where it replaces none */
    bool is_effect, is_check; /* effect: shown to Python's reader instead of the caller */
} module_output;

typedef struct array_shape {
    DLDataType type;
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
} array_shape;

/* Arrays of one signature, and what a launch on them takes besides. */
typedef struct plan {
    struct plan *next;
    array_shape *inputs;  /* as they were found */
    array_shape *outputs; /* their `type` is not used: the module has it */
    int64_t *dims;
} plan;

typedef struct module_object {
    PyObject_HEAD PyObject *context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    uint32_t inputs, outputs, dims;
    dtype *types; /* of each buffer */
    module_output *made;
    plan *plans; /* the last used first */
} module_object;

/* Inputs of a call, open until call_close. */
typedef struct call {
    PyObject *arrays; /* a tuple; borrowed */
    array_view *views;
    uint32_t opened;
} call;

/* False with an exception; close it in either case. */
bool call_open(call *c, PyObject *arrays);
void call_close(call *c);

/* ---- plan.c ---- */

/* The plan for these arrays; NULL without an exception: there is none yet. */
const plan *plan_find(module_object *m, const call *c);
/* plan(arrays, shapes, dims): takes in a signature's. */
PyObject *plan_add(PyObject *module, PyObject *arguments);
void plan_free_all(module_object *m);
/* A tuple of tensors, one for each output: on the device where an output replaces an input there or
 * no input is on the host; an input itself where its memory becomes the result's. */
PyObject *plan_make_room(const module_object *m, const plan *p, const call *c);
/* The same as the caller's arrays. `maker(array)` gives what makes an array of that one's framework
 * from a tensor. Effects are left out where all are checks that hold, else follow as tensors. */
PyObject *plan_make_results(const module_object *m, const call *c, PyObject *outputs,
                            PyObject *maker);

/* ---- launch.c ---- */

/* Launches and waits; false with an exception. */
bool launch_run(const module_object *m, const plan *p, const call *c, PyObject *outputs);

#endif
