/* output.h - files that a user names: exports, and what -o receives.
 *
 * A regular file is written whole or not at all, through a symbolic link where there is one. What
 * is no regular file (a pipe, /dev/stdout) is written straight into: to put a new file in its place
 * would take it away. */
#ifndef TESSERA_HARNESS_COMMON_OUTPUT_H
#define TESSERA_HARNESS_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Checks that a file can be there: told before the work, not after it. */
bool output_check(const char *path, status *st);
bool output_write(const char *path, const void *data, size_t size_bytes, status *st);

#endif
