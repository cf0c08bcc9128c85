/* buffer.c - buffers: made of the caller's memory, asked about, read back, deleted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "pjrt/plugin.h"

PJRT_Buffer *buffer_new(PJRT_Device *device, PJRT_Buffer_Type type, const int64_t *dims,
                        size_t rank, storage *memory) {
    PJRT_Buffer *b = base_malloc(sizeof *b + 2 * rank * sizeof *dims);
    *b = (PJRT_Buffer){.client = client_hold(device->client),
                       .device = device,
                       .type = type,
                       .rank = rank,
                       .bytes = memory->bytes,
                       .memory = memory};
    pthread_mutex_init(&b->lock, NULL);
    for (size_t i = 0; i < rank; i++) {
        b->dims[i] = dims[i];
        b->dims[rank + i] = (int64_t)(rank - 1 - i);
    }
    return b;
}

void buffer_free(PJRT_Buffer *b) {
    if (!b)
        return;
    storage_release(b->memory);
    for (uint32_t i = 0; i < b->lent_count; i++)
        storage_release(b->lent);
    pthread_mutex_destroy(&b->lock);
    client_release(b->client);
    free(b);
}

storage *buffer_memory(PJRT_Buffer *b) {
    pthread_mutex_lock(&b->lock);
    storage *s = b->memory ? storage_hold(b->memory) : NULL;
    pthread_mutex_unlock(&b->lock);
    return s;
}

storage *buffer_take(PJRT_Buffer *b) {
    pthread_mutex_lock(&b->lock);
    storage *s = b->memory;
    b->memory = NULL;
    pthread_mutex_unlock(&b->lock);
    return s;
}

static PJRT_Error *was_deleted(void) {
    return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                     "the buffer was deleted or donated; what it held is gone");
}

/* ---- from the host ---- */

static PJRT_Error *check_shape(const PJRT_Client_BufferFromHostBuffer_Args *a, size_t *bytes) {
    const size_t element = type_bytes(a->type);
    if (element == 0)
        return error_new(PJRT_Error_Code_UNIMPLEMENTED, "elements of type %d are not supported",
                         (int)a->type);
    if (a->num_dims > PJRT_RANK_MAX)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "%zu axes are more than %d", a->num_dims,
                         PJRT_RANK_MAX);
    if (!shape_bytes(a->dims, a->num_dims, element, bytes))
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "an extent is negative, or the buffer is larger than memory can be");
    if (*bytes && !a->data)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "'data' is NULL");
    if (a->num_byte_strides && (a->num_byte_strides != a->num_dims || !a->byte_strides))
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "there are %zu strides and %zu axes",
                         a->num_byte_strides, a->num_dims);
    int64_t wanted[PJRT_RANK_MAX];
    PJRT_Error *e = layout_strides(a->device_layout, a->dims, a->num_dims, element, wanted);
    if (!e && !layout_is_dense(a->dims, a->num_dims, element, wanted))
        e = error_new(PJRT_Error_Code_UNIMPLEMENTED,
                      "buffers have rows behind rows; another layout on the device is not "
                      "supported");
    return e;
}

static bool may_borrow(const PJRT_Client_BufferFromHostBuffer_Args *a) {
    enum { LINE = 64 };
    return (a->host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy ||
            a->host_buffer_semantics == PJRT_HostBufferSemantics_kMutableZeroCopy) &&
           (uintptr_t)a->data % LINE == 0;
}

static PJRT_Error *fill(const PJRT_Client_BufferFromHostBuffer_Args *a, size_t bytes,
                        storage **memory, PJRT_Event **done) {
    const size_t element = type_bytes(a->type);
    const bool strided =
        a->num_byte_strides && !layout_is_dense(a->dims, a->num_dims, element, a->byte_strides);
    *done = event_ready();
    if (bytes && !strided && may_borrow(a)) {
        *done = event_new();
        *memory = storage_borrow((void *)(uintptr_t)a->data, bytes, event_hold(*done));
        return NULL;
    }
    *memory = storage_new(bytes);
    if (!*memory)
        return error_new(PJRT_Error_Code_RESOURCE_EXHAUSTED, "there is no memory for %zu bytes",
                         bytes);
    if (strided) {
        int64_t strides[PJRT_RANK_MAX];
        layout_dense(a->dims, a->num_dims, element, strides);
        layout_copy((layout_side){(*memory)->data, strides},
                    (layout_side){(char *)(uintptr_t)a->data, a->byte_strides}, a->dims,
                    a->num_dims, element);
    } else if (bytes) {
        memcpy((*memory)->data, a->data, bytes);
    }
    return NULL;
}

static PJRT_Device *device_of(const PJRT_Client_BufferFromHostBuffer_Args *a) {
    return a->memory ? a->memory->devices[0] : a->device ? a->device : &a->client->device[0];
}

PJRT_Error *pjrt_Client_BufferFromHostBuffer(void *args) {
    size_t bytes;
    storage *memory;
    PJRT_TAKES(Client_BufferFromHostBuffer, buffer);
    PJRT_NEEDS(Client_BufferFromHostBuffer, client);
    PJRT_Error *e = check_shape(a, &bytes);
    e = e ? e : fill(a, bytes, &memory, &a->done_with_host_buffer);
    if (!e)
        a->buffer = buffer_new(device_of(a), a->type, a->dims, a->num_dims, memory);
    return e;
}

/* ---- to the host ---- */

static PJRT_Error *read_into(const PJRT_Buffer *b, const storage *memory,
                             PJRT_Buffer_ToHostBuffer_Args *a) {
    int64_t to[PJRT_RANK_MAX], from[PJRT_RANK_MAX];
    const size_t element = type_bytes(b->type);
    PJRT_Error *e = layout_strides(a->host_layout, b->dims, b->rank, element, to);
    if (e)
        return e;
    if (!a->dst) {
        a->dst_size = b->bytes;
        a->event = NULL;
        return NULL;
    }
    if (a->dst_size < b->bytes)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "%zu bytes do not hold %zu", a->dst_size,
                         b->bytes);
    layout_dense(b->dims, b->rank, element, from);
    layout_copy((layout_side){a->dst, to}, (layout_side){memory->data, from}, b->dims, b->rank,
                element);
    a->event = event_ready();
    return NULL;
}

PJRT_Error *pjrt_Buffer_ToHostBuffer(void *args) {
    PJRT_TAKES(Buffer_ToHostBuffer, event);
    PJRT_NEEDS(Buffer_ToHostBuffer, src);
    storage *memory = buffer_memory(a->src);
    if (!memory)
        return was_deleted();
    PJRT_Error *e = read_into(a->src, memory, a);
    storage_release(memory);
    return e;
}

PJRT_Error *pjrt_Buffer_CopyRawToHost(void *args) {
    PJRT_TAKES(Buffer_CopyRawToHost, event);
    PJRT_NEEDS(Buffer_CopyRawToHost, buffer);
    const size_t bytes = a->buffer->bytes;
    if (a->offset < 0 || a->transfer_size < 0 || (uint64_t)a->offset > bytes ||
        (uint64_t)a->transfer_size > bytes - (uint64_t)a->offset)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "%" PRId64 " bytes from %" PRId64 " on are not all in a buffer of %zu",
                         a->transfer_size, a->offset, bytes);
    storage *memory = buffer_memory(a->buffer);
    if (!memory)
        return was_deleted();
    if (a->transfer_size)
        memcpy(a->dst, (const char *)memory->data + a->offset, (size_t)a->transfer_size);
    a->event = event_ready();
    storage_release(memory);
    return NULL;
}

/* ---- to a device: buffers do not change, and devices share the host, so a copy has the same
 * memory ---- */

static PJRT_Error *copy_of(PJRT_Buffer *b, PJRT_Device *device, PJRT_Buffer **out) {
    storage *memory = buffer_memory(b);
    if (!memory)
        return was_deleted();
    *out = buffer_new(device, b->type, b->dims, b->rank, memory);
    return NULL;
}

PJRT_Error *pjrt_Buffer_CopyToDevice(void *args) {
    PJRT_TAKES(Buffer_CopyToDevice, dst_buffer);
    PJRT_NEEDS(Buffer_CopyToDevice, buffer);
    PJRT_NEEDS(Buffer_CopyToDevice, dst_device);
    return copy_of(a->buffer, a->dst_device, &a->dst_buffer);
}

PJRT_Error *pjrt_Buffer_CopyToMemory(void *args) {
    PJRT_TAKES(Buffer_CopyToMemory, dst_buffer);
    PJRT_NEEDS(Buffer_CopyToMemory, buffer);
    PJRT_NEEDS(Buffer_CopyToMemory, dst_memory);
    return copy_of(a->buffer, a->dst_memory->devices[0], &a->dst_buffer);
}

/* ---- the end ---- */

PJRT_Error *pjrt_Buffer_Destroy(void *args) {
    PJRT_TAKES(Buffer_Destroy, buffer);
    buffer_free(a->buffer);
    return NULL;
}

/* Deleting twice is deleting once. */
PJRT_Error *pjrt_Buffer_Delete(void *args) {
    PJRT_TAKES(Buffer_Delete, buffer);
    PJRT_NEEDS(Buffer_Delete, buffer);
    storage_release(buffer_take(a->buffer));
    return NULL;
}

PJRT_Error *pjrt_Buffer_IsDeleted(void *args) {
    PJRT_TAKES(Buffer_IsDeleted, is_deleted);
    PJRT_NEEDS(Buffer_IsDeleted, buffer);
    pthread_mutex_lock(&a->buffer->lock);
    a->is_deleted = a->buffer->memory == NULL;
    pthread_mutex_unlock(&a->buffer->lock);
    return NULL;
}

/* ---- pointers outside: they hold the memory, whatever becomes of the buffer ---- */

static PJRT_Error *pointer_of(PJRT_Buffer *b, void **out) {
    pthread_mutex_lock(&b->lock);
    const storage *s = b->memory ? b->memory : b->lent;
    *out = s ? s->data : NULL;
    pthread_mutex_unlock(&b->lock);
    return s ? NULL : was_deleted();
}

PJRT_Error *pjrt_Buffer_OpaqueDeviceMemoryDataPointer(void *args) {
    PJRT_TAKES(Buffer_OpaqueDeviceMemoryDataPointer, device_memory_ptr);
    PJRT_NEEDS(Buffer_OpaqueDeviceMemoryDataPointer, buffer);
    return pointer_of(a->buffer, &a->device_memory_ptr);
}

PJRT_Error *pjrt_Buffer_UnsafePointer(void *args) {
    PJRT_TAKES(Buffer_UnsafePointer, buffer_pointer);
    PJRT_NEEDS(Buffer_UnsafePointer, buffer);
    void *data;
    PJRT_Error *e = pointer_of(a->buffer, &data);
    a->buffer_pointer = (uintptr_t)data;
    return e;
}

PJRT_Error *pjrt_Buffer_IncreaseExternalReferenceCount(void *args) {
    PJRT_TAKES(Buffer_IncreaseExternalReferenceCount, buffer);
    PJRT_NEEDS(Buffer_IncreaseExternalReferenceCount, buffer);
    PJRT_Buffer *b = a->buffer;
    pthread_mutex_lock(&b->lock);
    storage *s = b->memory ? b->memory : b->lent;
    if (s) {
        b->lent = storage_hold(s);
        b->lent_count++;
    }
    pthread_mutex_unlock(&b->lock);
    return s ? NULL : was_deleted();
}

PJRT_Error *pjrt_Buffer_DecreaseExternalReferenceCount(void *args) {
    PJRT_TAKES(Buffer_DecreaseExternalReferenceCount, buffer);
    PJRT_NEEDS(Buffer_DecreaseExternalReferenceCount, buffer);
    PJRT_Buffer *b = a->buffer;
    pthread_mutex_lock(&b->lock);
    storage *s = b->lent;
    if (b->lent_count > 0 && --b->lent_count == 0)
        b->lent = NULL;
    pthread_mutex_unlock(&b->lock);
    if (!s)
        return error_new(PJRT_Error_Code_FAILED_PRECONDITION,
                         "there is no reference from outside to let go of");
    storage_release(s);
    return NULL;
}
