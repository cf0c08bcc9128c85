/* exit_code.h - how the program ends (docs/cli.md), and which code wins where several apply. */
#ifndef TESSERA_HARNESS_COMMON_EXIT_CODE_H
#define TESSERA_HARNESS_COMMON_EXIT_CODE_H

#include "base/status.h"

typedef enum exit_code {
    EXIT_DONE = 0,
    EXIT_CHECK = 1,        /* a check did not hold */
    EXIT_USAGE = 2,        /* wrong command line */
    EXIT_INPUT = 3,        /* wrong input */
    EXIT_ABSENT = 4,       /* something asked for is not here */
    EXIT_NO_VERDICT = 5,   /* no verdict */
    EXIT_BUG = 70,         /* our bug */
    EXIT_INTERRUPTED = 130 /* Ctrl-C; what was finished is stored */
} exit_code;

/* The stronger of two: 130, 70, 3, 4, 1, 5, 0. */
exit_code exit_code_worse(exit_code a, exit_code b);
exit_code exit_code_of_status(status_code code);

#endif
