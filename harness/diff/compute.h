/* compute.h - runs a graph on a backend, in a process of its own: what crashes or hangs there is a
 * message here. */
#ifndef TESSERA_HARNESS_DIFF_COMPUTE_H
#define TESSERA_HARNESS_DIFF_COMPUTE_H

#include "tessera/compiler.h"

/* The making of a result. Strings are borrowed. */
typedef struct compute_how {
    const char *backend, *device, *profile, *isa; /* NULL: the backend's first; the host's best */
    uint32_t threads;
    const char *fault;    /* made on purpose, or NULL */
    const char *schedule; /* values of schedule parameters, or NULL */
    const compiler_schedule *source_schedule;
    bool part; /* of the kernel: what does not fit of the schedule is left out */
    const char *implementation, *symbol; /* code of others: a path; NULL: ours */
    uint32_t kind;                       /* implementation_kind */
} compute_how;

typedef struct compute_request {
    compiler_instance *instance;
    const char *kernel;
    const tensor *inputs;
    const compiler_signature *signature;
    compute_how how;
    uint64_t timeout_seconds;
} compute_request;

/* Initialises `outputs`, one for each of the signature. */
bool compute_outputs(const compute_request *request, tensor *outputs, status *st);

#endif
