/* gpu_clock.c - see gpu_clock.h. */
#include "device/shared/gpu_clock.h"

#include "base/clock.h"

void gpu_clock_init(gpu_clock *c) {
    pthread_mutex_init(&c->mutex, NULL);
}

void gpu_clock_release(gpu_clock *c) {
    pthread_mutex_destroy(&c->mutex);
}

/* Clocks drift: an old base is replaced where no mark is told by it. */
static bool provide_base(gpu_clock *c, gpu_device *g) {
    enum { OLD_NS = 100000000 };
    uint64_t now = clock_now_ns();
    if (c->base_ns && (c->marks || now - c->base_ns < OLD_NS))
        return true;
    bool ok = c->read && c->read(g, &c->base_ticks);
    c->base_ns = ok ? now : 0;
    return ok;
}

bool gpu_clock_keep(gpu_clock *c, gpu_device *g, uint64_t *now_ns_out) {
    pthread_mutex_lock(&c->mutex);
    bool ok = provide_base(c, g);
    c->marks += ok;
    pthread_mutex_unlock(&c->mutex);
    *now_ns_out = clock_now_ns();
    return ok;
}

void gpu_clock_drop(gpu_clock *c) {
    pthread_mutex_lock(&c->mutex);
    c->marks--;
    pthread_mutex_unlock(&c->mutex);
}

uint64_t gpu_clock_tell(const gpu_clock *c, uint64_t ticks, uint64_t given_ns) {
    uint64_t since = (ticks - c->base_ticks) & c->mask;
    bool is_before = since > c->mask - c->mask / 16; /* the clock goes in steps of its own */
    if (is_before)
        return given_ns;
    uint64_t ns = c->base_ns + (uint64_t)((double)since * c->tick_ns);
    return ns > given_ns ? ns : given_ns;
}
