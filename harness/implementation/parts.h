/* parts.h - reading the functions of a file without running anything of it. */
#ifndef TESSERA_HARNESS_IMPLEMENTATION_PARTS_H
#define TESSERA_HARNESS_IMPLEMENTATION_PARTS_H

#include "implementation/implementation.h"

#define IMPLEMENTATION_FILE_BYTES_MAX ((size_t)4 << 30)

typedef struct implementation_file {
    char *bytes; /* NUL behind them */
    size_t size_bytes;
} implementation_file;

bool implementation_has_function(const implementation *i, const char *name);

/* A shared library of this machine, and no program. */
bool implementation_elf_is_shared(const implementation_file *f);
/* Functions that it exports; the prefix of the TVM FFI convention is left out. */
bool implementation_elf_functions(implementation *i, const implementation_file *f, status *st);
/* Names that a Python file defines or assigns at its outermost level. */
void implementation_python_functions(implementation *i, const implementation_file *f);
/* The kernels of a source that can be compiled. */
bool implementation_source_functions(implementation *i, const implementation_file *f, status *st);
/* Compiles the request's kernel, strict, for the instance's types and shapes into a module in the
 * request's folder; appends its path. */
bool implementation_source_build(const implementation_request *request, compiler_instance *instance,
                                 text *path, status *st);
/* pjrt:FILE, or pjrt:NAME of PJRT_NAMES_AND_LIBRARY_PATHS: any kernel with a formula. */
bool implementation_plugin_open(implementation *i, const char *given, status *st);
/* The kernel of a module. */
bool implementation_module_functions(implementation *i, const implementation_file *f, status *st);

#endif
