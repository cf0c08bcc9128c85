/* owner.c - whose memory an address is: contexts whose memory the host cannot touch, by address, so
 * that memory of one that is given to another is refused with words. */
#include "runtime.h"

/* Locked before the lock of a context, and never by who holds one. */
static struct {
    pthread_mutex_t mutex;
    tsr_context_t first;
    atomic_size_t count;
} all = {PTHREAD_MUTEX_INITIALIZER, NULL, 0};

static bool is_listed(tsr_context_t context) {
    return !context->device->info.host_addressable && context->device->own_addresses;
}

void owner_add(tsr_context_t context) {
    if (!is_listed(context))
        return;
    pthread_mutex_lock(&all.mutex);
    context->next_owner = all.first;
    all.first = context;
    atomic_fetch_add(&all.count, 1);
    pthread_mutex_unlock(&all.mutex);
}

void owner_remove(tsr_context_t context) {
    pthread_mutex_lock(&all.mutex);
    tsr_context_t *at = &all.first;
    while (*at && *at != context)
        at = &(*at)->next_owner;
    if (*at) {
        *at = context->next_owner;
        atomic_fetch_sub(&all.count, 1);
    }
    pthread_mutex_unlock(&all.mutex);
}

/* Memory that the host can map may have one address for both. */
static bool owns(tsr_context_t context, const void *address) {
    pthread_mutex_lock(&context->mutex);
    const device_memory *memory = memory_find(context, address);
    bool found = memory && memory->kind == DEVICE_MEMORY_DEVICE;
    pthread_mutex_unlock(&context->mutex);
    return found;
}

tsr_status_t owner_check(tsr_context_t context, const void *address) {
    tsr_status_t result = TSR_SUCCESS;
    if (atomic_load_explicit(&all.count, memory_order_relaxed) == 0)
        return TSR_SUCCESS;
    pthread_mutex_lock(&all.mutex);
    for (tsr_context_t c = all.first; c && result == TSR_SUCCESS; c = c->next_owner)
        if (c != context && owns(c, address))
            result = error_set(TSR_EINVAL,
                               "%p is memory of another context, on device '%s' (%s); copy it "
                               "through memory of the program",
                               address, c->device->info.name, c->device->info.backend);
    pthread_mutex_unlock(&all.mutex);
    return result;
}
