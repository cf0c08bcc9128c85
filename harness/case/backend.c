/* backend.c - look-ups in the table of backends. */
#include "case/backend.h"

#include <string.h>

#include "tessera/chip.h"

const backend backend_table[BACKEND_COUNT] = {
#define BACKEND(id, name, class, driver, device, target, family, profiles, timed, ...)             \
    {name, BACKEND_CLASS_##class, driver, device, target, family, profiles, timed, __VA_ARGS__},
#include "device/backends.def"
#undef BACKEND
};

backend_id backend_from_name(const char *name) {
    for (int i = 0; i < BACKEND_COUNT; i++)
        if (strcmp(backend_table[i].name, name) == 0)
            return (backend_id)i;
    return BACKEND_COUNT;
}

backend_id backend_asked(const char *name) {
    backend_id id = backend_from_name(name);
    if (strcmp(name, "tessera") == 0)
        return BACKEND_CPU;
    for (int i = 0; i < BACKEND_COUNT && id == BACKEND_COUNT; i++)
        if (backend_table[i].product && strcmp(backend_table[i].family, name) == 0)
            id = (backend_id)i;
    return id;
}

const backend *backend_named(const char *name) {
    backend_id id = backend_from_name(name);
    return &backend_table[id < BACKEND_COUNT ? id : BACKEND_IMPLEMENTATION];
}

bool backend_is_compiled(const backend *b) {
    return b->class != BACKEND_CLASS_INTERPRETER;
}

bool backend_has_device(const backend *b) {
    return b->class == BACKEND_CLASS_COMPILER || b->class == BACKEND_CLASS_FOREIGN;
}

bool backend_is_ours(const backend *b) {
    return b->class == BACKEND_CLASS_COMPILER;
}

backend_id backend_beside(backend_id id) {
    return id == BACKEND_IMPLEMENTATION ? BACKEND_CPU : id;
}

bool backend_is_tools(const backend *b) {
    return b->class == BACKEND_CLASS_TOOLS;
}

bool backend_is_for_device(const backend *b) {
    return strcmp(b->target, "device") == 0;
}

bool backend_checks_bounds(const backend *b) {
    const char *emulated = *b->target ? compiler_emulated_target(b->target) : b->target;
    return backend_is_ours(b) && emulated && strcmp(emulated, b->target) == 0;
}

/* A chip of the device's family, and not the emulated form of one. */
static const char *target_for_device(const char *isa, const char *own) {
    const char *family = isa ? compiler_chip_family(isa) : NULL;
    const char *emulated = isa ? compiler_emulated_target(isa) : NULL;
    bool fits = family && own && strcmp(family, compiler_chip_family(own)) == 0;
    return fits && !(emulated && strcmp(emulated, isa) == 0) ? isa : own;
}

const char *backend_target_for(const backend *b, const char *isa, const char *own) {
    if (backend_is_for_device(b))
        return target_for_device(isa, own);
    const char *emulated = isa ? compiler_emulated_target(isa) : NULL;
    if (!*b->target)
        return emulated ? NULL : isa;
    bool fits = emulated && strcmp(compiler_chip_family(emulated), b->family) == 0;
    return fits ? emulated : b->target;
}

bool backend_honours(const backend *b, const char *profile) {
    size_t length = strlen(profile);
    const char *p = strstr(b->profiles, profile);
    return p && (p == b->profiles || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0');
}

compiler_profile profile_from_name(const char *name) {
    for (int i = 0; i < PROFILE_COUNT; i++)
        if (strcmp(compiler_profile_name((compiler_profile)i), name) == 0)
            return (compiler_profile)i;
    return PROFILE_COUNT;
}
