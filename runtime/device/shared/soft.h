/* soft.h - queues, events and time limits made of threads of this process: what the drivers share
 * that have no hardware to do it for them.
 *
 * A driver's device starts with a soft_device, its queues with a device_queue. It says how a copy,
 * a fill or a dispatch is executed, and puts the functions below into its device_driver. One lock a
 * device keeps all that changes; it is never held while a command executes.
 *
 * Nobody can stop a thread safely inside a kernel. So the limit of a command ends the waiting, not
 * the command: whoever waits for anything on the device, or asks whether it is usable, sees that a
 * command is overdue and declares the device lost. No thread watches. */
#ifndef TESSERA_RUNTIME_SOFT_H
#define TESSERA_RUNTIME_SOFT_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/device.h"

typedef struct soft_device soft_device;
typedef struct soft_batch soft_batch;
typedef struct soft_recording soft_recording;

struct device_queue {
    soft_device *device;
    bool synchronous;
    /* Under the device's lock: */
    device_queue *next;
    pthread_cond_t work; /* wakes the queue's thread */
    pthread_t thread;
    bool has_thread, stopping;
    bool busy;            /* it executes, or the device may be at what it was given */
    bool given;           /* the device may be at what it was given */
    bool detached, ended; /* a thread that nobody joins; it touches the queue no more */
    soft_batch *first, **last;
    uint32_t waiting;     /* threads that wait for the queue's end */
    uint64_t deadline_ns; /* when what it executes must have ended; 0: never */
    uint64_t limit_ns;    /* what the deadline was made from */
    const char *kernel;   /* that it executes; NULL: a copy or a fill */
    status failure;       /* the first that was not told yet */
    soft_batch *spares;   /* memory of batches that ended; soft_batch.c */
    /* Read without the lock: */
    atomic_size_t spare_bytes;
    soft_batch *_Atomic ready; /* a spare for the next batch; NULL: there is none */
};

typedef struct soft_functions {
    /* Returns a submitted address as the commands of a queue see it. NULL: it is the same. */
    void *(*resolve)(device_span span);
    /* Executes a copy, fill or dispatch on the calling thread, or gives it to the device;
     * soft_begin and soft_end are around what its limit is for. */
    bool (*execute)(device_queue *queue, const device_command *command, status *st);
    /* Waits for all that `execute` gave to the device, and tells the first failure of it. NULL:
     * what is executed has ended. */
    bool (*finish)(device_queue *queue, status *st);
    /* Has all ended that was given, so that `finish` does not wait? NULL: nobody can tell.
     */
    bool (*settled)(device_queue *queue);
    /* Notes a DEVICE_RECORD that happens once the device is through what it was given:
     * soft_recording_done follows, at the latest in `finish`. One that is timed has a mark. False:
     * it happens when the queue is finished. With no lock held. NULL: likewise. */
    bool (*record)(device_queue *queue, soft_recording *r, const device_command *command);
    /* Makes what is executed from now on begin after a recording that is done or has a mark. NULL:
     * none has. */
    bool (*follow)(device_queue *queue, soft_recording *r, status *st);
    /* Has a mark been reached, and when by the device's clock? `wait`: waits until it is, or the
     * device is lost. NULL: there are no marks. */
    bool (*reached)(soft_device *d, void *mark, bool wait, uint64_t *time_ns_out);
    /* Executes the commands behind a DEVICE_REPLAY; all run, though one fails. NULL: there are none
     * of that kind. */
    bool (*replay)(device_queue *queue, const device_command *command, status *st);
    /* Tells that the device is gone; with the lock held. NULL: it never is. */
    bool (*gone)(soft_device *d, status *why);
    /* The device was lost; with the lock held. */
    void (*lost)(soft_device *d);
    bool inline_execution; /* synchronous queues execute on the thread that submits */
} soft_functions;

struct soft_device {
    device base;
    const soft_functions *functions;
    device_options options;
    uint64_t clock_start_ns; /* what the device's clock counts from */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a batch, a recording, a turn or a limit; by CLOCK_MONOTONIC */
    device_queue *queues;
    status lost; /* once it holds a failure, it never changes again */
};

void soft_device_init(soft_device *d, const device_driver *driver, const soft_functions *functions,
                      const device_options *options);
void soft_device_release(soft_device *d); /* its queues are destroyed */
/* The device's clock. */
uint64_t soft_now_ns(const soft_device *d);

/* For device_driver. */
bool soft_usable(device *d, status *why);
void soft_declare_lost(device *d, const status *why);
bool soft_cancel(device *d);
bool soft_event_create(device *d, device_event **event_out, status *st);
void soft_event_destroy(device *d, device_event *event);
bool soft_event_query(device *d, device_event *event, bool wait, device_event_state *state_out,
                      uint64_t *time_ns_out, status *st);
bool soft_submit(device_queue *queue, const device_command *commands, size_t count, status *st);
bool soft_await(device_queue *queue, status *st);

/* For those whose queues are no more than a device_queue. */
bool soft_queue_create(device *d, bool synchronous, device_queue **queue_out, status *st);
void soft_queue_destroy(device *d, device_queue *queue);
/* For those whose memory is that of the process: soft_memory.c. */
bool soft_alloc(device *d, size_t size_bytes, device_memory_kind kind, device_memory **memory_out,
                status *st);
void soft_free(device *d, device_memory *memory);
bool soft_intact(device *d, const device_memory *memory, status *st);
bool soft_map(device *d, device_memory *memory, void **host_out, status *st);
void soft_unmap(device *d, device_memory *memory);

/* For those whose memory the program must not reach at the address that it knows: soft_hidden.c.
 *
 * That address is in pages that nobody may touch (PROT_NONE, for as long as the memory lives). The
 * pages themselves are those of a nameless file, mapped a second time at an address that only the
 * queues know; soft_hidden_resolve translates the arguments of each command. So a program that
 * dereferences an address of the device dies of SIGSEGV, whatever the queues are doing. Memory that
 * is host-visible or pinned has a third mapping, which can be touched between map and unmap. */
void *soft_hidden_resolve(device_span span);
bool soft_hidden_alloc(device *d, size_t size_bytes, device_memory_kind kind,
                       device_memory **memory_out, status *st);
/* soft_hidden_alloc without the device's limit, `skew_bytes` away from a sound alignment. */
bool soft_hidden_make(size_t size_bytes, device_memory_kind kind, size_t skew_bytes,
                      device_memory **memory_out, status *st);
void soft_hidden_free(device *d, device_memory *memory);
bool soft_hidden_intact(device *d, const device_memory *memory, status *st);
bool soft_hidden_map(device *d, device_memory *memory, void **host_out, status *st);
void soft_hidden_unmap(device *d, device_memory *memory);

/* Functions of device_driver, by what a driver takes from here. */
#define SOFT_DRIVER_FUNCTIONS                                                                      \
    .usable = soft_usable, .lose = soft_declare_lost, .cancel = soft_cancel,                       \
    .event_create = soft_event_create, .event_destroy = soft_event_destroy,                        \
    .event_query = soft_event_query, .submit = soft_submit, .await = soft_await
#define SOFT_QUEUE_FUNCTIONS .queue_create = soft_queue_create, .queue_destroy = soft_queue_destroy
#define SOFT_MEMORY_FUNCTIONS                                                                      \
    .alloc = soft_alloc, .free = soft_free, .intact = soft_intact, .map = soft_map,                \
    .unmap = soft_unmap
#define SOFT_HIDDEN_FUNCTIONS                                                                      \
    .intact = soft_hidden_intact, .map = soft_hidden_map, .unmap = soft_hidden_unmap

/* A queue as the first member of the driver's own. Releasing ends its thread. */
void soft_queue_init(device_queue *queue, soft_device *d, bool synchronous);
void soft_queue_release(device_queue *queue);

/* Begins what is executed: its limit counts from now. False where the device is lost. */
bool soft_begin_limited(device_queue *queue, const device_command *command, status *st);
void soft_end_limited(device_queue *queue);

static inline bool soft_begin(device_queue *queue, const device_command *command, status *st) {
    return command->limit_ns == 0 || soft_begin_limited(queue, command, st);
}

/* After a soft_begin that succeeded. */
static inline void soft_end(device_queue *queue, const device_command *command) {
    if (command->limit_ns)
        soft_end_limited(queue);
}

/* Returns how long to wait before a device is asked again, once so much time has passed: not at all
 * at first (0: others may have the processor), then a hundredth of it, a millisecond at most. */
uint64_t soft_pause_ns(uint64_t passed_ns);

/* With the lock held. Whether the device is lost; looks at limits and at soft_functions.gone. */
bool soft_is_lost(soft_device *d);
/* Declares it lost with the reason. */
void soft_lose(soft_device *d, const status *why);
/* Waits for `changed`, at most until the moment of CLOCK_MONOTONIC (0: as long as it takes); false
 * once the device is lost. Conditions are to be looked at again. */
bool soft_wait(soft_device *d, uint64_t until_ns);

/* Recordings: one moment on a queue, known to the event and to all that wait for it. With the lock
 * held. */
soft_recording *soft_recording_ask(device_event *event);    /* a new one of the event */
soft_recording *soft_recording_latest(device_event *event); /* another reference; or NULL */
soft_recording *soft_recording_keep(soft_recording *r);     /* likewise */
void soft_recording_done(soft_device *d, soft_recording *r, device_event *event, uint64_t time_ns);
bool soft_recording_is_done(const soft_recording *r);
void soft_recording_drop(soft_recording *r);
/* The device's own mark of the moment, which a queue made, from when it is noted until it is done.
 * Who borrows it gives it back before `done` goes on. */
void soft_recording_mark(soft_device *d, soft_recording *r, const device_queue *by, void *mark);
bool soft_recording_is_marked(const soft_recording *r);
void *soft_recording_borrow(soft_recording *r); /* NULL: there is none */
bool soft_recording_is_of(const soft_recording *r, const device_queue *queue);
void soft_recording_give_back(soft_device *d, soft_recording *r);

#endif
