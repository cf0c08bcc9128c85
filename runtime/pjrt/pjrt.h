/* pjrt.h - the part of the interface PJRT, version 0.81, that our plugin (harness/pjrt) has and our
 * client (client.h) asks for: by it frameworks hand programs to devices. Names and layouts are the
 * interface's own (ci/pjrt compares them).
 *
 * Every function takes a struct that begins with the size that the caller knows, and gives an
 * error, which the caller destroys, or NULL. What it asks for stands in the members behind. */
#ifndef TESSERA_RUNTIME_PJRT_H
#define TESSERA_RUNTIME_PJRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PJRT_API_MAJOR = 0, PJRT_API_MINOR = 81 };

typedef struct PJRT_Error PJRT_Error;
typedef struct PJRT_Event PJRT_Event;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_Device PJRT_Device;
typedef struct PJRT_DeviceDescription PJRT_DeviceDescription;
typedef struct PJRT_Memory PJRT_Memory;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_Executable PJRT_Executable;
typedef struct PJRT_LoadedExecutable PJRT_LoadedExecutable;
typedef struct PJRT_SerializedExecutable PJRT_SerializedExecutable;
typedef struct PJRT_DeviceAssignmentSerialized PJRT_DeviceAssignmentSerialized;
typedef struct PJRT_TopologyDescription PJRT_TopologyDescription;

typedef enum PJRT_Error_Code {
    PJRT_Error_Code_CANCELLED = 1,
    PJRT_Error_Code_UNKNOWN,
    PJRT_Error_Code_INVALID_ARGUMENT,
    PJRT_Error_Code_DEADLINE_EXCEEDED,
    PJRT_Error_Code_NOT_FOUND,
    PJRT_Error_Code_ALREADY_EXISTS,
    PJRT_Error_Code_PERMISSION_DENIED,
    PJRT_Error_Code_RESOURCE_EXHAUSTED,
    PJRT_Error_Code_FAILED_PRECONDITION,
    PJRT_Error_Code_ABORTED,
    PJRT_Error_Code_OUT_OF_RANGE,
    PJRT_Error_Code_UNIMPLEMENTED,
    PJRT_Error_Code_INTERNAL,
    PJRT_Error_Code_UNAVAILABLE,
    PJRT_Error_Code_DATA_LOSS,
    PJRT_Error_Code_UNAUTHENTICATED
} PJRT_Error_Code;

/* Element types that there are here; others are refused by number. */
typedef enum PJRT_Buffer_Type {
    PJRT_Buffer_Type_INVALID,
    PJRT_Buffer_Type_PRED,
    PJRT_Buffer_Type_S8,
    PJRT_Buffer_Type_S16,
    PJRT_Buffer_Type_S32,
    PJRT_Buffer_Type_S64,
    PJRT_Buffer_Type_U8,
    PJRT_Buffer_Type_U16,
    PJRT_Buffer_Type_U32,
    PJRT_Buffer_Type_U64,
    PJRT_Buffer_Type_F16,
    PJRT_Buffer_Type_F32,
    PJRT_Buffer_Type_F64,
    PJRT_Buffer_Type_BF16,
    PJRT_Buffer_Type_C64,
    PJRT_Buffer_Type_C128,
    PJRT_Buffer_Type_F8E5M2,
    PJRT_Buffer_Type_F8E4M3FN,
    PJRT_Buffer_Type_S4 = 21,
    PJRT_Buffer_Type_U4,
    PJRT_Buffer_Type_S2 = 24,
    PJRT_Buffer_Type_U2
} PJRT_Buffer_Type;

typedef enum PJRT_HostBufferSemantics {
    PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
    PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes,
    PJRT_HostBufferSemantics_kImmutableZeroCopy,
    PJRT_HostBufferSemantics_kMutableZeroCopy
} PJRT_HostBufferSemantics;

typedef enum PJRT_NamedValue_Type {
    PJRT_NamedValue_kString,
    PJRT_NamedValue_kInt64,
    PJRT_NamedValue_kInt64List,
    PJRT_NamedValue_kFloat,
    PJRT_NamedValue_kBool
} PJRT_NamedValue_Type;

/* A struct that begins like all of them do. */
#define PJRT_STRUCT(NAME, ...)                                                                     \
    typedef struct PJRT_##NAME {                                                                   \
        size_t struct_size;                                                                        \
        void *extension_start;                                                                     \
        __VA_ARGS__                                                                                \
    } PJRT_##NAME;

/* clang-format off */
PJRT_STRUCT(Api_Version, int major_version; int minor_version;)
PJRT_STRUCT(NamedValue,
    const char *name; size_t name_size; PJRT_NamedValue_Type type;
    union {
        const char *string_value; int64_t int64_value; const int64_t *int64_array_value;
        float float_value; bool bool_value;
    };
    size_t value_size; /* of a text or a list; else 1 */)
PJRT_STRUCT(Program,
    char *code; size_t code_size; const char *format; size_t format_size;)

typedef enum PJRT_Buffer_MemoryLayout_Type {
    PJRT_Buffer_MemoryLayout_Type_Tiled,
    PJRT_Buffer_MemoryLayout_Type_Strides
} PJRT_Buffer_MemoryLayout_Type;
PJRT_STRUCT(Buffer_MemoryLayout_Tiled,
    const int64_t *minor_to_major; size_t minor_to_major_size; const int64_t *tile_dims;
    const size_t *tile_dim_sizes; size_t num_tiles;)
PJRT_STRUCT(Buffer_MemoryLayout_Strides, const int64_t *byte_strides; size_t num_byte_strides;)
PJRT_STRUCT(Buffer_MemoryLayout,
    union { PJRT_Buffer_MemoryLayout_Tiled tiled; PJRT_Buffer_MemoryLayout_Strides strides; };
    PJRT_Buffer_MemoryLayout_Type type;)
PJRT_STRUCT(ExecuteOptions,
    void **send_callbacks; void **recv_callbacks; size_t num_send_ops; size_t num_recv_ops;
    int launch_id; const int64_t *non_donatable_input_indices;
    size_t num_non_donatable_input_indices; void *context; const char *call_location;
    size_t num_tasks; int *task_ids; int64_t *incarnation_ids;)

/* ---- what each function takes ---- */
PJRT_STRUCT(Error_Destroy_Args, PJRT_Error *error;)
PJRT_STRUCT(Error_Message_Args, const PJRT_Error *error; const char *message; size_t message_size;)
PJRT_STRUCT(Error_GetCode_Args, const PJRT_Error *error; PJRT_Error_Code code;)
PJRT_STRUCT(Plugin_Initialize_Args,)
PJRT_STRUCT(Plugin_Attributes_Args, const PJRT_NamedValue *attributes; size_t num_attributes;)
PJRT_STRUCT(Event_Destroy_Args, PJRT_Event *event;)
PJRT_STRUCT(Event_IsReady_Args, PJRT_Event *event; bool is_ready;)
PJRT_STRUCT(Event_Error_Args, PJRT_Event *event;)
PJRT_STRUCT(Event_Await_Args, PJRT_Event *event;)
PJRT_STRUCT(Event_OnReady_Args,
    PJRT_Event *event; void (*callback)(PJRT_Error *, void *); void *user_arg;)
PJRT_STRUCT(Client_Create_Args,
    const PJRT_NamedValue *create_options; size_t num_options; void *kv_get_callback;
    void *kv_get_user_arg; void *kv_put_callback; void *kv_put_user_arg; PJRT_Client *client;
    void *kv_try_get_callback; void *kv_try_get_user_arg;)
PJRT_STRUCT(Client_Destroy_Args, PJRT_Client *client;)
PJRT_STRUCT(Client_PlatformName_Args,
    PJRT_Client *client; const char *platform_name; size_t platform_name_size;)
PJRT_STRUCT(Client_ProcessIndex_Args, PJRT_Client *client; int process_index;)
PJRT_STRUCT(Client_PlatformVersion_Args,
    PJRT_Client *client; const char *platform_version; size_t platform_version_size;)
PJRT_STRUCT(Client_Devices_Args,
    PJRT_Client *client; PJRT_Device *const *devices; size_t num_devices;)
PJRT_STRUCT(Client_AddressableDevices_Args,
    PJRT_Client *client; PJRT_Device *const *addressable_devices;
    size_t num_addressable_devices;)
PJRT_STRUCT(Client_LookupDevice_Args, PJRT_Client *client; int id; PJRT_Device *device;)
PJRT_STRUCT(Client_LookupAddressableDevice_Args,
    PJRT_Client *client; int local_hardware_id; PJRT_Device *addressable_device;)
PJRT_STRUCT(Client_AddressableMemories_Args,
    PJRT_Client *client; PJRT_Memory *const *addressable_memories;
    size_t num_addressable_memories;)
PJRT_STRUCT(Client_Compile_Args,
    PJRT_Client *client; const PJRT_Program *program; const char *compile_options;
    size_t compile_options_size; PJRT_LoadedExecutable *executable;)
PJRT_STRUCT(Client_DefaultDeviceAssignment_Args,
    PJRT_Client *client; int num_replicas; int num_partitions; size_t default_assignment_size;
    int *default_assignment;)
PJRT_STRUCT(Client_BufferFromHostBuffer_Args,
    PJRT_Client *client; const void *data; PJRT_Buffer_Type type; const int64_t *dims;
    size_t num_dims; const int64_t *byte_strides; size_t num_byte_strides;
    PJRT_HostBufferSemantics host_buffer_semantics; PJRT_Device *device; PJRT_Memory *memory;
    PJRT_Buffer_MemoryLayout *device_layout; PJRT_Event *done_with_host_buffer;
    PJRT_Buffer *buffer;)
PJRT_STRUCT(DeviceDescription_Id_Args, PJRT_DeviceDescription *device_description; int id;)
PJRT_STRUCT(DeviceDescription_ProcessIndex_Args,
    PJRT_DeviceDescription *device_description; int process_index;)
PJRT_STRUCT(DeviceDescription_Attributes_Args,
    PJRT_DeviceDescription *device_description; size_t num_attributes;
    const PJRT_NamedValue *attributes;)
PJRT_STRUCT(DeviceDescription_Kind_Args,
    PJRT_DeviceDescription *device_description; const char *device_kind;
    size_t device_kind_size;)
PJRT_STRUCT(DeviceDescription_DebugString_Args,
    PJRT_DeviceDescription *device_description; const char *debug_string;
    size_t debug_string_size;)
PJRT_STRUCT(DeviceDescription_ToString_Args,
    PJRT_DeviceDescription *device_description; const char *to_string; size_t to_string_size;)
PJRT_STRUCT(Device_GetDescription_Args,
    PJRT_Device *device; PJRT_DeviceDescription *device_description;)
PJRT_STRUCT(Device_IsAddressable_Args, PJRT_Device *device; bool is_addressable;)
PJRT_STRUCT(Device_LocalHardwareId_Args, PJRT_Device *device; int local_hardware_id;)
PJRT_STRUCT(Device_AddressableMemories_Args,
    PJRT_Device *device; PJRT_Memory *const *memories; size_t num_memories;)
PJRT_STRUCT(Device_DefaultMemory_Args, PJRT_Device *device; PJRT_Memory *memory;)
PJRT_STRUCT(Memory_Id_Args, PJRT_Memory *memory; int id;)
PJRT_STRUCT(Memory_Kind_Args, PJRT_Memory *memory; const char *kind; size_t kind_size;)
PJRT_STRUCT(Memory_DebugString_Args,
    PJRT_Memory *memory; const char *debug_string; size_t debug_string_size;)
PJRT_STRUCT(Memory_ToString_Args,
    PJRT_Memory *memory; const char *to_string; size_t to_string_size;)
PJRT_STRUCT(Memory_AddressableByDevices_Args,
    PJRT_Memory *memory; PJRT_Device *const *devices; size_t num_devices;)
PJRT_STRUCT(Executable_Destroy_Args, PJRT_Executable *executable;)
PJRT_STRUCT(Executable_Name_Args,
    PJRT_Executable *executable; const char *executable_name; size_t executable_name_size;)
PJRT_STRUCT(Executable_NumReplicas_Args, PJRT_Executable *executable; size_t num_replicas;)
PJRT_STRUCT(Executable_NumPartitions_Args, PJRT_Executable *executable; size_t num_partitions;)
PJRT_STRUCT(Executable_NumOutputs_Args, PJRT_Executable *executable; size_t num_outputs;)
PJRT_STRUCT(Executable_SizeOfGeneratedCodeInBytes_Args,
    PJRT_Executable *executable; int64_t size_in_bytes;)
PJRT_STRUCT(Executable_GetCostAnalysis_Args,
    PJRT_Executable *executable; size_t num_properties; const PJRT_NamedValue *properties;)
PJRT_STRUCT(Executable_OptimizedProgram_Args, PJRT_Executable *executable; PJRT_Program *program;)
PJRT_STRUCT(Executable_OutputMemoryKinds_Args,
    PJRT_Executable *executable; size_t num_outputs; const char *const *memory_kinds;
    const size_t *memory_kind_sizes;)
PJRT_STRUCT(Executable_Serialize_Args,
    const PJRT_Executable *executable; const char *serialized_bytes;
    size_t serialized_bytes_size; PJRT_SerializedExecutable *serialized_executable;
    void (*serialized_executable_deleter)(PJRT_SerializedExecutable *exec);)
PJRT_STRUCT(LoadedExecutable_Destroy_Args, PJRT_LoadedExecutable *executable;)
PJRT_STRUCT(LoadedExecutable_GetExecutable_Args,
    PJRT_LoadedExecutable *loaded_executable; PJRT_Executable *executable;)
PJRT_STRUCT(LoadedExecutable_AddressableDevices_Args,
    PJRT_LoadedExecutable *executable; PJRT_Device *const *addressable_devices;
    size_t num_addressable_devices;)
PJRT_STRUCT(LoadedExecutable_Delete_Args, PJRT_LoadedExecutable *executable;)
PJRT_STRUCT(LoadedExecutable_IsDeleted_Args, PJRT_LoadedExecutable *executable; bool is_deleted;)
PJRT_STRUCT(LoadedExecutable_Execute_Args,
    PJRT_LoadedExecutable *executable; PJRT_ExecuteOptions *options;
    PJRT_Buffer *const *const *argument_lists; size_t num_devices; size_t num_args;
    PJRT_Buffer **const *output_lists; PJRT_Event **device_complete_events;
    PJRT_Device *execute_device;)
PJRT_STRUCT(Executable_DeserializeAndLoad_Args,
    PJRT_Client *client; const char *serialized_executable; size_t serialized_executable_size;
    PJRT_LoadedExecutable *loaded_executable;
    const char *overridden_serialized_compile_options;
    size_t overridden_serialized_compile_options_size;)
PJRT_STRUCT(LoadedExecutable_Fingerprint_Args,
    PJRT_LoadedExecutable *executable; const char *executable_fingerprint;
    size_t executable_fingerprint_size;)
PJRT_STRUCT(Buffer_Destroy_Args, PJRT_Buffer *buffer;)
PJRT_STRUCT(Buffer_ElementType_Args, PJRT_Buffer *buffer; PJRT_Buffer_Type type;)
PJRT_STRUCT(Buffer_Dimensions_Args, PJRT_Buffer *buffer; const int64_t *dims; size_t num_dims;)
PJRT_STRUCT(Buffer_UnpaddedDimensions_Args,
    PJRT_Buffer *buffer; const int64_t *unpadded_dims; size_t num_dims;)
PJRT_STRUCT(Buffer_DynamicDimensionIndices_Args,
    PJRT_Buffer *buffer; const size_t *dynamic_dim_indices; size_t num_dynamic_dims;)
PJRT_STRUCT(Buffer_GetMemoryLayout_Args, PJRT_Buffer *buffer; PJRT_Buffer_MemoryLayout layout;)
PJRT_STRUCT(Buffer_OnDeviceSizeInBytes_Args, PJRT_Buffer *buffer; size_t on_device_size_in_bytes;)
PJRT_STRUCT(Buffer_Device_Args, PJRT_Buffer *buffer; PJRT_Device *device;)
PJRT_STRUCT(Buffer_Memory_Args, PJRT_Buffer *buffer; PJRT_Memory *memory;)
PJRT_STRUCT(Buffer_Delete_Args, PJRT_Buffer *buffer;)
PJRT_STRUCT(Buffer_IsDeleted_Args, PJRT_Buffer *buffer; bool is_deleted;)
PJRT_STRUCT(Buffer_CopyToDevice_Args,
    PJRT_Buffer *buffer; PJRT_Device *dst_device; PJRT_Buffer *dst_buffer;)
PJRT_STRUCT(Buffer_ToHostBuffer_Args,
    PJRT_Buffer *src; PJRT_Buffer_MemoryLayout *host_layout; void *dst; size_t dst_size;
    PJRT_Event *event;)
PJRT_STRUCT(Buffer_IsOnCpu_Args, PJRT_Buffer *buffer; bool is_on_cpu;)
PJRT_STRUCT(Buffer_ReadyEvent_Args, PJRT_Buffer *buffer; PJRT_Event *event;)
PJRT_STRUCT(Buffer_UnsafePointer_Args, PJRT_Buffer *buffer; uintptr_t buffer_pointer;)
PJRT_STRUCT(Buffer_IncreaseExternalReferenceCount_Args, PJRT_Buffer *buffer;)
PJRT_STRUCT(Buffer_DecreaseExternalReferenceCount_Args, PJRT_Buffer *buffer;)
PJRT_STRUCT(Buffer_OpaqueDeviceMemoryDataPointer_Args,
    PJRT_Buffer *buffer; void *device_memory_ptr;)
PJRT_STRUCT(TopologyDescription_Create_Args,
    const char *topology_name; size_t topology_name_size; const PJRT_NamedValue *create_options;
    size_t num_options; PJRT_TopologyDescription *topology;)
PJRT_STRUCT(TopologyDescription_Destroy_Args, PJRT_TopologyDescription *topology;)
PJRT_STRUCT(TopologyDescription_PlatformName_Args,
    PJRT_TopologyDescription *topology; const char *platform_name; size_t platform_name_size;)
PJRT_STRUCT(TopologyDescription_GetDeviceDescriptions_Args,
    PJRT_TopologyDescription *topology; PJRT_DeviceDescription *const *descriptions;
    size_t num_descriptions;)
PJRT_STRUCT(Compile_Args,
    const PJRT_TopologyDescription *topology; const PJRT_Program *program;
    const char *compile_options; size_t compile_options_size; PJRT_Client *client;
    PJRT_Executable *executable;)
PJRT_STRUCT(Executable_OutputElementTypes_Args,
    PJRT_Executable *executable; PJRT_Buffer_Type *output_types; size_t num_output_types;)
PJRT_STRUCT(Executable_OutputDimensions_Args,
    PJRT_Executable *executable; size_t num_outputs; const int64_t *dims;
    const size_t *dim_sizes;)
PJRT_STRUCT(Buffer_CopyToMemory_Args,
    PJRT_Buffer *buffer; PJRT_Memory *dst_memory; PJRT_Buffer *dst_buffer;)
PJRT_STRUCT(Executable_Fingerprint_Args,
    PJRT_Executable *executable; const char *executable_fingerprint;
    size_t executable_fingerprint_size;)
PJRT_STRUCT(Executable_GetCompiledMemoryStats_Args,
    PJRT_Executable *executable; int64_t generated_code_size_in_bytes;
    int64_t argument_size_in_bytes; int64_t output_size_in_bytes; int64_t alias_size_in_bytes;
    int64_t temp_size_in_bytes; int64_t host_generated_code_size_in_bytes;
    int64_t host_argument_size_in_bytes; int64_t host_output_size_in_bytes;
    int64_t host_alias_size_in_bytes; int64_t host_temp_size_in_bytes;
    int64_t peak_memory_in_bytes;)
PJRT_STRUCT(Memory_Kind_Id_Args, PJRT_Memory *memory; int kind_id;)
PJRT_STRUCT(Buffer_CopyRawToHost_Args,
    PJRT_Buffer *buffer; void *dst; int64_t offset; int64_t transfer_size; PJRT_Event *event;)
PJRT_STRUCT(LoadedExecutable_GetDeviceAssignment_Args,
    PJRT_LoadedExecutable *executable; const char *serialized_bytes;
    size_t serialized_bytes_size;
    PJRT_DeviceAssignmentSerialized *serialized_device_assignment;
    void (*serialized_device_assignment_deleter)(PJRT_DeviceAssignmentSerialized *da);)
/* clang-format on */

/* ---- the table ---- */

typedef PJRT_Error *(*PJRT_Function)(void *args); /* of its own struct */

typedef struct PJRT_Api {
    size_t struct_size;
    void *extension_start;
    PJRT_Api_Version pjrt_api_version;
#define DONE(name) PJRT_Function name;
#define STUB(name) PJRT_Function name;
#include "pjrt/slots.def"
#undef DONE
#undef STUB
} PJRT_Api;

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);

#endif
