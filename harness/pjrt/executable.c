/* executable.c - what is asked of a program that was compiled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "pjrt/plugin.h"

static program *hold(program *p) {
    atomic_fetch_add(&p->holders, 1);
    return p;
}

PJRT_LoadedExecutable *loaded_new(program *p) {
    PJRT_LoadedExecutable *x = base_malloc(sizeof *x);
    x->program = p;
    atomic_init(&x->deleted, false);
    return x;
}

PJRT_Error *pjrt_Client_Compile(void *args) {
    PJRT_TAKES(Client_Compile, executable);
    PJRT_NEEDS(Client_Compile, client);
    PJRT_NEEDS(Client_Compile, program);
    static const char format[] = "mlir";
    const PJRT_Program *given = a->program;
    if (given->format_size != sizeof format - 1 ||
        memcmp(given->format, format, sizeof format - 1) != 0)
        return error_new(PJRT_Error_Code_UNIMPLEMENTED,
                         "programs of the format '%.*s' are not supported: they are 'mlir'",
                         given->format_size < 40 ? (int)given->format_size : 40,
                         given->format ? given->format : "");
    if (!given->code)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "the program has no code");
    compile_settings settings;
    snprintf(settings.profile, sizeof settings.profile, "%s", a->client->profile);
    PJRT_Error *e = options_read(a->compile_options, a->compile_options_size, &settings);
    program *p =
        e ? NULL : program_compile(a->client, &settings, given->code, given->code_size, &e);
    if (p)
        a->executable = loaded_new(p);
    return e;
}

PJRT_Error *pjrt_LoadedExecutable_Destroy(void *args) {
    PJRT_TAKES(LoadedExecutable_Destroy, executable);
    if (a->executable)
        program_release(a->executable->program);
    free(a->executable);
    return NULL;
}

PJRT_Error *pjrt_LoadedExecutable_GetExecutable(void *args) {
    PJRT_TAKES(LoadedExecutable_GetExecutable, executable);
    PJRT_NEEDS(LoadedExecutable_GetExecutable, loaded_executable);
    a->executable = base_malloc(sizeof *a->executable);
    a->executable->program = hold(a->loaded_executable->program);
    return NULL;
}

PJRT_Error *pjrt_Executable_Destroy(void *args) {
    PJRT_TAKES(Executable_Destroy, executable);
    if (a->executable)
        program_release(a->executable->program);
    free(a->executable);
    return NULL;
}

PJRT_Error *pjrt_LoadedExecutable_Delete(void *args) {
    PJRT_TAKES(LoadedExecutable_Delete, executable);
    PJRT_NEEDS(LoadedExecutable_Delete, executable);
    atomic_store(&a->executable->deleted, true);
    return NULL;
}

PJRT_Error *pjrt_LoadedExecutable_IsDeleted(void *args) {
    PJRT_TAKES(LoadedExecutable_IsDeleted, is_deleted);
    PJRT_NEEDS(LoadedExecutable_IsDeleted, executable);
    a->is_deleted = atomic_load(&a->executable->deleted);
    return NULL;
}

PJRT_Error *pjrt_LoadedExecutable_AddressableDevices(void *args) {
    PJRT_TAKES(LoadedExecutable_AddressableDevices, num_addressable_devices);
    PJRT_NEEDS(LoadedExecutable_AddressableDevices, executable);
    a->addressable_devices = a->executable->program->client->devices;
    a->num_addressable_devices = 1;
    return NULL;
}

static void free_nothing(PJRT_DeviceAssignmentSerialized *unused) {
    (void)unused;
}

/* DeviceAssignmentProto: one replica, one computation, on device 0. */
PJRT_Error *pjrt_LoadedExecutable_GetDeviceAssignment(void *args) {
    PJRT_TAKES(LoadedExecutable_GetDeviceAssignment, serialized_device_assignment_deleter);
    static const char one[] = {0x08, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, 0};
    a->serialized_bytes = one;
    a->serialized_bytes_size = sizeof one;
    a->serialized_device_assignment = NULL;
    a->serialized_device_assignment_deleter = free_nothing;
    return NULL;
}

PJRT_Error *pjrt_LoadedExecutable_Fingerprint(void *args) {
    PJRT_TAKES(LoadedExecutable_Fingerprint, executable_fingerprint_size);
    PJRT_NEEDS(LoadedExecutable_Fingerprint, executable);
    a->executable_fingerprint = a->executable->program->fingerprint;
    a->executable_fingerprint_size = strlen(a->executable_fingerprint);
    return NULL;
}

PJRT_Error *pjrt_Executable_Fingerprint(void *args) {
    PJRT_TAKES(Executable_Fingerprint, executable_fingerprint_size);
    PJRT_NEEDS(Executable_Fingerprint, executable);
    a->executable_fingerprint = a->executable->program->fingerprint;
    a->executable_fingerprint_size = strlen(a->executable_fingerprint);
    return NULL;
}

PJRT_Error *pjrt_Executable_Name(void *args) {
    PJRT_TAKES(Executable_Name, executable_name_size);
    PJRT_NEEDS(Executable_Name, executable);
    a->executable_name = a->executable->program->name;
    a->executable_name_size = strlen(a->executable_name);
    return NULL;
}

PJRT_Error *pjrt_Executable_NumReplicas(void *args) {
    PJRT_TAKES(Executable_NumReplicas, num_replicas);
    a->num_replicas = 1;
    return NULL;
}

PJRT_Error *pjrt_Executable_NumPartitions(void *args) {
    PJRT_TAKES(Executable_NumPartitions, num_partitions);
    a->num_partitions = 1;
    return NULL;
}

PJRT_Error *pjrt_Executable_NumOutputs(void *args) {
    PJRT_TAKES(Executable_NumOutputs, num_outputs);
    PJRT_NEEDS(Executable_NumOutputs, executable);
    a->num_outputs = a->executable->program->outputs;
    return NULL;
}

PJRT_Error *pjrt_Executable_SizeOfGeneratedCodeInBytes(void *args) {
    PJRT_TAKES(Executable_SizeOfGeneratedCodeInBytes, size_in_bytes);
    PJRT_NEEDS(Executable_SizeOfGeneratedCodeInBytes, executable);
    a->size_in_bytes = (int64_t)a->executable->program->image_bytes;
    return NULL;
}

static int64_t bytes_of(const program_tensor *t, uint32_t count) {
    size_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += t[i].bytes;
    return (int64_t)sum;
}

PJRT_Error *pjrt_Executable_GetCompiledMemoryStats(void *args) {
    PJRT_TAKES(Executable_GetCompiledMemoryStats, host_temp_size_in_bytes);
    PJRT_NEEDS(Executable_GetCompiledMemoryStats, executable);
    const program *p = a->executable->program;
    const size_t known = a->struct_size;
    int64_t alias = 0;
    for (uint32_t i = 0; i < p->outputs; i++)
        alias += p->in_place[i] ? (int64_t)p->tensors[p->inputs + i].bytes : 0;
    a->generated_code_size_in_bytes = (int64_t)p->image_bytes;
    a->argument_size_in_bytes = bytes_of(p->tensors, p->inputs);
    a->output_size_in_bytes = bytes_of(p->tensors + p->inputs, p->outputs);
    a->alias_size_in_bytes = alias;
    a->temp_size_in_bytes = (int64_t)p->workspace_bytes;
    a->host_generated_code_size_in_bytes = a->host_argument_size_in_bytes = 0;
    a->host_output_size_in_bytes = a->host_alias_size_in_bytes = a->host_temp_size_in_bytes = 0;
    if (known >= sizeof *a)
        a->peak_memory_in_bytes =
            a->argument_size_in_bytes + a->output_size_in_bytes - alias + a->temp_size_in_bytes;
    return NULL;
}

PJRT_Error *pjrt_Executable_OutputElementTypes(void *args) {
    PJRT_TAKES(Executable_OutputElementTypes, num_output_types);
    PJRT_NEEDS(Executable_OutputElementTypes, executable);
    a->output_types = a->executable->program->listed.types;
    a->num_output_types = a->executable->program->outputs;
    return NULL;
}

PJRT_Error *pjrt_Executable_OutputDimensions(void *args) {
    PJRT_TAKES(Executable_OutputDimensions, dim_sizes);
    PJRT_NEEDS(Executable_OutputDimensions, executable);
    a->num_outputs = a->executable->program->outputs;
    a->dims = a->executable->program->listed.dims;
    a->dim_sizes = a->executable->program->listed.ranks;
    return NULL;
}

PJRT_Error *pjrt_Executable_OutputMemoryKinds(void *args) {
    PJRT_TAKES(Executable_OutputMemoryKinds, memory_kind_sizes);
    PJRT_NEEDS(Executable_OutputMemoryKinds, executable);
    a->num_outputs = a->executable->program->outputs;
    a->memory_kinds = a->executable->program->listed.kinds;
    a->memory_kind_sizes = a->executable->program->listed.kind_sizes;
    return NULL;
}
