/* backend_device.h - where a backend's kernels run, if they can run here. */
#ifndef TESSERA_HARNESS_EXEC_BACKEND_DEVICE_H
#define TESSERA_HARNESS_EXEC_BACKEND_DEVICE_H

#include "case/backend.h"

/* Index of its device in the runtime; 0 where it has none. False with STATUS_UNAVAILABLE and the
 * reason where it cannot run here. */
bool backend_device(const backend *b, uint32_t *device, status *st);

#endif
