/* host.c - the driver of this machine's CPU: one device, whose dispatches take turns on a pool of
 * threads. Its addresses are those of the process, and its clock is CLOCK_MONOTONIC. */
#include "device/host/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/host/host_run.h"
#include "device/shared/host_memory.h"
#include "device/shared/soft.h"

/* Whose turn it is: taking and giving are one atomic operation each, unless somebody waits. */
enum { TURN_FREE, TURN_TAKEN, TURN_AWAITED };

typedef struct host_device {
    soft_device soft;
    host_runner runner;
    atomic_uint turn;
} host_device;

extern const device_driver host_driver;

static bool enumerate(uint32_t index, device_info *info_out) {
    const uint32_t all = (1u << DEVICE_MEMORY_KIND_COUNT) - 1;
    if (index > 0)
        return false;
    *info_out = (device_info){.backend = "cpu",
                              .name = host_cpu_name(),
                              .unavailable = host_unavailable(),
                              .compute_units = host_usable_cores(),
                              .memory_bytes = host_memory_bytes(),
                              .memory_kinds = all,
                              .mappable_kinds = all,
                              .host_addressable = true,
                              .dlpack_type = DLPACK_CPU,
                              .workgroup_memory_bytes = host_memory_bytes(),
                              .timestamp_ns = 1,
                              .workgroup_threads = 1,
                              .f32 = DEVICE_ARITHMETIC_NATIVE,
                              .f64 = DEVICE_ARITHMETIC_NATIVE};
    host_describe_code(info_out);
    return true;
}

/* ---- turns ---- */

static bool await_turn(host_device *h, status *st) {
    soft_device *d = &h->soft;
    bool ours = false, lost = false;
    pthread_mutex_lock(&d->mutex);
    while (!lost && !(ours = atomic_exchange(&h->turn, TURN_AWAITED) == TURN_FREE))
        lost = !soft_wait(d, 0);
    if (!ours)
        status_set(st, d->lost.code, "%s", d->lost.message);
    pthread_mutex_unlock(&d->mutex);
    return ours;
}

static bool take_turn(host_device *h, status *st) {
    unsigned expected = TURN_FREE;
    return atomic_compare_exchange_strong(&h->turn, &expected, TURN_TAKEN) || await_turn(h, st);
}

static void give_turn(host_device *h) {
    if (atomic_exchange(&h->turn, TURN_FREE) != TURN_AWAITED)
        return;
    pthread_mutex_lock(&h->soft.mutex);
    pthread_cond_broadcast(&h->soft.changed);
    pthread_mutex_unlock(&h->soft.mutex);
}

/* ---- commands ---- */

static bool dispatch(device_queue *queue, const device_command *c, status *st) {
    host_device *h = (host_device *)queue->device;
    if (!take_turn(h, st))
        return false;
    bool ok = soft_begin(queue, c, st);
    if (ok) {
        ok = host_runner_run(&h->runner, &c->dispatch, st);
        soft_end(queue, c);
    }
    give_turn(h);
    return ok;
}

static bool execute(device_queue *queue, const device_command *c, status *st) {
    if (c->kind == DEVICE_DISPATCH)
        return dispatch(queue, c, st);
    if (!soft_begin(queue, c, st))
        return false;
    if (c->kind == DEVICE_COPY)
        memmove(c->range.to.address, c->range.from.address, c->range.size_bytes);
    else
        memset(c->range.to.address, c->byte, c->range.size_bytes);
    soft_end(queue, c);
    return true;
}

static void lost(soft_device *d) {
    host_pool_cancel(((host_device *)d)->runner.pool);
}

static const soft_functions functions = {
    .execute = execute, .lost = lost, .inline_execution = true};

/* ---- devices ---- */

static bool open_host(uint32_t index, const device_options *options, device **device_out,
                      status *st) {
    if (!host_memory_keep(&options->pools, st))
        return false;
    host_device *h = base_calloc(1, sizeof *h);
    soft_device_init(&h->soft, &host_driver, &functions, options);
    enumerate(index, &h->soft.base.info);
    if (!host_runner_init(&h->runner, &h->soft.options, options->threads, 0, st)) {
        soft_device_release(&h->soft);
        free(h);
        return false;
    }
    *device_out = &h->soft.base;
    return true;
}

static void close_host(device *d) {
    host_device *h = (host_device *)d;
    host_runner_release(&h->runner);
    soft_device_release(&h->soft);
    free(h);
}

const device_driver host_driver = {
    .name = "cpu",
    .listed = true,
    .enumerate = enumerate,
    .open = open_host,
    .close = close_host,
    SOFT_DRIVER_FUNCTIONS,
    SOFT_MEMORY_FUNCTIONS,
    .load = host_load,
    .unload = host_unload,
    SOFT_QUEUE_FUNCTIONS,
};
