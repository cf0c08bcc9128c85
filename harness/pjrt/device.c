/* device.c - devices, their descriptions, and the memory that each has. */
#include <stdio.h>
#include <string.h>

#include "pjrt/plugin.h"

#define MEMORY_KIND "device"

void devices_init(PJRT_Client *c, const tsr_device_info_t *info) {
    for (uint32_t i = 0; i < c->device_count; i++) {
        PJRT_Device *d = c->devices[i] = &c->device[i];
        PJRT_Memory *m = c->memories[i] = &c->memory[i];
        d->client = c;
        d->memories[0] = m;
        m->devices[0] = d;
        d->description.id = (int)i;
        snprintf(d->description.kind, sizeof d->description.kind, "%s", info->name);
        snprintf(d->description.words, sizeof d->description.words,
                 "TesseraDevice(id=%u, %s, %s, %u threads)", i, info->backend, info->isa,
                 c->threads);
        snprintf(m->words, sizeof m->words,
                 c->device_count > 1 ? "TesseraMemory(device %u)" : "TesseraMemory(device)", i);
    }
}

PJRT_Error *pjrt_Device_GetDescription(void *args) {
    PJRT_TAKES(Device_GetDescription, device_description);
    PJRT_NEEDS(Device_GetDescription, device);
    a->device_description = &a->device->description;
    return NULL;
}

PJRT_Error *pjrt_Device_IsAddressable(void *args) {
    PJRT_TAKES(Device_IsAddressable, is_addressable);
    a->is_addressable = true;
    return NULL;
}

PJRT_Error *pjrt_Device_LocalHardwareId(void *args) {
    PJRT_TAKES(Device_LocalHardwareId, local_hardware_id);
    PJRT_NEEDS(Device_LocalHardwareId, device);
    a->local_hardware_id = a->device->description.id;
    return NULL;
}

PJRT_Error *pjrt_Device_AddressableMemories(void *args) {
    PJRT_TAKES(Device_AddressableMemories, num_memories);
    PJRT_NEEDS(Device_AddressableMemories, device);
    a->memories = a->device->memories;
    a->num_memories = 1;
    return NULL;
}

PJRT_Error *pjrt_Device_DefaultMemory(void *args) {
    PJRT_TAKES(Device_DefaultMemory, memory);
    PJRT_NEEDS(Device_DefaultMemory, device);
    a->memory = a->device->memories[0];
    return NULL;
}

PJRT_Error *pjrt_DeviceDescription_Id(void *args) {
    PJRT_TAKES(DeviceDescription_Id, id);
    PJRT_NEEDS(DeviceDescription_Id, device_description);
    a->id = a->device_description->id;
    return NULL;
}

PJRT_Error *pjrt_DeviceDescription_ProcessIndex(void *args) {
    PJRT_TAKES(DeviceDescription_ProcessIndex, process_index);
    a->process_index = 0;
    return NULL;
}

PJRT_Error *pjrt_DeviceDescription_Attributes(void *args) {
    PJRT_TAKES(DeviceDescription_Attributes, attributes);
    a->attributes = NULL;
    a->num_attributes = 0;
    return NULL;
}

PJRT_Error *pjrt_DeviceDescription_Kind(void *args) {
    PJRT_TAKES(DeviceDescription_Kind, device_kind_size);
    PJRT_NEEDS(DeviceDescription_Kind, device_description);
    a->device_kind = a->device_description->kind;
    a->device_kind_size = strlen(a->device_kind);
    return NULL;
}

PJRT_Error *pjrt_DeviceDescription_DebugString(void *args) {
    PJRT_TAKES(DeviceDescription_DebugString, debug_string_size);
    PJRT_NEEDS(DeviceDescription_DebugString, device_description);
    a->debug_string = a->device_description->words;
    a->debug_string_size = strlen(a->debug_string);
    return NULL;
}

PJRT_Error *pjrt_DeviceDescription_ToString(void *args) {
    PJRT_TAKES(DeviceDescription_ToString, to_string_size);
    PJRT_NEEDS(DeviceDescription_ToString, device_description);
    a->to_string = a->device_description->words;
    a->to_string_size = strlen(a->to_string);
    return NULL;
}

PJRT_Error *pjrt_Memory_Id(void *args) {
    PJRT_TAKES(Memory_Id, id);
    PJRT_NEEDS(Memory_Id, memory);
    a->id = a->memory->devices[0]->description.id;
    return NULL;
}

PJRT_Error *pjrt_Memory_Kind(void *args) {
    PJRT_TAKES(Memory_Kind, kind_size);
    a->kind = MEMORY_KIND;
    a->kind_size = strlen(MEMORY_KIND);
    return NULL;
}

PJRT_Error *pjrt_Memory_Kind_Id(void *args) {
    PJRT_TAKES(Memory_Kind_Id, kind_id);
    a->kind_id = 0;
    return NULL;
}

PJRT_Error *pjrt_Memory_DebugString(void *args) {
    PJRT_TAKES(Memory_DebugString, debug_string_size);
    PJRT_NEEDS(Memory_DebugString, memory);
    a->debug_string = a->memory->words;
    a->debug_string_size = strlen(a->debug_string);
    return NULL;
}

PJRT_Error *pjrt_Memory_ToString(void *args) {
    PJRT_TAKES(Memory_ToString, to_string_size);
    PJRT_NEEDS(Memory_ToString, memory);
    a->to_string = a->memory->words;
    a->to_string_size = strlen(a->to_string);
    return NULL;
}

PJRT_Error *pjrt_Memory_AddressableByDevices(void *args) {
    PJRT_TAKES(Memory_AddressableByDevices, num_devices);
    PJRT_NEEDS(Memory_AddressableByDevices, memory);
    a->devices = a->memory->devices;
    a->num_devices = 1;
    return NULL;
}
