/* hsaco_machine.c - relocations of AMD GPU code: "User Guide for AMDGPU Backend", section
 * Relocation Records. Taken are those that are relative to their place, and so need nothing of a
 * loader. */
#include <string.h>

#include "target/llvm/hsaco.h"

enum { REL32 = 4, REL64 = 5, REL32_LO = 10, REL32_HI = 11 };

static const struct relocation_kind {
    uint32_t type;
    const char *name;
    int written; /* -1: refused */
} kinds[] = {
    {0, "R_AMDGPU_NONE", 0},
    {1, "R_AMDGPU_ABS32_LO", -1},
    {2, "R_AMDGPU_ABS32_HI", -1},
    {3, "R_AMDGPU_ABS64", -1},
    {REL32, "R_AMDGPU_REL32", 4},
    {REL64, "R_AMDGPU_REL64", 8},
    {6, "R_AMDGPU_ABS32", -1},
    {7, "R_AMDGPU_GOTPCREL", -1},
    {8, "R_AMDGPU_GOTPCREL32_LO", -1},
    {9, "R_AMDGPU_GOTPCREL32_HI", -1},
    {REL32_LO, "R_AMDGPU_REL32_LO", 4},
    {REL32_HI, "R_AMDGPU_REL32_HI", 4},
    {13, "R_AMDGPU_RELATIVE64", -1},
    {14, "R_AMDGPU_REL16", -1},
};

static const struct relocation_kind *kind_of(uint32_t type) {
    static const struct relocation_kind unknown = {0, "unknown", -1};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].type == type)
            return &kinds[i];
    return &unknown;
}

static const char *relocation_name(uint32_t type) {
    return kind_of(type)->name;
}

static int written_bytes(uint32_t type) {
    return kind_of(type)->written;
}

static bool needs_got(uint32_t type) {
    (void)type;
    return false;
}

static bool apply(const elf_fixup *f, status *st) {
    uint64_t distance = f->symbol + f->addend - f->place;
    if (f->type == REL32 && (int64_t)distance != (int32_t)distance)
        return status_set(st, STATUS_CORRUPT, "a 32-bit relocation overflows");
    uint64_t value = f->type == REL32_HI ? distance >> 32 : distance;
    memcpy(f->bytes, &value, (size_t)written_bytes(f->type));
    return true;
}

const elf_machine elf_amdgpu = {EM_AMDGPU,     "AMD GPUs (224)", relocation_name,
                                written_bytes, needs_got,        apply};
