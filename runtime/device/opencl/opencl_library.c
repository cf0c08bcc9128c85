/* opencl_library.c - the loader's functions, and what its devices say of themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "device/opencl/opencl_parts.h"
#include "device/shared/library.h"

opencl_functions opencl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static VEC(opencl_unit *) units;
/* Stands for the loader where there is none, for those who asked. */
static opencl_unit nothing;

/* ---- failures ---- */

static const struct {
    cl_int code;
    const char *name;
    status_code means;
} failures[] = {
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE", STATUS_DEVICE_LOST},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE", STATUS_OUT_OF_MEMORY},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", STATUS_OUT_OF_MEMORY},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", STATUS_OUT_OF_MEMORY},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE", STATUS_UNAVAILABLE},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE", STATUS_UNAVAILABLE},
    {CL_INVALID_BINARY, "CL_INVALID_BINARY", STATUS_UNAVAILABLE},
    {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS", STATUS_UNAVAILABLE},
    {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME", STATUS_NOT_FOUND},
    {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE", STATUS_UNAVAILABLE},
    {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE", STATUS_UNAVAILABLE},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE", STATUS_INTERNAL},
};

bool opencl_failed(status *st, cl_int code, const char *what) {
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].code == code)
            return status_set(st, failures[i].means, "%s: %s", what, failures[i].name);
    return status_set(st, STATUS_UNAVAILABLE, "%s: OpenCL's error %d", what, code);
}

/* ---- what a device says ---- */

static uint64_t number(cl_device_id id, cl_device_info what) {
    uint64_t value = 0;
    size_t size = 0;
    if (opencl.clGetDeviceInfo(id, what, sizeof value, &value, &size) != CL_SUCCESS)
        return 0;
    if (size == sizeof(uint32_t)) {
        uint32_t half;
        memcpy(&half, &value, sizeof half);
        value = half;
    }
    return value;
}

static void words_of(cl_device_id id, cl_device_info what, char *out, size_t room) {
    size_t size = 0;
    out[0] = '\0';
    if (opencl.clGetDeviceInfo(id, what, room, out, &size) != CL_SUCCESS || size > room)
        out[0] = '\0';
    out[room - 1] = '\0';
}

static bool says(cl_device_id id, cl_device_info what, const char *word) {
    char all[8192];
    words_of(id, what, all, sizeof all);
    return strstr(all, word) != NULL;
}

static void platform_words(cl_platform_id id, cl_platform_info what, char *out, size_t room) {
    if (opencl.clGetPlatformInfo(id, what, room, out, NULL) != CL_SUCCESS)
        out[0] = '\0';
    out[room - 1] = '\0';
}

/* ---- PoCL ---- */

/* PoCL up to 3.1 makes wrong code of kernels with barriers: results that are wrong, or are not
 * stored, and memory of the process that is overwritten. One cause is known: a branch right behind
 * a barrier, within a branch around a loop, goes the way of the last thread for all of them. With a
 * copy of the code for each thread (POCL_WORK_GROUP_METHOD=repl) more is right, and not all. */
static void mind_pocl(opencl_unit *u, const char *version) {
    unsigned major = 0, llvm = 0;
    const char *pocl = strstr(version, "PoCL "), *built = strstr(version, "LLVM ");
    if (pocl && sscanf(pocl, "PoCL %u", &major) == 1 && major <= 3)
        u->spirv.barriers_are_wrong = true;
    if (built && sscanf(built, "LLVM %u", &llvm) == 1)
        snprintf(u->translator, sizeof u->translator, "llvm-spirv-%u", llvm);
}

/* ---- whether it can be used ---- */

static opencl_way way_of(opencl_unit *u, bool is_pocl) {
    if (opencl.clCreateProgramWithIL && says(u->id, CL_DEVICE_IL_VERSION, "SPIR-V"))
        return OPENCL_WAY_SPIRV;
    return is_pocl || says(u->id, CL_DEVICE_EXTENSIONS, "cl_khr_spir ") ? OPENCL_WAY_BITCODE
                                                                        : OPENCL_WAY_NONE;
}

static bool refuse(opencl_unit *u, const char *why) {
    snprintf(u->reason, sizeof u->reason, "%.*s", (int)sizeof u->reason - 1, why);
    return false;
}

#define INTEL_VECTORIZER "CL_CONFIG_CPU_VECTORIZER_MODE"

/* Intel's runtime for CPUs: its code for several threads at once (seen: 2026.2, sixteen and more of
 * them) has other results, or reads memory of nobody. Code for one is right. It is asked for by a
 * variable that the runtime reads when it is loaded, so the program has to set it. */
static bool check_intel(opencl_unit *u) {
    const char *mode = getenv(INTEL_VECTORIZER);
    return (mode && strcmp(mode, "1") == 0) ||
           refuse(u, "Intel's runtime for CPUs makes wrong code of several threads at once; "
                     "set " INTEL_VECTORIZER "=1 in the environment");
}

static bool has_translator(opencl_unit *u) {
    char path[4096];
    status st = STATUS_INIT;
    return u->way != OPENCL_WAY_BITCODE ||
           opencl_translator_find(u->translator, path, sizeof path, &st) || refuse(u, st.message);
}

static bool check(opencl_unit *u) {
    uint64_t svm = number(u->id, CL_DEVICE_SVM_CAPABILITIES),
             single = number(u->id, CL_DEVICE_SINGLE_FP_CONFIG);
    const cl_device_fp_config wanted = CL_FP_DENORM | CL_FP_ROUND_TO_NEAREST;
    if (!number(u->id, CL_DEVICE_AVAILABLE))
        return refuse(u, "its driver says that it is not available");
    if (!(svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
        return refuse(u,
                      "it has no shared virtual memory (OpenCL 2.0), and launches pass addresses");
    if (u->address_bits != 64)
        return refuse(u, "its addresses do not have 64 bits");
    if (u->spirv.workgroup_threads == 0)
        return refuse(u, "its driver says that a workgroup has no threads");
    if (u->way == OPENCL_WAY_NONE)
        return refuse(u, "it takes neither SPIR-V (cl_khr_il_program) nor bitcode (cl_khr_spir)");
    if ((single & wanted) != wanted)
        return refuse(u, "it does not round to nearest, or does not keep subnormal numbers");
    u->divides_when_asked = single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    u->fine_grained = svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    return has_translator(u);
}

static void describe(opencl_unit *u) {
    const uint32_t mapped = 1u << DEVICE_MEMORY_HOST_VISIBLE | 1u << DEVICE_MEMORY_PINNED;
    u->info = (device_info){.backend = "opencl",
                            .name = u->name,
                            .isa = "spirv-opencl",
                            .unavailable = *u->reason ? u->reason : NULL,
                            .compute_units = (uint32_t)number(u->id, CL_DEVICE_MAX_COMPUTE_UNITS),
                            .memory_bytes = number(u->id, CL_DEVICE_GLOBAL_MEM_SIZE),
                            .memory_kinds = 1u << DEVICE_MEMORY_DEVICE,
                            .workgroup_memory_bytes = u->spirv.workgroup_bytes,
                            .timestamp_ns = number(u->id, CL_DEVICE_PROFILING_TIMER_RESOLUTION),
                            .workgroup_threads = (uint32_t)u->spirv.workgroup_threads,
                            .f32 = DEVICE_ARITHMETIC_NATIVE,
                            .f64 = DEVICE_ARITHMETIC_NATIVE,
                            .targets = {"spirv/spirv-opencl"}};
    if (!number(u->id, CL_DEVICE_DOUBLE_FP_CONFIG))
        u->info.f64 = (device_arithmetic)DEVICE_ARITHMETIC_NONE;
    if (u->fine_grained)
        u->info.memory_kinds |= mapped, u->info.mappable_kinds = mapped;
    if (!u->info.timestamp_ns)
        u->info.timestamp_ns = 1;
}

static void add(cl_platform_id platform, cl_device_id id) {
    opencl_unit *u = base_calloc(1, sizeof *u);
    char name[128], version[512];
    u->platform = platform;
    u->id = id;
    u->is_software = number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
    u->allocation_bytes = number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    spirv_target_init(&u->spirv, &opencl_spirv, u->name);
    u->spirv.workgroup_bytes = number(id, CL_DEVICE_LOCAL_MEM_SIZE);
    u->spirv.workgroup_threads = number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    u->address_bits = (uint32_t)number(id, CL_DEVICE_ADDRESS_BITS);
    snprintf(u->translator, sizeof u->translator, "llvm-spirv");
    platform_words(platform, CL_PLATFORM_NAME, name, sizeof name);
    platform_words(platform, CL_PLATFORM_VERSION, version, sizeof version);
    words_of(id, CL_DEVICE_NAME, u->name, sizeof u->name);
    const bool is_pocl = strcmp(name, "Portable Computing Language") == 0;
    if (is_pocl)
        mind_pocl(u, version);
    u->way = way_of(u, is_pocl);
    if (check(u) && u->is_software && strstr(name, "Intel"))
        check_intel(u);
    describe(u);
    vec_push(&units, u);
}

/* ---- the scan ---- */

static void add_devices_of(cl_platform_id platform) {
    enum { MOST = 64 };
    cl_device_id ids[MOST];
    cl_uint count = 0;
    if (opencl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, ids, &count) != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < count && i < MOST; i++)
        add(platform, ids[i]);
}

static void none(const char *why) {
    refuse(&nothing, why);
    snprintf(nothing.name, sizeof nothing.name, "none");
    nothing.info = (device_info){
        .backend = "opencl", .name = nothing.name, .isa = "", .unavailable = nothing.reason};
}

static bool open_library(status *st) {
    static const char *const names[] = {"libOpenCL.so.1", NULL};
    const library_symbol symbols[] = {
#define OPENCL_FUNCTION(name, optional) {#name, (void **)(void *)&opencl.name, optional},
#include "device/opencl/opencl_functions.def"
#undef OPENCL_FUNCTION
    };
    void *library;
    return library_open(OPENCL_LIBRARY, names, "the OpenCL loader (Debian: ocl-icd-libopencl1)",
                        symbols, sizeof symbols / sizeof *symbols, &library, st);
}

static void scan(void) {
    enum { MOST = 32 };
    cl_platform_id platforms[MOST];
    cl_uint count = 0;
    status st = STATUS_INIT;
    if (!open_library(&st)) {
        none(st.message);
        return;
    }
    if (opencl.clGetPlatformIDs(MOST, platforms, &count) != CL_SUCCESS)
        count = 0;
    for (cl_uint i = 0; i < count && i < MOST; i++)
        add_devices_of(platforms[i]);
    if (units.count == 0)
        none("the OpenCL loader has no device (for this processor, Debian: pocl-opencl-icd)");
}

opencl_unit *opencl_unit_at(uint32_t index) {
    const bool software = gpu_software_wanted();
    pthread_once(&once, scan);
    if (units.count == 0)
        return software && index == 0 ? &nothing : NULL;
    for (size_t i = 0; i < units.count; i++)
        if ((software || !units.items[i]->is_software) && index-- == 0)
            return units.items[i];
    return NULL;
}
