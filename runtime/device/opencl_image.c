/* opencl_image.c - images of SPIR-V, and launches of their phases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/opencl_parts.h"
#include "device/spirv_image.h"

typedef struct opencl_phase {
    cl_kernel kernel;
    cl_uint arguments;
    uint64_t threads; /* of a workgroup */
} opencl_phase;

typedef struct opencl_image {
    device_image base;
    cl_program program;
    pthread_mutex_t mutex; /* arguments are the kernel's until it is launched */
    opencl_phase phases[];
} opencl_image;

/* ---- limits ---- */

static bool is_sound(opencl_device *d, spirv_probe_kind kind, status *st) {
    return spirv_probe(&d->unit->probes, &d->gpu, opencl_load_code, kind, st);
}

static bool has_what_it_needs(opencl_device *d, const spirv_image *code, const char *label,
                              status *st) {
    const opencl_unit *u = d->unit;
    if (code->workgroup_bytes > u->workgroup_bytes)
        return status_set(st, STATUS_UNAVAILABLE,
                          "'%s' needs %llu bytes of workgroup memory; device '%s' has %llu", label,
                          (unsigned long long)code->workgroup_bytes, u->name,
                          (unsigned long long)u->workgroup_bytes);
    if (code->has_barriers && u->barriers_are_wrong)
        return status_set(st, STATUS_UNAVAILABLE,
                          "'%s' has barriers, of which PoCL up to 3.1 makes wrong code", label);
    if ((code->needs_f64 && !is_sound(d, SPIRV_PROBE_F64, st)) ||
        (code->needs_f16 && !is_sound(d, SPIRV_PROBE_F16, st)))
        return status_set(st, st->code, "'%s' needs them", label);
    return true;
}

static bool fits(const opencl_device *d, const char *symbol, uint64_t threads, uint64_t most,
                 status *st) {
    return threads <= most ||
           status_set(st, STATUS_UNAVAILABLE,
                      "workgroups of '%s' have %llu threads; on device '%s' they have at most %llu",
                      symbol, (unsigned long long)threads, d->unit->name, (unsigned long long)most);
}

/* ---- programs ---- */

static void log_of(const opencl_device *d, cl_program program, char *out, size_t room) {
    size_t size = 0;
    if (opencl.clGetProgramBuildInfo(program, d->unit->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
        CL_SUCCESS)
        size = 0;
    char *whole = base_calloc(size + 1, 1);
    if (size)
        opencl.clGetProgramBuildInfo(program, d->unit->id, CL_PROGRAM_BUILD_LOG, size, whole, NULL);
    const char *first = whole + strspn(whole, " \t\r\n");
    snprintf(out, room, "%.*s", (int)strcspn(first, "\r\n"), first);
    free(whole);
}

static cl_program of_bitcode(opencl_device *d, const device_source *source, cl_int *code,
                             status *st) {
    text bitcode;
    cl_program made = NULL;
    text_init(&bitcode);
    if (opencl_translate(d->unit->translator, source->bytes, source->size_bytes, &bitcode, st)) {
        const unsigned char *bytes = (const unsigned char *)bitcode.data;
        made = opencl.clCreateProgramWithBinary(d->context, 1, &d->unit->id, &bitcode.length,
                                                &bytes, NULL, code);
    }
    text_release(&bitcode);
    return made;
}

static cl_program create(opencl_device *d, const device_source *source, status *st) {
    cl_int code = CL_SUCCESS;
    cl_program made =
        d->unit->way == OPENCL_WAY_SPIRV
            ? opencl.clCreateProgramWithIL(d->context, source->bytes, source->size_bytes, &code)
            : of_bitcode(d, source, &code, st);
    if (!made && code != CL_SUCCESS)
        opencl_failed(st, code, "the driver does not take the code");
    return made;
}

static bool build(opencl_device *d, cl_program program, status *st) {
    char options[128], log[400];
    snprintf(options, sizeof options, "%s%s",
             d->unit->way == OPENCL_WAY_BITCODE ? "-x spir -spir-std=1.2" : "",
             d->unit->divides_when_asked ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    cl_int code = opencl.clBuildProgram(program, 1, &d->unit->id, options, NULL, NULL);
    if (code == CL_SUCCESS)
        return true;
    log_of(d, program, log, sizeof log);
    opencl_failed(st, code, "the driver makes no code for the device");
    return !*log ? false : status_set(st, st->code, "it says '%s'", log);
}

/* ---- loading ---- */

static bool make_phase(const opencl_device *d, opencl_image *image, const char *symbol,
                       opencl_phase *phase, status *st) {
    size_t most = 0;
    cl_int code;
    phase->kernel = opencl.clCreateKernel(image->program, symbol, &code);
    if (!phase->kernel)
        return opencl_failed(st, code, symbol);
    code = opencl.clGetKernelInfo(phase->kernel, CL_KERNEL_NUM_ARGS, sizeof phase->arguments,
                                  &phase->arguments, NULL);
    if (code == CL_SUCCESS)
        code = opencl.clGetKernelWorkGroupInfo(phase->kernel, d->unit->id,
                                               CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    return code == CL_SUCCESS ? fits(d, symbol, phase->threads, most, st)
                              : opencl_failed(st, code, symbol);
}

static bool read_threads(const opencl_device *d, const spirv_image *code,
                         const device_source *source, opencl_image *image, status *st) {
    for (uint32_t i = 0; i < source->phase_count; i++)
        if (!spirv_image_threads(code, source->symbols[i], source->label, &image->phases[i].threads,
                                 st) ||
            !fits(d, source->symbols[i], image->phases[i].threads, d->unit->workgroup_threads, st))
            return false;
    return true;
}

static bool make(opencl_device *d, const device_source *source, opencl_image *image, status *st) {
    if (source->phase_count == 0) /* what has nothing to do has no code */
        return true;
    image->program = create(d, source, st);
    if (!image->program || !build(d, image->program, st))
        return false;
    for (uint32_t i = 0; i < source->phase_count; i++)
        if (!make_phase(d, image, source->symbols[i], &image->phases[i], st))
            return false;
    return true;
}

/* Of code that was read. */
static bool load_read(opencl_device *d, const device_source *source, const spirv_image *code,
                      device_image **image_out, status *st) {
    opencl_image *image =
        base_calloc(1, sizeof *image + source->phase_count * sizeof image->phases[0]);
    image->base.phase_count = source->phase_count;
    pthread_mutex_init(&image->mutex, NULL);
    if (!read_threads(d, code, source, image, st) || !make(d, source, image, st)) {
        opencl_unload(&d->gpu.soft.base, &image->base);
        return false;
    }
    *image_out = &image->base;
    return true;
}

static bool load(opencl_device *d, const device_source *source, bool is_probe,
                 device_image **image_out, status *st) {
    spirv_image code;
    /* Words want to be aligned; modules promise it, others do not. */
    uint32_t *words = base_malloc(source->size_bytes + 1);
    memcpy(words, source->bytes, source->size_bytes);
    bool ok = spirv_image_read(&code, words, source->size_bytes, source->label, st) &&
              (is_probe || has_what_it_needs(d, &code, source->label, st)) &&
              load_read(d, source, &code, image_out, st);
    free(words);
    return ok || status_set(st, st->code, "loading '%s'", source->label);
}

bool opencl_load(device *d, const device_source *source, device_image **image_out, status *st) {
    return load((opencl_device *)d, source, false, image_out, st);
}

bool opencl_load_code(device *d, const device_source *source, device_image **image_out,
                      status *st) {
    return load((opencl_device *)d, source, true, image_out, st);
}

void opencl_unload(device *base, device_image *loaded) {
    opencl_image *image = (opencl_image *)loaded;
    (void)base;
    for (uint32_t i = 0; i < image->base.phase_count; i++)
        if (image->phases[i].kernel)
            opencl.clReleaseKernel(image->phases[i].kernel);
    if (image->program)
        opencl.clReleaseProgram(image->program);
    pthread_mutex_destroy(&image->mutex);
    free(image);
}

/* ---- launches ---- */

static bool grid_fits(const opencl_device *d, uint64_t workgroups, uint64_t threads, status *st) {
    return workgroups <= SIZE_MAX / threads ||
           status_set(st, STATUS_INVALID,
                      "%llu workgroups of %llu threads are more than device "
                      "'%s' counts",
                      (unsigned long long)workgroups, (unsigned long long)threads, d->unit->name);
}

static bool set_arguments(const opencl_device *d, const opencl_phase *p, const gpu_launch *l,
                          status *st) {
    if (p->arguments != l->address_count)
        return status_set(st, STATUS_CORRUPT, "its code takes %u arguments, and a launch has %u",
                          p->arguments, l->address_count);
    for (uint32_t i = 0; i < l->address_count; i++) {
        uint64_t address = l->addresses[i] ? l->addresses[i] : d->nowhere.address;
        cl_int code =
            opencl.clSetKernelArgSVMPointer(p->kernel, i, (const void *)(uintptr_t)address);
        if (code != CL_SUCCESS)
            return opencl_failed(st, code, "an argument");
    }
    return true;
}

static bool enqueue(gpu_queue *q, const gpu_launch *l, uint32_t phase, cl_event *event_out,
                    status *st) {
    const opencl_device *d = (const opencl_device *)q->base.device;
    opencl_image *image = (opencl_image *)l->image;
    const opencl_phase *p = &image->phases[phase];
    if (!grid_fits(d, (uint64_t)l->workgroups[phase], p->threads, st))
        return false;
    const size_t threads = p->threads, all = (size_t)l->workgroups[phase] * threads;
    pthread_mutex_lock(&image->mutex);
    bool ok = set_arguments(d, p, l, st);
    cl_int code = ok ? opencl.clEnqueueNDRangeKernel(q->handle, p->kernel, 1, NULL, &all, &threads,
                                                     0, NULL, event_out)
                     : CL_SUCCESS;
    pthread_mutex_unlock(&image->mutex);
    return ok && (code == CL_SUCCESS || opencl_failed(st, code, "a launch"));
}

static bool ended_well(gpu_queue *q, cl_event event, status *st) {
    status why = STATUS_INIT;
    cl_int state = CL_COMPLETE;
    cl_int code =
        opencl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    code = code == CL_SUCCESS && state < 0 ? state : code;
    return code == CL_SUCCESS || (opencl_failed(&why, code, "a kernel ended badly"),
                                  gpu_lose((gpu_device *)q->base.device, why.message, st));
}

static uint64_t duration_of(cl_event event) {
    cl_ulong from = 0, to = 0;
    if (opencl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from,
                                       NULL) != CL_SUCCESS ||
        opencl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL) !=
            CL_SUCCESS)
        return 0;
    return to > from ? to - from : 0;
}

/* What was queued before a failure has to end, since it uses memory. */
static bool run(gpu_queue *q, const gpu_launch *l, cl_event *events, status *st) {
    const uint32_t phases = l->image->phase_count;
    bool ok = true;
    for (uint32_t i = 0; i < phases && ok; i++)
        ok = l->workgroups[i] <= 0 || enqueue(q, l, i, &events[i], st);
    ok = opencl_finish(q, ok ? st : NULL) && ok;
    for (uint32_t i = 0; i < phases && ok; i++)
        ok = !events[i] || ended_well(q, events[i], st);
    for (uint32_t i = 0; i < phases && ok && l->phase_ns; i++)
        l->phase_ns[i] = events[i] ? duration_of(events[i]) : 0;
    return ok;
}

bool opencl_launch(gpu_queue *q, const gpu_launch *l, status *st) {
    cl_event *events = base_calloc(l->image->phase_count + 1, sizeof *events);
    bool ok = run(q, l, events, st);
    for (uint32_t i = 0; i < l->image->phase_count; i++)
        if (events[i])
            opencl.clReleaseEvent(events[i]);
    free(events);
    return ok;
}
