/* targets.c - the table of CPU levels. */
#include <stdio.h>
#include <string.h>

#include "device/emulate/emulated.h"
#include "device/host/host.h"
#include "target/target.h"
#include "tessera/compiler.h"
#include "tile/simt/simt.h"

enum { KIB = 1024 };

#define CHIP_FIELDS(level, kind, cpu_, features_, target, kib, threads, registers_, units, copy,   \
                    bf16, chain)                                                                   \
    .name = level, .class = TARGET_SIMT, .family = FAMILY_##kind, .cpu = cpu_,                     \
    .features = features_, .triple = target, .lanes = 1, .registers = 32,                          \
    .has_f16c = FAMILY_##kind != FAMILY_SPIRV, .l1_bytes = kib * KIB, .l2_bytes = kib * KIB,       \
    .shared_bytes = kib * KIB, .subgroup = threads, .thread_registers = registers_,                \
    .compute_units = units, .copies = copy, .rounds_bf16 = bf16, .probed = chain

static const target_info targets[] = {
#define ISA(level, cpu_, features_, target, f32_lanes, vectors, f16, l1_kib, l2_kib, bits, i64,    \
            avx512, dots)                                                                          \
    {.name = level,                                                                                \
     .cpu = cpu_,                                                                                  \
     .features = features_,                                                                        \
     .triple = target,                                                                             \
     .lanes = f32_lanes,                                                                           \
     .registers = vectors,                                                                         \
     .has_f16c = f16,                                                                              \
     .l1_bytes = l1_kib * KIB,                                                                     \
     .l2_bytes = l2_kib * KIB,                                                                     \
     .scalable_bits = bits,                                                                        \
     .rounds_i64_once = i64,                                                                       \
     .has_avx512 = avx512,                                                                         \
     .has_dots = dots},
#include "chip/targets.def"
#define CHIP(...) {CHIP_FIELDS(__VA_ARGS__)},
#include "chip/targets.def"
/* It is made from the LLVM IR of PTX. Nothing says how a device converts f16. */
#define SPIRV(level, kind, kib, threads, registers_, units)                                        \
    {CHIP_FIELDS(level, SPIRV, level, "", "nvptx64-nvidia-cuda", kib, threads, registers_, units,  \
                 false, false, false),                                                             \
     .flavour = SPIRV_##kind},
#include "chip/targets.def"
#define EMULATED(level, ...) {CHIP_FIELDS(level "-emulated", __VA_ARGS__), .emulated = true},
#define CHIP(...) EMULATED(__VA_ARGS__)
#include "chip/targets.def"
};

enum {
#define ISA(...) +1
    LEVEL_COUNT = 0
#include "chip/targets.def"
};

enum {
#define ISA(...) +1
#define CHIP(...) +1
#define SPIRV(...) +1
    NAMED_COUNT = 0
#include "chip/targets.def"
};

_Static_assert(sizeof targets / sizeof *targets <= COMPILER_LEVELS_MAX,
               "compiler.h has room for all");

uint32_t target_list(const target_info **list, uint32_t *levels, uint32_t *chips) {
    *list = targets;
    if (levels)
        *levels = LEVEL_COUNT;
    if (chips)
        *chips = NAMED_COUNT;
    return sizeof targets / sizeof *targets;
}

/* CUDA takes 4 KiB of parameters, OpenCL at least 1 KiB (CL_DEVICE_MAX_PARAMETER_SIZE); code for
 * Vulkan reads its addresses from a table, of 8 KiB. */
uint32_t target_buffers(const target_info *t) {
    enum { ADDRESS_BYTES = 8, BESIDE = 2 };
    int kib = t->family != FAMILY_SPIRV ? 4 : t->flavour == SPIRV_OPENCL ? 1 : 8;
    return t->class == TARGET_CPU ? 0 : (uint32_t)(kib * KIB / ADDRESS_BYTES - BESIDE);
}

const target_info *target_find(const char *name) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}

const chip_unit *target_unit_of(const target_info *target) {
    return target->class == TARGET_CPU ? NULL : chip_unit_of(target->cpu);
}

const target_info *target_of_emulation(void) {
    static const char *const levels[] = {"x86-64-v3", "aarch64-neon"};
    for (int i = 0; i < 2; i++)
        if (host_isa_supports(levels[i]))
            return target_find(levels[i]);
    return NULL;
}

const char *target_format(const target_info *t) {
    static const char *const formats[] = {[FAMILY_ELF] = "elf",
                                          [FAMILY_PTX] = "ptx",
                                          [FAMILY_ROCM] = "hsaco",
                                          [FAMILY_SPIRV] = "spirv"};
    return formats[t->emulated ? FAMILY_ELF : t->family];
}

void target_image_kind(const char *name, char kind_out[TARGET_KIND_BYTES]) {
    const target_info *t = target_find(name), *host;
    char elf[HOST_TARGET_BYTES];
    if (!t || t->class == TARGET_CPU) {
        host_target_of(name, elf);
        snprintf(kind_out, TARGET_KIND_BYTES, "%s", elf);
    } else if (t->emulated) {
        host = target_of_emulation();
        emulated_target_of(t->family == FAMILY_PTX ? EMULATED_DEVICE_PTX : EMULATED_DEVICE_ROCM,
                           host ? host->name : "none", kind_out);
    } else {
        snprintf(kind_out, TARGET_KIND_BYTES, "%s/%s", target_format(t), name);
    }
}

int64_t target_space_bytes(const target_info *target, memory_space space) {
    bool chip = target->class == TARGET_SIMT;
    switch (space) {
#define SPACE(ID, name, what, bytes, chip_what, chip_bytes)                                        \
    case MEMORY_SPACE_##ID:                                                                        \
        return chip ? (chip_bytes) : (bytes);
#include "ops/spaces.def"
    default:
        return 0;
    }
}

const char *target_space_what(const target_info *target, memory_space space) {
    static const char *const words[MEMORY_SPACE_COUNT][2] = {
#define SPACE(ID, name, what, bytes, chip_what, chip_bytes) {what, chip_what},
#include "ops/spaces.def"
    };
    return words[space][target->class == TARGET_SIMT];
}
