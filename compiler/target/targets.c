/* targets.c - the table of CPU levels. */
#include <string.h>

#include "target/target.h"
#include "tessera/compiler.h"

static const cpu_isa isas[] = {
#define ISA(name, cpu, features, triple, lanes, registers, f16, l1_kib, l2_kib, scalable, i64,     \
            avx512, dots)                                                                          \
    {name,          cpu,           features, triple, lanes,  registers, f16,                       \
     l1_kib * 1024, l2_kib * 1024, scalable, i64,    avx512, dots},
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
