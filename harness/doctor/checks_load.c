/* checks_load.c - who else is running: two readings of every process' time. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "doctor/look.h"

enum { TOP = 3 };

typedef struct process_time {
    long long pid, ticks;
    char name[32];
} process_time;
typedef VEC(process_time) process_times;

static bool read_one(const char *root, const char *pid, process_time *out) {
    char path[64], text[LOOK_TEXT_BYTES];
    long long user, kernel;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    if (!look_at(root, path, text))
        return false;
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open ||
        sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", &user,
               &kernel) != 2)
        return false;
    out->pid = strtoll(pid, NULL, 10);
    out->ticks = user + kernel;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(close - open - 1), open + 1);
    return true;
}

static void read_all(const char *root, process_times *out) {
    char path[512];
    snprintf(path, sizeof path, "%s/proc", root);
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        process_time one;
        if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name) &&
            read_one(root, entry->d_name, &one) && one.pid != getpid())
            vec_push(out, one);
    }
    if (list)
        closedir(list);
}

static int by_ticks(const void *a, const void *b) {
    const process_time *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* `later` becomes what each used in between, most first. */
static long long subtract(const process_times *before, process_times *later) {
    long long sum = 0;
    for (size_t i = 0; i < later->count; i++) {
        for (size_t k = 0; k < before->count; k++)
            if (before->items[k].pid == later->items[i].pid) {
                later->items[i].ticks -= before->items[k].ticks;
                break;
            }
        sum += later->items[i].ticks;
    }
    if (later->count)
        qsort(later->items, later->count, sizeof *later->items, by_ticks);
    return sum;
}

static void tell(const process_times *used, double ticks, double load, finding *f) {
    size_t length = (size_t)snprintf(f->found, sizeof f->found, "load %.2f", load);
    for (size_t i = 0; i < used->count && i < TOP && used->items[i].ticks > 0; i++) {
        const process_time *p = &used->items[i];
        length += (size_t)snprintf(f->found + length, sizeof f->found - length,
                                   "%s %s (%lld) %.0f %%", i ? "," : "; of a core,", p->name,
                                   p->pid, 100 * (double)p->ticks / ticks);
    }
    if (used->count && used->items[0].ticks > 0)
        snprintf(f->mend_text, sizeof f->mend_text, "sudo chrt --idle --pid 0 %lld",
                 used->items[0].pid);
}

finding check_load(const doctor_place *place) {
    char text[LOOK_TEXT_BYTES];
    double load = 0, ticks = (double)sysconf(_SC_CLK_TCK) * place->apart_ms * 1e-3;
    finding f = {.state = "harm", .why = "it takes cores, caches and memory from what is timed"};
    process_times before = {0}, later = {0};
    if (!look_at(place->root, "/proc/loadavg", text) || sscanf(text, "%lf", &load) != 1)
        return (finding){.state = "unknown", .found = "the system does not say"};
    read_all(place->root, &before);
    usleep(place->apart_ms * 1000);
    read_all(place->later, &later);
    double share = (double)subtract(&before, &later) / ticks;
    tell(&later, ticks, load, &f);
    if (share < 0.03 && load < 0.5) {
        f.state = "ok";
        f.why = NULL;
        f.mend_text[0] = '\0';
    }
    vec_release(&before);
    vec_release(&later);
    return f;
}
