/* profile.h - what a context does, told to tools of others while it runs: ranges for NVIDIA's
 * profilers (NVTX), and spans of OpenTelemetry, appended to a file as OTLP in JSON.
 *
 * A policy (policy.h) asks for either; without one nothing is kept, and a call costs a test of a
 * pointer. Spans have a kind each: host (a call of the C ABI), copy, comm (between devices), and of
 * a launch its phases, mma, reduce, map and copy (phases.def). They are written when a batch is
 * full and when the context ends; a file that takes no more is told once in the log, and no launch
 * fails of it. */
#ifndef TESSERA_RUNTIME_PROFILE_H
#define TESSERA_RUNTIME_PROFILE_H

#include "device/device.h"
#include "metadata.h"
#include "policy.h"

typedef struct profile profile;

/* *out is NULL where the policy asks for nothing. STATUS_UNAVAILABLE where there is no library of
 * NVTX, STATUS_INVALID where the file of the spans cannot be written. */
bool profile_open(const policy *p, const device *d, profile **out, status *st);
void profile_close(profile *p); /* NULL: nothing to do */
/* Are launches to be timed? */
bool profile_times(const profile *p);

/* A launch that ended; `image`: the code that ran, with the names of its phases, or NULL. */
void profile_launch(profile *p, const device_times *times, const metadata_image *image);

/* A call, on the thread that makes it. */
typedef struct profile_call {
    profile *of; /* NULL: nobody asks */
    const char *name, *kind;
    uint64_t start_ns;
} profile_call;

void profile_call_begin(profile_call *call, const char *name);
void profile_call_end(const profile_call *call, uint64_t bytes);

/* `name`: of a kernel, or what is done; it lives until the end. */
static inline profile_call profile_begin(profile *p, const char *kind, const char *name) {
    profile_call call = {.of = p, .kind = kind, .name = name};
    if (p)
        profile_call_begin(&call, name);
    return call;
}
static inline void profile_end(const profile_call *call, uint64_t bytes) {
    if (call->of)
        profile_call_end(call, bytes);
}

#endif
