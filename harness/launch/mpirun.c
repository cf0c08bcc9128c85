/* mpirun.c - see mpirun.h. */
#include "launch/mpirun.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

enum { WORDS_MAX = 16 };

const char *mpirun_number(void) {
    const char *number = getenv("OMPI_COMM_WORLD_RANK"); // NOLINT(concurrency-mt-unsafe)
    return number ? number : getenv("PMI_RANK");         // NOLINT(concurrency-mt-unsafe)
}

/* Settings of Open MPI by its environment, so that its options are nobody else's. */
_Noreturn void mpirun_become(uint32_t count, const char *const *words) {
    char own[4096], number[12];
    char *all[WORDS_MAX + 5] = {(char *)(uintptr_t) "mpirun", (char *)(uintptr_t) "-n", number,
                                own};
    file_own_program(own, sizeof own);
    snprintf(number, sizeof number, "%u", count);
    for (int i = 0; i < WORDS_MAX && words[i]; i++)
        all[4 + i] = (char *)(uintptr_t)words[i];
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);            // NOLINT(concurrency-mt-unsafe)
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);    // NOLINT(concurrency-mt-unsafe)
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1); // NOLINT(concurrency-mt-unsafe)
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    execvp("mpirun", all);
    _exit(127);
}
