/* error.h - how the C ABI's functions fail: a code, and words kept for the calling thread. */
#ifndef TESSERA_RUNTIME_ERROR_H
#define TESSERA_RUNTIME_ERROR_H

#include "base/status.h"
#include "tessera/tessera.h"

/* Sets the thread's message and returns `code`. */
tsr_status_t error_set(tsr_status_t code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a failed status. */
tsr_status_t error_from(const status *st);
/* Fails with TSR_EINVAL naming the null argument. */
tsr_status_t error_null(const char *argument);
/* TSR_EINVAL where the struct to fill is NULL, or a caller's header has it smaller than the first
 * that there was. */
tsr_status_t error_check_size(const void *info, size_t told_bytes, size_t least_bytes);

#endif
