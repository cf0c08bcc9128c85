/* ffi.c - kernels as custom calls of XLA: one handler for all, whose attribute `module` is the
 * number of a loaded module. XLA calls it from any of its threads, without Python's lock. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "xla_ffi.h"

/* Modules that programs of XLA may call, kept as long as the process lives. */
static struct registry {
    pthread_mutex_t lock;
    module_object **list;
    size_t count;
} modules = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const module_object *module_numbered(int64_t number) {
    pthread_mutex_lock(&modules.lock);
    const module_object *m =
        number >= 0 && (size_t)number < modules.count ? modules.list[number] : NULL;
    pthread_mutex_unlock(&modules.lock);
    return m;
}

static XLA_FFI_Error *fails(const XLA_FFI_CallFrame *f, XLA_FFI_Error_Code code, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));
static XLA_FFI_Error *fails(const XLA_FFI_CallFrame *f, XLA_FFI_Error_Code code, const char *format,
                            ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return f->api->XLA_FFI_Error_Create(&(XLA_FFI_Error_Create_Args){
        .struct_size = sizeof(XLA_FFI_Error_Create_Args), .message = message, .errc = code});
}

/* Tells the version of the interface, which is asked for when the handler is registered. */
static bool tells_version(const XLA_FFI_CallFrame *f) {
    for (XLA_FFI_Extension_Base *e = f->extension_start; e; e = e->next) {
        if (e->type != XLA_FFI_Extension_Metadata)
            continue;
        XLA_FFI_Metadata *m = ((XLA_FFI_Metadata_Extension *)e)->metadata;
        m->api_version.major_version = 0;
        m->api_version.minor_version = 1;
        m->traits = 0;
        return true;
    }
    return false;
}

static const module_object *module_of(const XLA_FFI_CallFrame *f) {
    static const char word[] = "module";
    for (int64_t i = 0; i < f->attrs.size; i++) {
        const XLA_FFI_ByteSpan *name = f->attrs.names[i];
        const XLA_FFI_Scalar *value = f->attrs.attrs[i];
        if (name->len == sizeof word - 1 && memcmp(name->ptr, word, name->len) == 0 &&
            f->attrs.types[i] == XLA_FFI_AttrType_SCALAR && value->dtype == XLA_FFI_DataType_S64)
            return module_numbered(*(const int64_t *)value->value);
    }
    return NULL;
}

/* The memory of a buffer of the shape that the kernel has there; NULL: it has another one. */
static void *memory_of(const module_object *m, uint32_t index, const XLA_FFI_Buffer *b) {
    const int64_t *dims;
    uint32_t rank;
    if (tsrGetKernelParameter(m->kernel, index, NULL, NULL, &rank, &dims) != TSR_SUCCESS ||
        (int64_t)rank != b->rank || (rank && memcmp(dims, b->dims, rank * sizeof *dims) != 0))
        return NULL;
    return b->data;
}

static XLA_FFI_Error *run(const XLA_FFI_CallFrame *f, const module_object *m, void **room) {
    const uint32_t count = m->inputs + m->outputs;
    for (uint32_t i = 0; i < count; i++) {
        const bool is_input = i < m->inputs;
        const XLA_FFI_Buffer *b = is_input ? f->args.args[i] : f->rets.rets[i - m->inputs];
        const bool is_buffer = is_input ? f->args.types[i] == XLA_FFI_ArgType_BUFFER
                                        : f->rets.types[i - m->inputs] == XLA_FFI_RetType_BUFFER;
        room[i] = is_buffer ? memory_of(m, i, b) : NULL;
        room[count + i] = &room[i];
        if (!room[i])
            return fails(f, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                         "%s %u has another shape than the kernel was compiled for",
                         is_input ? "argument" : "result", is_input ? i : i - m->inputs);
    }
    if (tsrLaunch(m->kernel, NULL, (tsr_launch_t){0}, room + count, count) != TSR_SUCCESS)
        return fails(f, XLA_FFI_Error_Code_INTERNAL, "%s", tsrGetLastError());
    return NULL;
}

static XLA_FFI_Error *handle(XLA_FFI_CallFrame *f) {
    enum { FEW = 32 };
    if (tells_version(f) || f->stage != XLA_FFI_ExecutionStage_EXECUTE)
        return NULL;
    const module_object *m = module_of(f);
    if (!m)
        return fails(f, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                     "no kernel of this process has the number in 'module': a program that was "
                     "compiled in another process is compiled again");
    if (f->args.size != m->inputs || f->rets.size != m->outputs)
        return fails(f, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                     "the kernel takes %u arrays and gives %u, not %lld and %lld", m->inputs,
                     m->outputs, (long long)f->args.size, (long long)f->rets.size);
    const size_t count = 2 * ((size_t)m->inputs + m->outputs);
    void *few[2 * FEW], **room = count <= 2 * FEW ? few : malloc(count * sizeof *room);
    XLA_FFI_Error *e =
        room ? run(f, m, room) : fails(f, XLA_FFI_Error_Code_INTERNAL, "there is no memory");
    if (room != few)
        free(room);
    return e;
}

PyObject *ffi_handler(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    return PyCapsule_New((void *)(uintptr_t)handle, NULL, NULL);
}

PyObject *ffi_keep(PyObject *module, PyObject *kept) {
    (void)module;
    if (!loaded_check(kept)) {
        PyErr_SetString(PyExc_TypeError, "a Module is needed");
        return NULL;
    }
    pthread_mutex_lock(&modules.lock);
    module_object **list =
        realloc(modules.list, (modules.count + 1) * sizeof *modules.list); // NOLINT
    if (list) {
        modules.list = list;
        list[modules.count++] = (module_object *)kept;
        Py_INCREF(kept);
    }
    const size_t number = modules.count - 1;
    pthread_mutex_unlock(&modules.lock);
    return list ? PyLong_FromSize_t(number) : PyErr_NoMemory();
}
