/* pipes.h - whole messages through the pipes of a rank. */
#ifndef TESSERA_HARNESS_LAUNCH_PIPES_H
#define TESSERA_HARNESS_LAUNCH_PIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All of it; false where the other end has ended. The pipes of a rank that mpirun started stay open
 * whatever becomes of it: `starter` is that process, as long as it runs (0: it has ended), and NULL
 * for other pipes. */
bool pipe_receive(int file, pid_t *starter, void *data, size_t bytes);
bool pipe_send(int file, pid_t *starter, const void *data, size_t bytes);
/* Those that are open; they are -1 then. */
void pipe_close_both(int *a, int *b);

#endif
