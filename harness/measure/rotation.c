/* rotation.c - places, contents, and the timed part. */
#include "measure/rotation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "common/abi_status.h"
#include "common/timer.h"
#include "measure/digest64.h"
#include "measure/rotation_parts.h"

enum {
    PAGE_BYTES = 4096,
    STEP_BYTES = 64,
    GUARD_BYTES = 1024,
    SPARE_BYTES = 64 << 20,   /* at most so much for spare outputs */
    EXCHANGE_BYTES = 4 << 20, /* above that, exchanging is for every few parts */
    EXCHANGE_EVERY = 8,
    ALL_EVERY = 16 /* parts, and then all places are looked at */
};
static const uint64_t digest_key = UINT64_C(0x7F4A7C159E3779B9);

uint64_t rotation_digest(const void *data, size_t size_bytes) {
    return digest64(digest_key, data, size_bytes);
}

/* ---- room ---- */

static bool allocate(rotation *r, rotation_buffer *b, size_t size_bytes, status *st) {
    void *base;
    b->size_bytes = size_bytes;
    b->span_bytes = size_bytes + 2 * GUARD_BYTES + 2 * PAGE_BYTES;
    if (!abi_ok(tsrAlloc(r->context, b->span_bytes, TSR_ALLOC_DEFAULT, &base),
                "allocating a buffer", st))
        return false;
    b->base = base;
    size_t skip = (PAGE_BYTES - ((uintptr_t)b->base + GUARD_BYTES) % PAGE_BYTES) % PAGE_BYTES;
    size_t steps = rotation_random(&r->random) % (PAGE_BYTES / STEP_BYTES);
    b->data = b->base + GUARD_BYTES + skip + steps * STEP_BYTES;
    rotation_guard(r, b);
    return true;
}

static bool furnish(rotation *r, const rotation_request *request, status *st) {
    bool ok = true;
    for (uint32_t place = 0; place < r->sets; place++)
        for (uint32_t i = 0; i < r->inputs && ok; i++) {
            rotation_buffer *b = rotation_in(r, place, i);
            ok = allocate(r, b, request->sizes[i], st);
            if (ok && b->size_bytes)
                memcpy(b->data, request->sets[r->content[place]].inputs[i], b->size_bytes);
        }
    for (uint32_t target = 0; target < r->targets; target++)
        for (uint32_t i = 0; i < r->outputs && ok; i++)
            ok = allocate(r, rotation_out(r, target, i), request->sizes[r->inputs + i], st);
    return ok;
}

/* Digests of the inputs, and of the outputs where they are known. */
static void note_contents(rotation *r, const rotation_request *request) {
    for (uint32_t c = 0; c < r->contents; c++) {
        const rotation_set *set = &request->sets[c];
        for (uint32_t i = 0; i < r->inputs; i++)
            *rotation_expected(r, c, i) = rotation_digest(set->inputs[i], request->sizes[i]);
        for (uint32_t i = 0; i < r->outputs && set->digests; i++)
            *rotation_expected(r, c, r->inputs + i) = set->digests[i];
        r->known[c] = set->digests != NULL;
        r->learnt &= r->known[c] || c >= r->sets;
        if (c >= r->sets)
            r->held[c] = set->inputs;
    }
}

static void shuffle_contents(rotation *r) {
    for (uint32_t i = 0; i < r->sets; i++) {
        uint32_t j = (uint32_t)(rotation_random(&r->random) % (i + 1));
        r->content[i] = r->content[j];
        r->content[j] = i;
    }
}

/* The arguments of every launch that can come, so that the timed part has nothing to prepare. */
static void bind(rotation *r) {
    for (uint32_t place = 0; place < r->sets; place++)
        for (uint32_t target = 0; target < r->targets; target++) {
            void **args = rotation_args(r, place, target);
            for (uint32_t i = 0; i < r->inputs; i++)
                args[i] = &rotation_in(r, place, i)->data;
            for (uint32_t i = 0; i < r->outputs; i++)
                args[r->inputs + i] = &rotation_out(r, target, i)->data;
            for (uint32_t i = 0; i < r->dims; i++)
                args[r->inputs + r->outputs + i] = &r->dim_values[i];
        }
}

static size_t largest_input(const rotation_request *request) {
    size_t largest = 1;
    for (uint32_t i = 0; i < request->input_count; i++)
        largest = request->sizes[i] > largest ? request->sizes[i] : largest;
    return largest;
}

/* Where outputs are so large that even two more of them are too many, a part is so short that each
 * launch has one of its own. */
static uint32_t spare_targets(const rotation_request *request) {
    size_t bytes = 1;
    for (uint32_t i = 0; i < request->output_count; i++)
        bytes += request->sizes[request->input_count + i];
    size_t spare = SPARE_BYTES / bytes;
    return spare < 2 ? 0 : spare < ROTATION_SPARE ? (uint32_t)spare : ROTATION_SPARE;
}

static void make_room(rotation *r, const rotation_request *request) {
    size_t buffers = r->inputs + r->outputs, args = buffers + r->dims;
    r->active = r->sets;
    r->targets = 1 + r->active + spare_targets(request);
    r->in = base_calloc(r->sets * r->inputs + 1, sizeof *r->in);
    r->out = base_calloc(r->targets * r->outputs + 1, sizeof *r->out);
    r->digests = base_calloc(r->contents * buffers + 1, sizeof *r->digests);
    r->args = base_calloc((size_t)r->sets * r->targets * args + 1, sizeof *r->args);
    r->dim_values = base_calloc(r->dims + 1, sizeof *r->dim_values);
    r->exchange = malloc(largest_input(request));
    if (r->dims)
        memcpy(r->dim_values, request->dims, r->dims * sizeof *r->dim_values);
}

rotation *rotation_open(const rotation_request *request, status *st) {
    uint32_t held = request->held_count, count = request->set_count;
    if (count > ROTATION_SETS_MAX || count <= held) {
        status_set(st, STATUS_INVALID,
                   "a rotation has 1 to %d sets, one of which is not held back, not %u and %u",
                   ROTATION_SETS_MAX, count, held);
        return NULL;
    }
    rotation *r = base_calloc(1, sizeof *r);
    *r = (rotation){.context = request->context,
                    .inputs = request->input_count,
                    .outputs = request->output_count,
                    .dims = request->dim_count,
                    .sets = count - held,
                    .contents = count,
                    .random = request->seed,
                    .next = count - held,
                    .learnt = true,
                    .watch = request->watch,
                    .awaken_ns = request->awaken_ns,
                    .judge = request->judge,
                    .judge_context = request->judge_context,
                    .accept = request->accept,
                    .accept_context = request->accept_context,
                    .around = request->around,
                    .around_context = request->around_context};
    if (!r->watch)
        watch_begin(r->watch = &r->own_watch, 0);
    r->guard = rotation_random(&r->random);
    make_room(r, request);
    shuffle_contents(r);
    bool ok = r->exchange || status_set(st, STATUS_OUT_OF_MEMORY, "no memory for input sets");
    if (ok && furnish(r, request, st)) {
        note_contents(r, request);
        bind(r);
        return r;
    }
    rotation_close(r);
    return NULL;
}

static void free_buffers(const rotation *r, rotation_buffer *buffers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (buffers[i].base)
            (void)tsrFree(r->context, buffers[i].base);
    free(buffers);
}

void rotation_close(rotation *r) {
    if (!r)
        return;
    free_buffers(r, r->in, r->sets * r->inputs);
    free_buffers(r, r->out, r->targets * r->outputs);
    free(r->digests);
    free(r->args);
    free(r->order);
    free(r->dim_values);
    free(r->exchange);
    free(r);
}

/* ---- contents ---- */

static void exchange(rotation *r, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < r->inputs; i++) {
        rotation_buffer *at_a = rotation_in(r, a, i), *at_b = rotation_in(r, b, i);
        memcpy(r->exchange, at_a->data, at_a->size_bytes);
        memcpy(at_a->data, at_b->data, at_a->size_bytes);
        memcpy(at_b->data, r->exchange, at_a->size_bytes);
    }
    uint32_t content = r->content[a];
    r->content[a] = r->content[b];
    r->content[b] = content;
}

static void exchange_some(rotation *r) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < r->inputs; i++)
        bytes += rotation_in(r, 0, i)->size_bytes;
    bool due = bytes <= EXCHANGE_BYTES || r->timed_parts % EXCHANGE_EVERY == 1;
    if (r->sets < 2 || !due)
        return;
    uint32_t a = (uint32_t)(rotation_random(&r->random) % r->sets),
             by = (uint32_t)(rotation_random(&r->random) % (r->sets - 1));
    exchange(r, a, (a + 1 + by) % r->sets);
}

/* What was held back comes to a place of one that was not, unless it lies at one already. */
static void bring_in(rotation *r, uint32_t content) {
    uint32_t place = (uint32_t)(rotation_random(&r->hidden) % r->sets), free_at = r->sets;
    for (uint32_t k = 0; k < r->sets; k++) {
        uint32_t at = (place + k) % r->sets;
        if (r->content[at] == content)
            return;
        if (r->content[at] < r->sets)
            free_at = at;
    }
    for (uint32_t i = 0; i < r->inputs && free_at < r->sets; i++) {
        rotation_buffer *b = rotation_in(r, free_at, i);
        if (b->size_bytes)
            memcpy(b->data, r->held[content][i], b->size_bytes);
    }
    if (free_at < r->sets)
        r->content[free_at] = content;
}

/* ---- parts ---- */

/* A kernel that broke a promise which the runtime itself watches over deviates, too. */
bool rotation_launched(tsr_status_t code, status *st) {
    if (code == TSR_EINTERNAL)
        return status_set(st, STATUS_MISMATCH, "timed launches: %s", tsrGetLastError());
    return abi_ok(code, "launching", st);
}

static void **awakening_args(const rotation *r, uint64_t launch) {
    return rotation_args(r, (uint32_t)(launch % r->sets), r->shuffled[0]);
}

/* The launches before r->next, and the last one again until everybody is awake. */
static tsr_status_t awaken(const rotation *r, tsr_kernel_t kernel) {
    const size_t nargs = r->inputs + r->outputs + r->dims;
    const tsr_launch_t grid = {0};
    uint64_t start = timer_now_ns();
    tsr_status_t code = TSR_SUCCESS;
    for (uint64_t i = r->next - r->awakens; i < r->next && code == TSR_SUCCESS; i++)
        code = tsrLaunch(kernel, NULL, grid, awakening_args(r, i), nargs);
    while (code == TSR_SUCCESS && timer_now_ns() - start < r->awaken_ns)
        code = tsrLaunch(kernel, NULL, grid, awakening_args(r, r->next - 1), nargs);
    return code;
}

/* The timed part, and the launches that awaken. */
tsr_status_t rotation_launch(const rotation *r, tsr_kernel_t kernel, uint64_t *ns) {
    const size_t count = r->inputs + r->outputs + r->dims;
    void **const *order = r->order, **const *const end = r->order + r->launches;
    const tsr_launch_t grid = {0};
    tsr_status_t code = awaken(r, kernel);
    if (r->around)
        r->around(r->around_context, true);
    watch_moment before = watch_now();
    uint64_t start = timer_now_ns();
    while (order < end && code == TSR_SUCCESS)
        code = tsrLaunch(kernel, NULL, grid, *order++, count);
    *ns = timer_now_ns() - start;
    watch_moment after = watch_now();
    if (r->around)
        r->around(r->around_context, false);
    watch_part(r->watch, &before, &after, *ns);
    return code;
}

bool rotation_time(rotation *r, const rotation_timing *timing, double *ns_each, status *st) {
    uint64_t took, cost = timer_cost_ns();
    if (!r->learnt)
        return status_set(st, STATUS_INTERNAL, "timing a kernel before its outputs were learnt");
    bool all = ++r->timed_parts % ALL_EVERY == 1;
    exchange_some(r);
    rotation_draw_part(r, timing->repeats < r->sets ? timing->repeats : r->sets, timing->repeats,
                       all);
    rotation_poison(r, all);
    if (!rotation_launched(rotation_launch(r, timing->kernel, &took), st))
        return false;
    r->next = r->sets + (r->next + r->launches) % r->sets;
    r->timed_launches += r->launches;
    *ns_each = (double)(took > cost ? took - cost : took) / (double)r->launches;
    return rotation_check(r, all, st);
}

uint64_t rotation_launches(const rotation *r) {
    return r->timed_launches;
}

/* ---- before the first part, and after the last ---- */

bool rotation_learn(rotation *r, tsr_kernel_t kernel, status *st) {
    const uint32_t count = r->inputs + r->outputs + r->dims;
    const tsr_launch_t grid = {0};
    rotation_draw_part(r, 0, 0, true);
    rotation_poison(r, true);
    for (uint32_t place = 0; place < r->sets; place++) {
        uint32_t target = r->shuffled[place];
        if (!rotation_launched(
                tsrLaunch(kernel, NULL, grid, rotation_args(r, place, target), count), st) ||
            !rotation_learn_content(r, r->content[place], target, st))
            return false;
        r->source[target] = (int)r->content[place];
    }
    r->learnt = true;
    return rotation_check(r, true, st);
}

/* Contents that no launch has had, in parts that nothing tells from those before; of a slow kernel
 * only so many that each place is read once. */
static bool time_held(rotation *r, const rotation_timing *timing, status *st) {
    enum { PARTS = 4, SLOW_NS = 10000000 };
    uint64_t parts = r->contents > r->sets ? PARTS : 0;
    double ns = 0;
    for (uint32_t c = r->sets; c < r->contents; c++)
        bring_in(r, c);
    for (uint64_t i = 0; i < parts; i++) {
        if (!rotation_time(r, timing, &ns, st))
            return false;
        if (ns > SLOW_NS)
            parts = r->sets;
    }
    return true;
}

bool rotation_finish(rotation *r, const rotation_timing *timing, status *st) {
    enum { PATIENCE_US = 200 };
    if (!time_held(r, timing, st))
        return false;
    rotation_draw_part(r, 0, 0, true);
    rotation_poison(r, true);
    usleep(PATIENCE_US);
    return rotation_check(r, true, st);
}
