/* left_case.h - what a program asked the compiler for, on the disk while it is being compiled:
 * where the compiler dies, hangs or fails by its own fault, it stays, and tsr makes a pack of it.
 *
 * Only where the environment variable TESSERA_FAILURES names a folder. There is then
 * compile-HASH/source.tsr (or .mlir, .mlirbc) with a script, pack.sh, beside it; while it is
 * compiled the folder's name ends in ".PID". Two programs may have the same one. */
#ifndef TESSERA_COMPILER_LEFT_CASE_H
#define TESSERA_COMPILER_LEFT_CASE_H

#include <stddef.h>

#include "base/status.h"
#include "tessera/compile.h"

typedef struct left_case {
    char *folder;  /* NULL: there is none */
    char *lasting; /* its name without the process */
} left_case;

/* The source as it was given, or (`source` NULL) the file `name`; the kernel is the one that is
 * meant, the case that of the source (NULL: the options have `dims`). */
typedef struct left_source {
    const char *name, *source;
    size_t source_bytes;
    const char *kernel, *case_name;
} left_source;
/* Writes it; where that cannot be, the compilation goes on. */
void left_case_begin(left_case *l, const left_source *from, const tsr_compile_options_t *options);
/* Removes it, unless the status is the compiler's own failure. */
void left_case_end(left_case *l, const status *st);

#endif
