/* pack_call.h - one call of a recorded program (capture/stream.h) as a pack: the kernel that says
 * what it should compute, what went in and came out of it then, and Python that makes the call
 * again. */
#ifndef TESSERA_HARNESS_RUN_PACK_CALL_H
#define TESSERA_HARNESS_RUN_PACK_CALL_H

#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

typedef struct pack_call_request {
    const char *folder, *place; /* "7", or "PID/7" */
    const char *failures;       /* as pack_request has them */
    const char *output;
    uint64_t timeout_seconds, memory_mib;
} pack_call_request;

/* Appends the pack's path, and to `what` how the recorded output stands against the reference. The
 * library is not called. False: no such call, no kernel for it, or its tensors were not kept. */
bool pack_call(const pack_call_request *request, text *path_out, text *what, status *st);

#endif
