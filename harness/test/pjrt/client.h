/* client.h - short forms of what a framework does with the plugin, for its tests. */
#ifndef TESSERA_HARNESS_TEST_PJRT_CLIENT_H
#define TESSERA_HARNESS_TEST_PJRT_CLIENT_H

#include "test/test.h"

#include <stdbool.h>

#include "pjrt/pjrt.h"

enum { SIDE = 8, COUNT = SIDE * SIDE };

extern const PJRT_Api *api;
extern PJRT_Client *client;
extern const int64_t square[2]; /* SIDE by SIDE */

#define CALL(NAME, ...)                                                                            \
    api->NAME(&(PJRT_##NAME##_Args){.struct_size = sizeof(PJRT_##NAME##_Args), __VA_ARGS__})
/* Leaves what it filled in `name`. */
#define ASK(name, NAME, ...)                                                                       \
    PJRT_##NAME##_Args name = {.struct_size = sizeof name, __VA_ARGS__};                           \
    succeeds(api->NAME(&name))

/* Set-up and end of a group of tests. */
int open_plugin(void **state);
int close_plugin(void **state);

void end_error(PJRT_Error *e);
void succeeds(PJRT_Error *e);
/* The call gave an error of this code, and its words hold these. */
void fails(PJRT_Error *e, PJRT_Error_Code code, const char *words);

PJRT_Client_BufferFromHostBuffer_Args host_array(const void *data, PJRT_Buffer_Type type,
                                                 const int64_t *dims, size_t rank);
PJRT_Buffer *put(const void *data, PJRT_Buffer_Type type, const int64_t *dims, size_t rank);
PJRT_Buffer *put_square(const float *data);
void get(PJRT_Buffer *b, void *out, size_t bytes);
void drop(PJRT_Buffer *b);
bool is_deleted(PJRT_Buffer *b);
/* first, first + 1, ... */
void numbers(float *out, float first);

#endif
