/* session.h - one compiled kernel with its buffers on a device, through the C ABI alone: what is
 * benchmarked is what a user of libtessera runs. */
#ifndef TESSERA_HARNESS_LAUNCH_SESSION_H
#define TESSERA_HARNESS_LAUNCH_SESSION_H

#include "tessera/compiler.h"
#include "tessera/tessera.h"

enum {
    SESSION_BUFFERS_MAX = 2 * COMPILER_MAX_PARAMETERS,
    SESSION_DIMS_MAX = 64,
    SESSION_POISON = 0xA5
};

typedef struct session {
    bool beside; /* context and buffers are another session's */
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    uint32_t input_count, output_count;
    void *buffers[SESSION_BUFFERS_MAX];
    size_t sizes[SESSION_BUFFERS_MAX];
    int64_t dims[SESSION_DIMS_MAX];
    uint32_t dim_count;
    void *args[SESSION_BUFFERS_MAX + SESSION_DIMS_MAX];
} session;

typedef struct session_request {
    uint32_t device, threads;
    const compiler_artifact *artifact;
    const char *kernel;
    const compiler_signature *signature;
    const ir_binding *dims; /* of a kernel for any; more than it has names are no matter */
    uint32_t dim_count;
    const struct session *beside; /* its threads and its buffers are used, too: what is compared
                                     with it runs under the same conditions. NULL: own ones */
    bool foreign; /* the module is a user's file: if it is damaged, that is no bug of ours */
} session_request;

/* Opens, loads and allocates. session_close in any case. */
bool session_open(session *l, const session_request *request, status *st);
void session_close(session *l);
bool session_write_inputs(session *l, const tensor *inputs, status *st);
/* Fills the outputs with a pattern that no kernel writes by chance, so that stale memory shows. */
bool session_poison_outputs(session *l, status *st);
bool session_run(session *l, status *st);
/* Initialises `outputs`. */
bool session_read_outputs(session *l, const compiler_signature *signature, tensor *outputs,
                          status *st);
void session_release_tensors(tensor *tensors, uint32_t count);

#endif
