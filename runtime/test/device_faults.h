/* device_faults.h - what goes wrong on a device whose library is ours: steps of a life with it, of
 * which a row says the one that fails, with which code and words. After each row nothing is alive.
 *
 * Each row has a process of its own, since a library is opened once. */
#ifndef TESSERA_RUNTIME_DEVICE_FAULTS_H
#define TESSERA_RUNTIME_DEVICE_FAULTS_H

#include "test/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/device_bench.h"

typedef enum step {
    DESCRIBE,
    OPEN,
    ALLOC,        /* 1 MiB */
    ALLOC_PINNED, /* likewise */
    ALLOC_LARGER, /* 3 MiB, which are kept, then 4, for which they go back, and pinned ones */
    LOAD,
    LOAD_RUBBISH,
    LOAD_NOWHERE, /* a function that the module does not have */
    LOAD_F64,     /* code with 64-bit floats, where such is at hand */
    LOAD_F16,     /* likewise */
    LAUNCH_MANY,  /* 2^30 workgroups */
    LAUNCH,       /* twice */
    LAUNCH_LARGE, /* workgroups of 64 KiB of shared memory */
    LAUNCH_LONG,  /* with a workspace of 2 MiB */
    LAUNCH_LIMITED,
    REPLAY, /* a sequence of a launch, three times */
    NOTHING
} step;

typedef struct fault {
    const char *driver, *library, *faults;
    step at; /* what fails; all before it does not */
    status_code code;
    const char *words;
} fault;

struct rig;

/* The library's side. */
typedef struct fault_library {
    void (*provide)(const fault *row); /* to this process, before anybody looks */
    uint64_t (*launches)(const fault *row);
    void (*end)(const fault *row); /* endless launches */
    void (*expect_nothing_alive)(const fault *row);
    /* Recordings that it was given to do, ever; and what is alive of them after three replays, that
     * went well or not. NULL: it records none. */
    uint64_t (*replays)(const fault *row);
    void (*expect_recordings)(const struct rig *r, bool ok, uint64_t replays);
    /* Code with one phase; NULL: there is none at hand. */
    const device_source *(*code)(step what);
} fault_library;

/* ---- steps ---- */

/* Everything that has been made until now. */
typedef struct rig {
    const fault *row;
    const fault_library *library;
    bench b;
    device_memory *large, *in, *out;
    device_memory *out_beside; /* of `beside`: two launches at once do not write the same memory */
    device_image *image;
    device_sequence *sequence;
    launch_of *beside; /* without a limit, that another thread waits for */
    pthread_t waiter;
} rig;

static const device_driver *driver_of(const rig *r) {
    return r->b.driver;
}

static inline void expect_failure(const fault *row, const status *st) {
    if (st->code != row->code || !strstr(st->message, row->words))
        fail_msg("'%s' for %s, not '%s': %s", status_code_name(st->code), row->faults, row->words,
                 st->message);
}

static inline bool describes(rig *r, status *st) {
    device_info info;
    bool there = driver_of(r)->enumerate(r->b.index, &info);
    if (!there)
        driver_of(r)->absent(st);
    return there;
}

static inline void note_times(void *context, const device_times *times) {
    (void)context;
    assert_int_equal(times->phases, 2);
}

static inline bool opens(rig *r, status *st) {
    static const device_options options = {.threads = 1, .timed = note_times};
    if (!device_open(r->b.driver, r->b.index, &options, &r->b.d, st))
        return false;
    return driver_of(r)->queue_create(r->b.d, true, &r->b.sync, st) &&
           driver_of(r)->queue_create(r->b.d, false, &r->b.queues[0], st);
}

static inline bool allocates(rig *r, device_memory_kind kind, status *st) {
    if (!driver_of(r)->alloc(r->b.d, 1 << 20, kind, &r->large, st))
        return false;
    driver_of(r)->free(r->b.d, r->large);
    return true;
}

static inline bool allocates_larger(rig *r, status *st) {
    static const struct {
        size_t bytes;
        device_memory_kind kind;
    } steps[] = {{3 << 20, DEVICE_MEMORY_DEVICE},
                 {4 << 20, DEVICE_MEMORY_DEVICE},
                 {3 << 20, DEVICE_MEMORY_PINNED},
                 {2 << 20, DEVICE_MEMORY_DEVICE}};
    device_memory *m;
    device_counts counts;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (!driver_of(r)->alloc(r->b.d, steps[i].bytes, steps[i].kind, &m, st))
            return false;
        driver_of(r)->free(r->b.d, m);
        driver_of(r)->count(r->b.d, &counts);
        assert_true(counts.memory[steps[i].kind].held_bytes >= steps[i].bytes);
        assert_int_equal(counts.memory[steps[i].kind].used_bytes, 0);
    }
    return true;
}

/* The kernels; as rubbish, or with a function of another name. */
static inline bool loads(rig *r, step how, status *st) {
    const char *symbols[] = {"phase_double", how == LOAD_NOWHERE ? "phase_nowhere" : "phase_add"};
    bytes kernels = read_kernels(r->b.driver->name, "kernel_good");
    const device_source source = {kernels.data,
                                  how == LOAD_RUBBISH ? 1 : kernels.size,
                                  "target",
                                  "kernels",
                                  symbols,
                                  2,
                                  4,
                                  NULL,
                                  NULL,
                                  NULL};
    device_image *image;
    bool ok = driver_of(r)->load(r->b.d, &source, &image, st);
    free(kernels.data);
    if (ok && how == LOAD)
        r->image = image;
    else if (ok)
        driver_of(r)->unload(r->b.d, image);
    return ok;
}

static inline bool loads_code(rig *r, step what, status *st) {
    const device_source *source = r->library->code ? r->library->code(what) : NULL;
    device_image *image;
    bool ok = !source || driver_of(r)->load(r->b.d, source, &image, st);
    if (source && ok)
        driver_of(r)->unload(r->b.d, image);
    return ok;
}

/* Nothing but the device's loss ends this. */
static inline void *wait_beside(void *argument) {
    rig *r = argument;
    assert_false(driver_of(r)->submit(r->b.sync, &r->beside->command, 1, NULL));
    return NULL;
}

static inline void launch_beside(rig *r) {
    r->out_beside = new_memory(&r->b, BYTES, DEVICE_MEMORY_DEVICE);
    r->beside = launch_new(r->image, r->in, r->out_beside);
    assert_int_equal(pthread_create(&r->waiter, NULL, wait_beside, r), 0);
    while (r->library->launches(r->row) == 0)
        ;
}

static inline bool launches(rig *r, step how, status *st) {
    if (!r->in)
        r->in = new_memory(&r->b, BYTES, DEVICE_MEMORY_DEVICE);
    if (!r->out)
        r->out = new_memory(&r->b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(r->image, r->in, r->out);
    device_queue *queue = how == LAUNCH ? r->b.sync : r->b.queues[0];
    if (how == LAUNCH_MANY)
        l->workgroups[0] = 1 << 30;
    if (how == LAUNCH_LARGE)
        l->command.dispatch.workgroup_bytes = 65536;
    if (how == LAUNCH_LONG)
        l->command.dispatch.workspace_bytes = 2 << 20;
    if (how == LAUNCH_LIMITED)
        l->command.limit_ns = r->row->at == LAUNCH_LIMITED ? 20000000 : 60000000000;
    if (how == LAUNCH_LIMITED && r->row->at == how)
        launch_beside(r);
    l->command.dispatch.timed = how == LAUNCH;
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++)
        ok = driver_of(r)->submit(queue, &l->command, 1, st) && driver_of(r)->await(queue, st);
    free(l);
    return ok;
}

static inline bool replays(rig *r, status *st) {
    if (!r->library->replays)
        return true;
    const uint64_t before = r->library->replays(r->row);
    launch_of *l = launch_new(r->image, r->in, r->out);
    device_sequence *s = driver_of(r)->sequence_create(r->b.d);
    const device_command commands[] = {{.kind = DEVICE_REPLAY, .replay = {s, 1}}, l->command};
    bool ok = true;
    for (int i = 0; i < 3 && ok; i++)
        ok = driver_of(r)->submit(r->b.queues[0], commands, COUNT_OF(commands), st) &&
             driver_of(r)->await(r->b.queues[0], st);
    r->library->expect_recordings(r, ok, r->library->replays(r->row) - before);
    r->sequence = s; /* that of a lost device may be in use until it is cancelled */
    free(l);
    return ok;
}

static inline bool does(rig *r, step what, status *st) {
    switch (what) {
    case DESCRIBE:
        return describes(r, st);
    case OPEN:
        return opens(r, st);
    case ALLOC:
        return allocates(r, DEVICE_MEMORY_DEVICE, st);
    case ALLOC_PINNED:
        return allocates(r, DEVICE_MEMORY_PINNED, st);
    case ALLOC_LARGER:
        return allocates_larger(r, st);
    case LOAD:
    case LOAD_RUBBISH:
    case LOAD_NOWHERE:
        return loads(r, what, st);
    case LOAD_F64:
    case LOAD_F16:
        return loads_code(r, what, st);
    case REPLAY:
        return replays(r, st);
    default:
        return launches(r, what, st);
    }
}

/* Steps that always fail are for the rows that are about them, and those that need room for all
 * but such rows. */
static inline bool is_done(const fault *row, step what) {
    bool rubbish = what == LOAD_RUBBISH || what == LOAD_NOWHERE || what == LAUNCH_MANY;
    bool narrow = what == ALLOC_LARGER && strstr(row->faults, "memory=12");
    bool endless = row->at == LAUNCH_LIMITED && what >= LAUNCH && what < LAUNCH_LIMITED;
    return what == row->at || (!rubbish && !endless && !narrow);
}

static inline void close_rig(rig *r) {
    if (r->in)
        driver_of(r)->free(r->b.d, r->in);
    if (r->out)
        driver_of(r)->free(r->b.d, r->out);
    if (r->out_beside)
        driver_of(r)->free(r->b.d, r->out_beside);
    if (r->sequence)
        driver_of(r)->sequence_destroy(r->b.d, r->sequence);
    if (r->image)
        driver_of(r)->unload(r->b.d, r->image);
    if (r->b.queues[0])
        driver_of(r)->queue_destroy(r->b.d, r->b.queues[0]);
    if (r->b.sync)
        driver_of(r)->queue_destroy(r->b.d, r->b.sync);
    if (r->b.d)
        driver_of(r)->close(r->b.d);
}

/* Nothing works on a lost device, and its queues end only when the GPU does. */
static inline void expect_lost(rig *r) {
    status st = STATUS_INIT;
    const device_command fill = fill_of(span_of(r->in), 1, 4);
    assert_false(driver_of(r)->usable(r->b.d, &st));
    expect_failure(r->row, &st);
    assert_false(driver_of(r)->submit(r->b.queues[0], &fill, 1, NULL));
    assert_false(driver_of(r)->submit(r->b.sync, &fill, 1, NULL));
    if (r->row->at == LAUNCH_LIMITED) {
        pthread_join(r->waiter, NULL);
        free(r->beside);
        assert_false(driver_of(r)->cancel(r->b.d));
        r->library->end(r->row);
    }
    for (int i = 0; i < 1000 && !driver_of(r)->cancel(r->b.d); i++)
        usleep(10000);
    assert_true(driver_of(r)->cancel(r->b.d));
}

typedef struct fault_case {
    const fault *row;
    const fault_library *library;
} fault_case;

static inline void ends_in_a_status(void **state) {
    const fault_case *c = *state;
    const fault *row = c->row;
    const bool second = strstr(row->faults, "devices=2") != NULL;
    rig r = {.row = row,
             .library = c->library,
             .b = {.driver = device_driver_find(row->driver), .index = second}};
    status st = STATUS_INIT;
    c->library->provide(row);
    for (step what = DESCRIBE; what < row->at; what++)
        if (is_done(row, what) && !does(&r, what, &st))
            fail_msg("%s: step %d fails: %s", row->faults, what, st.message);
    if (row->code != STATUS_OK) {
        assert_false(does(&r, row->at, &st));
        expect_failure(row, &st);
    }
    if (row->code == STATUS_DEVICE_LOST || row->code == STATUS_TIMEOUT)
        expect_lost(&r);
    else if (r.b.d && row->at != LAUNCH_LIMITED)
        assert_true(driver_of(&r)->usable(r.b.d, &st));
    close_rig(&r);
    c->library->expect_nothing_alive(row);
}

/* ---- processes ---- */

static inline int in_child(CMUnitTestFunction test, const char *name, const void *state) {
    int how = 1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct CMUnitTest tests[] = {{name, test, NULL, NULL, (void *)(uintptr_t)state}};
        exit(cmocka_run_group_tests_name(name, tests, NULL, NULL));
    }
    waitpid(child, &how, 0);
    return how != 0;
}

/* Counts the rows that are not as they say. */
static inline int run_faults(const fault_library *library, const fault *rows, size_t count) {
    int failed = 0;
    char name[256];
    for (size_t i = 0; i < count; i++) {
        const fault_case c = {&rows[i], library};
        snprintf(name, sizeof name, "%s, %s '%s'", rows[i].driver,
                 strrchr(rows[i].library, '/') + 1, rows[i].faults);
        failed += in_child(ends_in_a_status, name, &c);
    }
    return failed;
}

#endif
