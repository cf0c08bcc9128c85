/* host_facts.c - asks the system what it is. */
#include "measure/host_facts.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/build_id.h"
#include "common/version.h"
#include "device/host/host.h"
#include "measure/ceilings.h"
#include "measure/counters.h"
#include "measure/cpu_feature.h"
#include "tessera/compiler.h"

/* PRETTY_NAME of os-release, or the kernel's name. */
static json_t *system_name(const struct utsname *names) {
    char line[256];
    FILE *file = fopen("/etc/os-release", "re");
    json_t *found = NULL;
    while (file && !found && fgets(line, sizeof line, file)) {
        if (strncmp(line, "PRETTY_NAME=", 12) != 0)
            continue;
        const char *start = line + 12 + (line[12] == '"');
        found = json_stringn(start, strcspn(start, "\"\n"));
    }
    if (file)
        fclose(file);
    return found ? found : json_string(names->sysname);
}

static json_t *cache_facts(void) {
    static ceilings c;
    ceilings_init(&c, NULL);
    json_t *caches = json_array();
    for (int i = 0; i < c.level_count - 1; i++)
        json_array_append_new(caches, json_pack("{s:s, s:I, s:b}", "level", c.levels[i].name,
                                                "bytes", (json_int_t)c.levels[i].size_bytes,
                                                "shared", c.levels[i].shared));
    return caches;
}

json_t *host_facts(void) {
    struct utsname names;
    counters c;
    uname(&names);
    counters_open(&c);
    json_t *facts =
        json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:s, s:b, s:s, s:s?}", "cpu", host_cpu_name(),
                  "isa", host_isa(), "cores", (json_int_t)host_usable_cores(), "memory_bytes",
                  (json_int_t)host_memory_bytes(), "caches", cache_facts(), "os",
                  system_name(&names), "kernel", names.release, "virtualised", cpu_is_virtual(),
                  "counters", counters_kind_name(c.kind), "counters_why", c.why[0] ? c.why : NULL);
    counters_close(&c);
    return facts;
}

json_t *program_facts(void) {
    return json_pack("{s:s, s:s, s:s*, s:s}", "version", TSR_VERSION, "commit", build_commit,
                     "build", *build_id() ? build_id() : NULL, "llvm", compiler_llvm_version());
}

static bool is_same_in(const char *name, const json_t *a, const json_t *b) {
    return json_equal(json_object_get(a, name), json_object_get(b, name));
}

bool program_made(const json_t *facts) {
    json_t *ours = program_facts();
    bool same = is_same_in("llvm", facts, ours) &&
                (json_object_get(facts, "build")
                     ? is_same_in("build", facts, ours)
                     : is_same_in("version", facts, ours) && is_same_in("commit", facts, ours));
    json_decref(ours);
    return same;
}

void host_name(text *out) {
    struct utsname names;
    uname(&names);
    json_t *system = system_name(&names);
    text_printf(out, "%s, %s, %s", host_cpu_name(), host_isa(), json_string_value(system));
    json_decref(system);
}

void host_machine(const char *isa, text *out) {
    text_printf(out, "%s; %s; %u cores", host_cpu_name(), isa ? isa : host_isa(),
                host_usable_cores());
}
