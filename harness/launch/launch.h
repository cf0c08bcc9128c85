/* launch.h - one kernel of a module with its buffers and its arguments, on any device, through the
 * C ABI alone: what is checked and timed is what a user of libtessera runs. */
#ifndef TESSERA_HARNESS_LAUNCH_LAUNCH_H
#define TESSERA_HARNESS_LAUNCH_LAUNCH_H

#include "tessera/compiler.h"
#include "tessera/tessera.h"

enum { LAUNCH_DIMS_MAX = 64, LAUNCH_POISON = 0xA5 };

struct launch_ranks;

typedef struct launch {
    struct launch_ranks *ranks; /* which do all that this does (ranks.h); NULL: it does it itself */
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    uint32_t input_count, output_count, dim_count;
    void **buffers; /* of the device; inputs first */
    size_t *sizes;  /* bytes */
    int64_t *dims;
    void **args; /* addresses of `buffers` and `dims` */
    bool owns_context, uses_kept, owns_buffers;
    bool foreign;        /* the code is a user's */
    bool is_async;       /* the device works by itself, and its events are the clock */
    uint32_t *constants; /* inputs that stay as they are between writes */
    uint32_t constant_count;
    tsr_prepared_t prepared; /* from them; NULL: not yet, or there are none */
} launch;

typedef struct launch_request {
    tsr_context_t context;    /* borrowed; NULL: one of its own, on `device` with `threads` */
    uint32_t device, threads; /* index in the runtime; of the context, too */
    const void *image;        /* a module; read by launch_open */
    size_t image_size;
    const char *kernel;
    uint32_t input_count, output_count;  /* that the kernel must have */
    const compiler_signature *signature; /* ... whose buffers have its sizes; or NULL */
    const size_t *sizes;                 /* else: bytes of each buffer, inputs first */
    const ir_binding *dims; /* of a kernel for any; those that it does not have are ignored */
    uint32_t dim_count;
    const struct launch *beside; /* its context and its buffers are used: what is compared with it
                                    runs under the same conditions. NULL: own ones */
    const char *constants; /* "w,b": names of inputs that are prepared before the first launch, and
                              after they were written; or NULL */
    uint32_t rank_count;   /* several of them run it together; 0: one */
    const compiler_artifact *rank_modules; /* ... by rank, instead of `image`; borrowed */
    const struct shard_part *parts; /* ... of each buffer the part that the rank has; NULL: all */
    const char *transport;
    bool apart;   /* a context of its own, where another one is kept open */
    bool bare;    /* no buffers: until launch_allocate, it cannot run */
    bool foreign; /* the module is a user's file: if it is damaged, that is no bug of ours */
} launch_request;

/* The counts and sizes of the buffers; borrowed until it is open. */
void launch_request_buffers(launch_request *request, const compiler_signature *signature);

/* Takes what was built as the module; borrowed until it is open. */
void launch_request_artifact(launch_request *request, const compiler_artifact *artifact);

/* The bytes of each buffer, inputs first. */
void launch_request_sizes(const launch_request *request, size_t *out);

/* Opens, loads and allocates. launch_close in any case. */
bool launch_open(launch *l, const launch_request *request, status *st);
void launch_close(launch *l);
uint64_t launch_bytes(const launch *l); /* of all inputs and outputs */
/* Buffers for a launch that was opened bare, and their end. */
bool launch_allocate(launch *l, status *st);
void launch_free_buffers(launch *l);

/* Prepares the constants of these arguments for a kernel with the constants of `l`; owned by the
 * caller. */
bool launch_prepare(const launch *l, tsr_kernel_t kernel, void **args, tsr_prepared_t *out,
                    status *st);

bool launch_write(launch *l, uint32_t input, const void *data, status *st);
bool launch_write_inputs(launch *l, const tensor *inputs, status *st);
/* Fills the outputs with bytes that no kernel writes by chance, so that stale memory shows. */
bool launch_poison_outputs(launch *l, status *st);
bool launch_run(launch *l, status *st);
/* The same on a stream of its context, without waiting for it. NULL: the host's. */
bool launch_queue(launch *l, tsr_stream_t stream, status *st);
/* From now on donated inputs lie in their outputs, and launches write over them, or no more; false
 * where the kernel has none. */
bool launch_share_donated(launch *l, bool shared);
bool launch_read_input(launch *l, uint32_t input, void *to, status *st);
bool launch_read(launch *l, uint32_t output, void *to, status *st);
/* Initialises `outputs`. */
bool launch_read_outputs(launch *l, const compiler_signature *signature, tensor *outputs,
                         status *st);

#endif
