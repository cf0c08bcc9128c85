/* members.c - contexts of several devices, copies between their members, and the end of contexts.
 *
 * A member is a context of one device; nothing below this file knows that there are others. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime.h"

static tsr_context_t *members_of(tsr_context_t *first) {
    return (*first)->members ? (*first)->members : first;
}

static uint32_t count_of_members(tsr_context_t first) {
    return first->members ? first->member_count : 1;
}

/* ---- making ---- */

void context_join(const tsr_context_t *members, uint32_t count) {
    tsr_context_t first = members[0];
    first->members = base_malloc(count * sizeof *members);
    first->member_count = count;
    for (uint32_t i = 0; i < count; i++) {
        first->members[i] = members[i];
        members[i]->first = first;
    }
}

tsr_status_t tsrCreateContextOnDevices(const uint32_t *indices, uint32_t count, uint32_t threads,
                                       uint32_t flags, tsr_context_t *context) {
    enum { MOST = 1024 };
    if (!indices || !context)
        return error_null(indices ? "context" : "indices");
    if (count == 0 || count > MOST)
        return error_set(TSR_EINVAL, "%u devices; a context has 1 to %d", count, MOST);
    tsr_context_t *members = base_calloc(count, sizeof *members);
    tsr_status_t result = TSR_SUCCESS;
    uint32_t made = 0;
    for (; made < count && result == TSR_SUCCESS; made += result == TSR_SUCCESS)
        result = tsrCreateContextOn(indices[made], threads, flags, &members[made]);
    for (uint32_t i = 0; result != TSR_SUCCESS && i < made; i++) {
        owner_remove(members[i]);
        context_close(members[i]);
    }
    if (result == TSR_SUCCESS) {
        context_join(members, count);
        *context = members[0];
    }
    free(members);
    return result;
}

tsr_status_t tsrGetContextMember(tsr_context_t context, uint32_t position, tsr_context_t *member) {
    if (!context || !member)
        return error_null(context ? "member" : "context");
    if (position >= count_of_members(context->first))
        return error_set(TSR_ENOTFOUND, "the context has %u members",
                         count_of_members(context->first));
    *member = members_of(&context->first)[position];
    return TSR_SUCCESS;
}

/* ---- the end ---- */

/* Contexts lost and destroyed in which a kernel still runs: their memory stays, and stays
 * reachable. */
static struct {
    pthread_mutex_t mutex;
    tsr_context_t first;
} abandoned = {PTHREAD_MUTEX_INITIALIZER, NULL};

static void abandon(tsr_context_t context) {
    pthread_mutex_lock(&abandoned.mutex);
    context->next_abandoned = abandoned.first;
    abandoned.first = context;
    pthread_mutex_unlock(&abandoned.mutex);
}

static size_t count_of(const owned *list) {
    size_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

static owned *take_first(owned **list) {
    owned *first = *list;
    if (first)
        *list = first->next;
    return first;
}

/* Tells that the device is lost: nobody asks for its handles. */
static bool is_lost(tsr_context_t member) {
    return context_usable(member) != TSR_SUCCESS;
}

static tsr_status_t check_empty(tsr_context_t member) {
    pthread_mutex_lock(&member->mutex);
    const size_t modules = count_of(member->modules), streams = count_of(member->streams),
                 events = count_of(member->events), graphs = count_of(member->graphs),
                 prepared = count_of(member->prepared), semaphores = count_of(member->semaphores),
                 states = count_of(member->states), imports = count_of(member->imports),
                 memories = member->memories.count;
    pthread_mutex_unlock(&member->mutex);
    return modules || streams || events || graphs || prepared || semaphores || states || imports ||
                   memories
               ? error_set(TSR_EINVAL,
                           "the context still has %zu modules, %zu streams, %zu events, %zu "
                           "graphs, %zu prepared kernels, %zu semaphores, %zu states, %zu imports "
                           "and %zu allocations; free them first",
                           modules, streams, events, graphs, prepared, semaphores, states, imports,
                           memories)
               : TSR_SUCCESS;
}

static void free_handles(tsr_context_t c) {
    owned *o;
    while ((o = take_first(&c->streams)))
        stream_free((tsr_stream_t)o);
    while ((o = take_first(&c->graphs)))
        graph_free((tsr_graph_t)o);
    while ((o = take_first(&c->prepared)))
        prepared_free((tsr_prepared_t)o);
    while ((o = take_first(&c->states)))
        state_free((tsr_state_t)o);
    while ((o = take_first(&c->events)))
        event_free((tsr_event_t)o);
    while ((o = take_first(&c->modules)))
        module_free((tsr_module_t)o);
    while ((o = take_first(&c->imports)))
        import_free((tsr_import_t)o);
    memory_free_all(c);
}

/* With all handles of members that are lost, unless a kernel of one may still use them. */
static void destroy(tsr_context_t first) {
    tsr_context_t *members = members_of(&first);
    const uint32_t count = count_of_members(first);
    bool ended = true;
    owned *o;
    for (uint32_t i = 0; i < count; i++) {
        owner_remove(members[i]);
        ended &= !is_lost(members[i]) || members[i]->device->driver->cancel(members[i]->device);
    }
    if (!ended) {
        abandon(first);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        free_handles(members[i]);
    while ((o = take_first(&first->semaphores)))
        semaphore_free((tsr_semaphore_t)o);
    for (uint32_t i = count; i-- > 1;)
        context_close(members[i]);
    context_close(first);
}

tsr_status_t tsrDestroyContext(tsr_context_t context) {
    tsr_status_t result = TSR_SUCCESS;
    if (!context)
        return error_null("context");
    if (context->first != context)
        return error_set(TSR_EINVAL, "the context is a member; destroy the first member");
    for (uint32_t i = 0; i < count_of_members(context) && result == TSR_SUCCESS; i++)
        if (!is_lost(members_of(&context)[i]))
            result = check_empty(members_of(&context)[i]);
    if (result == TSR_SUCCESS)
        destroy(context);
    return result;
}
