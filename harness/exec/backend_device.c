/* backend_device.c - finds the device of a backend. */
#include "exec/backend_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/mlir_backend.h"
#include "tessera/tessera.h"

#define SIMULATED "simulated"
#define FOREIGN "foreign"
#define EMULATED "emulated"

/* NAME[:INDEX], counted among the devices of that name. False: it is none of those. */
typedef struct device_name {
    const char *name;
    size_t length;
    unsigned long index;
} device_name;

static bool parse(const char *wanted, device_name *out) {
    size_t length = strcspn(wanted, ":");
    char *end = NULL;
    *out = (device_name){wanted, length, 0};
    if (wanted[length])
        out->index = strtoul(wanted + length + 1, &end, 10);
    return length && (!end || (end > wanted + length + 1 && *end == '\0'));
}

static bool find(const backend *b, const device_name *wanted, uint32_t *device, status *st) {
    uint32_t count = 0;
    unsigned long seen = 0;
    if (tsrGetDeviceCount(&count) != TSR_SUCCESS)
        return status_set(st, STATUS_INTERNAL, "cannot list devices: %s", tsrGetLastError());
    for (uint32_t i = 0; i < count; i++) {
        tsr_device_info_t info = {.struct_size = sizeof info};
        if (tsrGetDeviceInfo(i, &info) != TSR_SUCCESS || strlen(info.backend) != wanted->length ||
            memcmp(info.backend, wanted->name, wanted->length) != 0 || seen++ < wanted->index)
            continue;
        if (info.unavailable)
            return status_set(st, STATUS_UNAVAILABLE, "backend %s cannot run here: %s", b->name,
                              info.unavailable);
        *device = i;
        return true;
    }
    return status_set(st, STATUS_UNAVAILABLE, "backend %s has no device %.*s:%lu here", b->name,
                      (int)wanted->length, wanted->name, wanted->index);
}

/* Simulated and emulated devices, and the one for code of others, are there where they are asked
 * for: the environment tells the runtime. */
static void provide(const device_name *wanted) {
    char count[24];
    if (wanted->length == strlen(EMULATED) && memcmp(wanted->name, EMULATED, wanted->length) == 0)
        setenv("TESSERA_EMULATED", "1", 0);
    if (wanted->length == strlen(FOREIGN) && memcmp(wanted->name, FOREIGN, wanted->length) == 0)
        setenv("TESSERA_FOREIGN", "1", 0);
    if (wanted->length != strlen(SIMULATED) || memcmp(wanted->name, SIMULATED, wanted->length) != 0)
        return;
    snprintf(count, sizeof count, "%lu", wanted->index + 1);
    setenv("TESSERA_SIMULATED", count, 0);
}

bool backend_device(const backend *b, const char *wanted, uint32_t *device, status *st) {
    device_name name = {.index = 0};
    *device = 0;
    if (!*b->driver)
        return true;
    parse(b->driver, &name);
    if (backend_is_tools(b))
        return mlir_backend_available(st);
    if (wanted && !parse(wanted, &name))
        return status_set(st, STATUS_INVALID, "'%s' is no device: NAME or NAME:INDEX", wanted);
    provide(&name);
    return find(b, &name, device, st);
}

bool backend_device_is_host(uint32_t device) {
    tsr_device_info_t info = {.struct_size = sizeof info};
    return tsrGetDeviceInfo(device, &info) == TSR_SUCCESS && info.host_addressable;
}
