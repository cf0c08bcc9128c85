/* stub_kernels.c - what the entry points of kernels.ptx compute, on this processor, and one that
 * our compiler makes of a kernel `twice_1000`. */
#include <sched.h>
#include <string.h>

#include "test/stub_gpu/stub.h"

enum { A, OUT, WORKSPACE, PREPARED };

static const struct {
    const char *name;
    int from, to;
    float scale, add;
    bool by_table; /* adds 1, 2, 3, 4 in turn */
    size_t count;  /* elements; 0: one for each workgroup */
} maps[] = {
    {"phase_double", A, WORKSPACE, 2, 0, false, 0},
    {"phase_add", WORKSPACE, OUT, 1, 0, true, 0},
    {"phase_twice_prepared", A, PREPARED, 2, 0, false, 0},
    {"phase_add_prepared", PREPARED, OUT, 1, 1, false, 0},
    {"twice_1000_phase_0", A, OUT, 2, 0, false, 1000},
};
enum { MAPS = sizeof maps / sizeof maps[0] };
static const char spin[] = "phase_spin";

static int find(const char *name) {
    int i = 0;
    while (i < MAPS && strcmp(maps[i].name, name) != 0)
        i++;
    return i;
}

bool stub_has_kernel(const char *name) {
    return find(name) < MAPS || strcmp(name, spin) == 0;
}

static unsigned char *resolve(uint64_t address, size_t bytes) {
    pthread_mutex_lock(&stub_state.mutex);
    unsigned char *host = stub_resolve(address, bytes);
    pthread_mutex_unlock(&stub_state.mutex);
    return host;
}

static bool is_ended(void) {
    pthread_mutex_lock(&stub_state.mutex);
    bool ended = stub_state.ended;
    pthread_mutex_unlock(&stub_state.mutex);
    return ended;
}

static bool run_spin(const stub_launch *l) {
    const int32_t *flag = (const void *)resolve(l->arguments[A], sizeof *flag);
    while (flag && __atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0 && !is_ended())
        sched_yield();
    return flag != NULL;
}

bool stub_run(const stub_launch *l) {
    int map = find(l->function->name);
    while (stub_fault("endless", 0) && !is_ended())
        sched_yield();
    if (map == MAPS)
        return run_spin(l);
    size_t count = maps[map].count ? maps[map].count : l->workgroups, bytes = count * sizeof(float);
    const float *from = (const void *)resolve(l->arguments[maps[map].from], bytes);
    float *to = (void *)resolve(l->arguments[maps[map].to], bytes);
    for (size_t i = 0; i < count && from && to; i++)
        to[i] =
            maps[map].scale * from[i] + (maps[map].by_table ? (float)(i % 4 + 1) : maps[map].add);
    return from && to;
}
