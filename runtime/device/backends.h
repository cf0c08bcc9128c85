/* backends.h - the numbers of backends.def. */
#ifndef TESSERA_RUNTIME_BACKENDS_H
#define TESSERA_RUNTIME_BACKENDS_H

typedef enum backend_id {
#define BACKEND(id, name, driver, target, profiles, timed, product, summary) BACKEND_##id,
#include "device/backends.def"
#undef BACKEND
    BACKEND_COUNT
} backend_id;

#endif
