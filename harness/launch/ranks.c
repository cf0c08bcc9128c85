/* ranks.c - several launches that run together.
 *
 * Each rank serves one end of a socket, in a thread or in a child of fork, whichever its transport
 * is for; whoever opened them writes to the other ends. */
#include "launch/ranks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "common/abi_status.h"

enum { RANK_TIMEOUT_S = 60 };

typedef enum rank_order { ORDER_WRITE, ORDER_POISON, ORDER_RUN, ORDER_READ, ORDER_END } rank_order;

typedef struct rank_message {
    uint32_t order, index; /* of an input or an output */
    uint64_t number;       /* bytes behind it; launches; of an answer ns, or bytes behind it */
    status st;
} rank_message;

typedef struct rank_seat {
    int socket, far; /* this process's end; the rank's */
    pid_t process;   /* 0: it is a thread */
    pthread_t thread;
    const launch_request *request;
    uint32_t rank, count;
    const char *transport;
    char name[48];
    size_t *sizes; /* of its buffers */
    uint32_t inputs;
} rank_seat;

struct launch_ranks {
    uint32_t count;
    rank_seat *seats;
};

/* ---- sockets ---- */

static bool send_all(int socket, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes) {
        const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int socket, void *data, size_t bytes) {
    char *at = data;
    while (bytes) {
        const ssize_t got = recv(socket, at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* ---- a rank ---- */

static bool open_rank(rank_seat *s, launch *l, tsr_comm_t *comm, status *st) {
    const tsr_comm_options_t options = {.struct_size = sizeof options,
                                        .transport = s->transport,
                                        .name = s->name,
                                        .rank = s->rank,
                                        .count = s->count,
                                        .timeout_ns = RANK_TIMEOUT_S * UINT64_C(1000000000)};
    *l = (launch){0};
    return abi_ok(tsrCreateComm(&options, comm), NULL, st) && launch_open(l, s->request, st) &&
           abi_ok(tsrSetComm(l->context, *comm), NULL, st);
}

static bool run_launches(launch *l, uint64_t count, uint64_t *ns, status *st) {
    const uint64_t start = clock_now_ns();
    bool ok = true;
    for (uint64_t i = 0; i < count && ok; i++)
        ok = launch_run(l, st);
    *ns = clock_now_ns() - start;
    return ok;
}

/* Does what it is told; false where nobody tells any more. */
static bool obey(rank_seat *s, launch *l) {
    rank_message m, answer = {.st = STATUS_INIT};
    void *data = NULL;
    if (!receive_all(s->far, &m, sizeof m) || m.order == ORDER_END)
        return false;
    if (m.order == ORDER_WRITE || m.order == ORDER_READ)
        data = base_malloc((size_t)m.number + 1);
    bool told = m.order != ORDER_WRITE || receive_all(s->far, data, (size_t)m.number);
    if (!told)
        answer.number = 0;
    else if (m.order == ORDER_WRITE)
        (void)launch_write(l, m.index, data, &answer.st);
    else if (m.order == ORDER_POISON)
        (void)launch_poison_outputs(l, &answer.st);
    else if (m.order == ORDER_RUN)
        (void)run_launches(l, m.number, &answer.number, &answer.st);
    else if (launch_read(l, m.index, data, &answer.st))
        answer.number = m.number;
    told = told && send_all(s->far, &answer, sizeof answer) &&
           (m.order != ORDER_READ || send_all(s->far, data, (size_t)answer.number));
    free(data);
    return told;
}

static void *serve(void *context) {
    rank_seat *s = context;
    launch l;
    tsr_comm_t comm = NULL;
    rank_message opened = {.st = STATUS_INIT};
    const bool ok = open_rank(s, &l, &comm, &opened.st);
    bool told = send_all(s->far, &opened, sizeof opened) && ok;
    while (told)
        told = obey(s, &l);
    launch_close(&l);
    (void)tsrDestroyComm(comm);
    close(s->far);
    return NULL;
}

/* ---- all of them ---- */

static bool is_of_processes(const char *transport) {
    return strcmp(transport, "threads") != 0;
}

static void become_rank(launch_ranks *r, uint32_t rank) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint32_t i = 0; i < r->count; i++) {
        close(r->seats[i].socket);
        if (i != rank && r->seats[i].far >= 0)
            close(r->seats[i].far);
    }
    serve(&r->seats[rank]);
    _exit(0);
}

static bool start(launch_ranks *r, uint32_t rank, status *st) {
    rank_seat *s = &r->seats[rank];
    if (!is_of_processes(s->transport))
        return pthread_create(&s->thread, NULL, serve, s) == 0 ||
               status_set(st, STATUS_OUT_OF_MEMORY, "there is no thread to be had for rank %u",
                          rank);
    s->process = fork();
    if (s->process == 0)
        become_rank(r, rank);
    if (s->process < 0)
        return status_set_errno(st, errno, "there is no process to be had for rank %u", rank);
    close(s->far);
    s->far = -1;
    return true;
}

static const char *end_of(rank_seat *s) {
    int how = 0;
    if (s->process <= 0 || waitpid(s->process, &how, 0) != s->process)
        return "ended";
    s->process = 0;
    return WIFSIGNALED(how) ? strsignal(WTERMSIG(how)) : "ended"; // NOLINT(concurrency-mt-unsafe)
}

/* The answers of all to one order. The first failure counts that is no other rank's. */
static bool answers(launch_ranks *r, uint64_t *most, status *st) {
    bool ok = true, own = false;
    for (uint32_t i = 0; i < r->count; i++) {
        rank_message m = {.st = STATUS_INIT};
        if (!receive_all(r->seats[i].socket, &m, sizeof m)) {
            const char *how = end_of(&r->seats[i]);
            if (!own)
                status_set(st, STATUS_UNAVAILABLE, "rank %u was lost: %s", i, how);
            ok = false;
            own = true;
            continue;
        }
        if (most && m.number > *most)
            *most = m.number;
        if (m.st.code != STATUS_OK && ok)
            *st = m.st;
        ok = ok && m.st.code == STATUS_OK;
    }
    return ok;
}

static bool order_all(launch_ranks *r, const rank_message *m, const void *data, status *st) {
    for (uint32_t i = 0; i < r->count; i++)
        if (!send_all(r->seats[i].socket, m, sizeof *m) ||
            (data && !send_all(r->seats[i].socket, data, (size_t)m->number)))
            return status_set(st, STATUS_UNAVAILABLE, "rank %u was lost: %s", i,
                              end_of(&r->seats[i]));
    return true;
}

static void describe(launch_ranks *r, const launch_request *requests, const char *transport) {
    static unsigned opened;
    const unsigned number = opened++;
    for (uint32_t i = 0; i < r->count; i++) {
        rank_seat *s = &r->seats[i];
        *s = (rank_seat){.socket = -1,
                         .far = -1,
                         .request = &requests[i],
                         .rank = i,
                         .count = r->count,
                         .transport = transport,
                         .inputs = requests[i].input_count};
        snprintf(s->name, sizeof s->name, "run-%d-%u", (int)getpid(), number);
    }
}

launch_ranks *launch_ranks_open(const launch_request *requests, uint32_t count,
                                const char *transport, status *st) {
    launch_ranks *r = base_calloc(1, sizeof *r);
    r->count = count;
    r->seats = base_calloc(count, sizeof *r->seats);
    describe(r, requests, transport);
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        int ends[2];
        ok = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ||
             status_set_errno(st, errno, "cannot open a socket for rank %u", i);
        if (ok) {
            r->seats[i].socket = ends[0];
            r->seats[i].far = ends[1];
        }
    }
    for (uint32_t i = 0; i < count && ok; i++)
        ok = start(r, i, st);
    if (ok && answers(r, NULL, st))
        return r;
    launch_ranks_close(r);
    return NULL;
}

void launch_ranks_close(launch_ranks *r) {
    if (!r)
        return;
    const rank_message end = {.order = ORDER_END};
    for (uint32_t i = 0; i < r->count; i++) {
        rank_seat *s = &r->seats[i];
        if (s->socket >= 0)
            (void)send_all(s->socket, &end, sizeof end);
        if (s->socket >= 0)
            close(s->socket);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        rank_seat *s = &r->seats[i];
        if (s->thread)
            pthread_join(s->thread, NULL);
        else if (s->far >= 0)
            close(s->far);
        if (s->process > 0)
            (void)waitpid(s->process, NULL, 0);
    }
    free(r->seats);
    free(r);
}

bool launch_ranks_write(launch_ranks *r, const tensor *inputs, status *st) {
    for (uint32_t i = 0; i < r->seats[0].inputs; i++) {
        const rank_message m = {
            .order = ORDER_WRITE, .index = i, .number = tensor_bytes(&inputs[i])};
        if (!order_all(r, &m, inputs[i].data, st) || !answers(r, NULL, st))
            return false;
    }
    return true;
}

bool launch_ranks_poison(launch_ranks *r, status *st) {
    const rank_message m = {.order = ORDER_POISON};
    return order_all(r, &m, NULL, st) && answers(r, NULL, st);
}

bool launch_ranks_run(launch_ranks *r, uint64_t launches, uint64_t *ns, status *st) {
    const rank_message m = {.order = ORDER_RUN, .number = launches};
    uint64_t most = 0;
    const bool ok = order_all(r, &m, NULL, st) && answers(r, &most, st);
    if (ns)
        *ns = most;
    return ok;
}

static bool read_one(rank_seat *s, uint32_t output, tensor *to, status *st) {
    rank_message m = {.order = ORDER_READ, .index = output, .number = tensor_bytes(to)};
    if (!send_all(s->socket, &m, sizeof m) || !receive_all(s->socket, &m, sizeof m))
        return status_set(st, STATUS_UNAVAILABLE, "rank %u was lost: %s", s->rank, end_of(s));
    if (m.st.code != STATUS_OK) {
        *st = m.st;
        return false;
    }
    return receive_all(s->socket, to->data, (size_t)m.number) ||
           status_set(st, STATUS_UNAVAILABLE, "rank %u was lost: %s", s->rank, end_of(s));
}

bool launch_ranks_read(launch_ranks *r, uint32_t rank, const compiler_signature *signature,
                       tensor *outputs, status *st) {
    for (uint32_t i = 0; i < signature->output_count; i++) {
        const struct compiler_buffer *buffer = &signature->outputs[i];
        const bool made = tensor_init(&outputs[i], buffer->type, buffer->rank, buffer->dims, st);
        if (made && read_one(&r->seats[rank], i, &outputs[i], st))
            continue;
        tensor_release_all(outputs, made ? i + 1 : i);
        return false;
    }
    return true;
}
