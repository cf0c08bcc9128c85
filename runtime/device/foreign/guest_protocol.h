/* guest_protocol.h - between a device `foreign` (device/foreign/foreign.c) and the guest, the
 * process in which an implementation of others runs.
 *
 * The device starts the guest with one end of a socket as descriptor 3, and sends requests there:
 * one packet each, some with a descriptor, each answered by one packet. Calls take the short way: a
 * ring in memory that both have mapped. Either side spins for a moment when it waits, and sleeps on
 * a futex after that.
 *
 * The guest is not trusted. What it writes into the ring or answers may be anything: the device
 * takes from it that calls have ended, whether one failed, and a message. Time is taken by the
 * device's side, and outputs are read from memory by those who judge them. */
#ifndef TESSERA_RUNTIME_GUEST_PROTOCOL_H
#define TESSERA_RUNTIME_GUEST_PROTOCOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    GUEST_SOCKET = 3, /* the guest's descriptor */
    GUEST_TENSORS_MAX = 8192,
    GUEST_RING = 1024,       /* calls, at most */
    GUEST_ADDRESSES = 65536, /* ... and tensors of them all: fewer calls where they have many */
    GUEST_WORDS = 8,         /* of a cache line: what a call takes is a multiple */
    GUEST_MESSAGE_BYTES = 1000
};

/* The option with which tessera-guest starts a guest in namespaces of its own (guest/apart.h), and
 * the packet in which it says how that went. */
#define GUEST_APART "--apart"
/* ... and the one with which it tells what a plugin is: --plugin FILE [TOPOLOGY [PROGRAM]]. */
#define GUEST_PLUGIN "--plugin"
typedef struct guest_birth {
    int32_t guest, keeper; /* processes; 0: there is none */
    int32_t refusal;       /* errno, where the system gives no namespaces */
    int32_t error;         /* errno, where the program cannot be executed */
} guest_birth;

typedef enum guest_request_kind {
    GUEST_OPEN, /* descriptors: the ring, the description (JSON, `size_bytes`) */
    GUEST_MAP,  /* descriptor: pages of `size_bytes`; answered with the address */
    GUEST_UNMAP /* `address`, `size_bytes` */
} guest_request_kind;

typedef struct guest_request {
    uint32_t kind;
    uint64_t size_bytes, address;
} guest_request;

typedef struct guest_answer {
    uint32_t ok;
    uint32_t code; /* a status_code, where it is not */
    uint64_t address;
    char message[GUEST_MESSAGE_BYTES];
} guest_answer;

/* A word that one side sleeps on. */
typedef struct guest_bell {
    _Alignas(64) atomic_uint asleep;
} guest_bell;

/* The ring. `submitted`, `requests`, `stop`, `spin_pauses`, `wanted` and calls are the device's to
 * write; the rest is the guest's. */
typedef struct guest_ring {
    _Alignas(64) atomic_uint_fast64_t submitted; /* calls, ever */
    atomic_uint requests;                        /* packets sent, ever */
    atomic_uint stop;
    atomic_uint spin_pauses; /* how often the guest looks for a call before it sleeps */
    _Alignas(64) atomic_uint_fast64_t ended; /* calls, ever */
    atomic_uint failed; /* the status_code of one that did, since the device set this to 0 */
    char message[GUEST_MESSAGE_BYTES]; /* ... and why */
    guest_bell guest, device;
    atomic_uint_fast64_t wanted; /* calls: the guest wakes the device when so many have ended */
    /* The addresses of each call's tensors in the guest, calls close together. */
    _Alignas(64) uint64_t tensors[GUEST_ADDRESSES];
} guest_ring;

static inline uint32_t guest_call_words(uint32_t count) {
    return (count + GUEST_WORDS - 1) / GUEST_WORDS * GUEST_WORDS;
}

/* Calls that there are at once of a kernel with so many tensors, which are GUEST_TENSORS_MAX at
 * most. */
static inline uint32_t guest_ring_calls(uint32_t count) {
    uint32_t words = guest_call_words(count), calls = words ? GUEST_ADDRESSES / words : GUEST_RING;
    return calls < GUEST_RING ? calls : GUEST_RING;
}

/* Returns the addresses of call `number`. */
static inline uint64_t *guest_call_tensors(guest_ring *ring, uint64_t number, uint32_t count) {
    return &ring->tensors[number % guest_ring_calls(count) * guest_call_words(count)];
}

/* Sleeps while `bell` is 1, for at most so long; wakes whoever sleeps. guest_ring.c */
void guest_bell_sleep(guest_bell *bell, uint64_t most_ns);
static inline void guest_bell_arm(guest_bell *bell) {
    atomic_store(&bell->asleep, 1);
}
bool guest_bell_ring(guest_bell *bell); /* whether anybody was asleep */
/* Waits a moment without leaving the processor. */
static inline void guest_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
