/* rotation_launch.c - the timed part: by the host's clock where the host launches, by the device's
 * where that works by itself. */
#include "common/abi_status.h"
#include "common/timer.h"
#include "measure/cache_evict.h"
#include "measure/rotation_parts.h"

static const tsr_launch_t grid; /* as the kernel's metadata says */

/* A kernel that broke a promise which the runtime itself watches over deviates, too. */
static bool launched(tsr_status_t code, status *st) {
    if (code == TSR_EINTERNAL)
        return status_set(st, STATUS_MISMATCH, "timed launches: %s", tsrGetLastError());
    return abi_ok(code, "launching", st);
}

static tsr_status_t launch_at(const rotation *r, tsr_kernel_t kernel, uint32_t place,
                              uint32_t target) {
    void **args = rotation_args(r, place, target);
    tsr_prepared_t prepared = r->prepared.at[place];
    return prepared ? tsrLaunchPrepared(prepared, NULL, grid, args, rotation_arg_count(r))
                    : tsrLaunch(kernel, NULL, grid, args, rotation_arg_count(r));
}

bool rotation_launch_once(rotation *r, tsr_kernel_t kernel, uint32_t place, uint32_t target,
                          status *st) {
    if (!rotation_prepare(r, kernel, st) || launched(launch_at(r, kernel, place, target), st))
        return st->code == STATUS_OK;
    r->failed = rotation_set_at(r, place);
    return false;
}

/* The launches before r->next, and the last one again until all threads are awake. */
static tsr_status_t awaken(rotation *r, tsr_kernel_t kernel) {
    uint64_t start = timer_now_ns(), i = r->next - r->part.awakens;
    tsr_status_t code = TSR_SUCCESS;
    while (code == TSR_SUCCESS && r->part.awakens &&
           (i < r->next || timer_now_ns() - start < r->request.awaken_ns)) {
        uint64_t number = i < r->next ? i++ : r->next - 1;
        uint32_t place = (uint32_t)(number % r->sets);
        code = launch_at(r, kernel, place, r->part.shuffled[0]);
        if (code != TSR_SUCCESS)
            r->failed = rotation_set_at(r, place);
    }
    return code;
}

void rotation_evict(const rotation *r) {
    void *const *args = r->part.order[0];
    uint32_t place = rotation_place_of(r, args),
             target = (uint32_t)((size_t)(args - r->args) / rotation_arg_count(r) % r->targets);
    for (uint32_t i = 0; i < r->launch.input_count; i++)
        cache_evict(rotation_in(r, place, i)->data, rotation_in(r, place, i)->size_bytes);
    for (uint32_t i = 0; i < r->launch.output_count; i++)
        cache_evict(rotation_out(r, target, i)->data, rotation_out(r, target, i)->size_bytes);
}

static tsr_status_t launch_all(rotation *r, tsr_kernel_t kernel, tsr_stream_t stream) {
    const size_t count = rotation_arg_count(r);
    void **const *order = r->part.order, **const *const end = order + r->part.launches;
    const tsr_prepared_t *prepared = r->prepared.order;
    tsr_status_t code = TSR_SUCCESS;
    while (prepared && order < end && code == TSR_SUCCESS)
        code = tsrLaunchPrepared(*prepared++, stream, grid, *order++, count);
    while (order < end && code == TSR_SUCCESS)
        code = tsrLaunch(kernel, stream, grid, *order++, count);
    if (code != TSR_SUCCESS)
        r->failed = rotation_set_at(r, rotation_place_of(r, order[-1]));
    return code;
}

static tsr_status_t on_the_host(rotation *r, tsr_kernel_t kernel, uint64_t *ns) {
    uint64_t cost = timer_cost_ns(), start = timer_now_ns();
    tsr_status_t code = launch_all(r, kernel, NULL);
    *ns = timer_now_ns() - start;
    *ns -= *ns > cost ? cost : 0;
    return code;
}

static tsr_status_t on_the_device(rotation *r, tsr_kernel_t kernel, uint64_t *ns) {
    tsr_status_t code = launch_clock_begin(&r->clock);
    if (code == TSR_SUCCESS)
        code = launch_all(r, kernel, r->clock.stream);
    return launch_clock_end(&r->clock, code, ns);
}

/* ---- guests ---- */

static void note_caller(rotation *r, tsr_kernel_t kernel) {
    size_t at = 0;
    while (at < ROTATION_CALLERS - 1 && r->callers[at].kernel && r->callers[at].kernel != kernel)
        at++;
    r->callers[at] = (struct rotation_caller){kernel, foreign_called()};
}

bool rotation_settle_guest(const rotation *r, tsr_kernel_t kernel, status *st) {
    for (size_t i = 0; i < ROTATION_CALLERS; i++)
        if (r->callers[i].kernel == kernel)
            return guest_watch_settle(&r->guests, r->callers[i].guest, st);
    return true;
}

/* ---- a part ---- */

static tsr_status_t time_launches(rotation *r, tsr_kernel_t kernel, uint64_t *ns) {
    const rotation_request *hooks = &r->request;
    if (hooks->around)
        hooks->around(hooks->around_context, true);
    watch_part_moments moments;
    uint64_t wakes = foreign_wakes();
    moments.before_start = watch_now();
    uint64_t start = timer_now_ns();
    moments.after_start = watch_now();
    tsr_status_t code = r->clock.stream ? on_the_device(r, kernel, ns) : on_the_host(r, kernel, ns);
    moments.before_end = watch_now();
    uint64_t took = timer_now_ns() - start;
    moments.after_end = watch_now();
    r->part.woke = foreign_wakes() != wakes;
    if (hooks->around)
        hooks->around(hooks->around_context, false);
    watch_part(r->watch, &moments, took);
    return code;
}

bool rotation_launch_part(rotation *r, tsr_kernel_t kernel, uint64_t *ns, status *st) {
    status watched = STATUS_INIT;
    if (!rotation_prepare(r, kernel, st))
        return false;
    guest_watch_part_begins(&r->guests);
    tsr_status_t code = awaken(r, kernel);
    if (code == TSR_SUCCESS)
        code = time_launches(r, kernel, ns);
    note_caller(r, kernel);
    bool as_it_was = guest_watch_part_ends(&r->guests, &watched);
    if (!launched(code, st))
        return false;
    return as_it_was || status_set(st, watched.code, "timed launches: %s", watched.message);
}
