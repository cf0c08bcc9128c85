/* device.h - drivers, their devices, and the queues of a device: all that the runtime knows of what
 * kernels run on. devices.def lists the drivers.
 *
 * A driver enumerates devices and opens them; each opening is a device of its own, with its own
 * memory, images, events and queues. What a device can do is data (device_info). Work goes to
 * queues: the commands of one queue run one after the other, those of two queues in any order but
 * where an event orders them.
 *
 * Memory is named by addresses of the device. The host touches none that it has not mapped, unless
 * the device is host_addressable.
 *
 * Functions may be called by several threads at once, but nothing may be in use where it is freed.
 * Failures fill the status. */
#ifndef TESSERA_RUNTIME_DEVICE_H
#define TESSERA_RUNTIME_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dlpack_device.h"
#include "base/status.h"
#include "device/device_call.h"
#include "device/device_pools.h"
#include "tessera/kernel.h"

typedef struct device_driver device_driver;
typedef struct device_event device_event;
typedef struct device_queue device_queue;
typedef struct device_sequence device_sequence;

typedef enum device_memory_kind {
    DEVICE_MEMORY_DEVICE,       /* the device's own; the fastest for its kernels */
    DEVICE_MEMORY_HOST_VISIBLE, /* the device's own, and the host can map it */
    DEVICE_MEMORY_PINNED,       /* the host's, and the device can reach it; for what is copied */
    DEVICE_MEMORY_KIND_COUNT
} device_memory_kind;

enum { DEVICE_TARGETS_MAX = 8 };

/* Ways to have an operation that IEEE 754 rounds once. */
typedef enum device_way {
    DEVICE_WAY_UNKNOWN,
    DEVICE_WAY_NATIVE,   /* the device's own is right */
    DEVICE_WAY_EMULATED, /* code of several operations has the same bits */
    DEVICE_WAY_NONE,     /* code that needs it is not loaded */
    DEVICE_WAY_COUNT
} device_way;
typedef struct device_arithmetic {
    device_way fma, divide, root;
} device_arithmetic;
#define DEVICE_ARITHMETIC_NATIVE                                                                   \
    { DEVICE_WAY_NATIVE, DEVICE_WAY_NATIVE, DEVICE_WAY_NATIVE }
#define DEVICE_ARITHMETIC_NONE                                                                     \
    { DEVICE_WAY_NONE, DEVICE_WAY_NONE, DEVICE_WAY_NONE }

/* Properties of a device; strings live as long as the process. */
typedef struct device_info {
    const char *backend;     /* the driver's name */
    const char *name;        /* of the product */
    const char *isa;         /* the best level of code that it runs */
    const char *unavailable; /* NULL where it can be opened, else the reason in words */
    uint32_t compute_units;
    bool units_unknown; /* compute_units is 1, for want of knowing */
    uint64_t memory_bytes;
    uint32_t memory_kinds, mappable_kinds; /* bit 1 << device_memory_kind */
    bool host_addressable; /* its addresses are the host's, and it takes any memory of the host */
    uint64_t workgroup_memory_bytes; /* the most that a workgroup can have */
    uint64_t timestamp_ns;           /* the step of its clock */
    uint32_t subgroup;               /* threads that run in step; 0: as the table of chips says */
    uint32_t workgroup_threads;      /* at most; 0: it does not say */
    device_arithmetic f32, f64;
    /* Names of the images that it loads, best first; NULL ends them. None: it loads any. */
    const char *targets[DEVICE_TARGETS_MAX + 1];
    const char *target_limit;           /* the setting that ruled out better ones; NULL: none did */
    uint32_t dlpack_type, dlpack_index; /* as tsr_device_info_t has them */
} device_info;

/* Times of one dispatch, by the device's clock. */
enum { DEVICE_TIMED_PHASES = 8 };
typedef struct device_times {
    const char *label;
    uint64_t start_ns, total_ns;
    uint32_t phases;
    uint64_t phase_ns[DEVICE_TIMED_PHASES]; /* later phases count in total_ns only */
} device_times;

typedef struct device_options {
    device_pools pools;
    uint32_t threads; /* of the host, where those run the kernels; 0: one for each usable core */
    bool debug; /* memory has guard pages and canaries; workspaces and workgroup memory are poisoned
                   and checked with each dispatch */
    void (*timed)(void *context, const device_times *times); /* of each timed dispatch that ended */
    void *timed_context;
} device_options;

/* Drivers extend these three; their own structs start with them. */
typedef struct device {
    const device_driver *driver;
    device_info info;
    atomic_uint attention; /* 0: the device is usable; else `usable` is to be asked */
    bool own_addresses;    /* those of its memory are no other's in this process: neither the host's
                              nor another device's */
} device;

typedef struct device_image {
    uint32_t phase_count;
} device_image;

typedef struct device_memory {
    void *address;
    size_t size_bytes;
    device_memory_kind kind;
} device_memory;

/* Code to be loaded: one image of a module, read during the call. */
typedef struct device_source {
    const void *bytes;
    size_t size_bytes;
    const char *target;         /* one of device_info's, where it has any */
    const char *label;          /* for messages */
    const char *const *symbols; /* the entry point of each phase */
    uint32_t phase_count;
    uint32_t threads;                /* of a workgroup, where the metadata says it; else 0 */
    const device_call *const *calls; /* of each phase, in code of the driver's `foreign`; or NULL */
    const device_maps *const *maps;  /* of each phase, or NULL: it has none; NULL: none has */
    const bool
        *concurrent; /* of each phase: it may run while the one before does; NULL: none may */
} device_source;

/* An address in `memory`, or in the host's own memory where that is NULL. */
typedef struct device_span {
    void *address;
    const device_memory *memory;
} device_span;

/* A whole kernel: its phases are grids that run one after the other, but for those that are
 * concurrent.
 */
typedef struct device_dispatch {
    const device_image *image;
    const char *label; /* of the kernel; borrowed until the dispatch has ended */
    void *const *buffers;
    const device_memory *const *memories; /* of each buffer; NULL: the host's own */
    const int64_t *buffer_bytes;          /* NULL: all behind its address is a buffer's */
    const int64_t *dims;
    const int64_t *workgroups; /* of each phase of the image */
    uint32_t buffer_count, dim_count;
    size_t workspace_bytes; /* of the dispatch; the device supplies it, unless it has sequences */
    device_span workspace;  /* ... and it is here, what is prepared behind it on the next line of 64
                               bytes; its address is NULL where it is not */
    size_t workgroup_bytes; /* of each workgroup; likewise */
    size_t prepared_bytes; /* that phases with a constant write; the device supplies them, unless */
    device_span prepared;  /* ... they are here; its address is NULL where they are not */
    bool timed;
} device_dispatch;

typedef enum device_command_kind {
    DEVICE_COPY,
    DEVICE_FILL,
    DEVICE_DISPATCH,
    DEVICE_RECORD, /* notes the time at which all before it have ended, well or badly */
    DEVICE_WAIT,   /* what follows waits for the recording that was asked for last */
    DEVICE_HOST, /* a function of the host runs when all before it have ended; what follows waits */
    DEVICE_REPLAY /* the next commands are what a sequence is of: done as one where it can be */
} device_command_kind;

typedef struct device_command {
    device_command_kind kind;
    unsigned char byte; /* DEVICE_FILL */
    uint64_t limit_ns;  /* how long it may run before its device counts as lost; 0: for ever */
    union {
        struct {
            device_span to, from; /* DEVICE_FILL has no `from` */
            size_t size_bytes;
        } range;
        struct {
            device_event *event; /* DEVICE_RECORD, DEVICE_WAIT */
            bool untimed;   /* DEVICE_RECORD: nobody asks when it was, and no queue waits for it */
            bool awaitable; /* ... but queues may wait for it, though it is untimed */
        };
        device_dispatch dispatch;
        struct { /* DEVICE_HOST */
            bool (*run)(void *argument, status *st);
            /* Called once: after `run`, or where the command is given up without it. */
            void (*drop)(void *argument);
            void *argument;
        } host;
        struct {
            device_sequence *sequence; /* NULL: they are done one by one */
            size_t count;              /* copies, fills and dispatches that follow */
        } replay;
    };
} device_command;

typedef enum device_event_state {
    DEVICE_EVENT_UNUSED,  /* no recording was asked for */
    DEVICE_EVENT_PENDING, /* one asked for has not happened */
    DEVICE_EVENT_DONE
} device_event_state;

/* Memory of one kind: of the driver's blocks, and what allocations and workspaces take of them. */
typedef struct device_memory_counts {
    uint64_t held_bytes, used_bytes, used_peak_bytes;
    uint64_t blocks, blocks_made; /* that are held; ever */
    uint64_t allocations;         /* ever */
} device_memory_counts;

/* Counters of a device since it was opened. */
typedef struct device_counts {
    device_memory_counts memory[DEVICE_MEMORY_KIND_COUNT];
    uint64_t recordings, replays; /* of sequences */
} device_counts;

/* Fields: a driver is a table of functions. */
struct device_driver {
    const char *name;
    bool listed; /* its devices have public indices */
    /* Kinds of code that others made, whose entry points are called as their device_call says; NULL
     * ends them. NULL: it takes none. */
    const char *const *foreign;
    /* Describes device `index` without opening it; false past the last. */
    bool (*enumerate)(uint32_t index, device_info *info_out);
    /* Fills in what only trying an opened device tells: its arithmetic, and targets in front of
     * those that enumerating tells. False where it cannot be opened. NULL: enumerating tells all.
     */
    bool (*examine)(uint32_t index, device_info *info, status *st);
    bool tries_code; /* it tells of targets, not of arithmetic alone */
    /* Fills in why there is no device at all; NULL: nobody would look for one. */
    void (*absent)(status *why);
    bool (*open)(uint32_t index, const device_options *options, device **device_out, status *st);
    /* Nothing of the device is left but, where it is lost, events and queues that cancel ended. */
    void (*close)(device *d);

    /* False, with the reason, once the device is lost: a command ran past its limit
     * (STATUS_TIMEOUT) or the device is gone (STATUS_DEVICE_LOST). From then on every command
     * fails. */
    bool (*usable)(device *d, status *why);
    /* Declares the device lost, with the reason, where it is not lost yet. */
    void (*lose)(device *d, const status *why);
    /* Gives a lost device up and ends its threads; commands that have not begun never will. False
     * where one is inside a kernel that does not end: nothing of the device may be freed then. */
    bool (*cancel)(device *d);

    bool (*alloc)(device *d, size_t size_bytes, device_memory_kind kind, device_memory **memory_out,
                  status *st);
    void (*free)(device *d, device_memory *memory);
    /* Takes memory that something else in the process allocated, once all has ended that the
     * device's default stream was given; `free` gives back what was made for it. NULL: nothing else
     * has addresses of the device, or it is host_addressable. */
    bool (*adopt)(device *d, void *address, size_t size_bytes, device_memory **memory_out,
                  status *st);
    /* False where the bytes that debug keeps around the memory were written; says on which side,
     * and mends them. */
    bool (*intact)(device *d, const device_memory *memory, status *st);
    /* Maps the memory: the host's pointer, valid until it is unmapped. */
    bool (*map)(device *d, device_memory *memory, void **host_out, status *st);
    void (*unmap)(device *d, device_memory *memory);

    bool (*load)(device *d, const device_source *source, device_image **image_out, status *st);
    void (*unload)(device *d, device_image *image);

    bool (*event_create)(device *d, device_event **event_out, status *st);
    void (*event_destroy)(device *d, device_event *event);
    /* Tells whether the event's recordings have happened, and when the last did; after waiting for
     * them where asked to. False where the device is lost. */
    bool (*event_query)(device *d, device_event *event, bool wait, device_event_state *state_out,
                        uint64_t *time_ns_out, status *st);

    /* Those who submit to a synchronous queue wait for the end of it, so the device may use their
     * thread. */
    bool (*queue_create)(device *d, bool synchronous, device_queue **queue_out, status *st);
    /* The queue has nothing to do, or the device was cancelled. */
    void (*queue_destroy)(device *d, device_queue *queue);
    /* Queues commands; what they point at is read before it returns, memory and images when they
     * run. On a synchronous queue it returns when they have ended; false where one failed. */
    bool (*submit)(device_queue *queue, const device_command *commands, size_t count, status *st);
    /* Waits for all that was submitted before. False with the first failure that was not told yet.
     */
    bool (*await)(device_queue *queue, status *st);

    /* Sequences: where a device keeps what it recorded of commands that are submitted together, to
     * do them with less work when they come again; where others come, it records anew. Images that
     * they use live as long. A queue is given it behind a wait for what another queue was given of
     * it, and all that has ended where it is destroyed. NULL: the driver records nothing, and
     * DEVICE_REPLAY is not for it. */
    device_sequence *(*sequence_create)(device *d);
    void (*sequence_destroy)(device *d, device_sequence *sequence);
    void (*count)(device *d, device_counts *out); /* NULL: it counts nothing */
};

/* Driver `index` of those in devices.def that this program has, listed ones first; NULL past the
 * end. drivers.c, or in libtessera.so extra/open.c. */
const device_driver *device_driver_at(size_t index);
const device_driver *device_driver_find(const char *name); /* NULL: there is none */
/* Counts the devices of the listed drivers. */
uint32_t device_listed_count(void);
/* Listed device `index`: its driver and its index there; NULL past the end. */
const device_driver *device_listed_at(uint32_t index, uint32_t *own_index_out);
/* Opens a device, and closes it again where what it says of itself cannot be. *device_out is NULL
 * then. */
bool device_open(const device_driver *driver, uint32_t index, const device_options *options,
                 device **device_out, status *st);

#endif
