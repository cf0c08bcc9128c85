/* fault.c - which fault TSR_FAULT chooses, and the file of TSR_FAULT_SEEN: a byte for each fault, 1
 * where its place was reached.
 *
 * A part of what ci/faults builds, and of nothing else. Both are read once, as the program or the
 * library is loaded. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"

enum { FAULTS_MAX = 4096 };

static unsigned char unseen[FAULTS_MAX];
int tsr_fault_chosen;
unsigned char *tsr_fault_seen = unseen;

/* Before the constructors of what it is linked with. */
__attribute__((constructor(101))) static void read_environment(void) {
    const char *number = getenv("TSR_FAULT"), *path = getenv("TSR_FAULT_SEEN");
    if (number)
        tsr_fault_chosen = atoi(number);
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    void *shared = ftruncate(fd, FAULTS_MAX) == 0
                       ? mmap(NULL, FAULTS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                       : MAP_FAILED;
    if (shared != MAP_FAILED)
        tsr_fault_seen = shared;
    close(fd);
}
