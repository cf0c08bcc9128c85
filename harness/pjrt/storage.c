/* storage.c - memory of buffers. Several hold it: buffers, programs that read it, pointers outside;
 * the last one frees it, or gives it back to the caller that lent it. */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "pjrt/plugin.h"

enum { LINE = 64, HUGE_PAGE = 2 << 20 };

storage *storage_new(size_t bytes) {
    void *data = NULL;
    const bool large = bytes >= (size_t)2 * HUGE_PAGE;
    const size_t room = bytes ? bytes : 1;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&data, large ? HUGE_PAGE : LINE, room))
        return NULL;
    if (large)
        madvise(data, bytes, MADV_HUGEPAGE); /* where the system has them */
    storage *s = base_malloc(sizeof *s);
    *s = (storage){.data = data, .bytes = bytes};
    atomic_init(&s->holders, 1);
    return s;
}

storage *storage_borrow(void *data, size_t bytes, PJRT_Event *until) {
    storage *s = base_malloc(sizeof *s);
    *s = (storage){.data = data, .bytes = bytes, .borrowed = until};
    atomic_init(&s->holders, 1);
    return s;
}

storage *storage_hold(storage *s) {
    atomic_fetch_add(&s->holders, 1);
    return s;
}

void storage_release(storage *s) {
    if (!s || atomic_fetch_sub(&s->holders, 1) > 1)
        return;
    if (s->borrowed) {
        event_fire(s->borrowed);
        event_release(s->borrowed);
    } else {
        free(s->data);
    }
    free(s);
}

bool storage_is_held_by(const storage *s, unsigned holders) {
    return !s->borrowed && atomic_load(&s->holders) == holders;
}
