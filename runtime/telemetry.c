/* telemetry.c - the ring of launch times, and what devices count. */
#include "telemetry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime.h"

void telemetry_init(telemetry *t) {
    *t = (telemetry){0};
    pthread_mutex_init(&t->mutex, NULL);
}

void telemetry_release(telemetry *t) {
    pthread_mutex_destroy(&t->mutex);
    free(t->ring);
}

void telemetry_time_always(telemetry *t) {
    t->always = true;
    atomic_store(&t->on, true);
}

static void keep(telemetry *t, const device_times *times) {
    telemetry_record *slot = &t->ring[t->count % TELEMETRY_KEPT];
    *slot = (telemetry_record){.serial = t->count++,
                               .start_ns = times->start_ns,
                               .total_ns = times->total_ns,
                               .phases = times->phases};
    snprintf(slot->kernel, sizeof slot->kernel, "%s", times->label);
    memcpy(slot->phase_ns, times->phase_ns, sizeof slot->phase_ns);
}

void telemetry_add(telemetry *t, const device_times *times) {
    pthread_mutex_lock(&t->mutex);
    if (t->keeps)
        keep(t, times);
    pthread_mutex_unlock(&t->mutex);
}

void telemetry_add_exchange(telemetry *t, const telemetry_record *exchange) {
    pthread_mutex_lock(&t->mutex);
    if (t->keeps) {
        telemetry_record *slot = &t->ring[t->count % TELEMETRY_KEPT];
        *slot = *exchange;
        slot->serial = t->count++;
    }
    pthread_mutex_unlock(&t->mutex);
}

void telemetry_enable(tsr_context_t context, bool on) {
    telemetry *t = &context->telemetry;
    pthread_mutex_lock(&t->mutex);
    if (on && !t->ring)
        t->ring = base_calloc(TELEMETRY_KEPT, sizeof *t->ring);
    t->keeps = on;
    atomic_store(&t->on, on || t->always);
    pthread_mutex_unlock(&t->mutex);
}

size_t telemetry_read(tsr_context_t context, telemetry_record *out, size_t capacity) {
    telemetry *t = &context->telemetry;
    pthread_mutex_lock(&t->mutex);
    size_t kept = t->count < TELEMETRY_KEPT ? (size_t)t->count : TELEMETRY_KEPT;
    size_t given = kept < capacity ? kept : capacity;
    for (size_t i = 0; i < given; i++)
        out[i] = t->ring[(t->count - given + i) % TELEMETRY_KEPT];
    pthread_mutex_unlock(&t->mutex);
    return given;
}

void telemetry_counts(tsr_context_t context, device_counts *out) {
    *out = (device_counts){0};
    if (context->device->driver->count)
        context->device->driver->count(context->device, out);
}
