/* emulate_copy.c - cp.async: copies to shared memory that land when their thread has waited for
 * them. Until then nobody may touch what they write. */
#include <string.h>

#include "device/emulate/emulate_parts.h"

void emulate_copy_async(emulated_thread *base, void *shared, const void *global, uint32_t bytes,
                        uint32_t site) {
    emulate_thread *t = emulate_thread_of(base);
    uint32_t number = site & EMULATED_SITE_MASK;
    emulate_copy copy = {shared, global, bytes, number, t->copy_group, t->engine->epoch, {0}};
    if (bytes > sizeof copy.data)
        emulate_fail_without(t->engine, STATUS_CORRUPT,
                             "the image copies more than 16 bytes at once");
    emulate_access(base, global, bytes, number);
    emulate_access(base, shared, bytes, number | EMULATED_SHARED | EMULATED_WRITE);
    emulate_mark(t, shared, bytes, STAMP_UNDER_WAY | t->stamp | number);
    memcpy(copy.data, global, bytes);
    vec_push(&t->copies, copy);
}

void emulate_copy_commit(emulated_thread *base) {
    emulate_thread_of(base)->copy_group++;
}

/* Its source was to stay as it was until now. */
static void land(emulate_thread *t, const emulate_copy *c) {
    emulate_access(&t->base, c->global, c->bytes, c->site);
    emulate_source_settle(t, c);
    emulate_mark(t, c->shared, c->bytes, t->engine->epoch | t->stamp | c->site);
    memcpy(c->shared, c->data, c->bytes);
}

void emulate_copy_wait(emulated_thread *base, uint32_t groups_left) {
    emulate_thread *t = emulate_thread_of(base);
    size_t kept = 0;
    for (size_t i = 0; i < t->copies.count; i++) {
        emulate_copy *c = &t->copies.items[i];
        if (t->copy_group != c->group && t->copy_group - c->group > groups_left)
            land(t, c);
        else
            t->copies.items[kept++] = *c;
    }
    t->copies.count = kept;
}

void emulate_copies_drop(emulate_thread *t) {
    for (size_t i = 0; i < t->copies.count; i++)
        emulate_mark(t, t->copies.items[i].shared, t->copies.items[i].bytes, 0);
    vec_clear(&t->copies);
    t->copy_group = 0;
}
