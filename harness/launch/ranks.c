/* ranks.c - several launches that run together.
 *
 * Each rank reads orders from a pipe and answers by another one, in a thread, or in a process that
 * this program was started in again (tsr --rank), whichever its transport is for; ranks of MPI are
 * started by mpirun, and open pipes with names. */
#include "launch/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "common/scratch_folder.h"
#include "launch/mpi_job.h"
#include "launch/mpirun.h"
#include "launch/pipes.h"
#include "launch/ranks_parts.h"
#include "process/child.h"
#include "telemetry.h"

struct launch_ranks {
    uint32_t count;
    rank_seat *seats;
    pid_t starter;         /* mpirun; 0: there is none */
    scratch_folder folder; /* of pipes with names */
};

/* ---- pipes ---- */

static bool receive_from(const rank_seat *s, void *data, size_t bytes) {
    const pipe_end far = {s->starter, RANK_SILENT_S};
    return pipe_receive(s->from, &far, data, bytes);
}

static bool send_to(const rank_seat *s, const void *data, size_t bytes) {
    const pipe_end far = {s->starter, RANK_SILENT_S};
    return pipe_send(s->to, &far, data, bytes);
}

/* ---- all of them ---- */

static bool is_of_processes(const char *transport) {
    return strcmp(transport, "threads") != 0;
}

/* Nothing but what is safe between fork and exec. */
static _Noreturn void become_rank(int from, int to) {
    enum { FREE = 10 };
    const int own_from = fcntl(from, F_DUPFD, FREE), own_to = fcntl(to, F_DUPFD, FREE);
    dup2(own_from, RANK_IN); /* which exec keeps open */
    dup2(own_to, RANK_OUT);
    close(own_from);
    close(own_to);
    execl("/proc/self/exe", "tsr", "--rank", (char *)NULL);
    _exit(127);
}

static bool tell_process(const rank_seat *s) {
    const launch_request *q = s->request;
    const uint32_t buffers = q->input_count + q->output_count;
    rank_head head = {.rank = s->rank,
                      .count = s->count,
                      .device = q->device,
                      .threads = q->threads,
                      .inputs = q->input_count,
                      .outputs = q->output_count,
                      .image_bytes = q->image_size,
                      .kernel_bytes = strlen(q->kernel)};
    snprintf(head.name, sizeof head.name, "%s", s->name);
    snprintf(head.transport, sizeof head.transport, "%s", s->transport);
    size_t *sizes = base_calloc((size_t)buffers + 1, sizeof *sizes);
    launch_request_sizes(q, sizes);
    const bool ok = send_to(s, &head, sizeof head) && send_to(s, q->image, q->image_size) &&
                    send_to(s, q->kernel, head.kernel_bytes) &&
                    send_to(s, sizes, buffers * sizeof *sizes);
    free(sizes);
    return ok;
}

static bool is_of_mpi(const char *transport) {
    return strcmp(transport, "mpi") == 0;
}

static bool start_mpi(launch_ranks *r, status *st) {
    char path[4096];
    if (!scratch_folder_open(&r->folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    for (uint32_t i = 0; i < r->count; i++) {
        rank_seat *s = &r->seats[i];
        int *ends[] = {&s->to, &s->from};
        s->starter = &r->starter;
        for (int k = 0; k < 2; k++) {
            snprintf(path, sizeof path, "%s/%s.%u", r->folder.path, k ? "out" : "in", i);
            if (mkfifo(path, 0600) != 0 ||
                (*ends[k] = open(path, O_RDWR | O_CLOEXEC | (k ? 0 : O_NONBLOCK))) < 0)
                return status_set_errno(st, errno, "cannot make the pipe %s", path);
        }
    }
    r->starter = child_fork();
    if (r->starter == 0)
        mpirun_become(r->count, (const char *const[]){"--rank", r->folder.path, NULL});
    if (r->starter < 0)
        return status_set_errno(st, errno, "there is no process to be had for mpirun");
    for (uint32_t i = 0; i < r->count; i++)
        if (!tell_process(&r->seats[i]))
            return status_set(st, STATUS_UNAVAILABLE, "rank %u was lost: it takes no module", i);
    return true;
}

/* The ranks of the job that this process is one of. */
static bool join_job(launch_ranks *r, status *st) {
    for (uint32_t i = 0; i < r->count; i++) {
        rank_seat *s = &r->seats[i];
        s->to = mpi_job_connect(i, st);
        s->from = s->to < 0 ? -1 : fcntl(s->to, F_DUPFD_CLOEXEC, 0);
        if (s->from < 0)
            return s->to >= 0 ? status_set_errno(st, errno, "no descriptor for rank %u", i) : false;
    }
    for (uint32_t i = 0; i < r->count; i++)
        if (!tell_process(&r->seats[i]))
            return status_set(st, STATUS_UNAVAILABLE, "rank %u was lost: it takes no module", i);
    return true;
}

static bool start(launch_ranks *r, uint32_t rank, status *st) {
    rank_seat *s = &r->seats[rank];
    if (!is_of_processes(s->transport))
        return pthread_create(&s->thread, NULL, launch_rank_follow, s) == 0 ||
               status_set(st, STATUS_OUT_OF_MEMORY, "there is no thread to be had for rank %u",
                          rank);
    s->process = child_fork();
    if (s->process == 0)
        become_rank(s->far_from, s->far_to);
    if (s->process < 0)
        return status_set_errno(st, errno, "there is no process to be had for rank %u", rank);
    pipe_close_both(&s->far_from, &s->far_to);
    return tell_process(s) || status_set(st, STATUS_UNAVAILABLE,
                                         "rank %u was lost: it does not take its module", rank);
}

/* Says how a rank's process ended. One that stands still is ended. */
static bool lost(rank_seat *s, status *st) {
    enum { END_MS = 2000 };
    child_end end = {.how = CHILD_ENDED};
    text how;
    text_init(&how);
    if (s->process > 0) {
        end = child_wait_ms(s->process, END_MS);
        s->is_silent |= end.how == CHILD_RUNNING;
        if (end.how != CHILD_RUNNING) {
            child_end_text(&end, &how);
        } else {
            (void)kill(s->process, SIGKILL);
            (void)child_wait(s->process, &end);
        }
    }
    s->process = 0;
    s->is_lost = true;
    status_set(st, STATUS_UNAVAILABLE, "rank %u was lost: %s", s->rank,
               s->is_silent                     ? "it stood still, and was ended"
               : how.length                     ? how.data
               : s->starter && *s->starter == 0 ? "mpirun has ended, or is not there"
                                                : "it does not answer");
    text_release(&how);
    return false;
}

/* Numbers of the answers: the greatest, and the time from the first beginning to the last end. */
typedef struct numbers {
    uint64_t most, first, last;
} numbers;

static void count(numbers *n, const rank_message *m) {
    const uint64_t end = m->began + m->number;
    n->most = m->number > n->most ? m->number : n->most;
    n->first = !n->first || m->began < n->first ? m->began : n->first;
    n->last = end > n->last ? end : n->last;
}

/* Tells the first failure that is no other rank's: the end of a rank, unless others failed for its
 * silence, which say so. */
static bool judge(launch_ranks *r, const rank_message *all, const bool *told, status *st) {
    bool ok = true, own = false;
    for (uint32_t i = 0; i < r->count; i++) {
        status why = all[i].st;
        const bool ends = !told[i];
        if (ends)
            (void)lost(&r->seats[i], &why);
        const bool counts = ends && !r->seats[i].is_silent;
        if (why.code != STATUS_OK && (ok || (counts && !own)))
            *st = why;
        own |= counts;
        ok = ok && why.code == STATUS_OK;
    }
    return ok;
}

static bool take_answers(launch_ranks *r, rank_message *all, status *st) {
    bool *told = base_calloc(r->count, sizeof *told);
    rank_answers(r->seats, r->count, all, told);
    const bool ok = judge(r, all, told, st);
    free(told);
    return ok;
}

/* The answers of all to one order. */
static bool answers(launch_ranks *r, numbers *n, status *st) {
    rank_message *all = base_calloc(r->count, sizeof *all);
    const bool ok = take_answers(r, all, st);
    for (uint32_t i = 0; n && i < r->count && ok; i++)
        count(n, &all[i]);
    free(all);
    return ok;
}

/* A buffer of which the rank has a part; NULL: it has all. */
static const shard_part *part_of(const rank_seat *s, uint32_t buffer) {
    return s->parts && part_is_cut(&s->parts[buffer]) ? &s->parts[buffer] : NULL;
}

static bool order_all(launch_ranks *r, const rank_message *m, status *st) {
    uint32_t i = 0;
    while (i < r->count && send_to(&r->seats[i], m, sizeof *m))
        i++;
    return i == r->count || lost(&r->seats[i], st);
}

static void describe(launch_ranks *r, const launch_request *requests, const char *transport) {
    static unsigned opened;
    const unsigned number = opened++;
    for (uint32_t i = 0; i < r->count; i++) {
        rank_seat *s = &r->seats[i];
        *s = (rank_seat){.to = -1,
                         .from = -1,
                         .far_from = -1,
                         .far_to = -1,
                         .request = &requests[i],
                         .rank = i,
                         .count = r->count,
                         .transport = transport};
        snprintf(s->name, sizeof s->name, "run-%d-%u", (int)getpid(), number);
    }
}

static bool open_pipes(rank_seat *s, status *st) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0)
        return status_set_errno(st, errno, "cannot open a pipe for rank %u", s->rank);
    s->to = to[1];
    s->far_from = to[0];
    if (pipe2(from, O_CLOEXEC) != 0)
        return status_set_errno(st, errno, "cannot open a pipe for rank %u", s->rank);
    s->from = from[0];
    s->far_to = from[1];
    (void)fcntl(s->to, F_SETFL, O_NONBLOCK);
    return true;
}

static void take_parts(rank_seat *s, const launch_request *request) {
    const size_t count = request->input_count + request->output_count;
    s->inputs = request->input_count;
    if (!request->parts)
        return;
    s->parts = base_calloc(count + 1, sizeof *s->parts);
    memcpy(s->parts, request->parts, count * sizeof *s->parts);
}

launch_ranks *launch_ranks_open(const launch_request *requests, uint32_t count,
                                const char *transport, status *st) {
    launch_ranks *r = base_calloc(1, sizeof *r);
    r->count = count;
    r->seats = base_calloc(count, sizeof *r->seats);
    describe(r, requests, transport);
    for (uint32_t i = 0; i < count; i++)
        take_parts(&r->seats[i], &requests[i]);
    bool ok = true;
    (void)signal(SIGPIPE, SIG_IGN); /* a rank that was lost is told by an answer that lacks */
    if (is_of_mpi(transport)) {
        ok = mpi_job_ranks() ? join_job(r, st) : start_mpi(r, st);
    } else {
        for (uint32_t i = 0; i < count && ok; i++)
            ok = open_pipes(&r->seats[i], st);
        for (uint32_t i = 0; i < count && ok; i++)
            ok = start(r, i, st);
    }
    if (ok && answers(r, NULL, st))
        return r;
    launch_ranks_close(r);
    return NULL;
}

/* mpirun ends with its ranks. */
static void end_mpi(launch_ranks *r) {
    enum { END_MS = 20000 };
    child_end end;
    if (r->starter > 0) {
        end = child_wait_ms(r->starter, END_MS);
        if (end.how == CHILD_RUNNING) {
            kill(r->starter, SIGTERM);
            (void)child_wait(r->starter, &end);
        }
    }
    if (r->folder.path)
        scratch_folder_close(&r->folder);
}

void launch_ranks_close(launch_ranks *r) {
    if (!r)
        return;
    const rank_message end = {.order = ORDER_END};
    for (uint32_t i = 0; i < r->count; i++) {
        rank_seat *s = &r->seats[i];
        if (s->to >= 0)
            (void)send_to(s, &end, sizeof end);
        pipe_close_both(&s->to, &s->from);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        rank_seat *s = &r->seats[i];
        child_end ignored;
        if (s->thread)
            pthread_join(s->thread, NULL);
        else
            pipe_close_both(&s->far_from, &s->far_to);
        if (s->process > 0)
            (void)child_wait(s->process, &ignored);
        free(s->parts);
    }
    end_mpi(r);
    free(r->seats);
    free(r);
}

/* All of it, or the part that the rank has. */
static bool write_one(const rank_seat *s, rank_message m, const void *data) {
    const shard_part *part = part_of(s, m.index);
    void *own = NULL;
    if (part) {
        m.number = part_bytes(part);
        own = base_malloc((size_t)m.number + 1);
        part_take(part, data, own);
        data = own;
    }
    const bool ok = send_to(s, &m, sizeof m) && send_to(s, data, (size_t)m.number);
    free(own);
    return ok;
}

bool launch_ranks_write(launch_ranks *r, uint32_t input, const void *data, size_t bytes,
                        status *st) {
    const rank_message m = {.order = ORDER_WRITE, .index = input, .number = bytes};
    for (uint32_t i = 0; i < r->count; i++)
        if (!write_one(&r->seats[i], m, data))
            return lost(&r->seats[i], st);
    return answers(r, NULL, st);
}

bool launch_ranks_poison(launch_ranks *r, status *st) {
    const rank_message m = {.order = ORDER_POISON};
    return order_all(r, &m, st) && answers(r, NULL, st);
}

bool launch_ranks_run(launch_ranks *r, uint64_t launches, uint64_t *ns, status *st) {
    const rank_message m = {.order = ORDER_RUN, .number = launches};
    numbers n = {0};
    const bool ok = order_all(r, &m, st) && answers(r, &n, st);
    if (ns)
        *ns = n.last - n.first;
    return ok;
}

bool launch_ranks_trace(launch_ranks *r, telemetry_record *records, size_t capacity, size_t *count,
                        status *st) {
    const uint64_t room = capacity * sizeof *records;
    const rank_message order = {.order = ORDER_TRACE, .number = room};
    telemetry_record *others = base_calloc(capacity, sizeof *others);
    bool ok = order_all(r, &order, st), all = ok;
    *count = 0;
    for (uint32_t i = 0; i < r->count && all; i++) {
        rank_message m = {.st = STATUS_INIT};
        all = receive_from(&r->seats[i], &m, sizeof m) && m.number <= room &&
              receive_from(&r->seats[i], i ? others : records, (size_t)m.number);
        if (!all)
            ok = lost(&r->seats[i], st);
        else if (i == 0)
            *count = (size_t)m.number / sizeof *records;
        if (m.st.code != STATUS_OK && ok)
            *st = m.st;
        ok = ok && m.st.code == STATUS_OK;
    }
    free(others);
    return ok;
}

bool launch_ranks_share(launch_ranks *r, bool shared) {
    const rank_message m = {.order = ORDER_SHARE, .number = shared};
    numbers any = {0};
    status ignored = STATUS_INIT; /* the next order fails for the same reason */
    return order_all(r, &m, &ignored) && answers(r, &any, &ignored) && any.most;
}

static bool read_one(rank_seat *s, rank_message m, void *to, status *st) {
    if (!send_to(s, &m, sizeof m) || !receive_from(s, &m, sizeof m))
        return lost(s, st);
    if (m.st.code != STATUS_OK) {
        *st = m.st;
        return false;
    }
    return receive_from(s, to, (size_t)m.number) || lost(s, st);
}

/* Puts the part that a rank has of a buffer into all of it. */
static bool read_part(rank_seat *s, rank_message m, const shard_part *part, void *to, status *st) {
    m.number = part_bytes(part);
    void *own = base_malloc((size_t)m.number + 1);
    const bool ok = read_one(s, m, own, st);
    if (ok)
        part_put(part, own, to);
    free(own);
    return ok;
}

/* Reads all parts of a buffer that ranks have parts of, last those of this rank: where others have
 * a copy of them, its own count. */
static bool read_all(launch_ranks *r, uint32_t rank, uint32_t buffer, rank_message m, void *to,
                     status *st) {
    bool ok = true;
    if (!part_of(&r->seats[rank], buffer))
        return read_one(&r->seats[rank], m, to, st);
    for (uint32_t i = 1; i <= r->count && ok; i++) {
        rank_seat *s = &r->seats[(rank + i) % r->count];
        ok = read_part(s, m, &s->parts[buffer], to, st);
    }
    return ok;
}

bool launch_ranks_lost(const launch_ranks *r) {
    bool any = false;
    for (uint32_t i = 0; i < r->count; i++)
        any |= r->seats[i].is_lost || r->seats[i].is_silent;
    return any;
}

uint32_t launch_ranks_count(const launch_ranks *r) {
    return r->count;
}

const shard_part *launch_ranks_part(const launch_ranks *r, uint32_t rank, uint32_t buffer) {
    return part_of(&r->seats[rank], buffer);
}

static bool order_states(const rank_seat *s, bool keep, const char *words) {
    const rank_message m = {.order = keep ? ORDER_KEEP : ORDER_TAKE, .number = strlen(words)};
    return send_to(s, &m, sizeof m) && send_to(s, words, (size_t)m.number);
}

/* Text behind an answer, of which there is none where that says that something failed. */
static bool hear(rank_seat *s, size_t bytes, text *said, status *st) {
    char *words = base_malloc(bytes + 1);
    const bool ok = receive_from(s, words, bytes);
    if (ok)
        text_append_bytes(said, words, bytes);
    free(words);
    return ok || lost(s, st);
}

bool launch_ranks_states(launch_ranks *r, bool keep, char *const *orders, text *hashes,
                         status *st) {
    rank_message *all = base_calloc(r->count, sizeof *all);
    bool ok = true;
    for (uint32_t i = 0; i < r->count && ok; i++)
        ok = order_states(&r->seats[i], keep, orders[i]) || lost(&r->seats[i], st);
    ok = ok && take_answers(r, all, st);
    for (uint32_t i = 0; i < r->count && ok; i++)
        ok = hear(&r->seats[i], (size_t)all[i].number, &hashes[i], st);
    free(all);
    return ok;
}

bool launch_ranks_read_input(launch_ranks *r, uint32_t input, void *to, size_t bytes, status *st) {
    const rank_message m = {.order = ORDER_READ_INPUT, .index = input, .number = bytes};
    return read_all(r, 0, input, m, to, st);
}

bool launch_ranks_read(launch_ranks *r, uint32_t rank, uint32_t output, void *to, size_t bytes,
                       status *st) {
    const rank_message m = {.order = ORDER_READ, .index = output, .number = bytes};
    return read_all(r, rank, r->seats[rank].inputs + output, m, to, st);
}
