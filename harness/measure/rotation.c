/* rotation.c - places, targets and contents. */
#include "measure/rotation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "measure/digest64.h"
#include "measure/rotation_parts.h"

enum {
    PAGE_BYTES = 4096,
    STEP_BYTES = 64,
    GUARD_BYTES = 1024,
    SPARE_BYTES = 64 << 20,   /* at most so much for spare outputs */
    EXCHANGE_BYTES = 4 << 20, /* above that, exchanging is for every few parts */
    EXCHANGE_EVERY = 8,
    ALL_EVERY = 16,             /* parts, and then all places are looked at */
    WAKING_TELLS_NS = 20000000, /* of a part that takes longer a wake-up is less than 1 % */
    SLOW_NS = 200000000         /* a launch that wakes threads and fills caches itself */
};
static const uint64_t digest_key = UINT64_C(0x7F4A7C159E3779B9);

uint64_t rotation_digest(const void *data, size_t size_bytes) {
    return digest64(digest_key, data, size_bytes);
}

/* ---- room ---- */

static bool allocate(rotation *r, rotation_buffer *b, size_t size_bytes, status *st) {
    b->size_bytes = size_bytes;
    if (!launch_memory_open(&b->memory, r->launch.context,
                            size_bytes + 2 * GUARD_BYTES + 2 * PAGE_BYTES, st))
        return false;
    uintptr_t base = (uintptr_t)b->memory.device;
    size_t skip = (PAGE_BYTES - (base + GUARD_BYTES) % PAGE_BYTES) % PAGE_BYTES;
    size_t steps = splitmix64(&r->random) % (PAGE_BYTES / STEP_BYTES);
    size_t offset = GUARD_BYTES + skip + steps * STEP_BYTES;
    b->device = (unsigned char *)b->memory.device + offset;
    b->data = b->memory.view + offset;
    rotation_guard(r, b);
    return true;
}

bool rotation_send(const rotation_buffer *b, status *st) {
    return launch_memory_send(&b->memory, (size_t)(b->data - b->memory.view), b->size_bytes, st);
}

bool rotation_fetch(const rotation_buffer *b, status *st) {
    return launch_memory_fetch(&b->memory, 0, b->memory.size_bytes, st);
}

static bool write_data(const rotation_buffer *b, const void *from, status *st) {
    if (b->size_bytes)
        memcpy(b->data, from, b->size_bytes);
    return rotation_send(b, st);
}

static bool make_place(rotation *r, uint32_t place, const rotation_request *request, status *st) {
    const void *const *inputs = request->sets[r->contents.at[place]].inputs;
    for (uint32_t i = 0; i < r->launch.input_count; i++) {
        rotation_buffer *b = rotation_in(r, place, i);
        if (!allocate(r, b, r->launch.sizes[i], st) ||
            !launch_memory_send(&b->memory, 0, b->memory.size_bytes, st) ||
            !write_data(b, inputs[i], st))
            return false;
    }
    return true;
}

static bool make_target(rotation *r, uint32_t target, status *st) {
    for (uint32_t i = 0; i < r->launch.output_count; i++) {
        rotation_buffer *b = rotation_out(r, target, i);
        if (!allocate(r, b, r->launch.sizes[r->launch.input_count + i], st) ||
            !launch_memory_send(&b->memory, 0, b->memory.size_bytes, st))
            return false;
    }
    return true;
}

static bool furnish(rotation *r, const rotation_request *request, status *st) {
    bool ok = true;
    for (uint32_t place = 0; place < r->sets && ok; place++)
        ok = make_place(r, place, request, st);
    for (uint32_t target = 0; target < r->targets && ok; target++)
        ok = make_target(r, target, st);
    return ok;
}

/* Digests of the inputs, and of the outputs where they are known. */
static void note_contents(rotation *r, const rotation_request *request) {
    const launch *l = &r->launch;
    for (uint32_t c = 0; c < r->contents.count; c++) {
        const rotation_set *set = &request->sets[c];
        for (uint32_t i = 0; i < l->input_count; i++)
            *rotation_expected(r, c, i) = rotation_digest(set->inputs[i], l->sizes[i]);
        for (uint32_t i = 0; i < l->output_count && set->digests; i++)
            *rotation_expected(r, c, l->input_count + i) = set->digests[i];
        r->contents.known[c] = set->digests != NULL;
        r->learnt &= r->contents.known[c] || c >= r->sets;
        if (c >= r->sets)
            r->contents.held[c] = set->inputs;
    }
}

static void shuffle_contents(rotation *r) {
    uint32_t *at = r->contents.at;
    for (uint32_t i = 0; i < r->sets; i++) {
        uint32_t j = (uint32_t)(splitmix64(&r->random) % (i + 1));
        at[i] = at[j];
        at[j] = i;
    }
}

/* The arguments of every launch that can come, so that the timed part has nothing to prepare. */
static void bind(rotation *r) {
    launch *l = &r->launch;
    for (uint32_t place = 0; place < r->sets; place++)
        for (uint32_t target = 0; target < r->targets; target++) {
            void **args = rotation_args(r, place, target);
            for (uint32_t i = 0; i < l->input_count; i++)
                *args++ = &rotation_in(r, place, i)->device;
            for (uint32_t i = 0; i < l->output_count; i++)
                *args++ = &rotation_out(r, target, i)->device;
            for (uint32_t i = 0; i < l->dim_count; i++)
                *args++ = &l->dims[i];
        }
}

static size_t largest_input(const launch *l) {
    size_t largest = 1;
    for (uint32_t i = 0; i < l->input_count; i++)
        largest = l->sizes[i] > largest ? l->sizes[i] : largest;
    return largest;
}

/* Spare targets; where outputs are so large that even two more are too many, a part is so short
 * that each launch has one of its own. */
static uint32_t spare_targets(const launch *l) {
    size_t bytes = 1;
    for (uint32_t i = 0; i < l->output_count; i++)
        bytes += l->sizes[l->input_count + i];
    size_t spare = SPARE_BYTES / bytes;
    return spare < 2 ? 0 : spare < ROTATION_SPARE ? (uint32_t)spare : ROTATION_SPARE;
}

static bool make_room(rotation *r, status *st) {
    const launch *l = &r->launch;
    size_t buffers = l->input_count + l->output_count;
    r->active = r->sets;
    r->targets = 1 + r->active + spare_targets(l);
    r->in = base_calloc(r->sets * l->input_count + 1, sizeof *r->in);
    r->out = base_calloc(r->targets * l->output_count + 1, sizeof *r->out);
    r->contents.digests = base_calloc(r->contents.count * buffers + 1, sizeof(uint64_t));
    r->args =
        base_calloc((size_t)r->sets * r->targets * rotation_arg_count(r) + 1, sizeof *r->args);
    r->exchange = malloc(largest_input(l));
    return r->exchange || status_set(st, STATUS_OUT_OF_MEMORY, "no memory for input sets");
}

/* A device that works by itself has a clock of its own, too; the threads and processes of its
 * driver are not the kernel's, and there are more of them with each queue, those of another
 * rotation's clock too. */
static bool choose_clock(rotation *r, status *st) {
    bool async = r->launch.is_async;
    if (async && !launch_clock_open(&r->clock, r->launch.context, st))
        return false;
    r->watch = async || !r->request.watch ? &r->own_watch : r->request.watch;
    if (r->watch == &r->own_watch)
        watch_begin(r->watch, 0);
    if (r->request.watch) /* which began before any code of others ran */
        r->watch->scheduled = r->request.watch->scheduled;
    guest_watch_begin(&r->guests, r->request.threads);
    if (async)
        watch_expect_threads(r->watch);
    return true;
}

static bool is_request(const rotation_request *request, status *st) {
    uint32_t held = request->held_count, count = request->set_count;
    return (count <= ROTATION_SETS_MAX && count > held) ||
           status_set(st, STATUS_INVALID,
                      "a rotation has 1 to %d sets, one of which is not held back, not %u and %u",
                      ROTATION_SETS_MAX, count, held);
}

rotation *rotation_open(const rotation_request *request, status *st) {
    if (!is_request(request, st))
        return NULL;
    rotation *r = base_calloc(1, sizeof *r);
    r->request = *request;
    r->request.launch = NULL;
    r->request.sets = NULL;
    r->launch = *request->launch;
    r->launch.prepared = NULL;
    r->sets = request->set_count - request->held_count;
    r->contents.count = request->set_count;
    r->random = request->seed;
    r->next = r->sets;
    r->learnt = true;
    r->failed = -1;
    r->guard = splitmix64(&r->random);
    shuffle_contents(r);
    if (make_room(r, st) && furnish(r, request, st) && choose_clock(r, st)) {
        note_contents(r, request);
        bind(r);
        return r;
    }
    rotation_close(r);
    return NULL;
}

static void free_buffers(rotation_buffer *buffers, uint32_t count) {
    for (uint32_t i = 0; i < count && buffers; i++)
        launch_memory_close(&buffers[i].memory);
    free(buffers);
}

void rotation_close(rotation *r) {
    if (!r)
        return;
    rotation_forget_prepared(r);
    free(r->prepared.order);
    launch_clock_close(&r->clock);
    free_buffers(r->in, r->sets * r->launch.input_count);
    free_buffers(r->out, r->targets * r->launch.output_count);
    free(r->contents.digests);
    free(r->args);
    free(r->part.order);
    free(r->exchange);
    free(r);
}

/* ---- contents ---- */

static bool exchange(rotation *r, uint32_t a, uint32_t b, status *st) {
    uint32_t *at = r->contents.at, content = at[a];
    r->prepared.stale[a] = r->prepared.stale[b] = true;
    at[a] = at[b];
    at[b] = content;
    for (uint32_t i = 0; i < r->launch.input_count; i++) {
        rotation_buffer *at_a = rotation_in(r, a, i), *at_b = rotation_in(r, b, i);
        memcpy(r->exchange, at_a->data, at_a->size_bytes);
        memcpy(at_a->data, at_b->data, at_a->size_bytes);
        memcpy(at_b->data, r->exchange, at_a->size_bytes);
        if (!rotation_send(at_a, st) || !rotation_send(at_b, st))
            return false;
    }
    return true;
}

static bool exchange_some(rotation *r, status *st) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < r->launch.input_count; i++)
        bytes += r->launch.sizes[i];
    bool due = bytes <= EXCHANGE_BYTES || r->timed_parts % EXCHANGE_EVERY == 1;
    if (r->sets < 2 || !due)
        return true;
    uint32_t a = (uint32_t)(splitmix64(&r->random) % r->sets),
             by = (uint32_t)(splitmix64(&r->random) % (r->sets - 1));
    return exchange(r, a, (a + 1 + by) % r->sets, st);
}

/* Brings what was held back to a place of one that was not, unless it lies at one already. */
static bool bring_in(rotation *r, uint32_t content, status *st) {
    uint32_t place = (uint32_t)(splitmix64(&r->hidden) % r->sets), free_at = r->sets;
    for (uint32_t k = 0; k < r->sets; k++) {
        uint32_t at = (place + k) % r->sets;
        if (r->contents.at[at] == content)
            return true;
        if (r->contents.at[at] < r->sets)
            free_at = at;
    }
    if (free_at == r->sets)
        return true;
    r->contents.at[free_at] = content;
    r->prepared.stale[free_at] = true;
    for (uint32_t i = 0; i < r->launch.input_count; i++)
        if (!write_data(rotation_in(r, free_at, i), r->contents.held[content][i], st))
            return false;
    return true;
}

/* ---- parts ---- */

static bool time_once(rotation *r, const rotation_timing *timing, double *ns_each, status *st) {
    uint64_t took;
    bool all = ++r->timed_parts % ALL_EVERY == 1;
    if (!exchange_some(r, st))
        return false;
    uint64_t awakens = timing->repeats < r->sets ? timing->repeats : r->sets;
    rotation_draw_part(r, rotation_is_slow(r) ? 0 : awakens, timing->repeats, all);
    if (!rotation_poison(r, all, st) || !rotation_launch_part(r, timing->kernel, &took, st))
        return false;
    uint64_t launches = r->part.launches;
    r->next = r->sets + (r->next + launches) % r->sets;
    r->timed_launches += launches;
    *ns_each = (double)took / (double)launches;
    if (r->quickest_ns <= 0 || *ns_each < r->quickest_ns)
        r->quickest_ns = *ns_each;
    r->part.woke &= took < WAKING_TELLS_NS;
    if (launches > r->sets && (r->least_ns <= 0 || *ns_each < r->least_ns))
        r->least_ns = *ns_each;
    return rotation_check(r, all, st);
}

bool rotation_is_slow(const rotation *r) {
    return r->quickest_ns >= SLOW_NS;
}

int rotation_failed_set(const rotation *r) {
    return r->failed;
}

/* One in which a guest had to be woken is looked at like any other, and taken again: a part that
 * comes late, or a function that does not sleep, would have another time. In a long one that is
 * nothing. */
bool rotation_time(rotation *r, const rotation_timing *timing, double *ns_each, status *st) {
    enum { TRIES = 4 };
    bool ok = r->learnt ||
              status_set(st, STATUS_INTERNAL, "timing a kernel before its outputs were learnt");
    r->part.woke = true;
    for (int i = 0; i < TRIES && ok && r->part.woke; i++)
        ok = time_once(r, timing, ns_each, st);
    return ok;
}

uint64_t rotation_launches(const rotation *r) {
    return r->timed_launches;
}

/* ---- before the first part, and after the last ---- */

static bool learn_place(rotation *r, tsr_kernel_t kernel, uint32_t place, status *st) {
    uint32_t target = r->part.shuffled[place], content = r->contents.at[place];
    r->part.source[target] = (int)content;
    if (!rotation_launch_once(r, kernel, place, target, st))
        return false;
    for (uint32_t i = 0; i < r->launch.output_count; i++)
        if (!rotation_fetch(rotation_out(r, target, i), st))
            return false;
    return rotation_learn_content(r, content, target, st);
}

bool rotation_learn(rotation *r, tsr_kernel_t kernel, status *st) {
    rotation_draw_part(r, 0, 0, true);
    if (!rotation_poison(r, true, st))
        return false;
    for (uint32_t place = 0; place < r->sets; place++)
        if (!learn_place(r, kernel, place, st))
            return false;
    r->learnt = true;
    return rotation_check(r, true, st);
}

/* Contents that no launch has had, in parts that nothing tells from those before; of a slow kernel
 * only so many that each place is read once. */
static bool time_held(rotation *r, const rotation_timing *timing, status *st) {
    enum { PARTS = 4, LONG_NS = 10000000 };
    uint64_t parts = r->contents.count > r->sets ? PARTS : 0;
    double ns = 0;
    for (uint32_t c = r->sets; c < r->contents.count; c++)
        if (!bring_in(r, c, st))
            return false;
    for (uint64_t i = 0; i < parts; i++) {
        if (!rotation_time(r, timing, &ns, st))
            return false;
        if (ns > LONG_NS)
            parts = r->sets;
    }
    return true;
}

bool rotation_finish(rotation *r, const rotation_timing *timing, status *st) {
    enum { PATIENCE_US = 200 };
    if (!time_held(r, timing, st))
        return false;
    rotation_draw_part(r, 0, 0, true);
    if (!rotation_poison(r, true, st))
        return false;
    usleep(PATIENCE_US);
    return rotation_check(r, true, st) && rotation_settle_guest(r, timing->kernel, st);
}
