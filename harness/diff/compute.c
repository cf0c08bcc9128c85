/* compute.c - a child process computes into memory that it shares with its parent. */
#include "diff/compute.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case/backend.h"
#include "common/scratch_folder.h"
#include "exec/backend_device.h"
#include "implementation/implementation.h"
#include "job/fault.h"
#include "launch/launch.h"
#include "process/child.h"

/* The child's result: how it ended, then the elements of every output. */
typedef struct shared_outcome {
    bool done;
    status st;
} shared_outcome;

static size_t output_bytes(const struct compiler_buffer *b) {
    size_t bytes = dtype_size(b->type);
    for (int axis = 0; axis < b->rank; axis++)
        bytes *= (size_t)b->dims[axis];
    return bytes;
}

static size_t shared_bytes(const compiler_signature *signature) {
    size_t bytes = sizeof(shared_outcome);
    for (uint32_t i = 0; i < signature->output_count; i++)
        bytes += output_bytes(&signature->outputs[i]);
    return bytes;
}

static bool build_ours(const compute_request *r, compiler_artifact *out, status *st) {
    compiler_options options = {.profile = profile_from_name(r->how.profile),
                                .isa = r->how.isa,
                                .threads = r->how.threads,
                                .schedule = r->how.schedule,
                                .source_schedule = r->how.source_schedule,
                                .schedule_loose = r->how.part,
                                .fault = fault_of_code(r->how.fault)};
    return compiler_build(r->instance, &options, out, st);
}

/* `folder`: for the files of a program. */
static bool build_foreign(const compute_request *r, scratch_folder *folder, compiler_artifact *out,
                          status *st) {
    if (implementation_needs_folder((implementation_kind)r->how.kind) &&
        !scratch_folder_open(folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    const implementation_request request = {.path = r->how.implementation,
                                            .symbol = r->how.symbol,
                                            .kernel = r->kernel,
                                            .folder = folder->path,
                                            .kind = (implementation_kind)r->how.kind,
                                            .threads = r->how.threads};
    return implementation_build(&request, r->instance, out, st);
}

static bool compute_compiled(const compute_request *r, const backend *b, tensor *outputs,
                             status *st) {
    compiler_artifact artifact = {0};
    scratch_folder folder = {0};
    launch l = {0};
    bool foreign = r->how.implementation != NULL;
    launch_request request = {.threads = r->how.threads, .kernel = r->kernel, .foreign = foreign};
    launch_request_buffers(&request, r->signature);
    bool ok = backend_device(b, r->how.device, &request.device, st) &&
              (foreign ? build_foreign(r, &folder, &artifact, st) : build_ours(r, &artifact, st));
    launch_request_artifact(&request, &artifact);
    ok = ok && launch_open(&l, &request, st) && launch_write_inputs(&l, r->inputs, st) &&
         launch_poison_outputs(&l, st);
    if (ok)
        fault_trigger(r->how.fault);
    ok = ok && launch_run(&l, st) && launch_read_outputs(&l, r->signature, outputs, st);
    launch_close(&l);
    compiler_artifact_release(&artifact);
    scratch_folder_close(&folder);
    return ok;
}

static bool compute_here(const compute_request *r, tensor *outputs, status *st) {
    backend_id id = r->how.implementation ? implementation_backend((implementation_kind)r->how.kind)
                                          : backend_from_name(r->how.backend);
    if (id == BACKEND_COUNT || profile_from_name(r->how.profile) == PROFILE_COUNT)
        return status_set(st, STATUS_UNAVAILABLE, "this tsr has no backend %s with profile %s",
                          r->how.backend, r->how.profile);
    if (backend_is_compiled(&backend_table[id]))
        return compute_compiled(r, &backend_table[id], outputs, st);
    return compiler_interpret(r->instance, r->inputs, outputs, st);
}

/* In the child. Nothing of the parent's is flushed or freed. */
static _Noreturn void become_child(const compute_request *r, shared_outcome *shared) {
    tensor *outputs = tensors_new(r->signature->output_count);
    alarm((unsigned)r->timeout_seconds);
    if (compute_here(r, outputs, &shared->st)) {
        unsigned char *at = (unsigned char *)(shared + 1);
        for (uint32_t i = 0; i < r->signature->output_count; i++) {
            memcpy(at, outputs[i].data, tensor_bytes(&outputs[i]));
            at += tensor_bytes(&outputs[i]);
        }
    }
    shared->done = true;
    _exit(0);
}

static bool told_by_its_end(const compute_request *r, const child_end *end, status *st) {
    if (end->how == CHILD_KILLED && end->code == SIGALRM)
        return status_set(st, STATUS_TIMEOUT, "%s on %s took longer than %llu s", r->kernel,
                          r->how.backend, (unsigned long long)r->timeout_seconds);
    text how;
    text_init(&how);
    child_end_text(end, &how);
    status_set(st, STATUS_INTERNAL, "%s on %s: its process %s%s", r->kernel, r->how.backend,
               end->how == CHILD_KILLED ? "was " : "", how.data);
    text_release(&how);
    return false;
}

static bool await(const compute_request *r, pid_t child, const shared_outcome *shared, status *st) {
    child_end end;
    if (child < 0)
        return status_set_errno(st, errno, "cannot start a process");
    if (!child_wait(child, &end))
        return status_set_errno(st, errno, "cannot wait for a process");
    if (!shared->done)
        return told_by_its_end(r, &end, st);
    return shared->st.code == STATUS_OK ||
           status_set(st, shared->st.code, "%s", shared->st.message);
}

static bool copy_outputs(const compute_request *r, const shared_outcome *shared, tensor *outputs,
                         status *st) {
    const unsigned char *at = (const unsigned char *)(shared + 1);
    for (uint32_t i = 0; i < r->signature->output_count; i++) {
        const struct compiler_buffer *b = &r->signature->outputs[i];
        if (!tensor_init(&outputs[i], b->type, b->rank, b->dims, st)) {
            tensor_release_all(outputs, i);
            return false;
        }
        memcpy(outputs[i].data, at, output_bytes(b));
        at += output_bytes(b);
    }
    return true;
}

bool compute_outputs(const compute_request *r, tensor *outputs, status *st) {
    size_t bytes = shared_bytes(r->signature);
    shared_outcome *shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return status_set_errno(st, errno, "cannot have %zu bytes for outputs", bytes);
    pid_t child = child_fork();
    if (child == 0)
        become_child(r, shared);
    bool ok = await(r, child, shared, st) && copy_outputs(r, shared, outputs, st);
    munmap(shared, bytes);
    return ok;
}
