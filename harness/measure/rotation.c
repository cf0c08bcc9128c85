/* rotation.c - places, poison, and the timed part. */
#include "measure/rotation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi_status.h"
#include "base/arena.h"
#include "measure/digest64.h"
#include "measure/pattern.h"
#include "measure/rotation_parts.h"
#include "measure/timer.h"

enum {
    PAGE_BYTES = 4096,
    STEP_BYTES = 64,
    GUARD_BYTES = 1024,
    EXCHANGE_BYTES = 4 << 20, /* above that, exchanging is for every few parts */
    EXCHANGE_EVERY = 8,
    ALL_EVERY = 16 /* parts, and then all places are looked at */
};
static const uint64_t digest_key = UINT64_C(0x7F4A7C159E3779B9);

uint64_t rotation_digest(const void *data, size_t size_bytes) {
    return digest64(digest_key, data, size_bytes);
}

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t rotation_draw(rotation *r) {
    uint64_t z = r->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static bool allocate(rotation *r, rotation_buffer *b, size_t size_bytes, status *st) {
    void *base;
    b->size_bytes = size_bytes;
    b->span_bytes = size_bytes + 2 * GUARD_BYTES + 2 * PAGE_BYTES;
    if (!abi_ok(tsrAlloc(r->context, b->span_bytes, TSR_ALLOC_DEFAULT, &base),
                "allocating a buffer", st))
        return false;
    b->base = base;
    size_t skip = (PAGE_BYTES - ((uintptr_t)b->base + GUARD_BYTES) % PAGE_BYTES) % PAGE_BYTES;
    size_t steps = rotation_draw(r) % (PAGE_BYTES / STEP_BYTES);
    b->data = b->base + GUARD_BYTES + skip + steps * STEP_BYTES;
    rotation_guard(r, b);
    return true;
}

/* A place with contents: their digests are kept. */
static bool furnish(rotation *r, const rotation_request *request, uint32_t place, status *st) {
    const rotation_set *set = &request->sets[r->content[place]];
    for (uint32_t i = 0; i < r->inputs + r->outputs; i++) {
        rotation_buffer *b = rotation_at(r, place, i);
        if (!allocate(r, b, request->sizes[i], st))
            return false;
        uint64_t *expected = rotation_expected(r, r->content[place], i);
        if (i < r->inputs) {
            if (b->size_bytes)
                memcpy(b->data, set->inputs[i], b->size_bytes);
            *expected = rotation_digest(b->data, b->size_bytes);
        } else if (set->digests) {
            *expected = set->digests[i - r->inputs];
        }
    }
    return true;
}

static void shuffle(rotation *r) {
    for (uint32_t i = 0; i < r->sets; i++) {
        uint32_t j = (uint32_t)(rotation_draw(r) % (i + 1));
        r->content[i] = r->content[j];
        r->content[j] = i;
    }
}

/* The arguments of every launch that can come, so that the timed part has nothing to prepare. */
static void bind(rotation *r) {
    for (uint32_t shift = 0; shift < r->sets; shift++)
        for (uint32_t place = 0; place < r->sets; place++) {
            void **args = rotation_args(r, shift, place);
            uint32_t to = (place + shift) % r->sets;
            for (uint32_t i = 0; i < r->inputs + r->outputs; i++)
                args[i] = &rotation_at(r, i < r->inputs ? place : to, i)->data;
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

static void make_room(rotation *r, const rotation_request *request) {
    size_t buffers = r->inputs + r->outputs, args = buffers + r->dims;
    r->buffers = base_calloc(r->sets * buffers + 1, sizeof *r->buffers);
    r->digests = base_calloc(r->sets * buffers + 1, sizeof *r->digests);
    r->args = base_calloc(r->sets * r->sets * args + 1, sizeof *r->args);
    r->dim_values = base_calloc(r->dims + 1, sizeof *r->dim_values);
    r->exchange = malloc(largest_input(request));
    if (r->dims)
        memcpy(r->dim_values, request->dims, r->dims * sizeof *r->dim_values);
}

rotation *rotation_open(const rotation_request *request, status *st) {
    if (request->set_count < 1 || request->set_count > ROTATION_SETS_MAX) {
        status_set(st, STATUS_INVALID, "a rotation has 1 to %d sets, not %u", ROTATION_SETS_MAX,
                   request->set_count);
        return NULL;
    }
    rotation *r = base_calloc(1, sizeof *r);
    *r = (rotation){.context = request->context,
                    .inputs = request->input_count,
                    .outputs = request->output_count,
                    .dims = request->dim_count,
                    .sets = request->set_count,
                    .random = request->seed,
                    .next = request->set_count,
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
    r->guard = rotation_draw(r);
    make_room(r, request);
    shuffle(r);
    bool ok = r->exchange || status_set(st, STATUS_OUT_OF_MEMORY, "out of memory: input sets");
    for (uint32_t place = 0; place < r->sets && ok; place++) {
        ok = furnish(r, request, place, st);
        r->learnt &= request->sets[place].digests != NULL;
    }
    if (ok) {
        bind(r);
        return r;
    }
    rotation_close(r);
    return NULL;
}

void rotation_close(rotation *r) {
    if (!r)
        return;
    for (uint32_t i = 0; i < r->sets * (r->inputs + r->outputs); i++)
        if (r->buffers[i].base)
            (void)tsrFree(r->context, r->buffers[i].base);
    free(r->buffers);
    free(r->digests);
    free(r->args);
    free(r->dim_values);
    free(r->exchange);
    free(r);
}

static void exchange(rotation *r, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < r->inputs; i++) {
        rotation_buffer *at_a = rotation_at(r, a, i), *at_b = rotation_at(r, b, i);
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
        bytes += rotation_at(r, 0, i)->size_bytes;
    bool due = bytes <= EXCHANGE_BYTES || r->timed_parts % EXCHANGE_EVERY == 1;
    if (r->sets < 2 || !due)
        return;
    uint32_t a = (uint32_t)(rotation_draw(r) % r->sets),
             by = (uint32_t)(rotation_draw(r) % (r->sets - 1));
    exchange(r, a, (a + 1 + by) % r->sets);
}

/* Which places the launches from r->next - before to r->next + launches touch, and what their
 * outputs are: of more than 2 N launches the last 2 N write every place. */
void rotation_plan(rotation *r, uint64_t before, uint64_t launches, bool all) {
    const uint64_t n = r->sets, first = r->next - before, end = r->next + launches;
    for (uint32_t place = 0; place < n; place++) {
        r->source[place] = ROTATION_NOT_WRITTEN;
        r->read[place] = all;
    }
    for (uint64_t i = end - first > 2 * n ? end - 2 * n : first; i < end; i++) {
        uint64_t from = i % n, to = (from + i / n % n) % n;
        r->read[from] = true;
        r->source[to] = (int)r->content[from];
    }
}

void rotation_poison(rotation *r) {
    r->poison = rotation_draw(r);
    for (uint32_t place = 0; place < r->sets; place++)
        for (uint32_t i = r->inputs; i < r->inputs + r->outputs; i++) {
            rotation_buffer *b = rotation_at(r, place, i);
            if (r->source[place] != ROTATION_NOT_WRITTEN || r->read[place])
                pattern_fill(b->data, b->size_bytes, r->poison);
        }
}

/* A kernel that broke a promise which the runtime itself watches over deviates, too. */
bool rotation_launched(tsr_status_t code, status *st) {
    if (code == TSR_EINTERNAL)
        return status_set(st, STATUS_MISMATCH, "timed launches: %s", tsrGetLastError());
    return abi_ok(code, "launching", st);
}

static void **args_of(const rotation *r, uint64_t launch) {
    return rotation_args(r, (uint32_t)(launch / r->sets % r->sets), (uint32_t)(launch % r->sets));
}

/* The `count` launches before r->next, and the last one again until everybody is awake. */
static tsr_status_t awaken(const rotation *r, tsr_kernel_t kernel, uint64_t count) {
    const size_t nargs = r->inputs + r->outputs + r->dims;
    const tsr_launch_t grid = {0};
    uint64_t start = timer_now_ns();
    tsr_status_t code = TSR_SUCCESS;
    for (uint64_t i = r->next - count; i < r->next && code == TSR_SUCCESS; i++)
        code = tsrLaunch(kernel, NULL, grid, args_of(r, i), nargs);
    while (code == TSR_SUCCESS && timer_now_ns() - start < r->awaken_ns)
        code = tsrLaunch(kernel, NULL, grid, args_of(r, r->next - 1), nargs);
    return code;
}

/* The timed part, and the launches that awaken. */
tsr_status_t rotation_launch(const rotation *r, const rotation_timing *t, uint64_t awaken_count,
                             uint64_t *ns) {
    const size_t count = r->inputs + r->outputs + r->dims;
    void **const end = r->args + (size_t)r->sets * r->sets * count;
    void **args = args_of(r, r->next);
    const tsr_launch_t grid = {0};
    tsr_status_t code = awaken(r, t->kernel, awaken_count);
    if (r->around)
        r->around(r->around_context, true);
    watch_moment before = watch_now();
    uint64_t start = timer_now_ns();
    for (uint64_t i = 0; i < t->repeats && code == TSR_SUCCESS; i++) {
        code = tsrLaunch(t->kernel, NULL, grid, args, count);
        args += count;
        if (args >= end)
            args = r->args;
    }
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
    uint64_t before = timing->repeats < r->sets ? timing->repeats : r->sets;
    exchange_some(r);
    rotation_plan(r, before, timing->repeats, all);
    rotation_poison(r);
    if (!rotation_launched(rotation_launch(r, timing, before, &took), st))
        return false;
    r->next = r->sets + (r->next + timing->repeats) % ((uint64_t)r->sets * r->sets);
    *ns_each = (double)(took > cost ? took - cost : took) / (double)timing->repeats;
    return rotation_check(r, all, st);
}

static bool learn_place(rotation *r, uint32_t place, status *st) {
    uint32_t set = r->content[place];
    for (uint32_t i = r->inputs; i < r->inputs + r->outputs; i++) {
        rotation_buffer *b = rotation_at(r, place, i);
        if (r->judge && !r->judge(r->judge_context, set, i - r->inputs, b->data))
            return status_set(st, STATUS_MISMATCH,
                              "output %u for input set %u is not within its error bound",
                              i - r->inputs, set);
        *rotation_expected(r, set, i) = rotation_digest(b->data, b->size_bytes);
    }
    r->source[place] = (int)set;
    return true;
}

bool rotation_learn(rotation *r, tsr_kernel_t kernel, status *st) {
    const uint32_t count = r->inputs + r->outputs + r->dims;
    const tsr_launch_t grid = {0};
    rotation_plan(r, 0, 0, true);
    rotation_poison(r);
    for (uint32_t place = 0; place < r->sets; place++) {
        void **args = rotation_args(r, 0, place);
        if (!rotation_launched(tsrLaunch(kernel, NULL, grid, args, count), st))
            return false;
        if (!learn_place(r, place, st))
            return false;
    }
    r->learnt = true;
    return rotation_check(r, true, st);
}

bool rotation_finish(rotation *r, status *st) {
    enum { PATIENCE_US = 200 };
    rotation_plan(r, 0, 0, true);
    rotation_poison(r);
    usleep(PATIENCE_US);
    return rotation_check(r, true, st);
}
