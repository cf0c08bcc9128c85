/* mpi_job.c - see mpi_job.h. */
#include "launch/mpi_job.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "common/exit_code.h"
#include "launch/ranks.h"
#include "process/child.h"

/* The job's ranks, for processes that the first one's command starts. */
#define JOB_RANKS "TSR_MPI_JOB_RANKS"
#define COME_NS UINT64_C(60000000000)

enum { BACKLOG = 8, FOLDER_BYTES = 80 };

/* The first byte of a connection says why it is there. */
enum { FOR_LIFE = 'l', FOR_LAUNCH = 'r' };

static int *lines; /* by rank: the connections that they live by */
static uint32_t line_count;
static pid_t own_rank;

/* ---- the job ---- */

static const char *first_of(const char *const *names) {
    const char *value = NULL;
    for (int i = 0; names[i] && !value; i++)
        value = getenv(names[i]); // NOLINT(concurrency-mt-unsafe)
    return value;
}

static uint32_t number_of(const char *words) {
    return words ? (uint32_t)strtoul(words, NULL, 10) : 0;
}

bool mpi_job_here(mpi_job *out) {
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL},
                             *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                                "SLURM_STEP_NUM_TASKS", NULL};
    const char *rank = first_of(ranks);
    *out = (mpi_job){number_of(rank), number_of(first_of(counts))};
    return rank && out->count > 1 && out->rank < out->count;
}

/* Its name as its starter has it. */
static bool folder_of(char folder[FOLDER_BYTES], status *st) {
    static const char *const ids[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID",
                                      "SLURM_STEP_ID", NULL};
    const char *id = first_of(ids), *job = getenv("SLURM_JOB_ID"); // NOLINT(concurrency-mt-unsafe)
    struct stat info;
    if (!id)
        return status_set(st, STATUS_UNAVAILABLE,
                          "this process is a rank of an MPI job that has no name "
                          "(PMIX_NAMESPACE, PMI_JOBID)");
    int length = snprintf(folder, FOLDER_BYTES, "/tmp/tsr-mpi-%u-%s-%.30s", (unsigned)getuid(),
                          job ? job : "0", id);
    for (char *p = folder + strlen("/tmp/"); *p; p++)
        *p = strchr("/. ", *p) ? '-' : *p;
    if (length >= FOLDER_BYTES)
        return status_set(st, STATUS_UNAVAILABLE, "the name of the MPI job is too long");
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return status_set_errno(st, errno, "cannot make %s", folder);
    return (lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == getuid() &&
            (info.st_mode & 077) == 0) ||
           status_set(st, STATUS_UNAVAILABLE, "%s is not this user's alone", folder);
}

static bool address_of(uint32_t rank, struct sockaddr_un *out, status *st) {
    char folder[FOLDER_BYTES];
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!folder_of(folder, st))
        return false;
    snprintf(out->sun_path, sizeof out->sun_path, "%s/%u", folder, rank);
    return true;
}

/* ---- connections ---- */

static int listen_at(uint32_t rank, status *st) {
    struct sockaddr_un at;
    if (!address_of(rank, &at, st))
        return -1;
    (void)unlink(at.sun_path); /* of a job before this one that had its name */
    const int line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line < 0 || bind(line, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(line, BACKLOG) != 0) {
        status_set_errno(st, errno, "cannot listen at %s", at.sun_path);
        if (line >= 0)
            close(line);
        return -1;
    }
    return line;
}

static int try_connect(const struct sockaddr_un *at, char purpose) {
    const int line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line >= 0 && connect(line, (const struct sockaddr *)at, sizeof *at) == 0 &&
        file_append(line, &purpose, 1))
        return line;
    if (line >= 0)
        close(line);
    return -1;
}

/* Waits for a rank that has not come yet. */
static int connect_to(uint32_t rank, char purpose, uint64_t wait_ns, status *st) {
    const struct timespec a_while = {0, 5000000};
    const uint64_t end = clock_now_ns() + wait_ns;
    struct sockaddr_un at;
    if (!address_of(rank, &at, st))
        return -1;
    for (;;) {
        const int line = try_connect(&at, purpose);
        if (line >= 0)
            return line;
        if (clock_now_ns() >= end)
            break;
        nanosleep(&a_while, NULL);
    }
    status_set(st, STATUS_UNAVAILABLE,
               "rank %u of this MPI job cannot be reached: it has ended, or is on another machine",
               rank);
    return -1;
}

uint32_t mpi_job_ranks(void) {
    return number_of(getenv(JOB_RANKS)); // NOLINT(concurrency-mt-unsafe)
}

int mpi_job_connect(uint32_t rank, status *st) {
    return connect_to(rank, FOR_LAUNCH, 0, st);
}

/* ---- a rank ---- */

/* One connection after another, until that which it lives by ends: with a code, or without one. */
static int serve_at(int line) {
    int life = -1;
    unsigned char code = EXIT_ABSENT;
    (void)signal(SIGPIPE, SIG_IGN); // NOLINT(cert-err33-c)
    for (;;) {
        struct pollfd p[] = {{.fd = line, .events = POLLIN}, {.fd = life, .events = POLLIN}};
        char purpose = 0;
        if (poll(p, 2, life < 0 ? (int)(COME_NS / 1000000) : -1) <= 0 && errno != EINTR)
            return EXIT_ABSENT;
        if (life >= 0 && p[1].revents)
            return read(life, &code, 1) == 1 ? code : EXIT_ABSENT;
        if (!p[0].revents)
            continue;
        const int one = accept4(line, NULL, NULL, SOCK_CLOEXEC);
        if (one >= 0 && read(one, &purpose, 1) == 1 && purpose == FOR_LIFE) {
            life = one;
            continue;
        }
        if (purpose == FOR_LAUNCH)
            (void)launch_rank_session(one, one);
        close(one);
    }
}

static int serve_rank(uint32_t rank) {
    status st = STATUS_INIT;
    const int line = listen_at(rank, &st);
    if (line < 0)
        return (int)exit_code_of_status(st.code);
    const int code = serve_at(line);
    close(line);
    return code;
}

int mpi_job_serve(const mpi_job *j) {
    return serve_rank(j->rank);
}

int mpi_job_rank(void) {
    return serve_rank(0);
}

/* ---- the first one ---- */

static bool start_own(status *st) {
    own_rank = child_fork();
    if (own_rank == 0) {
        execl("/proc/self/exe", "tsr", "--job-rank", (char *)NULL);
        _exit(127);
    }
    return own_rank > 0 || status_set_errno(st, errno, "there is no process to be had for rank 0");
}

bool mpi_job_begin(const mpi_job *j, status *st) {
    char count[12];
    bool ok = start_own(st);
    lines = base_calloc(j->count, sizeof *lines);
    for (; ok && line_count < j->count; line_count++) {
        lines[line_count] = connect_to(line_count, FOR_LIFE, COME_NS, st);
        ok = lines[line_count] >= 0;
        if (!ok)
            break;
    }
    snprintf(count, sizeof count, "%u", j->count);
    setenv(JOB_RANKS, count, 1); // NOLINT(concurrency-mt-unsafe)
    return ok;
}

/* Whoever is through with a code other than 0 first has mpirun end the others, this one too. So
 * what was said, and what lies around, is taken care of before. */
void mpi_job_end(int code) {
    const unsigned char told = (unsigned char)code;
    char folder[FOLDER_BYTES];
    struct sockaddr_un at;
    child_end end;
    status ignored = STATUS_INIT;
    (void)fflush(NULL);
    for (uint32_t i = 0; i < line_count && address_of(i, &at, &ignored); i++)
        (void)unlink(at.sun_path);
    if (folder_of(folder, &ignored))
        (void)rmdir(folder);
    for (uint32_t i = 0; i < line_count; i++) {
        (void)file_append(lines[i], &told, 1);
        close(lines[i]);
    }
    if (own_rank > 0)
        (void)child_wait(own_rank, &end);
    free(lines);
    lines = NULL;
    line_count = 0;
}
