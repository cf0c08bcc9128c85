/* drawn.c - see drawn.h. */
#include "case/drawn.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/splitmix64.h"
#include "base/thread.h"

enum {
    THREADS_MOST = 8,
    SHARED_TIMES = 8 /* a group takes so many times the steps of the inputs that all groups read */
};
static const uint64_t group_steps = UINT64_C(1) << 28; /* at least */

/* ---- positions, and the elements that have them ---- */

static uint64_t entropy(void) {
    uint64_t fresh = 0;
    while (getrandom(&fresh, sizeof fresh, 0) != (ssize_t)sizeof fresh) {
    }
    return fresh;
}

draw draw_positions(const case_sample *p, int64_t strip) {
    draw d = {{NULL}, {0}};
    uint64_t random = entropy();
    for (uint32_t i = 0; i < p->count; i++) {
        const int64_t extent = p->axes[i].extent;
        d.count[i] = (extent + strip - 1) / strip;
        d.at[i] = base_malloc(sizeof(int64_t) * (size_t)d.count[i]);
        for (int64_t k = 0; k < d.count[i]; k++) {
            int64_t first = k * strip, left = extent - first;
            uint64_t room = (uint64_t)(left < strip ? left : strip);
            d.at[i][k] = first + (int64_t)(splitmix64(&random) % room);
        }
    }
    return d;
}

draw draw_element(const case_context *s, uint32_t output, int64_t element) {
    const tensor *t = &s->oracle[output];
    draw d = {{NULL}, {0}};
    for (uint32_t i = 0; i < s->sample.count; i++) {
        int64_t inner = 1;
        int lane = s->sample.axes[i].outputs[output];
        for (int axis = lane + 1; axis < t->rank; axis++)
            inner *= t->dims[axis];
        d.count[i] = 1;
        d.at[i] = base_malloc(sizeof(int64_t));
        d.at[i][0] = element / inner % t->dims[lane];
    }
    return d;
}

void draw_release(draw *d) {
    for (int i = 0; i < CASE_SAMPLE_AXES; i++)
        free(d->at[i]);
    *d = (draw){{NULL}, {0}};
}

static int64_t *places_of(const case_sample *p, const draw *d, const tensor *whole, bool output,
                          uint32_t index, tensor *shape) {
    const int64_t *chosen[TENSOR_MAX_RANK] = {NULL};
    int64_t stride[TENSOR_MAX_RANK + 1] = {0}, at[TENSOR_MAX_RANK] = {0};
    *shape = *whole;
    shape->data = NULL;
    for (uint32_t i = 0; i < p->count; i++) {
        int axis = (output ? p->axes[i].outputs : p->axes[i].inputs)[index];
        if (axis >= 0) {
            chosen[axis] = d->at[i];
            shape->dims[axis] = d->count[i];
        }
    }
    int64_t step = 1, count = tensor_count(shape);
    for (int axis = whole->rank - 1; axis >= 0; axis--) {
        stride[axis] = step;
        step *= whole->dims[axis];
    }
    int64_t *places = base_malloc(sizeof *places * (size_t)(count + 1));
    for (int64_t k = 0; k < count; k++) {
        places[k] = 0;
        for (int axis = 0; axis < whole->rank; axis++)
            places[k] += stride[axis] * (chosen[axis] ? chosen[axis][at[axis]] : at[axis]);
        for (int axis = whole->rank - 1; axis >= 0 && ++at[axis] == shape->dims[axis]; axis--)
            at[axis] = 0;
    }
    return places;
}

int64_t *draw_places(const case_sample *p, const draw *d, const tensor *whole, uint32_t index,
                     tensor *shape) {
    return places_of(p, d, whole, true, index, shape);
}

/* ---- a group's inputs ---- */

static bool is_cut(const case_sample *p, uint32_t input) {
    bool cut = false;
    for (uint32_t i = 0; i < p->count; i++)
        cut |= p->axes[i].inputs[input] >= 0;
    return cut;
}

static bool take(const tensor *from, const int64_t *places, const tensor *shape, tensor *out,
                 status *st) {
    size_t size = dtype_size(from->type);
    if (!tensor_init(out, from->type, shape->rank, shape->dims, st))
        return false;
    for (int64_t k = 0; k < tensor_count(out); k++)
        memcpy((char *)out->data + (size_t)k * size,
               (const char *)from->data + (size_t)places[k] * size, size);
    return true;
}

/* An input that no axis cuts is the case's own. */
static bool take_inputs(const case_context *s, const draw *d, tensor *out, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < s->signature.input_count && ok; i++) {
        tensor shape;
        if (!is_cut(&s->sample, i)) {
            out[i] = s->inputs[i];
            continue;
        }
        int64_t *places = places_of(&s->sample, d, &s->inputs[i], false, i, &shape);
        ok = take(&s->inputs[i], places, &shape, &out[i], st);
        free(places);
    }
    return ok;
}

static void release_inputs(const case_context *s, tensor *inputs) {
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        if (!is_cut(&s->sample, i))
            inputs[i] = (tensor){0};
    tensors_free(inputs);
}

/* ---- groups ---- */

static compiler_instance *part_of(const case_context *s, const draw *d, int64_t positions,
                                  status *st) {
    int64_t counts[CASE_SAMPLE_AXES];
    memcpy(counts, d->count, sizeof counts);
    counts[0] = positions;
    return compiler_part(s->instance, s->sample.axes, counts, s->sample.count, st);
}

bool drawn_steps(compiler_instance *instance, uint64_t *steps, status *st) {
    uint64_t elements = 0, products = 0;
    bool ok = compiler_steps(instance, &elements, &products, st);
    *steps = products + DRAWN_ELEMENT_STEPS * elements;
    return ok;
}

static uint64_t steps_at_least(const case_context *s) {
    uint64_t shared = 0;
    if (s->sampled_from)
        return s->sampled_from;
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        shared += is_cut(&s->sample, i) ? 0 : (uint64_t)tensor_count(&s->inputs[i]);
    shared *= SHARED_TIMES * DRAWN_ELEMENT_STEPS;
    return shared > group_steps ? shared : group_steps;
}

static int64_t positions_of_a_group(const case_context *s, const draw *d, uint64_t steps) {
    const uint64_t all = (uint64_t)d->count[0], least = steps_at_least(s);
    uint64_t groups = (steps + least - 1) / least;
    if (groups < drawn_threads() && steps > least / THREADS_MOST)
        groups = drawn_threads();
    return groups >= all ? 1 : (int64_t)((all + groups - 1) / groups);
}

static int64_t *copy_of(const int64_t *from, int64_t count) {
    int64_t *copy = base_malloc(sizeof *copy * (size_t)(count + 1));
    memcpy(copy, from, sizeof *copy * (size_t)count);
    return copy;
}

/* Cuts the first axis; every group has all positions of the second. */
static void cut(const case_context *s, const draw *d, int64_t positions, drawn_groups *out) {
    out->count = (uint32_t)((d->count[0] + positions - 1) / positions);
    out->items = base_calloc(out->count, sizeof *out->items);
    for (uint32_t i = 0; i < out->count; i++) {
        drawn_group *g = &out->items[i];
        const int64_t first = (int64_t)i * positions, left = d->count[0] - first;
        for (uint32_t axis = 0; axis < s->sample.count; axis++) {
            g->at.count[axis] = axis > 0 ? d->count[axis] : left < positions ? left : positions;
            g->at.at[axis] = copy_of(d->at[axis] + (axis > 0 ? 0 : first), g->at.count[axis]);
        }
        g->part = out->parts[left < positions];
        g->values = tensors_new(s->signature.output_count);
        g->bounds = tensors_new(s->signature.output_count);
        g->limits = tensors_new(s->signature.output_count);
    }
}

static bool plan_groups(const case_context *s, const draw *d, drawn_groups *out, status *st) {
    uint64_t steps;
    compiler_instance *whole = part_of(s, d, d->count[0], st);
    bool ok = whole && drawn_steps(whole, &steps, st);
    if (ok) {
        int64_t positions = positions_of_a_group(s, d, steps);
        int64_t last = d->count[0] % positions;
        out->parts[0] = part_of(s, d, positions, st);
        out->parts[1] = last ? part_of(s, d, last, st) : NULL;
        ok = out->parts[0] && (!last || out->parts[1]);
        if (ok)
            cut(s, d, positions, out);
    }
    compiler_instance_free(whole);
    return ok;
}

/* ---- threads ---- */

typedef struct gang {
    const case_context *s;
    drawn_groups *groups;
    drawn_compute compute;
    atomic_uint next;
    atomic_bool failed;
} gang;

typedef struct worker {
    gang *of;
    status st;
    pthread_t thread;
} worker;

static void *work(void *argument) {
    worker *w = argument;
    gang *g = w->of;
    for (uint32_t i;
         !atomic_load(&g->failed) && (i = atomic_fetch_add(&g->next, 1)) < g->groups->count;) {
        drawn_group *group = &g->groups->items[i];
        tensor *inputs = tensors_new(g->s->signature.input_count);
        if (!take_inputs(g->s, &group->at, inputs, &w->st) || !g->compute(group, inputs, &w->st))
            atomic_store(&g->failed, true);
        release_inputs(g->s, inputs);
    }
    return NULL;
}

uint32_t drawn_threads(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > THREADS_MOST ? THREADS_MOST : (uint32_t)cores;
}

static bool run(gang *g, status *st) {
    worker workers[THREADS_MOST];
    uint32_t started = 1, wanted = drawn_threads();
    workers[0] = (worker){.of = g, .st = STATUS_INIT};
    for (; started < wanted && started < g->groups->count; started++) {
        workers[started] = (worker){.of = g, .st = STATUS_INIT};
        if (!thread_start(&workers[started].thread, work, &workers[started]))
            break;
    }
    work(&workers[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 0; i < started; i++)
        if (workers[i].st.code != STATUS_OK)
            return status_set(st, workers[i].st.code, "%s", workers[i].st.message);
    return !atomic_load(&g->failed);
}

/* Groups allocate the same tensors one after the other: the process keeps them meanwhile, in one
 * arena of all threads, so that the system does not clear their pages for each. */
static void keep_freed(bool keep) {
    enum { MIB = 1 << 20, MOST = 1024 };
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, keep ? 1 : 8 * (int)drawn_threads()); /* glibc's own: 8 a core */
    mallopt(M_MMAP_THRESHOLD, 32 * MIB);                       /* the most that it takes */
    mallopt(M_TRIM_THRESHOLD, keep ? MOST * MIB : 64 * MIB);
    if (!keep)
        malloc_trim(0);
#endif
    (void)keep;
}

bool drawn_groups_compute(const case_context *s, draw d, drawn_compute compute, drawn_groups *out,
                          status *st) {
    *out = (drawn_groups){NULL};
    gang g = {.s = s, .groups = out, .compute = compute};
    bool ok = plan_groups(s, &d, out, st);
    keep_freed(true);
    ok = ok && run(&g, st);
    keep_freed(false);
    draw_release(&d);
    return ok;
}

void drawn_groups_release(drawn_groups *g) {
    for (uint32_t i = 0; i < g->count; i++) {
        draw_release(&g->items[i].at);
        tensors_free(g->items[i].values);
        tensors_free(g->items[i].bounds);
        tensors_free(g->items[i].limits);
    }
    free(g->items);
    compiler_instance_free(g->parts[0]);
    compiler_instance_free(g->parts[1]);
    *g = (drawn_groups){NULL};
}
