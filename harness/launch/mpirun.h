/* mpirun.h - starting processes of this program by MPI's starter, and being one of them. */
#ifndef TESSERA_HARNESS_LAUNCH_MPIRUN_H
#define TESSERA_HARNESS_LAUNCH_MPIRUN_H

#include <stdint.h>

/* The number that mpirun gave this process, as its kinds do; NULL: none started it. */
const char *mpirun_number(void);
/* Becomes mpirun, in a child: `count` processes of this program with these words, of which the last
 * is NULL, and without input and output. */
_Noreturn void mpirun_become(uint32_t count, const char *const *words);

#endif
