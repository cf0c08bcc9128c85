/* counters.c - perf_event_open, with libpfm4 for the events' encodings. The only file that knows
 * libpfm4. */
#include "measure/counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <perfmon/pfmlib_perf_event.h>

static const struct event_name {
    const char *name, *encoding;
    bool hardware;
} event_names[] = {
    {"instructions", "PERF_COUNT_HW_INSTRUCTIONS", true},
    {"cycles", "PERF_COUNT_HW_CPU_CYCLES", true},
    {"cache-misses", "PERF_COUNT_HW_CACHE_MISSES", true},
    {"branch-misses", "PERF_COUNT_HW_BRANCH_MISSES", true},
    {"task-clock", "PERF_COUNT_SW_TASK_CLOCK", false},
    {"page-faults", "PERF_COUNT_SW_PAGE_FAULTS", false},
    {"context-switches", "PERF_COUNT_SW_CONTEXT_SWITCHES", false},
    {"cpu-migrations", "PERF_COUNT_SW_CPU_MIGRATIONS", false},
};
_Static_assert(sizeof event_names / sizeof event_names[0] == COUNTERS_MAX,
               "one slot for each event");

static int open_event(const struct event_name *event) {
    struct perf_event_attr attr = {.size = sizeof attr};
    pfm_perf_encode_arg_t encode = {.attr = &attr, .size = sizeof encode};
    if (pfm_get_os_event_encoding(event->encoding, PFM_PLM3, PFM_OS_PERF_EVENT, &encode) !=
        PFM_SUCCESS) {
        errno = ENOENT;
        return -1;
    }
    attr.size = sizeof attr;
    attr.disabled = 1;
    attr.inherit = 1;
    attr.exclude_kernel = event->hardware ? 1 : 0;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && !event->hardware && (errno == EACCES || errno == EPERM)) {
        attr.exclude_kernel = 1;
        fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd;
}

static void explain(counters *c, int error) {
    if (error == EACCES || error == EPERM)
        snprintf(c->why, sizeof c->why,
                 "not permitted; kernel.perf_event_paranoid or the container forbids it");
    else if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
        snprintf(c->why, sizeof c->why,
                 "this machine offers no hardware counters (common in virtual machines)");
    else
        snprintf(c->why, sizeof c->why, "perf_event_open: %s", strerror(error));
}

void counters_open(counters *c) {
    memset(c, 0, sizeof *c);
    bool library = pfm_initialize() == PFM_SUCCESS;
    for (int i = 0; i < COUNTERS_MAX; i++) {
        struct counters_event *event = &c->events[c->count++];
        event->name = event_names[i].name;
        event->hardware = event_names[i].hardware;
        event->fd = library ? open_event(&event_names[i]) : -1;
        if (event->fd < 0 && event->hardware && !c->why[0])
            explain(c, library ? errno : ENOSYS);
        if (event->fd >= 0 && event->hardware)
            c->kind = COUNTERS_HARDWARE;
        else if (event->fd >= 0 && c->kind == COUNTERS_NONE)
            c->kind = COUNTERS_SOFTWARE;
    }
}

void counters_close(counters *c) {
    for (int i = 0; i < c->count; i++)
        if (c->events[i].fd >= 0)
            close(c->events[i].fd);
    c->count = 0;
}

static void all_events(counters *c, unsigned long request) {
    for (int i = 0; i < c->count; i++)
        if (c->events[i].fd >= 0)
            ioctl(c->events[i].fd, request, 0);
}

void counters_start(counters *c) {
    all_events(c, PERF_EVENT_IOC_RESET);
    all_events(c, PERF_EVENT_IOC_ENABLE);
}

void counters_pause(counters *c) {
    all_events(c, PERF_EVENT_IOC_DISABLE);
}

void counters_resume(counters *c) {
    all_events(c, PERF_EVENT_IOC_ENABLE);
}

void counters_stop(counters *c, counters_values *out) {
    all_events(c, PERF_EVENT_IOC_DISABLE);
    for (int i = 0; i < c->count; i++) {
        struct {
            uint64_t value, enabled, running;
        } reading;
        out->value[i] = -1;
        if (c->events[i].fd < 0 ||
            read(c->events[i].fd, &reading, sizeof reading) != sizeof reading)
            continue;
        if (reading.running == 0)
            continue;
        out->value[i] = (double)reading.value * ((double)reading.enabled / (double)reading.running);
    }
}

const char *counters_kind_name(counters_kind kind) {
    static const char *const names[] = {"none", "software", "hardware"};
    return names[kind];
}
