/* opencl.c - see opencl.h: devices, memory, queues. */
#include "device/opencl/opencl_parts.h"
#include "device/shared/spirv_probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

extern const device_driver opencl_driver;

static opencl_device *of(gpu_device *g) {
    return (opencl_device *)g;
}

static bool enumerate(uint32_t index, device_info *info_out) {
    const opencl_unit *u = opencl_unit_at(index);
    if (u)
        *info_out = u->info;
    return u != NULL;
}

/* ---- memory ---- */

static bool alloc(gpu_device *g, size_t size_bytes, device_memory_kind kind, gpu_block *block_out,
                  status *st) {
    enum { LINE = 64 };
    const opencl_unit *u = of(g)->unit;
    const bool mapped = u->info.mappable_kinds >> kind & 1;
    if (size_bytes > u->allocation_bytes)
        return status_set(st, STATUS_OUT_OF_MEMORY,
                          "%zu bytes are more than device '%s' gives at once (%llu)", size_bytes,
                          u->name, (unsigned long long)u->allocation_bytes);
    void *memory = opencl.clSVMAlloc(
        of(g)->context,
        CL_MEM_READ_WRITE | (mapped ? CL_MEM_SVM_FINE_GRAIN_BUFFER : (cl_svm_mem_flags)0),
        size_bytes, LINE);
    if (!memory)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for %zu bytes on device '%s'",
                          size_bytes, u->name);
    *block_out = (gpu_block){.address = (uint64_t)(uintptr_t)memory,
                             .host = mapped ? memory : NULL,
                             .size_bytes = size_bytes};
    return true;
}

static void free_block(gpu_device *g, gpu_block *block) {
    opencl.clSVMFree(of(g)->context, (void *)(uintptr_t)block->address);
}

static void *pointer_of(gpu_place place) {
    return place.block ? (void *)(uintptr_t)(place.block->address + place.offset) : place.host;
}

/* ---- queues ---- */

static bool queue_open(gpu_device *g, gpu_queue *q, status *st) {
    const cl_queue_properties wanted[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_int code;
    opencl_queue *o = base_calloc(1, sizeof *o);
    o->queue =
        opencl.clCreateCommandQueueWithProperties(of(g)->context, of(g)->unit->id, wanted, &code);
    q->handle = o->queue ? o : NULL;
    if (o->queue)
        return true;
    free(o);
    return opencl_failed(st, code, "a queue of the device");
}

static void queue_close(gpu_device *g, gpu_queue *q) {
    (void)g;
    opencl_queue *o = q->handle;
    opencl_given(q);
    opencl.clReleaseCommandQueue(o->queue);
    vec_release(&o->launched);
    free(o);
}

static bool lose(gpu_queue *q, cl_int code, const char *what, status *st) {
    status why = STATUS_INIT;
    opencl_failed(&why, code, what);
    return gpu_lose((gpu_device *)q->base.device, why.message, st);
}

static bool ended_well(gpu_queue *q, cl_event event, status *st) {
    cl_int state = CL_COMPLETE;
    cl_int code =
        opencl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    code = code == CL_SUCCESS && state < 0 ? state : code;
    return code == CL_SUCCESS || lose(q, code, "a kernel ended badly", st);
}

bool opencl_time_of(cl_event event, cl_profiling_info what, uint64_t *ns_out) {
    cl_ulong ns;
    bool ok = opencl.clGetEventProfilingInfo(event, what, sizeof ns, &ns, NULL) == CL_SUCCESS;
    *ns_out = ok ? ns : 0;
    return ok;
}

static uint64_t duration_of(cl_event event) {
    uint64_t from, to;
    return opencl_time_of(event, CL_PROFILING_COMMAND_START, &from) &&
                   opencl_time_of(event, CL_PROFILING_COMMAND_END, &to) && to > from
               ? to - from
               : 0;
}

bool opencl_finish(gpu_queue *q, status *st) {
    opencl_queue *o = q->handle;
    cl_int code = opencl.clFinish(o->queue);
    bool ok = code == CL_SUCCESS || lose(q, code, "waiting for it", st);
    for (size_t i = 0; i < o->launched.count; i++) {
        const opencl_launched *l = &o->launched.items[i];
        ok = ok && ended_well(q, l->event, st);
        if (ok && l->ns_out)
            *l->ns_out = duration_of(l->event);
        opencl.clReleaseEvent(l->event);
    }
    o->launched.count = 0;
    opencl_given(q);
    return ok;
}

static bool copy(gpu_queue *q, gpu_place to, gpu_place from, size_t size_bytes, status *st) {
    const opencl_queue *o = q->handle;
    opencl_given(q);
    cl_int code = opencl.clEnqueueSVMMemcpy(o->queue, CL_FALSE, pointer_of(to), pointer_of(from),
                                            size_bytes, 0, NULL, NULL);
    return code == CL_SUCCESS || opencl_failed(st, code, "a copy");
}

static bool fill(gpu_queue *q, gpu_place to, unsigned char byte, size_t size_bytes, status *st) {
    const opencl_queue *o = q->handle;
    opencl_given(q);
    cl_int code =
        opencl.clEnqueueSVMMemFill(o->queue, pointer_of(to), &byte, 1, size_bytes, 0, NULL, NULL);
    return code == CL_SUCCESS || opencl_failed(st, code, "a fill");
}

/* ---- devices ---- */

static const gpu_functions functions = {.alloc = alloc,
                                        .free = free_block,
                                        .queue_open = queue_open,
                                        .queue_close = queue_close,
                                        .copy = copy,
                                        .fill = fill,
                                        .launch = opencl_launch,
                                        .finish = opencl_finish,
                                        .settled = opencl_settled,
                                        .mark = opencl_mark,
                                        .reached = opencl_reached,
                                        .follow = opencl_follow,
                                        .unmark = opencl_unmark};

static void release(opencl_device *d) {
    if (d->nowhere.size_bytes)
        free_block(&d->gpu, &d->nowhere);
    opencl_end_base(d);
    gpu_device_release(&d->gpu);
    opencl.clReleaseContext(d->context);
    free(d);
}

static void close_device(device *base) {
    release((opencl_device *)base);
}

static bool make_context(opencl_device *d, status *st) {
    const cl_context_properties of_platform[] = {CL_CONTEXT_PLATFORM,
                                                 (cl_context_properties)d->unit->platform, 0};
    cl_int code;
    d->context = opencl.clCreateContext(of_platform, 1, &d->unit->id, NULL, NULL, &code);
    return d->context || opencl_failed(st, code, "a context of the device");
}

static bool open_device(uint32_t index, const device_options *options, device **device_out,
                        status *st) {
    enum { LINE = 64 };
    opencl_device *d = base_calloc(1, sizeof *d);
    d->unit = opencl_unit_at(index);
    d->gpu.soft.base.info = d->unit->info;
    d->gpu.soft.base.own_addresses = true; /* shared virtual memory is the host's, too */
    if (!make_context(d, st)) {
        free(d);
        return false;
    }
    if (!gpu_device_init(&d->gpu, &opencl_driver, &functions, options, st)) {
        opencl.clReleaseContext(d->context);
        free(d);
        return false;
    }
    if (!alloc(&d->gpu, LINE, DEVICE_MEMORY_DEVICE, &d->nowhere, st) ||
        !spirv_probe(&d->unit->spirv, &d->gpu, SPIRV_PROBE_F32, st)) {
        release(d);
        return false;
    }
    *device_out = &d->gpu.soft.base;
    return true;
}

const device_driver opencl_driver = {.name = "opencl",
                                     .listed = true,
                                     .enumerate = enumerate,
                                     .open = open_device,
                                     .close = close_device,
                                     .load = opencl_load,
                                     .unload = opencl_unload,
                                     GPU_DRIVER_FUNCTIONS};
