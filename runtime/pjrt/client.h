/* client.h - plugins of PJRT from the caller's side: a file that is opened, what it says of itself,
 * programs that it compiles and runs.
 *
 * A plugin is code of others, and ends the process where it meets what it does not expect: so only
 * processes that may be lost call it (runtime/guest). A plugin has one thread here. Failures are in
 * the plugin's words, behind the name of its code. */
#ifndef TESSERA_RUNTIME_PJRT_CLIENT_H
#define TESSERA_RUNTIME_PJRT_CLIENT_H

#include "base/dtype.h"
#include "base/status.h"
#include "pjrt/pjrt.h"

/* The function of a shared object that makes it a plugin. */
#define PJRT_ENTRY "GetPjrtApi"

typedef struct pjrt_plugin {
    const char *path; /* borrowed */
    const PJRT_Api *api;
    PJRT_Client *client; /* NULL until pjrt_start */
    PJRT_Device *device; /* the first that the client reaches */
} pjrt_plugin;

/* Loads a plugin, which stays loaded; asks no device. */
bool pjrt_open(pjrt_plugin *p, const char *path, status *st);
/* Has it find its devices. */
bool pjrt_start(pjrt_plugin *p, status *st);

/* The arguments of a function: PJRT_ARGS(Client_Devices, .client = c). */
#define PJRT_ARGS(NAME, ...)                                                                       \
    { .struct_size = sizeof(PJRT_##NAME##_Args), __VA_ARGS__ }
/* Calls it; false where it fails, or where the plugin is too old to have it. */
#define PJRT_CALL(p, NAME, args, st) pjrt_call(p, offsetof(PJRT_Api, NAME), "PJRT_" #NAME, args, st)
bool pjrt_call(const pjrt_plugin *p, size_t slot, const char *name, void *args, status *st);
/* Waits for an event, tells its failure, and ends it. */
bool pjrt_await(const pjrt_plugin *p, PJRT_Event *event, status *st);

/* Text of StableHLO, for one device of the client. */
bool pjrt_compile(const pjrt_plugin *p, const char *program, size_t size_bytes,
                  PJRT_LoadedExecutable **out, status *st);
/* ... for one that is not here: nothing runs it. */
bool pjrt_compile_for(const pjrt_plugin *p, const PJRT_TopologyDescription *topology,
                      const char *program, size_t size_bytes, PJRT_Executable **out, status *st);

/* Elements as a plugin has them; PJRT_Buffer_Type_INVALID: it has none such. tf32 is f32, as it is
 * in programs. */
PJRT_Buffer_Type pjrt_type_of(dtype type);
/* The name of a failure's code. */
const char *pjrt_code_name(PJRT_Error_Code code);

#endif
