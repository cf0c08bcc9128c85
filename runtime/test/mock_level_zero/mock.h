/* mock.h - a driver for Level Zero whose GPU is this processor; the real loader takes it
 * (ZE_ENABLE_ALT_DRIVERS). It does what the specification promises and no more, counts what is
 * alive, and fails on request.
 *
 * The host crashes where it touches memory of the device alone, and the device is lost where a
 * command touches anything but memory of the driver. A list runs some time after it was given, on a
 * thread of its queue; commands that no barrier keeps apart run the last one first. Divisions are
 * loose unless the options of a module say otherwise, and arguments are those of the moment at
 * which a kernel was appended. The device is lost, too, where an event is reset or destroyed that
 * a command which has not ended signals or waits for.
 *
 * What fails is in TESSERA_STUB_FAULTS (pretend.h). Results:
 *   tables, init, context, queue, list, fence_made, pool, build, kernel, group, append, execute,
 *   fence     of making a table of functions, zeInit, ..., of waiting for a fence; clocks, of
 *             reading them
 *   again     of running a list another time
 *   lost      which the launch number `at` (1) ends with, and all calls after it
 * What the device says of itself:
 *   version, devices, kind, units, timer, largest, threads, grid, shared, arguments, spirv, f32,
 *   modules, groups, access
 * And:
 *   memory    bytes that there are on the device;   host_memory   likewise of the host's
 *   lists     that there can be
 *   flaw      of the arithmetic (pretend_flaw); wide_flaw in 64 bits
 *   wrap      1: the clock begins anew during each launch, which takes 100 of its ticks
 *   endless   1: launches never end, until mock_level_zero_end */
#ifndef TESSERA_RUNTIME_TEST_MOCK_H
#define TESSERA_RUNTIME_TEST_MOCK_H

#include <level_zero/ze_ddi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "test/mock_level_zero/mock_control.h"
#include "test/pretend.h"

#define MOCK_PUBLIC __attribute__((visibility("default")))
MOCK_PUBLIC void mock_level_zero_counts(mock_counts *out);
MOCK_PUBLIC void mock_level_zero_end(void);

enum { MOCK_ARGUMENTS = 16, MOCK_ENTRIES = 8, MOCK_NAME_BYTES = 64 };
enum { MOCK_TICK_NS = 80, MOCK_CLOCK_BITS = 32 };

/* ---- the device's state; all of it under one lock ---- */

typedef struct mock {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    mock_counts counts;
    uint64_t bytes[2]; /* of the device, of the host */
    int process;       /* that began it: of no use to those that are forked from it */
    ze_result_t lost;  /* the result of all calls; 0: it is not */
    bool ended;        /* endless launches end */
} mock;

extern mock mock_state;

/* The result of a fault, where nothing is lost. */
ze_result_t mock_result(const char *fault);
/* ZE_RESULT_SUCCESS; the count is changed under the lock. */
ze_result_t mock_count(uint64_t *what, int by);

/* mock_memory.c. NULL: no such bytes are the driver's. With the lock held. */
unsigned char *mock_resolve(uint64_t address, size_t bytes);

/* ---- mock_module.c ---- */

typedef struct mock_entry {
    char name[MOCK_NAME_BYTES];
    uint32_t id, threads, arguments;
} mock_entry;

typedef struct mock_kernel {
    mock_entry entry;
    bool is_wide;        /* its code has 64-bit floats */
    bool divides;        /* ... and was made to divide as IEEE 754 says */
    uint32_t group_size; /* that was set */
    uint64_t arguments[MOCK_ARGUMENTS];
} mock_kernel;

bool mock_is_probe(const char *name);

/* ---- mock_list.c ---- */

typedef enum mock_command_kind {
    MOCK_COPY,
    MOCK_FILL,
    MOCK_LAUNCH,
    MOCK_TIME,
    MOCK_WAIT,
    MOCK_BARRIER
} mock_command_kind;

typedef struct mock_event {
    bool happened;
    uint32_t uses;       /* commands that were given, name it, and have not ended */
    uint64_t start, end; /* in ticks */
} mock_event;

typedef struct mock_command {
    mock_command_kind kind;
    uint64_t to, from;
    size_t bytes;
    unsigned char byte;
    mock_kernel kernel; /* as it was when it was appended */
    uint64_t workgroups;
    mock_event *event;
} mock_command;

typedef struct mock_list {
    mock_command *commands;
    size_t count;
    bool is_closed, runs, has_run;
} mock_list;

uint64_t mock_ticks(void);
void mock_lose(ze_result_t result);
/* Runs all of it, on the thread of a queue. */
void mock_run(const mock_list *list);

/* Functions that other files put into tables. */
extern const ze_mem_dditable_t mock_mem_table;
extern const ze_command_queue_dditable_t mock_queue_table;
extern const ze_command_list_dditable_t mock_list_table;
extern const ze_fence_dditable_t mock_fence_table;
extern const ze_event_pool_dditable_t mock_pool_table;
extern const ze_event_dditable_t mock_event_table;
extern const ze_module_dditable_t mock_module_table;
extern const ze_module_build_log_dditable_t mock_log_table;
extern const ze_kernel_dditable_t mock_kernel_table;

#endif
