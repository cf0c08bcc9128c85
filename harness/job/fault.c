/* fault.c - faults on purpose. */
#include "job/fault.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/sanitizer.h"
#include "launch/launch.h"

static const fault_info faults[] = {
#define FAULT(ID, name, kind, control, summary) {name, FAULT_KIND_##kind, control, summary},
#include "job/faults.def"
};

typedef enum fault_id {
#define FAULT(ID, ...) FAULT_##ID,
#include "job/faults.def"
    FAULT_COUNT
} fault_id;

const fault_info *fault_find(const char *name, size_t length) {
    for (int i = 0; i < FAULT_COUNT; i++)
        if (strlen(faults[i].name) == length && memcmp(faults[i].name, name, length) == 0)
            return &faults[i];
    return NULL;
}

const fault_info *fault_at(size_t index) {
    return index < FAULT_COUNT ? &faults[index] : NULL;
}

const char *fault_name(size_t index) {
    return index < FAULT_COUNT ? faults[index].name : NULL;
}

static bool means(const char *where, const char *kernel, const char *case_name) {
    size_t length = strlen(kernel);
    if (strncmp(where, kernel, length) != 0)
        return false;
    return where[length] == '\0' ||
           (where[length] == '/' && strcmp(where + length + 1, case_name) == 0);
}

const char *fault_for(const char *inject, const char *kernel, const char *case_name) {
    if (!inject)
        return NULL;
    const char *at = strchr(inject, '@');
    const fault_info *fault = fault_find(inject, at ? (size_t)(at - inject) : strlen(inject));
    return fault && (!at || means(at + 1, kernel, case_name)) ? fault->name : NULL;
}

static const fault_info *known(const char *fault) {
    return fault ? fault_find(fault, strlen(fault)) : NULL;
}

const char *fault_of_code(const char *fault) {
    const fault_info *f = known(fault);
    return f && f->kind == FAULT_KIND_CODE ? f->name : NULL;
}

/* ---- outputs ---- */

static bool apply_to(const fault_info *f, tensor *t) {
    size_t size = tensor_bytes(t), middle = (size_t)(tensor_count(t) / 2);
    unsigned char *bytes = t->data;
    if (size == 0)
        return false;
    switch ((fault_id)(f - faults)) {
    case FAULT_ZERO:
        memset(bytes, 0, size);
        return false; /* go on with the next output */
    case FAULT_STALE:
        memset(bytes, LAUNCH_POISON, size);
        return false;
    case FAULT_NAN:
        if (dtype_is_float(t->type))
            dtype_store(t->type, bytes, middle, (double)__builtin_nanf(""));
        return dtype_is_float(t->type);
    case FAULT_UNSTEADY: {
        static unsigned launches;
        bytes[middle * dtype_size(t->type)] ^= launches++ & 1;
        return true;
    }
    default:
        bytes[middle * dtype_size(t->type)] ^= 1;
        return true;
    }
}

bool fault_apply(const char *fault, tensor *outputs, uint32_t count, status *st) {
    const fault_info *f = known(fault);
    bool done = false, any = false;
    if (!f || f->kind != FAULT_KIND_OUTPUT)
        return true;
    for (uint32_t i = 0; i < count && !done; i++) {
        done = apply_to(f, &outputs[i]);
        any |= tensor_bytes(&outputs[i]) > 0;
    }
    bool everything = f == &faults[FAULT_ZERO] || f == &faults[FAULT_STALE];
    return done || (everything && any) ||
           status_set(st, STATUS_UNAVAILABLE, "fault %s does not apply: no output has %s", fault,
                      f == &faults[FAULT_NAN] ? "a float" : "an element");
}

/* ---- layout ---- */

bool fault_is_transposed(const char *fault) {
    return known(fault) == &faults[FAULT_TRANSPOSED];
}

bool fault_is_rounding(const char *fault) {
    return known(fault) == &faults[FAULT_WRONG_ROUNDING];
}

/* The last two axes that are longer than 1: rows by columns. */
static bool last_two(int rank, const int64_t *dims, int64_t *rows, int64_t *columns) {
    int64_t found[2] = {0, 0};
    int count = 0;
    for (int axis = rank - 1; axis >= 0 && count < 2; axis--)
        if (dims[axis] != 1)
            found[count++] = dims[axis];
    *columns = found[0];
    *rows = found[1];
    return *rows > 1 && *columns > 1;
}

bool fault_can_transpose(int rank, const int64_t *dims) {
    int64_t rows, columns;
    bool some = true;
    for (int axis = 0; axis < rank; axis++)
        some &= dims[axis] > 0;
    return some && last_two(rank, dims, &rows, &columns);
}

void fault_transpose(tensor *t) {
    int64_t rows = 1, columns = 1;
    last_two(t->rank, t->dims, &rows, &columns);
    size_t size = dtype_size(t->type), plane = (size_t)(rows * columns) * size;
    unsigned char *from = base_malloc(plane);
    for (size_t start = 0; start < tensor_bytes(t); start += plane) {
        unsigned char *to = (unsigned char *)t->data + start;
        memcpy(from, to, plane);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < columns; c++)
                memcpy(to + (size_t)(c * rows + r) * size, from + (size_t)(r * columns + c) * size,
                       size);
    }
    free(from);
}

/* ---- the process ---- */

enum { OOM_STEP_BYTES = 1 << 24, OOM_ROOM_BYTES = 1 << 30 };

/* Limits memory to what is mapped, and a little more: the machine is not to suffer. */
static void limit_memory(void) {
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (f) {
        if (fscanf(f, "%lu", &pages) != 1)
            pages = 0;
        fclose(f);
    }
    rlim_t room = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + OOM_ROOM_BYTES;
    struct rlimit now;
    if (pages && getrlimit(RLIMIT_AS, &now) == 0 && room < now.rlim_cur) {
        now.rlim_cur = room;
        (void)setrlimit(RLIMIT_AS, &now);
    }
}

void fault_prepare(const char *fault) {
    if (known(fault) == &faults[FAULT_OOM])
        limit_memory();
}

static void eat_memory(void) {
    for (;;) {
        void *memory = base_malloc(OOM_STEP_BYTES);
        memset(memory, 1, OOM_STEP_BYTES);
        /* Kept on purpose: the compiler may not drop the pair of calls. */
        __asm__ volatile("" : : "r"(memory) : "memory");
    }
}

void fault_trigger(const char *fault) {
    const fault_info *f = known(fault);
    if (!f || f->kind != FAULT_KIND_PROCESS)
        return;
    if (f == &faults[FAULT_OOM])
        eat_memory();
    if (f == &faults[FAULT_CRASH]) {
        if (BUILT_WITH_ASAN)
            signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    for (;;)
        pause();
}
