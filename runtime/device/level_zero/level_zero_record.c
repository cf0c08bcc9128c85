/* level_zero_record.c - recordings: lists that are closed once and run as often as one likes. What
 * a queue appends while it records goes into a list of its own. */
#include "device/level_zero/level_zero_parts.h"

static level_zero_queue *of(const gpu_queue *q) {
    return q->handle;
}

bool level_zero_record_begin(gpu_queue *q, status *st) {
    level_zero_queue *z = of(q);
    void *list = NULL;
    if (!gpu_may_wait(&level_zero_device_of(q)->gpu, st) ||
        !level_zero_make_list(level_zero_device_of(q), &list, st))
        return false;
    z->recorded = list;
    return true;
}

bool level_zero_record_end(gpu_queue *q, bool keep, void **recording_out, status *st) {
    level_zero_queue *z = of(q);
    void *list = z->recorded;
    z->recorded = NULL;
    bool ok = keep && level_zero_check(level_zero_device_of(q), level_zero.list_close(list),
                                       "ending a graph", st);
    *recording_out = ok ? list : NULL;
    if (!ok)
        level_zero.list_destroy(list);
    return ok;
}

bool level_zero_replay(gpu_queue *q, void *recording, status *st) {
    return gpu_may_wait(&level_zero_device_of(q)->gpu, st) &&
           level_zero_execute(q, recording, "running a graph", st);
}

void level_zero_forget(gpu_device *g, void *recording) {
    (void)g;
    level_zero.list_destroy(recording);
}
