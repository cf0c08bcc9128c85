/* level_zero_library.c - the loader's functions, what their results mean, and what its GPUs say of
 * themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "device/level_zero/level_zero_parts.h"
#include "device/shared/library.h"

level_zero_functions level_zero;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static VEC(level_zero_unit *) units;
static status absence; /* why there is none */

/* ---- failures ---- */

static const struct {
    uint32_t result;
    const char *name;
    status_code code;
    const char *advice;
} results[] = {
#define RESULT(number, name, code, advice)                                                         \
    {number, "ZE_RESULT_ERROR_" #name, STATUS_##code, advice},
#include "device/level_zero/level_zero_results.def"
#undef RESULT
};

bool level_zero_failed(uint32_t result, const char *doing, status *st) {
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].result == result)
            return status_set(st, results[i].code, "%s: %s (0x%x)%s", doing, results[i].name,
                              result, results[i].advice);
    return status_set(st, STATUS_INTERNAL, "%s: Level Zero's result 0x%x", doing, result);
}

/* ---- what a GPU says of itself ---- */

static bool refuse(level_zero_unit *u, const char *why) {
    snprintf(u->reason, sizeof u->reason, "%s", why);
    return false;
}

/* The first that computes. */
static bool find_queue_group(level_zero_unit *u) {
    enum { MOST = 16 };
    zero_queue_group groups[MOST];
    uint32_t count = MOST;
    for (int i = 0; i < MOST; i++)
        groups[i] = (zero_queue_group){.type = ZERO_TYPE_QUEUE_GROUP};
    if (level_zero.queue_groups(u->handle, &count, groups) != ZERO_OK)
        return false;
    for (uint32_t i = 0; i < count && i < MOST; i++)
        if (groups[i].flags & ZERO_GROUP_COMPUTES && groups[i].queues) {
            u->queue_group = i;
            return true;
        }
    return false;
}

static void find_memory(level_zero_unit *u) {
    enum { MOST = 16 };
    zero_memory_facts memories[MOST];
    zero_access_facts access = {.type = ZERO_TYPE_MEMORY_ACCESS};
    const uint32_t together = ZERO_ACCESS_READ_WRITE | ZERO_ACCESS_CONCURRENT;
    uint32_t count = MOST;
    for (int i = 0; i < MOST; i++)
        memories[i] = (zero_memory_facts){.type = ZERO_TYPE_MEMORY};
    if (level_zero.memory_facts(u->handle, &count, memories) != ZERO_OK)
        count = 0;
    for (uint32_t i = 0; i < count && i < MOST; i++)
        u->info.memory_bytes += memories[i].bytes;
    u->info.memory_kinds = 1u << DEVICE_MEMORY_DEVICE;
    if (level_zero.access_facts(u->handle, &access) != ZERO_OK)
        return;
    if ((access.shared & together) == together)
        u->info.mappable_kinds |= 1u << DEVICE_MEMORY_HOST_VISIBLE;
    if (access.host & ZERO_ACCESS_READ_WRITE)
        u->info.mappable_kinds |= 1u << DEVICE_MEMORY_PINNED;
    u->info.memory_kinds |= u->info.mappable_kinds;
}

static bool find_limits(level_zero_unit *u) {
    zero_compute_facts compute = {.type = ZERO_TYPE_COMPUTE};
    if (level_zero.compute_facts(u->handle, &compute) != ZERO_OK)
        return refuse(u, "its driver does not say how it computes");
    u->info.workgroup_threads =
        compute.threads < compute.threads_x ? compute.threads : compute.threads_x;
    u->workgroups_most = compute.workgroups_x;
    u->info.workgroup_memory_bytes = compute.workgroup_bytes;
    u->spirv.workgroup_bytes = compute.workgroup_bytes;
    u->spirv.workgroup_threads = u->info.workgroup_threads;
    if (!u->info.workgroup_threads || !u->workgroups_most)
        return refuse(u, "its driver says that a workgroup has no threads, or a launch no "
                         "workgroups");
    return find_queue_group(u) || refuse(u, "it has no queue that computes");
}

static bool find_code(level_zero_unit *u) {
    const uint32_t wanted = ZERO_FLOAT_SUBNORMALS | ZERO_FLOAT_TO_NEAREST;
    zero_module_facts facts = {.type = ZERO_TYPE_MODULE_SUPPORT};
    if (level_zero.module_facts(u->handle, &facts) != ZERO_OK || !facts.spirv_version)
        return refuse(u, "it takes no SPIR-V");
    if ((facts.f32 & wanted) != wanted)
        return refuse(u, "it does not round to nearest, or does not keep subnormal numbers");
    u->spirv.lacks_f64 = !(facts.flags & ZERO_MODULE_F64);
    u->spirv.lacks_f16 = !(facts.flags & ZERO_MODULE_F16);
    u->info.f32 = (device_arithmetic)DEVICE_ARITHMETIC_NATIVE; /* tried, before code runs */
    u->info.f64 = u->spirv.lacks_f64 ? (device_arithmetic)DEVICE_ARITHMETIC_NONE
                                     : (device_arithmetic)DEVICE_ARITHMETIC_NATIVE;
    u->arguments_bytes = facts.arguments_bytes;
    return true;
}

static uint64_t mask_of(uint32_t bits) {
    enum { WORD = 64 };
    return bits && bits < WORD ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/* Nanoseconds are too coarse for clocks whose cycles are not whole ones. */
static void find_clock(level_zero_unit *u, const zero_device_facts *facts, bool in_cycles) {
    const double timer = facts->timer ? (double)facts->timer : 1;
    u->tick_ns = in_cycles && facts->timer ? 1e9 / timer : timer;
    u->tick_mask = mask_of(facts->kernel_timestamp_bits);
    u->clock_mask = mask_of(facts->timestamp_bits);
    u->info.timestamp_ns = u->tick_ns < 1 ? 1 : (uint64_t)(u->tick_ns + 0.5);
}

static void describe(level_zero_unit *u, const zero_device_facts *facts) {
    snprintf(u->name, sizeof u->name, "%.*s", (int)sizeof facts->name, facts->name);
    u->allocation_bytes = facts->allocation_bytes;
    u->info = (device_info){.backend = "level_zero",
                            .name = u->name,
                            .isa = "spirv-opencl",
                            .compute_units = facts->slices * facts->subslices_of_slice,
                            .f32 = DEVICE_ARITHMETIC_NATIVE,
                            .f64 = DEVICE_ARITHMETIC_NONE, /* until it says otherwise */
                            .targets = {"spirv/spirv-opencl"}};
    find_memory(u);
}

/* ---- the scan ---- */

static const uint32_t version_1_2 = 1 << 16 | 2;

static void add(void *driver, void *handle, uint32_t version) {
    const bool in_cycles = version >= version_1_2;
    zero_device_facts facts = {.type = in_cycles ? ZERO_TYPE_DEVICE_1_2 : ZERO_TYPE_DEVICE};
    if (level_zero.device_facts(handle, &facts) != ZERO_OK || facts.kind != ZERO_DEVICE_GPU)
        return;
    level_zero_unit *u = base_calloc(1, sizeof *u);
    u->driver = driver;
    u->handle = handle;
    spirv_target_init(&u->spirv, &level_zero_spirv, u->name);
    describe(u, &facts);
    find_clock(u, &facts, in_cycles);
    if (version >> 16 != 1)
        refuse(u, "its driver is of another version of Level Zero than 1");
    else if (find_limits(u))
        find_code(u);
    u->info.unavailable = *u->reason ? u->reason : NULL;
    vec_push(&units, u);
}

static void add_devices_of(void *driver) {
    enum { MOST = 64 };
    void *handles[MOST];
    uint32_t count = MOST, version = 0;
    if (level_zero.driver_version(driver, &version) != ZERO_OK ||
        level_zero.devices(driver, &count, handles) != ZERO_OK)
        return;
    for (uint32_t i = 0; i < count && i < MOST; i++)
        add(driver, handles[i], version);
}

static bool open_library(status *st) {
    static const char *const names[] = {"libze_loader.so.1", NULL};
    const library_symbol symbols[] = {
#define FUNCTION(name, symbol, parameters) {#symbol, (void **)(void *)&level_zero.name, false},
#include "device/level_zero/level_zero_functions.def"
#undef FUNCTION
    };
    void *library;
    return library_open(LEVEL_ZERO_LIBRARY, names,
                        "the Level Zero loader (Debian: libze1; " LEVEL_ZERO_LIBRARY
                        " names another)",
                        symbols, sizeof symbols / sizeof *symbols, &library, st);
}

/* The loader says the same where no driver is installed and where none could begin. */
static bool start(status *st) {
    uint32_t result = level_zero.init(0);
    if (result == ZERO_UNINITIALIZED)
        return status_set(st, STATUS_UNAVAILABLE,
                          "the Level Zero loader has no driver that works here (Intel's GPUs: "
                          "libze-intel-gpu1, or intel-level-zero-gpu)");
    return result == ZERO_OK || level_zero_failed(result, "starting Level Zero", st);
}

static void scan(void) {
    enum { MOST = 16 };
    void *drivers[MOST];
    uint32_t count = MOST;
    if (!open_library(&absence) || !start(&absence))
        return;
    if (level_zero.drivers(&count, drivers) != ZERO_OK)
        count = 0;
    for (uint32_t i = 0; i < count && i < MOST; i++)
        add_devices_of(drivers[i]);
    if (units.count == 0)
        status_set(&absence, STATUS_UNAVAILABLE, "the drivers of Level Zero have no GPU");
}

level_zero_unit *level_zero_unit_at(uint32_t index) {
    pthread_once(&once, scan);
    return index < units.count ? units.items[index] : NULL;
}

void level_zero_absent(status *why) {
    (void)level_zero_unit_at(0);
    if (absence.code != STATUS_OK)
        status_set(why, absence.code, "%s", absence.message);
}
