/* tessera.h - the C ABI of the Tessera runtime: load a compiled module, give it memory, launch its
 * kernels.
 *
 * The runtime knows no compiler. A module is one file (see docs/modules.md): metadata, the Graph IR
 * and schedule it came from, and target images. Every function returns a tsr_status_t; after a
 * failure tsrGetLastError() tells, in words, what was wrong and what to do, for the calling thread.
 *
 * Threads: a context, its modules, kernels and allocations may be used from several threads at
 * once. A stream, an event or a graph is used from one thread at a time, each by another if you
 * like. Nothing may be used while another thread frees it. On the host, launches of one context run
 * one after the other, each on all threads of the context; contexts are independent. A launch reads
 * the memory behind `args` before tsrLaunch returns, and the buffers until it ends: freeing or
 * changing them earlier is the caller's race. tsrGetLastError is the calling thread's own.
 *
 * Handles are freed by the function that names them; freeing a context with live modules, streams,
 * events, graphs, prepared kernels or allocations is TSR_EINVAL and frees nothing. Passing a freed
 * handle is undefined.
 *
 * Structs that the library fills begin with their size, which the caller sets; it fills no more. So
 * they can grow, and a program built with an older header goes on working. */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Major: a program built for another one cannot use this library (nor would its dynamic linker take
 * it). Minor: functions were added. A module of ABI M.m loads where the runtime has the same M and
 * at least m. */
#define TSR_ABI_MAJOR 2
#define TSR_ABI_MINOR 9

#if defined(__GNUC__)
#define TSR_API __attribute__((visibility("default")))
#else
#define TSR_API
#endif

typedef struct tsr_context *tsr_context_t;
typedef struct tsr_module *tsr_module_t;
typedef struct tsr_kernel *tsr_kernel_t; /* borrowed from its module */
typedef struct tsr_stream *tsr_stream_t;
typedef struct tsr_event *tsr_event_t;
typedef struct tsr_graph *tsr_graph_t;
typedef struct tsr_prepared *tsr_prepared_t; /* since 2.1 */
typedef struct tsr_comm *tsr_comm_t;         /* since 2.9 */

/* Result of a function. After a failure nothing has changed, but for TSR_ETIMEOUT, TSR_EINTERNAL
 * and the failures of earlier launches that synchronising or destroying a stream tells. */
typedef enum tsr_status {
    TSR_SUCCESS = 0,
    TSR_EOOM,         /* no memory, or no thread, to be had from the system */
    TSR_EINVAL,       /* a wrong argument, or a handle that is still in use */
    TSR_ETIMEOUT,     /* the watchdog fired; the context is lost (tsrSetWatchdog) */
    TSR_ENOTFOUND,    /* no such device, kernel, parameter, or entry point in a module's image */
    TSR_ECORRUPT,     /* not a module, or a damaged one, or one that breaks the format's rules */
    TSR_EVERSION,     /* the module was made for another ABI major or a newer minor */
    TSR_EUNAVAILABLE, /* no image of the module fits this machine, or the device is not usable */
    TSR_EINTERNAL,    /* a promise was broken: a kernel wrote out of bounds (seen under
                         TSR_CONTEXT_DEBUG) or changed the floating-point environment, or the
                         runtime or a driver has a bug */
    TSR_EDEVICELOST   /* the device is gone, and with it all that was in its memory; the context is
                         lost */
} tsr_status_t;

/* The message of the last failure on this thread; "" if none. Borrowed until the next call on this
 * thread. */
TSR_API const char *tsrGetLastError(void);
TSR_API const char *tsrStatusName(tsr_status_t code); /* e.g. "invalid argument"; static storage */
/* The ABI of the library that is running, to compare with TSR_ABI_MAJOR and TSR_ABI_MINOR. */
TSR_API void tsrGetVersion(uint32_t *abi_major, uint32_t *abi_minor);

/* Devices. Index 0 is always the host. */
typedef struct tsr_device_info {
    size_t struct_size;     /* sizeof(tsr_device_info_t), set by the caller */
    const char *backend;    /* "cpu", ...; strings are static storage */
    const char *name;       /* marketing name of the device */
    const char *isa;        /* the best level of code that it runs, e.g. "x86-64-v4" */
    uint32_t compute_units; /* usable cores */
    uint32_t memory_kinds; /* what tsrAlloc gives: bit 0: of the device; and TSR_ALLOC_HOST_VISIBLE,
                              TSR_ALLOC_PINNED */
    uint64_t memory_bytes;
    uint64_t workgroup_memory_bytes; /* the most that a workgroup can have */
    uint64_t timestamp_ns;           /* the step of its clock */
    uint32_t host_addressable;       /* not 0: its pointers are the host's, and kernels and copies
                                        take any memory of the program */
    const char *unavailable;         /* NULL when usable, else the reason in words */
    uint32_t dlpack_type;  /* kDLCPU, kDLCUDA, ...: what DLPack calls the device, whose data are the
                              pointers that tsrAlloc gives; 0: nothing there. Since 2.8 */
    uint32_t dlpack_index; /* ... and its number there */
} tsr_device_info_t;
TSR_API tsr_status_t tsrGetDeviceCount(uint32_t *count);
TSR_API tsr_status_t tsrGetDeviceInfo(uint32_t index, tsr_device_info_t *info);
/* Describes what a device can do, since 2.2: one JSON object, of the same keys for every device.
 * Unknown is null; docs/devices.md says what each key means and its unit. The text lives as long as
 * the process: nobody frees it. The device is opened and given back where only trying it tells what
 * its arithmetic does (Vulkan); one that cannot be used is described all the same, with the reason
 * in "missing". TSR_ENOTFOUND where there is no such device; TSR_EINVAL where `json` is NULL. */
TSR_API tsr_status_t tsrGetCapabilities(uint32_t index, const char **json);

/* A context on the host device, with threads = usable cores. */
TSR_API tsr_status_t tsrCreateContext(tsr_context_t *context);
/* Under TSR_CONTEXT_DEBUG fresh memory, workspaces and scratch are filled with 0xCB; each ends (but
 * for padding to 64 bytes) at a page that cannot be touched and begins after one; and the bytes
 * around all of them are checked after every launch and when they are freed. A kernel that wrote
 * there makes its launch TSR_EINTERNAL, with the name of the buffer. */
enum { TSR_CONTEXT_DEBUG = 1 };
/* `index` of a device as listed above; `threads` of the host that run its kernels, 0 for as many as
 * the device has compute units. */
TSR_API tsr_status_t tsrCreateContextOn(uint32_t index, uint32_t threads, uint32_t flags,
                                        tsr_context_t *context);
/* A context of several devices, since 2.4: it has a member for each of the `count` indices, in
 * their order, and an index may come twice. Every member is a context of one device, which all
 * functions take; `*context` is the first. What joins them is that tsrCopyBetween copies from one
 * to the other, that semaphores order the streams of all, and that they are destroyed together:
 * tsrDestroyContext takes the first. One that is lost leaves the others usable. */
TSR_API tsr_status_t tsrCreateContextOnDevices(const uint32_t *indices, uint32_t count,
                                               uint32_t threads, uint32_t flags,
                                               tsr_context_t *context);
/* The member at a position, the first at 0; TSR_ENOTFOUND past the last. A context of one device
 * is its own only member. Since 2.4. */
TSR_API tsr_status_t tsrGetContextMember(tsr_context_t context, uint32_t position,
                                         tsr_context_t *member);
/* A lost context is destroyed whatever is alive in it, and all its handles with it. */
TSR_API tsr_status_t tsrDestroyContext(tsr_context_t context);

/* Limits how long a launch, a copy or a fill may run, from its turn on the device to its end, in
 * nanoseconds; 0, the default: for ever. It holds for those that are made after this call.
 *
 * A thread inside a kernel cannot be stopped safely. So when the time is over, the context is lost:
 * whatever waits in it (tsrLaunch on the default stream, synchronising, destroying a stream or an
 * event, unloading a module) and every later call on it or its handles returns TSR_ETIMEOUT with
 * the reason; only tsrDestroyContext still succeeds. Workgroups that have not begun are not run;
 * workgroups that have are left running on the context's threads, which go on using a core until
 * they end. As long as one runs, nothing that it may touch, the context's allocations, modules,
 * streams and events, is ever freed, so it is safe to let go of all handles, and to make a new
 * context. While a limit is set, launches on the default stream run on a thread of the context
 * instead of the caller's.
 *
 * The limit is for each command of a program, and for a launch of it as a whole (in a graph for
 * each command alone); so while one is set, a launch of a program waits for its stream. */
TSR_API tsr_status_t tsrSetWatchdog(tsr_context_t context, uint64_t timeout_ns);

/* Modules and kernels. `image` is read during the call and may be freed after it. Of a module's
 * images the best is taken that the machine can run; TESSERA_ISA=LEVEL in the environment, read
 * once a process, rules out what is above that level. */
TSR_API tsr_status_t tsrLoadModule(tsr_context_t context, const void *image, size_t size_bytes,
                                   tsr_module_t *module);
/* Waits for launches of the module's kernel that are queued or running. */
TSR_API tsr_status_t tsrUnloadModule(tsr_module_t module);
TSR_API tsr_status_t tsrGetKernel(tsr_module_t module, const char *name, tsr_kernel_t *kernel);
/* The metadata document (JSON text); borrowed until the module is unloaded. */
TSR_API tsr_status_t tsrGetModuleMetadata(tsr_module_t module, const char **json);

/* The level of the image that was taken, e.g. "x86-64-v3"; static storage. */
TSR_API tsr_status_t tsrGetModuleIsa(tsr_module_t module, const char **isa);

typedef struct tsr_kernel_info {
    size_t struct_size; /* sizeof(tsr_kernel_info_t), set by the caller */
    const char *name;
    uint32_t inputs, outputs; /* buffers, in the order of the kernel's parameters, inputs first */
    uint32_t dims;   /* i64 dimension arguments after the buffers (0 where shapes are fixed) */
    uint32_t phases; /* grids launched in order */
    uint64_t workspace_bytes; /* allocated by the runtime, zero cost to the caller; 0 where it
                                 depends on the dimensions */
    uint64_t scratch_bytes;   /* per thread; likewise */
} tsr_kernel_info_t;
TSR_API tsr_status_t tsrGetKernelInfo(tsr_kernel_t kernel, tsr_kernel_info_t *info);
/* Buffer `index` (inputs first): name, element type name, rank, dims (at most 8; borrowed; -1 where
 * one depends on the launch's). */
TSR_API tsr_status_t tsrGetKernelParameter(tsr_kernel_t kernel, uint32_t index, const char **name,
                                           const char **dtype, uint32_t *rank,
                                           const int64_t **dims);
/* The name of dimension argument `index`, as in the source; borrowed. */
TSR_API tsr_status_t tsrGetKernelDimName(tsr_kernel_t kernel, uint32_t index, const char **name);
/* The output to which an input is donated: a launch may give both one buffer, whose old contents
 * are then lost. TSR_NOT_DONATED: to none. TSR_ENOTFOUND: there is no such input. Since 2.3. */
#define TSR_NOT_DONATED UINT32_MAX
TSR_API tsr_status_t tsrGetDonatedOutput(tsr_kernel_t kernel, uint32_t input, uint32_t *output);

/* Memory, aligned to 64 bytes (on the host to 2 MiB and backed by huge pages where that pays). By
 * default the device's own. Where the device is not host_addressable, the program reaches it by
 * copies and fills alone; TSR_ALLOC_HOST_VISIBLE memory also by tsrMap, and TSR_ALLOC_PINNED
 * memory, which is the host's and for what is copied often. */
enum {
    TSR_ALLOC_DEFAULT = 0,
    TSR_ALLOC_ZERO = 1,
    TSR_ALLOC_HOST_VISIBLE = 2,
    TSR_ALLOC_PINNED = 4
};
TSR_API tsr_status_t tsrAlloc(tsr_context_t context, size_t bytes, uint32_t flags, void **pointer);
TSR_API tsr_status_t tsrFree(tsr_context_t context, void *pointer); /* NULL: nothing to do */
/* Imports, since 2.8: memory of the device that something else in the program allocated, such as a
 * framework, of which `pointer` is an address of the device. Launches and copies take any part of
 * it like an allocation's until it is released, which frees nothing; who made it keeps it that
 * long. Returns when what the device's default stream was given has ended (kDLCUDA: stream 1 of
 * DLPack, kDLROCM: 0). Ranges may overlap, and lie in an allocation of the context. The pointer is
 * not looked at. TSR_EUNAVAILABLE: nothing else has addresses of such a device (dlpack_type 0, and
 * not host_addressable). */
typedef struct tsr_import *tsr_import_t;
TSR_API tsr_status_t tsrImportMemory(tsr_context_t context, void *pointer, size_t bytes,
                                     tsr_import_t *import);
TSR_API tsr_status_t tsrReleaseImport(tsr_import_t import);
/* Maps an allocation for the host, until it is unmapped or freed: another pointer than the
 * allocation's, unless the device is host_addressable. What the device does to the memory is seen
 * once it has been waited for. */
TSR_API tsr_status_t tsrMap(tsr_context_t context, void *pointer, void **host);
TSR_API tsr_status_t tsrUnmap(tsr_context_t context, void *pointer);
/* At once, whatever streams are doing. Ranges that begin in an allocation must end in it; others
 * are memory of the program. Memory of another context whose device is not host_addressable is
 * TSR_EINVAL (but on GPUs through Vulkan, where nobody can tell). */
TSR_API tsr_status_t tsrCopy(tsr_context_t context, void *to, const void *from, size_t bytes);
/* In the order of a stream (NULL: the default one, and done on return). Memory of the program is
 * read or written when the copy's turn comes. */
TSR_API tsr_status_t tsrCopyAsync(tsr_context_t context, tsr_stream_t stream, void *to,
                                  const void *from, size_t bytes);
TSR_API tsr_status_t tsrFillAsync(tsr_context_t context, tsr_stream_t stream, void *to,
                                  uint8_t byte, size_t bytes);

/* Between members of a context of several devices, in the order of a stream of any member (NULL:
 * the default one of the first, and done on return), since 2.4. A range lies in an allocation of
 * the member beside it, or in memory of the program. Where a device is not host_addressable, its
 * bytes go through memory of the host. */
TSR_API tsr_status_t tsrCopyBetween(tsr_stream_t stream, tsr_context_t to_member, void *to,
                                    tsr_context_t from_member, const void *from, size_t bytes);

/* Streams run launches, copies and fills in order; NULL is the context's default stream, on which
 * they are done on return. Streams of a context are not ordered among each other, but by events.
 *
 * tsrLaunch on a created stream checks its arguments, queues and returns. What fails later is told
 * once, by the next tsrStreamSynchronize or tsrDestroyStream (the first failure, if there are
 * several); later launches of the stream run all the same. Destroying a stream waits until its
 * queue is worked off. Under TSR_CONTEXT_DEBUG a launch on a created stream has ended on return. */
TSR_API tsr_status_t tsrCreateStream(tsr_context_t context, tsr_stream_t *stream);
TSR_API tsr_status_t tsrDestroyStream(tsr_stream_t stream);
TSR_API tsr_status_t tsrStreamSynchronize(tsr_context_t context, tsr_stream_t stream);

/* Events mark points in a stream of the same context: a recording happens when all that was queued
 * before it has ended, well or badly. An event may be recorded again; then the latest recording
 * counts. Synchronising and destroying wait for every recording asked for. */
TSR_API tsr_status_t tsrCreateEvent(tsr_context_t context, tsr_event_t *event);
TSR_API tsr_status_t tsrDestroyEvent(tsr_event_t event);
TSR_API tsr_status_t tsrRecordEvent(tsr_event_t event, tsr_stream_t stream);
/* Makes what is queued in the stream (NULL: the default one) after this call wait for the recording
 * that was asked for last; where there is none, for nothing. */
TSR_API tsr_status_t tsrWaitEvent(tsr_event_t event, tsr_stream_t stream);
TSR_API tsr_status_t tsrSynchronizeEvent(tsr_event_t event);
/* When the latest recording happened, in nanoseconds of the device's clock, which begins anywhere.
 * TSR_EINVAL before it has happened; does not wait. */
TSR_API tsr_status_t tsrGetEventTime(tsr_event_t event, uint64_t *nanoseconds);
/* Nanoseconds of the device's clock between two recordings that have happened; TSR_EINVAL before
 * that, for events of two contexts, and where `end` came first. Does not wait. */
TSR_API tsr_status_t tsrElapsedTime(tsr_event_t start, tsr_event_t end, uint64_t *nanoseconds);

/* Semaphores, since 2.4: numbers that grow, for streams of all devices of a context (events are for
 * those of one device). A signal happens when all that was queued in its stream before it has
 * ended, well or badly; the value of a semaphore is the greatest number up to which all signals
 * that were asked for have happened. Each signal must be greater than the one asked for before it.
 *
 * A wait may be queued before the signal that it is for is asked for. Streams of the same device
 * wait on the device for a signal that was asked for, others as a thread of the host does. A
 * signal on a device that is lost fails those who wait for it, with the reason. */
typedef struct tsr_semaphore *tsr_semaphore_t;
TSR_API tsr_status_t tsrCreateSemaphore(tsr_context_t context, uint64_t value,
                                        tsr_semaphore_t *semaphore);
/* Waits for the signals asked for; TSR_EINVAL while a stream waits for one. */
TSR_API tsr_status_t tsrDestroySemaphore(tsr_semaphore_t semaphore);
/* On a stream of any member (NULL: the default one of the first, where it happens at once). */
TSR_API tsr_status_t tsrSignalSemaphore(tsr_semaphore_t semaphore, tsr_stream_t stream,
                                        uint64_t value);
/* Makes what is queued in the stream after this call wait until the value is at least `value`. */
TSR_API tsr_status_t tsrWaitSemaphore(tsr_semaphore_t semaphore, tsr_stream_t stream,
                                      uint64_t value);
TSR_API tsr_status_t tsrSynchronizeSemaphore(tsr_semaphore_t semaphore, uint64_t value);
TSR_API tsr_status_t tsrGetSemaphoreValue(tsr_semaphore_t semaphore, uint64_t *value);

/* Launch. The grid, block and shared memory of a kernel follow from its metadata ("launch"; a
 * formula where dimensions are given). A part of `launch` that is 0 stands for them; one that is
 * not must be the same, else TSR_EINVAL. `args` holds, per buffer, the address of a pointer to it
 * (void **), inputs first, then outputs, then per dimension the address of an int64_t, in the order
 * of tsrGetKernelDimName. Buffers must be aligned to 64 bytes, but inputs on a host_addressable
 * device to their elements alone (since 2.6); outputs overlap nothing but the input that is donated
 * to them, and that one as a whole, and hold anything until the launch has ended.
 *
 * A module may be a program: several kernels and what runs them (since 2.3; docs/modules.md). It
 * has one kernel by name, which is launched like any other, and whose "workspace" is the program's
 * memory between its kernels. It is the module's own, so launches of it on several streams run one
 * after the other. A launch of a program with branches or whiles, whose next command depends on
 * what those before it made, waits for its stream, and returns when all of it has been queued; what
 * fails before is the status of the launch. Nothing but a watchdog ends a while that does not end
 * by itself. */
typedef struct tsr_launch {
    uint32_t grid_x, grid_y, grid_z;
    uint32_t block_x, block_y, block_z;
    uint32_t smem_bytes;
} tsr_launch_t;
TSR_API tsr_status_t tsrLaunch(tsr_kernel_t kernel, tsr_stream_t stream, tsr_launch_t launch,
                               void **args, size_t nargs);

/* Prepared kernels, since 2.1: inputs that stay as they are from launch to launch, as weights do.
 * The phases that depend on one of them alone (metadata: "constant"; those that bring it into the
 * layout of the kernel's loops) run once, in tsrPrepareKernel, which returns when they have ended;
 * what they made is the prepared kernel's, and launches of it leave them out. The bits of a launch
 * are those of tsrLaunch.
 *
 * `inputs` has the indices of the inputs that stay; every constant that the module was compiled for
 * (metadata: "constants") must be among them, and any other may be: that saves no phase, and is
 * free. `args` is as for tsrLaunch, but that of the buffers only those of `inputs` are looked at;
 * others may be NULL. TSR_EINVAL where dimensions or buffers are not what the kernel takes;
 * TSR_EOOM; and the failures of a launch.
 *
 * A launch of a prepared kernel takes the arguments of tsrLaunch: the same buffers for the inputs
 * that were prepared, and the same dimensions, else it is TSR_EINVAL. Neither the contents of those
 * buffers nor the memory may change or be freed before the prepared kernel is destroyed: launches
 * may read either. Under TSR_CONTEXT_DEBUG a launch for which the contents are others than they
 * were is TSR_EINVAL.
 *
 * Several threads and streams may launch one prepared kernel at once; it is read only. Destroying
 * it waits for launches of its kernel that are queued or running, and is TSR_EINVAL while a graph
 * uses it. Its module cannot be unloaded before. */
TSR_API tsr_status_t tsrPrepareKernel(tsr_kernel_t kernel, const uint32_t *inputs,
                                      size_t input_count, void **args, size_t nargs,
                                      tsr_prepared_t *prepared);
TSR_API tsr_status_t tsrLaunchPrepared(tsr_prepared_t prepared, tsr_stream_t stream,
                                       tsr_launch_t launch, void **args, size_t nargs);
TSR_API tsr_status_t tsrDestroyPrepared(tsr_prepared_t prepared);
typedef struct tsr_prepared_info {
    size_t struct_size; /* sizeof(tsr_prepared_info_t), set by the caller */
    uint32_t phases;    /* that its launches leave out */
    uint64_t bytes;     /* that were made once */
} tsr_prepared_info_t;
TSR_API tsr_status_t tsrGetPreparedInfo(tsr_prepared_t prepared, tsr_prepared_info_t *info);

/* States, since 2.7: memory on the device for each donated input of a kernel, zeros at first, where
 * every launch leaves what the next one takes: a cache, moments of an optimiser. Its parts have the
 * names of the inputs ("cache.K").
 *
 * A launch takes the arguments of tsrLaunch without the donated inputs and the outputs that replace
 * them. Any kernel of the context may be launched with the state that has its donated inputs, by
 * name and size: one that fills a cache, then one that goes on with it. TSR_ENOTFOUND, TSR_EINVAL:
 * it has not. Launches with one state are ordered by their stream; what a failed check of a program
 * says (docs/c-api.md) is in its output, and the state is what the launch made of it.
 *
 * The buffer of a part is read and written like any memory of the context (tsrCopy), and is the
 * state's: destroying it, when no launch uses it any more, frees all. */
typedef struct tsr_state *tsr_state_t;
TSR_API tsr_status_t tsrCreateState(tsr_kernel_t kernel, tsr_state_t *state);
TSR_API tsr_status_t tsrDestroyState(tsr_state_t state);
TSR_API tsr_status_t tsrGetStateBuffer(tsr_state_t state, const char *name, void **buffer,
                                       uint64_t *bytes); /* bytes may be NULL */
TSR_API tsr_status_t tsrLaunchState(tsr_kernel_t kernel, tsr_state_t state, tsr_stream_t stream,
                                    tsr_launch_t launch, void **args, size_t nargs);

/* Ranks, since 2.9: several processes, or threads of one, that run a program together, each with
 * some of the shards of its meshes (docs/collectives.md). Each has a context, a module that was
 * compiled for its rank, and one of these; all launch the same programs in the same order.
 *
 * Ranks meet by `name`, each with a number of its own; before the first exchange of a program they
 * compare what they run, and a launch that waits for another rank ends with TSR_EUNAVAILABLE after
 * timeout_ns, or as soon as one has failed, left or died: its message says which. The ranks are of
 * no use then, and neither are the outputs of that launch. A launch of such a program returns
 * behind its last exchange; no graph takes it.
 *
 * One thread at a time launches programs with one tsr_comm_t. Destroying it is TSR_EINVAL while a
 * context has it; destroying a context gives it back. */
typedef struct tsr_comm_options {
    size_t struct_size;    /* sizeof(tsr_comm_options_t) */
    const char *transport; /* "threads" of this process, "shm" and "ucx": processes of this machine,
                              or "mpi": those that mpirun started, whose `name` is not looked at */
    const char *name;      /* up to 63 letters, digits, '-' and '_'; NULL: a usual one */
    uint32_t rank, count;
    uint64_t timeout_ns; /* 0: a minute */
} tsr_comm_options_t;
TSR_API tsr_status_t tsrCreateComm(const tsr_comm_options_t *options, tsr_comm_t *comm);
TSR_API tsr_status_t tsrDestroyComm(tsr_comm_t comm);
/* Programs that are launched from now on have these ranks; NULL: none. */
TSR_API tsr_status_t tsrSetComm(tsr_context_t context, tsr_comm_t comm);

/* Graphs: between tsrBeginCapture and tsrEndCapture launches, copies and fills on a created stream
 * are checked and kept instead of queued, with the values of their arguments (the buffers'
 * addresses and dimensions); all else on that stream is TSR_EINVAL. Launching a graph queues all of
 * them in one go, on any stream of the context; what the device can record is replayed from then
 * on, one run of it at a time. Memory that they use must be allocated still, and their modules
 * cannot be unloaded before the graph is destroyed, which waits for launches of it.
 *
 * A program is kept command by command, with memory of the graph's own in place of the module's. A
 * program with branches or whiles, or with more than 1,048,576 commands, is TSR_EUNAVAILABLE. */
TSR_API tsr_status_t tsrBeginCapture(tsr_stream_t stream);
TSR_API tsr_status_t tsrEndCapture(tsr_stream_t stream, tsr_graph_t *graph);
TSR_API tsr_status_t tsrLaunchGraph(tsr_graph_t graph, tsr_stream_t stream);
TSR_API tsr_status_t tsrDestroyGraph(tsr_graph_t graph);

#ifdef __cplusplus
}
#endif
#endif
