/* test_device.c - the conformance suite: what every device of every driver has to do, listed or
 * not. Each row of `rows` opens each device anew. */
#include "test/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/cuda/cuda.h"
#include "device/device.h"
#include "device/emulate/emulated.h"
#include "device/shared/gpu.h"
#include "device/simulated/simulated.h"
#include "test/device_bench.h"
#include "test/device_replay.h"
#include "test/device_threads.h"
#include "test/mock_level_zero/mock_control.h"

enum { EXIT_SKIPPED = 77 };

/* ---- rows ---- */

static void describes_itself(const bench *b) {
    device_info told;
    assert_true(b->driver->enumerate(b->index, &told));
    if (b->driver->tries_code)
        assert_true(!b->driver->examine || b->driver->examine(b->index, &told, NULL));
    const device_info *info = &b->d->info;
    assert_ptr_equal(b->d->driver, b->driver);
    assert_string_equal(info->backend, b->driver->name);
    assert_string_equal(info->name, told.name);
    assert_string_equal(info->isa, told.isa);
    assert_null(info->unavailable);
    assert_true(info->compute_units > 0 && info->timestamp_ns > 0);
    assert_true(info->memory_kinds & 1u << DEVICE_MEMORY_DEVICE);
    assert_int_equal(info->memory_kinds, told.memory_kinds);
    for (size_t i = 0; info->targets[i]; i++)
        assert_non_null(strchr(info->targets[i], '/'));
    assert_true(b->driver->usable(b->d, &(status){STATUS_OK, {0}}));
}

static void gives_memory_of_every_kind(const bench *b) {
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 100000, 5 << 20};
    unsigned char *sent = malloc(5 << 20), *got = malloc(5 << 20);
    for (size_t i = 0; i < 5 << 20; i++)
        sent[i] = (unsigned char)(i * 31 + i / 251);
    for (int kind = 0; kind < DEVICE_MEMORY_KIND_COUNT; kind++) {
        for (size_t i = 0; i < COUNT_OF(sizes) && (b->d->info.memory_kinds >> kind & 1); i++) {
            device_memory *from = new_memory(b, sizes[i], (device_memory_kind)kind),
                          *to = new_memory(b, sizes[i], (device_memory_kind)kind);
            assert_int_equal((uintptr_t)from->address % 64, 0);
            assert_int_equal(from->size_bytes, sizes[i]);
            assert_int_equal(from->kind, kind);
            memset(got, 0, sizes[i]);
            write_to(b, from, sent, sizes[i]);
            submit(b->queues[0], b, copy_of(span_of(to), span_of(from), sizes[i]));
            await(b, b->queues[0]);
            read_from(b, to, got, sizes[i]);
            assert_memory_equal(sent, got, sizes[i]);
            assert_true(b->driver->intact(b->d, from, NULL));
            b->driver->free(b->d, from);
            b->driver->free(b->d, to);
        }
    }
    free(sent);
    free(got);
}

static void fills_ranges(const bench *b) {
    device_memory *m = new_memory(b, 1000, DEVICE_MEMORY_DEVICE);
    unsigned char got[1000];
    device_span inner = {(unsigned char *)m->address + 100, m};
    submit(b->queues[1], b, fill_of(span_of(m), 0x11, 1000));
    submit(b->queues[1], b, fill_of(inner, 0x22, 37));
    submit(b->queues[1], b, copy_of(host_span(got), span_of(m), 1000));
    await(b, b->queues[1]);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(got[i], i >= 100 && i < 137 ? 0x22 : 0x11);
    b->driver->free(b->d, m);
}

static void memory_that_there_is_not_is_refused(const bench *b) {
    device_memory *m;
    status st = STATUS_INIT;
    assert_false(b->driver->alloc(b->d, SIZE_MAX - 10, DEVICE_MEMORY_DEVICE, &m, &st));
    assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
}

static void maps_what_it_says(const bench *b) {
    for (int kind = 0; kind < DEVICE_MEMORY_KIND_COUNT; kind++) {
        if (!(b->d->info.mappable_kinds >> kind & 1))
            continue;
        device_memory *m = new_memory(b, 300, (device_memory_kind)kind);
        unsigned char *host, got[300];
        for (int round = 1; round <= 2; round++) {
            assert_true(b->driver->map(b->d, m, (void **)&host, NULL));
            assert_true(!b->d->info.host_addressable || host == m->address);
            memset(host, round, 300);
            host[299] = 99;
            read_from(b, m, got, 300);
            assert_int_equal(got[0], round);
            assert_int_equal(got[299], 99);
            submit(b->sync, b, fill_of(span_of(m), 0x77, 10));
            assert_int_equal(host[9], 0x77);
            b->driver->unmap(b->d, m);
        }
        b->driver->free(b->d, m);
    }
}

static void runs_whole_kernels(const bench *b) {
    float a[FLOATS], out[FLOATS];
    device_image *image = load(b, "kernel_good", "phase_double", "phase_add");
    device_memory *in = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE),
                  *result = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(image, in, result);
    assert_int_equal(image->phase_count, 2);
    for (int i = 0; i < FLOATS; i++)
        a[i] = (float)i;
    write_to(b, in, a, BYTES);
    for (int way = 0; way < 3; way++) {
        device_queue *q = way == 2 ? b->sync : b->queues[way];
        submit(b->sync, b, fill_of(span_of(result), 0, BYTES));
        submit(q, b, l->command);
        await(b, q);
        read_from(b, result, out, BYTES);
        for (int i = 0; i < FLOATS && computes(b); i++)
            assert_true(out[i] == (float)(2 * i + i % 4 + 1));
    }
    b->driver->unload(b->d, image);
    b->driver->free(b->d, in);
    b->driver->free(b->d, result);
    free(l);
}

/* Phases with a constant write memory that is given, or for one launch the device's own. */
static void keeps_what_was_prepared(const bench *b) {
    float a[FLOATS], out[FLOATS];
    device_image *image = load(b, "kernel_prepared", "phase_twice_prepared", "phase_add_prepared");
    device_memory *in = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE),
                  *result = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE),
                  *prepared = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(image, in, result);
    device_dispatch *p = &l->command.dispatch;
    static const struct {
        float scale; /* of the input */
        bool given, first, second;
        float made; /* of which scale the output is */
    } steps[] = {{1, true, true, false, -1}, {2, true, false, true, 1}, {2, false, true, true, 2},
                 {3, true, false, true, 1},  {3, true, true, true, 3},  {4, true, false, true, 3}};
    p->workspace_bytes = 4;
    p->prepared_bytes = BYTES;
    for (size_t s = 0; s < COUNT_OF(steps); s++) {
        for (int i = 0; i < FLOATS; i++)
            a[i] = steps[s].scale * (float)i;
        write_to(b, in, a, BYTES);
        p->prepared = steps[s].given ? span_of(prepared) : host_span(NULL);
        l->workgroups[0] = steps[s].first ? FLOATS : 0;
        l->workgroups[1] = steps[s].second ? FLOATS : 0;
        submit(b->queues[s % 2], b, l->command);
        await(b, b->queues[s % 2]);
        read_from(b, result, out, BYTES);
        for (int i = 0; i < FLOATS && steps[s].second && computes(b); i++)
            assert_true(out[i] == 2 * steps[s].made * (float)i + 1);
    }
    b->driver->unload(b->d, image);
    b->driver->free(b->d, in);
    b->driver->free(b->d, result);
    b->driver->free(b->d, prepared);
    free(l);
}

static void copies_what_a_launch_points_at(const bench *b) {
    float a[FLOATS], out[FLOATS];
    device_image *image = load(b, "kernel_good", "phase_double", "phase_add");
    device_memory *in = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE),
                  *result = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    for (int i = 0; i < FLOATS; i++)
        a[i] = (float)i;
    write_to(b, in, a, BYTES);
    launch_of *l = launch_new(image, in, result);
    submit(b->queues[0], b, l->command);
    memset(l, 0xEE, sizeof *l); /* it was read already */
    free(l);
    await(b, b->queues[0]);
    read_from(b, result, out, BYTES);
    for (int i = 0; i < FLOATS && computes(b); i++)
        assert_true(out[i] == (float)(2 * i + i % 4 + 1));
    b->driver->unload(b->d, image);
    b->driver->free(b->d, in);
    b->driver->free(b->d, result);
}

static void refuses_what_is_no_code(const bench *b) {
    const char *symbols[] = {"phase_double"};
    const device_source source = {
        "rubbish", 7, b->d->info.targets[0], "rubbish", symbols, 1, 0, NULL, NULL, NULL};
    device_image *image;
    status st = STATUS_INIT;
    assert_false(b->driver->load(b->d, &source, &image, &st));
    assert_int_equal(st.code, STATUS_CORRUPT);
}

static void one_queue_keeps_its_order(const bench *b) {
    device_memory *m = new_memory(b, 64, DEVICE_MEMORY_DEVICE);
    unsigned char got[50][64];
    for (int i = 0; i < 50; i++) {
        submit(b->queues[0], b, fill_of(span_of(m), (unsigned char)i, 64));
        submit(b->queues[0], b, copy_of(host_span(got[i]), span_of(m), 64));
    }
    await(b, b->queues[0]);
    for (int i = 0; i < 50; i++)
        assert_true(got[i][0] == i && got[i][63] == i);
    b->driver->free(b->d, m);
}

static void batches_are_taken_whole(const bench *b) {
    device_memory *m = new_memory(b, 64, DEVICE_MEMORY_DEVICE);
    unsigned char got[64] = {0};
    const device_command batch[] = {fill_of(span_of(m), 5, 64),
                                    copy_of(host_span(got), span_of(m), 64),
                                    fill_of(span_of(m), 6, 64)};
    assert_true(b->driver->submit(b->queues[0], batch, 3, NULL));
    await(b, b->queues[0]);
    assert_int_equal(got[63], 5);
    assert_true(b->driver->submit(b->sync, batch, 3, NULL));
    read_from(b, m, got, 64);
    assert_int_equal(got[63], 6);
    assert_true(b->driver->submit(b->queues[0], NULL, 0, NULL));
    await(b, b->queues[0]);
    b->driver->free(b->d, m);
}

/* Each queue adds to what the other did: one link that is missing breaks the chain. */
static void events_order_queues(const bench *b) {
    enum { LINKS = 40 };
    device_memory *m = new_memory(b, LINKS + 1, DEVICE_MEMORY_DEVICE);
    device_event *events[LINKS];
    unsigned char got[LINKS + 1];
    submit(b->sync, b, fill_of(span_of(m), 0, LINKS + 1));
    submit(b->sync, b, fill_of(span_of(m), 0x3C, 1));
    for (int i = 0; i < LINKS; i++) {
        device_queue *q = b->queues[i % 2];
        device_span from = {(unsigned char *)m->address + i, m},
                    to = {(unsigned char *)m->address + i + 1, m};
        assert_true(b->driver->event_create(b->d, &events[i], NULL));
        if (i > 0)
            submit(q, b, event_command(DEVICE_WAIT, events[i - 1]));
        submit(q, b, copy_of(to, from, 1));
        submit(q, b, event_command(DEVICE_RECORD, events[i]));
    }
    submit(b->sync, b, event_command(DEVICE_WAIT, events[LINKS - 1]));
    read_from(b, m, got, LINKS + 1);
    for (int i = 0; i <= LINKS; i++)
        assert_int_equal(got[i], 0x3C);
    for (int i = 0; i < LINKS; i++)
        b->driver->event_destroy(b->d, events[i]);
    b->driver->free(b->d, m);
}

/* A wait is for the recording that was asked for before it, not for later ones. */
static void waits_are_for_what_was_asked_for(const bench *b) {
    device_event *event, *other;
    assert_true(b->driver->event_create(b->d, &event, NULL));
    assert_true(b->driver->event_create(b->d, &other, NULL));
    submit(b->queues[0], b, event_command(DEVICE_WAIT, event)); /* never asked for: no wait */
    submit(b->queues[1], b, event_command(DEVICE_RECORD, event));
    submit(b->queues[0], b, event_command(DEVICE_WAIT, event));
    submit(b->queues[0], b, event_command(DEVICE_RECORD, other));
    submit(b->queues[1], b, event_command(DEVICE_WAIT, other));
    submit(b->queues[1], b, event_command(DEVICE_RECORD, event)); /* behind the wait for it */
    await(b, b->queues[0]);
    await(b, b->queues[1]);
    b->driver->event_destroy(b->d, event);
    b->driver->event_destroy(b->d, other);
}

static void events_tell_states_and_times(const bench *b) {
    device_event *first, *second;
    device_event_state state;
    uint64_t early, late, ns;
    assert_true(b->driver->event_create(b->d, &first, NULL));
    assert_true(b->driver->event_create(b->d, &second, NULL));
    assert_true(b->driver->event_query(b->d, first, true, &state, &ns, NULL));
    assert_int_equal(state, DEVICE_EVENT_UNUSED);
    submit(b->queues[0], b, event_command(DEVICE_RECORD, first));
    submit(b->queues[0], b, event_command(DEVICE_RECORD, second));
    assert_true(b->driver->event_query(b->d, second, true, &state, &late, NULL));
    assert_int_equal(state, DEVICE_EVENT_DONE);
    assert_true(b->driver->event_query(b->d, first, false, &state, &early, NULL));
    assert_int_equal(state, DEVICE_EVENT_DONE);
    assert_true(early <= late);
    submit(b->queues[1], b, event_command(DEVICE_RECORD, first)); /* the latest counts */
    assert_true(b->driver->event_query(b->d, first, true, &state, &ns, NULL));
    assert_true(ns >= late);
    b->driver->event_destroy(b->d, first);
    b->driver->event_destroy(b->d, second);
}

/* A launch that needs more memory than there is. */
static void failures_are_told_once(const bench *b) {
    device_image *image = load(b, "kernel_good", "phase_double", "phase_add");
    device_memory *m = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE),
                  *out = new_memory(b, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(image, m, out);
    unsigned char got[4];
    status st = STATUS_INIT;
    l->command.dispatch.workgroup_bytes = (size_t)1 << 62;
    submit(b->queues[0], b, l->command);
    submit(b->queues[0], b, fill_of(span_of(m), 9, BYTES)); /* runs all the same */
    assert_false(b->driver->await(b->queues[0], &st));
    assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
    await(b, b->queues[0]);
    read_from(b, m, got, 4);
    assert_int_equal(got[3], 9);
    st = (status)STATUS_INIT;
    assert_false(b->driver->submit(b->sync, &l->command, 1, &st)); /* told at once */
    assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
    b->driver->unload(b->d, image);
    b->driver->free(b->d, m);
    b->driver->free(b->d, out);
    free(l);
}

static void sees_broken_bounds(const bench *b) {
    static const int places[] = {-1, -64, 100, 127};
    const device_options debug = {.threads = 1, .debug = true};
    bench o = {b->driver, b->index, NULL, NULL, {NULL, NULL}};
    assert_true(device_open(o.driver, o.index, &debug, &o.d, NULL));
    assert_true(o.driver->queue_create(o.d, true, &o.sync, NULL));
    device_memory *m = new_memory(&o, 100, DEVICE_MEMORY_DEVICE);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        status st = STATUS_INIT;
        device_span at = {(unsigned char *)m->address + places[i], m};
        submit(o.sync, &o, fill_of(at, 0, 1));
        assert_false(o.driver->intact(o.d, m, &st));
        assert_int_equal(st.code, STATUS_INTERNAL);
        assert_non_null(strstr(st.message, places[i] < 0 ? "before" : "after"));
        assert_true(o.driver->intact(o.d, m, NULL)); /* told once, then mended */
    }
    o.driver->free(o.d, m);
    o.driver->queue_destroy(o.d, o.sync);
    o.driver->close(o.d);
}

static atomic_int times_told;

static void note_times(void *context, const device_times *times) {
    assert_ptr_equal(context, &times_told);
    assert_string_equal(times->label, "affine");
    assert_int_equal(times->phases, 2);
    assert_true(times->total_ns >= times->phase_ns[0] + times->phase_ns[1]);
    atomic_fetch_add(&times_told, 1);
}

static void times_launches(const bench *b) {
    const device_options options = {
        .threads = 1, .timed = note_times, .timed_context = &times_told};
    bench o = {b->driver, b->index, NULL, NULL, {NULL, NULL}};
    atomic_store(&times_told, 0);
    assert_true(device_open(o.driver, o.index, &options, &o.d, NULL));
    assert_true(o.driver->queue_create(o.d, true, &o.sync, NULL));
    device_image *image = load(&o, "kernel_good", "phase_double", "phase_add");
    device_memory *in = new_memory(&o, BYTES, DEVICE_MEMORY_DEVICE),
                  *out = new_memory(&o, BYTES, DEVICE_MEMORY_DEVICE);
    launch_of *l = launch_new(image, in, out);
    submit(o.sync, &o, fill_of(span_of(in), 0, BYTES));
    submit(o.sync, &o, l->command);
    assert_int_equal(times_told, 0);
    l->command.dispatch.timed = true;
    submit(o.sync, &o, l->command);
    assert_int_equal(times_told, 1);
    free(l);
    o.driver->unload(o.d, image);
    o.driver->free(o.d, in);
    o.driver->free(o.d, out);
    o.driver->queue_destroy(o.d, o.sync);
    o.driver->close(o.d);
}

/* The device is the row's own: it is lost afterwards. The kernel ends when its flag is set, and
 * then all can be freed. */
static void a_limit_ends_the_waiting(const bench *b) {
    const device_options options = {.threads = 1};
    bench o = {b->driver, b->index, NULL, NULL, {NULL, NULL}};
    status st = STATUS_INIT;
    int32_t *flag;
    const device_memory_kind kind = b->d->info.mappable_kinds >> DEVICE_MEMORY_HOST_VISIBLE & 1
                                        ? DEVICE_MEMORY_HOST_VISIBLE
                                        : DEVICE_MEMORY_PINNED;
    assert_true(device_open(o.driver, o.index, &options, &o.d, NULL));
    assert_true(o.driver->queue_create(o.d, true, &o.sync, NULL));
    assert_true(o.driver->queue_create(o.d, false, &o.queues[0], NULL));
    device_image *image = load(&o, "kernel_probe", "phase_spin", NULL);
    device_memory *in = new_memory(&o, BYTES, kind),
                  *out = new_memory(&o, BYTES, DEVICE_MEMORY_DEVICE);
    assert_true(o.driver->map(o.d, in, (void **)&flag, NULL));
    __atomic_store_n(flag, 0, __ATOMIC_RELEASE);
    launch_of *l = launch_new(image, in, out);
    l->command.limit_ns = 20000000;
    uint64_t start = clock_now_ns();
    submit(o.queues[0], &o, l->command);
    assert_false(o.driver->await(o.queues[0], &st));
    assert_int_equal(st.code, STATUS_TIMEOUT);
    assert_true(clock_now_ns() - start >= l->command.limit_ns);
    assert_false(o.driver->usable(o.d, &(status){STATUS_OK, {0}}));
    assert_false(o.driver->submit(o.queues[0], &l->command, 1, NULL));
    assert_false(o.driver->submit(o.sync, &l->command, 1, NULL));
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 1000 && !o.driver->cancel(o.d); i++)
        usleep(10000);
    free(l);
    o.driver->queue_destroy(o.d, o.queues[0]);
    o.driver->queue_destroy(o.d, o.sync);
    o.driver->unmap(o.d, in);
    o.driver->free(o.d, in);
    o.driver->free(o.d, out);
    o.driver->unload(o.d, image);
    o.driver->close(o.d);
}

/* ---- the table ---- */

static const struct {
    const char *name;
    void (*check)(const bench *b);
    bool by_computing; /* not for a driver that computes nothing */
} rows[] = {
    {"describes itself", describes_itself, false},
    {"gives memory of every kind", gives_memory_of_every_kind, false},
    {"fills ranges", fills_ranges, false},
    {"memory that there is not is refused", memory_that_there_is_not_is_refused, false},
    {"maps what it says", maps_what_it_says, false},
    {"runs whole kernels", runs_whole_kernels, false},
    {"keeps what was prepared", keeps_what_was_prepared, false},
    {"copies what a launch points at", copies_what_a_launch_points_at, false},
    {"refuses what is no code", refuses_what_is_no_code, true},
    {"one queue keeps its order", one_queue_keeps_its_order, false},
    {"batches are taken whole", batches_are_taken_whole, false},
    {"events order queues", events_order_queues, false},
    {"waits are for what was asked for", waits_are_for_what_was_asked_for, false},
    {"events tell states and times", events_tell_states_and_times, false},
    {"failures are told once", failures_are_told_once, true},
    {"sees broken bounds", sees_broken_bounds, false},
    {"times launches", times_launches, true},
    {"a limit ends the waiting", a_limit_ends_the_waiting, true},
    {"threads share a device", threads_share_a_device, false},
    {"replays what comes again", replays_what_comes_again, false},
    {"replays follow each other", replays_follow_each_other, false},
    {"replays fail as others do", replays_fail_as_others_do, false},
};

/* The only driver whose devices are looked at; NULL: all that do without hardware are. */
static const char *only_driver;

static bool is_meant(const device_driver *driver) {
    return !only_driver || strcmp(driver->name, only_driver) == 0;
}

static void with_device(const device_driver *driver, uint32_t index, size_t row) {
    const device_options options = {.threads = 2};
    status st = STATUS_INIT;
    bench b = {.driver = driver, .index = index};
    must(device_open(driver, index, &options, &b.d, &st), &st);
    assert_true(driver->queue_create(b.d, true, &b.sync, NULL));
    for (int i = 0; i < 2; i++)
        assert_true(driver->queue_create(b.d, false, &b.queues[i], NULL));
    rows[row].check(&b);
    driver->queue_destroy(b.d, b.queues[0]);
    driver->queue_destroy(b.d, b.queues[1]);
    driver->queue_destroy(b.d, b.sync);
    driver->close(b.d);
}

static void every_device_conforms(void **state) {
    const device_driver *driver;
    device_info info;
    int devices = 0;
    (void)state;
    for (size_t d = 0; (driver = device_driver_at(d)); d++) {
        for (uint32_t index = 0; is_meant(driver) && driver->enumerate(index, &info);
             index++, devices++) {
            for (size_t row = 0; row < COUNT_OF(rows); row++) {
                if (info.unavailable ||
                    (rows[row].by_computing && strcmp(driver->name, "null") == 0))
                    continue;
                print_message("%s %u: %s\n", driver->name, index, rows[row].name);
                with_device(driver, index, row);
            }
        }
    }
    if (!only_driver) /* the host, two simulated ones, null, two emulated ones, stubs */
        assert_true(devices >= 8);
}

static void listed_devices_are_numbered(void **state) {
    uint32_t own;
    (void)state;
    uint32_t count = device_listed_count(); /* this machine's own GPUs among them */
    assert_true(count >= 7);
    assert_string_equal(device_listed_at(0, &own)->name, "cpu");
    assert_string_equal(device_listed_at(2, &own)->name, "simulated");
    assert_int_equal(own, 1);
    assert_string_equal(device_listed_at(4, &own)->name, "emulated");
    assert_int_equal(own, 1);
    assert_string_equal(device_listed_at(5, &own)->name, "cuda");
    assert_string_equal(device_listed_at(6, &own)->name, "hip");
    assert_null(device_listed_at(count, &own));
    assert_null(device_driver_find("nosuch"));
    status st = STATUS_INIT;
    device *d;
    assert_false(device_open(device_driver_find("cpu"), 1, &(device_options){0}, &d, &st));
    assert_int_equal(st.code, STATUS_NOT_FOUND);
}

/* Every device that this machine has of one driver; there is nothing to test where it has none. */
static int test_driver(const char *name) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_device_conforms)};
    const device_driver *driver = device_driver_find(name);
    device_info info;
    setenv(SOFTWARE_DEVICES, "1", 1);
    setenv("CL_CONFIG_CPU_VECTORIZER_MODE", "1", 0); /* what Intel's runtime for OpenCL wants */
    if (!driver || !driver->enumerate(0, &info)) {
        status why = STATUS_INIT;
        status_set(&why, STATUS_UNAVAILABLE, "a device of '%s' is there where it is asked for",
                   name);
        if (driver && driver->absent)
            driver->absent(&why);
        printf("skipped: %s\n", why.message);
        return EXIT_SKIPPED;
    }
    only_driver = name;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) {
#ifdef MOCK_LEVEL_ZERO
    setenv(MOCK_DRIVERS, MOCK_LEVEL_ZERO, 0); /* libze_intel_gpu.so.1, likewise */
#endif
    if (argc > 1)
        return test_driver(argv[1]);
    setenv(SIMULATED_COUNT, "2", 1);
    setenv(EMULATED_DEVICES, "1", 1);
    setenv(CUDA_LIBRARY, STUB_CUDA, 0); /* libcuda.so.1, where the real one is to be tested */
    setenv(HIP_LIBRARY, STUB_HIP, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listed_devices_are_numbered),
        cmocka_unit_test(every_device_conforms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
