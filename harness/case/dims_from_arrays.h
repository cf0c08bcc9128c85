/* dims_from_arrays.h - the dimensions of a kernel or a module, solved from the shapes of arrays. */
#ifndef TESSERA_HARNESS_CASE_DIMS_FROM_ARRAYS_H
#define TESSERA_HARNESS_CASE_DIMS_FROM_ARRAYS_H

#include "tessera/compiler.h"

/* Declared and actual shape of an array. Everything is borrowed. */
typedef struct shaped_array {
    const char *name;
    int rank;
    const char *formulas[TENSOR_MAX_RANK]; /* as runtime/formula.h reads them; NULL: a number */
    int64_t dims[TENSOR_MAX_RANK];         /* where there is no formula */
    const tensor *array;
} shaped_array;

typedef struct dims_request {
    const char *kernel;
    const char *const *names; /* of all its dimensions, those of results alone among them */
    uint32_t name_count;
    const shaped_array *arrays;
    uint32_t array_count;
    ir_bindings given;    /* what is known beforehand */
    const char *given_by; /* in words: "--dims" */
} dims_request;

/* Puts the value of each name into `values`. What is given holds. A formula in which all names but
 * one are known gives that one where it is there to the first power alone; where the formula can
 * only grow with it, as N*N and N // 2 do, it gives the range that fits, and all of those together
 * may leave one value. Then all shapes are checked. False: a given name is not of the kernel, a
 * shape contradicts its formulas, or a dimension is told by nothing, or not to one value, with what
 * to type. */
bool dims_from_arrays(const dims_request *request, int64_t *values, status *st);

/* A kernel's graph, and an array for each of its parameters. Everything is borrowed. */
typedef struct kernel_arrays {
    const compiler_kernel *kernel;
    ir_module *graph; /* with dimensions that are open; of the arrays' types */
    const tensor *arrays;
} kernel_arrays;
/* The same for a kernel: one value for each of its dimensions. */
bool dims_of_kernel(const kernel_arrays *k, ir_bindings given, const char *given_by,
                    int64_t *values, status *st);

#endif
