/* plugin_kind.c - a plugin of PJRT as an implementation: it compiles the kernel's StableHLO, and a
 * call gives it the inputs and takes the outputs. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "guest/guest.h"
#include "pjrt/client.h"

#define PROGRAM_BYTES_MAX ((size_t)4 << 30)

/* Arrays have one for each tensor, the inputs first. */
typedef struct plugin_program {
    pjrt_plugin plugin;
    PJRT_LoadedExecutable *code;
    PJRT_Buffer **buffers;
    PJRT_Event **given; /* of inputs: the plugin needs the memory no more */
} plugin_program;

/* Plugins have as many threads as their maker may use processors, and these inherit them: so this
 * process has no more than threads that it was given (device/foreign relies on it). */
static void bind_processors(uint32_t threads) {
    cpu_set_t own, few;
    CPU_ZERO(&few);
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && (uint32_t)CPU_COUNT(&few) < threads; cpu++)
        if (CPU_ISSET(cpu, &own))
            CPU_SET(cpu, &few);
    (void)sched_setaffinity(0, sizeof few, &few);
}

/* ---- opening ---- */

static bool count_outputs(const plugin_program *o, size_t *count, status *st) {
    PJRT_LoadedExecutable_GetExecutable_Args get =
        PJRT_ARGS(LoadedExecutable_GetExecutable, .loaded_executable = o->code);
    if (!PJRT_CALL(&o->plugin, LoadedExecutable_GetExecutable, &get, st))
        return false;
    PJRT_Executable_NumOutputs_Args ask =
        PJRT_ARGS(Executable_NumOutputs, .executable = get.executable);
    PJRT_Executable_Destroy_Args end = PJRT_ARGS(Executable_Destroy, .executable = get.executable);
    bool ok = PJRT_CALL(&o->plugin, Executable_NumOutputs, &ask, st);
    *count = ask.num_outputs;
    return PJRT_CALL(&o->plugin, Executable_Destroy, &end, st) && ok;
}

static bool compile(plugin_program *o, const guest_function *s, status *st) {
    const char *path = json_string_value(json_object_get(s->description, "program"));
    char *program;
    size_t size, outputs = 0;
    if (!path)
        return status_set(st, STATUS_CORRUPT, "the description of a plugin's program has no file");
    if (!file_read(path, PROGRAM_BYTES_MAX, &program, &size, st))
        return false;
    bool ok = pjrt_compile(&o->plugin, program, size, &o->code, st);
    free(program);
    if (!ok && st->code == STATUS_INVALID) /* the kernel is right, and not for this plugin */
        st->code = STATUS_UNAVAILABLE;
    return ok && count_outputs(o, &outputs, st) &&
           (outputs == s->count - s->inputs ||
            status_set(st, STATUS_INVALID, "the plugin's program has %zu outputs, and kernel %s %u",
                       outputs, s->kernel, s->count - s->inputs));
}

bool plugin_kind_open(guest_function *s, status *st) {
    plugin_program *o = base_calloc(1, sizeof *o);
    s->own = o;
    o->buffers = base_calloc((size_t)s->count + 1, sizeof(PJRT_Buffer *));
    o->given = base_calloc((size_t)s->inputs + 1, sizeof(PJRT_Event *));
    for (uint32_t i = 0; i < s->count; i++)
        if (pjrt_type_of(s->types[i]) == PJRT_Buffer_Type_INVALID)
            return status_set(st, STATUS_UNAVAILABLE, "a plugin has no elements of type %s",
                              dtype_name(s->types[i]));
    bind_processors(s->threads);
    return pjrt_open(&o->plugin, s->path, st) && pjrt_start(&o->plugin, st) && compile(o, s, st);
}

/* ---- calls ---- */

/* A plugin that shares the host's memory may read the inputs where they are. */
static bool give(plugin_program *o, const guest_function *s, uint32_t i, status *st) {
    PJRT_Client_BufferFromHostBuffer_Args a =
        PJRT_ARGS(Client_BufferFromHostBuffer, .client = o->plugin.client,
                  .data = s->tensors[i].data, .type = pjrt_type_of(s->types[i]),
                  .dims = s->shapes[i], .num_dims = (size_t)s->tensors[i].ndim,
                  .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy,
                  .device = o->plugin.device);
    bool ok = PJRT_CALL(&o->plugin, Client_BufferFromHostBuffer, &a, st);
    o->buffers[i] = ok ? a.buffer : NULL;
    o->given[i] = ok ? a.done_with_host_buffer : NULL;
    return ok;
}

static bool execute(plugin_program *o, const guest_function *s, status *st) {
    PJRT_ExecuteOptions options = {.struct_size = sizeof options};
    PJRT_Buffer *const *arguments = o->buffers;
    PJRT_Buffer **results = o->buffers + s->inputs;
    PJRT_Event *done = NULL;
    PJRT_LoadedExecutable_Execute_Args a =
        PJRT_ARGS(LoadedExecutable_Execute, .executable = o->code, .options = &options,
                  .argument_lists = &arguments, .num_devices = 1, .num_args = s->inputs,
                  .output_lists = &results, .device_complete_events = &done);
    return PJRT_CALL(&o->plugin, LoadedExecutable_Execute, &a, st) &&
           pjrt_await(&o->plugin, done, st);
}

/* The address of an output that the host can read: a copy by the plugin would be another thread's
 * work. NULL: it lies elsewhere, or otherwise than here. */
static const void *host_memory(const plugin_program *o, uint32_t i, size_t bytes) {
    status ignored = STATUS_INIT;
    PJRT_Buffer_IsOnCpu_Args on = PJRT_ARGS(Buffer_IsOnCpu, .buffer = o->buffers[i]);
    PJRT_Buffer_OnDeviceSizeInBytes_Args size =
        PJRT_ARGS(Buffer_OnDeviceSizeInBytes, .buffer = o->buffers[i]);
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args place =
        PJRT_ARGS(Buffer_OpaqueDeviceMemoryDataPointer, .buffer = o->buffers[i]);
    const bool here = PJRT_CALL(&o->plugin, Buffer_IsOnCpu, &on, &ignored) && on.is_on_cpu &&
                      PJRT_CALL(&o->plugin, Buffer_OnDeviceSizeInBytes, &size, &ignored) &&
                      size.on_device_size_in_bytes == bytes &&
                      PJRT_CALL(&o->plugin, Buffer_OpaqueDeviceMemoryDataPointer, &place, &ignored);
    return here ? place.device_memory_ptr : NULL;
}

static bool copy_output(plugin_program *o, const guest_function *s, uint32_t i, size_t bytes,
                        status *st) {
    const void *here = host_memory(o, i, bytes);
    if (here) {
        memcpy(s->tensors[i].data, here, bytes);
        return true;
    }
    PJRT_Buffer_ToHostBuffer_Args ask = PJRT_ARGS(Buffer_ToHostBuffer, .src = o->buffers[i]);
    if (!PJRT_CALL(&o->plugin, Buffer_ToHostBuffer, &ask, st))
        return false;
    if (ask.dst_size != bytes)
        return status_set(st, STATUS_INVALID,
                          "the plugin's output '%s' has %zu bytes, and the kernel's %zu",
                          s->names[i], ask.dst_size, bytes);
    ask.dst = s->tensors[i].data;
    return PJRT_CALL(&o->plugin, Buffer_ToHostBuffer, &ask, st) &&
           pjrt_await(&o->plugin, ask.event, st);
}

/* Numbers of 4 bits have a byte each, whose upper half a plugin leaves zero. */
static bool take(plugin_program *o, const guest_function *s, uint32_t i, size_t bytes, status *st) {
    if (!copy_output(o, s, i, bytes, st))
        return false;
    unsigned char *at = s->tensors[i].data;
    for (size_t k = 0; k < bytes && s->types[i] == DTYPE_I4; k++)
        at[k] = (unsigned char)((at[k] & 0xF) | (at[k] & 0x8 ? 0xF0 : 0));
    return true;
}

static size_t bytes_of(const guest_function *s, uint32_t i) {
    size_t bytes = dtype_size(s->types[i]);
    for (int axis = 0; axis < s->tensors[i].ndim; axis++)
        bytes *= (size_t)s->shapes[i][axis];
    return bytes;
}

/* The memory of an input is the caller's again when its event has happened: with the buffer's end
 * at the latest. */
static bool drop(plugin_program *o, uint32_t count, uint32_t inputs, status *st) {
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        PJRT_Buffer_Destroy_Args end = PJRT_ARGS(Buffer_Destroy, .buffer = o->buffers[i]);
        ok = (!o->buffers[i] || PJRT_CALL(&o->plugin, Buffer_Destroy, &end, st)) && ok;
        o->buffers[i] = NULL;
        if (i < inputs)
            ok = pjrt_await(&o->plugin, o->given[i], st) && ok;
    }
    return ok;
}

bool plugin_kind_call(guest_function *s, status *st) {
    plugin_program *o = s->own;
    bool ok = true;
    for (uint32_t i = 0; i < s->inputs; i++)
        o->given[i] = NULL;
    for (uint32_t i = 0; i < s->inputs && ok; i++)
        ok = give(o, s, i, st);
    ok = ok && execute(o, s, st);
    for (uint32_t i = s->inputs; i < s->count && ok; i++)
        ok = take(o, s, i, bytes_of(s, i), st);
    return drop(o, s->count, s->inputs, st) && ok;
}
