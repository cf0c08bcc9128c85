/* probe.c - ranks that send each other messages of all sizes, and measure it.
 *
 * Threads of this process, or processes of this program: those of shm are started here, those of
 * MPI by mpirun. Rank 0 has the results, and a process writes them to a file. */
#include "comm/probe.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "comm/comm.h"
#include "common/scratch_folder.h"
#include "launch/mpirun.h"
#include "process/child.h"
#include "statistics/statistics.h"

enum { SAMPLES_MAX = 9, QUICK_SAMPLES = 3, SUM_BYTES = 4 << 20, RESULT_BYTES_MAX = 1 << 20 };
#define BYTES_MAX (UINT64_C(64) << 20)
#define QUICK_BYTES_MAX (UINT64_C(1) << 20)
#define TIMEOUT_NS UINT64_C(60000000000)

typedef struct probe_rank {
    comm *ranks;
    bool quick;
    uint64_t number;          /* of the next exchange */
    unsigned char *from, *to; /* BYTES_MAX each, touched */
    probe_result *out;        /* of rank 0 */
    status st;
} probe_rank;

/* ---- patterns ---- */

uint32_t probe_messages(probe_pattern p, uint32_t ranks) {
    return p == PROBE_ALL ? ranks - 1 : 1;
}

double probe_pairs(probe_pattern p, uint32_t ranks) {
    return p == PROBE_PAIR ? 1 : p == PROBE_PAIRS ? ranks / 2 : ranks * (ranks - 1.0) / 2;
}

/* With two ranks all patterns are one, with three two. */
static bool is_another(probe_pattern p, uint32_t ranks) {
    return p == PROBE_PAIR || (p == PROBE_PAIRS ? ranks / 2 > 1 : ranks > 2);
}

static bool sends(const comm *c, probe_pattern p, uint32_t other) {
    const uint32_t low = c->rank < other ? c->rank : other;
    if (other == c->rank)
        return false;
    return p == PROBE_ALL || ((c->rank ^ other) == 1 && (p == PROBE_PAIRS || low == 0));
}

/* ---- measuring ---- */

static bool exchange(probe_rank *r, probe_pattern p, uint64_t bytes) {
    comm *c = r->ranks;
    comm_message *messages = base_calloc(c->count, sizeof *messages);
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (sends(c, p, i)) {
            messages[count] = (comm_message){i, r->from, r->to + count * bytes, bytes, bytes};
            count++;
        }
    const bool ok = comm_exchange(c, ++r->number, messages, count, &r->st);
    free(messages);
    return ok;
}

static uint32_t repeats_of(uint64_t bytes) {
    return bytes <= 4096 ? 256 : bytes <= (256 << 10) ? 8 : 1;
}

static bool time_exchanges(probe_rank *r, probe_pattern p, uint64_t bytes, double *ns) {
    const uint32_t repeats = repeats_of(bytes);
    if (!exchange(r, PROBE_ALL, 1)) /* all begin */
        return false;
    const uint64_t start = clock_now_ns();
    for (uint32_t i = 0; i < repeats; i++)
        if (!exchange(r, p, bytes))
            return false;
    *ns = (double)(clock_now_ns() - start) / repeats;
    return true;
}

/* f32, as kernels of sums add: from two places to a third. */
static bool time_sum(probe_rank *r, double *ns) {
    const float *a = (const float *)r->from, *b = (const float *)r->from + SUM_BYTES / 4;
    float *to = (float *)r->to;
    if (!exchange(r, PROBE_ALL, 1))
        return false;
    const uint64_t start = clock_now_ns();
    for (size_t i = 0; i < SUM_BYTES / 4; i++)
        to[i] = a[i] + b[i];
    *ns = (double)(clock_now_ns() - start) / SUM_BYTES;
    return true;
}

/* Takes of each sample the slowest rank; rank 0 has the median of these. */
static bool gather(probe_rank *r, const double *samples, uint32_t count, double *median) {
    comm *c = r->ranks;
    double(*all)[SAMPLES_MAX] = base_calloc(c->count, sizeof *all), slowest[SAMPLES_MAX];
    comm_message *messages = base_calloc(c->count, sizeof *messages);
    for (uint32_t i = 0; i < c->count; i++)
        messages[i] =
            (comm_message){i, samples, all[i], count * sizeof **all, count * sizeof **all};
    const bool ok = comm_exchange(c, ++r->number, messages, c->count, &r->st);
    for (uint32_t k = 0; k < count; k++) {
        slowest[k] = 0;
        for (uint32_t i = 0; i < c->count; i++)
            slowest[k] = all[i][k] > slowest[k] ? all[i][k] : slowest[k];
    }
    *median = statistics_of(slowest, count).median;
    free(all);
    free(messages);
    return ok;
}

static uint32_t samples_of(const probe_rank *r) {
    return r->quick ? QUICK_SAMPLES : SAMPLES_MAX;
}

static bool measure(probe_rank *r, probe_pattern p, uint64_t bytes, double *median) {
    double samples[SAMPLES_MAX];
    if (!time_exchanges(r, p, bytes, samples)) /* warm */
        return false;
    for (uint32_t i = 0; i < samples_of(r); i++)
        if (!time_exchanges(r, p, bytes, &samples[i]))
            return false;
    return gather(r, samples, samples_of(r), median);
}

static bool measure_sum(probe_rank *r, double *median) {
    double samples[SAMPLES_MAX];
    for (uint32_t i = 0; i < samples_of(r); i++)
        if (!time_sum(r, &samples[i]))
            return false;
    return gather(r, samples, samples_of(r), median);
}

/* 8 bytes to the most, by factors of 8; the memory of a rank bounds what it receives. */
static bool measure_all(probe_rank *r) {
    const uint32_t ranks = r->ranks->count;
    const uint64_t most = r->quick ? QUICK_BYTES_MAX : BYTES_MAX;
    probe_result *out = r->out;
    for (int p = 0; p < PROBE_PATTERN_COUNT; p++)
        for (uint64_t bytes = 8; bytes && is_another((probe_pattern)p, ranks);
             bytes = bytes == most      ? 0
                     : bytes * 8 > most ? most
                                        : bytes * 8) {
            probe_cell *c = &out->cells[out->cell_count];
            if (bytes * probe_messages((probe_pattern)p, ranks) > BYTES_MAX)
                break;
            *c = (probe_cell){.pattern = (probe_pattern)p, .bytes = bytes};
            if (!measure(r, c->pattern, bytes, &c->ns))
                return false;
            out->cell_count++;
        }
    return measure_sum(r, &out->sum_ns);
}

static bool take_part(const char *transport, const comm_options *o, bool quick, probe_result *out,
                      status *st) {
    probe_rank r = {.quick = quick, .out = out, .st = STATUS_INIT};
    r.ranks = comm_open(transport, o, st);
    if (!r.ranks)
        return false;
    r.from = base_malloc(BYTES_MAX);
    r.to = base_malloc(BYTES_MAX);
    memset(r.from, 0, BYTES_MAX);
    memset(r.to, 0, BYTES_MAX);
    *out = (probe_result){.ranks = o->count};
    snprintf(out->transport, sizeof out->transport, "%s", transport);
    const bool ok = measure_all(&r);
    if (!ok)
        *st = r.st;
    free(r.from);
    free(r.to);
    comm_close(r.ranks);
    return ok;
}

/* ---- ranks that are threads ---- */

typedef struct probe_thread {
    pthread_t thread;
    comm_options options;
    bool quick, ok;
    probe_result result;
    status st;
} probe_thread;

static void *run_thread(void *context) {
    probe_thread *t = context;
    t->ok = take_part("threads", &t->options, t->quick, &t->result, &t->st);
    return NULL;
}

static bool run_threads(uint32_t ranks, bool quick, probe_result *out, status *st) {
    probe_thread *all = base_calloc(ranks, sizeof *all);
    bool ok = true;
    for (uint32_t i = 0; i < ranks; i++) {
        all[i].options = (comm_options){"probe", i, ranks, TIMEOUT_NS};
        all[i].quick = quick;
        if (pthread_create(&all[i].thread, NULL, run_thread, &all[i]) != 0)
            base_out_of_memory(0); /* others wait for it */
    }
    for (uint32_t i = 0; i < ranks; i++)
        pthread_join(all[i].thread, NULL);
    for (uint32_t i = 0; i < ranks && ok; i++) {
        ok = all[i].ok;
        if (!ok)
            *st = all[i].st;
    }
    *out = all[0].result;
    free(all);
    return ok;
}

/* ---- ranks that are processes ---- */

/* TRANSPORT NAME RANK COUNT quick|full FILE; the rank of one that mpirun started is its own. */
enum { WORD_TRANSPORT, WORD_NAME, WORD_RANK, WORD_COUNT, WORD_FORM, WORD_FILE, WORDS };

int probe_rank_serve(int count, char *const *words) {
    status st = STATUS_INIT;
    probe_result out = {0};
    if (count != WORDS)
        return 1;
    const char *number = strcmp(words[WORD_RANK], "-") == 0 ? mpirun_number() : words[WORD_RANK];
    const comm_options o = {.name = words[WORD_NAME],
                            .rank = (uint32_t)strtoul(number ? number : "0", NULL, 10),
                            .count = (uint32_t)strtoul(words[WORD_COUNT], NULL, 10),
                            .timeout_ns = TIMEOUT_NS};
    bool ok =
        take_part(words[WORD_TRANSPORT], &o, strcmp(words[WORD_FORM], "quick") == 0, &out, &st);
    const file_part parts[] = {{&ok, sizeof ok}, {&st, sizeof st}, {&out, sizeof out}};
    if (o.rank == 0 || !ok) /* the first failure is told */
        ok = file_write_parts(words[WORD_FILE], parts, 3, &st) && ok;
    return ok ? 0 : 1;
}

static bool read_result(const char *path, probe_result *out, status *st) {
    char *data = NULL;
    size_t size = 0;
    status ignored = STATUS_INIT, theirs;
    bool ok;
    if (!file_read(path, RESULT_BYTES_MAX, &data, &size, &ignored) ||
        size != sizeof ok + sizeof theirs + sizeof *out) {
        free(data);
        return status_set(st, STATUS_UNAVAILABLE, "the ranks ended without a result");
    }
    memcpy(&ok, data, sizeof ok);
    memcpy(&theirs, data + sizeof ok, sizeof theirs);
    memcpy(out, data + sizeof ok + sizeof theirs, sizeof *out);
    free(data);
    if (!ok)
        *st = theirs;
    return ok;
}

/* Nothing but what is safe between fork and exec. */
static _Noreturn void become(const char *const *words) {
    char *all[WORDS + 3] = {(char *)(uintptr_t) "tsr", (char *)(uintptr_t) "--probe-rank"};
    for (int i = 0; i < WORDS; i++)
        all[2 + i] = (char *)(uintptr_t)words[i];
    execv("/proc/self/exe", all);
    _exit(127);
}

static bool await(pid_t process, const char *what, status *st) {
    child_end end;
    text how;
    if (child_wait(process, &end) && end.how == CHILD_ENDED && end.code == 0)
        return true;
    if (st->code != STATUS_OK)
        return false;
    text_init(&how);
    child_end_text(&end, &how);
    status_set(st, STATUS_UNAVAILABLE, "%s %s", what, how.data);
    text_release(&how);
    return false;
}

static bool run_processes(const char *transport, const char *file, uint32_t ranks, bool quick,
                          status *st) {
    char name[48], count[12];
    pid_t *processes = base_calloc(ranks, sizeof *processes);
    bool ok = true;
    snprintf(name, sizeof name, "probe-%d", (int)getpid());
    snprintf(count, sizeof count, "%u", ranks);
    for (uint32_t i = 0; i < ranks; i++) {
        char rank[12];
        snprintf(rank, sizeof rank, "%u", i);
        processes[i] = child_fork();
        if (processes[i] == 0)
            become((const char *const[]){transport, name, rank, count, quick ? "quick" : "full",
                                         file});
    }
    for (uint32_t i = 0; i < ranks; i++)
        ok = processes[i] > 0 && await(processes[i], "a rank", st) && ok;
    free(processes);
    return ok;
}

static bool run_mpi(const char *file, uint32_t ranks, bool quick, status *st) {
    char count[12];
    snprintf(count, sizeof count, "%u", ranks);
    const pid_t starter = child_fork();
    if (starter == 0)
        mpirun_become(ranks, (const char *const[]){"--probe-rank", "mpi", "-", "-", count,
                                                   quick ? "quick" : "full", file, NULL});
    return starter > 0 && await(starter, "mpirun is not there, or it", st);
}

bool probe_run(const char *transport, uint32_t ranks, bool quick, probe_result *out, status *st) {
    scratch_folder folder = {0};
    status how = STATUS_INIT, told = STATUS_INIT;
    text file;
    if (strcmp(transport, "threads") == 0)
        return run_threads(ranks, quick, out, st);
    if (!scratch_folder_open(&folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    text_init(&file);
    text_printf(&file, "%s/result", folder.path);
    bool ok = strcmp(transport, "mpi") == 0
                  ? run_mpi(file.data, ranks, quick, &how)
                  : run_processes(transport, file.data, ranks, quick, &how);
    const bool read = read_result(file.data, out, &told);
    if (!ok || !read)
        *st = !read && file_exists(file.data) ? told : ok ? told : how;
    text_release(&file);
    scratch_folder_close(&folder);
    return ok && read;
}
