/* runner.c - see runner.h. */
#include "relations/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "case/inputs.h"
#include "common/abi_status.h"
#include "common/scratch_folder.h"
#include "common/timer.h"
#include "exec/backend_device.h"
#include "measure/guests.h"
#include "relations/within.h"
#include "tessera/variants.h"

enum { OPEN_MAX = 6, PAGE = 4096, LINE = 64, COLD_BYTES = 96 << 20 };

/* A function that is loaded, for one shape, with memory for each buffer. */
typedef struct opened {
    uint64_t shape; /* its number; 0: nothing is loaded */
    uint32_t threads;
    layout_kind layout;
    char environment[200];
    layout *layouts; /* of each buffer, where it is not dense */
    launch launch;
    compiler_artifact artifact;
    unsigned char **memories; /* of each buffer, of the device */
    uint32_t buffers;
    uint64_t used;  /* the number of its last run */
    uint64_t guest; /* guests.h; 0: it has none */
    guest_watch watch;
} opened;

struct runner {
    const relations_request *request;
    opened open[OPEN_MAX];
    uint32_t device;
    bool has_device;
    scratch_folder folder;
    uint64_t runs, end_ns;
    unsigned char *cold;
    bool wrote_gap; /* the last run */
    runner_gap gap;
    bool had_effect; /* the last run that was watched */
    runner_effect effect;
    const opened *last;
    runner_range *ranges; /* of the kernel's dimensions */
};

/* ---- shapes ---- */

static bool is_small(const shape *s, status *st) {
    static const uint64_t bytes_max = UINT64_C(32) << 20, flops_max = UINT64_C(500000000);
    uint64_t flops, bytes;
    return compiler_cost(s->instance, &flops, &bytes, st) &&
           ((flops <= flops_max && bytes <= bytes_max) ||
            status_set(st, STATUS_INVALID,
                       "every shape of its cases is too large for %llu MiB and "
                       "%llu million operations a run",
                       (unsigned long long)(bytes_max >> 20),
                       (unsigned long long)(flops_max / 1000000)));
}

static uint64_t next_number(void) {
    static uint64_t shapes;
    return ++shapes;
}

bool shape_open(shape *s, const relations_column *column, const shape_request *request,
                status *st) {
    const compiler_kernel *k = column->kernel;
    *s = (shape){.number = next_number(),
                 .seed = request->seed,
                 .given = request->inputs != NULL,
                 .like = request->like,
                 .c = request->like};
    text diagnostics;
    text_init(&diagnostics);
    if (request->dims) {
        ir_binding *bindings = base_calloc(k->dim_count + 1, sizeof *bindings);
        for (uint32_t i = 0; i < k->dim_count; i++)
            bindings[i] = (ir_binding){k->dim_names[i], request->dims[i]};
        const compiler_values values = {bindings, k->dim_count, request->like->types,
                                        request->like->type_count};
        s->c = compiler_case_bind(column->source, k, &values, &diagnostics);
        free(bindings);
    }
    compiler_case drawn = s->c ? *s->c : *request->like;
    drawn.inputs = request->like->inputs;
    drawn.constants = request->like->constants;
    drawn.constant_count = request->like->constant_count;
    s->instance = s->c ? case_instance(column->source, k, &drawn, st) : NULL;
    bool ok = s->instance || status_set(st, STATUS_INVALID, "the kernel has no such shape");
    text_release(&diagnostics);
    ok = ok && (!request->small || is_small(s, st)) &&
         compiler_signature_of(s->instance, &s->signature, st);
    if (ok)
        s->inputs = tensors_new(s->signature.input_count);
    ok = ok &&
         (request->inputs ? inputs_read(&s->signature, request->inputs, s->inputs, st)
                          : inputs_make(&s->signature, &drawn, request->seed, s->inputs, st)) &&
         compiler_check_values(s->instance, s->inputs, st) &&
         (request->inputs || within_checks(s, st));
    if (!ok)
        shape_close(s);
    return ok;
}

/* A shape of the variant of another one's instance, without inputs of its own. */
static bool open_variant(shape *s, const shape *one, compiler_instance *instance, status *st) {
    *s = (shape){.number = next_number(),
                 .seed = one->seed,
                 .like = one->like,
                 .c = one->c,
                 .instance = instance};
    bool ok = instance && compiler_signature_of(instance, &s->signature, st);
    if (!ok)
        shape_close(s);
    return ok;
}

bool shape_recomputed(shape *s, const shape *one, bool keeps, status *st) {
    return open_variant(s, one, compiler_recomputed(one->instance, keeps, st), st);
}

bool shape_without_rules(shape *s, const shape *one, status *st) {
    return open_variant(s, one, compiler_without_rules(one->instance, st), st);
}

bool shape_batched(shape *s, const shape *one, int64_t parts, status *st) {
    return open_variant(s, one, compiler_batched(one->instance, parts, st), st);
}

void shape_close(shape *s) {
    tensors_free(s->inputs);
    if (s->instance)
        compiler_instance_free(s->instance);
    *s = (shape){0};
}

/* ---- loading ---- */

runner *runner_open(const relations_request *request, uint64_t end_ns) {
    runner *r = base_calloc(1, sizeof *r);
    r->request = request;
    r->ranges = base_calloc(request->column->kernel->dim_count + 1, sizeof *r->ranges);
    r->end_ns = end_ns;
    return r;
}

static void close_opened(opened *o) {
    for (uint32_t i = 0; i < o->buffers; i++)
        if (o->memories[i])
            (void)tsrFree(o->launch.context, o->memories[i]);
    launch_close(&o->launch);
    compiler_artifact_release(&o->artifact);
    free(o->memories);
    free(o->layouts);
    *o = (opened){0};
}

void runner_close(runner *r) {
    for (int i = 0; i < OPEN_MAX; i++)
        close_opened(&r->open[i]);
    if (r->folder.path)
        scratch_folder_close(&r->folder);
    free(r->cold);
    free(r->ranges);
    free(r);
}

uint64_t runner_runs(const runner *r) {
    return r->runs;
}

static bool find_device(runner *r, status *st) {
    const implementation *with = r->request->column->with;
    backend_id id = with ? implementation_backend(with->kind) : BACKEND_CPU;
    r->has_device = r->has_device || backend_device(&backend_table[id], NULL, &r->device, st);
    return r->has_device;
}

static bool build(runner *r, opened *o, const shape *of, status *st) {
    const relations_column *s = r->request->column;
    if (!s->with) {
        const compiler_options options = {.threads = o->threads,
                                          .source_schedule = s->kernel->schedule};
        return compiler_build(of->instance, &options, &o->artifact, st);
    }
    if (implementation_needs_folder(s->with->kind) && !r->folder.path &&
        !scratch_folder_open(&r->folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    const implementation_layout **layouts = base_calloc(o->buffers + 1, sizeof *layouts);
    for (uint32_t i = 0; i < o->buffers; i++)
        layouts[i] = &o->layouts[i].told;
    const implementation_request request = {.path = s->with->path,
                                            .symbol = s->symbol,
                                            .kernel = s->kernel->name,
                                            .folder = r->folder.path,
                                            .kind = s->with->kind,
                                            .threads = o->threads,
                                            .layouts = o->layout ? layouts : NULL};
    bool ok = implementation_build(&request, of->instance, &o->artifact, st);
    free(layouts);
    return ok;
}

static size_t bytes_of(const opened *o, uint32_t buffer) {
    return o->layout ? o->layouts[buffer].bytes : o->launch.sizes[buffer];
}

/* Buffers may begin anywhere in the first of two pages more than they need. */
static bool allocate(opened *o, status *st) {
    launch *l = &o->launch;
    void *memory;
    for (uint32_t i = 0; i < l->input_count + l->output_count; i++) {
        if (!abi_ok(
                tsrAlloc(l->context, bytes_of(o, i) + 2 * (size_t)PAGE, TSR_ALLOC_DEFAULT, &memory),
                "allocating a buffer", st))
            return false;
        o->memories[i] = memory;
    }
    return true;
}

static const struct compiler_buffer *buffer_at(const compiler_signature *s, uint32_t i) {
    return i < s->input_count ? &s->inputs[i] : &s->outputs[i - s->input_count];
}

static bool load(runner *r, opened *o, const shape *of, status *st) {
    const relations_column *s = r->request->column;
    const compiler_signature *buffers = &of->signature;
    o->buffers = buffers->input_count + buffers->output_count;
    o->memories = base_calloc(o->buffers + 1, sizeof *o->memories);
    o->layouts = base_calloc(o->buffers + 1, sizeof *o->layouts);
    for (uint32_t i = 0; o->layout && i < o->buffers; i++)
        o->layouts[i] = layout_of(o->layout, buffer_at(buffers, i));
    if (!find_device(r, st) || !build(r, o, of, st))
        return false;
    launch_request request = {.device = r->device,
                              .threads = o->threads,
                              .kernel = s->kernel->name,
                              .dims = of->c->dims,
                              .dim_count = of->c->dim_count,
                              .bare = true,
                              .foreign = s->with != NULL};
    launch_request_artifact(&request, &o->artifact);
    launch_request_buffers(&request, &of->signature);
    uint64_t before = foreign_called();
    if (!launch_open(&o->launch, &request, st) || !allocate(o, st))
        return false;
    o->guest = s->with && foreign_called() != before ? foreign_called() : 0;
    guest_watch_begin(&o->watch, o->threads);
    guest_watch_add(&o->watch, o->guest);
    return true;
}

/* The variable is set while the guest starts, and as it was afterwards. */
static bool load_in(runner *r, opened *o, const shape *of, const char *environment, status *st) {
    char name[100] = "";
    if (environment)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(environment, "="), environment);
    const char *old = *name ? getenv(name) : NULL;
    char *kept = old ? base_strdup(old) : NULL;
    if (*name)
        setenv(name, environment + strcspn(environment, "=") + 1, 1);
    bool ok = load(r, o, of, st);
    if (kept)
        setenv(name, kept, 1);
    else if (*name)
        unsetenv(name);
    free(kept);
    return ok;
}

static bool is_of(const opened *o, const shape *s, const circumstances *how) {
    return o->shape == s->number && o->threads == how->threads && o->layout == how->layout &&
           strcmp(o->environment, how->environment ? how->environment : "") == 0;
}

static opened *find_opened(runner *r, const shape *s, const circumstances *how, status *st) {
    opened *oldest = &r->open[0];
    for (int i = 0; i < OPEN_MAX; i++) {
        if (is_of(&r->open[i], s, how))
            return &r->open[i];
        if (r->open[i].used < oldest->used)
            oldest = &r->open[i];
    }
    close_opened(oldest);
    *oldest = (opened){.shape = s->number, .threads = how->threads, .layout = how->layout};
    snprintf(oldest->environment, sizeof oldest->environment, "%s",
             how->environment ? how->environment : "");
    if (load_in(r, oldest, s, how->environment, st))
        return oldest;
    close_opened(oldest);
    return NULL;
}

/* ---- a run ---- */

/* Offset of the buffer in its memory; of an input with elements of this size, else 0. */
static size_t begins_at(const opened *o, const circumstances *how, uint32_t i, size_t element) {
    size_t room = bytes_of(o, i) + 2 * (size_t)PAGE, past = (uintptr_t)o->memories[i] % PAGE;
    if (how->at_end)
        return (room - bytes_of(o, i)) / LINE * LINE;
    return (past ? PAGE - past : 0) + how->offset + how->shift * element;
}

/* Fills everything around the buffers, and the outputs. */
static bool prepare(const opened *o, const circumstances *how, const tensor *inputs, status *st) {
    launch *l = (launch *)&o->launch;
    bool ok = true;
    for (uint32_t i = 0; i < l->input_count + l->output_count && ok; i++) {
        size_t element = i < l->input_count ? dtype_size(inputs[i].type) : 0;
        l->buffers[i] = o->memories[i] + begins_at(o, how, i, element);
        ok = abi_ok(tsrFillAsync(l->context, NULL, o->memories[i], how->surround,
                                 bytes_of(o, i) + 2 * (size_t)PAGE),
                    "filling a buffer", st);
        if (ok && !o->layout && i >= l->input_count && l->sizes[i])
            ok = abi_ok(tsrFillAsync(l->context, NULL, l->buffers[i], how->before, l->sizes[i]),
                        "filling an output", st);
    }
    return ok && (o->layout || launch_write_inputs(l, inputs, st));
}

/* ---- tensors with gaps ---- */

static bool put_apart(const opened *o, uint32_t i, const tensor *from, const circumstances *how,
                      status *st) {
    size_t bytes = o->layouts[i].bytes;
    unsigned char *buffer = base_malloc(bytes + 1);
    memset(buffer, how->surround, bytes);
    layout_scatter(&o->layouts[i], from, buffer);
    bool ok = abi_ok(tsrCopy(o->launch.context, o->launch.buffers[i], buffer, bytes),
                     "copying a tensor with gaps", st);
    free(buffer);
    return ok;
}

/* The inputs, and outputs that hold what they hold before. */
static bool write_apart(const opened *o, const shape *s, const circumstances *how,
                        const tensor *inputs, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < s->signature.input_count && ok; i++)
        ok = put_apart(o, i, &inputs[i], how, st);
    for (uint32_t i = 0; i < s->signature.output_count && ok; i++) {
        const struct compiler_buffer *b = &s->signature.outputs[i];
        tensor before;
        ok = tensor_init(&before, b->type, b->rank, b->dims, st);
        if (!ok)
            break;
        memset(before.data, how->before, tensor_bytes(&before));
        ok = put_apart(o, s->signature.input_count + i, &before, how, st);
        tensor_release(&before);
    }
    return ok;
}

/* A launch of a shape, where its arrays are. */
typedef struct run_state {
    opened *o;
    const shape *s;
    const circumstances *how;
} run_state;

static bool take_apart(runner *r, const run_state *now, uint32_t i, tensor *outputs, status *st) {
    const opened *o = now->o;
    const shape *s = now->s;
    const unsigned char surround = now->how->surround;
    const struct compiler_buffer *b = buffer_at(&s->signature, i);
    const layout *l = &o->layouts[i];
    unsigned char *buffer = base_malloc(l->bytes + 1);
    bool ok = abi_ok(tsrCopy(o->launch.context, buffer, o->launch.buffers[i], l->bytes),
                     "copying a tensor with gaps", st);
    int64_t at = ok ? layout_first_written(l, b, buffer, surround) : -1;
    if (at >= 0 && !r->wrote_gap) {
        r->wrote_gap = true;
        r->gap = (runner_gap){i, at, surround, buffer[at]};
    }
    if (ok && i >= s->signature.input_count) {
        tensor *out = &outputs[i - s->signature.input_count];
        ok = tensor_init(out, b->type, b->rank, b->dims, st);
        if (ok)
            layout_gather(l, buffer, out);
    }
    free(buffer);
    return ok;
}

static bool read_apart(runner *r, const run_state *now, tensor *outputs, status *st) {
    const shape *s = now->s;
    bool ok = true;
    for (uint32_t i = 0; i < s->signature.input_count + s->signature.output_count && ok; i++)
        ok = take_apart(r, now, i, outputs, st);
    if (!ok)
        tensor_release_all(outputs, s->signature.output_count);
    return ok;
}

bool runner_wrote_gap(const runner *r, runner_gap *out) {
    *out = r->gap;
    return r->wrote_gap;
}

/* ---- what it did beside its outputs ---- */

static int64_t first_other(const unsigned char *bytes, int64_t count, unsigned char expected) {
    int64_t i = 0;
    while (i < count && bytes[i] == expected)
        i++;
    return i;
}

static int64_t count_other(const unsigned char *bytes, int64_t count, unsigned char expected) {
    int64_t others = 0;
    for (int64_t i = 0; i < count; i++)
        others += bytes[i] != expected;
    return others;
}

/* The byte nearest to the buffer, on either side of it. */
static bool look_around(runner_effect *e, const unsigned char *memory, size_t begin, size_t bytes,
                        size_t room, unsigned char expected) {
    int64_t front = (int64_t)begin, behind = (int64_t)(room - begin - bytes);
    const unsigned char *end = memory + begin + bytes;
    int64_t at = front;
    while (at > 0 && memory[at - 1] == expected)
        at--;
    e->before = expected;
    if (at > 0) {
        e->place = RUNNER_BEFORE;
        e->byte = front - at + 1;
        e->bytes = count_other(memory, front, expected);
        e->after = memory[at - 1];
        return true;
    }
    at = first_other(end, behind, expected);
    if (at == behind)
        return false;
    e->place = RUNNER_BEHIND;
    e->byte = at;
    e->bytes = count_other(end, behind, expected);
    e->after = end[at];
    return true;
}

static bool look_at_input(runner_effect *e, const unsigned char *now, const tensor *input) {
    const unsigned char *was = input->data;
    int64_t count = (int64_t)tensor_bytes(input), at = 0;
    while (at < count && now[at] == was[at])
        at++;
    if (at == count)
        return false;
    e->place = RUNNER_INPUT;
    e->byte = at;
    for (int64_t i = at; i < count; i++)
        e->bytes += now[i] != was[i];
    size_t size = dtype_size(input->type), element = (size_t)at / size * size;
    memcpy(&e->before, was + element, size);
    memcpy(&e->after, now + element, size);
    return true;
}

static bool look_for_effects(runner *r, const opened *o, const circumstances *how,
                             const tensor *inputs, status *st) {
    const launch *l = &o->launch;
    bool ok = true;
    r->had_effect = false;
    for (uint32_t i = 0; i < l->input_count + l->output_count && ok && !r->had_effect; i++) {
        size_t room = l->sizes[i] + 2 * (size_t)PAGE, begin = begins_at(o, how, i, 0);
        unsigned char *copy = base_malloc(room);
        r->effect = (runner_effect){.buffer = i};
        ok = abi_ok(tsrCopy(l->context, copy, o->memories[i], room), "copying a buffer", st);
        r->had_effect =
            ok && (look_around(&r->effect, copy, begin, l->sizes[i], room, how->surround) ||
                   (i < l->input_count && look_at_input(&r->effect, copy + begin, &inputs[i])));
        free(copy);
    }
    return ok;
}

bool runner_had_effect(const runner *r, runner_effect *out) {
    *out = r->effect;
    return r->had_effect;
}

bool runner_settle(const runner *r, status *st) {
    return !r->last || guest_watch_settle(&r->last->watch, r->last->guest, st);
}

foreign_cost runner_cost(const runner *r) {
    foreign_cost cost = {0};
    if (r->last && r->last->guest)
        (void)foreign_cost_of(r->last->guest, r->last->threads, &cost);
    return cost;
}

/* ---- ranges ---- */

void runner_reset_ranges(runner *r) {
    memset(r->ranges, 0, r->request->column->kernel->dim_count * sizeof *r->ranges);
}

const runner_range *runner_ranges(const runner *r) {
    return r->ranges;
}

static void note_range(runner *r, const shape *s) {
    const compiler_kernel *k = r->request->column->kernel;
    for (uint32_t i = 0; i < k->dim_count; i++)
        for (uint32_t d = 0; d < s->c->dim_count; d++) {
            runner_range *x = &r->ranges[i];
            int64_t value = s->c->dims[d].value;
            if (strcmp(s->c->dims[d].name, k->dim_names[i]) != 0)
                continue;
            x->least = x->least && x->least < value ? x->least : value;
            x->most = x->most > value ? x->most : value;
        }
}

/* ---- a run ---- */

/* The time that is left for all, or the limit of one call. */
static bool set_limit(const runner *r, const opened *o, status *st) {
    uint64_t now = timer_now_ns(), left = r->end_ns > now ? r->end_ns - now : 1;
    uint64_t limit = r->request->timeout_ns < left ? r->request->timeout_ns : left;
    return !r->request->column->with ||
           abi_ok(tsrSetWatchdog(o->launch.context, limit), "setting a limit", st);
}

static void cool(runner *r) {
    r->cold = r->cold ? r->cold : malloc(COLD_BYTES);
    for (size_t i = 0; r->cold && i < COLD_BYTES; i += 64)
        r->cold[i] = (unsigned char)(r->cold[i] + r->runs);
}

static bool run_opened(runner *r, const run_state *now, const tensor *inputs, tensor *outputs,
                       status *st) {
    opened *o = now->o;
    const shape *s = now->s;
    const circumstances *how = now->how;
    bool again = how->changed >= 0 && o->used;
    o->used = ++r->runs;
    bool ok = again
                  ? launch_write(&o->launch, (uint32_t)how->changed, inputs[how->changed].data, st)
                  : prepare(o, how, inputs, st);
    ok = ok && (!o->layout || write_apart(o, s, how, inputs, st));
    if (ok && how->cold)
        cool(r);
    r->wrote_gap = false;
    ok = ok && set_limit(r, o, st) && launch_run(&o->launch, st);
    if (ok && how->watched)
        ok = guest_watch_called(&o->watch, st) && look_for_effects(r, o, how, inputs, st);
    return ok && (o->layout ? read_apart(r, now, outputs, st)
                            : launch_read_outputs(&o->launch, &s->signature, outputs, st));
}

bool runner_run(runner *r, const shape *s, const circumstances *how, const tensor *inputs,
                tensor *outputs, status *st) {
    opened *o = find_opened(r, s, how, st);
    r->last = o;
    if (!o)
        return false;
    const run_state now = {o, s, how};
    bool ok = run_opened(r, &now, inputs, outputs, st);
    if (ok) {
        note_range(r, s);
        return true;
    }
    r->last = NULL;
    close_opened(o);
    return false;
}
