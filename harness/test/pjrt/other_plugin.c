/* other_plugin.c - a plugin of PJRT with one device, whose programs are all the same: each output
 * is the sums of the rows of the last input, a matrix of f32, added from the last element to the
 * first. OTHER_PLUGIN makes it wrong: "no table", "old", "no device", "refuses", "aborts", "another
 * count", "fails". */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt/pjrt.h"

struct PJRT_Error {
    PJRT_Error_Code code;
    const char *message;
};
struct PJRT_Client {
    int unused;
};
struct PJRT_Device {
    int unused;
};
struct PJRT_LoadedExecutable {
    size_t outputs;
};
struct PJRT_Buffer {
    int64_t rows, columns; /* 1 where there are none */
    float *data;
};

static bool is(const char *fault) {
    const char *asked = getenv("OTHER_PLUGIN");
    return asked && strcmp(asked, fault) == 0;
}

static PJRT_Error *fail(PJRT_Error_Code code, const char *message) {
    PJRT_Error *e = malloc(sizeof *e);
    if (e)
        *e = (PJRT_Error){code, message};
    return e;
}

static PJRT_Error *error_destroy(void *args) {
    free(((PJRT_Error_Destroy_Args *)args)->error);
    return NULL;
}

static PJRT_Error *error_message(void *args) {
    PJRT_Error_Message_Args *a = args;
    a->message = a->error->message;
    a->message_size = strlen(a->message);
    return NULL;
}

static PJRT_Error *error_code(void *args) {
    PJRT_Error_GetCode_Args *a = args;
    a->code = a->error->code;
    return NULL;
}

static PJRT_Error *nothing(void *args) {
    (void)args;
    return NULL;
}

static PJRT_Error *client_create(void *args) {
    static PJRT_Client client;
    if (is("no device"))
        return fail(PJRT_Error_Code_UNAVAILABLE, "no card is in this machine");
    ((PJRT_Client_Create_Args *)args)->client = &client;
    return NULL;
}

static PJRT_Error *devices(void *args) {
    static PJRT_Device device, *const all[] = {&device};
    PJRT_Client_AddressableDevices_Args *a = args;
    a->addressable_devices = all;
    a->num_addressable_devices = 1;
    return NULL;
}

/* As many outputs as the type of main has. */
static PJRT_Error *compile(void *args) {
    static PJRT_LoadedExecutable code;
    PJRT_Client_Compile_Args *a = args;
    const char *at = strstr(strstr(a->program->code, "@main"), "-> ("), *end = strchr(at, '{');
    code.outputs = 0;
    while ((at = strstr(at + 1, "tensor<")) && at < end)
        code.outputs++;
    a->executable = &code;
    if (is("aborts")) {
        (void)fputs("an invariant of the plugin does not hold\n", stderr);
        abort();
    }
    return is("refuses") ? fail(PJRT_Error_Code_INVALID_ARGUMENT, "no such operation") : NULL;
}

static PJRT_Error *get_executable(void *args) {
    PJRT_LoadedExecutable_GetExecutable_Args *a = args;
    a->executable = (PJRT_Executable *)a->loaded_executable;
    return NULL;
}

static PJRT_Error *outputs(void *args) {
    PJRT_Executable_NumOutputs_Args *a = args;
    a->num_outputs = is("another count") ? 7 : ((PJRT_LoadedExecutable *)a->executable)->outputs;
    return NULL;
}

static PJRT_Error *put(void *args) {
    PJRT_Client_BufferFromHostBuffer_Args *a = args;
    PJRT_Buffer *b = calloc(1, sizeof *b);
    if (!b)
        return fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "no memory");
    b->rows = a->num_dims > 0 ? a->dims[0] : 1;
    b->columns = a->num_dims > 1 ? a->dims[1] : 1;
    const size_t bytes = (size_t)(b->rows * b->columns) * sizeof(float);
    b->data = malloc(bytes + 1);
    if (b->data)
        memcpy(b->data, a->data, bytes);
    a->buffer = b;
    return NULL;
}

static bool sum_rows(const PJRT_Buffer *x, PJRT_Buffer **out) {
    PJRT_Buffer *sums = *out = calloc(1, sizeof *sums);
    if (!sums || !(sums->data = calloc((size_t)x->rows + 1, sizeof(float))))
        return false;
    sums->rows = x->rows;
    sums->columns = 1;
    for (int64_t row = 0; row < x->rows; row++)
        for (int64_t k = x->columns; k-- > 0;)
            sums->data[row] += x->data[row * x->columns + k];
    return true;
}

static PJRT_Error *execute(void *args) {
    const PJRT_LoadedExecutable_Execute_Args *a = args;
    if (is("fails"))
        return fail(PJRT_Error_Code_INTERNAL, "the card is on fire");
    for (size_t i = 0; i < a->executable->outputs; i++)
        if (!sum_rows(a->argument_lists[0][a->num_args - 1], &a->output_lists[0][i]))
            return fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "no memory");
    return NULL;
}

static PJRT_Error *get(void *args) {
    PJRT_Buffer_ToHostBuffer_Args *a = args;
    const size_t bytes = (size_t)(a->src->rows * a->src->columns) * sizeof(float);
    if (a->dst)
        memcpy(a->dst, a->src->data, bytes);
    a->dst_size = bytes;
    return NULL;
}

static PJRT_Error *drop(void *args) {
    PJRT_Buffer *b = ((PJRT_Buffer_Destroy_Args *)args)->buffer;
    free(b->data);
    free(b);
    return NULL;
}

/* ---- devices that are not here: toy:2 is two of them ---- */

struct PJRT_TopologyDescription {
    int unused;
};
struct PJRT_DeviceDescription {
    int id;
};

static PJRT_Error *make_topology(void *args) {
    static PJRT_TopologyDescription toy;
    PJRT_TopologyDescription_Create_Args *a = args;
    if (a->topology_name_size != 5 || memcmp(a->topology_name, "toy:2", 5) != 0)
        return fail(PJRT_Error_Code_INVALID_ARGUMENT, "the only topology is toy:2");
    a->topology = &toy;
    return NULL;
}

static PJRT_Error *describe_devices(void *args) {
    static PJRT_DeviceDescription two[] = {{0}, {1}}, *const all[] = {&two[0], &two[1]};
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *a = args;
    a->descriptions = all;
    a->num_descriptions = 2;
    return NULL;
}

static PJRT_Error *device_id(void *args) {
    PJRT_DeviceDescription_Id_Args *a = args;
    a->id = a->device_description->id;
    return NULL;
}

static PJRT_Error *device_kind(void *args) {
    PJRT_DeviceDescription_Kind_Args *a = args;
    a->device_kind = "toy";
    a->device_kind_size = 3;
    return NULL;
}

static PJRT_Error *device_words(void *args) {
    PJRT_DeviceDescription_ToString_Args *a = args;
    a->to_string = a->device_description->id ? "the second toy" : "the first toy";
    a->to_string_size = strlen(a->to_string);
    return NULL;
}

static PJRT_Error *compile_for(void *args) {
    static int code;
    ((PJRT_Compile_Args *)args)->executable = (PJRT_Executable *)(void *)&code;
    return is("refuses") ? fail(PJRT_Error_Code_INVALID_ARGUMENT, "no such operation") : NULL;
}

static PJRT_Error *code_memory(void *args) {
    PJRT_Executable_GetCompiledMemoryStats_Args *a = args;
    a->generated_code_size_in_bytes = 128;
    a->argument_size_in_bytes = 64;
    a->output_size_in_bytes = 32;
    a->temp_size_in_bytes = 0;
    return NULL;
}

static PJRT_Error *code_cost(void *args) {
    static const PJRT_NamedValue cost = {.name = "flops",
                                         .name_size = 5,
                                         .type = PJRT_NamedValue_kFloat,
                                         .float_value = 42,
                                         .value_size = 1};
    PJRT_Executable_GetCostAnalysis_Args *a = args;
    a->properties = &cost;
    a->num_properties = 1;
    return NULL;
}

static PJRT_Error *code_text(void *args) {
    static const char text[] =
        "{\"estimated_cycles\":\"1000\"} then {\"estimated_cycles\":\"234\"}";
    PJRT_Executable_OptimizedProgram_Args *a = args;
    a->program->code_size = sizeof text - 1;
    if (a->program->code)
        memcpy(a->program->code, text, sizeof text - 1);
    return NULL;
}

const PJRT_Api *GetPjrtApi(void) {
    static PJRT_Api api = {
        .struct_size = sizeof api,
        .pjrt_api_version = {.major_version = PJRT_API_MAJOR, .minor_version = PJRT_API_MINOR},
        .Error_Destroy = error_destroy,
        .Error_Message = error_message,
        .Error_GetCode = error_code,
        .Plugin_Initialize = nothing,
        .Client_Create = client_create,
        .Client_AddressableDevices = devices,
        .Client_Compile = compile,
        .LoadedExecutable_GetExecutable = get_executable,
        .Executable_NumOutputs = outputs,
        .Executable_Destroy = nothing,
        .Client_BufferFromHostBuffer = put,
        .LoadedExecutable_Execute = execute,
        .Buffer_ToHostBuffer = get,
        .Buffer_Destroy = drop,
        .TopologyDescription_Create = make_topology,
        .TopologyDescription_GetDeviceDescriptions = describe_devices,
        .DeviceDescription_Id = device_id,
        .DeviceDescription_Kind = device_kind,
        .DeviceDescription_ToString = device_words,
        .Compile = compile_for,
        .Executable_GetCompiledMemoryStats = code_memory,
        .Executable_GetCostAnalysis = code_cost,
        .Executable_OptimizedProgram = code_text};
    if (is("old"))
        api.pjrt_api_version.minor_version = 12;
    return is("no table") ? NULL : &api;
}
