/* client.c - opens the plugin, and its short forms. */
#include "client.h"

#include <dlfcn.h>
#include <string.h>

const PJRT_Api *api;
PJRT_Client *client;
const int64_t square[2] = {SIDE, SIDE};

void end_error(PJRT_Error *e) {
    CALL(Error_Destroy, .error = e);
}

void succeeds(PJRT_Error *e) {
    if (!e)
        return;
    PJRT_Error_Message_Args m = {.struct_size = sizeof m, .error = e};
    api->Error_Message(&m);
    fail_msg("%.*s", (int)m.message_size, m.message);
}

/* The call gave an error of this code, and its words hold these. */
void fails(PJRT_Error *e, PJRT_Error_Code code, const char *words) {
    assert_non_null(e);
    PJRT_Error_Message_Args m = {.struct_size = sizeof m, .error = e};
    PJRT_Error_GetCode_Args c = {.struct_size = sizeof c, .error = e};
    api->Error_Message(&m);
    assert_null(api->Error_GetCode(&c));
    if (c.code != code || !strstr(m.message, words))
        fail_msg("code %d, and not %d with '%s': %s", (int)c.code, (int)code, words, m.message);
    end_error(e);
}

PJRT_Client_BufferFromHostBuffer_Args host_array(const void *data, PJRT_Buffer_Type type,
                                                 const int64_t *dims, size_t rank) {
    return (PJRT_Client_BufferFromHostBuffer_Args){
        .struct_size = sizeof(PJRT_Client_BufferFromHostBuffer_Args),
        .client = client,
        .data = data,
        .type = type,
        .dims = dims,
        .num_dims = rank};
}

PJRT_Buffer *put(const void *data, PJRT_Buffer_Type type, const int64_t *dims, size_t rank) {
    PJRT_Client_BufferFromHostBuffer_Args a = host_array(data, type, dims, rank);
    succeeds(api->Client_BufferFromHostBuffer(&a));
    CALL(Event_Destroy, .event = a.done_with_host_buffer);
    return a.buffer;
}

PJRT_Buffer *put_square(const float *data) {
    return put(data, PJRT_Buffer_Type_F32, square, 2);
}

void get(PJRT_Buffer *b, void *out, size_t bytes) {
    ASK(a, Buffer_ToHostBuffer, .src = b, .dst = out, .dst_size = bytes);
    CALL(Event_Destroy, .event = a.event);
}

void drop(PJRT_Buffer *b) {
    succeeds(CALL(Buffer_Destroy, .buffer = b));
}

bool is_deleted(PJRT_Buffer *b) {
    ASK(a, Buffer_IsDeleted, .buffer = b);
    return a.is_deleted;
}

void numbers(float *out, float first) {
    for (int i = 0; i < COUNT; i++)
        out[i] = first + (float)i;
}

int open_plugin(void **state) {
    (void)state;
    void *library = dlopen(TESSERA_PJRT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        print_error("%s\n", dlerror());
        return -1;
    }
    const PJRT_Api *(*start)(void) = (const PJRT_Api *(*)(void))dlsym(library, "GetPjrtApi");
    api = start();
    succeeds(CALL(Plugin_Initialize, .extension_start = NULL));
    ASK(made, Client_Create, .client = NULL);
    client = made.client;
    return 0;
}

int close_plugin(void **state) {
    (void)state;
    succeeds(CALL(Client_Destroy, .client = client));
    return 0;
}
