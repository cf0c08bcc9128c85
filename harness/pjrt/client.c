/* client.c - the client: one context of the runtime, its devices, and the programs that were
 * compiled. */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "pjrt/plugin.h"
#include "tessera/compile.h"

#define PLATFORM "tessera"

/* ---- settings: the caller's options, else the environment ---- */

static const char *const profiles[] = {"strict", "deterministic", "fast"};

const char *profile_named(const char *words, size_t length) {
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (strlen(profiles[i]) == length && memcmp(profiles[i], words, length) == 0)
            return profiles[i];
    return NULL;
}

static PJRT_Error *set_profile(PJRT_Client *c, const char *words, size_t length) {
    const char *profile = profile_named(words, length);
    if (profile) {
        snprintf(c->profile, sizeof c->profile, "%s", profile);
        return NULL;
    }
    return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                     "there is no profile '%.*s'; there is strict, deterministic and fast",
                     length < 40 ? (int)length : 40, words);
}

static PJRT_Error *set_threads(PJRT_Client *c, int64_t count) {
    enum { THREADS_MAX = 4096 };
    if (count < 1 || count > THREADS_MAX)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "threads are 1 to %d, not %" PRId64 " (TESSERA_THREADS, or the option "
                         "'threads')",
                         THREADS_MAX, count);
    c->threads = (uint32_t)count;
    return NULL;
}

static PJRT_Error *set_devices(PJRT_Client *c, int64_t count) {
    if (count < 1 || count > PJRT_DEVICES_MAX)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "devices are 1 to %d, not %" PRId64 " (TESSERA_DEVICES, or the option "
                         "'devices')",
                         PJRT_DEVICES_MAX, count);
    c->device_count = (uint32_t)count;
    return NULL;
}

/* A number of the environment; -1: its words are none. */
static int64_t number_of(const char *words) {
    char *end;
    const long long count = strtoll(words, &end, 10);
    return *end ? -1 : count;
}

static PJRT_Error *set_backend(PJRT_Client *c, const char *words, size_t length) {
    if (length >= sizeof c->backend)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "no backend has a name of %zu bytes",
                         length);
    memcpy(c->backend, words, length);
    c->backend[length] = 0;
    return NULL;
}

static PJRT_Error *read_environment(PJRT_Client *c) {
    const char *profile = getenv("TESSERA_PROFILE"),  // NOLINT(concurrency-mt-unsafe)
        *threads = getenv("TESSERA_THREADS"),         // NOLINT(concurrency-mt-unsafe)
            *devices = getenv("TESSERA_DEVICES"),     // NOLINT(concurrency-mt-unsafe)
                *backend = getenv("TESSERA_BACKEND"); // NOLINT(concurrency-mt-unsafe)
    PJRT_Error *e = profile && *profile ? set_profile(c, profile, strlen(profile)) : NULL;
    if (!e && backend && *backend)
        e = set_backend(c, backend, strlen(backend));
    if (!e && threads && *threads)
        e = set_threads(c, number_of(threads));
    if (!e && devices && *devices)
        e = set_devices(c, number_of(devices));
    return e;
}

static bool is_named(const PJRT_NamedValue *o, const char *name) {
    return o->name_size == strlen(name) && memcmp(o->name, name, o->name_size) == 0;
}

static PJRT_Error *read_options(PJRT_Client *c, const PJRT_NamedValue *options, size_t count) {
    PJRT_Error *e = NULL;
    for (size_t i = 0; i < count && !e; i++) {
        const PJRT_NamedValue *o = &options[i];
        if (is_named(o, "profile") && o->type == PJRT_NamedValue_kString)
            e = set_profile(c, o->string_value, o->value_size);
        else if (is_named(o, "backend") && o->type == PJRT_NamedValue_kString)
            e = set_backend(c, o->string_value, o->value_size);
        else if (is_named(o, "threads") && o->type == PJRT_NamedValue_kInt64)
            e = set_threads(c, o->int64_value);
        else if (is_named(o, "devices") && o->type == PJRT_NamedValue_kInt64)
            e = set_devices(c, o->int64_value);
        else
            e = error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                          "there is no option '%.*s' of that type: there are profile and backend, "
                          "strings, threads and devices, integers",
                          o->name_size < 40 ? (int)o->name_size : 40, o->name);
    }
    return e;
}

/* ---- the version, with the linker's hash of this library: programs of another build are none of
 * its own ---- */

static int read_notes(struct dl_phdr_info *info, size_t size, void *out) {
    enum { HEX = 41, LIMIT = 20 };
    const char *here = (const char *)(uintptr_t)GetPjrtApi;
    bool mine = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + p->p_vaddr);
        mine |= p->p_type == PT_LOAD && here >= start && here < start + p->p_memsz;
    }
    for (int i = 0; mine && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
        ElfW(Nhdr) n;
        for (; p->p_type == PT_NOTE && at + sizeof n <= end;
             at += sizeof n + ((n.n_namesz + 3) & ~3u) + ((n.n_descsz + 3) & ~3u)) {
            memcpy(&n, at, sizeof n);
            const unsigned char *body =
                (const unsigned char *)at + sizeof n + ((n.n_namesz + 3) & ~3u);
            for (uint32_t b = 0; n.n_type == NT_GNU_BUILD_ID && b < n.n_descsz && b < LIMIT; b++)
                snprintf((char *)out + (size_t)2 * b, HEX - (size_t)2 * b, "%02x", body[b]);
        }
    }
    return mine;
}

bool library_file(const char *name, char *out, size_t room) {
    Dl_info info;
    const char *slash = NULL;
    if (dladdr((const void *)(uintptr_t)GetPjrtApi, &info) && info.dli_fname)
        slash = strrchr(info.dli_fname, '/');
    const int folder = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    return slash && (size_t)snprintf(out, room, "%.*s%s", folder, info.dli_fname, name) < room;
}

static void write_version(PJRT_Client *c) {
    char build[64] = "";
    dl_iterate_phdr(read_notes, build);
    snprintf(c->version, sizeof c->version, "tessera %s, profile %s, build %s",
             TESSERA_PACKAGE_VERSION, c->profile, build);
}

/* ---- making and freeing ---- */

/* Backends that are GPUs on this processor, thread by thread, and the level of code for each. */
static const struct emulated {
    const char *name, *level;
} emulated[] = {{"ptx-emulated", "sm_80-emulated"}, {"rocm-emulated", "gfx942-emulated"}};

static const struct emulated *emulated_named(const char *name) {
    for (size_t i = 0; i < sizeof emulated / sizeof *emulated; i++)
        if (strcmp(emulated[i].name, name) == 0)
            return &emulated[i];
    return NULL;
}

/* Emulated GPUs, and GPUs that are this processor, count once they are named. */
static void provide_device(const PJRT_Client *c) {
    if (emulated_named(c->backend))
        setenv("TESSERA_EMULATED", "1", 0); // NOLINT(concurrency-mt-unsafe)
    else if (strcmp(c->backend, "cpu") != 0)
        setenv("TESSERA_SOFTWARE_DEVICES", "1", 0); // NOLINT(concurrency-mt-unsafe)
}

/* The first device of the backend: its number, and what it is. */
static PJRT_Error *find_device(const PJRT_Client *c, uint32_t *index, tsr_device_info_t *info) {
    uint32_t count = 0;
    const bool by_name = emulated_named(c->backend) != NULL; /* those of one driver */
    provide_device(c);
    tsr_status_t code = tsrGetDeviceCount(&count);
    for (*index = 0; code == TSR_SUCCESS && *index < count; ++*index) {
        *info = (tsr_device_info_t){.struct_size = sizeof *info};
        code = tsrGetDeviceInfo(*index, info);
        if (code != TSR_SUCCESS || strcmp(by_name ? info->name : info->backend, c->backend) != 0)
            continue;
        return info->unavailable
                   ? error_new(PJRT_Error_Code_UNAVAILABLE,
                               "the backend '%s' (TESSERA_BACKEND) cannot be used: %s", c->backend,
                               info->unavailable)
                   : NULL;
    }
    return code != TSR_SUCCESS
               ? error_of(code, tsrGetLastError())
               : error_new(
                     PJRT_Error_Code_NOT_FOUND,
                     "there is no device of the backend '%s' (TESSERA_BACKEND); 'tsr devices' "
                     "lists them",
                     c->backend);
}

static PJRT_Error *open_device(PJRT_Client *c) {
    tsr_device_info_t info;
    uint32_t index;
    PJRT_Error *e = find_device(c, &index, &info);
    if (e)
        return e;
    const tsr_status_t code = tsrCreateContextOn(index, c->threads, 0, &c->context);
    if (code != TSR_SUCCESS)
        return error_of(code, tsrGetLastError());
    c->host = info.host_addressable != 0;
    const struct emulated *own = emulated_named(c->backend);
    if (index > 0) /* code for the host is for the best level of this CPU */
        snprintf(c->isa, sizeof c->isa, "%s", own ? own->level : info.isa);
    if (!c->threads)
        c->threads = info.compute_units ? info.compute_units : 1;
    devices_init(c, &info);
    return NULL;
}

PJRT_Error *pjrt_Client_Create(void *args) {
    PJRT_TAKES(Client_Create, client);
    PJRT_Client *c = base_calloc(1, sizeof *c);
    snprintf(c->profile, sizeof c->profile, "%s", profiles[0]);
    snprintf(c->backend, sizeof c->backend, "cpu");
    c->device_count = 1;
    PJRT_Error *e = read_environment(c);
    e = e ? e : read_options(c, a->create_options, a->num_options);
    e = e ? e : pack_read_environment(c, &c->pack);
    e = e ? e : open_device(c);
    if (e) {
        free(c);
        return e;
    }
    write_version(c);
    atomic_init(&c->holders, 1);
    pthread_mutex_init(&c->lock, NULL);
    a->client = c;
    return NULL;
}

PJRT_Client *client_hold(PJRT_Client *c) {
    atomic_fetch_add(&c->holders, 1);
    return c;
}

void client_release(PJRT_Client *c) {
    if (atomic_fetch_sub(&c->holders, 1) > 1)
        return;
    tsrDestroyContext(c->context);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Buffers and executables that live on keep what they need. */
PJRT_Error *pjrt_Client_Destroy(void *args) {
    PJRT_TAKES(Client_Destroy, client);
    if (a->client) {
        program_drop_all(a->client);
        client_release(a->client);
    }
    return NULL;
}

/* ---- questions ---- */

PJRT_Error *pjrt_Client_PlatformName(void *args) {
    PJRT_TAKES(Client_PlatformName, platform_name_size);
    a->platform_name = PLATFORM;
    a->platform_name_size = strlen(PLATFORM);
    return NULL;
}

PJRT_Error *pjrt_Client_ProcessIndex(void *args) {
    PJRT_TAKES(Client_ProcessIndex, process_index);
    a->process_index = 0;
    return NULL;
}

PJRT_Error *pjrt_Client_PlatformVersion(void *args) {
    PJRT_TAKES(Client_PlatformVersion, platform_version_size);
    PJRT_NEEDS(Client_PlatformVersion, client);
    a->platform_version = a->client->version;
    a->platform_version_size = strlen(a->client->version);
    return NULL;
}

PJRT_Error *pjrt_Client_Devices(void *args) {
    PJRT_TAKES(Client_Devices, num_devices);
    PJRT_NEEDS(Client_Devices, client);
    a->devices = a->client->devices;
    a->num_devices = a->client->device_count;
    return NULL;
}

PJRT_Error *pjrt_Client_AddressableDevices(void *args) {
    PJRT_TAKES(Client_AddressableDevices, num_addressable_devices);
    PJRT_NEEDS(Client_AddressableDevices, client);
    a->addressable_devices = a->client->devices;
    a->num_addressable_devices = a->client->device_count;
    return NULL;
}

static PJRT_Error *look_up(PJRT_Client *c, int id, PJRT_Device **device) {
    if (id < 0 || (uint32_t)id >= c->device_count)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "there is no device %d: there are %u, from 0 on (TESSERA_DEVICES)", id,
                         c->device_count);
    *device = &c->device[id];
    return NULL;
}

PJRT_Error *pjrt_Client_LookupDevice(void *args) {
    PJRT_TAKES(Client_LookupDevice, device);
    PJRT_NEEDS(Client_LookupDevice, client);
    return look_up(a->client, a->id, &a->device);
}

PJRT_Error *pjrt_Client_LookupAddressableDevice(void *args) {
    PJRT_TAKES(Client_LookupAddressableDevice, addressable_device);
    PJRT_NEEDS(Client_LookupAddressableDevice, client);
    return look_up(a->client, a->local_hardware_id, &a->addressable_device);
}

PJRT_Error *pjrt_Client_AddressableMemories(void *args) {
    PJRT_TAKES(Client_AddressableMemories, num_addressable_memories);
    PJRT_NEEDS(Client_AddressableMemories, client);
    a->addressable_memories = a->client->memories;
    a->num_addressable_memories = a->client->device_count;
    return NULL;
}

PJRT_Error *pjrt_Client_DefaultDeviceAssignment(void *args) {
    PJRT_TAKES(Client_DefaultDeviceAssignment, default_assignment);
    PJRT_NEEDS(Client_DefaultDeviceAssignment, client);
    const int64_t wanted = (int64_t)a->num_replicas * a->num_partitions;
    if (a->num_replicas < 1 || a->num_partitions < 1 || wanted > a->client->device_count ||
        a->default_assignment_size < (size_t)wanted)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "%d replicas of %d partitions do not fit the devices, of which there are "
                         "%u (TESSERA_DEVICES), or the place for %zu of them",
                         a->num_replicas, a->num_partitions, a->client->device_count,
                         a->default_assignment_size);
    for (int64_t i = 0; i < wanted; i++)
        a->default_assignment[i] = (int)i;
    return NULL;
}
