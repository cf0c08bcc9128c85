/* attempt.c - relations between runs on equal inputs: what else may differ must not show. */
#include "relations/attempt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "check/compare.h"
#include "device/host/host.h"

enum { REPETITIONS = 8, BUSY_MAX = 64 };

circumstances attempt_plain(const attempt *t) {
    return (circumstances){
        .threads = t->request->threads, .before = 0xA5, .surround = 0x5A, .changed = -1};
}

void attempt_dims(const relations_column *column, const shape *s, int64_t *out) {
    for (uint32_t i = 0; i < column->kernel->dim_count; i++)
        for (uint32_t k = 0; k < s->c->dim_count; k++)
            if (strcmp(s->c->dims[k].name, column->kernel->dim_names[i]) == 0)
                out[i] = s->c->dims[k].value;
}

/* ---- differences ---- */

static uint64_t bits_at(const tensor *t, int64_t index) {
    uint64_t bits = 0;
    size_t size = dtype_size(t->type);
    memcpy(&bits, (const char *)t->data + (size_t)index * size, size);
    return bits;
}

void attempt_index(const tensor *t, int64_t flat, char *out, size_t room) {
    size_t length = 0;
    int64_t behind = tensor_count(t);
    out[0] = '\0';
    for (int axis = 0; axis < t->rank && length < room; axis++) {
        behind /= t->dims[axis];
        length += (size_t)snprintf(out + length, room - length, "%s%lld", axis ? ", " : "",
                                   (long long)(flat / behind));
        flat %= behind;
    }
}

static void write_dims(const shape *s, char *out, size_t room) {
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < s->c->dim_count && length < room; i++)
        length += (size_t)snprintf(out + length, room - length, "%s%s=%lld", i ? "," : "",
                                   s->c->dims[i].name, (long long)s->c->dims[i].value);
    for (uint32_t i = 0; i < s->c->type_count && length < room; i++)
        length += (size_t)snprintf(out + length, room - length, "%s%s=%s", length ? "," : "",
                                   s->c->types[i].name, dtype_name(s->c->types[i].type));
}

void attempt_place(const attempt *t, violation *out) {
    write_dims(t->shape, out->dims, sizeof out->dims);
    snprintf(out->like, sizeof out->like, "%s", t->shape->like->name);
    snprintf(out->setting, sizeof out->setting, "%s", t->setting);
    out->seed = t->shape->seed;
    out->given = t->shape->given;
}

void attempt_note(attempt *t, const char *between) {
    violation *v = &t->violation;
    *v = (violation){.found = true};
    snprintf(v->between, sizeof v->between, "%s", between);
    attempt_place(t, v);
}

void attempt_element(attempt *t, uint32_t output, const tensor *a, int64_t flat, uint64_t other,
                     const char *between) {
    violation *v = &t->violation;
    attempt_note(t, between);
    v->type = a->type;
    snprintf(v->output, sizeof v->output, "%s", t->shape->signature.outputs[output].name);
    attempt_index(a, flat, v->index, sizeof v->index);
    v->bits[0] = bits_at(a, flat);
    v->bits[1] = other;
    for (int i = 0; i < 2; i++)
        v->values[i] = dtype_load(a->type, &v->bits[i], 0);
}

void attempt_compare(attempt *t, const tensor *a, const tensor *b, const char *between) {
    for (uint32_t i = 0; i < t->shape->signature.output_count && !t->violation.found; i++) {
        comparison c = compare_bits(&a[i], &b[i]);
        if (c.differing)
            attempt_element(t, i, &a[i], c.first, bits_at(&b[i], c.first), between);
    }
}

/* ---- wrong, or only other ---- */

/* The place of the element in a tensor that has as many or more positions. */
static int64_t same_place(const tensor *a, int64_t flat, const tensor *in) {
    int64_t place = 0, scale = 1;
    for (int axis = a->rank - 1; axis >= 0; axis--) {
        place += flat % a->dims[axis] * scale;
        flat /= a->dims[axis];
        scale *= in->dims[axis];
    }
    return place;
}

/* The reference, bounds and limits of one output. */
typedef struct judgement {
    const tensor *values, *bounds, *limits;
} judgement;

static bool is_outside(const judgement *j, int64_t at, dtype type, const uint64_t *bits) {
    double value = ((const double *)j->values->data)[at],
           within = ((const double *)j->bounds->data)[at];
    double *limits = j->limits->data ? (double *)j->limits->data + at * COMPILER_LIMITS : NULL;
    const tensor one = {DTYPE_F64, 1, {1}, &value}, its = {DTYPE_F64, 1, {1}, &within},
                 its_limits = {DTYPE_F64, 2, {1, COMPILER_LIMITS}, limits},
                 got = {type, 1, {1}, (void *)(uintptr_t)bits};
    const bound_reference reference = {
        .values = &one, .bounds = &its, .limits = limits ? &its_limits : NULL};
    return compare_bound(&reference, &got).beyond > 0;
}

void attempt_judge(attempt *t, uint32_t output, const tensor *a, int64_t flat) {
    tensor *references = tensors_new(t->shape->signature.output_count),
           *bounds = tensors_new(t->shape->signature.output_count),
           *limits = tensors_new(t->shape->signature.output_count);
    const compiler_references out = {.values = references, .bounds = bounds, .limits = limits};
    violation *v = &t->violation;
    status ignored = STATUS_INIT;
    if (!compiler_instance_is_contract(t->shape->instance) &&
        compiler_reference(t->shape->instance, t->shape->inputs, &out, &ignored)) {
        const judgement j = {&references[output], &bounds[output], &limits[output]};
        int64_t at = same_place(a, flat, &references[output]);
        v->judged = true;
        v->reference = ((const double *)references[output].data)[at];
        v->bound = ((const double *)bounds[output].data)[at];
        for (int i = 0; i < 2; i++)
            v->outside[i] = is_outside(&j, at, v->type, &v->bits[i]);
    }
    tensors_free(references);
    tensors_free(bounds);
    tensors_free(limits);
}

void attempt_compare_judged(attempt *t, const tensor *a, const tensor *b, const char *between) {
    for (uint32_t i = 0; i < t->shape->signature.output_count && !t->violation.found; i++) {
        comparison c = compare_bits(&a[i], &b[i]);
        if (!c.differing)
            continue;
        attempt_element(t, i, &a[i], c.first, bits_at(&b[i], c.first), between);
        attempt_judge(t, i, &a[i], c.first);
    }
}

/* ---- runs that differ in one thing ---- */

static bool run_and_compare(attempt *t, const tensor *plain, const circumstances *how,
                            const char *between, status *st) {
    tensor *outputs = tensors_new(t->shape->signature.output_count);
    bool ok = runner_run(t->runner, t->shape, how, t->shape->inputs, outputs, st);
    if (ok)
        attempt_compare_judged(t, plain, outputs, between);
    tensors_free(outputs);
    return ok;
}

static bool repeat(attempt *t, const tensor *plain, const circumstances *how, const char *between,
                   status *st) {
    bool ok = true;
    for (int i = 0; i < REPETITIONS && ok && !t->violation.found; i++)
        ok = run_and_compare(t, plain, how, between, st);
    return ok;
}

static bool try_threads(attempt *t, const tensor *plain, status *st) {
    uint32_t most = 2 * host_usable_cores() + 1;
    bool ok = true;
    for (uint32_t threads = 1; threads <= most && ok && !t->violation.found; threads++) {
        circumstances how = attempt_plain(t);
        char between[80];
        how.threads = threads;
        snprintf(between, sizeof between, "%u threads and %u", t->request->threads, threads);
        if (threads != t->request->threads)
            ok = run_and_compare(t, plain, &how, between, st);
    }
    return ok;
}

/* Our code takes inputs that are aligned to their elements alone. */
static bool try_shifts(attempt *t, const tensor *plain, status *st) {
    static const size_t shifts[] = {1, 3, 8, 13};
    bool ok = true, ours = !t->request->column->with;
    for (size_t i = 0; ours && i < sizeof shifts / sizeof *shifts && ok && !t->violation.found;
         i++) {
        circumstances how = attempt_plain(t);
        char between[100];
        how.shift = shifts[i];
        snprintf(between, sizeof between, "inputs at a place and %zu elements behind it",
                 shifts[i]);
        ok = run_and_compare(t, plain, &how, between, st);
    }
    return ok;
}

static bool try_alignment(attempt *t, const tensor *plain, status *st) {
    static const size_t offsets[] = {64, 128, 192, 256, 512, 1024, 2048, 4032};
    bool ok = true;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets && ok && !t->violation.found; i++) {
        circumstances how = attempt_plain(t);
        char between[100];
        how.offset = offsets[i];
        snprintf(between, sizeof between, "buffers at a place and %zu bytes behind it", offsets[i]);
        ok = run_and_compare(t, plain, &how, between, st);
    }
    return ok && try_shifts(t, plain, st);
}

/* Zeros, and bytes that are NaN in every type of float. */
static bool try_bytes(attempt *t, const tensor *plain, bool around, status *st) {
    static const unsigned char bytes[] = {0x00, 0xFF, 0x7F};
    bool ok = true;
    for (size_t i = 0; i < sizeof bytes && ok && !t->violation.found; i++) {
        circumstances how = attempt_plain(t);
        char between[100];
        if (around)
            how.surround = bytes[i];
        else
            how.before = bytes[i];
        snprintf(between, sizeof between, "bytes 0x%02x and 0x%02x %s",
                 around ? attempt_plain(t).surround : attempt_plain(t).before, bytes[i],
                 around ? "around the buffers" : "in the outputs before the call");
        ok = run_and_compare(t, plain, &how, between, st);
    }
    return ok;
}

/* ---- contention ---- */

typedef struct busy {
    atomic_bool stop;
    pthread_t threads[BUSY_MAX];
    uint32_t count;
} busy;

static void *burn(void *argument) {
    busy *b = argument;
    volatile uint64_t work = 1;
    while (!atomic_load(&b->stop))
        work = work * 3 + 1;
    return NULL;
}

static void busy_begin(busy *b) {
    uint32_t wanted = host_usable_cores() < BUSY_MAX ? host_usable_cores() : BUSY_MAX;
    *b = (busy){.count = 0};
    while (b->count < wanted && thread_start(&b->threads[b->count], burn, b))
        b->count++;
}

static void busy_end(busy *b) {
    atomic_store(&b->stop, true);
    for (uint32_t i = 0; i < b->count; i++)
        pthread_join(b->threads[i], NULL);
}

/* The same function in a process of its own. */
typedef struct rival {
    const attempt *t;
    atomic_bool stop;
    runner *runner;
} rival;

static void *compete(void *argument) {
    rival *v = argument;
    circumstances how = attempt_plain(v->t);
    status st = STATUS_INIT;
    while (!atomic_load(&v->stop) && st.code == STATUS_OK) {
        tensor *outputs = tensors_new(v->t->shape->signature.output_count);
        (void)runner_run(v->runner, v->t->shape, &how, v->t->shape->inputs, outputs, &st);
        tensors_free(outputs);
    }
    return NULL;
}

/* The instance belongs to one thread at a time: the rival's module is built before the other runs.
 */
static bool try_contention(attempt *t, const tensor *plain, status *st) {
    circumstances how = attempt_plain(t);
    tensor *outputs = tensors_new(t->shape->signature.output_count);
    rival v = {.t = t, .runner = runner_open(t->request, t->end_ns)};
    pthread_t thread;
    busy b;
    bool ok = runner_run(v.runner, t->shape, &how, t->shape->inputs, outputs, st);
    tensors_free(outputs);
    bool competes = ok && thread_start(&thread, compete, &v);
    if (ok) {
        busy_begin(&b);
        ok = repeat(t, plain, &how, "an idle machine and a busy one", st);
        busy_end(&b);
    }
    atomic_store(&v.stop, true);
    if (competes)
        pthread_join(thread, NULL);
    runner_close(v.runner);
    return ok;
}

/* ---- environment ---- */

/* Each value of NAME=A,B. */
static bool try_variable(attempt *t, const tensor *plain, const char *given, status *st) {
    const char *values = strchr(given, '=') + 1;
    bool ok = true;
    while (*values && ok && !t->violation.found) {
        size_t length = strcspn(values, ",");
        char between[260];
        snprintf(t->setting, sizeof t->setting, "%.*s%.*s", (int)(strchr(given, '=') + 1 - given),
                 given, (int)length, values);
        snprintf(between, sizeof between, "the environment as it is and with %s", t->setting);
        circumstances how = attempt_plain(t);
        how.environment = t->setting;
        ok = run_and_compare(t, plain, &how, between, st);
        values += length + (values[length] == ',');
    }
    return ok;
}

static bool try_environment(attempt *t, const tensor *plain, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < t->request->vary_count && ok && !t->violation.found; i++)
        ok = try_variable(t, plain, t->request->vary[i], st);
    return ok;
}

/* ---- one of them ---- */

static bool try_plain(attempt *t, relation_id id, const tensor *plain, status *st) {
    circumstances how = attempt_plain(t);
    switch (id) {
    case RELATION_REPETITION:
        return repeat(t, plain, &how, "two runs", st);
    case RELATION_POISON:
        return try_bytes(t, plain, false, st);
    case RELATION_NEIGHBOURS:
        return try_bytes(t, plain, true, st);
    case RELATION_CACHES:
        how.cold = true;
        return repeat(t, plain, &how, "warm caches and cold ones", st);
    case RELATION_CONTENTION:
        return try_contention(t, plain, st);
    case RELATION_THREADS:
        return try_threads(t, plain, st);
    case RELATION_ALIGNMENT:
        return try_alignment(t, plain, st);
    case RELATION_STRIDES:
        return attempt_strides(t, plain, st);
    case RELATION_MASKED:
        return attempt_masked(t, plain, st);
    case RELATION_SPECIAL:
        return attempt_special(t, plain, st);
    case RELATION_NUMERICS:
        return attempt_numerics(t, plain, st);
    case RELATION_PAYLOADS:
        return attempt_payloads(t, st);
    default:
        return try_environment(t, plain, st);
    }
}

bool attempt_run(attempt *t, relation_id id, status *st) {
    t->violation = (violation){0};
    if (id == RELATION_STEPS)
        return attempt_steps(t, st);
    if (id == RELATION_VMAP)
        return attempt_vmap(t, st);
    if (id == RELATION_REMAT)
        return attempt_remat(t, st);
    if (id == RELATION_RULES)
        return attempt_rules(t, st);
    if (id == RELATION_BATCH)
        return attempt_batch(t, st);
    if (id == RELATION_POSITION)
        return attempt_position(t, st);
    if (id == RELATION_ISOLATION)
        return attempt_isolation(t, st);
    if (id == RELATION_MEMORY)
        return attempt_memory(t, st);
    tensor *plain = tensors_new(t->shape->signature.output_count);
    circumstances how = attempt_plain(t);
    bool ok = runner_run(t->runner, t->shape, &how, t->shape->inputs, plain, st) &&
              try_plain(t, id, plain, st);
    tensors_free(plain);
    return ok;
}
