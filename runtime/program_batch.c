/* program_batch.c - what a program's module keeps for launches of it, and how their commands go to
 * streams and graphs: in batches that nothing is allocated for. */
#include "program_run.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"

/* ---- loading ---- */

static device_command dispatch_of(tsr_module_t kernel) {
    kernel_launch request;
    launch_begin(&request, &kernel->kernel, NULL);
    request.buffers = NULL;
    request.memories = NULL;
    request.dims = NULL;
    (void)launch_find_needs(&request); /* they were found when it was loaded */
    const device_command command = launch_command(&request, kernel->context);
    launch_end(&request);
    return command;
}

/* Without the phases that copy. */
static int64_t *workgroups_in_place(tsr_module_t kernel, const device_command *command) {
    const metadata_image *code = kernel->codes[0].description;
    if (!code->copies)
        return NULL;
    int64_t *workgroups = ARENA_NEW(&kernel->metadata.memory, int64_t, code->phase_count);
    for (uint32_t i = 0; i < code->phase_count; i++)
        workgroups[i] = code->phases[i].copies < 0 ? command->dispatch.workgroups[i] : 0;
    return workgroups;
}

/* Room for a batch's operands, or for those of the dispatch that has most. */
static void make_rooms(struct program_state *s) {
    metadata *m = &s->module->metadata;
    program_run *r = &s->run;
    uint32_t buffers = m->inputs + m->outputs + 1 + m->program->constant_count;
    const uint32_t batch = s->recorded_most > PROGRAM_BATCH ? s->recorded_most : PROGRAM_BATCH;
    r->operand_room = PROGRAM_OPERANDS / PROGRAM_BATCH * batch;
    for (uint32_t i = 0; i < m->program->kernel_count; i++) {
        const metadata *k = &s->module->kernels[i]->metadata;
        r->operand_room =
            k->inputs + k->outputs > r->operand_room ? k->inputs + k->outputs : r->operand_room;
    }
    r->bases = ARENA_NEW(&m->memory, unsigned char *, buffers);
    r->memories = ARENA_NEW(&m->memory, const device_memory *, buffers);
    r->commands = ARENA_NEW(&m->memory, device_command, batch + 2); /* a DEVICE_REPLAY, and one
                                                                       behind a full batch */
    r->operands = ARENA_NEW(&m->memory, void *, r->operand_room);
    r->operand_memories = ARENA_NEW(&m->memory, const device_memory *, r->operand_room);
}

bool program_make_arena(tsr_module_t module, device_memory **out, status *st) {
    device *d = module->context->device;
    size_t bytes = (size_t)module->metadata.program->arena_bytes;
    return d->driver->alloc(d, bytes ? bytes : 1, DEVICE_MEMORY_DEVICE, out, st) ||
           status_context(st, "the arena of program '%s'", module->metadata.name);
}

/* The bytes of a constant, on the device. */
static bool make_constant(struct program_state *s, uint32_t i, const void *bytes, status *st) {
    const metadata *m = &s->module->metadata;
    tsr_context_t context = s->module->context;
    device *d = context->device;
    size_t size = (size_t)m->program->constants[i].bytes;
    uint32_t buffer = m->inputs + m->outputs + 1 + i;
    if (!d->driver->alloc(d, size ? size : 1, DEVICE_MEMORY_DEVICE, &s->constants[i], st))
        return status_context(st, "the constants of program '%s'", m->name);
    const device_memory *memory = s->constants[i];
    s->run.bases[buffer] = memory->address;
    s->run.memories[buffer] = memory;
    const device_command copy = {
        .kind = DEVICE_COPY,
        .range = {{memory->address, memory}, {(void *)(uintptr_t)bytes, NULL}, size}};
    return size == 0 || d->driver->submit(context->default_stream.queue, &copy, 1, st);
}

static bool make_events(struct program_state *s, status *st) {
    device *d = s->module->context->device;
    return d->driver->event_create(d, &s->passed[0], st) &&
           d->driver->event_create(d, &s->passed[1], st);
}

bool program_open(tsr_module_t module, const void *const *constants, status *st) {
    struct program_state *s = base_calloc(1, sizeof *s);
    uint32_t count = module->metadata.program->kernel_count;
    module->program = s;
    s->module = module;
    pthread_mutex_init(&s->mutex, NULL);
    s->dispatches = base_calloc(count + 1, sizeof *s->dispatches);
    s->in_place = base_calloc(count + 1, sizeof *s->in_place);
    for (uint32_t i = 0; i < count; i++) {
        s->dispatches[i] = dispatch_of(module->kernels[i]);
        s->in_place[i] = workgroups_in_place(module->kernels[i], &s->dispatches[i]);
    }
    bool ok = program_record_open(s, st) && program_make_arena(module, &s->arena, st) &&
              make_events(s, st);
    make_rooms(s);
    s->constants =
        base_calloc((size_t)module->metadata.program->constant_count + 1, sizeof *s->constants);
    for (uint32_t i = 0; i < module->metadata.program->constant_count && ok; i++)
        ok = make_constant(s, i, constants[i], st);
    return ok;
}

void program_close(tsr_module_t module) {
    struct program_state *s = module->program;
    if (!s)
        return;
    device *d = module->context->device;
    program_record_close(s);
    for (int i = 0; i < 2; i++)
        if (s->passed[i])
            d->driver->event_destroy(d, s->passed[i]);
    if (s->arena)
        d->driver->free(d, s->arena);
    for (uint32_t i = 0; i < module->metadata.program->constant_count && s->constants; i++)
        if (s->constants[i])
            d->driver->free(d, s->constants[i]);
    free(s->constants);
    pthread_mutex_destroy(&s->mutex);
    free(s->in_place);
    free(s->dispatches);
    free(s);
}

/* ---- submitting ---- */

static tsr_status_t check_deadline(const struct program_state *s) {
    device *d = s->module->context->device;
    status st = STATUS_INIT;
    if (s->run.deadline_ns == 0 || clock_now_ns() < s->run.deadline_ns)
        return TSR_SUCCESS;
    status_set(&st, STATUS_TIMEOUT,
               "program '%s' did not end within the watchdog's %g ms; its context is lost, and can "
               "only be destroyed",
               s->module->metadata.name, (double)s->run.limit_ns / 1e6);
    d->driver->lose(d, &st);
    return error_from(&st);
}

tsr_status_t program_await(const struct program_state *s) {
    status st = STATUS_INIT;
    tsr_stream_t stream = s->run.stream;
    return stream->context->device->driver->await(stream->queue, &st) ? check_deadline(s)
                                                                      : error_from(&st);
}

/* So that a long loop does not fill the host's memory with what waits in the queue: waits for what
 * was given before the last look. Failures stay for who synchronises. */
static tsr_status_t look(struct program_state *s) {
    device *d = s->module->context->device;
    const uint32_t turn = s->run.looks++ % 2;
    const device_command here = {.kind = DEVICE_RECORD, .event = s->passed[turn], .untimed = true};
    status st = STATUS_INIT;
    device_event_state state;
    uint64_t time_ns;
    s->run.ahead = 0;
    tsr_status_t result = stream_submit(s->run.stream, &here, 1);
    return result != TSR_SUCCESS ||
                   d->driver->event_query(d, s->passed[1 - turn], true, &state, &time_ns, &st)
               ? result
               : error_from(&st);
}

static uint32_t next_batch(uint32_t batch) {
    return 2 * batch < PROGRAM_BATCH ? 2 * batch : PROGRAM_BATCH;
}

/* Under a limit a batch has ended when the next is made, so that the launch as a whole can be
 * limited. */
tsr_status_t program_flush(struct program_state *s) {
    program_run *r = &s->run;
    if (r->count == 0)
        return TSR_SUCCESS;
    program_record_end(s);
    tsr_status_t result = stream_submit(r->stream, r->commands, r->count);
    r->ahead += r->count;
    r->count = r->operand_count = 0;
    r->batch = r->recorded ? s->recorded_most : next_batch(r->batch);
    if (result == TSR_SUCCESS && r->deadline_ns)
        result = program_await(s);
    return result == TSR_SUCCESS && r->ahead > PROGRAM_AHEAD ? look(s) : result;
}

static bool run_watched(struct program_state *s, const device_command *c, status *st) {
    device *d = s->module->context->device;
    return launch_watched(s->run.stream, c, s->run.kernel, st) &&
           (d->driver->intact(d, s->arena, st) ||
            status_context(st, "kernel '%s' broke the bounds of the arena of program '%s'",
                           s->run.kernel->name, s->module->metadata.name));
}

/* Under debug. As with other launches a failure waits for the next synchronisation, unless what
 * comes next depends on it. */
static tsr_status_t watch(struct program_state *s, const device_command *c) {
    tsr_stream_t stream = s->run.stream;
    status st = STATUS_INIT;
    if (c->kind != DEVICE_DISPATCH)
        return stream_submit(stream, c, 1);
    if (run_watched(s, c, &st))
        return check_deadline(s);
    if (stream == &stream->context->default_stream || s->module->metadata.program->conditional)
        return error_from(&st);
    stream_fail(stream, &st);
    return TSR_SUCCESS;
}

tsr_status_t program_give_one(struct program_state *s) {
    program_run *r = &s->run;
    const device_command *c = r->commands;
    r->count = r->operand_count = 0;
    if (!r->graph)
        return watch(s, c);
    if (c->kind == DEVICE_DISPATCH)
        graph_add_dispatch(r->graph, c, s->module, r->kernel, NULL);
    else
        graph_add_range(r->graph, c);
    return TSR_SUCCESS;
}
