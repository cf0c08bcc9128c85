/* soft_queue.c - batches of commands, in order, on the queue's thread or on the submitter's. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/thread.h"
#include "device/shared/soft_batch.h"

static bool lost_to(const soft_device *d, status *st) {
    return status_set(st, d->lost.code, "%s", d->lost.message);
}

/* ---- limits ---- */

bool soft_begin_limited(device_queue *queue, const device_command *command, status *st) {
    soft_device *d = queue->device;
    pthread_mutex_lock(&d->mutex);
    bool lost = soft_is_lost(d);
    if (lost) {
        lost_to(d, st);
    } else {
        uint64_t now = clock_now_ns();
        queue->limit_ns = command->limit_ns;
        queue->deadline_ns =
            command->limit_ns > UINT64_MAX - now ? UINT64_MAX : now + command->limit_ns;
        queue->kernel = command->kind == DEVICE_DISPATCH ? command->dispatch.label : NULL;
        atomic_fetch_add(&d->base.attention, 1);
        pthread_cond_broadcast(&d->changed);
    }
    pthread_mutex_unlock(&d->mutex);
    return !lost;
}

void soft_end_limited(device_queue *queue) {
    soft_device *d = queue->device;
    pthread_mutex_lock(&d->mutex);
    (void)soft_is_lost(d); /* one that ended too late is as lost as one that did not */
    queue->deadline_ns = 0;
    atomic_fetch_sub(&d->base.attention, 1);
    pthread_mutex_unlock(&d->mutex);
}

/* ---- execution ---- */

static bool finish(device_queue *q, status *st) {
    return !q->device->functions->finish || q->device->functions->finish(q, st);
}

/* Until the recording happened, or the device itself can wait for it. */
static bool await_recording(soft_device *d, const soft_recording *r, status *st) {
    bool ok = true;
    pthread_mutex_lock(&d->mutex);
    while (ok && !soft_recording_is_done(r) && !soft_recording_is_marked(r))
        ok = soft_wait(d, 0);
    if (!ok)
        lost_to(d, st);
    pthread_mutex_unlock(&d->mutex);
    return ok;
}

static bool wait_for(device_queue *q, soft_recording *r, status *st) {
    soft_device *d = q->device;
    if (!r)
        return true;
    if (!await_recording(d, r, st))
        return false;
    return !d->functions->follow || d->functions->follow(q, r, st);
}

static bool record(device_queue *q, soft_recording *r, const device_command *command, status *st) {
    soft_device *d = q->device;
    if (d->functions->record && d->functions->record(q, r, command))
        return true;
    bool ok = finish(q, st);
    pthread_mutex_lock(&d->mutex);
    soft_recording_done(d, r, command->event, command->untimed ? 0 : soft_now_ns(d));
    pthread_mutex_unlock(&d->mutex);
    return ok;
}

static bool run_host(device_queue *q, const device_command *command, status *st) {
    bool ok = finish(q, st);
    if (!soft_begin(q, command, ok ? st : NULL))
        return false;
    ok &= command->host.run(command->host.argument, ok ? st : NULL);
    soft_end(q, command);
    return ok;
}

/* Counts the commands that one stands for: those that are replayed are behind it. */
static size_t span_of(const device_command *command) {
    return command->kind == DEVICE_REPLAY ? 1 + command->replay.count : 1;
}

static bool execute(device_queue *q, const device_command *command, soft_recording *recording,
                    status *st) {
    switch (command->kind) {
    case DEVICE_RECORD:
        return record(q, recording, command, st);
    case DEVICE_WAIT:
        return wait_for(q, recording, st);
    case DEVICE_HOST:
        return run_host(q, command, st);
    case DEVICE_REPLAY:
        return q->device->functions->replay(q, command, st);
    default:
        return q->device->functions->execute(q, command, st);
    }
}

/* ---- batches ---- */

static soft_recording *recording_for(const device_command *c) {
    return c->kind == DEVICE_RECORD ? soft_recording_ask(c->event)
           : c->kind == DEVICE_WAIT ? soft_recording_latest(c->event)
                                    : NULL;
}

/* ---- the queue's thread ---- */

/* Is the device through with what it was given? With the lock held, but while it is asked.
 */
static bool settle(device_queue *q) {
    soft_device *d = q->device;
    status st = STATUS_INIT;
    pthread_mutex_unlock(&d->mutex);
    bool ended = !d->functions->settled || d->functions->settled(q);
    bool ok = !ended || finish(q, &st);
    pthread_mutex_lock(&d->mutex);
    if (!ended)
        return false;
    if (!ok && q->failure.code == STATUS_OK)
        q->failure = st;
    q->busy = q->given = false;
    pthread_cond_broadcast(&d->changed);
    return true;
}

/* Waits for more to do; with the lock held. */
static void pause_after(device_queue *q, uint64_t passed_ns) {
    soft_device *d = q->device;
    uint64_t ns = soft_pause_ns(passed_ns);
    if (ns) {
        thread_condition_wait(&q->work, &d->mutex, clock_now_ns() + ns);
        return;
    }
    pthread_mutex_unlock(&d->mutex);
    sched_yield();
    pthread_mutex_lock(&d->mutex);
}

/* Waits for the next batch, and meanwhile for the end of what the device was given; NULL once the
 * queue is stopping and empty, or the device is lost. */
static soft_batch *pop(device_queue *q) {
    soft_device *d = q->device;
    pthread_mutex_lock(&d->mutex);
    uint64_t start = q->given ? clock_now_ns() : 0;
    while (!q->first && !q->stopping && d->lost.code == STATUS_OK)
        if (!q->given)
            pthread_cond_wait(&q->work, &d->mutex);
        else if (!settle(q))
            pause_after(q, clock_now_ns() - start);
    soft_batch *b = d->lost.code == STATUS_OK ? q->first : NULL;
    if (b) {
        q->first = b->next;
        if (!q->first)
            q->last = &q->first;
        q->busy = true;
    }
    pthread_mutex_unlock(&d->mutex);
    return b;
}

/* One command that fails does not keep those behind it from running. */
static void run_batch(device_queue *q, soft_batch *b) {
    status st; /* not filled with zeros for each command */
    for (size_t i = 0; i < b->count; i += span_of(&b->commands[i])) {
        status_clear(&st);
        if (!execute(q, &b->commands[i], b->recordings[i], &st) && b->result.code == STATUS_OK)
            b->result = st;
    }
}

/* Tells how the batch ended where somebody waits for it; else the queue learns it later. */
static void batch_done(device_queue *q, soft_batch *b) {
    soft_device *d = q->device;
    pthread_mutex_lock(&d->mutex);
    bool ended = !d->functions->finish;
    if (!ended && b->awaited) {
        pthread_mutex_unlock(&d->mutex);
        (void)finish(q, b->result.code == STATUS_OK ? &b->result : NULL);
        ended = true;
        pthread_mutex_lock(&d->mutex);
    }
    if (d->lost.code != STATUS_OK)
        b->result = d->lost;
    q->busy = q->given = !ended;
    b->done = true;
    if (!b->awaited) {
        if (b->result.code != STATUS_OK && q->failure.code == STATUS_OK)
            q->failure = b->result;
        soft_batch_free(q, b);
    }
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->mutex);
}

/* Frees batches that never ran on a lost device, but for those that somebody is still waking up
 * from; with the lock held. */
static void give_up(device_queue *q) {
    soft_batch **at = &q->first;
    for (soft_batch *b; (b = *at);) {
        if (b->awaited) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        soft_batch_free(q, b);
    }
    q->last = at;
}

static void *queue_main(void *argument) {
    device_queue *q = argument;
    for (soft_batch *b; (b = pop(q));) {
        run_batch(q, b);
        batch_done(q, b);
    }
    soft_device *d = q->device;
    (void)finish(q, NULL); /* what the device was given when it was lost, or the queue destroyed */
    pthread_mutex_lock(&d->mutex);
    give_up(q);
    q->busy = q->given = false;
    q->ended = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->mutex);
    return NULL;
}

/* With the lock held. */
static bool start_thread(device_queue *q, status *st) {
    if (!q->has_thread)
        q->has_thread = thread_start(&q->thread, queue_main, q);
    return q->has_thread ||
           status_set(st, STATUS_OUT_OF_MEMORY, "the system gives no thread for a queue");
}

void soft_queue_init(device_queue *queue, soft_device *d, bool synchronous) {
    queue->device = d;
    queue->synchronous = synchronous;
    queue->last = &queue->first;
    thread_condition_init(&queue->work);
    pthread_mutex_lock(&d->mutex);
    queue->next = d->queues;
    d->queues = queue;
    pthread_mutex_unlock(&d->mutex);
}

void soft_queue_release(device_queue *queue) {
    soft_device *d = queue->device;
    pthread_mutex_lock(&d->mutex);
    queue->stopping = true;
    bool has_thread = queue->has_thread;
    device_queue **at = &d->queues;
    while (*at != queue)
        at = &(*at)->next;
    *at = queue->next;
    pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&d->mutex);
    if (has_thread)
        pthread_join(queue->thread, NULL);
    pthread_mutex_lock(&d->mutex);
    for (soft_batch *b; (b = queue->first);) { /* of a lost device */
        queue->first = b->next;
        soft_batch_free(queue, b);
    }
    pthread_mutex_unlock(&d->mutex);
    soft_batches_release(queue);
    pthread_cond_destroy(&queue->work);
}

bool soft_queue_create(device *d, bool synchronous, device_queue **queue_out, status *st) {
    (void)st;
    *queue_out = base_calloc(1, sizeof **queue_out);
    soft_queue_init(*queue_out, (soft_device *)d, synchronous);
    return true;
}

void soft_queue_destroy(device *d, device_queue *queue) {
    (void)d;
    soft_queue_release(queue);
    free(queue);
}

/* ---- submitting ---- */

static void drop_all(const device_command *commands, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (commands[i].kind == DEVICE_HOST)
            commands[i].host.drop(commands[i].host.argument);
}

/* On the thread that submits. */
static bool execute_here(device_queue *q, const device_command *c, status *st) {
    if (c->kind != DEVICE_RECORD && c->kind != DEVICE_WAIT)
        return execute(q, c, NULL, st);
    pthread_mutex_lock(&q->device->mutex);
    soft_recording *r = recording_for(c);
    pthread_mutex_unlock(&q->device->mutex);
    bool ok = execute(q, c, r, st);
    pthread_mutex_lock(&q->device->mutex);
    if (r)
        soft_recording_drop(r);
    pthread_mutex_unlock(&q->device->mutex);
    return ok;
}

/* Puts the batch at the queue's end. False, and the batch is freed, where there is no thread or the
 * device is lost. With the lock held. */
static bool push(device_queue *q, soft_batch *b, status *st) {
    soft_device *d = q->device;
    bool ok = soft_is_lost(d) ? lost_to(d, st) : start_thread(q, st);
    if (!ok) {
        soft_batch_free(q, b);
        return false;
    }
    for (size_t i = 0; i < b->count; i++)
        b->recordings[i] = recording_for(&b->commands[i]);
    *q->last = b;
    q->last = &b->next;
    pthread_cond_broadcast(&q->work);
    return true;
}

static bool await_batch(device_queue *q, soft_batch *b, status *st) {
    soft_device *d = q->device;
    bool lost = false;
    q->waiting++;
    pthread_cond_broadcast(&d->changed);
    while (!b->done && !lost)
        lost = !soft_wait(d, 0);
    q->waiting--;
    if (!b->done) {
        b->awaited = false;
        return lost_to(d, st);
    }
    bool ok = b->result.code == STATUS_OK;
    if (!ok)
        status_set(st, b->result.code, "%s", b->result.message);
    soft_batch_free(q, b);
    return ok;
}

bool soft_submit(device_queue *queue, const device_command *commands, size_t count, status *st) {
    soft_device *d = queue->device;
    bool limited = false, ok = true;
    for (size_t i = 0; i < count; i++)
        limited |= commands[i].limit_ns != 0;
    if (queue->synchronous && d->functions->inline_execution && !limited) {
        for (size_t i = 0; i < count; i += span_of(&commands[i]))
            ok &= execute_here(queue, &commands[i], ok ? st : NULL);
        ok = finish(queue, ok ? st : NULL) && ok;
        drop_all(commands, count);
        return ok;
    }
    soft_batch *b = soft_batch_new(queue, commands, count);
    b->awaited = queue->synchronous;
    pthread_mutex_lock(&d->mutex);
    ok = push(queue, b, st);
    if (ok && queue->synchronous)
        ok = await_batch(queue, b, st);
    pthread_mutex_unlock(&d->mutex);
    return ok;
}

bool soft_await(device_queue *queue, status *st) {
    soft_device *d = queue->device;
    pthread_mutex_lock(&d->mutex);
    bool lost = soft_is_lost(d);
    queue->waiting++;
    pthread_cond_broadcast(&d->changed);
    while (!lost && (queue->first || queue->busy))
        lost = !soft_wait(d, 0);
    queue->waiting--;
    const status *failure = lost ? &d->lost : &queue->failure;
    bool ok = failure->code == STATUS_OK;
    if (!ok)
        status_set(st, failure->code, "%s", failure->message);
    queue->failure = (status)STATUS_INIT;
    pthread_mutex_unlock(&d->mutex);
    return ok;
}
