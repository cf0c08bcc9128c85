/* telemetry.h - times of the last launches of a context, kept in a ring while enabled. */
#ifndef TESSERA_RUNTIME_TELEMETRY_H
#define TESSERA_RUNTIME_TELEMETRY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"
#include "tessera/tessera.h"

enum { TELEMETRY_KEPT = 2048, TELEMETRY_PHASES = DEVICE_TIMED_PHASES, TELEMETRY_NAME_BYTES = 48 };

typedef struct telemetry_record {
    uint64_t serial; /* counts the launches recorded in this context, from 0 */
    char kernel[TELEMETRY_NAME_BYTES];
    uint64_t start_ns; /* of the device's clock; on the host CLOCK_MONOTONIC */
    uint64_t total_ns; /* of all phases */
    uint32_t phases;
    uint64_t phase_ns[TELEMETRY_PHASES]; /* later phases count in total_ns only */
    /* An exchange between ranks, by CLOCK_MONOTONIC; a launch has zeros. */
    uint64_t exchange;  /* its number */
    uint64_t bytes;     /* that are sent and received */
    uint64_t waited_ns; /* the program had nothing else to do */
} telemetry_record;

/* Off at first; off costs nothing per launch. Both are thread-safe. */
void telemetry_enable(tsr_context_t context, bool on);
/* Copies up to `capacity` of the newest records, oldest first; returns how many. */
size_t telemetry_read(tsr_context_t context, telemetry_record *out, size_t capacity);

/* Counts what the context's device holds of memory, what of it is used, and what it recorded; zeros
 * where its driver counts nothing. At any time. */
void telemetry_counts(tsr_context_t context, device_counts *out);

/* The ring itself, inside a context. */
typedef struct telemetry {
    atomic_bool on; /* launches are timed */
    bool keeps;     /* ... for the ring; under the mutex */
    bool always;    /* ... whoever enables it: the context's spans have them */
    pthread_mutex_t mutex;
    telemetry_record *ring; /* TELEMETRY_KEPT, allocated when first enabled */
    uint64_t count;
} telemetry;

void telemetry_init(telemetry *t);
/* From now on launches are timed, whether or not the ring is enabled. */
void telemetry_time_always(telemetry *t);
void telemetry_release(telemetry *t);
void telemetry_add(telemetry *t, const device_times *times);
/* An exchange that ended; the serial is not read. */
void telemetry_add_exchange(telemetry *t, const telemetry_record *exchange);

#endif
