/* client.c - see client.h. */
#include "pjrt/client.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CompileOptionsProto with one replica of one partition: field 3 with fields 4 and 5. */
static const char one_device[] = {0x1a, 0x04, 0x20, 0x01, 0x28, 0x01};
static const char format[] = "mlir";
enum { OLDEST_MINOR = 29 }; /* whose structs are ours but for members at their ends */

/* ---- failures ---- */

static const char *const code_names[] = {
    [PJRT_Error_Code_CANCELLED] = "CANCELLED",
    [PJRT_Error_Code_UNKNOWN] = "UNKNOWN",
    [PJRT_Error_Code_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
    [PJRT_Error_Code_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
    [PJRT_Error_Code_NOT_FOUND] = "NOT_FOUND",
    [PJRT_Error_Code_ALREADY_EXISTS] = "ALREADY_EXISTS",
    [PJRT_Error_Code_PERMISSION_DENIED] = "PERMISSION_DENIED",
    [PJRT_Error_Code_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
    [PJRT_Error_Code_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
    [PJRT_Error_Code_ABORTED] = "ABORTED",
    [PJRT_Error_Code_OUT_OF_RANGE] = "OUT_OF_RANGE",
    [PJRT_Error_Code_UNIMPLEMENTED] = "UNIMPLEMENTED",
    [PJRT_Error_Code_INTERNAL] = "INTERNAL",
    [PJRT_Error_Code_UNAVAILABLE] = "UNAVAILABLE",
    [PJRT_Error_Code_DATA_LOSS] = "DATA_LOSS",
    [PJRT_Error_Code_UNAUTHENTICATED] = "UNAUTHENTICATED"};

const char *pjrt_code_name(PJRT_Error_Code code) {
    const size_t at = (size_t)code;
    return at < sizeof code_names / sizeof *code_names && code_names[at] ? code_names[at]
                                                                         : "an unknown code";
}

static status_code status_of(PJRT_Error_Code code) {
    switch (code) {
    case PJRT_Error_Code_UNIMPLEMENTED:
    case PJRT_Error_Code_UNAVAILABLE:
    case PJRT_Error_Code_PERMISSION_DENIED:
        return STATUS_UNAVAILABLE;
    case PJRT_Error_Code_RESOURCE_EXHAUSTED:
        return STATUS_OUT_OF_MEMORY;
    default:
        return STATUS_INVALID;
    }
}

static bool has_slot(const PJRT_Api *api, size_t slot) {
    PJRT_Function f = NULL;
    if (slot + sizeof f > api->struct_size)
        return false;
    memcpy(&f, (const char *)api + slot, sizeof f);
    return f != NULL;
}

static bool take_error(const pjrt_plugin *p, PJRT_Error *error, const char *name, status *st) {
    PJRT_Error_GetCode_Args code = PJRT_ARGS(Error_GetCode, .error = error);
    PJRT_Error_Message_Args words = PJRT_ARGS(Error_Message, .error = error);
    PJRT_Error_Destroy_Args end = PJRT_ARGS(Error_Destroy, .error = error);
    (void)p->api->Error_GetCode(&code);
    p->api->Error_Message(&words);
    status_set(st, status_of(code.code), "%s: %s: %.*s", name, pjrt_code_name(code.code),
               (int)(words.message_size < 800 ? words.message_size : 800),
               words.message ? words.message : "");
    p->api->Error_Destroy(&end);
    return false;
}

bool pjrt_call(const pjrt_plugin *p, size_t slot, const char *name, void *args, status *st) {
    PJRT_Function f;
    if (!has_slot(p->api, slot))
        return status_set(st, STATUS_UNAVAILABLE, "the plugin %s has no function %s", p->path,
                          name);
    memcpy(&f, (const char *)p->api + slot, sizeof f);
    PJRT_Error *error = f(args);
    return !error || take_error(p, error, name, st);
}

bool pjrt_await(const pjrt_plugin *p, PJRT_Event *event, status *st) {
    PJRT_Event_Await_Args wait = PJRT_ARGS(Event_Await, .event = event);
    PJRT_Event_Destroy_Args end = PJRT_ARGS(Event_Destroy, .event = event);
    if (!event)
        return true;
    bool ok = PJRT_CALL(p, Event_Await, &wait, st);
    return PJRT_CALL(p, Event_Destroy, &end, st) && ok;
}

/* ---- opening ---- */

/* Without a TPU libtpu asks a server of its cloud for it, for minutes. */
static void spare_questions(void) {
    static const char *const places[] = {"/dev/accel0", "/dev/vfio/0"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], F_OK) == 0)
            return;
    (void)setenv("TPU_SKIP_MDS_QUERY", "1", 0);
}

bool pjrt_open(pjrt_plugin *p, const char *path, status *st) {
    const PJRT_Api *(*entry)(void);
    spare_questions();
    *p = (pjrt_plugin){.path = path};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return status_set(st, STATUS_UNAVAILABLE, "cannot load it: %s", dlerror());
    void *found = dlsym(library, PJRT_ENTRY);
    if (!found)
        return status_set(st, STATUS_INVALID, "%s is no plugin of PJRT: it exports no " PJRT_ENTRY,
                          path);
    memcpy(&entry, &found, sizeof entry);
    p->api = entry();
    const PJRT_Api *api = p->api;
    if (!api || api->struct_size < offsetof(PJRT_Api, Client_Create) ||
        api->pjrt_api_version.major_version != PJRT_API_MAJOR ||
        api->pjrt_api_version.minor_version < OLDEST_MINOR)
        return status_set(
            st, STATUS_UNAVAILABLE,
            "the plugin %s speaks PJRT %d.%d; versions %d.%d and later are understood", path,
            api ? api->pjrt_api_version.major_version : 0,
            api ? api->pjrt_api_version.minor_version : 0, PJRT_API_MAJOR, OLDEST_MINOR);
    PJRT_Plugin_Initialize_Args begin = {.struct_size = sizeof begin};
    return PJRT_CALL(p, Plugin_Initialize, &begin, st);
}

bool pjrt_start(pjrt_plugin *p, status *st) {
    PJRT_Client_Create_Args make = {.struct_size = sizeof make};
    if (!PJRT_CALL(p, Client_Create, &make, st)) {
        if (st->code == STATUS_INVALID) /* nobody gave it anything that could be wrong */
            st->code = STATUS_UNAVAILABLE;
        return false;
    }
    p->client = make.client;
    PJRT_Client_AddressableDevices_Args devices =
        PJRT_ARGS(Client_AddressableDevices, .client = p->client);
    if (!PJRT_CALL(p, Client_AddressableDevices, &devices, st))
        return false;
    if (!devices.num_addressable_devices)
        return status_set(st, STATUS_UNAVAILABLE, "the plugin %s has no device here", p->path);
    p->device = devices.addressable_devices[0];
    return true;
}

/* ---- programs ---- */

static PJRT_Program program_of(const char *text, size_t size_bytes) {
    return (PJRT_Program){.struct_size = sizeof(PJRT_Program),
                          .code = (char *)(uintptr_t)text,
                          .code_size = size_bytes,
                          .format = format,
                          .format_size = sizeof format - 1};
}

bool pjrt_compile(const pjrt_plugin *p, const char *program, size_t size_bytes,
                  PJRT_LoadedExecutable **out, status *st) {
    const PJRT_Program code = program_of(program, size_bytes);
    PJRT_Client_Compile_Args make =
        PJRT_ARGS(Client_Compile, .client = p->client, .program = &code,
                  .compile_options = one_device, .compile_options_size = sizeof one_device);
    bool ok = PJRT_CALL(p, Client_Compile, &make, st);
    *out = make.executable;
    return ok;
}

bool pjrt_compile_for(const pjrt_plugin *p, const PJRT_TopologyDescription *topology,
                      const char *program, size_t size_bytes, PJRT_Executable **out, status *st) {
    const PJRT_Program code = program_of(program, size_bytes);
    PJRT_Compile_Args make =
        PJRT_ARGS(Compile, .topology = topology, .program = &code, .compile_options = one_device,
                  .compile_options_size = sizeof one_device);
    bool ok = PJRT_CALL(p, Compile, &make, st);
    *out = make.executable;
    return ok;
}

PJRT_Buffer_Type pjrt_type_of(dtype type) {
    static const struct {
        PJRT_Buffer_Type theirs;
        dtype ours;
        int parts;
    } types[] = {
#define TYPE(theirs, ours, parts, bits) {PJRT_Buffer_Type_##theirs, DTYPE_##ours, parts},
#include "pjrt/types.def"
#undef TYPE
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].ours == (type == DTYPE_TF32 ? DTYPE_F32 : type) && types[i].parts == 1)
            return types[i].theirs;
    return PJRT_Buffer_Type_INVALID;
}
