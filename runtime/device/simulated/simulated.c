/* simulated.c - see simulated.h. */
#include "device/simulated/simulated.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/host/host.h"
#include "device/host/host_run.h"
#include "device/shared/soft.h"

enum { HOLD_STEP_NS = 40000, HOLD_STEPS = 8 };
static const uint64_t memory_bytes = UINT64_C(1) << 36;

/* The devices themselves: what all that opened one of them share. */
static struct {
    atomic_bool gone;
    atomic_uint_fast64_t commands, memory_used;
} units[SIMULATED_DEVICES_MAX];

typedef struct simulated_device {
    soft_device soft;
    uint32_t index;
    uint64_t faults[SIMULATED_FAULT_COUNT]; /* as they were when it was opened */
    atomic_uint batches;                    /* makes the next one's delay another */
} simulated_device;

typedef struct simulated_queue {
    device_queue base;
    host_runner runner;
} simulated_queue;

extern const device_driver simulated_driver;

uint64_t simulated_memory_used(uint32_t index) {
    return atomic_load(&units[index].memory_used);
}

void simulated_reset(void) {
    for (uint32_t i = 0; i < SIMULATED_DEVICES_MAX; i++) {
        atomic_store(&units[i].gone, false);
        atomic_store(&units[i].commands, 0);
    }
}

static bool enumerate(uint32_t index, device_info *info_out) {
    if (index >= simulated_count())
        return false;
    uint64_t bytes = simulated_fault_of(index, SIMULATED_MEMORY);
    bool kindless = simulated_fault_of(index, SIMULATED_KINDLESS);
    *info_out = (device_info){
        .backend = "simulated",
        .name = simulated_fault_of(index, SIMULATED_NAMELESS) ? NULL : "threads of this process",
        .unavailable = host_unavailable(),
        .compute_units = simulated_fault_of(index, SIMULATED_UNITLESS) ? 0 : 1,
        .memory_bytes = bytes ? bytes : memory_bytes,
        .memory_kinds = kindless ? 0 : (1u << DEVICE_MEMORY_KIND_COUNT) - 1,
        .mappable_kinds = 1u << DEVICE_MEMORY_HOST_VISIBLE | 1u << DEVICE_MEMORY_PINNED,
        .workgroup_memory_bytes = memory_bytes,
        .timestamp_ns = 1,
        .workgroup_threads = 1,
        .f32 = DEVICE_ARITHMETIC_NATIVE,
        .f64 = DEVICE_ARITHMETIC_NATIVE};
    if (simulated_fault_of(index, SIMULATED_ABSENT))
        info_out->unavailable = "it is listed, and not there";
    host_describe_code(info_out);
    if (simulated_fault_of(index, SIMULATED_FOREIGN))
        info_out->targets[0] = "z80-elf/z80";
    return true;
}

/* ---- commands ---- */

static bool gone(soft_device *d, status *why) {
    uint32_t index = ((simulated_device *)d)->index;
    return atomic_load(&units[index].gone) &&
           !status_set(why, STATUS_DEVICE_LOST, "simulated device %u is lost", index);
}

/* With the lock held: until the moment, unless `early` says that somebody waits for the queue.
 * False once the device is lost. */
static bool hold(device_queue *q, uint64_t until_ns, bool early) {
    bool ok = true;
    while (ok && !(early && q->waiting) && clock_now_ns() < until_ns)
        ok = soft_wait(q->device, until_ns);
    return ok && !soft_is_lost(q->device);
}

/* Does what comes before a command, and may keep it from running. */
static bool await_command(device_queue *q, const device_command *c, status *st) {
    simulated_device *s = (simulated_device *)q->device;
    soft_device *d = q->device;
    uint64_t number = atomic_fetch_add(&units[s->index].commands, 1) + 1, now = clock_now_ns();
    uint64_t steps = atomic_fetch_add(&s->batches, 5) % HOLD_STEPS;
    if (number == s->faults[SIMULATED_LOST])
        atomic_store(&units[s->index].gone, true);
    pthread_mutex_lock(&d->mutex);
    bool ok = hold(q, now + steps * HOLD_STEP_NS, true);
    if (ok && number == s->faults[SIMULATED_ENDLESS])
        ok = hold(q, UINT64_MAX, false);
    if (ok && c->kind == DEVICE_COPY && s->faults[SIMULATED_SLOW])
        ok = hold(q, clock_now_ns() + s->faults[SIMULATED_SLOW] * 1000, false);
    if (!ok)
        status_set(st, d->lost.code, "%s", d->lost.message);
    pthread_mutex_unlock(&d->mutex);
    return ok;
}

static bool run(device_queue *q, const device_command *c, status *st) {
    if (!await_command(q, c, st))
        return false;
    if (c->kind == DEVICE_DISPATCH)
        return host_runner_run(&((simulated_queue *)q)->runner, &c->dispatch, st);
    if (c->kind == DEVICE_COPY)
        memmove(c->range.to.address, c->range.from.address, c->range.size_bytes);
    else
        memset(c->range.to.address, c->byte, c->range.size_bytes);
    return true;
}

static bool execute(device_queue *q, const device_command *c, status *st) {
    if (!soft_begin(q, c, st))
        return false;
    bool ok = run(q, c, st);
    soft_end(q, c);
    return ok;
}

/* With the device's lock held, which keeps its queues. */
static void lost(soft_device *d) {
    for (device_queue *q = d->queues; q; q = q->next)
        host_pool_cancel(((simulated_queue *)q)->runner.pool);
}

static const soft_functions functions = {
    .resolve = soft_hidden_resolve, .execute = execute, .gone = gone, .lost = lost};

static bool queue_create(device *d, bool synchronous, device_queue **queue_out, status *st) {
    soft_device *soft = (soft_device *)d;
    simulated_queue *q = base_calloc(1, sizeof *q);
    uint32_t threads = soft->options.threads ? soft->options.threads : 1;
    if (!host_runner_init(&q->runner, &soft->options, threads, soft->clock_start_ns, st)) {
        free(q);
        return false;
    }
    soft_queue_init(&q->base, soft, synchronous);
    *queue_out = &q->base;
    return true;
}

static void queue_destroy(device *d, device_queue *queue) {
    (void)d;
    soft_queue_release(queue);
    host_runner_release(&((simulated_queue *)queue)->runner);
    free(queue);
}

/* ---- memory ---- */

static bool alloc(device *d, size_t size_bytes, device_memory_kind kind, device_memory **memory_out,
                  status *st) {
    simulated_device *s = (simulated_device *)d;
    atomic_uint_fast64_t *used = &units[s->index].memory_used;
    uint64_t limit = s->soft.base.info.memory_bytes;
    uint64_t before = size_bytes <= limit ? atomic_fetch_add(used, size_bytes) : 0;
    if (size_bytes > limit || before > limit - size_bytes) {
        atomic_fetch_sub(used, size_bytes <= limit ? size_bytes : 0);
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for %zu bytes on device %u",
                          size_bytes, s->index);
    }
    if (soft_hidden_make(size_bytes, kind, s->faults[SIMULATED_ASKEW] ? 32 : 0, memory_out, st))
        return true;
    atomic_fetch_sub(used, size_bytes);
    return false;
}

static void release(device *d, device_memory *memory) {
    atomic_fetch_sub(&units[((simulated_device *)d)->index].memory_used, memory->size_bytes);
    soft_hidden_free(d, memory);
}

/* ---- devices ---- */

static bool open_simulated(uint32_t index, const device_options *options, device **device_out,
                           status *st) {
    status why = STATUS_INIT;
    simulated_device *s = base_calloc(1, sizeof *s);
    soft_device_init(&s->soft, &simulated_driver, &functions, options);
    s->index = index;
    s->soft.base.own_addresses = true;                    /* in pages that nobody may touch */
    s->soft.clock_start_ns = clock_now_ns() - 1000000000; /* of no other clock */
    enumerate(index, &s->soft.base.info);
    for (int fault = 0; fault < SIMULATED_FAULT_COUNT; fault++)
        s->faults[fault] = simulated_fault_of(index, (simulated_fault)fault);
    if (gone(&s->soft, &why)) {
        soft_device_release(&s->soft);
        free(s);
        return status_set(st, why.code, "%s", why.message);
    }
    *device_out = &s->soft.base;
    return true;
}

static void close_simulated(device *d) {
    soft_device_release((soft_device *)d);
    free(d);
}

const device_driver simulated_driver = {
    .name = "simulated",
    .listed = true,
    .enumerate = enumerate,
    .open = open_simulated,
    .close = close_simulated,
    SOFT_DRIVER_FUNCTIONS,
    .alloc = alloc,
    .free = release,
    SOFT_HIDDEN_FUNCTIONS,
    .load = host_load,
    .unload = host_unload,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
};
