/* stub_opencl.c - a loader of OpenCL that has one device, which is this program: for what no real
 * device does when a test wants it. STUB_OPENCL in the environment names what is wrong with it,
 * words apart by commas; everything else is as it should be. With STUB_OLD it is a loader of
 * OpenCL 1.2.
 *
 * It compiles nothing. A kernel is what its name says: the probe's arithmetic is done, and every
 * other kernel does nothing. An event is a copy of its kernel. stub_opencl_living counts what was
 * made and not released, stub_opencl_launches the kernels other than the probe. The first of those
 * is "endless" until stub_opencl_end: what its queue was given behind it does not end before. */
#define CL_TARGET_OPENCL_VERSION 210
#include <CL/cl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/pretend.h"

#define EXPORT __attribute__((visibility("default")))

enum { ARGUMENTS = 8, LINE = 64 };

struct _cl_platform_id {
    int unused;
};
struct _cl_device_id {
    int unused;
};
struct _cl_kernel {
    char name[64];
    const void *arguments[ARGUMENTS];
    bool held; /* a queue or an event: it is behind the endless kernel */
};
static struct _cl_platform_id platform;
static struct _cl_device_id device;
static atomic_int living;
static atomic_bool kernel_waits; /* one was launched, and not waited for */

EXPORT int stub_opencl_living(void);
EXPORT int stub_opencl_living(void) {
    return atomic_load(&living);
}

static atomic_bool ended; /* the endless kernel has */
static atomic_int launches;

EXPORT void stub_opencl_end(void);
EXPORT void stub_opencl_end(void) {
    atomic_store(&ended, true);
}

EXPORT int stub_opencl_launches(void);
EXPORT int stub_opencl_launches(void) {
    return atomic_load(&launches);
}

static bool wrong(const char *word) {
    const char *all = getenv("STUB_OPENCL"); // NOLINT(concurrency-mt-unsafe)
    size_t length = strlen(word);
    for (; all && *all; all += strcspn(all, ","), all += *all == ',')
        if (strncmp(all, word, length) == 0 && (all[length] == ',' || all[length] == '\0'))
            return true;
    return false;
}

static void *new_object(cl_int *code) {
    if (code)
        *code = CL_SUCCESS;
    atomic_fetch_add(&living, 1);
    return calloc(1, sizeof(struct _cl_kernel));
}

static bool is_held(const void *made) {
    return ((const struct _cl_kernel *)made)->held && !atomic_load(&ended);
}

static cl_int release(void *made) {
    free(made);
    atomic_fetch_sub(&living, 1);
    return CL_SUCCESS;
}

/* ---- what there is ---- */

EXPORT cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out, cl_uint *count) {
    enum { NO_PLATFORM = -1001 };
    *count = wrong("no platform") ? 0 : 1;
    if (out && room && *count)
        *out = &platform;
    return *count ? CL_SUCCESS : NO_PLATFORM;
}

static cl_int give(const void *value, size_t bytes, size_t room, void *out, size_t *size) {
    if (size)
        *size = bytes;
    if (out && room < bytes)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, bytes);
    return CL_SUCCESS;
}

static cl_int give_words(const char *words, size_t room, void *out, size_t *size) {
    return give(words, strlen(words) + 1, room, out, size);
}

EXPORT cl_int clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t room, void *out,
                                size_t *size) {
    (void)id;
    const char *name = wrong("intel") ? "Intel(R) OpenCL" : "Stub";
    return give_words(what == CL_PLATFORM_NAME ? name : "OpenCL 3.0 stub", room, out, size);
}

EXPORT cl_int clGetDeviceIDs(cl_platform_id id, cl_device_type type, cl_uint room,
                             cl_device_id *out, cl_uint *count) {
    (void)id, (void)type;
    *count = wrong("no device") ? 0 : 1;
    if (out && room && *count)
        *out = &device;
    return *count ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

static cl_ulong number_of(cl_device_info what) {
    const cl_device_fp_config all =
        CL_FP_FMA | CL_FP_DENORM | CL_FP_ROUND_TO_NEAREST | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    switch (what) {
    case CL_DEVICE_SVM_CAPABILITIES:
        return wrong("no svm") ? 0
               : wrong("coarse")
                   ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
                   : CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return wrong("says no subnormals") ? all & ~(cl_device_fp_config)CL_FP_DENORM : all;
    case CL_DEVICE_TYPE:
        return wrong("software") ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return 1 << 20;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return 1 << 24;
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return wrong("lies about memory") ? (cl_ulong)1 << 40 : 1 << 14;
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return wrong("no threads") ? 0 : 64;
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return 1;
    default:
        return 0;
    }
}

EXPORT cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *out,
                              size_t *size) {
    const cl_uint bits = wrong("narrow") ? 32 : 64;
    const cl_ulong value = number_of(what);
    (void)id;
    if (what == CL_DEVICE_NAME)
        return give_words("stub", room, out, size);
    if (what == CL_DEVICE_IL_VERSION)
        return give_words(wrong("no spirv") ? "" : "SPIR-V_1.0 ", room, out, size);
    if (what == CL_DEVICE_EXTENSIONS)
        return give_words(wrong("bitcode") ? "cl_khr_spir " : "", room, out, size);
    if (what == CL_DEVICE_ADDRESS_BITS)
        return give(&bits, sizeof bits, room, out, size);
    return give(&value, sizeof value, room, out, size);
}

/* ---- contexts, queues, memory ---- */

EXPORT cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                                  const cl_device_id *ids,
                                  void(CL_CALLBACK *notify)(const char *, const void *, size_t,
                                                            void *),
                                  void *context, cl_int *code) {
    (void)properties, (void)count, (void)ids, (void)notify, (void)context;
    if (wrong("no context")) {
        *code = CL_DEVICE_NOT_AVAILABLE;
        return NULL;
    }
    return new_object(code);
}

EXPORT cl_int clReleaseContext(cl_context c) {
    return release(c);
}

EXPORT cl_command_queue clCreateCommandQueueWithProperties(cl_context c, cl_device_id id,
                                                           const cl_queue_properties *properties,
                                                           cl_int *code) {
    (void)c, (void)id, (void)properties;
    if (wrong("no queue")) {
        *code = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    return new_object(code);
}

EXPORT cl_int clReleaseCommandQueue(cl_command_queue q) {
    return release(q);
}

EXPORT cl_int clFlush(cl_command_queue q) {
    (void)q;
    return CL_SUCCESS;
}

EXPORT cl_int clFinish(cl_command_queue q) {
    while (is_held(q))
        usleep(100);
    bool waited = atomic_exchange(&kernel_waits, false);
    return waited && wrong("lost") ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

#ifndef STUB_OLD
EXPORT void *clSVMAlloc(cl_context c, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment) {
    (void)c, (void)alignment;
    if (wrong("no memory") || (flags & CL_MEM_SVM_FINE_GRAIN_BUFFER && wrong("coarse")))
        return NULL;
    atomic_fetch_add(&living, 1);
    return aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
}

EXPORT void clSVMFree(cl_context c, void *memory) {
    (void)c;
    release(memory);
}

EXPORT cl_int clEnqueueSVMMemcpy(cl_command_queue q, cl_bool blocks, void *to, const void *from,
                                 size_t bytes, cl_uint count, const cl_event *events,
                                 cl_event *event) {
    (void)q, (void)blocks, (void)count, (void)events, (void)event;
    memcpy(to, from, bytes);
    return CL_SUCCESS;
}

EXPORT cl_int clEnqueueSVMMemFill(cl_command_queue q, void *to, const void *pattern,
                                  size_t pattern_bytes, size_t bytes, cl_uint count,
                                  const cl_event *events, cl_event *event) {
    (void)q, (void)pattern_bytes, (void)count, (void)events, (void)event;
    memset(to, *(const unsigned char *)pattern, bytes);
    return CL_SUCCESS;
}

EXPORT cl_int clSetKernelArgSVMPointer(cl_kernel k, cl_uint index, const void *value) {
    if (index < ARGUMENTS)
        k->arguments[index] = value;
    return index < ARGUMENTS ? CL_SUCCESS : CL_INVALID_ARG_INDEX;
}
#endif

EXPORT cl_int clSetKernelArg(cl_kernel k, cl_uint index, size_t bytes, const void *value) {
    if (index >= ARGUMENTS)
        return CL_INVALID_ARG_INDEX;
    if (bytes != sizeof k->arguments[index])
        return CL_INVALID_ARG_SIZE;
    memcpy(&k->arguments[index], value, bytes);
    return CL_SUCCESS;
}

/* ---- programs ---- */

EXPORT cl_program clCreateProgramWithIL(cl_context c, const void *code, size_t bytes,
                                        cl_int *result) {
    (void)c, (void)code, (void)bytes;
    return new_object(result);
}

EXPORT cl_program clCreateProgramWithBinary(cl_context c, cl_uint count, const cl_device_id *ids,
                                            const size_t *sizes, const unsigned char **binaries,
                                            cl_int *states, cl_int *code) {
    (void)c, (void)count, (void)ids, (void)sizes, (void)binaries, (void)states;
    return new_object(code);
}

EXPORT cl_int clBuildProgram(cl_program p, cl_uint count, const cl_device_id *ids,
                             const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                             void *context) {
    (void)p, (void)count, (void)ids, (void)options, (void)notify, (void)context;
    return wrong("no compiler") ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

EXPORT cl_int clGetProgramBuildInfo(cl_program p, cl_device_id id, cl_program_build_info what,
                                    size_t room, void *out, size_t *size) {
    (void)p, (void)id, (void)what;
    return give_words("line 7: it is too long\nand more", room, out, size);
}

EXPORT cl_int clReleaseProgram(cl_program p) {
    return release(p);
}

EXPORT cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *code) {
    (void)p;
    cl_kernel made = new_object(code);
    snprintf(made->name, sizeof made->name, "%s", name);
    return made;
}

EXPORT cl_int clReleaseKernel(cl_kernel k) {
    return release(k);
}

static bool is_probe(const struct _cl_kernel *k) {
    return strcmp(k->name, "probe_arithmetic") == 0;
}

EXPORT cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t room, void *out,
                              size_t *size) {
    const cl_uint arguments = is_probe(k) ? 2 : 4;
    (void)what;
    return give(&arguments, sizeof arguments, room, out, size);
}

EXPORT cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id id, cl_kernel_work_group_info what,
                                       size_t room, void *out, size_t *size) {
    const size_t threads = !is_probe(k) && wrong("narrow workgroups") ? 2 : 64;
    (void)id, (void)what;
    return give(&threads, sizeof threads, room, out, size);
}

/* ---- launches ---- */

static pretend_flaw flaw(void) {
    return wrong("splits fma")        ? SPLITS_FMA
           : wrong("divides loosely") ? DIVIDES_LOOSELY
           : wrong("flushes")         ? FLUSHES
                                      : NO_FLAW;
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dimensions,
                                     const size_t *offset, const size_t *all, const size_t *threads,
                                     cl_uint count, const cl_event *events, cl_event *event) {
    struct _cl_kernel *queue = (struct _cl_kernel *)q;
    (void)dimensions, (void)offset, (void)all, (void)threads, (void)count, (void)events;
    if (!is_probe(k) && wrong("lies about memory"))
        return CL_OUT_OF_RESOURCES;
    if (is_probe(k))
        pretend_arithmetic_f32(k->arguments[0], (float *)(uintptr_t)k->arguments[1], flaw());
    atomic_store(&kernel_waits, !is_probe(k));
    if (!is_probe(k) && atomic_fetch_add(&launches, 1) == 0 && wrong("endless"))
        queue->held = true;
    struct _cl_kernel *made = new_object(NULL);
    *made = *k;
    made->held = queue->held;
    *event = (cl_event)made;
    return CL_SUCCESS;
}

EXPORT cl_int clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint count, const cl_event *events,
                                          cl_event *event) {
    struct _cl_kernel *made = new_object(NULL);
    (void)count, (void)events;
    made->held = ((struct _cl_kernel *)q)->held;
    *event = (cl_event)made;
    return CL_SUCCESS;
}

EXPORT cl_int clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint count,
                                           const cl_event *events, cl_event *event) {
    (void)event;
    for (cl_uint i = 0; i < count; i++)
        ((struct _cl_kernel *)q)->held |= ((const struct _cl_kernel *)events[i])->held;
    return CL_SUCCESS;
}

EXPORT cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t room, void *out, size_t *size) {
    const bool bad = wrong("ends badly") && !is_probe((const struct _cl_kernel *)e);
    const cl_int state = is_held(e) ? CL_RUNNING : bad ? CL_OUT_OF_RESOURCES : CL_COMPLETE;
    (void)what;
    return give(&state, sizeof state, room, out, size);
}

EXPORT cl_int clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t room, void *out,
                                      size_t *size) {
    const cl_ulong now = what == CL_PROFILING_COMMAND_END ? 1500 : 500;
    return is_held(e) ? CL_PROFILING_INFO_NOT_AVAILABLE : give(&now, sizeof now, room, out, size);
}

EXPORT cl_int clReleaseEvent(cl_event e) {
    return release(e);
}
