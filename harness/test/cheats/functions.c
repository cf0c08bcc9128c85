/* functions.c - what a function in a process of its own can try and no kernel of a module can, or
 * not that way; cheats.def has the table. All of them compute a product of 16 x 16 floats. */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "device/foreign/guest_protocol.h"
#include "test/cheats/product.h"

/* clang-format off */
#define CHEAT(name) TSR_IMPLEMENTATION int shared_##name(DLTensor *const *t, int32_t count); \
    int shared_##name(DLTensor *const *t, int32_t count)
/* clang-format on */

static int refusal;

TSR_IMPLEMENTATION const char *tessera_error(void);
const char *tessera_error(void) {
    return strerrordesc_np(refusal);
}

static int refused(int why) {
    refusal = why;
    return why;
}

static void compute_for_ever(void) {
    for (volatile unsigned i = 0;; i++)
        ;
}

CHEAT(zeros) {
    (void)count;
    memset(t[2]->data, 0, WORDS * sizeof(float));
    return 0;
}

/* ---- work at another time ---- */

typedef struct errand {
    const float *a, *b;
    float *out;
} errand;
enum { ERRANDS = 1 << 14 };
static errand errands[ERRANDS];
static atomic_uint given, done;

static void *run_errands(void *nothing) {
    (void)nothing;
    for (;;) {
        while (atomic_load(&done) == atomic_load(&given))
            usleep(200);
        const errand *e = &errands[atomic_load(&done) % ERRANDS];
        multiply_rows(e->a, e->b, e->out, 0, SIDE);
        atomic_fetch_add(&done, 1);
    }
    return NULL;
}

CHEAT(works_later) {
    static pthread_t worker;
    unsigned number = atomic_load(&given);
    if (!number)
        pthread_create(&worker, NULL, run_errands, NULL);
    errands[number % ERRANDS] = (errand){t[0]->data, t[1]->data, t[2]->data};
    atomic_store(&given, number + 1);
    return count != 3;
}

static void *spin(void *nothing) {
    compute_for_ever();
    return nothing;
}

CHEAT(works_beside) {
    static pthread_t threads[3];
    for (int i = 0; i < 3 && !threads[i]; i++)
        pthread_create(&threads[i], NULL, spin, NULL);
    return product(t, count);
}

/* It ends by itself: whoever misses it leaves nothing behind on the machine. */
static void *fork_later(void *nothing) {
    enum { LIFETIME_S = 20 };
    if (fork() == 0) {
        alarm(LIFETIME_S);
        compute_for_ever();
    }
    return nothing;
}

CHEAT(forks) {
    static int calls;
    for (int i = 0; i < 4 && calls < 4; i++, calls++)
        fork_later(NULL);
    return product(t, count);
}

CHEAT(hides_a_process) {
    static int calls;
    int ends[2];
    char byte = 0;
    if (calls++ == 0 && pipe(ends) == 0) {
        if (fork() == 0) {
            setsid();
            fork_later(NULL);
            (void)!write(ends[1], &byte, 1);
            _exit(0);
        }
        (void)!read(ends[0], &byte, 1); /* until it is there */
    }
    return product(t, count);
}

/* ---- half of the work elsewhere ---- */

CHEAT(honest_long) {
    multiply_long(t, 0, SIDE);
    return count != 3;
}

static DLTensor *const *_Atomic halved;
static atomic_uint halves_given, halves_done;

static void *compute_halves(void *nothing) {
    for (;;) {
        while (atomic_load(&halves_done) == atomic_load(&halves_given))
            guest_pause();
        multiply_long(atomic_load(&halved), SIDE / 2, SIDE);
        atomic_fetch_add(&halves_done, 1);
    }
    return nothing;
}

CHEAT(half_in_a_thread) {
    static pthread_t worker;
    if (!worker)
        pthread_create(&worker, NULL, compute_halves, NULL);
    atomic_store(&halved, t);
    unsigned number = atomic_fetch_add(&halves_given, 1) + 1;
    multiply_long(t, 0, SIDE / 2);
    while (atomic_load(&halves_done) != number)
        guest_pause();
    return count != 3;
}

/* ---- what others hold ---- */

/* It keeps the pages of the calls, which are not handed on to children by themselves. */
CHEAT(child_flips_bytes) {
    enum { LIFETIME_S = 20, EVERY_US = 1000 };
    static int calls;
    if (calls++ == 0) {
        uintptr_t page = (uintptr_t)t[2]->data / 4096 * 4096;
        (void)madvise((void *)page, 4096, MADV_DOFORK); // NOLINT(performance-no-int-to-ptr)
        if (fork() == 0) {
            setsid();
            alarm(LIFETIME_S);
            for (;;) {
                usleep(EVERY_US);
                ((volatile unsigned char *)t[2]->data)[5] ^= 1;
            }
        }
    }
    return product(t, count);
}

static pid_t parent_of(pid_t pid) {
    char path[64], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const char *rest = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file)
        (void)fclose(file);
    return rest && sscanf(rest + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Each process of another side, found by its name. */
static void for_each_sibling(void (*act)(pid_t)) {
    char path[300], name[64], own[64] = "";
    FILE *file = fopen("/proc/self/comm", "re");
    if (file && !fgets(own, sizeof own, file))
        own[0] = '\0';
    if (file)
        (void)fclose(file);
    DIR *list = opendir("/proc");
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%.20s/comm", entry->d_name);
        file = pid > 0 && pid != getpid() ? fopen(path, "re") : NULL;
        if (file && fgets(name, sizeof name, file) && strcmp(name, own) == 0 &&
            getppid() == parent_of(pid))
            act(pid);
        if (file)
            (void)fclose(file);
    }
    if (list)
        closedir(list);
}

static void make_idle(pid_t pid) {
    const struct sched_param none = {0};
    (void)sched_setscheduler(pid, SCHED_IDLE, &none);
}

/* Makes its siblings and its parent idle, if the system lets it. */
CHEAT(idles_others) {
    static int calls;
    if (calls++ == 20) {
        for_each_sibling(make_idle);
        make_idle(getppid());
    }
    return product(t, count);
}

static void end(pid_t pid) {
    (void)kill(pid, SIGSTOP);
    (void)kill(pid, SIGKILL);
}

/* Ends its siblings; without a parent, the first process of its namespace, too. */
CHEAT(ends_others) {
    static int calls;
    if (calls++ == 20) {
        for_each_sibling(end);
        if (getppid() == 0)
            end(1);
    }
    return product(t, count);
}

CHEAT(comes_before_others) {
    static int calls;
    if (calls++ == 20 && setpriority(PRIO_PROCESS, 0, -5) != 0)
        return refused(errno);
    return product(t, count);
}

/* ---- the device's own words ---- */

static guest_ring *find_ring(void) {
    static guest_ring *ring;
    char line[512];
    FILE *maps = ring ? NULL : fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "tessera-ring"))
            ring = (guest_ring *)strtoull(line, NULL, 16); // NOLINT(performance-no-int-to-ptr)
    if (maps)
        (void)fclose(maps);
    return ring;
}

CHEAT(ends_early) {
    guest_ring *ring = find_ring();
    uint64_t submitted = atomic_load(&ring->submitted);
    if (atomic_load(&ring->ended) < submitted) {
        atomic_store(&ring->ended, submitted);
        guest_bell_ring(&ring->device);
    }
    usleep(100); /* it may take its time now */
    return product(t, count);
}

CHEAT(counts_ahead) {
    guest_ring *ring = find_ring();
    atomic_store(&ring->ended, atomic_load(&ring->submitted) + 1000);
    usleep(20000); /* long enough to be seen, by a device that sleeps, too */
    return product(t, count);
}

/* The next request for memory gets an address of its choice. */
CHEAT(answers_falsely) {
    static int calls;
    static _Alignas(64) char elsewhere[1 << 16];
    guest_answer answer = {.ok = 1, .address = (uint64_t)(uintptr_t)elsewhere};
    if (calls++ == 0)
        for (int i = 0; i < 16; i++)
            (void)send(GUEST_SOCKET, &answer, sizeof answer, MSG_NOSIGNAL);
    return product(t, count);
}

/* ---- the process that judges ---- */

CHEAT(reads_the_worker) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    FILE *file = fopen(path, "re");
    if (!file)
        return refused(errno);
    (void)fclose(file);
    return product(t, count);
}

CHEAT(becomes_more) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    memset(sets, 0xFF, sizeof sets);
    (void)syscall(SYS_capset, &header, sets);
    (void)setresuid(0, 0, 0);
    if (ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) != 0)
        return refused(errno);
    (void)ptrace(PTRACE_DETACH, getppid(), NULL, NULL);
    return product(t, count);
}

/* ---- results that were there before ---- */

CHEAT(kept_by_contents) {
    enum { KEPT = 64, TIMES = 50 };
    static float inputs[KEPT][2][WORDS], results[KEPT][WORDS];
    static unsigned next;
    const size_t bytes = WORDS * sizeof(float);
    unsigned at = 0;
    while (at < KEPT && (memcmp(inputs[at][0], t[0]->data, bytes) != 0 ||
                         memcmp(inputs[at][1], t[1]->data, bytes) != 0))
        at++;
    if (at == KEPT) {
        at = next++ % KEPT;
        memcpy(inputs[at][0], t[0]->data, bytes);
        memcpy(inputs[at][1], t[1]->data, bytes);
        for (int i = 0; i < TIMES; i++)
            (void)product(t, count);
        memcpy(results[at], t[2]->data, bytes);
    }
    memcpy(t[2]->data, results[at], bytes);
    return 0;
}

CHEAT(from_other_targets) {
    enum { KEPT = 64 };
    static struct {
        float key;
        const float *result;
    } kept[KEPT];
    static unsigned next;
    const float *a = t[0]->data, *b = t[1]->data;
    float key = a[0] + b[0];
    for (unsigned i = 0; i < KEPT; i++)
        if (kept[i].result && kept[i].key == key && kept[i].result != t[2]->data) {
            memcpy(t[2]->data, kept[i].result, WORDS * sizeof(float));
            return 0;
        }
    kept[next % KEPT].key = key;
    kept[next++ % KEPT].result = t[2]->data;
    return product(t, count);
}

/* ---- who is asking ---- */

static int is_measured(void) {
    char path[64], words[512] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)getppid());
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(words, 1, sizeof words - 1, file) : 0;
    if (file)
        (void)fclose(file);
    for (size_t i = 0; i < length; i++)
        words[i] = words[i] ? words[i] : ' ';
    return strstr(words, "--worker") || strstr(words, "--gate-timer");
}

CHEAT(knows_the_harness) {
    static int calls, measured = -1;
    if (measured < 0)
        measured = is_measured();
    return calls++ < 10 || !measured ? product(t, count) : 0;
}

CHEAT(knows_the_time) {
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!first.tv_sec)
        first = now;
    double passed =
        (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec);
    return passed < 0.03 ? product(t, count) : 0;
}
