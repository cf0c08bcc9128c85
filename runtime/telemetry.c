/* telemetry.c - the ring of launch times. */
#include "telemetry.h"

#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "runtime.h"

uint64_t telemetry_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void telemetry_init(telemetry *t) {
    *t = (telemetry){0};
    pthread_mutex_init(&t->mutex, NULL);
}

void telemetry_release(telemetry *t) {
    pthread_mutex_destroy(&t->mutex);
    free(t->ring);
}

void telemetry_add(telemetry *t, const telemetry_record *record) {
    pthread_mutex_lock(&t->mutex);
    telemetry_record *slot = &t->ring[t->count % TELEMETRY_KEPT];
    *slot = *record;
    slot->serial = t->count++;
    pthread_mutex_unlock(&t->mutex);
}

void telemetry_enable(tsr_context_t context, bool on) {
    telemetry *t = &context->telemetry;
    pthread_mutex_lock(&t->mutex);
    if (on && !t->ring)
        t->ring = base_calloc(TELEMETRY_KEPT, sizeof *t->ring);
    atomic_store(&t->on, on);
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
