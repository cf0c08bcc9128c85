/* comm.h - ranks that run one program together, and the messages between them.
 *
 * A message is rows of a tensor that one rank sends another. All ranks make the same exchanges in
 * the same order, each with those of its group; an exchange ends on a rank when what it receives
 * has come, and its own bytes may be changed. Nothing is added up here: sums are kernels of the
 * program.
 *
 * A rank that fails, leaves or dies ends the exchanges of all others, with a message that names it.
 */
#ifndef TESSERA_RUNTIME_COMM_COMM_H
#define TESSERA_RUNTIME_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/status.h"

enum { COMM_RANKS_MAX = 4096, COMM_NAME_BYTES = 64 };
#define COMM_TIMEOUT_NS UINT64_C(60000000000)

typedef struct comm_options {
    const char *name; /* by which ranks meet: letters, digits, - and _ */
    uint32_t rank, count;
    uint64_t timeout_ns; /* of an exchange; 0: COMM_TIMEOUT_NS */
} comm_options;

/* Bytes for one rank, and from it. */
typedef struct comm_message {
    uint32_t rank;
    const void *send;
    void *receive;
    size_t send_bytes, receive_bytes;
} comm_message;

typedef struct comm comm;

typedef struct comm_transport {
    const char *name, *summary;
    /* Finds out what is missing; NULL: it can be used here. */
    const char *(*missing)(void);
    bool (*open)(comm *c, const comm_options *o, status *st);
    void (*close)(comm *c);
    /* All messages of an exchange with this number, of which none is to the rank itself. */
    bool (*exchange)(comm *c, uint64_t number, const comm_message *messages, uint32_t count,
                     status *st);
    /* Ends the exchanges of all others, with these words. */
    void (*fail)(comm *c, const char *why);
} comm_transport;

struct comm {
    const comm_transport *transport;
    uint32_t rank, count;
    uint64_t timeout_ns;
    bool agreed; /* the ranks run the program `program` */
    sha256 program;
    void *state; /* the transport's */
};

/* NULL: there is none of this name. */
const comm_transport *comm_transport_named(const char *name);
const comm_transport *comm_transport_at(uint32_t index); /* NULL: there are no more */

/* A library of ours that needs one of others: beside the program or this library, or where the
 * dynamic linker looks. Its symbol is a struct that begins with its own size. */
typedef struct comm_library {
    const char *file, *symbol;
    size_t size;
    const char *hint; /* why it may not be there */
} comm_library;
const void *comm_library_open(const comm_library *l, char *why_not, size_t why_bytes);

comm *comm_open(const char *transport, const comm_options *o, status *st);
/* Others that wait for this rank are told. */
void comm_close(comm *c);
/* Before the first exchange of a program: all ranks run the same one, or each is told which two
 * differ. */
bool comm_agree(comm *c, const sha256 *program, status *st);
/* Parameters: messages, of which one may be to the rank itself. False: all ranks have failed. */
bool comm_exchange(comm *c, uint64_t number, const comm_message *messages, uint32_t count,
                   status *st);

#define TRANSPORT(name, summary) extern const comm_transport comm_##name;
#include "comm/transports.def"

#endif
