/* checks_cpu.c - what changes how fast a core is: its frequency, its siblings, its hypervisor. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/look.h"

static finding ok(const char *found) {
    finding f = {.state = "ok"};
    snprintf(f.found, sizeof f.found, "%.500s", found);
    return f;
}

static finding unknown(const char *found) {
    finding f = ok(found);
    f.state = "unknown";
    return f;
}

/* Counts the files below the root that match and hold `wanted`; *all: how many there are. */
static size_t count_holding(const char *root, const char *pattern, const char *wanted,
                            size_t *all) {
    char whole[512], text[LOOK_TEXT_BYTES];
    glob_t list;
    size_t holding = 0;
    *all = 0;
    snprintf(whole, sizeof whole, "%s%s", root, pattern);
    if (glob(whole, 0, NULL, &list) != 0)
        return 0;
    for (size_t i = 0; i < list.gl_pathc; i++)
        if (look_at("", list.gl_pathv[i], text)) {
            (*all)++;
            holding += strcmp(text, wanted) == 0;
        }
    globfree(&list);
    return holding;
}

finding check_governor(const doctor_place *place) {
    size_t all, good = count_holding(place->root,
                                     "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
                                     "performance", &all);
    finding f = {.state = "harm",
                 .why = "a core that was idle starts slow, and no two samples run at one frequency",
                 .mend = "sudo cpupower frequency-set -g performance"};
    if (all == 0)
        return unknown("the system does not say: frequencies are not in its hands");
    if (good == all)
        return ok("performance, on all cores");
    snprintf(f.found, sizeof f.found, "%zu of %zu cores have another governor than performance",
             all - good, all);
    return f;
}

finding check_turbo(const doctor_place *place) {
    long long no_turbo =
        look_number(place->root, "/sys/devices/system/cpu/intel_pstate/no_turbo", -1);
    long long boost = look_number(place->root, "/sys/devices/system/cpu/cpufreq/boost", -1);
    finding f = {.state = "harm",
                 .why = "the frequency depends on how warm the machine is, and on what the other "
                        "cores do",
                 .found = "the clock is raised while the cores are cool"};
    if (no_turbo < 0 && boost < 0)
        return unknown("the system does not say");
    if (no_turbo > 0 || boost == 0)
        return ok("off");
    f.mend = no_turbo == 0 ? "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
                           : "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost";
    return f;
}

finding check_idle_states(const doctor_place *place) {
    enum { STATES = 10, SLOW_US = 100 };
    char path[128];
    finding f = {.state = "note",
                 .why = "a thread that slept wakes up late on a core that slept deeply",
                 .mend = "sudo cpupower idle-set -D 10"};
    int seen = 0, deep = 0;
    for (int i = 0; i < STATES; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpuidle/state%d/latency", i);
        long long latency = look_number(place->root, path, -1);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpuidle/state%d/disable", i);
        seen += latency >= 0;
        deep += latency > SLOW_US && look_number(place->root, path, 0) == 0;
    }
    if (!seen)
        return unknown("the system does not say");
    if (!deep)
        return ok("none from which waking up takes more than 100 us");
    snprintf(f.found, sizeof f.found, "%d states from which waking up takes more than 100 us",
             deep);
    return f;
}

finding check_smt(const doctor_place *place) {
    long long active = look_number(place->root, "/sys/devices/system/cpu/smt/active", -1);
    finding f = {.state = "harm",
                 .found = "two threads share a core",
                 .why = "what runs on the sibling takes up to half of a core's units",
                 .mend = "echo off | sudo tee /sys/devices/system/cpu/smt/control"};
    if (active < 0)
        return unknown("the system does not say");
    return active ? f : ok("no core has two threads that the system knows of");
}

static long long throttled(const char *root) {
    char pattern[512];
    glob_t list;
    long long sum = 0;
    snprintf(pattern, sizeof pattern,
             "%s/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count", root);
    if (glob(pattern, 0, NULL, &list) != 0)
        return -1;
    for (size_t i = 0; i < list.gl_pathc; i++)
        sum += look_number("", list.gl_pathv[i], 0);
    globfree(&list);
    return sum;
}

finding check_throttling(const doctor_place *place) {
    long long count = throttled(place->root);
    finding f = {.state = "harm",
                 .why = "a core that became too hot is slowed down in the middle of a sample",
                 .mend = "sudo cpupower frequency-set -u 80%"};
    if (count < 0)
        return unknown("the system does not count it");
    if (count == 0)
        return ok("never since the machine was started");
    snprintf(f.found, sizeof f.found, "%lld times since the machine was started", count);
    return f;
}

static bool has_flag(const char *root, const char *flag) {
    char text[LOOK_TEXT_BYTES], *save = NULL;
    look_at(root, "/proc/cpuinfo", text);
    char *flags = strstr(text, "flags");
    if (!flags)
        return false;
    flags[strcspn(flags, "\n")] = '\0';
    for (char *word = strtok_r(flags, " \t:", &save); word; word = strtok_r(NULL, " \t:", &save))
        if (strcmp(word, flag) == 0)
            return true;
    return false;
}

finding check_virtual_machine(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    finding f = {.state = "harm",
                 .found = "a hypervisor is below the system",
                 .why =
                     "other machines share its caches, memory and cores, and cannot be seen from "
                     "here; only a machine of its own mends that (a host without virtualisation, "
                     "or a dedicated instance)"};
    if (!look_at(place->root, "/proc/cpuinfo", text))
        return unknown("the system does not say");
    return has_flag(place->root, "hypervisor") ? f : ok("no");
}

/* Sums of the first line of /proc/stat: all time, and what the hypervisor took. */
static bool read_stolen(const char *root, long long *all, long long *taken) {
    char text[LOOK_TEXT_BYTES];
    long long v[8] = {0};
    if (!look_at(root, "/proc/stat", text) ||
        sscanf(text, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &v[0], &v[1], &v[2], &v[3],
               &v[4], &v[5], &v[6], &v[7]) < 8)
        return false;
    *all = 0;
    for (int i = 0; i < 8; i++)
        *all += v[i];
    *taken = v[7];
    return true;
}

finding check_stolen(const doctor_place *place) {
    long long all, taken;
    finding f = {.state = "harm",
                 .why = "the hypervisor let others run while this machine had work to do; a "
                        "dedicated instance, or a quieter hour, mends that"};
    if (!read_stolen(place->root, &all, &taken) || all == 0)
        return unknown("the system does not say");
    double share = (double)taken / (double)all;
    snprintf(f.found, sizeof f.found, "%.2f %% of the time since the machine was started",
             100 * share);
    if (share < 1e-3) {
        f.state = "ok";
        f.why = NULL;
    }
    return f;
}

finding check_counters(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    bool unit = look_at(place->root, "/sys/bus/event_source/devices/cpu/type", text) ||
                look_at(place->root, "/sys/bus/event_source/devices/cpu_core/type", text);
    long long paranoid = look_number(place->root, "/proc/sys/kernel/perf_event_paranoid", -1);
    finding f = {.state = "note",
                 .why =
                     "without them nobody can tell a slower kernel from a slower machine; tsr gate "
                     "--counters instructions counts in an emulator instead"};
    if (!unit) {
        snprintf(f.found, sizeof f.found, "the CPU's counters are not there%s",
                 has_flag(place->root, "hypervisor") ? ": the hypervisor keeps them" : "");
        return f;
    }
    if (paranoid <= 2)
        return ok("there, and open to this user's own processes");
    snprintf(f.found, sizeof f.found, "closed to users: perf_event_paranoid is %lld", paranoid);
    f.mend = "sudo sysctl kernel.perf_event_paranoid=2";
    return f;
}

finding check_clock_source(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    finding f = {.state = "harm",
                 .why = "reading the clock takes a system call, or an exit to the hypervisor",
                 .mend = "echo tsc | sudo tee "
                         "/sys/devices/system/clocksource/clocksource0/current_clocksource"};
    if (!look_at(place->root, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                 text))
        return unknown("the system does not say");
    snprintf(f.found, sizeof f.found, "%.60s", text);
    bool direct = strcmp(text, "tsc") == 0 || strcmp(text, "arch_sys_counter") == 0;
    return direct ? ok(f.found) : f;
}
