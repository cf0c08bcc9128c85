/* child.h - a child process: made, awaited, and how it ended in words; the only place that forks.
 *
 * What follows the fork is the caller's: exec (process.h, program.h), or work on a copy of this
 * process whose end must not be ours. */
#ifndef TESSERA_HARNESS_PROCESS_CHILD_H
#define TESSERA_HARNESS_PROCESS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/text.h"

typedef enum child_how {
    CHILD_ENDED,         /* by itself; `code` is its exit code */
    CHILD_KILLED,        /* `code` is the signal */
    CHILD_OUT_OF_MEMORY, /* it had no memory to go on (child_when_out_of_memory) */
    CHILD_RUNNING        /* it goes on */
} child_how;

typedef struct child_end {
    child_how how;
    int code;
} child_end;

/* As fork(): 0 in the child, which leaves no core and dies with the thread that made it; -1 with
 * errno. Streams are flushed before. */
pid_t child_fork(void);

/* Waits for its end, through interruptions. False with errno where there is no such child. */
bool child_wait(pid_t pid, child_end *end);
/* Waits at most so long. */
child_end child_wait_ms(pid_t pid, int milliseconds);

/* "killed by SIGSEGV", "ended with code 3", "out of memory" */
void child_end_text(const child_end *end, text *out);

/* In a child that serves: a lack of memory ends it so that its parent knows. */
void child_when_out_of_memory(void);

#endif
