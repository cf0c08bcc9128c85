/* stub.h - libraries like CUDA's driver and HIP whose device is this processor: they do what the
 * manuals promise and no more, count what is alive, and fail on request. One source is built once
 * with the names of CUDA and once (STUB_HIP) with those of HIP; STUB_OLD lacks a function,
 * STUB_PLAIN has no graphs, and makes no maps of tensors.
 *
 * The host crashes where it touches an address of the device. Work is done on a thread of its
 * stream some time after it was given. Freeing memory waits for all that runs, as drivers do.
 *
 * What fails is in TESSERA_STUB_FAULTS (pretend.h):
 *   init      the result of cuInit
 *   devices   how many there are (1)
 *   capability, chip, threads, grid, shared, units   what the device says of itself (90, 942, 1024,
 *             2147483647, 232448, 2)
 *   load      the result of loading a module
 *   block     threads that a function takes at most
 *   refuse    1: more than 48 KiB of shared memory are refused; 2: pinned memory has no address
 *   memory    bytes that there are
 *   context   the result of taking the device
 *   lost      the result that the launch number `at` (1) ends with, and all calls after it
 *   endless   1: launches never end, until stub_gpu_end
 *   split     1: its matrix unit rounds products before it adds them
 *   capture, instantiate, graph   the results of ending a capture, making a graph, launching it */
#ifndef TESSERA_RUNTIME_TEST_STUB_GPU_H
#define TESSERA_RUNTIME_TEST_STUB_GPU_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/pretend.h"
#include "test/stub_gpu/stub_control.h"

#define STUB_PUBLIC __attribute__((visibility("default")))

#ifdef STUB_HIP
enum { STUB_IS_HIP = 1 };
#define BOTH(name, cuda, hip, parameters) STUB_PUBLIC int hip parameters;
#define HIP(name, hip, parameters) STUB_PUBLIC int hip parameters;
#define LATER(name, cuda, hip, parameters) STUB_PUBLIC int hip parameters;
#define CALL(cuda, hip) hip
#else
enum { STUB_IS_HIP = 0 };
#define BOTH(name, cuda, hip, parameters) STUB_PUBLIC int cuda parameters;
#define CUDA(name, cuda, parameters) STUB_PUBLIC int cuda parameters;
#define LATER(name, cuda, hip, parameters) STUB_PUBLIC int cuda parameters;
#define CUDA_LATER(name, cuda, parameters) STUB_PUBLIC int cuda parameters;
#define CALL(cuda, hip) cuda
#endif
#include "device/cuda/cuda_functions.def"

STUB_PUBLIC void stub_gpu_counts(stub_counts *out);
STUB_PUBLIC void stub_gpu_end(void);

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_PTX = 218,
    INVALID_CONTEXT = 201,
    NO_BINARY = 209,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901
};

/* ---- the device's state; all of it under one lock ---- */

typedef enum stub_memory_kind { STUB_DEVICE, STUB_PINNED, STUB_MANAGED } stub_memory_kind;

typedef struct stub_stream stub_stream;

typedef struct stub_function {
    const char *name;
    unsigned threads; /* .maxntid */
    unsigned dynamic_shared;
} stub_function;

typedef struct stub {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    stub_counts counts;
    uint64_t bytes; /* of memory that is allocated */
    int process;    /* that opened it: of no use to those that are forked from it */
    int lost;       /* the result of all calls; 0: it is not */
    bool ended;     /* endless launches end */
    stub_stream *all;
} stub;

extern stub stub_state;

/* The result of a call that needs the calling thread's context; what was lost stays lost. */
int stub_ready(void);

/* stub_memory.c. NULL: no such bytes are the device's. With the lock held. */
unsigned char *stub_resolve(uint64_t address, size_t bytes);

/* stub_stream.c */
typedef struct stub_launch {
    const stub_function *function;
    uint64_t arguments[PRETEND_ARGUMENTS];
    unsigned workgroups;
} stub_launch;

int stub_give_launch(void *stream, const stub_launch *l);
/* Waits until nothing runs any more. */
void stub_wait_for_all(void);

#endif
