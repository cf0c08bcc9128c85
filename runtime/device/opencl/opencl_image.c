/* opencl_image.c - images of SPIR-V, and launches of their phases. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "device/opencl/opencl_parts.h"

/* ---- programs ---- */

static void log_of(const opencl_device *d, cl_program program, char *out, size_t room) {
    size_t size = 0;
    if (opencl.clGetProgramBuildInfo(program, d->unit->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
        CL_SUCCESS)
        size = 0;
    char *whole = base_calloc(size + 1, 1);
    if (size)
        opencl.clGetProgramBuildInfo(program, d->unit->id, CL_PROGRAM_BUILD_LOG, size, whole, NULL);
    spirv_first_line(whole, out, room);
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
    return !*log ? false : status_context(st, "it says '%s'", log);
}

static bool make_program(gpu_device *g, const device_source *source, void **program_out,
                         status *st) {
    opencl_device *d = (opencl_device *)g;
    *program_out = create(d, source, st);
    return *program_out && build(d, *program_out, st);
}

static bool make_kernel(gpu_device *g, void *program, const char *symbol, spirv_kernel *kernel,
                        status *st) {
    const opencl_device *d = (const opencl_device *)g;
    size_t most = 0;
    cl_int code;
    kernel->handle = opencl.clCreateKernel(program, symbol, &code);
    if (!kernel->handle)
        return opencl_failed(st, code, symbol);
    code = opencl.clGetKernelInfo(kernel->handle, CL_KERNEL_NUM_ARGS, sizeof kernel->arguments,
                                  &kernel->arguments, NULL);
    if (code == CL_SUCCESS)
        code = opencl.clGetKernelWorkGroupInfo(kernel->handle, d->unit->id,
                                               CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    return code == CL_SUCCESS
               ? spirv_threads_fit(&d->unit->spirv, symbol, kernel->threads, most, st)
               : opencl_failed(st, code, symbol);
}

static void end_kernel(void *kernel) {
    opencl.clReleaseKernel(kernel);
}

static void end_program(void *program) {
    opencl.clReleaseProgram(program);
}

const spirv_functions opencl_spirv = {.make_program = make_program,
                                      .make_kernel = make_kernel,
                                      .end_kernel = end_kernel,
                                      .end_program = end_program};

bool opencl_load(device *d, const device_source *source, device_image **image_out, status *st) {
    opencl_device *o = (opencl_device *)d;
    return spirv_load(&o->unit->spirv, &o->gpu, source, image_out, st);
}

void opencl_unload(device *d, device_image *image) {
    spirv_unload(&((opencl_device *)d)->unit->spirv, image);
}

/* ---- launches ---- */

static bool grid_fits(const opencl_device *d, uint64_t workgroups, uint64_t threads, status *st) {
    return workgroups <= SIZE_MAX / threads ||
           status_set(st, STATUS_INVALID,
                      "%llu workgroups of %llu threads are more than device "
                      "'%s' counts",
                      (unsigned long long)workgroups, (unsigned long long)threads, d->unit->name);
}

static bool set_arguments(const opencl_device *d, const spirv_kernel *p, const gpu_launch *l,
                          status *st) {
    if (!spirv_arguments_fit(p, l, st))
        return false;
    for (uint32_t i = 0; i < l->address_count; i++) {
        uint64_t address = l->addresses[i] ? l->addresses[i] : d->nowhere.address;
        bool is_dim = i >= l->address_count - l->dim_count;
        cl_int code =
            is_dim
                ? opencl.clSetKernelArg(p->handle, i, sizeof l->addresses[i], &l->addresses[i])
                : opencl.clSetKernelArgSVMPointer(p->handle, i, (const void *)(uintptr_t)address);
        if (code != CL_SUCCESS)
            return opencl_failed(st, code, "an argument");
    }
    return true;
}

static bool enqueue(gpu_queue *q, const gpu_launch *l, uint32_t phase, cl_event *event_out,
                    status *st) {
    const opencl_device *d = (const opencl_device *)q->base.device;
    spirv_loaded *image = (spirv_loaded *)l->image;
    const spirv_kernel *p = &image->kernels[phase];
    if (!grid_fits(d, (uint64_t)l->workgroups[phase], p->threads, st))
        return false;
    const size_t threads = p->threads, all = (size_t)l->workgroups[phase] * threads;
    pthread_mutex_lock(&image->mutex);
    bool ok = set_arguments(d, p, l, st);
    cl_int code =
        ok ? opencl.clEnqueueNDRangeKernel(((const opencl_queue *)q->handle)->queue, p->handle, 1,
                                           NULL, &all, &threads, 0, NULL, event_out)
           : CL_SUCCESS;
    pthread_mutex_unlock(&image->mutex);
    return ok && (code == CL_SUCCESS || opencl_failed(st, code, "a launch"));
}

bool opencl_launch(gpu_queue *q, const gpu_launch *l, status *st) {
    opencl_queue *o = q->handle;
    bool ok = true;
    opencl_given(q);
    for (uint32_t i = 0; i < l->image->phase_count && ok; i++) {
        opencl_launched launched = {.ns_out = l->phase_ns ? &l->phase_ns[i] : NULL};
        if (l->workgroups[i] <= 0)
            continue;
        ok = enqueue(q, l, i, &launched.event, st);
        if (ok)
            vec_push(&o->launched, launched);
    }
    if (l->phase_ns)
        return opencl_finish(q, ok ? st : NULL) && ok;
    if (ok)
        opencl.clFlush(o->queue);
    return ok;
}
