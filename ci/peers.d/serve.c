/* serve.c - the loop of a peer's program.
 *
 *   prepare KERNEL ARGUMENT...   ok [WORK] | no REASON
 *   run SAMPLES BATCH WARM       times of the samples in ns, each of BATCH calls, after WARM calls
 *   sample                       COUNT SUM-OF-MAGNITUDES VALUE... of the output
 *   quit */
#include "peer.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { BUFFERS_MAX = 32, LINE_BYTES = 4096, SAMPLE_VALUES = 64 };
static const size_t HUGE_PAGE = (size_t)2 << 20;

typedef struct buffer {
    void *data;
    size_t bytes;
} buffer;

static buffer buffers[BUFFERS_MAX];
static int buffer_count;

static const size_t type_bytes[PEER_TYPE_COUNT] = {4, 2, 1, 4};
static const char *const type_names[PEER_TYPE_COUNT] = {"f32", "bf16", "i8", "i32"};

size_t peer_type_bytes(peer_type type) {
    return type_bytes[type];
}

bool peer_refuse(peer_case *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(c->why, sizeof c->why, format, list);
    va_end(list);
    return false;
}

bool peer_type_of(peer_case *c, const char *name, peer_type *type) {
    for (int i = 0; i < PEER_TYPE_COUNT; i++)
        if (name && strcmp(name, type_names[i]) == 0) {
            *type = (peer_type)i;
            return true;
        }
    return peer_refuse(c, "no type is named %s here", name ? name : "(none)");
}

int64_t peer_number(const peer_case *c, int index) {
    return index < c->count ? strtoll(c->words[index], NULL, 10) : 0;
}

void *peer_buffer(size_t bytes) {
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + HUGE_PAGE;
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED || buffer_count == BUFFERS_MAX) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(3);
    }
    buffers[buffer_count++] = (buffer){data, bytes};
    uintptr_t start = ((uintptr_t)data + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *aligned = (void *)start;
    (void)madvise(aligned, bytes - HUGE_PAGE, MADV_HUGEPAGE);
    memset(aligned, 0, bytes - HUGE_PAGE);
    return aligned;
}

static void free_buffers(void) {
    while (buffer_count > 0) {
        buffer_count--;
        munmap(buffers[buffer_count].data, buffers[buffer_count].bytes);
    }
}

/* A mixed 32-bit hash of the element's place (the finaliser of MurmurHash3). */
static uint32_t mixed(int parameter, size_t index) {
    uint32_t h = (uint32_t)index * 2654435761u + (uint32_t)parameter * 0x9e3779b9u + 1u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

/* Multiples of 1/128, which every type here holds exactly but for i8, which takes the 128 times. */
static void put_value(void *to, peer_type type, size_t index, int steps) {
    float value = (float)steps / 128.0f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (type == PEER_F32)
        ((float *)to)[index] = value;
    else if (type == PEER_BF16)
        ((uint16_t *)to)[index] = (uint16_t)(bits >> 16);
    else if (type == PEER_I8)
        ((int8_t *)to)[index] = (int8_t)steps;
    else
        ((int32_t *)to)[index] = steps;
}

void *peer_input(const peer_case *c, int index, peer_type type, size_t count) {
    void *data = peer_buffer(count * type_bytes[type]);
    for (size_t i = 0; i < count; i++) {
        int steps = (int)(mixed(index, i) >> 24);
        put_value(data, type, i, c->positive ? steps / 2 + 1 : steps - 128);
    }
    return data;
}

void *peer_output_buffer(peer_case *c, peer_type type, size_t count) {
    c->output = peer_buffer(count * type_bytes[type]);
    c->output_type = type;
    c->output_count = count;
    return (void *)c->output;
}

static double output_value(const peer_case *c, size_t index) {
    if (c->output_type == PEER_F32)
        return (double)((const float *)c->output)[index];
    if (c->output_type == PEER_I8)
        return ((const int8_t *)c->output)[index];
    if (c->output_type == PEER_I32)
        return ((const int32_t *)c->output)[index];
    uint32_t bits = (uint32_t)((const uint16_t *)c->output)[index] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static void answer_sample(const peer_case *c) {
    double sum = 0;
    for (size_t i = 0; i < c->output_count; i++)
        sum += fabs(output_value(c, i));
    printf("%zu %.9g", c->output_count, sum);
    for (int i = 0; c->output_count > 0 && i < SAMPLE_VALUES; i++)
        printf(" %.9g", output_value(c, mixed(99, (size_t)i) % c->output_count));
    printf("\n");
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void answer_run(int samples, int batch, int warm) {
    for (int i = 0; i < warm; i++)
        peer_run();
    for (int i = 0; i < samples; i++) {
        uint64_t start = now_ns();
        for (int k = 0; k < batch; k++)
            peer_run();
        printf("%.1f ", (double)(now_ns() - start) / batch);
    }
    printf("\n");
}

/* Each thread of a team to a core of its own: the team was asleep together, and wakes on any. */
static void spread_threads(const cpu_set_t *allowed) {
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    int cpu = -1;
    while (tasks && (entry = readdir(tasks))) {
        pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);
        cpu_set_t one;
        if (task == 0)
            continue;
        do
            cpu = (cpu + 1) % CPU_SETSIZE;
        while (!CPU_ISSET(cpu, allowed));
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        (void)sched_setaffinity(task, sizeof one, &one);
    }
    if (tasks)
        closedir(tasks);
}

static void answer_prepare(peer_case *c, char *words, const cpu_set_t *allowed) {
    const char *threads = getenv("PEER_THREADS");
    peer_release();
    free_buffers();
    *c = (peer_case){.threads = threads ? atoi(threads) : 1};
    for (char *rest = words, *word; (word = strtok_r(rest, " ", &rest));) {
        if (strcmp(word, "positive") == 0)
            c->positive = true;
        else if (c->count < PEER_WORDS_MAX - 1)
            c->words[c->count++] = word;
    }
    if (c->count == 0 || !peer_prepare(c))
        printf("no %s\n", c->count ? c->why : "a kernel is missing");
    else
        printf("ok %.17g\n", c->work);
    if (c->threads > 1)
        spread_threads(allowed);
}

int main(void) {
    static char line[LINE_BYTES], words[LINE_BYTES];
    peer_case c = {0};
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the driver stops us, and would leave us stopped */
    printf("%s\n", peer_version());
    while (fflush(stdout) == 0 && fgets(line, sizeof line, stdin)) {
        int samples, batch, warm;
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "prepare ", 8) == 0) {
            memcpy(words, line + 8, sizeof words - 8); /* the case keeps pointers into it */
            answer_prepare(&c, words, &allowed);
        } else if (sscanf(line, "run %d %d %d", &samples, &batch, &warm) == 3) {
            answer_run(samples, batch, warm);
        } else if (strcmp(line, "sample") == 0) {
            answer_sample(&c);
        } else {
            break;
        }
    }
    peer_release();
    free_buffers();
    return 0;
}
