/* host_isa.c - which ISA levels run here: those that the CPU has, the operating system saves, and
 * the environment allows. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/host/host.h"
#include "device/host/host_cpu.h"

static char reasons[HOST_CPU_LEVELS_MAX][HOST_REASON_BYTES];
static char targets[HOST_CPU_LEVELS_MAX][HOST_TARGET_BYTES];
static char brand[HOST_CPU_BRAND_BYTES];
static const char *limit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int level_count(void) {
    int count = 0;
    while (host_cpu_levels[count])
        count++;
    return count;
}

static int limit_level(void) {
    int level = 0;
    while (limit && host_cpu_levels[level] && strcmp(host_cpu_levels[level], limit) != 0)
        level++;
    return level;
}

static void why_not_level(int level, char *reason) {
    bool unknown = limit_level() == level_count();
    if (level >= limit_level())
        host_cpu_why_not(level, reason);
    else
        snprintf(reason, HOST_REASON_BYTES,
                 unknown ? "%s=%.40s is no ISA level of this machine"
                         : "%s=%.40s in the environment rules it out",
                 HOST_ISA_LIMIT, limit);
}

static void probe(void) {
    const char *given = getenv(HOST_ISA_LIMIT);
    limit = given && *given ? given : NULL;
    for (int level = 0; level < level_count(); level++) {
        why_not_level(level, reasons[level]);
        host_target_of(host_cpu_levels[level], targets[level]);
    }
    host_cpu_brand(brand);
}

static const char *reason_of(int level) {
    pthread_once(&once, probe);
    return reasons[level];
}

const char *host_cpu_name(void) {
    pthread_once(&once, probe);
    return brand;
}

const char *host_isa_limit(void) {
    pthread_once(&once, probe);
    return limit;
}

const char *host_isa_level(size_t index) {
    return index < (size_t)level_count() ? host_cpu_levels[index] : NULL;
}

void host_target_of(const char *isa, char target_out[HOST_TARGET_BYTES]) {
    bool arm = strncmp(isa, "aarch64", 7) == 0;
    snprintf(target_out, HOST_TARGET_BYTES, "%s-elf/%s", arm ? "aarch64" : "x86_64", isa);
}

const char *host_target(size_t index) {
    pthread_once(&once, probe);
    return targets[index];
}

const char *host_isa(void) {
    for (int level = 0; level < level_count(); level++)
        if (!reason_of(level)[0])
            return host_cpu_levels[level];
    return "unsupported";
}

void host_isa_why_not(const char *isa, char reason_out[HOST_REASON_BYTES]) {
    for (int level = 0; level < level_count(); level++) {
        if (strcmp(host_cpu_levels[level], isa) == 0) {
            snprintf(reason_out, HOST_REASON_BYTES, "%s", reason_of(level));
            return;
        }
    }
    snprintf(reason_out, HOST_REASON_BYTES,
             "this machine is %s, and none of its ISA levels is '%.40s'", host_cpu_architecture,
             isa);
}

const char *host_unavailable(void) {
    if (level_count() == 0)
        return "no ISA level is known for this machine";
    const char *reason = reason_of(level_count() - 1);
    return reason[0] ? reason : NULL;
}

bool host_isa_supports(const char *isa) {
    char reason[HOST_REASON_BYTES];
    host_isa_why_not(isa, reason);
    return reason[0] == '\0';
}

uint32_t host_usable_cores(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    if (count < 1)
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

uint64_t host_memory_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}
