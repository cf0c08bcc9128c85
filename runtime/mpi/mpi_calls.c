/* mpi_calls.c - messages by MPI's point-to-point functions: its sums are not asked for, as they
 * differ from rank to rank and from version to version. */
#include "comm/mpi_calls.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"

enum { PART_BYTES = 1 << 30 /* of one message: MPI counts in ints */ };

static bool own; /* MPI was begun here */
static MPI_Comm ranks = MPI_COMM_NULL;

static bool ok(int code, const char *doing, status *st) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return true;
    MPI_Error_string(code, words, &length);
    return status_set(st, STATUS_UNAVAILABLE, "MPI, %s: %s", doing, words);
}

static bool open_mpi(uint32_t *rank, uint32_t *count, status *st) {
    int begun = 0, given = 0, number = 0, all = 0;
    MPI_Initialized(&begun);
    if (!begun && !ok(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given), "beginning", st))
        return false;
    own = own || !begun;
    if (!ok(MPI_Comm_dup(MPI_COMM_WORLD, &ranks), "a communicator", st) ||
        !ok(MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN), "a communicator", st) ||
        !ok(MPI_Comm_rank(ranks, &number), "the rank", st) ||
        !ok(MPI_Comm_size(ranks, &all), "the ranks", st))
        return false;
    *rank = (uint32_t)number;
    *count = (uint32_t)all;
    return true;
}

static int part_of(size_t left) {
    return (int)(left < PART_BYTES ? left : PART_BYTES);
}

static size_t parts_of(size_t bytes) {
    return (bytes + PART_BYTES - 1) / PART_BYTES;
}

/* Tags have 15 bits at least. */
static int tag_of(uint64_t number) {
    return (int)(number % SHRT_MAX);
}

static bool begin_all(uint64_t number, const comm_message *messages, uint32_t count,
                      MPI_Request *requests, int *begun, status *st) {
    bool good = true;
    for (int sends = 0; sends < 2; sends++) /* what is received has a place before it comes */
        for (uint32_t i = 0; i < count && good; i++) {
            const comm_message *m = &messages[i];
            size_t left = sends ? m->send_bytes : m->receive_bytes;
            char *at = sends ? (char *)(uintptr_t)m->send : m->receive;
            for (; left && good; *begun += good) {
                const int part = part_of(left);
                good = ok(sends ? MPI_Isend(at, part, MPI_BYTE, (int)m->rank, tag_of(number), ranks,
                                            &requests[*begun])
                                : MPI_Irecv(at, part, MPI_BYTE, (int)m->rank, tag_of(number), ranks,
                                            &requests[*begun]),
                          sends ? "sending" : "receiving", st);
                at += part;
                left -= (size_t)part;
            }
        }
    return good;
}

static bool await_all(uint64_t number, uint64_t timeout_ns, MPI_Request *requests, int count,
                      status *st) {
    const struct timespec a_while = {0, 20000};
    const uint64_t begun = clock_now_ns();
    int done = 0;
    for (int turns = 0; !done; turns++) {
        if (!ok(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE), "waiting", st))
            return false;
        if (!done && clock_now_ns() - begun > timeout_ns)
            return status_set(st, STATUS_UNAVAILABLE,
                              "this rank waited %g s for another one in exchange %llu",
                              (double)timeout_ns / 1e9, (unsigned long long)number);
        if (!done && turns > 1000)
            nanosleep(&a_while, NULL);
    }
    return true;
}

static bool exchange(uint64_t number, uint64_t timeout_ns, const comm_message *messages,
                     uint32_t count, status *st) {
    size_t all = 0;
    int begun = 0;
    for (uint32_t i = 0; i < count; i++)
        all += parts_of(messages[i].send_bytes) + parts_of(messages[i].receive_bytes);
    MPI_Request *requests = base_calloc(all + 1, sizeof(MPI_Request));
    const bool good = begin_all(number, messages, count, requests, &begun, st) &&
                      await_all(number, timeout_ns, requests, begun, st);
    for (int i = 0; !good && i < begun; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Cancel(&requests[i]);
    free(requests);
    return good;
}

static void close_mpi(void) {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended)
        return;
    if (ranks != MPI_COMM_NULL)
        MPI_Comm_free(&ranks);
}

static void abort_all(void) {
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* MPI ends once: with the process. */
__attribute__((destructor)) static void finalize(void) {
    int ended = 0;
    MPI_Finalized(&ended);
    if (own && !ended)
        MPI_Finalize();
}

__attribute__((visibility("default"))) extern const mpi_calls tessera_mpi_calls;
const mpi_calls tessera_mpi_calls = {sizeof(mpi_calls), open_mpi, exchange, close_mpi, abort_all};
