/* backend.c - look-ups in the table of backends. */
#include "backend.h"

#include <string.h>

#include "opinion.h"
#include "tessera/tessera.h"

const backend backend_table[BACKEND_COUNT] = {
#define BACKEND(id, name, driver, profiles, timed, product, summary)                               \
    {name, driver, profiles, timed, product, summary},
#include "backends.def"
#undef BACKEND
};

backend_id backend_from_name(const char *name) {
    for (int i = 0; i < BACKEND_COUNT; i++)
        if (strcmp(backend_table[i].name, name) == 0)
            return (backend_id)i;
    return BACKEND_COUNT;
}

bool backend_is_tools(const backend *b) {
    return strcmp(b->driver, "tools") == 0;
}

bool backend_honours(const backend *b, const char *profile) {
    size_t length = strlen(profile);
    const char *p = strstr(b->profiles, profile);
    return p && (p == b->profiles || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0');
}

bool backend_device(const backend *b, uint32_t *device, status *st) {
    *device = 0;
    if (!*b->driver)
        return true;
    if (backend_is_tools(b))
        return opinion_available(st);
    uint32_t count = 0;
    tsr_device_info_t info = {.struct_size = sizeof info};
    if (tsrGetDeviceCount(&count) != TSR_SUCCESS)
        return status_set(st, STATUS_INTERNAL, "cannot list devices: %s", tsrGetLastError());
    for (uint32_t i = 0; i < count; i++) {
        if (tsrGetDeviceInfo(i, &info) != TSR_SUCCESS || strcmp(info.backend, b->driver) != 0)
            continue;
        if (info.unavailable)
            return status_set(st, STATUS_UNAVAILABLE, "backend %s cannot run here: %s", b->name,
                              info.unavailable);
        *device = i;
        return true;
    }
    return status_set(st, STATUS_UNAVAILABLE, "backend %s has no device here", b->name);
}

compiler_profile profile_from_name(const char *name) {
    for (int i = 0; i < PROFILE_COUNT; i++)
        if (strcmp(compiler_profile_name((compiler_profile)i), name) == 0)
            return (compiler_profile)i;
    return PROFILE_COUNT;
}
