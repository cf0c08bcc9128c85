/* backends.h - the numbers of backends.def. */
#ifndef TESSERA_RUNTIME_BACKENDS_H
#define TESSERA_RUNTIME_BACKENDS_H

typedef enum backend_id {
#define BACKEND(id, ...) BACKEND_##id,
#include "device/backends.def"
#undef BACKEND
    BACKEND_COUNT
} backend_id;

/* In place of a device's number: the backend runs on each device of its driver. */
enum { ANY_DEVICE = -1 };

#endif
