/* pipes.h - whole messages through the pipes of a rank. */
#ifndef TESSERA_HARNESS_LAUNCH_PIPES_H
#define TESSERA_HARNESS_LAUNCH_PIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A rank at the other end. The pipes of one that mpirun started stay open whatever becomes of it:
 * `starter` is that process, as long as it runs (0: it has ended), and NULL for other pipes. */
typedef struct pipe_end {
    pid_t *starter;
    int limit_s; /* for which it may take or give nothing in the midst of a message */
} pipe_end;

/* Has mpirun ended? Then *starter is 0 from now on. */
bool pipe_starter_ended(pid_t *starter);
/* All of it; false where the other end has ended, or is silent too long. `far` NULL: it may be
 * silent as long as it likes. A pipe that is written must not block. */
bool pipe_receive(int file, const pipe_end *far, void *data, size_t bytes);
bool pipe_send(int file, const pipe_end *far, const void *data, size_t bytes);
/* Those that are open; they are -1 then. */
void pipe_close_both(int *a, int *b);

#endif
