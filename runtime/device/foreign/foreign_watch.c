/* foreign_watch.c - reads the processor time of guests, and how the system schedules them. */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/foreign/foreign_parts.h"

static uint64_t cpu_ns_of(pid_t pid) {
    clockid_t clock;
    struct timespec t;
    bool known = clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0;
    return known ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

/* Reads the time of children that it has waited for, exact to one tick of the system. */
static uint64_t ended_children_ns_of(pid_t pid) {
    char path[64], line[1024];
    unsigned long long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    line[length] = '\0';
    if (file)
        (void)fclose(file);
    const char *rest = strrchr(line, ')');
    if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu",
                        &user, &system) != 2)
        return 0;
    return (user + system) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* ---- threads ---- */

typedef struct thread_time {
    unsigned long long ran_ns, waited_ns;
} thread_time;

/* A guest whose threads are counted. */
typedef struct counted {
    pid_t pid;
    uint32_t threads; /* that it was given */
    bool is_bound;
} counted;

/* Threads that the guest bound to no more processors than it was given wait for each other, not for
 * others. Where all of the guest may use no more, that is the machine's choice: the first thread,
 * which may not change its own processors, tells; unless binding them is the guest's rule. */
static bool is_confined(const counted *g, const char *thread) {
    cpu_set_t first, set;
    pid_t id = (pid_t)strtol(thread, NULL, 10);
    return sched_getaffinity(id, sizeof set, &set) == 0 &&
           (uint32_t)CPU_COUNT(&set) <= g->threads &&
           (g->is_bound ||
            (sched_getaffinity(g->pid, sizeof first, &first) == 0 && !CPU_EQUAL(&first, &set)));
}

static thread_time time_of_thread(const counted *g, const char *thread) {
    char path[64];
    thread_time t = {0};
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)g->pid, thread);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%llu %llu", &t.ran_ns, &t.waited_ns) != 2)
        t = (thread_time){0};
    if (file)
        (void)fclose(file);
    if (is_confined(g, thread))
        t.waited_ns = 0;
    return t;
}

typedef VEC(thread_time) thread_times;

static int descending(const void *a, const void *b) {
    const thread_time *x = a, *y = b;
    return (x->ran_ns < y->ran_ns) - (x->ran_ns > y->ran_ns);
}

static void add_threads_of(const counted *g, foreign_cost *sum) {
    char path[64];
    thread_times times = {0};
    snprintf(path, sizeof path, "/proc/%d/task", (int)g->pid);
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        if (entry->d_name[0] != '.')
            vec_push(&times, time_of_thread(g, entry->d_name));
    if (list)
        closedir(list);
    if (times.count)
        qsort(times.items, times.count, sizeof *times.items, descending);
    for (size_t i = 0; i < times.count; i++) {
        sum->busiest_ns += i < g->threads ? times.items[i].ran_ns : 0;
        sum->waited_ns += times.items[i].waited_ns;
    }
    vec_release(&times);
}

/* Adds the time in which it ran to that in which it was ready to run. */
static uint64_t wanted_ns_of(pid_t pid) {
    foreign_cost sum = {0};
    add_threads_of(&(counted){.pid = pid}, &sum);
    return cpu_ns_of(pid) + sum.waited_ns;
}

/* ---- a guest ---- */

static const foreign_image *find(uint64_t number) {
    const foreign_image *image = foreign_living;
    while (image && image->number != number)
        image = image->next_living;
    return image && image->pid ? image : NULL;
}

size_t foreign_guests(uint64_t *numbers, size_t room) {
    size_t count = 0;
    pthread_mutex_lock(&foreign_living_mutex);
    for (const foreign_image *image = foreign_living; image && count < room;
         image = image->next_living)
        numbers[count++] = image->number;
    pthread_mutex_unlock(&foreign_living_mutex);
    return count;
}

bool foreign_cost_of(uint64_t number, uint32_t threads, foreign_cost *out) {
    *out = (foreign_cost){0};
    pthread_mutex_lock(&foreign_living_mutex);
    const foreign_image *image = find(number);
    if (image) {
        out->ended_ns = ended_children_ns_of(image->pid);
        out->all_ns = cpu_ns_of(image->pid);
        add_threads_of(&(counted){image->pid, threads, image->is_bound}, out);
        out->awake_ns =
            image->awake_ns + (image->frozen ? 0 : clock_now_ns() - image->awake_since_ns);
    }
    for (size_t i = 0; i < foreign_started.count; i++)
        if (foreign_started.items[i].owner == number) {
            out->started++;
            out->started_ns += wanted_ns_of(foreign_started.items[i].pid);
            out->memory_is_shared |= foreign_started.items[i].holds_memory;
        }
    pthread_mutex_unlock(&foreign_living_mutex);
    return image != NULL;
}

/* ---- how it is scheduled ---- */

static uint64_t digest_of(const cpu_set_t *set) {
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < sizeof *set; i++)
        digest = (digest ^ ((const unsigned char *)set)[i]) * UINT64_C(0x100000001B3);
    return digest;
}

foreign_thread foreign_thread_of(pid_t id) {
    cpu_set_t set;
    memset(&set, 0, sizeof set);
    (void)sched_getaffinity(id, sizeof set, &set);
    return (foreign_thread){id, sched_getscheduler(id), getpriority(PRIO_PROCESS, (id_t)id),
                            digest_of(&set)};
}

static void schedule_of(pid_t pid, foreign_schedule *out) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *list = opendir(path);
    out->count = 0;
    for (struct dirent *entry;
         list && out->count < FOREIGN_THREADS_MAX && (entry = readdir(list)) != NULL;)
        if (entry->d_name[0] != '.')
            out->threads[out->count++] = foreign_thread_of((pid_t)strtol(entry->d_name, NULL, 10));
    if (list)
        closedir(list);
}

bool foreign_schedule_of(uint64_t number, foreign_thread *born, foreign_schedule *out) {
    out->count = 0;
    pthread_mutex_lock(&foreign_living_mutex);
    const foreign_image *image = find(number);
    if (image) {
        *born = image->born;
        schedule_of(image->pid, out);
    }
    pthread_mutex_unlock(&foreign_living_mutex);
    return out->count > 0;
}
