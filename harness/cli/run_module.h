/* run_module.h - tsr run of a module file: compiled already, for whichever machine it fits. */
#ifndef TESSERA_HARNESS_CLI_RUN_MODULE_H
#define TESSERA_HARNESS_CLI_RUN_MODULE_H

#include "cli/options.h"

/* Does the file begin as a module does? False where it cannot be read. */
bool run_module_is(const char *path);
/* Runs the module that is the command's only argument. Returns an exit code. */
int run_module(const options *o, int64_t steps);

#endif
