/* copy_between.c - copies from a member of a context to another.
 *
 * A copy is the command of a stream of one member, in pieces: where a side is no memory that the
 * host reaches, the bytes lie in `staging` in between. The stream's own device copies what is its
 * own; for another member the host submits to that one's synchronous queue, in the stream's turn.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "runtime.h"

enum { PIECE_BYTES = 8 << 20 };

typedef VEC(device_command) command_list;

/* One side of a copy. */
typedef struct side {
    tsr_context_t member;
    device_span span;
    bool is_host; /* the host reaches it where it lies */
} side;

static tsr_status_t find_side(tsr_context_t member, void *address, size_t bytes, const char *what,
                              side *out) {
    *out = (side){.member = member};
    pthread_mutex_lock(&member->mutex);
    tsr_status_t result = memory_span(member, address, bytes, what, &out->span);
    pthread_mutex_unlock(&member->mutex);
    out->is_host = !out->span.memory || member->device->info.host_addressable;
    return result == TSR_SUCCESS && !out->span.memory ? owner_check(member, address) : result;
}

/* ---- steps of other members ---- */

typedef struct step {
    tsr_context_t member;
    device_command copy;
    void *staging; /* freed with the step; NULL: another one's, or none */
} step;

static bool step_run(void *argument, status *st) {
    const step *s = argument;
    if (!s->member)
        return true;
    return s->member->device->driver->submit(s->member->default_stream.queue, &s->copy, 1, st) ||
           status_context(st, "copying on device '%s'", s->member->device->info.name);
}

static void step_drop(void *argument) {
    step *s = argument;
    free(s->staging);
    free(s);
}

static device_command host_step(tsr_context_t member, device_command copy, void *staging) {
    step *s = base_malloc(sizeof *s);
    *s = (step){member, copy, staging};
    return (device_command){.kind = DEVICE_HOST, .host = {step_run, step_drop, s}};
}

static void add_step(command_list *list, tsr_context_t own, tsr_context_t member, device_span to,
                     device_span from, size_t bytes) {
    const device_command copy = {.kind = DEVICE_COPY,
                                 .limit_ns = atomic_load(&member->watchdog_ns),
                                 .range = {.to = to, .from = from, .size_bytes = bytes}};
    vec_push(list, member == own ? copy : host_step(member, copy, NULL));
}

/* ---- copies ---- */

static device_span beyond(device_span span, size_t bytes) {
    span.address = (unsigned char *)span.address + bytes;
    return span;
}

/* Memory that both devices see as the host's. */
static device_span as_host(device_span span) {
    return (device_span){span.address, NULL};
}

/* The commands of the copy on a stream of `own`. */
static void add_copy(command_list *list, tsr_context_t own, const side *to, const side *from,
                     size_t bytes) {
    if (to->member == from->member) {
        add_step(list, own, to->member, to->span, from->span, bytes);
        return;
    }
    if (from->is_host) {
        add_step(list, own, to->member, to->span, as_host(from->span), bytes);
        return;
    }
    if (to->is_host) {
        add_step(list, own, from->member, as_host(to->span), from->span, bytes);
        return;
    }
    unsigned char *staging = base_malloc(bytes < PIECE_BYTES ? bytes : PIECE_BYTES);
    const device_span room = {staging, NULL};
    for (size_t done = 0, part; done < bytes; done += part) {
        part = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
        add_step(list, own, from->member, room, beyond(from->span, done), part);
        add_step(list, own, to->member, beyond(to->span, done), room, part);
    }
    vec_push(list, host_step(NULL, (device_command){.kind = DEVICE_COPY}, staging));
}

/* The context of all three. */
static tsr_status_t check_members(tsr_stream_t stream, tsr_context_t to, tsr_context_t from) {
    if (to->first != from->first || (stream && stream->context->first != to->first))
        return error_set(TSR_EINVAL, "the %s belongs to another context",
                         to->first != from->first ? "source" : "stream");
    tsr_status_t usable = context_usable(to);
    return usable == TSR_SUCCESS ? context_usable(from) : usable;
}

tsr_status_t tsrCopyBetween(tsr_stream_t stream, tsr_context_t to_member, void *to,
                            tsr_context_t from_member, const void *from, size_t bytes) {
    side there, here;
    if (!to_member || !from_member)
        return error_null(to_member ? "from_member" : "to_member");
    tsr_status_t result = check_members(stream, to_member, from_member);
    tsr_context_t own = stream ? stream->context : to_member->first;
    if (result == TSR_SUCCESS)
        result = stream_usable(own, stream);
    if (result != TSR_SUCCESS || bytes == 0)
        return result;
    if (!to || !from)
        return error_null(to ? "from" : "to");
    result = find_side(to_member, to, bytes, "its destination", &there);
    if (result == TSR_SUCCESS)
        result = find_side(from_member, (void *)(uintptr_t)from, bytes, "its source", &here);
    if (result != TSR_SUCCESS)
        return result;
    command_list list = {0};
    add_copy(&list, own, &there, &here, bytes);
    const profile_call call = profile_begin(own->profile, "comm", "copy between devices");
    result = stream_submit(stream_or_default(own, stream), list.items, list.count);
    profile_end(&call, bytes);
    vec_release(&list);
    return result;
}
