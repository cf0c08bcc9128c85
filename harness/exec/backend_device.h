/* backend_device.h - where a backend's kernels run, if they can run here. */
#ifndef TESSERA_HARNESS_EXEC_BACKEND_DEVICE_H
#define TESSERA_HARNESS_EXEC_BACKEND_DEVICE_H

#include "case/backend.h"

/* Index of its device in the runtime; 0 where it has none. `wanted`: NAME[:INDEX], one of the
 * runtime's devices that loads the backend's code; NULL: the first of its driver. False with
 * STATUS_UNAVAILABLE and the reason where it cannot run there. */
bool backend_device(const backend *b, const char *wanted, uint32_t *device, status *st);
/* The same for a process that does not use the device itself but has children that do. *isa_out:
 * what a device that code is made for runs best, until the next question about the backend; NULL
 * where the backend's target is fixed. */
bool backend_device_ask(const backend *b, const char *wanted, uint32_t *device,
                        const char **isa_out, status *st);
/* True where the host's own pointers are the device's, and its counters count there. */
bool backend_device_is_host(uint32_t device);

#endif
