/* foreign_calls.c - calls of implementations: put into the ring of their guest, and waited for. */
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "device/foreign/foreign.h"

enum { SLEEP_NS = 10000000, POLITE_NS = 20000, IMPATIENT_NS = 2000, CROWDED_NS = 100000000 };

/* ---- what has ended ---- */

static void pass_events(foreign_device *d, uint64_t now_ns) {
    for (device_event **at = &d->pending; *at;) {
        device_event *e = *at;
        if (e->image->pid && e->image->progress < e->after) {
            at = &e->next;
            continue;
        }
        e->done = true;
        e->time_ns = now_ns;
        *at = e->next;
    }
}

/* Calls of a guest that died have ended. */
static bool has_ended(const foreign_image *image) {
    return !image->pid || image->progress >= image->submitted;
}

/* The guest's own count, within what it was given. */
static void take_progress(foreign_image *image) {
    uint64_t ended = image->ring ? atomic_load(&image->ring->ended) : 0;
    if (ended > image->submitted)
        foreign_guest_kill(image, STATUS_INVALID, "counts calls that it was not given");
    else if (ended > image->progress) {
        image->progress = ended;
        image->progress_ns = clock_now_ns();
    }
}

void foreign_look(foreign_device *d) {
    for (size_t i = 0; i < d->images.count; i++)
        take_progress(d->images.items[i]);
    if (d->pending)
        pass_events(d, clock_now_ns());
}

/* Messages of guests end where they must. */
static void take_failure(foreign_image *image) {
    foreign_device *d = image->device;
    if (!image->pid && d->failure.code == STATUS_OK && image->progress < image->submitted)
        status_set(&d->failure, image->end.code, "%s", image->end.message);
    unsigned code = image->pid ? atomic_exchange(&image->ring->failed, 0) : 0;
    if (code && d->failure.code == STATUS_OK)
        status_set(&d->failure, code == STATUS_UNAVAILABLE ? STATUS_UNAVAILABLE : STATUS_INVALID,
                   "%.*s", GUEST_MESSAGE_BYTES - 1, image->ring->message);
}

/* ---- waiting ---- */

static bool is_overdue(const foreign_image *image) {
    return image->limit_ns && clock_now_ns() - image->progress_ns > image->limit_ns;
}

static void lose(foreign_image *image) {
    foreign_device *d = image->device;
    foreign_guest_kill(image, STATUS_TIMEOUT, "did not end within the watchdog's limit");
    d->lost = image->end;
    atomic_fetch_add(&d->base.attention, 1);
}

/* Others had this thread's processor of late. Who spins there has used up its share when the guest
 * is done, or takes it from the guest, and who sleeps is woken at once. */
static bool is_crowded(uint64_t now_ns) {
    static _Thread_local long switches;
    static _Thread_local uint64_t until_ns;
    struct rusage used;
    if (getrusage(RUSAGE_THREAD, &used) == 0 && used.ru_nivcsw != switches) {
        switches = used.ru_nivcsw;
        until_ns = now_ns + CROWDED_NS;
    }
    return now_ns < until_ns;
}

static bool spin(const guest_ring *r, uint64_t wanted, uint64_t most_ns) {
    uint64_t now = clock_now_ns(), until = now + most_ns, polite = now + POLITE_NS;
    for (; atomic_load(&r->ended) < wanted && now < until; now = clock_now_ns()) {
        for (int i = 0; i < 16 && atomic_load(&r->ended) < wanted; i++)
            guest_pause();
        if (now > polite)
            sched_yield();
    }
    return atomic_load(&r->ended) >= wanted;
}

/* Spins for a moment, then sleeps until the guest rings. Who spins longer lets others have the
 * core: the guest may be one of them. */
static void await_progress(foreign_image *image, uint64_t wanted) {
    guest_ring *r = image->ring;
    bool patient = image->spin_ns > IMPATIENT_NS;
    if (spin(r, wanted, patient ? IMPATIENT_NS : image->spin_ns) ||
        (patient && !is_crowded(clock_now_ns()) && spin(r, wanted, image->spin_ns)))
        return;
    atomic_store(&r->wanted, wanted);
    guest_bell_arm(&r->device);
    if (atomic_load(&r->ended) < wanted)
        guest_bell_sleep(&r->device, SLEEP_NS);
}

/* Until so many calls have ended. */
static void await_calls(foreign_image *image, uint64_t wanted) {
    take_progress(image);
    while (image->pid && image->progress < wanted) {
        await_progress(image, wanted);
        take_progress(image);
        if (image->progress >= wanted || !foreign_guest_lives(image))
            break;
        if (is_overdue(image))
            lose(image);
    }
}

void foreign_settle(foreign_device *d) {
    for (size_t i = 0; i < d->images.count; i++) {
        foreign_image *image = d->images.items[i];
        if (has_ended(image) && image->pid && !atomic_load(&image->ring->failed))
            continue;
        await_calls(image, image->submitted);
        take_failure(image);
        image->submitted = image->pid ? image->submitted : image->progress;
    }
    foreign_look(d);
}

/* ---- calls ---- */

static uint64_t address_in_guest(const foreign_image *image, void *address,
                                 const device_memory *memory) {
    const foreign_memory *m = (const foreign_memory *)memory;
    size_t index = 0;
    while (image->device->images.items[index] != image)
        index++;
    return m->addresses.items[index] + (uint64_t)((unsigned char *)address - m->pages);
}

static void report_time(foreign_device *d, const device_dispatch *p, uint64_t start_ns) {
    uint64_t took = clock_now_ns() - start_ns;
    device_times times = {p->label, start_ns, took, 1, {took}};
    d->options.timed(d->options.timed_context, &times);
}

bool foreign_call(foreign_device *d, const device_command *command, status *st) {
    const device_dispatch *p = &command->dispatch;
    foreign_image *image = (foreign_image *)p->image;
    if (d->last && d->last != image)
        foreign_settle(d); /* calls run in the order in which they come */
    if (!image->pid)
        return status_set(st, image->end.code, "%s", image->end.message);
    if (p->buffer_count > GUEST_TENSORS_MAX)
        return status_set(st, STATUS_UNAVAILABLE,
                          "a call of an implementation takes at most %d tensors, not %u",
                          GUEST_TENSORS_MAX, p->buffer_count);
    const uint32_t most = guest_ring_calls(p->buffer_count);
    if (image->submitted - image->progress >= most)
        await_calls(image, image->submitted - most / 2);
    if (image->frozen)
        foreign_thaw(image);
    guest_ring *r = image->ring;
    uint64_t *tensors = guest_call_tensors(r, image->submitted, p->buffer_count);
    for (uint32_t i = 0; i < p->buffer_count; i++)
        tensors[i] = address_in_guest(image, p->buffers[i], p->memories[i]);
    image->limit_ns = command->limit_ns;
    uint64_t now = command->limit_ns || p->timed ? clock_now_ns() : 0;
    if (image->progress == image->submitted)
        image->progress_ns = now;
    d->last = image;
    atomic_store(&r->submitted, ++image->submitted);
    foreign_note_call(image, guest_bell_ring(&r->guest));
    if (p->timed) {
        foreign_settle(d);
        report_time(d, p, now);
    }
    return true;
}
