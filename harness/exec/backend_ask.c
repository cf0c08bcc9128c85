/* backend_ask.c - a child process looks for a backend's device, so that this one does not open the
 * library of a GPU: neither CUDA nor HIP works in a process that was forked from one that used it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/device.h"
#include "exec/backend_device.h"
#include "process/child.h"

enum { WANTED_BYTES = 64, ISA_BYTES = 32, TIMEOUT_S = 60 };

typedef struct answer {
    char wanted[WANTED_BYTES];
    bool done, ok;
    uint32_t device;
    char isa[ISA_BYTES];
    status st;
} answer;

/* Its best code is that of an opened device, which a probe may have found more of. */
static bool find_isa(uint32_t index, answer *out) {
    uint32_t own_index = 0;
    device_info info;
    const device_driver *driver = device_listed_at(index, &own_index);
    if (!driver || !driver->enumerate(own_index, &info))
        return true;
    if (driver->examine && driver->tries_code && !driver->examine(own_index, &info, &out->st))
        return false;
    snprintf(out->isa, sizeof out->isa, "%s", info.isa);
    return true;
}

static _Noreturn void become_child(const backend *b, const char *wanted, answer *out) {
    alarm(TIMEOUT_S);
    out->ok = backend_device(b, wanted, &out->device, &out->st) && find_isa(out->device, out);
    out->done = true;
    _exit(0);
}

static bool told_by_its_end(const backend *b, const child_end *end, status *st) {
    text how;
    text_init(&how);
    child_end_text(end, &how);
    status_set(st, STATUS_UNAVAILABLE,
               "backend %s cannot run here: a process that looked for its device %s%s", b->name,
               end->how == CHILD_KILLED ? "was " : "", how.data);
    text_release(&how);
    return false;
}

/* In the child's words, or by how it ended. */
static bool look(const backend *b, const char *wanted, answer *out, status *st) {
    child_end end;
    answer *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return status_set_errno(st, errno, "cannot have memory for an answer");
    pid_t child = child_fork();
    if (child == 0)
        become_child(b, wanted, shared);
    bool ok = (child > 0 && child_wait(child, &end)) ||
              status_set_errno(st, errno, "cannot start a process");
    if (ok && !shared->done)
        ok = told_by_its_end(b, &end, st);
    *out = *shared;
    munmap(shared, sizeof *shared);
    return ok;
}

bool backend_device_ask(const backend *b, const char *wanted, uint32_t *index, const char **isa_out,
                        status *st) {
    static answer known[BACKEND_COUNT];
    answer *a = &known[b - backend_table];
    const char *name = wanted ? wanted : "";
    *isa_out = NULL;
    *index = 0;
    if (!backend_is_for_device(b))
        return backend_device(b, wanted, index, st);
    if (strlen(name) >= WANTED_BYTES)
        return status_set(st, STATUS_INVALID, "'%s' is no device: NAME or NAME:INDEX", name);
    if (!a->done || strcmp(a->wanted, name) != 0) {
        answer found;
        if (!look(b, wanted, &found, st))
            return false;
        *a = found;
        snprintf(a->wanted, sizeof a->wanted, "%s", name);
    }
    *isa_out = a->ok ? a->isa : NULL;
    *index = a->device;
    return a->ok || status_set(st, a->st.code, "%s", a->st.message);
}
