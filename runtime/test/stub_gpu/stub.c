/* stub.c - devices, contexts, modules and launches of the stub: see stub.h. */
#include "test/stub_gpu/stub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

stub stub_state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

enum { DEFAULT_SHARED = 48 * 1024, SHARED = 232448 };
static _Thread_local int depth; /* of contexts that are current; of HIP none */

int stub_ready(void) {
    pthread_mutex_lock(&stub_state.mutex);
    int lost = stub_state.process == (int)getpid() ? stub_state.lost : NOT_INITIALIZED;
    pthread_mutex_unlock(&stub_state.mutex);
    if (!STUB_IS_HIP && depth == 0)
        return INVALID_CONTEXT;
    return lost;
}

void stub_gpu_counts(stub_counts *out) {
    pthread_mutex_lock(&stub_state.mutex);
    *out = stub_state.counts;
    pthread_mutex_unlock(&stub_state.mutex);
    out->current = (uint64_t)depth;
}

void stub_gpu_end(void) {
    pthread_mutex_lock(&stub_state.mutex);
    stub_state.ended = true;
    pthread_mutex_unlock(&stub_state.mutex);
}

static int count(uint64_t *what, int by) {
    pthread_mutex_lock(&stub_state.mutex);
    *what += (uint64_t)by;
    pthread_mutex_unlock(&stub_state.mutex);
    return OK;
}

/* ---- devices ---- */

int CALL(cuInit, hipInit)(unsigned flags) {
    pthread_mutex_lock(&stub_state.mutex);
    if (!stub_state.process)
        stub_state.process = (int)getpid();
    pthread_mutex_unlock(&stub_state.mutex);
    return flags ? INVALID_VALUE : (int)pretend_fault("init", OK);
}

int CALL(cuDriverGetVersion, hipDriverGetVersion)(int *version) {
    *version = 13000;
    return OK;
}

int CALL(cuGetErrorName, hipDrvGetErrorName)(int result, const char **name) {
    static const struct {
        int result;
        const char *name;
    } names[] = {{1, "INVALID_VALUE"},     {3, "NOT_INITIALIZED"},
                 {2, "OUT_OF_MEMORY"},     {100, "NO_DEVICE"},
                 {201, "INVALID_CONTEXT"}, {209, "NO_BINARY_FOR_GPU"},
                 {218, "INVALID_PTX"},     {222, "UNSUPPORTED_PTX_VERSION"},
                 {500, "NOT_FOUND"},       {700, "ILLEGAL_ADDRESS"},
                 {719, "LAUNCH_FAILED"},   {803, "SYSTEM_DRIVER_MISMATCH"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].result == result) {
            *name = names[i].name;
            return OK;
        }
    return INVALID_VALUE;
}

int CALL(cuDeviceGetCount, hipGetDeviceCount)(int *out) {
    *out = (int)pretend_fault("devices", 1);
    return OK;
}

int CALL(cuDeviceGet, hipDeviceGet)(int *unit, int ordinal) {
    *unit = ordinal + 40;
    return OK;
}

int CALL(cuDeviceGetName, hipDeviceGetName)(char *name, int bytes, int unit) {
    snprintf(name, (size_t)bytes, "stub %d", unit);
    return OK;
}

int CALL(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t *bytes, int unit) {
    *bytes = unit >= 40 ? (size_t)1 << 32 : 0;
    return OK;
}

int CALL(cuDeviceGetAttribute, hipDeviceGetAttribute)(int *value, int attribute, int unit) {
    long capability = pretend_fault("capability", 90);
    const struct {
        int numbers[2];
        long value;
    } rows[] = {
        {{1, 56}, pretend_fault("threads", 1024)},
        {{5, 29}, pretend_fault("grid", 2147483647)},
        {{16, 63}, pretend_fault("units", 2)},
        {{97, 74}, pretend_fault("shared", SHARED)},
        {{75, 23}, capability / 10},
        {{76, 61}, capability % 10},
        {{89, 9}, pretend_fault("managed", 1)},
        {{-1, 10017}, 100000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && unit >= 40; i++)
        if (rows[i].numbers[STUB_IS_HIP] == attribute) {
            *value = (int)rows[i].value;
            return OK;
        }
    return INVALID_VALUE;
}

/* ---- contexts ---- */

#ifdef STUB_HIP
static _Thread_local int chosen;

#ifndef STUB_OLD
int hipGetDevicePropertiesR0600(void *properties, int ordinal) {
    enum { PROPERTIES_BYTES = 1472, NAME_AT = 1160 };
    memset(properties, 0, PROPERTIES_BYTES);
    snprintf((char *)properties + NAME_AT, 256, "gfx%ld:sramecc+:xnack-",
             pretend_fault("chip", 942));
    return ordinal < 0 ? INVALID_VALUE : OK;
}
#endif

int hipGetDevice(int *ordinal) {
    *ordinal = chosen;
    return OK;
}

int hipSetDevice(int ordinal) {
    chosen = ordinal;
    return (int)pretend_fault("context", OK);
}
#else
static int context;

int cuDevicePrimaryCtxRetain(void **out, int unit) {
    *out = &context;
    return unit < 40                      ? INVALID_VALUE
           : pretend_fault("context", OK) ? (int)pretend_fault("context", OK)
                                          : count(&stub_state.counts.contexts, 1);
}

#ifndef STUB_OLD
int cuDevicePrimaryCtxRelease_v2(int unit) {
    return unit < 40 ? INVALID_VALUE : count(&stub_state.counts.contexts, -1);
}
#endif

int cuCtxPushCurrent_v2(void *given) {
    depth += given == &context;
    return given == &context ? OK : INVALID_VALUE;
}

int cuCtxPopCurrent_v2(void **out) {
    if (depth == 0)
        return INVALID_CONTEXT;
    depth--;
    *out = &context;
    return OK;
}
#endif

/* ---- modules ---- */

typedef struct module {
    char *text;
    stub_function functions[8];
    unsigned count;
} module;

static int refuse(int result, const char *why, unsigned options, const int *names, void **values) {
    for (unsigned i = 0; i + 1 < options; i++)
        if (names[i] == 5 && names[i + 1] == 6)
            snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "%s", why);
    return result;
}

static bool is_elf(const char *image) {
    return strncmp(image, "\177ELF", 4) == 0;
}

/* An ELF whose machine is not the library's. */
static bool is_foreign(const char *image) {
    enum { MACHINE_AT = 18, CUDA = 190, AMDGPU = 224 };
    return is_elf(image) && (unsigned char)image[MACHINE_AT] != (STUB_IS_HIP ? AMDGPU : CUDA);
}

int CALL(cuModuleLoadDataEx, hipModuleLoadDataEx)(void **out, const void *image, unsigned options,
                                                  int *names, void **values) {
    int result = stub_ready();
    if (result == OK)
        result = (int)pretend_fault("load", OK);
    if (result != OK)
        return refuse(result, "", options, names, values);
    if (strncmp(image, "//", 2) != 0 && !is_elf(image))
        return refuse(INVALID_PTX, "ptxas fatal: line 1 is no PTX\n", options, names, values);
    if (is_foreign(image))
        return refuse(NO_BINARY, "", options, names, values);
    module *m = calloc(1, sizeof *m);
    m->text = strdup(image);
    *out = m;
    return count(&stub_state.counts.modules, 1);
}

int CALL(cuModuleUnload, hipModuleUnload)(void *given) {
    module *m = given;
    int result = stub_ready();
    if (result == INVALID_CONTEXT)
        return result;
    for (unsigned i = 0; i < m->count; i++)
        free((char *)(uintptr_t)m->functions[i].name);
    free(m->text);
    free(m);
    count(&stub_state.counts.modules, -1);
    return result;
}

int CALL(cuModuleGetFunction, hipModuleGetFunction)(void **function, void *given,
                                                    const char *name) {
    module *m = given;
    static const char elf[] = ".maxntid 128"; /* of one whose notes are not looked at */
    char entry[128];
    int result = stub_ready();
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const char *at = is_elf(m->text) ? elf : strstr(m->text, entry);
    const char *threads = at ? strstr(at, ".maxntid ") : NULL;
    if (result != OK || !threads || !pretend_has_kernel(name) || m->count == 8)
        return result != OK ? result : NOT_FOUND;
    stub_function *f = &m->functions[m->count++];
    f->name = strdup(name);
    f->threads = (unsigned)strtoul(threads + strlen(".maxntid "), NULL, 10);
    *function = f;
    return OK;
}

int CALL(cuFuncGetAttribute, hipFuncGetAttribute)(int *value, int attribute, void *function) {
    *value = (int)pretend_fault("block", (long)((const stub_function *)function)->threads);
    return attribute ? INVALID_VALUE : stub_ready();
}

#ifndef STUB_HIP
int cuFuncSetAttribute(void *function, int attribute, int value) {
    if (attribute != 8 || value < 0 || value > SHARED || pretend_fault("refuse", 0) == 1)
        return INVALID_VALUE;
    pthread_mutex_lock(&stub_state.mutex);
    ((stub_function *)function)->dynamic_shared = (unsigned)value;
    pthread_mutex_unlock(&stub_state.mutex);
    return stub_ready();
}
#endif

/* ---- launches ---- */

/* The shared memory of PTX is the launch's, that of a HSACO the code's. */
static bool takes_shared(const stub_function *f, unsigned bytes) {
    pthread_mutex_lock(&stub_state.mutex);
    bool ok = bytes <= DEFAULT_SHARED || bytes <= f->dynamic_shared;
    pthread_mutex_unlock(&stub_state.mutex);
    return STUB_IS_HIP ? bytes == 0 : ok;
}

/* Our own code has a row of workgroups of a row of threads, that of others what it likes. */
static bool takes_grid(const stub_function *f, const unsigned grid[3], const unsigned block[3]) {
    bool foreign = pretend_is_foreign(f->name);
    bool row =
        grid[1] == 1 && grid[2] == 1 && block[0] == f->threads && block[1] == 1 && block[2] == 1;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    return foreign ? threads && threads <= f->threads && block[2] <= 64 && grid[0] && grid[1] &&
                         grid[2] && grid[1] <= 65535 && grid[2] <= 65535
                   : grid[0] && row;
}

/* A map of a tensor: its address is read of it in place of the first argument. */
typedef struct tensor_map {
    uint64_t magic, address;
} tensor_map;
static const uint64_t map_magic = UINT64_C(0x70616d20726f736e);

static bool take_map(const void *argument, uint64_t *address) {
    tensor_map map;
    memcpy(&map, argument, sizeof map);
    *address = map.address;
    return (uintptr_t)argument % 64 == 0 && map.magic == map_magic;
}

#if !defined STUB_HIP && !defined STUB_PLAIN
/* Checks what the manual asks for. */
int cuTensorMapEncodeTiled(void *map, int element, uint32_t rank, uint64_t address,
                           const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *element_strides, int interleave, int swizzle,
                           int promotion, int fill) {
    static const unsigned sizes[] = {1, 2, 4, 4, 8}, rows[] = {256, 32, 64, 128};
    const tensor_map made = {map_magic, address};
    bool ok = element >= 0 && element < 5 && rank >= 1 && rank <= 5 && address % 16 == 0 &&
              (uintptr_t)map % 64 == 0 && !interleave && swizzle >= 0 && swizzle < 4 &&
              promotion >= 0 && promotion < 4 && !fill;
    for (uint32_t i = 0; i < rank && ok; i++)
        ok = dims[i] && dims[i] <= UINT64_C(1) << 32 && box[i] && box[i] <= 256 &&
             element_strides[i] == 1 &&
             (i == 0 || (strides[i - 1] % 16 == 0 && strides[i - 1] < UINT64_C(1) << 40));
    ok = ok && box[0] * sizes[element] % 16 == 0 &&
         (!swizzle || box[0] * sizes[element] <= rows[swizzle]);
    memset(map, 0, 128);
    memcpy(map, &made, sizeof made);
    return ok ? stub_ready() : INVALID_VALUE;
}
#endif

int CALL(cuLaunchKernel, hipModuleLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y,
                                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                                unsigned block_z, unsigned shared_bytes,
                                                void *stream, void **arguments, void **extra) {
    const stub_function *f = function;
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    stub_launch l = {.function = f, .workgroups = grid_x};
    if (extra || !takes_grid(f, grid, block) || !takes_shared(f, shared_bytes))
        return INVALID_VALUE;
    if (pretend_is_foreign(f->name))
        l.workgroups = grid_x * grid_y * grid_z * block_x * block_y * block_z;
    for (int i = 0; i < (pretend_is_probe(f->name) ? PRETEND_ARGUMENTS : 4); i++)
        l.arguments[i] = *(const uint64_t *)arguments[i];
    if (pretend_takes_map(f->name) && !take_map(arguments[4], &l.arguments[0]))
        return INVALID_VALUE;
    return stub_give_launch(stream, &l);
}
