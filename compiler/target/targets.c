/* targets.c - the table of CPU levels. */
#include <string.h>

#include "target/target.h"
#include "tessera/compiler.h"

static const cpu_isa isas[] = {
#define ISA(level, cpu_, features_, target, f32_lanes, vectors, f16, l1_kib, l2_kib, bits, i64,    \
            avx512, dots)                                                                          \
    {.name = level,                                                                                \
     .cpu = cpu_,                                                                                  \
     .features = features_,                                                                        \
     .triple = target,                                                                             \
     .lanes = f32_lanes,                                                                           \
     .registers = vectors,                                                                         \
     .has_f16c = f16,                                                                              \
     .l1_bytes = l1_kib * 1024,                                                                    \
     .l2_bytes = l2_kib * 1024,                                                                    \
     .scalable_bits = bits,                                                                        \
     .rounds_i64_once = i64,                                                                       \
     .has_avx512 = avx512,                                                                         \
     .has_dots = dots},
#include "target/targets.def"
};

_Static_assert(sizeof isas / sizeof *isas <= COMPILER_LEVELS_MAX, "compiler.h has room for all");

uint32_t cpu_isa_list(const cpu_isa **list) {
    *list = isas;
    return sizeof isas / sizeof *isas;
}

const cpu_isa *cpu_isa_find(const char *name) {
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (strcmp(isas[i].name, name) == 0)
            return &isas[i];
    return NULL;
}

int64_t cpu_space_bytes(const cpu_isa *isa, memory_space space) {
    switch (space) {
#define SPACE(ID, name, what, bytes)                                                               \
    case MEMORY_SPACE_##ID:                                                                        \
        return bytes;
#include "ops/spaces.def"
    default:
        return 0;
    }
}

const char *cpu_space_what(memory_space space) {
    static const char *const words[MEMORY_SPACE_COUNT] = {
#define SPACE(ID, name, what, bytes) what,
#include "ops/spaces.def"
    };
    return words[space];
}
