/* buffer_facts.c - what a buffer is: its type, shape, size and place. */
#include "pjrt/plugin.h"

PJRT_Error *pjrt_Buffer_ElementType(void *args) {
    PJRT_TAKES(Buffer_ElementType, type);
    PJRT_NEEDS(Buffer_ElementType, buffer);
    a->type = a->buffer->type;
    return NULL;
}

PJRT_Error *pjrt_Buffer_Dimensions(void *args) {
    PJRT_TAKES(Buffer_Dimensions, num_dims);
    PJRT_NEEDS(Buffer_Dimensions, buffer);
    a->dims = a->buffer->dims;
    a->num_dims = a->buffer->rank;
    return NULL;
}

PJRT_Error *pjrt_Buffer_UnpaddedDimensions(void *args) {
    PJRT_TAKES(Buffer_UnpaddedDimensions, num_dims);
    PJRT_NEEDS(Buffer_UnpaddedDimensions, buffer);
    a->unpadded_dims = a->buffer->dims;
    a->num_dims = a->buffer->rank;
    return NULL;
}

PJRT_Error *pjrt_Buffer_DynamicDimensionIndices(void *args) {
    PJRT_TAKES(Buffer_DynamicDimensionIndices, num_dynamic_dims);
    a->dynamic_dim_indices = NULL;
    a->num_dynamic_dims = 0;
    return NULL;
}

PJRT_Error *pjrt_Buffer_GetMemoryLayout(void *args) {
    PJRT_TAKES(Buffer_GetMemoryLayout, layout);
    PJRT_NEEDS(Buffer_GetMemoryLayout, buffer);
    const PJRT_Buffer *b = a->buffer;
    a->layout = (PJRT_Buffer_MemoryLayout){
        .struct_size = sizeof a->layout,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = sizeof a->layout.tiled,
                  .minor_to_major = b->dims + b->rank, /* the last axis first */
                  .minor_to_major_size = b->rank}};
    return NULL;
}

PJRT_Error *pjrt_Buffer_OnDeviceSizeInBytes(void *args) {
    PJRT_TAKES(Buffer_OnDeviceSizeInBytes, on_device_size_in_bytes);
    PJRT_NEEDS(Buffer_OnDeviceSizeInBytes, buffer);
    a->on_device_size_in_bytes = a->buffer->bytes;
    return NULL;
}

PJRT_Error *pjrt_Buffer_Device(void *args) {
    PJRT_TAKES(Buffer_Device, device);
    PJRT_NEEDS(Buffer_Device, buffer);
    a->device = a->buffer->device;
    return NULL;
}

PJRT_Error *pjrt_Buffer_Memory(void *args) {
    PJRT_TAKES(Buffer_Memory, memory);
    PJRT_NEEDS(Buffer_Memory, buffer);
    a->memory = a->buffer->device->memories[0];
    return NULL;
}

PJRT_Error *pjrt_Buffer_IsOnCpu(void *args) {
    PJRT_TAKES(Buffer_IsOnCpu, is_on_cpu);
    a->is_on_cpu = true;
    return NULL;
}

PJRT_Error *pjrt_Buffer_ReadyEvent(void *args) {
    PJRT_TAKES(Buffer_ReadyEvent, event);
    PJRT_NEEDS(Buffer_ReadyEvent, buffer);
    a->event = event_ready();
    return NULL;
}
