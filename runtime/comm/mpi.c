/* mpi.c - ranks that mpirun started, on one machine or several: by libtessera-mpi.so, which lies
 * beside the program or this library, or where the dynamic linker looks. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "comm/comm.h"
#include "comm/mpi_calls.h"

static const mpi_calls *calls;
static char why_not[600];

static void *open_beside(const char *file) {
    char path[4096];
    const char *slash = strrchr(file, '/');
    snprintf(path, sizeof path, "%.*s" MPI_CALLS_LIBRARY, slash ? (int)(slash + 1 - file) : 0,
             file);
    return slash ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
}

static void find_calls(void) {
    Dl_info here;
    char own[4096];
    file_own_program(own, sizeof own);
    void *library = open_beside(own);
    if (!library && dladdr(why_not, &here) && here.dli_fname)
        library = open_beside(here.dli_fname);
    if (!library)
        library = dlopen(MPI_CALLS_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    calls = library ? dlsym(library, MPI_CALLS_SYMBOL) : NULL;
    if (calls && calls->size != sizeof *calls)
        calls = NULL;
    if (!calls)
        snprintf(why_not, sizeof why_not,
                 "%s (it is built where mpi.h is: libopenmpi-dev of Debian)",
                 library ? MPI_CALLS_LIBRARY " is of another build" : dlerror());
}

static const char *missing(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_calls);
    return calls ? NULL : why_not;
}

static bool open_ranks(comm *c, const comm_options *o, status *st) {
    uint32_t rank, count;
    if (!calls->open(&rank, &count, st))
        return false;
    return (rank == o->rank && count == o->count) ||
           status_set(st, STATUS_INVALID, "this is rank %u of %u, and mpirun made it rank %u of %u",
                      c->rank, c->count, rank, count);
}

static void close_ranks(comm *c) {
    (void)c;
    calls->close();
}

static bool exchange(comm *c, uint64_t number, const comm_message *messages, uint32_t count,
                     status *st) {
    return calls->exchange(number, c->timeout_ns, messages, count, st);
}

/* MPI has no way to tell others: they wait until their limit, or mpirun ends them with this one. */
static void fail(comm *c, const char *why) {
    (void)c;
    (void)why;
}

const comm_transport comm_mpi = {
    "mpi", "ranks that mpirun started, on any machines", missing, open_ranks, close_ranks, exchange,
    fail};
