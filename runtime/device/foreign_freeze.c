/* foreign_freeze.c - guests that do nothing between calls, and what they cost. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/foreign.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static foreign_image *living;
static uint64_t awake_ns; /* of all, until they were last stopped */

void foreign_freeze_enter(foreign_image *image) {
    pthread_mutex_lock(&mutex);
    image->next_living = living;
    living = image;
    image->awake_since_ns = clock_now_ns();
    pthread_mutex_unlock(&mutex);
}

void foreign_freeze_leave(foreign_image *image) {
    pthread_mutex_lock(&mutex);
    for (foreign_image **at = &living; *at; at = &(*at)->next_living)
        if (*at == image) {
            *at = image->next_living;
            awake_ns += image->frozen ? 0 : clock_now_ns() - image->awake_since_ns;
            break;
        }
    image->frozen = false;
    pthread_mutex_unlock(&mutex);
}

/* It has stopped, or ended, when this returns; what is waited for is left to others. */
static void stop(foreign_image *image) {
    siginfo_t about;
    kill(-image->pid, SIGSTOP);
    while (waitid(P_PID, (id_t)image->pid, &about, WSTOPPED | WEXITED | WNOWAIT) != 0 &&
           errno == EINTR)
        ;
    image->frozen = true;
    awake_ns += clock_now_ns() - image->awake_since_ns;
}

void foreign_freeze(void) {
    pthread_mutex_lock(&mutex);
    for (foreign_image *image = living; image; image = image->next_living)
        if (!image->frozen)
            stop(image);
    pthread_mutex_unlock(&mutex);
}

void foreign_thaw(foreign_image *image) {
    pthread_mutex_lock(&mutex);
    if (image->frozen)
        image->awake_since_ns = clock_now_ns();
    if (image->frozen && image->pid)
        kill(-image->pid, SIGCONT);
    image->frozen = false;
    pthread_mutex_unlock(&mutex);
}

/* ---- what they cost ---- */

static uint64_t cpu_ns_of(pid_t pid) {
    clockid_t clock;
    struct timespec t;
    bool known = clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0;
    return known ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

typedef struct thread_time {
    unsigned long long ran_ns, waited_ns;
} thread_time;

/* Those that may not use more processors than they were given wait for each other. */
static bool is_confined(const char *thread, uint32_t threads) {
    cpu_set_t set;
    pid_t id = (pid_t)strtol(thread, NULL, 10);
    return sched_getaffinity(id, sizeof set, &set) == 0 && (uint32_t)CPU_COUNT(&set) <= threads;
}

static thread_time time_of_thread(pid_t pid, const char *thread, uint32_t threads) {
    char path[64];
    thread_time t = {0};
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)pid, thread);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%llu %llu", &t.ran_ns, &t.waited_ns) != 2)
        t = (thread_time){0};
    if (file)
        (void)fclose(file);
    if (is_confined(thread, threads))
        t.waited_ns = 0;
    return t;
}

typedef VEC(thread_time) thread_times;

static int descending(const void *a, const void *b) {
    const thread_time *x = a, *y = b;
    return (x->ran_ns < y->ran_ns) - (x->ran_ns > y->ran_ns);
}

static void add_threads_of(pid_t pid, uint32_t threads, foreign_cpu *sum) {
    char path[64];
    thread_times times = {0};
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        if (entry->d_name[0] != '.')
            vec_push(&times, time_of_thread(pid, entry->d_name, threads));
    if (list)
        closedir(list);
    if (times.count)
        qsort(times.items, times.count, sizeof *times.items, descending);
    for (size_t i = 0; i < times.count; i++) {
        sum->busiest_ns += i < threads ? times.items[i].ran_ns : 0;
        sum->waited_ns += times.items[i].waited_ns;
    }
    vec_release(&times);
}

foreign_cpu foreign_cpu_time(uint32_t threads) {
    foreign_cpu sum = {0};
    pthread_mutex_lock(&mutex);
    sum.awake_ns = awake_ns;
    for (const foreign_image *image = living; image; image = image->next_living) {
        sum.all_ns += cpu_ns_of(image->pid);
        add_threads_of(image->pid, threads, &sum);
        sum.awake_ns += image->frozen ? 0 : clock_now_ns() - image->awake_since_ns;
    }
    pthread_mutex_unlock(&mutex);
    return sum;
}

static bool is_guest(pid_t pid) {
    for (const foreign_image *image = living; image; image = image->next_living)
        if (image->pid == pid)
            return true;
    return false;
}

typedef VEC(pid_t) processes;

static void add_children_of_thread(pid_t pid, const char *thread, processes *out) {
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, thread);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%d", &child) == 1)
        vec_push(out, (pid_t)child);
    if (file)
        (void)fclose(file);
}

static void add_children(pid_t pid, processes *out) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && (entry = readdir(threads)) != NULL;)
        if (entry->d_name[0] != '.')
            add_children_of_thread(pid, entry->d_name, out);
    if (threads)
        closedir(threads);
}

/* All descendants of this process but guests, and those that are spared with theirs. */
static processes left_behind(bool (*spared)(pid_t pid)) {
    enum { MOST = 4096 };
    processes all = {0}, left = {0};
    add_children(getpid(), &all);
    for (size_t i = 0; i < all.count && i < MOST; i++) {
        if (spared && spared(all.items[i]))
            continue;
        if (!is_guest(all.items[i]))
            vec_push(&left, all.items[i]);
        add_children(all.items[i], &all);
    }
    vec_release(&all);
    return left;
}

uint64_t foreign_left_behind_cpu_ns(void) {
    uint64_t sum = 0;
    pthread_mutex_lock(&mutex);
    processes left = left_behind(NULL);
    for (size_t i = 0; i < left.count; i++)
        sum += cpu_ns_of(left.items[i]);
    pthread_mutex_unlock(&mutex);
    vec_release(&left);
    return sum;
}

/* Those that they made meanwhile come to this process, too. */
void foreign_end_left_behind(bool (*spared)(pid_t pid)) {
    enum { ROUNDS_MAX = 100 };
    bool any = true;
    for (int round = 0; any && round < ROUNDS_MAX; round++) {
        pthread_mutex_lock(&mutex);
        processes left = left_behind(spared);
        for (size_t i = 0; i < left.count; i++)
            kill(left.items[i], SIGKILL);
        pthread_mutex_unlock(&mutex);
        for (size_t i = 0; i < left.count; i++)
            (void)waitpid(left.items[i], NULL, 0); /* those that became children of this process */
        any = left.count > 0;
        vec_release(&left);
    }
}

void foreign_keep_apart(void) {
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}
