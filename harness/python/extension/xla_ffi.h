/* xla_ffi.h - what a custom call of XLA's typed interface (FFI) is given, version 0.1 and later:
 * the part of it that ffi.c uses. Members have the names and the order of the interface. */
#ifndef TESSERA_PYTHON_XLA_FFI_H
#define TESSERA_PYTHON_XLA_FFI_H

#include <stddef.h>
#include <stdint.h>

typedef enum XLA_FFI_Extension_Type { XLA_FFI_Extension_Metadata = 1 } XLA_FFI_Extension_Type;

typedef struct XLA_FFI_Extension_Base {
    size_t struct_size;
    XLA_FFI_Extension_Type type;
    struct XLA_FFI_Extension_Base *next;
} XLA_FFI_Extension_Base;

typedef struct XLA_FFI_Api_Version {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    int major_version, minor_version;
} XLA_FFI_Api_Version;

typedef enum XLA_FFI_Error_Code {
    XLA_FFI_Error_Code_INVALID_ARGUMENT = 3,
    XLA_FFI_Error_Code_INTERNAL = 13
} XLA_FFI_Error_Code;

typedef struct XLA_FFI_Error XLA_FFI_Error;
typedef struct XLA_FFI_Error_Create_Args {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    const char *message;
    XLA_FFI_Error_Code errc;
} XLA_FFI_Error_Create_Args;

/* Its further members are functions that nothing here calls. */
typedef struct XLA_FFI_Api {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    XLA_FFI_Api_Version api_version;
    const void *internal_api;
    XLA_FFI_Error *(*XLA_FFI_Error_Create)(XLA_FFI_Error_Create_Args *args);
} XLA_FFI_Api;

typedef enum XLA_FFI_DataType { XLA_FFI_DataType_S64 = 5 } XLA_FFI_DataType;
typedef enum XLA_FFI_ArgType { XLA_FFI_ArgType_BUFFER = 1 } XLA_FFI_ArgType;
typedef enum XLA_FFI_RetType { XLA_FFI_RetType_BUFFER = 1 } XLA_FFI_RetType;
typedef enum XLA_FFI_AttrType { XLA_FFI_AttrType_SCALAR = 3 } XLA_FFI_AttrType;
typedef enum XLA_FFI_ExecutionStage { XLA_FFI_ExecutionStage_EXECUTE = 3 } XLA_FFI_ExecutionStage;

typedef struct XLA_FFI_Buffer {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    XLA_FFI_DataType dtype;
    void *data;
    int64_t rank;
    int64_t *dims;
} XLA_FFI_Buffer;

typedef struct XLA_FFI_ByteSpan {
    const char *ptr;
    size_t len;
} XLA_FFI_ByteSpan;

typedef struct XLA_FFI_Scalar {
    XLA_FFI_DataType dtype;
    void *value;
} XLA_FFI_Scalar;

typedef struct XLA_FFI_Args {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    int64_t size;
    XLA_FFI_ArgType *types;
    void **args;
} XLA_FFI_Args;

typedef struct XLA_FFI_Rets {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    int64_t size;
    XLA_FFI_RetType *types;
    void **rets;
} XLA_FFI_Rets;

typedef struct XLA_FFI_Attrs {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    int64_t size;
    XLA_FFI_AttrType *types;
    XLA_FFI_ByteSpan **names;
    void **attrs;
} XLA_FFI_Attrs;

typedef struct XLA_FFI_ExecutionContext XLA_FFI_ExecutionContext;
typedef struct XLA_FFI_CallFrame {
    size_t struct_size;
    XLA_FFI_Extension_Base *extension_start;
    const XLA_FFI_Api *api;
    XLA_FFI_ExecutionContext *ctx;
    XLA_FFI_ExecutionStage stage;
    XLA_FFI_Args args;
    XLA_FFI_Rets rets;
    XLA_FFI_Attrs attrs;
} XLA_FFI_CallFrame;

typedef struct XLA_FFI_Metadata {
    size_t struct_size;
    XLA_FFI_Api_Version api_version;
    uint32_t traits;
} XLA_FFI_Metadata;

typedef struct XLA_FFI_Metadata_Extension {
    XLA_FFI_Extension_Base extension_base;
    XLA_FFI_Metadata *metadata;
} XLA_FFI_Metadata_Extension;

#endif
