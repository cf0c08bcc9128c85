/* program_run.c - launches of programs. All that their commands are made of but the addresses of
 * inputs and outputs was made when the module was loaded.
 *
 * Launches of one program share its arena, so each waits on the device for the one before. Under a
 * graph the arena is the graph's. */
#include "program_run.h"

#include "base/clock.h"

enum { CAPTURED_MOST = 1 << 20 /* commands of a program in a graph */, POISON = 0xCB };

/* ---- commands ---- */

static inline unsigned char *address_of(const program_run *r, const program_place *p) {
    unsigned char *address = r->bases[p->buffer] + p->offset;
    for (uint32_t i = 0; i < p->stride_count; i++)
        address += r->turns[i] * p->strides[i];
    return address;
}

device_span program_span_of(const program_run *r, const program_place *p) {
    return (device_span){address_of(r, p), r->memories[p->buffer]};
}

/* Do all inputs that the kernel would copy to their outputs lie there? */
static bool copies_nothing(const metadata *m, const metadata_image *code, void *const *buffers) {
    bool all = true;
    for (uint32_t i = 0; i < code->phase_count && all; i++)
        all = code->phases[i].copies < 0 ||
              launch_is_in_place(m, buffers, (uint32_t)code->phases[i].copies);
    return all;
}

static tsr_status_t run_dispatch(struct program_state *s, const program_command *c) {
    program_run *r = &s->run;
    tsr_status_t result = TSR_SUCCESS;
    if (r->operand_count + c->place_count > r->operand_room)
        result = program_flush(s);
    program_record_begin(r);
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
    if (r->recorded && s->workspace)
        d->dispatch.workspace = (device_span){s->workspace->address, s->workspace};
    r->operand_count += c->place_count;
    const struct tsr_module *kernel = s->module->kernels[c->kernel];
    r->kernel = kernel->kernel.metadata;
    if (s->in_place[c->kernel] && copies_nothing(r->kernel, kernel->codes[0].description, buffers))
        d->dispatch.workgroups = s->in_place[c->kernel];
    return result == TSR_SUCCESS ? program_added(s) : result;
}

/* Copies, unless a donated input lies where its output does. */
static tsr_status_t run_copy(struct program_state *s, const program_command *c) {
    program_run *r = &s->run;
    const device_span to = program_span_of(r, &c->places[0]),
                      from = program_span_of(r, &c->places[1]);
    return c->bytes == 0 || to.address == from.address
               ? TSR_SUCCESS
               : program_add(s, (device_command){.kind = DEVICE_COPY,
                                                 .limit_ns = r->limit_ns,
                                                 .range = {to, from, (size_t)c->bytes}});
}

static tsr_status_t run_fill(struct program_state *s, const program_command *c) {
    const device_span to = program_span_of(&s->run, c->places);
    return c->bytes == 0
               ? TSR_SUCCESS
               : program_add(s,
                             (device_command){.kind = DEVICE_FILL,
                                              .byte = c->byte,
                                              .limit_ns = s->run.limit_ns,
                                              .range = {.to = to, .size_bytes = (size_t)c->bytes}});
}

/* A fill for each run of equal bytes: nothing of the host's is read when its turn comes. */
static tsr_status_t run_turn(struct program_state *s, const program_command *c) {
    program_run *r = &s->run;
    uint64_t turn = (uint64_t)r->turns[r->loops - 1];
    device_span to = program_span_of(r, c->places);
    tsr_status_t result = TSR_SUCCESS;
    for (int64_t i = 0, length; i < c->bytes && result == TSR_SUCCESS; i += length) {
        unsigned char byte = (unsigned char)(turn >> 8 * i);
        for (length = 1; i + length < c->bytes; length++)
            if ((unsigned char)(turn >> 8 * (i + length)) != byte)
                break;
        result =
            program_add(s, (device_command){.kind = DEVICE_FILL,
                                            .byte = byte,
                                            .limit_ns = r->limit_ns,
                                            .range = {.to = to, .size_bytes = (size_t)length}});
        to.address = (unsigned char *)to.address + length;
    }
    return result;
}

/* The byte at a place, once all before it has run. */
static tsr_status_t read_flag(struct program_state *s, const program_place *p, bool *flag) {
    program_run *r = &s->run;
    tsr_status_t result = program_add_apart(
        s, (device_command){.kind = DEVICE_COPY,
                            .limit_ns = r->limit_ns,
                            .range = {{&r->flag, NULL}, program_span_of(r, p), 1}});
    if (result == TSR_SUCCESS)
        result = program_flush(s);
    if (result == TSR_SUCCESS)
        result = program_await(s);
    *flag = r->flag != 0;
    return result;
}

static tsr_status_t run_block(struct program_state *s, const program_block *block);

static tsr_status_t run_loop(struct program_state *s, const program_command *c) {
    program_run *r = &s->run;
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
        [PROGRAM_DISPATCH] = run_dispatch,
        [PROGRAM_COPY] = run_copy,
        [PROGRAM_FILL] = run_fill,
        [PROGRAM_TURN] = run_turn,
        [PROGRAM_EXCHANGE] = program_run_exchange,
        [PROGRAM_WAIT] = program_run_wait,
        [PROGRAM_LOOP] = run_loop,
        [PROGRAM_WHILE] = run_while,
        [PROGRAM_IF] = run_if};
    tsr_status_t result = TSR_SUCCESS;
    for (uint32_t i = 0; i < block->count && result == TSR_SUCCESS; i++)
        result = runs[block->commands[i].kind](s, &block->commands[i]);
    return result;
}

/* ---- launches ---- */

/* Waits for the stream: what failed in it before is told as ever, and the time of the launch counts
 * from its turn on. */
static tsr_status_t settle_stream(struct program_state *s) {
    program_run *r = &s->run;
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
    program_run *r = &s->run;
    r->stream = stream_or_default(context, stream);
    r->graph = r->stream->captured;
    r->each = r->graph || context->debug;
    r->timed = atomic_load(&context->telemetry.on);
    r->limit_ns = r->graph ? 0 : atomic_load(&context->watchdog_ns);
    r->deadline_ns = 0;
    r->loops = r->ahead = r->looks = r->count = r->operand_count = 0;
    r->recorded = s->recorded_most && !r->each && !r->timed && r->limit_ns == 0;
    r->opened = UINT32_MAX;
    r->batch = r->recorded ? s->recorded_most : PROGRAM_BATCH_FIRST; /* it begins soon */
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
               ? program_add(s, (device_command){.kind = DEVICE_FILL,
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
    if (s->posted)
        program_end_exchanges(s);
    return result == TSR_SUCCESS ? program_flush(s) : result;
}

static tsr_status_t launch_in_turn(struct program_state *s) {
    program_run *r = &s->run;
    device_event *used = s->module->used;
    const device_command ended = {
        .kind = DEVICE_RECORD, .event = used, .untimed = true, .awaitable = true};
    tsr_status_t result = TSR_SUCCESS;
    if (r->limit_ns || s->module->metadata.program->conditional)
        result = settle_stream(s);
    if (result == TSR_SUCCESS)
        result = program_add_apart(s, (device_command){.kind = DEVICE_WAIT, .event = used});
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
    if (m->program->ranks > 1)
        return error_set(TSR_EUNAVAILABLE,
                         "program '%s' waits for other ranks; a graph cannot hold it, launch it on "
                         "a stream that does not capture",
                         m->name);
    if (m->program->conditional)
        return error_set(TSR_EUNAVAILABLE,
                         "program '%s' has branches that depend on its data; a graph cannot hold "
                         "it, launch it on a stream that does not capture",
                         m->name);
    if (m->program->steps > CAPTURED_MOST)
        return error_set(TSR_EUNAVAILABLE,
                         "program '%s' runs more than %d commands; a graph does not hold as many",
                         m->name, CAPTURED_MOST);
    if (!program_make_arena(s->module, &memory, &st))
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
