/* cuda_queue.c - streams: copies, fills and launches that follow each other, and waiting for them.
 *
 * Waiting is asking again and again, since whoever waits in the driver cannot be told that the
 * device was lost. A copy between the host and memory of the device may be under way when its
 * waiting ends so; nothing may be freed then (cuda_queue_idle). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "device/cuda/cuda.h"

enum { ARGUMENTS_MOST = 1024 };

static cuda_device *device_of(const gpu_queue *q) {
    return (cuda_device *)q->base.device;
}

static cuda_stream *stream_of(const gpu_queue *q) {
    return q->handle;
}

bool cuda_queue_open(gpu_device *g, gpu_queue *q, status *st) {
    cuda_device *c = (cuda_device *)g;
    cuda_scope scope;
    cuda_stream *s = base_calloc(1, sizeof *s);
    bool ok = cuda_enter(c, &scope, st);
    if (ok) {
        ok = cuda_check(c, c->call->stream_create(&s->stream, CUDA_STREAM_NON_BLOCKING),
                        "making a stream", st);
        cuda_leave(c, &scope);
    }
    q->handle = ok ? s : NULL;
    if (!ok)
        free(s);
    return ok;
}

void cuda_queue_close(gpu_device *g, gpu_queue *q) {
    cuda_device *c = (cuda_device *)g;
    cuda_stream *s = q->handle;
    cuda_scope scope;
    if (cuda_enter(c, &scope, NULL)) {
        for (int i = 0; i < CUDA_EVENTS; i++)
            if (s->events[i])
                c->call->event_destroy(s->events[i]);
        c->call->stream_destroy(s->stream);
        cuda_leave(c, &scope);
    }
    free(s->arguments);
    free(s);
}

/* ---- waiting ---- */

bool cuda_queue_idle(gpu_queue *q) {
    cuda_device *c = device_of(q);
    cuda_scope scope;
    if (!cuda_enter(c, &scope, NULL))
        return true; /* nothing can be asked of it, and nothing of its runs */
    int result = c->call->stream_query(stream_of(q)->stream);
    cuda_leave(c, &scope);
    return result != CUDA_NOT_READY;
}

static bool await_stream(cuda_device *c, void *stream, const char *doing, status *st) {
    uint64_t start = clock_now_ns();
    for (;;) {
        int result = c->call->stream_query(stream);
        if (result != CUDA_NOT_READY)
            return cuda_check(c, result, doing, st);
        if (!gpu_may_wait(&c->gpu, st))
            return false;
        gpu_pause_after(clock_now_ns() - start);
    }
}

bool cuda_await_default(cuda_device *c, status *st) {
    cuda_scope scope;
    if (!gpu_may_wait(&c->gpu, st) || !cuda_enter(c, &scope, st))
        return false;
    bool ok = await_stream(c, NULL, "what others gave its default stream", st);
    cuda_leave(c, &scope);
    return ok;
}

/* Enters the device, unless it is lost, to give the queue something new. */
static bool begin(gpu_queue *q, cuda_scope *scope, status *st) {
    return gpu_may_wait(&device_of(q)->gpu, st) && cuda_enter(device_of(q), scope, st);
}

bool cuda_finish(gpu_queue *q, status *st) {
    cuda_scope scope;
    if (!begin(q, &scope, st))
        return false;
    bool ok = await_stream(device_of(q), stream_of(q)->stream, "running", st);
    cuda_leave(device_of(q), &scope);
    return ok;
}

/* ---- copies ---- */

/* Returns the host's pointer to its own memory, the program's or pinned; else NULL. */
static unsigned char *host_of(gpu_place p) {
    if (!p.block)
        return p.host;
    bool is_pinned = p.block->number == DEVICE_MEMORY_PINNED;
    return is_pinned ? p.block->host + p.offset : NULL;
}

static uint64_t address_of(gpu_place p) {
    return p.block->address + p.offset;
}

static int start_copy(const gpu_queue *q, gpu_place to, gpu_place from, size_t bytes) {
    const cuda_functions *call = device_of(q)->call;
    void *stream = stream_of(q)->stream;
    if (host_of(from))
        return call->copy_in(address_of(to), host_of(from), bytes, stream);
    if (host_of(to))
        return call->copy_out(host_of(to), address_of(from), bytes, stream);
    return call->copy_within(address_of(to), address_of(from), bytes, stream);
}

bool cuda_copy(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st) {
    cuda_scope scope;
    if (!begin(q, &scope, st))
        return false;
    bool ok = cuda_check(device_of(q), start_copy(q, to, from, size_bytes), "copying", st);
    cuda_leave(device_of(q), &scope);
    return ok;
}

bool cuda_fill(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes, status *st) {
    cuda_device *c = device_of(q);
    cuda_scope scope;
    if (!begin(q, &scope, st))
        return false;
    bool ok = cuda_check(c, c->call->fill(address_of(to), byte, size_bytes, stream_of(q)->stream),
                         "filling", st);
    cuda_leave(c, &scope);
    return ok;
}

/* ---- launches ---- */

/* Our HSACO has its shared memory in the code. */
static bool provide_shared(cuda_device *c, const cuda_phase *phase, size_t bytes, status *st) {
    if (c->library->is_hip || bytes <= CUDA_SHARED_BY_DEFAULT)
        return true;
    int result =
        c->call->function_set_attribute(phase->function, CUDA_FUNCTION_DYNAMIC_SHARED, (int)bytes);
    return result == CUDA_OK ||
           status_set(st, STATUS_OUT_OF_MEMORY,
                      "device '%s' does not give %zu bytes of shared memory to a workgroup, of the "
                      "%llu that it says it has (%d)",
                      c->unit->name, bytes,
                      (unsigned long long)c->unit->info.workgroup_memory_bytes, result);
}

/* HIP counts the threads of a launch in 32 bits. */
static bool fits(const cuda_device *c, const cuda_phase *phase, int64_t workgroups, status *st) {
    int64_t most = c->unit->workgroups_most;
    if (c->library->is_hip && most > UINT32_MAX / phase->threads)
        most = UINT32_MAX / phase->threads;
    return workgroups <= most ||
           status_set(st, STATUS_UNAVAILABLE,
                      "a phase of %lld workgroups; device '%s' takes %lld of %u threads",
                      (long long)workgroups, c->unit->name, (long long)most, phase->threads);
}

static bool record(gpu_queue *q, uint32_t i, status *st) {
    cuda_device *c = device_of(q);
    cuda_stream *s = stream_of(q);
    static const char doing[] = "recording an event";
    return (s->events[i] || cuda_check(c, c->call->event_create(&s->events[i], 0), doing, st)) &&
           cuda_check(c, c->call->event_record(s->events[i], s->stream), doing, st);
}

/* Checks that the libraries take the extents beyond the first. */
static bool extents_fit(const cuda_device *c, const device_call *call, status *st) {
    const uint64_t most = c->library->is_hip ? UINT32_MAX : CUDA_EXTENTS_MOST;
    for (int i = 1; i < 3; i++) {
        uint64_t extent = (uint64_t)call->grid[i] * (c->library->is_hip ? call->block[i] : 1);
        if (extent > most)
            return status_set(st, STATUS_UNAVAILABLE,
                              "a grid of %u x %u x %u workgroups; device '%s' takes %llu in extent "
                              "%d",
                              call->grid[0], call->grid[1], call->grid[2], c->unit->name,
                              (unsigned long long)most, i);
    }
    return true;
}

static uint64_t nothing[512]; /* as many bytes as a library takes of all parameters */

/* A library reads as many as the code has parameters, whatever the call says. */
static void **arguments_of(cuda_stream *s) {
    if (s->arguments)
        return s->arguments;
    s->arguments = base_malloc(CUDA_PARAMETERS_MOST * sizeof *s->arguments);
    for (uint32_t i = 0; i < CUDA_PARAMETERS_MOST; i++)
        s->arguments[i] = nothing;
    return s->arguments;
}

static int launch_call(gpu_queue *q, const gpu_launch *l, const cuda_phase *phase) {
    const device_call *call = phase->call;
    void **arguments = arguments_of(stream_of(q));
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const device_argument *a = &call->arguments[i];
        arguments[i] =
            (void *)(uintptr_t)(a->buffer < 0 ? &a->bits : &l->addresses[(uint32_t)a->buffer]);
    }
    int result = device_of(q)->call->launch(phase->function, call->grid[0], call->grid[1],
                                            call->grid[2], call->block[0], call->block[1],
                                            call->block[2], (unsigned)l->workgroup_bytes,
                                            stream_of(q)->stream, arguments, NULL);
    for (uint32_t i = 0; i < call->argument_count; i++)
        arguments[i] = nothing;
    return result;
}

/* Code of others, as it wants to be called. */
static bool start_call(gpu_queue *q, const gpu_launch *l, const cuda_phase *phase, status *st) {
    cuda_device *c = device_of(q);
    const device_call *call = phase->call;
    if (call->grid[0] == 0 || call->grid[1] == 0 || call->grid[2] == 0)
        return true;
    return fits(c, phase, call->grid[0], st) && extents_fit(c, call, st) &&
           provide_shared(c, phase, l->workgroup_bytes, st) &&
           cuda_check(c, launch_call(q, l, phase), "launching", st);
}

typedef struct cuda_maps {
    _Alignas(CUDA_MAP_ALIGNMENT) unsigned char bytes[DEVICE_MAPS_MAX][CUDA_MAP_BYTES];
} cuda_maps;

/* Elements are copied as they are: their size is all that the driver has to know. */
static int element_of(uint32_t bytes) {
    enum { UINT8, UINT16, UINT32, UINT64 = 4 };
    return bytes == 1 ? UINT8 : bytes == 2 ? UINT16 : bytes == 4 ? UINT32 : UINT64;
}

static int swizzle_of(uint32_t bytes) {
    return bytes == 32 ? 1 : bytes == 64 ? 2 : bytes == 128 ? 3 : 0;
}

/* Maps of the launch's buffers, as arguments behind the others. A launch and a graph keep what
 * arguments are when they are given. */
static bool make_maps(gpu_queue *q, const gpu_launch *l, const device_maps *maps, cuda_maps *made,
                      void **arguments, status *st) {
    static const uint32_t ones[DEVICE_MAP_RANK_MAX] = {1, 1, 1, 1, 1};
    cuda_device *c = device_of(q);
    for (uint32_t i = 0; maps && i < maps->count; i++) {
        const device_map *m = &maps->list[i];
        int result = c->call->map_tensor(made->bytes[i], element_of(m->element_bytes), m->rank,
                                         l->addresses[m->buffer], m->dims, m->strides + 1, m->box,
                                         ones, 0, swizzle_of(m->swizzle), CUDA_MAP_PROMOTION, 0);
        if (!cuda_check(c, result, "making a map of a tensor", st))
            return false;
        arguments[l->address_count + i] = made->bytes[i];
    }
    return true;
}

static bool start_phase(gpu_queue *q, const gpu_launch *l, uint32_t i, void **arguments,
                        status *st) {
    cuda_device *c = device_of(q);
    const cuda_phase *phase = &((const cuda_image *)l->image)->phases[i];
    cuda_maps maps;
    if (phase->call)
        return start_call(q, l, phase, st);
    unsigned shared = c->library->is_hip ? 0 : (unsigned)l->workgroup_bytes;
    return fits(c, phase, l->workgroups[i], st) &&
           provide_shared(c, phase, l->workgroup_bytes, st) &&
           make_maps(q, l, phase->maps, &maps, arguments, st) &&
           cuda_check(c,
                      c->call->launch(phase->function, (unsigned)l->workgroups[i], 1, 1,
                                      phase->threads, 1, 1, shared, stream_of(q)->stream, arguments,
                                      NULL),
                      "launching", st);
}

static bool start_phases(gpu_queue *q, const gpu_launch *l, status *st) {
    void *arguments[ARGUMENTS_MOST + DEVICE_MAPS_MAX];
    bool ok = !l->phase_ns || record(q, 0, st);
    for (uint32_t i = 0; i < l->address_count; i++)
        arguments[i] = (void *)(uintptr_t)&l->addresses[i];
    for (uint32_t i = 0; i < l->image->phase_count && ok; i++) {
        if (l->workgroups[i])
            ok = start_phase(q, l, i, arguments, st);
        ok = ok && (!l->phase_ns || record(q, i + 1, st));
    }
    return ok;
}

static bool read_times(gpu_queue *q, const gpu_launch *l, status *st) {
    cuda_device *c = device_of(q);
    void *const *events = stream_of(q)->events;
    bool ok = true;
    for (uint32_t i = 0; i < l->image->phase_count && ok; i++) {
        float ms = 0;
        ok = cuda_check(c, c->call->event_elapsed(&ms, events[i], events[i + 1]),
                        "reading the time of a phase", st);
        l->phase_ns[i] = l->workgroups[i] && ms > 0 ? (uint64_t)((double)ms * 1e6 + 0.5) : 0;
    }
    return ok;
}

bool cuda_launch(gpu_queue *q, const gpu_launch *l, status *st) {
    cuda_scope scope;
    if (l->address_count > ARGUMENTS_MOST)
        return status_set(st, STATUS_INVALID, "%u arguments are too many", l->address_count);
    if (!begin(q, &scope, st))
        return false;
    bool ok = start_phases(q, l, st);
    if (l->phase_ns)
        ok = await_stream(device_of(q), stream_of(q)->stream, "running", ok ? st : NULL) && ok &&
             read_times(q, l, st);
    cuda_leave(device_of(q), &scope);
    return ok;
}

/* ---- recordings: graphs that a stream captured ---- */

static bool has_graphs(const cuda_functions *call) {
    return call->capture_begin && call->capture_end && call->graph_instantiate &&
           call->graph_launch && call->graph_unmake && call->graph_destroy;
}

bool cuda_record_begin(gpu_queue *q, status *st) {
    cuda_device *c = device_of(q);
    cuda_scope scope;
    if (!has_graphs(c->call))
        return status_set(st, STATUS_UNAVAILABLE, "the driver is too old for graphs");
    if (!begin(q, &scope, st))
        return false;
    int result = c->call->capture_begin(stream_of(q)->stream, CUDA_CAPTURE_RELAXED);
    bool ok = cuda_check(c, result, "beginning a graph", st);
    cuda_leave(c, &scope);
    return ok;
}

bool cuda_record_end(gpu_queue *q, bool keep, void **recording_out, status *st) {
    cuda_device *c = device_of(q);
    cuda_scope scope;
    void *graph = NULL;
    *recording_out = NULL;
    if (!cuda_enter(c, &scope, st))
        return false;
    int result = c->call->capture_end(stream_of(q)->stream, &graph);
    bool ok =
        cuda_check(c, result, "ending a graph", st) && keep &&
        cuda_check(c, c->call->graph_instantiate(recording_out, graph, 0), "making a graph", st);
    if (graph)
        c->call->graph_destroy(graph);
    cuda_leave(c, &scope);
    return ok;
}

bool cuda_replay(gpu_queue *q, void *recording, status *st) {
    cuda_device *c = device_of(q);
    cuda_scope scope;
    if (!begin(q, &scope, st))
        return false;
    bool ok = cuda_check(c, c->call->graph_launch(recording, stream_of(q)->stream),
                         "launching a graph", st);
    cuda_leave(c, &scope);
    return ok;
}

void cuda_forget(gpu_device *g, void *recording) {
    cuda_device *c = (cuda_device *)g;
    cuda_scope scope;
    if (!cuda_enter(c, &scope, NULL))
        return;
    c->call->graph_unmake(recording);
    cuda_leave(c, &scope);
}
