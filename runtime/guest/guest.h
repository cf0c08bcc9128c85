/* guest.h - the process in which an implementation of others runs, and the kinds of implementation
 * that it can load.
 *
 * A kind opens the file that the description names, and calls it with tensors. It lives as long as
 * the process. */
#ifndef TESSERA_RUNTIME_GUEST_H
#define TESSERA_RUNTIME_GUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/dtype.h"
#include "base/status.h"
#include "base/tensor.h"
#include "device/foreign/guest_protocol.h"
#include "tessera/implementation.h"

/* Fields of a description: JSON {"kind", "path", "symbol", "kernel", "threads", "folder":
 * for the files of a command, "program": the file of a plugin's program, "dims": {NAME: number},
 * "inputs": how many of "tensors" are, "tensors": [{"name", "dtype", "shape", "strides": in
 * elements, and "byte_offset": where they are not one behind the other}]}. */
typedef struct guest_function {
    json_t *description; /* the strings below are borrowed from it */
    const char *kind, *path, *symbol, *kernel;
    uint32_t threads;
    uint32_t inputs, count;
    /* One for each tensor: */
    dtype *types;
    const char **names;
    DLTensor *tensors; /* `data` is that of the call in hand */
    DLTensor **pointers;
    int64_t (*shapes)[TENSOR_MAX_RANK];
    int64_t (*strides)[TENSOR_MAX_RANK]; /* where `tensors` has them */
    void *own;                           /* of the kind */
} guest_function;

typedef struct guest_kind {
    const char *name;
    bool (*open)(guest_function *s, status *st);
    /* Calls it with the tensors of `s`; false with a message, which need not be cleared before. */
    bool (*call)(guest_function *s, status *st);
} guest_kind;

/* Serves until the device ends it; returns the exit code. `kinds` ends with a name of NULL. */
int guest_serve(const guest_kind *kinds);

/* confine.c: from now on this process and those that it starts cannot end `served`, nor change how
 * it is scheduled, as far as the system can refuse it. After no more rights can be had. */
void guest_confine(pid_t served);

/* describe.c: fills `s` from the text of a description. */
bool guest_describe(guest_function *s, const char *json, size_t size_bytes, status *st);
/* The element type as DLPack has it. */
DLDataType guest_dl_type(dtype type);

/* plugin_facts.c: writes JSON to stdout, {"interface", "attributes", "devices": [{"id", "kind",
 * "name"}], "code": a status_code, "why"}: with a `topology` of devices that are not here, else
 * with "platform", "version" and "memories" of each device; with a `program`, a file of StableHLO
 * that is compiled for the topology, "compile_ns", "memory", "cost" and "estimated_cycles", as far
 * as the plugin tells. Ends the process. */
_Noreturn void guest_tell_plugin(const char *path, const char *topology, const char *program);

bool shared_object_open(guest_function *s, status *st);
bool shared_object_call(guest_function *s, status *st);
bool command_open(guest_function *s, status *st);
bool command_call(guest_function *s, status *st);
bool module_kind_open(guest_function *s, status *st);
bool module_kind_call(guest_function *s, status *st);
bool plugin_kind_open(guest_function *s, status *st);
bool plugin_kind_call(guest_function *s, status *st);

#endif
