/* capabilities.h - what tsrGetCapabilities tells, for those that have no index of a device: a
 * backend that is not here. */
#ifndef TESSERA_RUNTIME_CAPABILITIES_H
#define TESSERA_RUNTIME_CAPABILITIES_H

#include "device/capability.h"

struct device_info; /* device/device.h */

/* The document, owned by the caller (free). `id`: BACKEND_COUNT where the device is no backend's.
 * `info` NULL: there is no device, for the reason `why` (NULL: none is needed). */
char *capabilities_text(backend_id id, const char *driver, const struct device_info *info,
                        const char *why);

#endif
