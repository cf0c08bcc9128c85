/* foreign_functions.c - what the guest of test_foreign.c calls: 100 floats in, 100 out. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "tessera/implementation.h"

#define FUNCTION(name)                                                                             \
    TSR_IMPLEMENTATION int name(DLTensor *const *t, int32_t count);                                \
    int name(DLTensor *const *t, int32_t count)

enum { CELLS = 100 };

FUNCTION(plus_one) {
    const float *a = t[0]->data;
    float *out = t[1]->data;
    for (int i = 0; i < CELLS && count == 2; i++)
        out[i] = a[i] + 1;
    return 0;
}

/* Every other call the last of its many inputs begins with a 7. */
FUNCTION(takes_turns) {
    static int calls;
    const float *last = t[count - 2]->data;
    return (calls++ % 2 == 1) == (last[0] == 7) && count > 64 ? 0 : 1;
}

/* Reads what the call before wrote, and is slow about it. */
FUNCTION(slow_plus_one) {
    usleep(2000);
    return plus_one(t, count);
}

FUNCTION(refuses) {
    (void)t, (void)count;
    return TSR_IMPLEMENTATION_UNSUPPORTED;
}

FUNCTION(falls) {
    (void)t, (void)count;
    abort();
}

FUNCTION(sleeps) {
    (void)t, (void)count;
    for (;;)
        pause();
}

FUNCTION(runs_over) {
    ((float *)t[1]->data)[CELLS + 12] = 1; /* rounded up to 64 bytes there are 112 */
    return plus_one(t, count);
}

/* Its parent's number, and how many processes it sees. */
FUNCTION(looks_around) {
    float *out = t[1]->data;
    DIR *list = opendir("/proc");
    out[0] = (float)getppid();
    out[1] = 0;
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        out[1] += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
    if (list)
        closedir(list);
    return count == 2 ? 0 : 1;
}

/* A child of a child, in a session of its own, which is there when this returns. */
FUNCTION(hides_a_child) {
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        return 1;
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            (void)!write(ends[1], &byte, 1);
            sleep(20);
        }
        _exit(0);
    }
    (void)!read(ends[0], &byte, 1);
    return plus_one(t, count);
}

FUNCTION(threads) {
    const char *words = getenv("OMP_NUM_THREADS"); // NOLINT(concurrency-mt-unsafe)
    *(float *)t[1]->data = words ? (float)atoi(words) : -1;
    return count == 2 ? 0 : 1;
}
