/* cuda_library.c - the libraries of CUDA's driver and of HIP: opening them, what their results
 * mean, and the GPUs that they have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda.h"
#include "device/shared/library.h"

static const char *const cuda_names[] = {"libcuda.so.1", NULL};
static const char *const hip_names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "/opt/rocm/lib/libamdhip64.so", "libamdhip64.so", NULL};

cuda_library cuda_library_cuda = {
    .backend = "cuda",
    .variable = CUDA_LIBRARY,
    .what =
        "NVIDIA's driver (Debian: libcuda1 and the module nvidia; " CUDA_LIBRARY " names another)",
    .names = cuda_names,
    .mutex = PTHREAD_MUTEX_INITIALIZER};
cuda_library cuda_library_hip = {
    .backend = "hip",
    .variable = HIP_LIBRARY,
    .what =
        "AMD's HIP (ROCm 6.0 or later, its package hip-runtime-amd; " HIP_LIBRARY " names another)",
    .names = hip_names,
    .is_hip = true,
    .mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- results ---- */

static const struct {
    int result;
    status_code code;
    const char *advice;
} results[] = {
#define RESULT(number, code, advice) {number, STATUS_##code, advice},
#include "device/cuda/cuda_results.def"
#undef RESULT
};
enum { RESULT_COUNT = sizeof results / sizeof results[0] };

bool cuda_failed(const cuda_functions *call, int result, const char *doing, status *st) {
    const char *name = NULL, *advice = "";
    status_code code = STATUS_INTERNAL;
    if (call->error_name(result, &name) != CUDA_OK || !name)
        name = "a result without a name";
    for (int i = 0; i < RESULT_COUNT; i++) {
        if (results[i].result != result)
            continue;
        code = results[i].code;
        advice = results[i].advice;
    }
    return status_set(st, code, "%s: %s (%d)%s", doing, name, result, advice);
}

/* ---- what a GPU says of itself ---- */

typedef enum cuda_attribute {
    ATTRIBUTE_THREADS, /* most of a workgroup */
    ATTRIBUTE_GRID,    /* most workgroups of a launch */
    ATTRIBUTE_UNITS,
    ATTRIBUTE_SHARED, /* bytes that a workgroup can have; on NVIDIA where it asks for them */
    ATTRIBUTE_MAJOR,
    ATTRIBUTE_MINOR,
    ATTRIBUTE_MANAGED, /* host and device use managed memory at the same time */
    ATTRIBUTE_CLOCK,   /* kHz of what HIP's events count; CUDA's count half microseconds */
    ATTRIBUTE_COUNT
} cuda_attribute;

static const int attribute_numbers[ATTRIBUTE_COUNT][2] = {
    [ATTRIBUTE_THREADS] = {1, 56}, [ATTRIBUTE_GRID] = {5, 29},      [ATTRIBUTE_UNITS] = {16, 63},
    [ATTRIBUTE_SHARED] = {97, 74}, [ATTRIBUTE_MAJOR] = {75, 23},    [ATTRIBUTE_MINOR] = {76, 61},
    [ATTRIBUTE_MANAGED] = {89, 9}, [ATTRIBUTE_CLOCK] = {-1, 10017},
};

/* 0 where the library does not say. */
static int attribute(const cuda_library *l, const cuda_unit *u, cuda_attribute which) {
    int value = 0, number = attribute_numbers[which][l->is_hip];
    bool told = number >= 0 && l->call.device_attribute(&value, number, u->handle) == CUDA_OK;
    return told && value > 0 ? value : 0;
}

static void add_target(cuda_unit *u, uint32_t *count, const char *format, const char *chip) {
    if (*count == DEVICE_TARGETS_MAX)
        return;
    snprintf(u->targets[*count], CUDA_TARGET_BYTES, "%s/%s", format, chip);
    u->info.targets[*count] = u->targets[*count];
    ++*count;
}

/* PTX runs on its chip and on all later ones; that of an "a" on its chip alone. */
static void find_chip_of_nvidia(const cuda_library *l, cuda_unit *u) {
    static const struct {
        int capability;
        bool alone;
        const char *chip;
    } chips[] = {{90, true, "sm_90a"}, {90, false, "sm_90"}, {89, false, "sm_89"},
                 {86, false, "sm_86"}, {80, false, "sm_80"}, {75, false, "sm_75"}};
    int major = attribute(l, u, ATTRIBUTE_MAJOR), minor = attribute(l, u, ATTRIBUTE_MINOR);
    int capability = 10 * major + minor;
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (chips[i].alone ? capability == chips[i].capability : capability >= chips[i].capability)
            add_target(u, &count, "ptx", chips[i].chip);
    if (count == 0)
        snprintf(u->why, sizeof u->why,
                 "its compute capability is %d.%d, and code is made for 7.5 and later", major,
                 minor);
}

/* hipDeviceProp_tR0600 as far as it counts: ROCm 6 gave the function that fills it a name of its
 * own, which stands for this layout. */
static void find_chip_of_amd(const cuda_library *l, cuda_unit *u) {
    enum { PROPERTIES_BYTES = 1472, NAME_AT = 1160, ROOM_BYTES = 4096 };
    char *properties = calloc(1, ROOM_BYTES);
    uint32_t count = 0;
    _Static_assert(NAME_AT + CUDA_TARGET_BYTES < PROPERTIES_BYTES, "the name is within");
    if (properties && l->call.device_properties(properties, u->ordinal) == CUDA_OK) {
        char *chip = properties + NAME_AT; /* "gfx90a:sramecc+:xnack-" */
        chip[CUDA_TARGET_BYTES - sizeof "hsaco/"] = '\0';
        chip[strcspn(chip, ":")] = '\0';
        if (strncmp(chip, "gfx", 3) == 0)
            add_target(u, &count, "hsaco", chip);
    }
    if (count == 0)
        snprintf(u->why, sizeof u->why, "HIP does not say which chip it is (gcnArchName)");
    free(properties);
}

static uint64_t timestamp_ns(const cuda_library *l, const cuda_unit *u) {
    enum { CUDA_STEP_NS = 500, NS_KHZ = 1000000 };
    int khz = attribute(l, u, ATTRIBUTE_CLOCK);
    return !khz ? CUDA_STEP_NS : khz < NS_KHZ ? (uint64_t)(NS_KHZ / khz) : 1;
}

static void find_limits(const cuda_library *l, cuda_unit *u) {
    u->threads_most = attribute(l, u, ATTRIBUTE_THREADS);
    u->workgroups_most = attribute(l, u, ATTRIBUTE_GRID);
    if (!*u->why && (u->threads_most == 0 || u->workgroups_most == 0))
        snprintf(u->why, sizeof u->why,
                 "it says that a workgroup has at most %lld threads and a launch %lld workgroups",
                 (long long)u->threads_most, (long long)u->workgroups_most);
}

static void describe(const cuda_library *l, cuda_unit *u) {
    const uint32_t host =
        1u << DEVICE_MEMORY_PINNED |
        (attribute(l, u, ATTRIBUTE_MANAGED) ? 1u << DEVICE_MEMORY_HOST_VISIBLE : 0);
    size_t bytes = 0;
    if (l->call.device_name(u->name, sizeof u->name - 1, u->handle) != CUDA_OK || !*u->name)
        snprintf(u->name, sizeof u->name, "%s device %d", l->backend, u->ordinal);
    l->call.device_memory(&bytes, u->handle);
    u->info = (device_info){.backend = l->backend,
                            .dlpack_type = l->is_hip ? DLPACK_ROCM : DLPACK_CUDA,
                            .dlpack_index = (uint32_t)u->ordinal,
                            .name = u->name,
                            .compute_units = (uint32_t)attribute(l, u, ATTRIBUTE_UNITS),
                            .memory_bytes = bytes,
                            .memory_kinds = 1u << DEVICE_MEMORY_DEVICE | host,
                            .mappable_kinds = host,
                            .workgroup_memory_bytes = (uint64_t)attribute(l, u, ATTRIBUTE_SHARED),
                            .timestamp_ns = timestamp_ns(l, u),
                            .workgroup_threads = (uint32_t)attribute(l, u, ATTRIBUTE_THREADS),
                            .f32 = DEVICE_ARITHMETIC_NATIVE,
                            .f64 = DEVICE_ARITHMETIC_NATIVE};
    (l->is_hip ? find_chip_of_amd : find_chip_of_nvidia)(l, u);
    find_limits(l, u);
    u->info.isa = u->info.targets[0] ? strchr(u->info.targets[0], '/') + 1 : "none";
    u->info.unavailable = *u->why ? u->why : NULL;
}

/* ---- opening ---- */

static bool find_functions(cuda_library *l, status *st) {
    enum { MOST = sizeof(cuda_functions) / sizeof(void *) };
    library_symbol symbols[MOST];
    size_t count = 0;
    void *library;
#define TAKE(name, symbol)                                                                         \
    symbols[count++] = (library_symbol){symbol, (void **)&l->call.name, false};
#define BOTH(name, cuda, hip, parameters) TAKE(name, l->is_hip ? #hip : #cuda)
#define LATER(name, cuda, hip, parameters)                                                         \
    symbols[count++] = (library_symbol){l->is_hip ? #hip : #cuda, (void **)&l->call.name, true};
#define CUDA(name, cuda, parameters)                                                               \
    if (!l->is_hip)                                                                                \
    TAKE(name, #cuda)
#define HIP(name, hip, parameters)                                                                 \
    if (l->is_hip)                                                                                 \
    TAKE(name, #hip)
#define CUDA_LATER(name, cuda, parameters)                                                         \
    if (!l->is_hip)                                                                                \
        symbols[count++] = (library_symbol){#cuda, (void **)&l->call.name, true};
#include "device/cuda/cuda_functions.def"
#undef TAKE
    return library_open(l->variable, l->names, l->what, symbols, count, &library, st);
}

static bool find_units(cuda_library *l, status *st) {
    int count = 0, result = l->call.init(0);
    if (result == CUDA_OK)
        result = l->call.device_count(&count);
    if (result != CUDA_OK) {
        cuda_failed(&l->call, result, l->is_hip ? "hipInit" : "cuInit", st);
        return status_context(st, "%s finds no device", l->what);
    }
    for (int i = 0; i < count && l->unit_count < CUDA_UNITS_MAX; i++) {
        cuda_unit *u = &l->units[l->unit_count];
        *u = (cuda_unit){.ordinal = i};
        if (l->call.device_get(&u->handle, i) != CUDA_OK)
            continue;
        describe(l, u);
        l->unit_count++;
    }
    return l->unit_count > 0 || status_set(st, STATUS_UNAVAILABLE, "%s has no device", l->what);
}

const cuda_unit *cuda_unit_at(cuda_library *l, uint32_t index) {
    pthread_mutex_lock(&l->mutex);
    if (!l->opened && find_functions(l, &l->failure))
        (void)find_units(l, &l->failure);
    l->opened = true;
    pthread_mutex_unlock(&l->mutex);
    return index < l->unit_count ? &l->units[index] : NULL;
}
