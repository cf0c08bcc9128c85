/* foreign.h - a device whose kernels are code of others: each image is the description of an
 * implementation (guest/guest.h), and runs in a process of its own, the guest.
 *
 * Memory is shared with all guests of the device, page by page between guard pages, and is the
 * host's own as well. Copies and fills are done by the host. Calls go through a ring in shared
 * memory (device/foreign/guest_protocol.h), in the order in which they were submitted, whatever the
 * queue. What the device says of times is the host's clock: begin and end as the host saw them.
 *
 * TESSERA_FOREIGN=1 in the environment, read whenever devices are listed or opened, makes it one of
 * them, after those of the host and simulated ones: it loads no module that the compiler makes, so
 * who takes every device that there is does not want it.
 *
 * A guest that dies, or that is told to stop because a call ran past its limit, fails its calls;
 * those of other images go on. The program is the one that TESSERA_GUEST names, else
 * `tessera-guest` beside the program that runs, else ../libexec/tessera/tessera-guest; for images
 * of the target foreign/python `python3` (or $TESSERA_PYTHON) with the package tessera. */
#ifndef TESSERA_RUNTIME_FOREIGN_H
#define TESSERA_RUNTIME_FOREIGN_H

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

#include "base/vec.h"
#include "device/device.h"
#include "device/foreign/guest_protocol.h"

#define FOREIGN_DEVICE "TESSERA_FOREIGN"

typedef struct foreign_device foreign_device;

/* Scheduling of a thread by the system. */
typedef struct foreign_thread {
    pid_t id;
    int policy, nice;
    uint64_t cores; /* a digest of those that it may run on */
} foreign_thread;

/* A guest and its image. Fields: its process, what it is given and what it did, for all files here.
 */
typedef struct foreign_image {
    device_image base;
    foreign_device *device;
    char label[96];
    bool is_python, answered; /* ... a request, at any time */
    bool is_bound; /* the guest binds the threads of its code to as many processors as it has
                      threads */
    pid_t pid;     /* 0: it has ended, as `end` says */
    pid_t keeper;  /* the first process of its namespaces; 0: it has none */
    status end;
    int socket, output; /* its own; what it prints, a nameless file */
    guest_ring *ring;
    uint64_t number;     /* foreign_called */
    foreign_thread born; /* the thread that started it, whose ways it has */
    bool frozen;
    uint32_t pauses, pauses_in_part;   /* how often it looks for a call before it sleeps */
    uint64_t awake_since_ns;           /* where it is not frozen */
    uint64_t awake_ns;                 /* until it was last stopped */
    struct foreign_image *next_living; /* of those that foreign_freeze stops */
    uint32_t spin_ns;                  /* how long the device may spin */
    uint64_t submitted;                /* as the ring says; the guest cannot change it here */
    uint64_t progress_ns, limit_ns; /* when a call last ended; of the call in hand, 0: for ever */
    uint64_t progress;
} foreign_image;

typedef struct foreign_memory {
    device_memory base;
    int descriptor;
    unsigned char *pages;
    size_t page_bytes;
    VEC(uint64_t) addresses; /* of the pages in each guest, in the order of device->images */
} foreign_memory;

struct foreign_device {
    device base;
    device_options options;
    pthread_mutex_t mutex; /* one thread at a time is in the device */
    VEC(foreign_image *) images;
    VEC(foreign_memory *) memories;
    foreign_image *last; /* that was given a call; others wait for it */
    device_event *pending;
    status failure; /* of calls that nobody was told of */
    status lost;
};

/* foreign_guest.c, with the lock held: starts the guest and has it open the description. */
bool foreign_guest_start(foreign_image *image, const device_source *source, status *st);
void foreign_guest_end(foreign_image *image);
/* foreign_spawn.c: its process, which has `socket` as GUEST_SOCKET (guest/apart.c). */
bool foreign_spawn(foreign_image *image, const char *target, int socket, status *st);
/* Ends what is left there, when the guest has ended. */
void foreign_end_keeper(foreign_image *image);
/* Maps `memory` there. */
bool foreign_guest_map(foreign_image *image, const foreign_memory *memory, uint64_t *address_out,
                       status *st);
void foreign_guest_unmap(foreign_image *image, const foreign_memory *memory, uint64_t address);
/* Tells whether the guest is still there; else `image->end` has the reason. */
bool foreign_guest_lives(foreign_image *image);
/* Ends it with that reason, and what is left of its group of processes. */
void foreign_guest_kill(foreign_image *image, status_code code, const char *why);
/* Memory that both sides can map and neither can cut short; -1 with the reason. */
int foreign_nameless_file(const char *name, size_t size_bytes, status *st);

/* The file of the program tessera-guest. */
bool foreign_guest_program(char out[PATH_MAX], status *st);
/* Tells whether guests have namespaces of their own, tried without one; else why not. */
bool foreign_is_apart(status *why);

/* foreign_freeze.c: guests that do nothing between calls. Each has a number, from 1, that no other
 * guest of this process has had.
 *
 * Stops all guests of this process, whatever the device, and the processes that they have started,
 * wherever these hide, until the guest's next call or request: what they would do between calls is
 * neither done nor in the way. They are stopped when this returns. */
void foreign_freeze(void);
/* ... the one alone that this thread called last: others may be in the middle of a call. */
void foreign_freeze_called(void);
/* The guest that this thread started or called last; 0: none. */
uint64_t foreign_called(void);
/* Children of this process that no guest has started. */
void foreign_spare(bool (*those)(pid_t pid));
/* While it is so guests wait long for a call before they sleep, where they have a processor to do
 * so: what is timed then has no wake-up in it that some functions would save. */
void foreign_keep_awake(bool awake);
/* Counts the calls of this thread that have met a guest that slept. */
uint64_t foreign_wakes(void);

/* foreign_watch.c: what a guest has cost by now: the time that processors gave to it; of that, what
 * its busiest `threads` threads each had; how long threads that live were ready to run and had to
 * wait for a processor: with it, what runs at the same time shows on a busy machine, too. The time
 * of children that have ended; how long processes that it has started and that still run did so, or
 * were ready to; whether one of these has memory of the device mapped. And for how long it was not
 * stopped. False: it lives no more. */
typedef struct foreign_cost {
    uint64_t all_ns, busiest_ns, waited_ns, ended_ns, started_ns, awake_ns;
    uint32_t started; /* how many such processes there are */
    bool memory_is_shared;
} foreign_cost;
bool foreign_cost_of(uint64_t number, uint32_t threads, foreign_cost *out);
/* The guests that live; returns how many. */
size_t foreign_guests(uint64_t *numbers, size_t room);

/* Scheduling of its threads by the system; `born`: as it was started. */
enum { FOREIGN_THREADS_MAX = 64 };
typedef struct foreign_schedule {
    size_t count;
    foreign_thread threads[FOREIGN_THREADS_MAX]; /* the first is the one that calls */
} foreign_schedule;
bool foreign_schedule_of(uint64_t number, foreign_thread *born, foreign_schedule *out);
foreign_thread foreign_thread_of(pid_t id);

/* Kills all processes that this one or a descendant has started and that still run, but for guests,
 * those that are `spared` (NULL: none), and what these have started. A process whose parent ended
 * counts where this one is a subreaper (prctl). */
void foreign_end_left_behind(bool (*spared)(pid_t pid));
/* Makes this process one whose memory no other of its user can read or trace (the kernel's
 * "dumpable"), and the one that orphaned descendants come to. For whoever runs guests, or starts
 * those who do. */
void foreign_keep_apart(void);

/* For foreign_guest.c and foreign_calls.c, with the device's lock held. */
void foreign_freeze_enter(foreign_image *image);
void foreign_freeze_leave(foreign_image *image);
void foreign_thaw(foreign_image *image);
void foreign_note_call(const foreign_image *image, bool woken);

/* foreign_calls.c, with the lock held. */
bool foreign_call(foreign_device *d, const device_command *command, status *st);
/* Waits for all calls. The first failure that was not told goes to device->failure. */
void foreign_settle(foreign_device *d);
/* Takes what has ended by now: events get their times. */
void foreign_look(foreign_device *d);

struct device_event {
    bool used, done;
    foreign_image *image; /* not done: ... after so many of its calls */
    uint64_t after, time_ns;
    device_event *next;
};

#endif
