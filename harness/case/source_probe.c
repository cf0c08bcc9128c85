/* source_probe.c - a child that reads ahead. */
#include "case/source_probe.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/interrupt.h"
#include "process/child.h"
#include "tessera/compiler.h"

enum { FILE_SECONDS = 60 };

/* ---- the child ---- */

/* Everything that reading a source does, once for each kernel's types. */
static void read_source(const char *path) {
    text said;
    status st = STATUS_INIT;
    text_init(&said);
    compiler_source *s = compiler_open(path, false, &said, &st);
    for (uint32_t i = 0; s && i < compiler_kernel_count(s); i++) {
        const compiler_kernel *k = compiler_kernel_at(s, i);
        if (!k->broken)
            ir_module_free(compiler_graph(s, k, k->case_count ? k->cases : NULL, &said));
    }
    compiler_close(s);
    text_release(&said);
}

static void read_all(const source_probe *p, int fd) {
    for (size_t i = p->next; i < p->count; i++) {
        read_source(p->paths[i]);
        if (write(fd, "", 1) != 1)
            break;
    }
    _exit(0);
}

/* ---- the parent ---- */

static void begin(source_probe *p) {
    int ends[2];
    p->pid = 0;
    if (p->next >= p->count || pipe(ends) != 0)
        return;
    p->pid = child_fork();
    if (p->pid == 0) {
        close(ends[0]);
        read_all(p, ends[1]);
    }
    close(ends[1]);
    p->fd = ends[0];
    if (p->pid < 0) {
        close(p->fd);
        p->pid = 0;
    }
}

void source_probe_start(source_probe *p, char *const *paths, size_t count) {
    *p = (source_probe){.paths = paths, .count = count};
    begin(p);
}

/* Waits for the child's end; it is gone then. */
static child_end end(source_probe *p, bool kill_it) {
    child_end how = {CHILD_RUNNING, 0};
    if (kill_it)
        kill(p->pid, SIGKILL);
    child_wait(p->pid, &how);
    close(p->fd);
    p->pid = 0;
    return how;
}

/* 1: a byte is there, or the child is gone; 0: it took too long; -1: interrupted. */
static int await(const source_probe *p) {
    struct pollfd one = {p->fd, POLLIN, 0};
    for (int passed_s = 0; passed_s < FILE_SECONDS; passed_s++) {
        int ready = poll(&one, 1, 1000);
        if (ready > 0)
            return 1;
        if (interrupt_seen)
            return -1;
    }
    return 0;
}

bool source_probe_passes(source_probe *p, size_t i, text *why) {
    while (p->pid && p->next <= i) {
        char byte;
        int ready = await(p);
        if (ready > 0 && read(p->fd, &byte, 1) == 1) {
            p->next++;
            continue;
        }
        child_end how = end(p, ready <= 0);
        if (ready < 0 || interrupt_seen)
            return true;
        if (ready == 0)
            text_printf(why, "reading it takes longer than %d seconds", FILE_SECONDS);
        else {
            text_append(why, "the process that reads it ");
            text_append(why, how.how == CHILD_KILLED ? "is " : "");
            child_end_text(&how, why);
        }
        p->next++;
        begin(p);
        return false;
    }
    return true;
}

void source_probe_stop(source_probe *p) {
    if (p->pid)
        end(p, true);
}

bool source_probe_one(const char *path, status *st) {
    char *paths[] = {base_strdup(path)};
    source_probe p;
    text why;
    text_init(&why);
    source_probe_start(&p, paths, 1);
    bool passes = source_probe_passes(&p, 0, &why);
    source_probe_stop(&p);
    if (!passes)
        status_set(st, STATUS_INTERNAL, "%s: %s; this is a bug of tsr", path, why.data);
    text_release(&why);
    free(paths[0]);
    return passes;
}
