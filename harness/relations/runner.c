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

enum { OPEN_MAX = 6, PAGE = 4096, COLD_BYTES = 96 << 20 };

/* A function that is loaded, for one shape, with memory for each buffer. */
typedef struct opened {
    uint64_t shape; /* its number; 0: nothing is loaded */
    uint32_t threads;
    char environment[200];
    launch launch;
    compiler_artifact artifact;
    unsigned char *memories[LAUNCH_BUFFERS_MAX]; /* of the device */
    uint64_t used;                               /* the number of its last run */
} opened;

struct runner {
    const relations_request *request;
    opened open[OPEN_MAX];
    uint32_t device;
    bool has_device;
    scratch_folder folder;
    uint64_t runs;
    unsigned char *cold;
};

/* ---- shapes ---- */

bool shape_open(shape *s, const relations_subject *subject, const shape_request *request,
                status *st) {
    static uint64_t shapes;
    const compiler_kernel *k = subject->kernel;
    *s = (shape){
        .number = ++shapes, .seed = request->seed, .like = request->like, .c = request->like};
    text diagnostics;
    text_init(&diagnostics);
    if (request->dims) {
        ir_binding bindings[LIMIT_PARAMETERS * TENSOR_MAX_RANK];
        for (uint32_t i = 0; i < k->dim_count; i++)
            bindings[i] = (ir_binding){k->dim_names[i], request->dims[i]};
        const compiler_values values = {bindings, k->dim_count, request->like->types,
                                        request->like->type_count};
        s->c = compiler_case_bind(subject->source, k, &values, &diagnostics);
    }
    s->instance = s->c ? case_instance(subject->source, k, s->c, st) : NULL;
    bool ok = s->instance || status_set(st, STATUS_INVALID, "the kernel has no such shape");
    text_release(&diagnostics);
    compiler_case drawn = s->c ? *s->c : *request->like;
    drawn.inputs = request->like->inputs;
    ok = ok && compiler_signature_of(s->instance, &s->signature, st) &&
         inputs_make(&s->signature, &drawn, request->seed, s->inputs, st) &&
         compiler_check_values(s->instance, s->inputs, st);
    if (!ok)
        shape_close(s);
    return ok;
}

void shape_close(shape *s) {
    tensor_release_all(s->inputs, COMPILER_MAX_PARAMETERS);
    if (s->instance)
        compiler_instance_free(s->instance);
    *s = (shape){0};
}

/* ---- loading ---- */

runner *runner_open(const relations_request *request) {
    runner *r = base_calloc(1, sizeof *r);
    r->request = request;
    return r;
}

static void close_opened(opened *o) {
    for (uint32_t i = 0; i < LAUNCH_BUFFERS_MAX; i++)
        if (o->memories[i])
            (void)tsrFree(o->launch.context, o->memories[i]);
    memset(o->launch.buffers, 0, sizeof o->launch.buffers);
    launch_close(&o->launch);
    compiler_artifact_release(&o->artifact);
    *o = (opened){0};
}

void runner_close(runner *r) {
    for (int i = 0; i < OPEN_MAX; i++)
        close_opened(&r->open[i]);
    if (r->folder.path)
        scratch_folder_close(&r->folder);
    free(r->cold);
    free(r);
}

uint64_t runner_runs(const runner *r) {
    return r->runs;
}

static bool find_device(runner *r, status *st) {
    backend_id id = r->request->subject->with ? BACKEND_IMPLEMENTATION : BACKEND_CPU;
    r->has_device = r->has_device || backend_device(&backend_table[id], NULL, &r->device, st);
    return r->has_device;
}

static bool build(runner *r, opened *o, const shape *of, status *st) {
    const relations_subject *s = r->request->subject;
    if (!s->with) {
        const compiler_options options = {.threads = o->threads, .written = s->kernel->schedule};
        return compiler_build(of->instance, &options, &o->artifact, st);
    }
    if (s->with->kind == IMPLEMENTATION_COMMAND && !r->folder.path &&
        !scratch_folder_open(&r->folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    const implementation_request request = {.path = s->with->path,
                                            .symbol = s->symbol,
                                            .kernel = s->kernel->name,
                                            .folder = r->folder.path,
                                            .kind = s->with->kind,
                                            .threads = o->threads};
    return implementation_build(&request, of->instance, &o->artifact, st);
}

/* Buffers may begin anywhere in the first of two pages more than they need. */
static bool allocate(opened *o, status *st) {
    launch *l = &o->launch;
    void *memory;
    for (uint32_t i = 0; i < l->input_count + l->output_count; i++) {
        if (!abi_ok(
                tsrAlloc(l->context, l->sizes[i] + 2 * (size_t)PAGE, TSR_ALLOC_DEFAULT, &memory),
                "allocating a buffer", st))
            return false;
        o->memories[i] = memory;
    }
    return true;
}

static bool load(runner *r, opened *o, const shape *of, status *st) {
    const relations_subject *s = r->request->subject;
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
    return launch_open(&o->launch, &request, st) && allocate(o, st) &&
           abi_ok(tsrSetWatchdog(o->launch.context, s->with ? r->request->timeout_ns : 0),
                  "setting a limit", st);
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
    return o->shape == s->number && o->threads == how->threads &&
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
    *oldest = (opened){.shape = s->number, .threads = how->threads};
    snprintf(oldest->environment, sizeof oldest->environment, "%s",
             how->environment ? how->environment : "");
    if (load_in(r, oldest, s, how->environment, st))
        return oldest;
    close_opened(oldest);
    return NULL;
}

/* ---- a run ---- */

/* Fills everything around the buffers, and the outputs. */
static bool prepare(const opened *o, const circumstances *how, const tensor *inputs, status *st) {
    launch *l = (launch *)&o->launch;
    bool ok = true;
    for (uint32_t i = 0; i < l->input_count + l->output_count && ok; i++) {
        size_t past = (uintptr_t)o->memories[i] % PAGE;
        l->buffers[i] = o->memories[i] + (past ? PAGE - past : 0) + how->offset;
        ok = abi_ok(tsrFillAsync(l->context, NULL, o->memories[i], how->surround,
                                 l->sizes[i] + 2 * (size_t)PAGE),
                    "filling a buffer", st);
        if (ok && i >= l->input_count && l->sizes[i])
            ok = abi_ok(tsrFillAsync(l->context, NULL, l->buffers[i], how->before, l->sizes[i]),
                        "filling an output", st);
    }
    return ok && launch_write_inputs(l, inputs, st);
}

static void cool(runner *r) {
    r->cold = r->cold ? r->cold : malloc(COLD_BYTES);
    for (size_t i = 0; r->cold && i < COLD_BYTES; i += 64)
        r->cold[i] = (unsigned char)(r->cold[i] + r->runs);
}

bool runner_run(runner *r, const shape *s, const circumstances *how, const tensor *inputs,
                tensor *outputs, status *st) {
    opened *o = find_opened(r, s, how, st);
    if (!o)
        return false;
    bool again = how->changed >= 0 && o->used;
    o->used = ++r->runs;
    bool ok = again
                  ? launch_write(&o->launch, (uint32_t)how->changed, inputs[how->changed].data, st)
                  : prepare(o, how, inputs, st);
    if (ok && how->cold)
        cool(r);
    ok = ok && launch_run(&o->launch, st) &&
         launch_read_outputs(&o->launch, &s->signature, outputs, st);
    if (!ok)
        close_opened(o);
    return ok;
}
