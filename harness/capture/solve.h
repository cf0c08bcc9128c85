/* solve.h - trsm as a formula: the solution row by row, each by those that are known. */
#ifndef TESSERA_HARNESS_CAPTURE_SOLVE_H
#define TESSERA_HARNESS_CAPTURE_SOLVE_H

#include <jansson.h>

#include "capture/stream.h"

/* A loop of a kernel is written out. */
enum { CAPTURE_SOLVE_ROWS = 1024 };

bool capture_solve_fits(const capture_call *c);
/* Writes the body of a kernel of the call's `a` and `b`. */
void capture_solve_write(const capture_call *c, const json_t *arguments, text *out);

#endif
