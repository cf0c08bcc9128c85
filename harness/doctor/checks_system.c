/* checks_system.c - what else the system does, and how it deals out cores, ticks and memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/foreign/foreign.h"
#include "doctor/look.h"

static finding ok(const char *found) {
    finding f = {.state = "ok"};
    snprintf(f.found, sizeof f.found, "%.500s", found);
    return f;
}

static finding unknown(void) {
    return (finding){.state = "unknown", .found = "the system does not say"};
}

finding check_pressure(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    double share = 0;
    finding f = {.state = "harm",
                 .why = "that often somebody waits for a core; on an idle machine nobody does"};
    if (!look_at(place->root, "/proc/pressure/cpu", text) ||
        sscanf(text, "some avg10=%lf", &share) != 1)
        return unknown();
    snprintf(f.found, sizeof f.found, "%.1f %% of the last 10 s", share);
    if (share > 1)
        return f;
    return ok(f.found);
}

/* ---- quotas of control groups ---- */

typedef struct quota {
    double cores; /* negative: no limit */
    long long throttled;
    bool known;
} quota;

static quota unified_quota(const char *root, const char *group) {
    char path[LOOK_TEXT_BYTES + 64], text[LOOK_TEXT_BYTES];
    quota q = {.cores = -1};
    double limit, period;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    q.known = look_at(root, path, text);
    if (q.known && sscanf(text, "%lf %lf", &limit, &period) == 2 && period > 0)
        q.cores = limit / period;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.stat", group);
    const char *line = look_at(root, path, text) ? strstr(text, "nr_throttled ") : NULL;
    if (line)
        q.throttled = strtoll(line + strlen("nr_throttled "), NULL, 10);
    return q;
}

static quota old_quota(const char *root) {
    long long limit = look_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", -2);
    long long period = look_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", 0);
    quota q = {.cores = -1, .known = limit != -2};
    if (limit > 0 && period > 0)
        q.cores = (double)limit / (double)period;
    return q;
}

finding check_quota(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES], group[LOOK_TEXT_BYTES] = "";
    finding f = {.state = "harm",
                 .why = "the group is stopped for the rest of each period in which it used up its "
                        "quota"};
    if (!look_at(place->root, "/proc/self/cgroup", text))
        return unknown();
    const char *line = strstr(text, "0::");
    if (line)
        snprintf(group, sizeof group, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    if (strcmp(group, "/") == 0)
        group[0] = '\0';
    quota q = unified_quota(place->root, group);
    if (q.known)
        snprintf(f.mend_text, sizeof f.mend_text, "echo max | sudo tee /sys/fs/cgroup%.80s/cpu.max",
                 group);
    else
        q = old_quota(place->root);
    if (!f.mend_text[0])
        f.mend = "echo -1 | sudo tee /sys/fs/cgroup/cpu/cpu.cfs_quota_us";
    if (q.cores < 0 && q.throttled == 0)
        return ok("no limit");
    snprintf(f.found, sizeof f.found, "%.2f cores; stopped %lld times", q.cores, q.throttled);
    return f;
}

/* ---- cores and ticks ---- */

/* For the next start of the machine. */
#define KERNEL_OPTION(option)                                                                      \
    "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&" option " /' /etc/default/grub && sudo update-grub"

finding check_isolation(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    finding f = {.state = "note",
                 .found = "no core is kept free of other work",
                 .why = "the scheduler puts others on the cores that are timed",
                 .mend = KERNEL_OPTION("isolcpus=1")};
    if (!look_at(place->root, "/sys/devices/system/cpu/isolated", text))
        return unknown();
    if (!*text)
        return f;
    snprintf(f.found, sizeof f.found, "cores %.60s; use them with taskset", text);
    return ok(f.found);
}

finding check_ticks(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    finding f = {.state = "note",
                 .found = "no core is spared the timer's ticks",
                 .why = "a busy core is interrupted some hundred times a second",
                 .mend = KERNEL_OPTION("nohz_full=1")};
    if (!look_at(place->root, "/sys/devices/system/cpu/nohz_full", text))
        return unknown();
    if (!*text || strcmp(text, "(null)") == 0)
        return f;
    snprintf(f.found, sizeof f.found, "cores %.60s run without ticks", text);
    return ok(f.found);
}

finding check_timer_slack(const doctor_place *place) {
    long long ns = look_number(place->root, "/proc/self/timerslack_ns", -1);
    finding f = {.state = "note",
                 .why = "sleeping threads may be woken later than they asked for",
                 .mend = "echo 50000 | sudo tee /proc/$$/timerslack_ns"};
    if (ns < 0)
        return unknown();
    snprintf(f.found, sizeof f.found, "%lld us", ns / 1000);
    return ns <= 50000 ? ok(f.found) : f;
}

/* ---- memory ---- */

finding check_numa(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    finding f = {.state = "note",
                 .why = "memory of another node is slower, and who gets which is chance",
                 .mend = "numactl --cpunodebind=0 --membind=0 tsr bench"};
    if (!look_at(place->root, "/sys/devices/system/node/online", text))
        return unknown();
    if (!strpbrk(text, "-,"))
        return ok("one");
    snprintf(f.found, sizeof f.found, "nodes %.60s", text);
    return f;
}

finding check_numa_balancing(const doctor_place *place) {
    long long on = look_number(place->root, "/proc/sys/kernel/numa_balancing", -1);
    finding f = {.state = "harm",
                 .found = "on",
                 .why = "pages are taken away and moved while a kernel runs",
                 .mend = "sudo sysctl kernel.numa_balancing=0"};
    if (on < 0)
        return unknown();
    return on ? f : ok("off");
}

finding check_huge_pages(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    finding f = {.state = "harm",
                 .found = "never",
                 .why = "large tensors lie in small pages: slower, and by another amount each time",
                 .mend = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
    if (!look_at(place->root, "/sys/kernel/mm/transparent_hugepage/enabled", text))
        return unknown();
    return strstr(text, "[never]") ? f : ok(strstr(text, "[always]") ? "always" : "on request");
}

finding check_swap(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    finding f = {.state = "harm",
                 .why = "a page that went to the disk comes back in milliseconds",
                 .mend = "sudo swapoff -a"};
    long long used = 0;
    if (!look_at(place->root, "/proc/swaps", text))
        return unknown();
    for (const char *line = strchr(text, '\n'); line; line = strchr(line + 1, '\n')) {
        long long size, of_it = 0;
        if (sscanf(line + 1, "%*s %*s %lld %lld", &size, &of_it) == 2)
            used += of_it;
    }
    if (used == 0)
        return ok("none is used");
    snprintf(f.found, sizeof f.found, "%lld MiB are used", used >> 10);
    return f;
}

finding check_layout(const doctor_place *place) {
    long long how = look_number(place->root, "/proc/sys/kernel/randomize_va_space", -1);
    finding f = {.state = "note",
                 .found = "addresses are the same in every process",
                 .why =
                     "a kernel may be fast or slow by the addresses that it happens to get; over "
                     "many of them that evens out, of one it is a bias",
                 .mend = "sudo sysctl kernel.randomize_va_space=2"};
    if (how < 0)
        return unknown();
    return how >= 2 ? ok("on") : f;
}

/* ---- code of others ---- */

/* Command that permits users namespaces; NULL: nothing seen forbids them. */
static const char *what_forbids(const char *root) {
    static const struct {
        const char *path;
        long long forbids;
        const char *mend;
    } settings[] = {
        {"/proc/sys/user/max_user_namespaces", 0, "sudo sysctl user.max_user_namespaces=1000"},
        {"/proc/sys/user/max_pid_namespaces", 0, "sudo sysctl user.max_pid_namespaces=1000"},
        {"/proc/sys/kernel/unprivileged_userns_clone", 0,
         "sudo sysctl kernel.unprivileged_userns_clone=1"},
        {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
         "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (look_number(root, settings[i].path, -1) == settings[i].forbids)
            return settings[i].mend;
    return NULL;
}

/* A machine of files is not tried: its settings are all that there is. */
finding check_guests(const doctor_place *place) {
    status why = STATUS_INIT;
    char text[LOOK_TEXT_BYTES];
    finding f = {.state = "note",
                 .why = "code of others (--with) can find and stop that of other columns, whose "
                        "results are then no verdicts",
                 .mend = what_forbids(place->root)};
    bool here = !*place->root;
    if (!here && !look_at(place->root, "/proc/sys/user/max_user_namespaces", text))
        return unknown();
    if (here ? foreign_is_apart(&why) : !f.mend)
        return ok("code of others has processes of its own alone in sight");
    snprintf(f.found, sizeof f.found, "%.400s",
             here ? why.message : "the system gives a guest no namespaces of its own");
    return f;
}
