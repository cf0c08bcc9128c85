/* cases.h - what the files that read cases share. */
#ifndef TESSERA_CHECK_CASES_H
#define TESSERA_CHECK_CASES_H

#include "check/check.h"

/* One @cases decorator being read; `scope` evaluates numbers, with the case's dimensions as
 * integers in it. */
typedef struct case_reader {
    compiler_source *source;
    kernel_interface *kernel;
    diagnostics *report;
    checker scope;
    VEC(compiler_case) cases;
    VEC(span) names; /* of the cases so far */
    map numbers;     /* of those, by name */
} case_reader;

/* The element type of a parameter in this case; DTYPE_NONE where its type variable has no value. */
dtype parameter_type(const kernel_interface *k, uint32_t parameter, const compiler_case *c);
compiler_input default_input(dtype type);
/* The name of distribution `number` and its parameters, as Python would write them; false past the
 * last. */
bool distribution_signature(size_t number, const char **name, text *out);
/* Checks the parameters' shapes under a case's dimensions, wrong at `at`; false when reported. */
bool case_shapes_check(const kernel_interface *k, const compiler_case *c, span at, diagnostics *d);
/* normal(0, 1) and its like, checked against the parameter's type; false when reported. */
bool distribution_read(case_reader *r, const node *n, dtype type, compiler_input *out);

#endif
