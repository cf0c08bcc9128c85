/* ucx_calls.h - the functions of libtessera-ucx.so: UCX's messages with tags. The library is built
 * where ucp/api/ucp.h is, and opened when it is asked for. */
#ifndef TESSERA_RUNTIME_COMM_UCX_CALLS_H
#define TESSERA_RUNTIME_COMM_UCX_CALLS_H

#include "comm/comm.h"

#define UCX_CALLS_LIBRARY "libtessera-ucx.so"
#define UCX_CALLS_SYMBOL "tessera_ucx_calls"

enum { UCX_ADDRESS_BYTES = 4096 };

typedef struct ucx_address {
    uint64_t length;
    unsigned char bytes[UCX_ADDRESS_BYTES];
} ucx_address;

typedef struct ucx_calls {
    size_t size; /* of this struct: of another build it is another one */
    /* NULL: `st` says why. *own: where others reach it. */
    void *(*open)(ucx_address *own, status *st);
    bool (*connect)(void *state, const ucx_address *all, uint32_t count, uint32_t own, status *st);
    /* Asks now and then whether to go on waiting for a rank; false: `st` says why not. */
    bool (*exchange)(void *state, uint64_t number, const comm_message *messages, uint32_t count,
                     bool (*go_on)(void *context, uint32_t rank, status *st), void *context,
                     status *st);
    /* Moves on what others take; until then they need this rank. */
    void (*progress)(void *state);
    void (*close)(void *state);
} ucx_calls;

#endif
