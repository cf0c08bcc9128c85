/* launch_file.h - how code for a GPU is launched, as the file beside it says: kernel.json
 * of kernel.ptx (docs/implementations.md has its keys). */
#ifndef TESSERA_HARNESS_IMPLEMENTATION_LAUNCH_FILE_H
#define TESSERA_HARNESS_IMPLEMENTATION_LAUNCH_FILE_H

#include "implementation/entries.h"

/* The file beside one with code for a GPU; of the arena. */
const char *implementation_launch_path(const char *code, arena *memory);

/* The entry points that the file beside the code describes become the implementation's functions.
 * False: there is no such file, something in it is wrong, or the code has no such entry point. */
bool implementation_launch_functions(implementation *i, const implementation_file *f, status *st);

/* Call of the entry point for an instance: the JSON of compiler_foreign.call; freed by the caller.
 * STATUS_INVALID where it takes other parameters. */
char *implementation_launch_call(const implementation_request *request, const ir_bindings *dims,
                                 const compiler_signature *signature, const implementation_file *f,
                                 status *st);

#endif
