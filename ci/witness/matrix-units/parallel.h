/* parallel.h - a loop over indices on all processors. */
#ifndef MATRIX_UNITS_PARALLEL_H
#define MATRIX_UNITS_PARALLEL_H

#include <stddef.h>

/* Calls body(context, worker, i) once for each i below count, from several threads; worker <
 * parallel_workers(). */
void parallel_for(size_t count, void (*body)(void *context, size_t worker, size_t i),
                  void *context);
size_t parallel_workers(void);

#endif
