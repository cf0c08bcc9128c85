/* import.c - memory of a device that something else in the process allocated. */
#include <stdlib.h>

#include "base/arena.h"
#include "runtime.h"

/* Ranges that are imported may overlap: the one that reaches furthest. The context's lock is held.
 */
const device_memory *import_find(tsr_context_t context, const void *address) {
    const device_memory *best = NULL;
    uintptr_t at = (uintptr_t)address, best_end = 0;
    for (const owned *o = context->imports; o; o = o->next) {
        const device_memory *m = ((const struct tsr_import *)o)->memory;
        const uintptr_t begin = m ? (uintptr_t)m->address : 0, end = m ? begin + m->size_bytes : 0;
        if (m && at >= begin && (at < end || at == begin) && (!best || end > best_end)) {
            best = m;
            best_end = end;
        }
    }
    return best;
}

/* Memory of the context's own needs nothing. */
static bool is_allocated(tsr_context_t context, const void *pointer) {
    pthread_mutex_lock(&context->mutex);
    const bool found = allocation_find(context, pointer) != NULL;
    pthread_mutex_unlock(&context->mutex);
    return found;
}

tsr_status_t tsrImportMemory(tsr_context_t context, void *pointer, size_t bytes,
                             tsr_import_t *import) {
    status st = STATUS_INIT;
    if (!context || !pointer || !import)
        return error_null(!context ? "context" : !pointer ? "pointer" : "import");
    tsr_status_t usable = context_usable(context);
    if (usable != TSR_SUCCESS)
        return usable;
    device *d = context->device;
    device_memory *memory = NULL;
    if (!d->info.host_addressable && !d->driver->adopt)
        return error_set(TSR_EUNAVAILABLE,
                         "nothing else in a program has addresses of device '%s' (%s)",
                         d->info.name, d->info.backend);
    if (!d->info.host_addressable && !is_allocated(context, pointer) &&
        !d->driver->adopt(d, pointer, bytes, &memory, &st))
        return error_from(&st);
    struct tsr_import *made = base_calloc(1, sizeof *made);
    *made = (struct tsr_import){.context = context, .memory = memory};
    context_add(context, &context->imports, &made->link);
    *import = made;
    return TSR_SUCCESS;
}

void import_free(tsr_import_t import) {
    device *d = import->context->device;
    if (import->memory)
        d->driver->free(d, import->memory);
    free(import);
}

tsr_status_t tsrReleaseImport(tsr_import_t import) {
    if (!import)
        return error_null("import");
    tsr_status_t usable = context_usable(import->context);
    if (usable != TSR_SUCCESS)
        return usable;
    context_remove(import->context, &import->context->imports, &import->link);
    import_free(import);
    return TSR_SUCCESS;
}
