/* program_run.c - launches of programs: commands for the stream, in batches that nothing is
 * allocated for. All that they are made of but the addresses of inputs and outputs was made when
 * the module was loaded.
 *
 * Launches of one program share its arena, so each waits on the device for the one before. Under a
 * graph the arena is the graph's. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "runtime.h"

enum {
    BATCH = 64,                         /* commands that are submitted together, at most */
    ROOM = 4 * METADATA_PARAMETERS_MAX, /* ... and their operands; those of any two fit */
    CAPTURED_MOST = 1 << 20,            /* commands of a program in a graph */
    BUFFERS = 2 * METADATA_PARAMETERS_MAX + 1,
    POISON = 0xCB
};

/* A launch: it lives while its commands are made, under the lock of its program. */
typedef struct run {
    tsr_stream_t stream;
    tsr_graph_t graph;              /* that captures; or NULL */
    bool each;                      /* nothing is submitted together */
    bool timed;                     /* as in device_dispatch */
    uint64_t limit_ns, deadline_ns; /* 0: none */
    unsigned char *bases[BUFFERS];  /* of inputs, outputs and the arena */
    const device_memory *memories[BUFFERS];
    int64_t turns[PROGRAM_DEPTH_MAX]; /* of the counted loops around, outermost first */
    uint32_t loops;
    unsigned char flag;     /* that was read last; a lost device may write it later */
    const metadata *kernel; /* of the last dispatch */
    uint32_t count, operand_count;
    device_command commands[BATCH];
    void *operands[ROOM];
    const device_memory *operand_memories[ROOM];
} run;

struct program_state {
    tsr_module_t module;
    device_command *dispatches; /* of each kernel, but for its buffers */
    device_memory *arena;
    pthread_mutex_t mutex;
    run run;
};

/* ---- loading ---- */

static device_command dispatch_of(tsr_module_t kernel) {
    kernel_launch request;
    request.kernel = &kernel->kernel;
    request.buffers = NULL;
    request.memories = NULL;
    request.dims = NULL;
    request.prepared = NULL;
    (void)launch_find_needs(&request); /* they were found when it was loaded */
    return launch_command(&request, kernel->context);
}

static bool make_arena(tsr_module_t module, device_memory **out, status *st) {
    device *d = module->context->device;
    size_t bytes = (size_t)module->metadata.program->arena_bytes;
    return d->driver->alloc(d, bytes ? bytes : 1, DEVICE_MEMORY_DEVICE, out, st) ||
           status_context(st, "the arena of program '%s'", module->metadata.name);
}

bool program_open(tsr_module_t module, status *st) {
    struct program_state *s = base_calloc(1, sizeof *s);
    uint32_t count = module->metadata.program->kernel_count;
    module->program = s;
    s->module = module;
    pthread_mutex_init(&s->mutex, NULL);
    s->dispatches = base_calloc(count + 1, sizeof *s->dispatches);
    for (uint32_t i = 0; i < count; i++)
        s->dispatches[i] = dispatch_of(module->kernels[i]);
    return make_arena(module, &s->arena, st);
}

void program_close(tsr_module_t module) {
    struct program_state *s = module->program;
    if (!s)
        return;
    if (s->arena)
        module->context->device->driver->free(module->context->device, s->arena);
    pthread_mutex_destroy(&s->mutex);
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

/* Until the stream has done what it was given. */
static tsr_status_t await_stream(const struct program_state *s) {
    status st = STATUS_INIT;
    tsr_stream_t stream = s->run.stream;
    return stream->context->device->driver->await(stream->queue, &st) ? check_deadline(s)
                                                                      : error_from(&st);
}

/* Under a limit a batch has ended when the next is made, so that the launch as a whole can be
 * limited. */
static tsr_status_t flush(struct program_state *s) {
    run *r = &s->run;
    if (r->count == 0)
        return TSR_SUCCESS;
    tsr_status_t result = stream_submit(r->stream, r->commands, r->count);
    r->count = r->operand_count = 0;
    return result == TSR_SUCCESS && r->deadline_ns ? await_stream(s) : result;
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

static tsr_status_t give_one(struct program_state *s) {
    run *r = &s->run;
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

/* After a command was put at the batch's end. */
static inline tsr_status_t added(struct program_state *s) {
    s->run.count++;
    if (s->run.each)
        return give_one(s);
    return s->run.count == BATCH ? flush(s) : TSR_SUCCESS;
}

static tsr_status_t add(struct program_state *s, device_command command) {
    s->run.commands[s->run.count] = command;
    return added(s);
}

/* ---- commands ---- */

static inline unsigned char *address_of(const run *r, const program_place *p) {
    unsigned char *address = r->bases[p->buffer] + p->offset;
    for (uint32_t i = 0; i < p->stride_count; i++)
        address += r->turns[i] * p->strides[i];
    return address;
}

static device_span span_of(const run *r, const program_place *p) {
    return (device_span){address_of(r, p), r->memories[p->buffer]};
}

static tsr_status_t run_dispatch(struct program_state *s, const program_command *c) {
    run *r = &s->run;
    tsr_status_t result = TSR_SUCCESS;
    if (r->operand_count + c->place_count > ROOM)
        result = flush(s);
    device_command *d = &r->commands[r->count];
    void **buffers = r->operands + r->operand_count;
    const device_memory **memories = r->operand_memories + r->operand_count;
    for (uint32_t i = 0; i < c->place_count; i++) {
        buffers[i] = address_of(r, &c->places[i]);
        memories[i] = r->memories[c->places[i].buffer];
    }
    *d = s->dispatches[c->kernel];
    d->limit_ns = r->limit_ns;
    d->dispatch.buffers = buffers;
    d->dispatch.memories = memories;
    d->dispatch.timed = r->timed;
    r->operand_count += c->place_count;
    r->kernel = s->module->kernels[c->kernel]->kernel.metadata;
    return result == TSR_SUCCESS ? added(s) : result;
}

static tsr_status_t run_copy(struct program_state *s, const program_command *c) {
    run *r = &s->run;
    return c->bytes == 0
               ? TSR_SUCCESS
               : add(s, (device_command){.kind = DEVICE_COPY,
                                         .limit_ns = r->limit_ns,
                                         .range = {span_of(r, &c->places[0]),
                                                   span_of(r, &c->places[1]), (size_t)c->bytes}});
}

/* A fill for each run of equal bytes: nothing of the host's is read when its turn comes. */
static tsr_status_t run_turn(struct program_state *s, const program_command *c) {
    run *r = &s->run;
    uint64_t turn = (uint64_t)r->turns[r->loops - 1];
    device_span to = span_of(r, c->places);
    tsr_status_t result = TSR_SUCCESS;
    for (int64_t i = 0, length; i < c->bytes && result == TSR_SUCCESS; i += length) {
        unsigned char byte = (unsigned char)(turn >> 8 * i);
        for (length = 1; i + length < c->bytes; length++)
            if ((unsigned char)(turn >> 8 * (i + length)) != byte)
                break;
        result = add(s, (device_command){.kind = DEVICE_FILL,
                                         .byte = byte,
                                         .limit_ns = r->limit_ns,
                                         .range = {.to = to, .size_bytes = (size_t)length}});
        to.address = (unsigned char *)to.address + length;
    }
    return result;
}

/* The byte at a place, once all before it has run. */
static tsr_status_t read_flag(struct program_state *s, const program_place *p, bool *flag) {
    run *r = &s->run;
    tsr_status_t result = add(s, (device_command){.kind = DEVICE_COPY,
                                                  .limit_ns = r->limit_ns,
                                                  .range = {{&r->flag, NULL}, span_of(r, p), 1}});
    if (result == TSR_SUCCESS)
        result = flush(s);
    if (result == TSR_SUCCESS)
        result = await_stream(s);
    *flag = r->flag != 0;
    return result;
}

static tsr_status_t run_block(struct program_state *s, const program_block *block);

static tsr_status_t run_loop(struct program_state *s, const program_command *c) {
    run *r = &s->run;
    tsr_status_t result = TSR_SUCCESS;
    if (c->steps == 0)
        return TSR_SUCCESS;
    int64_t *turn = &r->turns[r->loops++];
    for (*turn = 0; *turn < c->count && result == TSR_SUCCESS; ++*turn)
        result = run_block(s, &c->blocks[0]);
    r->loops--;
    return result;
}

static tsr_status_t run_while(struct program_state *s, const program_command *c) {
    bool more = true;
    for (;;) {
        tsr_status_t result = run_block(s, &c->blocks[0]);
        if (result == TSR_SUCCESS)
            result = read_flag(s, c->places, &more);
        if (result == TSR_SUCCESS && more)
            result = run_block(s, &c->blocks[1]);
        if (result != TSR_SUCCESS || !more)
            return result;
    }
}

static tsr_status_t run_if(struct program_state *s, const program_command *c) {
    bool flag;
    tsr_status_t result = read_flag(s, c->places, &flag);
    return result == TSR_SUCCESS ? run_block(s, &c->blocks[flag ? 0 : 1]) : result;
}

static tsr_status_t run_block(struct program_state *s, const program_block *block) {
    static tsr_status_t (*const runs[])(struct program_state *, const program_command *) = {
        [PROGRAM_DISPATCH] = run_dispatch, [PROGRAM_COPY] = run_copy,   [PROGRAM_TURN] = run_turn,
        [PROGRAM_LOOP] = run_loop,         [PROGRAM_WHILE] = run_while, [PROGRAM_IF] = run_if};
    tsr_status_t result = TSR_SUCCESS;
    for (uint32_t i = 0; i < block->count && result == TSR_SUCCESS; i++)
        result = runs[block->commands[i].kind](s, &block->commands[i]);
    return result;
}

/* ---- launches ---- */

/* Where the launch will wait for the stream: what failed in it before is told as ever, and the time
 * of the launch counts from its turn on. */
static tsr_status_t settle_stream(struct program_state *s) {
    run *r = &s->run;
    status st = STATUS_INIT, lost = STATUS_INIT;
    device *d = s->module->context->device;
    device_event_state state;
    uint64_t time_ns;
    if (!d->driver->await(r->stream->queue, &st)) {
        if (!d->driver->usable(d, &lost))
            return error_from(&lost);
        stream_fail(r->stream, &st);
    }
    if (!d->driver->event_query(d, s->module->used, true, &state, &time_ns, &lost))
        return error_from(&lost);
    r->deadline_ns = r->limit_ns ? clock_now_ns() + r->limit_ns : 0;
    if (r->deadline_ns < r->limit_ns)
        r->deadline_ns = UINT64_MAX;
    return TSR_SUCCESS;
}

static void begin(struct program_state *s, const kernel_launch *request, tsr_stream_t stream,
                  device_memory *memory) {
    const metadata *m = &s->module->metadata;
    tsr_context_t context = s->module->context;
    run *r = &s->run;
    r->stream = stream_or_default(context, stream);
    r->graph = r->stream->captured;
    r->each = r->graph || context->debug;
    r->timed = atomic_load(&context->telemetry.on);
    r->limit_ns = r->graph ? 0 : atomic_load(&context->watchdog_ns);
    r->deadline_ns = 0;
    r->loops = r->count = r->operand_count = 0;
    for (uint32_t i = 0; i < m->inputs + m->outputs; i++) {
        r->bases[i] = request->buffers[i];
        r->memories[i] = request->memories[i];
    }
    r->bases[m->inputs + m->outputs] = memory->address;
    r->memories[m->inputs + m->outputs] = memory;
}

/* Under debug what nobody wrote is no number that one could take for one. */
static tsr_status_t poison(struct program_state *s, device_memory *memory) {
    return s->module->context->debug
               ? add(s, (device_command){.kind = DEVICE_FILL,
                                         .byte = POISON,
                                         .range = {.to = {memory->address, memory},
                                                   .size_bytes = memory->size_bytes}})
               : TSR_SUCCESS;
}

static tsr_status_t launch(struct program_state *s, device_memory *memory) {
    const program *p = s->module->metadata.program;
    tsr_status_t result = poison(s, memory);
    if (result == TSR_SUCCESS)
        result = run_block(s, &p->body);
    return result == TSR_SUCCESS ? flush(s) : result;
}

static tsr_status_t launch_in_turn(struct program_state *s) {
    run *r = &s->run;
    device_event *used = s->module->used;
    const device_command ended = {.kind = DEVICE_RECORD, .event = used};
    tsr_status_t result = TSR_SUCCESS;
    if (r->limit_ns || s->module->metadata.program->conditional)
        result = settle_stream(s);
    if (result == TSR_SUCCESS)
        result = add(s, (device_command){.kind = DEVICE_WAIT, .event = used});
    if (result == TSR_SUCCESS)
        result = launch(s, s->arena);
    /* Whatever became of it: some of its commands may run yet. */
    if (r->stream != &r->stream->context->default_stream) {
        tsr_status_t recorded = stream_submit(r->stream, &ended, 1);
        result = result == TSR_SUCCESS ? recorded : result;
    }
    return result;
}

static tsr_status_t capture(struct program_state *s, const kernel_launch *request,
                            tsr_stream_t stream) {
    const metadata *m = &s->module->metadata;
    device_memory *memory;
    status st = STATUS_INIT;
    if (m->program->conditional)
        return error_set(TSR_EUNAVAILABLE,
                         "program '%s' has branches that depend on its data; a graph cannot hold "
                         "it, launch it on a stream that does not capture",
                         m->name);
    if (m->program->steps > CAPTURED_MOST)
        return error_set(TSR_EUNAVAILABLE,
                         "program '%s' runs more than %d commands; a graph does not hold as many",
                         m->name, CAPTURED_MOST);
    if (!make_arena(s->module, &memory, &st))
        return error_from(&st);
    graph_add_memory(stream->captured, memory);
    begin(s, request, stream, memory);
    return launch(s, memory);
}

tsr_status_t program_launch(const kernel_launch *request, tsr_stream_t stream) {
    struct program_state *s = request->kernel->module->program;
    tsr_status_t result;
    pthread_mutex_lock(&s->mutex);
    if (stream && stream->captured) {
        result = capture(s, request, stream);
    } else {
        begin(s, request, stream, s->arena);
        result = launch_in_turn(s);
    }
    pthread_mutex_unlock(&s->mutex);
    return result;
}
