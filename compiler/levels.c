/* levels.c - what others ask by name: passes, functions and profiles; targets, what their code is,
 * whether it runs here. */
#include <stdio.h>
#include <string.h>

#include "device/host/host.h"
#include "ops/tiles.h"
#include "target/target.h"
#include "tessera/compiler.h"

uint32_t compiler_level_names(const char *const **names) {
    static const char *list[COMPILER_LEVELS_MAX];
    const target_info *isas;
    uint32_t count;
    count = target_list(&isas, NULL, NULL);
    for (uint32_t i = 0; i < count; i++)
        list[i] = isas[i].name;
    *names = list;
    return count;
}

uint32_t compiler_pass_names(const char *const **names) {
    static const char *const list[] = {
#define P(function, name, LEVEL, arguments, summary) name,
#include "passes.def"
    };
    *names = list;
    return sizeof list / sizeof *list;
}

bool compiler_is_pass(const char *name) {
    const char *const *names;
    const uint32_t count = compiler_pass_names(&names);
    uint32_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i < count;
}

uint32_t compiler_function_names(const char *const **names) {
    static const char *const list[] = {
#define F(ENUM, name) #name,
#include "math/functions.def"
    };
    *names = list;
    return sizeof list / sizeof *list;
}

const char *compiler_profile_name(compiler_profile profile) {
    static const char *const names[] = {"strict", "deterministic", "fast"};
    return names[profile];
}

const char *compiler_code_format(const char *name) {
    const target_info *t = target_find(name);
    return t ? target_format(t) : NULL;
}

const char *compiler_emulated_target(const char *name) {
    static const char suffix[] = "-emulated";
    char emulated[64];
    const target_info *t = target_find(name);
    if (!t || t->class == TARGET_CPU)
        return NULL;
    if (t->emulated)
        return t->name;
    snprintf(emulated, sizeof emulated, "%s%s", name, suffix);
    t = target_find(emulated);
    return t ? t->name : NULL;
}

_Static_assert((int)COMPILER_REASON_BYTES >= (int)HOST_REASON_BYTES, "the host's reason fits");

bool compiler_target_runs(const char *name, char reason_out[COMPILER_REASON_BYTES]) {
    const target_info *t = target_find(name);
    if (!t || t->class == TARGET_CPU) {
        host_isa_why_not(name, reason_out);
        return reason_out[0] == '\0';
    }
    snprintf(reason_out, COMPILER_REASON_BYTES, "%s",
             !t->emulated            ? "it is a chip, which backends of its own run"
             : target_of_emulation() ? ""
                                     : "threads are emulated on x86-64-v3 and aarch64");
    return reason_out[0] == '\0';
}

const char *compiler_llvm_version(void) {
    return target_llvm_version();
}

void compiler_llvm_identity(text *out) {
    target_llvm_identity(out);
}

int64_t compiler_space_bytes(const char *isa, const char *space, const char **what) {
    const char *level = isa ? isa : host_isa();
    const target_info *found = level ? target_find(level) : NULL;
    for (int i = 0; found && i < MEMORY_SPACE_COUNT; i++)
        if (strcmp(memory_space_names[i], space) == 0) {
            *what = target_space_what(found, (memory_space)i);
            return target_space_bytes(found, (memory_space)i);
        }
    return -1;
}
