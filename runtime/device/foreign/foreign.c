/* foreign.c - see foreign.h: the device, its memory, events and queues. */
#include "device/foreign/foreign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/foreign/guest_pages.h"

enum { LINE = 64 };
static const uint64_t memory_bytes = UINT64_C(1) << 36;

struct device_queue {
    foreign_device *device;
    bool synchronous;
};

extern const device_driver foreign_driver;

static bool enumerate(uint32_t index, device_info *info_out) {
    if (index || !getenv(FOREIGN_DEVICE)) // NOLINT(concurrency-mt-unsafe)
        return false;
    *info_out = (device_info){.backend = "foreign",
                              .name = "implementations of others, each in a process of its own",
                              .isa = "foreign",
                              .compute_units = 1,
                              .memory_bytes = memory_bytes,
                              .memory_kinds = (1u << DEVICE_MEMORY_KIND_COUNT) - 1,
                              .mappable_kinds = (1u << DEVICE_MEMORY_KIND_COUNT) - 1,
                              .workgroup_memory_bytes = 0,
                              .timestamp_ns = 1,
                              .targets = {"foreign/shared-object", "foreign/python",
                                          "foreign/command", "foreign/module", "foreign/pjrt"}};
    return true;
}

static bool open_foreign(uint32_t index, const device_options *options, device **device_out,
                         status *st) {
    foreign_device *d = base_calloc(1, sizeof *d);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    (void)st;
    enumerate(index, &d->base.info);
    d->base.driver = &foreign_driver;
    d->base.info.compute_units = options->threads ? options->threads : (uint32_t)cores;
    d->options = *options;
    foreign_keep_apart();
    atomic_init(&d->base.attention, 0);
    pthread_mutex_init(&d->mutex, NULL);
    *device_out = &d->base;
    return true;
}

static void close_foreign(device *base) {
    foreign_device *d = (foreign_device *)base;
    for (size_t i = 0; i < d->images.count; i++)
        free(d->images.items[i]);
    vec_release(&d->images);
    vec_release(&d->memories);
    pthread_mutex_destroy(&d->mutex);
    free(d);
}

static bool usable(device *base, status *why) {
    foreign_device *d = (foreign_device *)base;
    return d->lost.code == STATUS_OK || status_set(why, d->lost.code, "%s", d->lost.message);
}

static void lose(device *base, const status *why) {
    foreign_device *d = (foreign_device *)base;
    pthread_mutex_lock(&d->mutex);
    if (d->lost.code == STATUS_OK) {
        d->lost = *why;
        atomic_fetch_add(&d->base.attention, 1);
    }
    pthread_mutex_unlock(&d->mutex);
}

/* Guests are processes: all of them can be ended. */
static bool cancel(device *base) {
    foreign_device *d = (foreign_device *)base;
    pthread_mutex_lock(&d->mutex);
    for (size_t i = 0; i < d->images.count; i++)
        foreign_guest_kill(d->images.items[i], STATUS_DEVICE_LOST, "was given up");
    foreign_look(d);
    pthread_mutex_unlock(&d->mutex);
    return true;
}

/* ---- memory ---- */

static bool add_to_guests(foreign_device *d, foreign_memory *m, status *st) {
    for (size_t i = 0; i < d->images.count; i++) {
        uint64_t address = 0;
        if (d->images.items[i]->pid && !foreign_guest_map(d->images.items[i], m, &address, st))
            return false;
        vec_push(&m->addresses, address);
    }
    return true;
}

static void release_memory(foreign_memory *m) {
    if (m->pages)
        guest_pages_unmap(m->pages, m->page_bytes);
    if (m->descriptor >= 0)
        close(m->descriptor);
    vec_release(&m->addresses);
    free(m);
}

static bool map_pages(foreign_memory *m, status *st) {
    m->descriptor = foreign_nameless_file("tessera-memory", m->page_bytes, st);
    if (m->descriptor < 0)
        return false;
    m->pages = guest_pages_map(m->descriptor, m->page_bytes, true);
    return m->pages || status_set_errno(st, errno, "no shared memory of %zu bytes", m->page_bytes);
}

/* Data ends right before the page behind it, but for padding to 64 bytes. */
static bool alloc(device *base, size_t size_bytes, device_memory_kind kind,
                  device_memory **memory_out, status *st) {
    foreign_device *d = (foreign_device *)base;
    foreign_memory *m = base_calloc(1, sizeof *m);
    m->page_bytes = guest_pages_bytes(size_bytes);
    pthread_mutex_lock(&d->mutex);
    foreign_settle(d);
    bool ok = map_pages(m, st) && add_to_guests(d, m, st);
    if (ok) {
        size_t before = (m->page_bytes - size_bytes) / LINE * LINE;
        m->base = (device_memory){m->pages + before, size_bytes, kind};
        vec_push(&d->memories, m);
        *memory_out = &m->base;
    } else {
        release_memory(m);
    }
    pthread_mutex_unlock(&d->mutex);
    return ok;
}

static void free_memory(device *base, device_memory *memory) {
    foreign_device *d = (foreign_device *)base;
    foreign_memory *m = (foreign_memory *)memory;
    size_t at = 0;
    pthread_mutex_lock(&d->mutex);
    foreign_settle(d);
    for (size_t i = 0; i < d->images.count; i++)
        foreign_guest_unmap(d->images.items[i], m, m->addresses.items[i]);
    while (d->memories.items[at] != m)
        at++;
    memmove(&d->memories.items[at], &d->memories.items[at + 1],
            (--d->memories.count - at) * sizeof(foreign_memory *));
    release_memory(m);
    pthread_mutex_unlock(&d->mutex);
}

/* Checks nothing: pages around the memory end whoever touches them. */
static bool intact(device *d, const device_memory *memory, status *st) {
    (void)d, (void)memory, (void)st;
    return true;
}

static bool map(device *d, device_memory *memory, void **host_out, status *st) {
    (void)d, (void)st;
    *host_out = memory->address;
    return true;
}

static void unmap(device *d, device_memory *memory) {
    (void)d, (void)memory; /* the host reaches it at all times */
}

/* ---- images ---- */

/* Every memory has an address for each image; 0: none yet. */
static void add_image(foreign_device *d, foreign_image *image) {
    vec_push(&d->images, image);
    for (size_t i = 0; i < d->memories.count; i++)
        vec_push(&d->memories.items[i]->addresses, 0);
}

static bool show_memories(foreign_device *d, foreign_image *image, status *st) {
    bool ok = true;
    for (size_t i = 0; i < d->memories.count && ok; i++) {
        foreign_memory *m = d->memories.items[i];
        ok = foreign_guest_map(image, m, &m->addresses.items[m->addresses.count - 1], st);
    }
    return ok;
}

static void forget_image(foreign_device *d, foreign_image *image) {
    size_t at = 0;
    while (d->images.items[at] != image)
        at++;
    for (size_t i = 0; i < d->memories.count; i++) {
        uint64_t *addresses = d->memories.items[i]->addresses.items;
        size_t count = --d->memories.items[i]->addresses.count;
        memmove(&addresses[at], &addresses[at + 1], (count - at) * sizeof *addresses);
    }
    memmove(&d->images.items[at], &d->images.items[at + 1],
            (--d->images.count - at) * sizeof(foreign_image *));
    d->last = d->last == image ? NULL : d->last;
    foreign_guest_end(image);
    free(image);
}

static bool load(device *base, const device_source *source, device_image **image_out, status *st) {
    foreign_device *d = (foreign_device *)base;
    foreign_image *image = base_calloc(1, sizeof *image);
    image->base.phase_count = source->phase_count;
    image->device = d;
    snprintf(image->label, sizeof image->label, "%s",
             source->phase_count ? source->symbols[0] : "an implementation");
    pthread_mutex_lock(&d->mutex);
    add_image(d, image);
    bool ok = foreign_guest_start(image, source, st) && show_memories(d, image, st);
    if (ok)
        *image_out = &image->base;
    else
        forget_image(d, image);
    pthread_mutex_unlock(&d->mutex);
    return ok;
}

static void unload(device *base, device_image *image) {
    foreign_device *d = (foreign_device *)base;
    pthread_mutex_lock(&d->mutex);
    foreign_settle(d);
    forget_image(d, (foreign_image *)image);
    pthread_mutex_unlock(&d->mutex);
}

/* ---- events ---- */

static bool event_create(device *d, device_event **event_out, status *st) {
    (void)d, (void)st;
    *event_out = base_calloc(1, sizeof **event_out);
    return true;
}

static void forget_pending(foreign_device *d, const device_event *event) {
    for (device_event **at = &d->pending; *at; at = &(*at)->next)
        if (*at == event) {
            *at = event->next;
            return;
        }
}

static void event_destroy(device *base, device_event *event) {
    foreign_device *d = (foreign_device *)base;
    pthread_mutex_lock(&d->mutex);
    forget_pending(d, event);
    pthread_mutex_unlock(&d->mutex);
    free(event);
}

static bool event_query(device *base, device_event *event, bool wait, device_event_state *state_out,
                        uint64_t *time_ns_out, status *st) {
    foreign_device *d = (foreign_device *)base;
    pthread_mutex_lock(&d->mutex);
    if (wait && event->used && !event->done)
        foreign_settle(d);
    foreign_look(d);
    *state_out = !event->used   ? DEVICE_EVENT_UNUSED
                 : !event->done ? DEVICE_EVENT_PENDING
                                : DEVICE_EVENT_DONE;
    *time_ns_out = event->time_ns;
    bool ok = usable(base, st);
    pthread_mutex_unlock(&d->mutex);
    return ok;
}

static bool is_busy(const foreign_image *image) {
    return image && image->pid && image->progress < image->submitted;
}

/* `fresh`: right after a call, which has not ended yet; looking would only take the guest's line of
 * the cache away from it. */
static void record(foreign_device *d, device_event *event, bool fresh) {
    forget_pending(d, event);
    if (!fresh)
        foreign_look(d);
    if (!is_busy(d->last)) {
        *event = (device_event){.used = true, .done = true, .time_ns = clock_now_ns()};
        return;
    }
    *event = (device_event){
        .used = true, .image = d->last, .after = d->last->submitted, .next = d->pending};
    d->pending = event;
}

/* ---- queues ---- */

static bool queue_create(device *d, bool synchronous, device_queue **queue_out, status *st) {
    (void)st;
    *queue_out = base_calloc(1, sizeof **queue_out);
    **queue_out = (device_queue){(foreign_device *)d, synchronous};
    return true;
}

static void queue_destroy(device *d, device_queue *queue) {
    (void)d;
    free(queue);
}

static bool take_failure(foreign_device *d, status *st) {
    status failure = d->failure;
    d->failure = (status)STATUS_INIT;
    return failure.code == STATUS_OK || status_set(st, failure.code, "%s", failure.message);
}

/* Copies and fills are the host's work, when all calls before have ended. */
static bool run(foreign_device *d, const device_command *c, bool fresh, status *st) {
    switch (c->kind) {
    case DEVICE_DISPATCH:
        return foreign_call(d, c, st);
    case DEVICE_RECORD:
        record(d, c->event, fresh);
        return true;
    case DEVICE_WAIT: /* calls run in the order of their submission anyway */
        return true;
    case DEVICE_HOST:
        foreign_settle(d);
        pthread_mutex_unlock(&d->mutex);
        bool ok = c->host.run(c->host.argument, st);
        pthread_mutex_lock(&d->mutex);
        return ok;
    default:
        foreign_settle(d);
        if (c->kind == DEVICE_COPY)
            memmove(c->range.to.address, c->range.from.address, c->range.size_bytes);
        else
            memset(c->range.to.address, c->byte, c->range.size_bytes);
        return true;
    }
}

static bool submit(device_queue *queue, const device_command *commands, size_t count, status *st) {
    foreign_device *d = queue->device;
    pthread_mutex_lock(&d->mutex);
    bool ok = usable(&d->base, st);
    for (size_t i = 0; i < count && ok; i++)
        ok = run(d, &commands[i], i && commands[i - 1].kind == DEVICE_DISPATCH, st);
    if (ok && queue->synchronous) {
        foreign_settle(d);
        ok = take_failure(d, st);
    }
    pthread_mutex_unlock(&d->mutex);
    for (size_t i = 0; i < count; i++)
        if (commands[i].kind == DEVICE_HOST)
            commands[i].host.drop(commands[i].host.argument);
    return ok;
}

static bool await(device_queue *queue, status *st) {
    foreign_device *d = queue->device;
    pthread_mutex_lock(&d->mutex);
    foreign_settle(d);
    bool ok = take_failure(d, st);
    pthread_mutex_unlock(&d->mutex);
    return ok;
}

const device_driver foreign_driver = {
    .name = "foreign",
    .listed = true,
    .enumerate = enumerate,
    .open = open_foreign,
    .close = close_foreign,
    .usable = usable,
    .lose = lose,
    .cancel = cancel,
    .alloc = alloc,
    .free = free_memory,
    .intact = intact,
    .map = map,
    .unmap = unmap,
    .load = load,
    .unload = unload,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_query = event_query,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .submit = submit,
    .await = await,
};
