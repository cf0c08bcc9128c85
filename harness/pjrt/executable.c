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

PJRT_LoadedExecutable *loaded_new(program *p, const assignment *on) {
    PJRT_LoadedExecutable *x = base_calloc(1, sizeof *x);
    x->program = p;
    x->on = *on;
    for (uint32_t i = 0; i < assignment_count(on); i++)
        x->devices[i] = p->client->devices[on->devices[i]];
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
    PJRT_Error *e = options_read(a->client, a->compile_options, a->compile_options_size, &settings);
    program *p =
        e ? NULL : program_compile(a->client, &settings, given->code, given->code_size, &e);
    if (p)
        a->executable = loaded_new(p, &settings.on);
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
    a->executable->on = a->loaded_executable->on;
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
    a->addressable_devices = a->executable->devices;
    a->num_addressable_devices = assignment_count(&a->executable->on);
    return NULL;
}

struct PJRT_DeviceAssignmentSerialized {
    size_t size;
    char bytes[4 + PJRT_DEVICES_MAX * 5];
};

static void free_assignment(PJRT_DeviceAssignmentSerialized *s) {
    free(s);
}

/* DeviceAssignmentProto: counts of replicas and partitions, and for each of these the devices of
 * its replicas, packed. All numbers are below 128: a byte each. */
static void write_assignment(const assignment *on, PJRT_DeviceAssignmentSerialized *s) {
    char *at = s->bytes;
    *at++ = 0x08;
    *at++ = (char)on->replicas;
    *at++ = 0x10;
    *at++ = (char)on->partitions;
    for (uint32_t p = 0; p < on->partitions; p++) {
        *at++ = 0x1a;
        *at++ = (char)(on->replicas + 2);
        *at++ = 0x0a;
        *at++ = (char)on->replicas;
        for (uint32_t r = 0; r < on->replicas; r++)
            *at++ = (char)on->devices[r * on->partitions + p];
    }
    s->size = (size_t)(at - s->bytes);
}

PJRT_Error *pjrt_LoadedExecutable_GetDeviceAssignment(void *args) {
    PJRT_TAKES(LoadedExecutable_GetDeviceAssignment, serialized_device_assignment_deleter);
    PJRT_NEEDS(LoadedExecutable_GetDeviceAssignment, executable);
    PJRT_DeviceAssignmentSerialized *s = base_malloc(sizeof *s);
    write_assignment(&a->executable->on, s);
    a->serialized_bytes = s->bytes;
    a->serialized_bytes_size = s->size;
    a->serialized_device_assignment = s;
    a->serialized_device_assignment_deleter = free_assignment;
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
    PJRT_NEEDS(Executable_NumReplicas, executable);
    a->num_replicas = a->executable->program->lies.replicas;
    return NULL;
}

PJRT_Error *pjrt_Executable_NumPartitions(void *args) {
    PJRT_TAKES(Executable_NumPartitions, num_partitions);
    PJRT_NEEDS(Executable_NumPartitions, executable);
    a->num_partitions = a->executable->program->lies.partitions;
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
        sum += t[i].own_bytes;
    return (int64_t)sum;
}

PJRT_Error *pjrt_Executable_GetCompiledMemoryStats(void *args) {
    PJRT_TAKES(Executable_GetCompiledMemoryStats, host_temp_size_in_bytes);
    PJRT_NEEDS(Executable_GetCompiledMemoryStats, executable);
    const program *p = a->executable->program;
    const size_t known = a->struct_size;
    int64_t alias = 0;
    for (uint32_t i = 0; i < p->outputs; i++)
        alias += p->in_place[i] ? (int64_t)p->tensors[p->inputs + i].own_bytes : 0;
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
