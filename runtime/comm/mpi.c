/* mpi.c - ranks that mpirun started, on one machine or several: by libtessera-mpi.so, which lies
 * beside the program or this library, or where the dynamic linker looks. */
#include <pthread.h>

#include "comm/comm.h"
#include "comm/mpi_calls.h"

static const mpi_calls *calls;
static char why_not[600];

static void find_calls(void) {
    comm_library l = {MPI_CALLS_LIBRARY, MPI_CALLS_SYMBOL, sizeof *calls,
                      "it is built where mpi.h is: libopenmpi-dev of Debian"};
    calls = comm_library_open(&l, why_not, sizeof why_not);
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
