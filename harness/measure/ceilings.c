/* ceilings.c - runs the loops of ceiling_kernels.c on N threads at once and keeps the rates. */
#include "measure/ceilings.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "common/say.h"
#include "common/timer.h"
#include "device/host/host.h"
#include "measure/cache_size.h"
#include "measure/ceiling_kernels.h"
#include "measure/cpu_feature.h"

enum {
    SAMPLES_LEAST = 2,
    SAMPLES_QUICK = 3,
    SAMPLES_FULL = 11,
    THREADS_MAX = 256,
    LOOPS_MAX = 16,
    SET_STEP_BYTES = 8192,
    /* a set in memory; quick: a virtual machine is told of all of its host's last cache, and a
     * fresh page is dearer than a pass over it */
    STREAM_BYTES_LEAST = 64 << 20,
    STREAM_BYTES_QUICK = 128 << 20,
    STREAM_BYTES_FULL = 512 << 20
};
static const double SAMPLE_NS_QUICK = 1.5e6, SAMPLE_NS_FULL = 5e6;

/* ---- N threads that run loops, one after the other, between two barriers ---- */
typedef struct gang {
    const ceiling_compute_kernel *compute;          /* one of these, ... */
    const ceiling_memory_kernel *memory[LOOPS_MAX]; /* ... or some of these over the same bytes */
    int loops;
    size_t bytes_per_thread;
    uint32_t threads;
    double sample_ns;
    int samples_most;
    pthread_barrier_t barrier;
    /* written by the leader between barriers */
    int loop, samples;
    uint64_t passes;
    bool stop;
    double moved[THREADS_MAX];
    double rates[LOOPS_MAX]; /* the greatest of each loop */
    bool failed[THREADS_MAX];
} gang;

typedef struct gang_member {
    gang *gang;
    uint32_t index;
} gang_member;

static double run_passes(gang *g, void *data) {
    if (g->compute)
        return g->compute->run(g->passes);
    double moved = 0;
    for (uint64_t i = 0; i < g->passes; i++)
        moved += g->memory[g->loop]->run(data, g->bytes_per_thread);
    return moved;
}

static void *map_buffer(gang *g) {
    if (g->compute)
        return NULL;
    void *data =
        mmap(NULL, g->bytes_per_thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return NULL;
    (void)madvise(data, g->bytes_per_thread, MADV_HUGEPAGE);
    memset(data, 1, g->bytes_per_thread);
    return data;
}

static double total_moved(const gang *g) {
    double sum = 0;
    for (uint32_t i = 0; i < g->threads; i++)
        sum += g->moved[i];
    return sum;
}

/* One timed round; all members take part, the leader keeps the rate in units per nanosecond. */
static double timed_round(gang *g, const gang_member *m, void *data) {
    pthread_barrier_wait(&g->barrier);
    uint64_t start = timer_now_ns();
    g->moved[m->index] = run_passes(g, data);
    pthread_barrier_wait(&g->barrier);
    uint64_t took = timer_now_ns() - start;
    return m->index == 0 ? total_moved(g) / (double)(took ? took : 1) : 0;
}

/* Passes until they make a sample. Samples that are far longer than asked for, a pass over a large
 * set being one, are means already: fewer of them do. */
static void take_length(gang *g, double took_ns) {
    g->stop = took_ns >= g->sample_ns;
    double more = 1.1 * g->sample_ns / (took_ns > 1 ? took_ns : 1);
    if (!g->stop)
        g->passes = (uint64_t)ceil((double)g->passes * (more < 4 ? more : 4));
    double most = 4 * g->sample_ns * g->samples_most / took_ns;
    g->samples = most >= g->samples_most ? g->samples_most
                 : most >= SAMPLES_LEAST ? (int)most
                                         : SAMPLES_LEAST;
}

/* Finds how many passes make a sample; step by step, so that the first touch of caches is left
 * behind. The rate of the last round, which was as long as one: the first sample. */
static double calibrate(gang *g, const gang_member *m, void *data) {
    double rate = 0;
    if (m->index == 0)
        g->passes = 1;
    for (int i = 0; i < 40; i++) {
        uint64_t start = timer_now_ns();
        rate = timed_round(g, m, data);
        if (m->index == 0)
            take_length(g, (double)(timer_now_ns() - start));
        pthread_barrier_wait(&g->barrier);
        if (g->stop)
            break;
    }
    return rate;
}

static void run_loop(gang *g, const gang_member *m, void *data, int loop) {
    if (m->index == 0)
        g->loop = loop;
    double rate = calibrate(g, m, data);
    for (int i = 1, samples = g->samples; i <= samples; i++) {
        if (m->index == 0 && rate > g->rates[loop])
            g->rates[loop] = rate;
        if (i < samples)
            rate = timed_round(g, m, data);
    }
}

static void *gang_run(void *argument) {
    gang_member *m = argument;
    gang *g = m->gang;
    void *data = map_buffer(g);
    g->failed[m->index] = !g->compute && !data;
    pthread_barrier_wait(&g->barrier);
    bool failed = false;
    for (uint32_t i = 0; i < g->threads; i++)
        failed |= g->failed[i];
    for (int loop = 0; !failed && loop < g->loops; loop++)
        run_loop(g, m, data, loop);
    if (data)
        munmap(data, g->bytes_per_thread);
    return NULL;
}

/* Leaves the greatest rates over the samples in g->rates, in units a nanosecond (G/s): what others
 * take is no ceiling. */
static bool gang_measure(gang *g, status *st) {
    pthread_t others[THREADS_MAX];
    gang_member members[THREADS_MAX];
    uint32_t started = 1;
    pthread_barrier_init(&g->barrier, NULL, g->threads);
    for (; started < g->threads; started++) {
        members[started] = (gang_member){g, started};
        if (pthread_create(&others[started], NULL, gang_run, &members[started]) != 0) {
            /* Those already started wait at a barrier that can never fill. */
            say(stderr, "tsr: cannot start %u threads\n", g->threads);
            abort();
        }
    }
    members[0] = (gang_member){g, 0};
    gang_run(&members[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(others[i], NULL);
    pthread_barrier_destroy(&g->barrier);
    for (uint32_t i = 0; i < g->threads; i++)
        if (g->failed[i])
            return status_set(st, STATUS_OUT_OF_MEMORY, "no memory to measure bandwidth with");
    return true;
}

/* ---- the table of ceilings ---- */
/* c->count where there is none of that name. */
static size_t index_of(const ceilings *c, const char *resource) {
    size_t i = 0;
    while (i < c->count && strcmp(c->items[i].resource, resource) != 0)
        i++;
    return i;
}

void ceilings_put(ceilings *c, const char *resource, const char *profile, double value,
                  const char *unit) {
    size_t index = index_of(c, resource);
    if (index == CEILINGS_MAX)
        return;
    ceiling *item = &c->items[index];
    if (index < c->count) {
        item->stored &= value <= item->value;
        item->value = value > item->value ? value : item->value;
        return;
    }
    c->count++;
    *item = (ceiling){.profile = profile, .value = value, .unit = unit};
    snprintf(item->resource, sizeof item->resource, "%s", resource);
}

const ceiling *ceilings_find(const ceilings *c, const char *resource) {
    size_t index = index_of(c, resource);
    return index < c->count ? &c->items[index] : NULL;
}

void ceilings_init(ceilings *c, const char *isa) {
    memset(c, 0, sizeof *c);
    c->isa = isa ? isa : host_isa();
    c->levels[0] = (ceiling_level){"L1", cache_size(1), false};
    c->levels[1] = (ceiling_level){"L2", cache_size(2), false};
    c->levels[2] = (ceiling_level){"L3", cache_size(3), true};
    c->levels[3] = (ceiling_level){"DRAM", UINT64_MAX, true};
    c->level_count = CEILING_LEVELS;
}

/* Bytes to measure a level with, in all its instances: half of a private cache, so that nothing
 * else need leave it; of a shared one the middle between the caches before it and its own size,
 * because other tenants may hold the rest; a multiple of the last cache for memory. */
static uint64_t stream_bytes(const ceilings *c, int level, uint32_t threads, bool quick) {
    uint64_t bytes = c->levels[level].size_bytes;
    if (!c->levels[level].shared)
        return bytes / 2 * threads;
    if (level < c->level_count - 1)
        return (uint64_t)sqrt((double)bytes * (double)(c->levels[level - 1].size_bytes * threads));
    bytes = c->levels[level - 1].size_bytes * (quick ? 2 : 4);
    uint64_t most = quick ? STREAM_BYTES_QUICK : STREAM_BYTES_FULL;
    bytes = bytes < STREAM_BYTES_LEAST ? STREAM_BYTES_LEAST : bytes > most ? most : bytes;
    return bytes > host_memory_bytes() / 8 ? host_memory_bytes() / 8 : bytes;
}

static gang *gang_new(uint32_t threads, bool quick) {
    gang *g = base_calloc(1, sizeof *g);
    g->threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    g->samples_most = quick ? SAMPLES_QUICK : SAMPLES_FULL;
    g->sample_ns = quick ? SAMPLE_NS_QUICK : SAMPLE_NS_FULL;
    return g;
}

/* A level with dot products has the vectors, and so the loops, of the one below it. */
static bool is_made_for(const char *kernel_isa, const char *isa) {
    size_t length = strlen(kernel_isa);
    return strncmp(kernel_isa, isa, length) == 0 &&
           (isa[length] == '\0' || strcmp(isa + length, "+dot") == 0);
}

static const ceiling_compute_kernel *compute_kernel(const ceilings *c, const char *element) {
    for (size_t i = 0; i < ceiling_compute_kernel_count; i++) {
        const ceiling_compute_kernel *kernel = &ceiling_compute_kernels[i];
        if (strcmp(kernel->element, element) == 0 && is_made_for(kernel->isa, c->isa) &&
            cpu_has_feature(kernel->feature) && (!kernel->allowed || kernel->allowed()))
            return kernel;
    }
    return NULL;
}

static bool measure_compute(ceilings *c, const char *element, uint32_t threads, bool quick,
                            status *st) {
    const ceiling_compute_kernel *kernel = compute_kernel(c, element);
    if (!kernel)
        return true;
    gang *g = gang_new(threads, quick);
    g->compute = kernel;
    g->loops = 1;
    bool ok = gang_measure(g, st);
    if (ok) {
        char name[CEILING_NAME_BYTES];
        snprintf(name, sizeof name, "compute.%s.t%u", element, threads);
        ceilings_put(c, name, kernel->profile, g->rates[0], kernel->unit);
    }
    free(g);
    return ok;
}

/* Streaming stores go around the caches: they are no ceiling of a core's own. */
static bool kernel_suits(const ceilings *c, const ceiling_memory_kernel *kernel, int level) {
    return is_made_for(kernel->isa, c->isa) &&
           (c->levels[level].shared || !strstr(kernel->operation, "-nt"));
}

/* Runs the loops that suit a level over one set, which the threads share out among them. Owned;
 * NULL if it failed. */
static gang *measure_set(const ceilings *c, int level, uint64_t set_bytes, uint32_t threads,
                         bool quick, status *st) {
    gang *g = gang_new(threads, quick);
    for (size_t i = 0; i < ceiling_memory_kernel_count && g->loops < LOOPS_MAX; i++)
        if (kernel_suits(c, &ceiling_memory_kernels[i], level))
            g->memory[g->loops++] = &ceiling_memory_kernels[i];
    g->bytes_per_thread = (size_t)(set_bytes / threads) & ~(size_t)(SET_STEP_BYTES - 1);
    if (g->bytes_per_thread == 0)
        g->bytes_per_thread = SET_STEP_BYTES;
    if (gang_measure(g, st))
        return g;
    free(g);
    return NULL;
}

static bool measure_memory(ceilings *c, int level, uint32_t threads, bool quick, status *st) {
    uint64_t set_bytes = stream_bytes(c, level, threads, quick);
    gang *g = measure_set(c, level, set_bytes, threads, quick, st);
    for (int i = 0; g && i < g->loops; i++) {
        char name[CEILING_NAME_BYTES];
        snprintf(name, sizeof name, "memory.%s.%s.t%u", c->levels[level].name,
                 g->memory[i]->operation, threads);
        ceilings_put(c, name, NULL, g->rates[i], "GB/s");
    }
    bool ok = g != NULL;
    free(g);
    return ok;
}

/* Nothing where that was done. */
static bool measure_memory_once(ceilings *c, int level, uint32_t threads, bool quick, status *st) {
    char name[CEILING_NAME_BYTES];
    snprintf(name, sizeof name, "memory.%s.read.t%u", c->levels[level].name, threads);
    return ceilings_find(c, name) || measure_memory(c, level, threads, quick, st);
}

static bool measure_compute_once(ceilings *c, const char *element, uint32_t threads, bool quick,
                                 status *st) {
    char name[CEILING_NAME_BYTES];
    snprintf(name, sizeof name, "compute.%s.t%u", element, threads);
    return ceilings_find(c, name) || measure_compute(c, element, threads, quick, st);
}

static const char *const elements[] = {"f32", "f64", "bf16", "i8"};
enum { ELEMENTS = sizeof elements / sizeof elements[0] };

bool ceilings_measure(ceilings *c, uint32_t threads, bool quick, status *st) {
    for (int i = 0; i < ELEMENTS; i++)
        if (!measure_compute_once(c, elements[i], threads, quick, st))
            return false;
    for (int level = 0; level < c->level_count; level++)
        if (!measure_memory_once(c, level, threads, quick, st))
            return false;
    return true;
}

static const char *element_of(dtype type) {
    return type == DTYPE_F64                                 ? "f64"
           : dtype_is_integer(type) && dtype_size(type) == 1 ? "i8"
                                                             : "f32";
}

bool ceilings_measure_needed(ceilings *c, const ceilings_need *need, status *st) {
    bool shared = ceilings_set_is_shared(c, need->set_bytes, need->threads);
    bool pairs = need->type == DTYPE_BF16 && need->dots;
    bool ok = measure_compute_once(c, element_of(need->type), need->threads, true, st) &&
              (!pairs || measure_compute_once(c, "bf16", need->threads, true, st));
    for (int level = 0; level < c->level_count && ok; level++)
        ok = (c->levels[level].shared && !shared) ||
             measure_memory_once(c, level, need->threads, true, st);
    return ok;
}

bool ceilings_probe(ceilings *c, const char *resource, uint32_t threads, status *st) {
    for (int i = 0; i < ELEMENTS; i++)
        if (strncmp(resource, "compute.", 8) == 0 &&
            strncmp(resource + 8, elements[i], strlen(elements[i])) == 0)
            return measure_compute(c, elements[i], threads, false, st);
    for (int level = 0; level < c->level_count; level++) {
        const char *name = c->levels[level].name;
        if (strncmp(resource, "memory.", 7) == 0 && strncmp(resource + 7, name, strlen(name)) == 0)
            return measure_memory(c, level, threads, false, st);
    }
    return status_set(st, STATUS_INTERNAL, "no resource is named %s", resource);
}

const ceiling *ceilings_compute(const ceilings *c, dtype type, bool dots, uint32_t threads) {
    char name[CEILING_NAME_BYTES];
    if (type == DTYPE_BF16 && dots) {
        snprintf(name, sizeof name, "compute.bf16.t%u", threads);
        const ceiling *unit = ceilings_find(c, name);
        if (unit)
            return unit;
    }
    snprintf(name, sizeof name, "compute.%s.t%u", element_of(type), threads);
    return ceilings_find(c, name);
}

static const ceiling *best_at_level(const ceilings *c, int level, uint32_t threads) {
    static const char *const operations[] = {"read", "write", "copy", "copy-nt", "fan-nt"};
    const ceiling *best = NULL;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        char name[CEILING_NAME_BYTES];
        snprintf(name, sizeof name, "memory.%s.%s.t%u", c->levels[level].name, operations[i],
                 threads);
        const ceiling *item = ceilings_find(c, name);
        if (item && (!best || item->value > best->value))
            best = item;
    }
    return best;
}

/* The smallest level that holds the set. */
static int level_of(const ceilings *c, uint64_t set_bytes, uint32_t threads) {
    int level = 0;
    for (; level < c->level_count - 1; level++) {
        uint64_t copies = c->levels[level].shared ? 1 : threads;
        if (set_bytes <= c->levels[level].size_bytes * copies)
            break;
    }
    return level;
}

bool ceilings_set_is_shared(const ceilings *c, uint64_t set_bytes, uint32_t threads) {
    return c->levels[level_of(c, set_bytes, threads)].shared;
}

static void name_of_set(const ceilings *c, uint64_t set_bytes, uint32_t threads,
                        char name[CEILING_NAME_BYTES]) {
    snprintf(name, CEILING_NAME_BYTES, "memory.%s:%" PRIu64 "KiB.t%u",
             c->levels[level_of(c, set_bytes, threads)].name, set_bytes >> 10, threads);
}

/* A last cache shared with other tenants can stream slower than memory behind it; what is nearer is
 * no lower a ceiling than what is further. */
static const ceiling *best_from_level(const ceilings *c, int level, uint32_t threads) {
    const ceiling *best = NULL;
    for (; level < c->level_count; level++) {
        const ceiling *item = best_at_level(c, level, threads);
        if (item && (!best || item->value > best->value))
            best = item;
    }
    return best;
}

bool ceilings_probe_set(ceilings *c, const ceiling_set_probe *probe, status *st) {
    char name[CEILING_NAME_BYTES];
    int level = level_of(c, probe->set_bytes, probe->threads);
    uint64_t most = stream_bytes(c, c->level_count - 1, probe->threads, false);
    uint64_t set_bytes = probe->set_bytes < most ? probe->set_bytes : most;
    gang *g = measure_set(c, level, set_bytes, probe->threads, true, st);
    if (!g)
        return false;
    double best = 0;
    for (int i = 0; i < g->loops; i++)
        best = g->rates[i] > best ? g->rates[i] : best;
    free(g);
    name_of_set(c, probe->set_bytes, probe->threads, name);
    size_t old = index_of(c, name);
    if (old < c->count && !probe->keep_greater)
        c->items[old].value = 0;
    ceilings_put(c, name, NULL, best, "GB/s");
    return true;
}

const ceiling *ceilings_memory(const ceilings *c, uint64_t working_set_bytes, uint32_t threads) {
    char name[CEILING_NAME_BYTES];
    name_of_set(c, working_set_bytes, threads, name);
    const ceiling *own = ceilings_find(c, name);
    return own ? own : best_from_level(c, level_of(c, working_set_bytes, threads), threads);
}
