/* arguments.h - the scalars of a recorded call of BLAS: of CBLAS numbers, of Fortran letters. */
#ifndef TESSERA_HARNESS_CAPTURE_ARGUMENTS_H
#define TESSERA_HARNESS_CAPTURE_ARGUMENTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

/* NULL: the call has none of that name. */
const json_t *capture_argument(const json_t *arguments, const char *name);
double capture_real(const json_t *arguments, const char *name);
/* A flag: CBLAS' number, or Fortran's letter, a lower-case one here. */
bool capture_says(const json_t *arguments, const char *name, int number, char letter);
/* A flag of transposition: CBLAS' 112 and 113, Fortran's T and C. */
bool capture_transposes(const json_t *flag);
/* Matrices in columns: Fortran's, and CBLAS' layout 102. */
bool capture_in_columns(const json_t *arguments);
/* "FACTOR * ", as the language has floats. */
void capture_put_factor(double factor, text *out);

#endif
