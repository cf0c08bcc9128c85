/* graph.c - graphs: commands that were checked once and are queued as often as one likes.
 *
 * Where the device's driver has sequences, runs of commands that need nothing of the program are
 * one each: the driver records them when they are launched first, and replays them from then on.
 * Under debug, a watchdog or telemetry each command is one by itself, since it is checked, limited
 * or timed by itself. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime.h"

/* Parts of a dispatch that live as long as the graph. */
typedef struct kept_launch {
    tsr_module_t module;            /* that the program loaded */
    const metadata *metadata;       /* of the kernel: the module's, or of one within it */
    tsr_prepared_t prepared;        /* or NULL */
    const int64_t *sizes;           /* of each buffer */
    const device_memory **memories; /* of each buffer; looked up again for each launch */
} kept_launch;

typedef struct kept_command {
    device_command command;
    kept_launch launch;        /* of a dispatch */
    bool of_device;            /* it needs nothing of the program's when it runs */
    device_sequence *sequence; /* that begins here, or NULL */
    size_t length;             /* ... and its commands */
} kept_command;

struct tsr_graph {
    owned link;
    tsr_context_t context;
    arena memory;
    VEC(kept_command) kept;
    VEC(device_memory *) own; /* arenas of the programs in it */
    device_command *commands; /* room for all of them, a recording for each, and sequences */
    device_event *used; /* recorded behind each launch, where there are sequences or memory of its
                           own; else NULL */
};

static void *keep(tsr_graph_t graph, const void *items, size_t count, size_t item_bytes) {
    return count ? arena_copy(&graph->memory, items, count * item_bytes) : NULL;
}

void graph_add_dispatch(tsr_graph_t graph, const device_command *command, tsr_module_t module,
                        const metadata *m, tsr_prepared_t prepared) {
    kept_command kept = {.command = *command,
                         .of_device = true,
                         .launch = {.module = module, .metadata = m, .prepared = prepared}};
    device_dispatch *p = &kept.command.dispatch;
    kept.launch.sizes = keep(graph, p->buffer_bytes, p->buffer_count, sizeof *p->buffer_bytes);
    kept.launch.memories = keep(graph, p->memories, p->buffer_count, sizeof *p->memories);
    p->buffers = keep(graph, p->buffers, p->buffer_count, sizeof *p->buffers);
    p->memories = kept.launch.memories;
    p->buffer_bytes = kept.launch.sizes;
    p->dims = keep(graph, p->dims, p->dim_count, sizeof *p->dims);
    p->workgroups = keep(graph, p->workgroups, p->image->phase_count, sizeof *p->workgroups);
    vec_push(&graph->kept, kept);
    pthread_mutex_lock(&graph->context->mutex);
    module->graphs++;
    if (prepared)
        prepared->graphs++;
    pthread_mutex_unlock(&graph->context->mutex);
}

void graph_add_launch(tsr_graph_t graph, const kernel_launch *request) {
    const device_command command = launch_command(request, graph->context);
    graph_add_dispatch(graph, &command, request->kernel->module, request->kernel->metadata,
                       request->prepared);
}

void graph_add_memory(tsr_graph_t graph, device_memory *memory) {
    vec_push(&graph->own, memory);
}

void graph_add_range(tsr_graph_t graph, const device_command *command) {
    const device_span *ends[] = {&command->range.to,
                                 command->kind == DEVICE_COPY ? &command->range.from : NULL};
    kept_command kept = {.command = *command, .of_device = true};
    for (int i = 0; i < 2; i++)
        if (ends[i] && (!ends[i]->memory || ends[i]->memory->kind != DEVICE_MEMORY_DEVICE))
            kept.of_device = false;
    vec_push(&graph->kept, kept);
}

static void free_sequences(tsr_graph_t graph) {
    device *d = graph->context->device;
    for (size_t i = 0; i < graph->kept.count; i++)
        if (graph->kept.items[i].sequence)
            d->driver->sequence_destroy(d, graph->kept.items[i].sequence);
    if (graph->used)
        d->driver->event_destroy(d, graph->used);
}

void graph_free(tsr_graph_t graph) {
    free_sequences(graph);
    for (size_t i = 0; i < graph->own.count; i++)
        graph->context->device->driver->free(graph->context->device, graph->own.items[i]);
    vec_release(&graph->own);
    pthread_mutex_lock(&graph->context->mutex);
    for (size_t i = 0; i < graph->kept.count; i++) {
        const kept_launch *kept = &graph->kept.items[i].launch;
        if (kept->module)
            kept->module->graphs--;
        if (kept->prepared)
            kept->prepared->graphs--;
    }
    pthread_mutex_unlock(&graph->context->mutex);
    vec_release(&graph->kept);
    free(graph->commands);
    arena_release(&graph->memory);
    free(graph);
}

tsr_status_t tsrBeginCapture(tsr_stream_t stream) {
    if (!stream)
        return error_set(TSR_EINVAL, "the default stream captures nothing; create one");
    tsr_status_t usable = stream_usable(stream->context, stream);
    if (usable != TSR_SUCCESS)
        return usable;
    tsr_graph_t graph = base_calloc(1, sizeof *graph);
    graph->context = stream->context;
    arena_init(&graph->memory);
    stream->captured = graph;
    return TSR_SUCCESS;
}

static bool make_sequences(tsr_graph_t graph, status *st) {
    device *d = graph->context->device;
    if (!d->driver->sequence_create || graph->context->debug)
        return graph->own.count == 0 || d->driver->event_create(d, &graph->used, st);
    for (size_t i = 0; i < graph->kept.count; i++) {
        kept_command *first = &graph->kept.items[i];
        while (i + first->length < graph->kept.count && first[first->length].of_device)
            first->length++;
        if (first->length == 0)
            continue;
        first->sequence = d->driver->sequence_create(d);
        i += first->length - 1;
    }
    return d->driver->event_create(d, &graph->used, st);
}

tsr_status_t tsrEndCapture(tsr_stream_t stream, tsr_graph_t *graph) {
    if (!stream || !graph)
        return error_null(stream ? "graph" : "stream");
    tsr_status_t usable = context_usable(stream->context);
    if (usable != TSR_SUCCESS)
        return usable;
    if (!stream->captured)
        return error_set(TSR_EINVAL, "the stream captures nothing");
    tsr_graph_t g = stream->captured;
    status st = STATUS_INIT;
    stream->captured = NULL;
    if (!make_sequences(g, &st)) {
        graph_free(g);
        return error_from(&st);
    }
    g->commands = base_calloc(3 * g->kept.count + 2, sizeof *g->commands);
    context_add(g->context, &g->context->graphs, &g->link);
    *graph = g;
    return TSR_SUCCESS;
}

/* ---- launching ---- */

static bool is_own(const struct tsr_graph *graph, const device_memory *memory) {
    for (size_t i = 0; i < graph->own.count; i++)
        if (graph->own.items[i] == memory)
            return true;
    return false;
}

static tsr_status_t find_span(tsr_graph_t graph, device_span *span, size_t size_bytes) {
    tsr_context_t context = graph->context;
    bool ours = span->memory != NULL;
    if (ours && is_own(graph, span->memory))
        return TSR_SUCCESS;
    tsr_status_t result = memory_span(context, span->address, size_bytes, "its allocation", span);
    if (result == TSR_SUCCESS && ours && !span->memory)
        return error_set(TSR_EINVAL, "the graph uses memory at %p that was freed", span->address);
    return result;
}

static tsr_status_t find_buffers(tsr_graph_t graph, const kept_command *kept) {
    const device_dispatch *p = &kept->command.dispatch;
    tsr_status_t result = TSR_SUCCESS;
    for (uint32_t i = 0; i < p->buffer_count && result == TSR_SUCCESS; i++) {
        device_span span = {p->buffers[i], kept->launch.memories[i]};
        result = find_span(graph, &span, (size_t)kept->launch.sizes[i]);
        kept->launch.memories[i] = span.memory;
    }
    return result;
}

/* The allocations that the command names: others may lie at their addresses by now. */
static tsr_status_t find_memory(tsr_graph_t graph, kept_command *kept) {
    device_command *c = &kept->command;
    if (c->kind == DEVICE_DISPATCH)
        return find_buffers(graph, kept);
    tsr_status_t result = find_span(graph, &c->range.to, c->range.size_bytes);
    return result == TSR_SUCCESS && c->kind == DEVICE_COPY
               ? find_span(graph, &c->range.from, c->range.size_bytes)
               : result;
}

static void add(tsr_graph_t graph, size_t *count, device_command command) {
    graph->commands[(*count)++] = command;
}

/* Modules and graphs are told when what uses them has ended. */
static void add_record(tsr_graph_t graph, size_t *count, device_event *event) {
    const device_command *last = *count ? &graph->commands[*count - 1] : NULL;
    if (event && !(last && last->kind == DEVICE_RECORD && last->event == event))
        add(graph, count,
            (device_command){
                .kind = DEVICE_RECORD, .event = event, .untimed = true, .awaitable = true});
}

/* One command, or with `replay` a whole sequence. */
static void add_kept(tsr_graph_t graph, size_t first, size_t length, bool replay, size_t *count) {
    const kept_command *kept = &graph->kept.items[first];
    if (replay)
        add(graph, count,
            (device_command){.kind = DEVICE_REPLAY, .replay = {kept->sequence, length}});
    for (size_t i = 0; i < length; i++)
        add(graph, count, kept[i].command);
    for (size_t i = 0; i < length; i++)
        if (kept[i].launch.module)
            add_record(graph, count, kept[i].launch.module->used);
}

static void add_all(tsr_graph_t graph, size_t *count) {
    tsr_context_t context = graph->context;
    const bool each = atomic_load(&context->watchdog_ns) || atomic_load(&context->telemetry.on);
    for (size_t i = 0; i < graph->kept.count;) {
        bool replay = graph->kept.items[i].sequence && !each;
        size_t length = replay ? graph->kept.items[i].length : 1;
        add_kept(graph, i, length, replay, count);
        i += length;
    }
    add_record(graph, count, graph->used);
}

static tsr_status_t prepare(tsr_graph_t graph, size_t *count) {
    tsr_context_t context = graph->context;
    tsr_status_t result = TSR_SUCCESS;
    *count = 0;
    if (graph->used) /* a launch in another stream shares recordings and memory */
        add(graph, count, (device_command){.kind = DEVICE_WAIT, .event = graph->used});
    for (size_t i = 0; i < graph->kept.count && result == TSR_SUCCESS; i++) {
        kept_command *kept = &graph->kept.items[i];
        result = find_memory(graph, kept);
        kept->command.limit_ns = atomic_load(&context->watchdog_ns);
        if (kept->launch.module)
            kept->command.dispatch.timed = atomic_load(&context->telemetry.on);
    }
    if (result == TSR_SUCCESS)
        add_all(graph, count);
    return result;
}

/* As with launches: on a created stream who synchronises is told. */
static tsr_status_t check_own(tsr_graph_t graph, tsr_stream_t stream) {
    device *d = graph->context->device;
    status st = STATUS_INIT;
    bool ok = true;
    for (size_t i = 0; i < graph->own.count; i++)
        ok = d->driver->intact(d, graph->own.items[i], &st) && ok;
    if (ok)
        return TSR_SUCCESS;
    status_context(&st, "a kernel broke the bounds of the arena of a program in the graph");
    if (stream == &graph->context->default_stream)
        return error_from(&st);
    stream_fail(stream, &st);
    return TSR_SUCCESS;
}

static tsr_status_t launch_each_debugged(tsr_graph_t graph, tsr_stream_t stream) {
    tsr_status_t result = TSR_SUCCESS;
    for (size_t i = 0; i < graph->kept.count && result == TSR_SUCCESS; i++) {
        const kept_command *kept = &graph->kept.items[i];
        if (kept->launch.prepared)
            result = prepared_check_contents(kept->launch.prepared);
        if (result != TSR_SUCCESS)
            return result;
        result = kept->launch.module
                     ? launch_debugged(stream, &kept->command, kept->launch.metadata)
                     : stream_submit(stream, &kept->command, 1);
    }
    const device_command ended = {
        .kind = DEVICE_RECORD, .event = graph->used, .untimed = true, .awaitable = true};
    if (graph->used && result == TSR_SUCCESS)
        result = stream_submit(stream, &ended, 1);
    return result == TSR_SUCCESS ? check_own(graph, stream) : result;
}

tsr_status_t tsrLaunchGraph(tsr_graph_t graph, tsr_stream_t stream) {
    size_t count;
    if (!graph)
        return error_null("graph");
    tsr_context_t context = graph->context;
    tsr_status_t result = stream_usable(context, stream);
    if (result != TSR_SUCCESS)
        return result;
    pthread_mutex_lock(&context->mutex);
    result = prepare(graph, &count);
    pthread_mutex_unlock(&context->mutex);
    if (result != TSR_SUCCESS)
        return result;
    stream = stream_or_default(context, stream);
    const profile_call call = profile_begin(context->profile, "host", "graph");
    result = context->debug ? launch_each_debugged(graph, stream)
                            : stream_submit(stream, graph->commands, count);
    profile_end(&call, 0);
    return result;
}

static tsr_status_t await_launches(tsr_graph_t graph) {
    device *d = graph->context->device;
    status st = STATUS_INIT;
    device_event_state state;
    uint64_t time_ns;
    return !graph->used || d->driver->event_query(d, graph->used, true, &state, &time_ns, &st)
               ? TSR_SUCCESS
               : error_from(&st);
}

tsr_status_t tsrDestroyGraph(tsr_graph_t graph) {
    if (!graph)
        return error_null("graph");
    tsr_status_t usable = context_usable(graph->context);
    if (usable == TSR_SUCCESS)
        usable = await_launches(graph);
    if (usable != TSR_SUCCESS)
        return usable;
    context_remove(graph->context, &graph->context->graphs, &graph->link);
    graph_free(graph);
    return TSR_SUCCESS;
}
