/* backend_device.c - finds the device of a backend. */
#include "exec/backend_device.h"

#include <string.h>

#include "exec/mlir_backend.h"
#include "tessera/tessera.h"

bool backend_device(const backend *b, uint32_t *device, status *st) {
    *device = 0;
    if (!*b->driver)
        return true;
    if (backend_is_tools(b))
        return mlir_backend_available(st);
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
