/* program.h - runs another program and waits for it: git, a build, an older tsr.
 *
 * Never through a shell, unless that is the program. Its stdin is empty. */
#ifndef TESSERA_HARNESS_PROCESS_PROGRAM_H
#define TESSERA_HARNESS_PROCESS_PROGRAM_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"

typedef struct program {
    const char *const *arguments; /* the first is the program, looked up in $PATH; NULL ends them */
    const char *folder;           /* where it runs; NULL: here */
    text *output;                 /* receives its stdout; NULL: goes to this program's stderr */
    text *errors;                 /* receives its stderr; NULL: goes to this program's */
} program;

/* False where it could not be run (its own code 127 is no such thing), or was killed: `st` says
 * why. *code: what it ended with. */
bool program_run(const program *p, int *code, status *st);

#endif
