/* pack_call.c - files for a case that nothing generates, the verdict on what was recorded, the
 * pack. */
#include "run/pack_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/kernel.h"
#include "check/verdict.h"
#include "common/json_text.h"
#include "common/scratch_folder.h"
#include "exec/staging.h"
#include "implementation/implementation.h"
#include "job/result.h"
#include "run/pack_case.h"

typedef struct pack_builder {
    const pack_call_request *request;
    capture_stream stream;
    const capture_call *call;
    capture_kernel kernel;
    scratch_folder folder;
    text inputs, outputs, code, file; /* paths in it; file: the source's name */
    job job;
    json_t *result;
} pack_builder;

/* ---- files ---- */

static bool not_kept(const pack_builder *p, status *st) {
    text place;
    text_init(&place);
    capture_describe_place(&p->stream, p->call, &place);
    status_set(st, STATUS_INVALID,
               "the tensors of %s were not kept: record again with "
               "tsr capture --tensors %llu -- %s",
               place.data, (unsigned long long)p->call->number,
               p->stream.processes.items[p->call->process].program);
    text_release(&place);
    return false;
}

/* The kept file of a content, under its name in the kernel. */
static bool give(const pack_builder *p, const char *hash, const char *folder, const char *name,
                 status *st) {
    text from, to;
    text_init(&from);
    text_init(&to);
    char *whole = NULL;
    bool ok = capture_tensor_path(&p->stream, hash, &from) || not_kept(p, st);
    if (ok) {
        whole = realpath(from.data, NULL);
        text_printf(&to, "%s/%s.npy", folder, name);
        ok = (whole && symlink(whole, to.data) == 0) ||
             status_set_errno(st, errno, "cannot link %s", from.data);
    }
    free(whole);
    text_release(&from);
    text_release(&to);
    return ok;
}

static bool copy_output(const pack_builder *p, status *st) {
    text from, to;
    char *data = NULL;
    size_t size;
    text_init(&from);
    text_init(&to);
    text_printf(&to, "%s/out.npy", p->outputs.data);
    bool ok =
        (capture_tensor_path(&p->stream, p->kernel.output->after, &from) || not_kept(p, st)) &&
        file_read(from.data, (size_t)STAGING_RECORDED_BYTES_MAX, &data, &size, st);
    if (ok)
        ok = file_write_scratch(to.data, &(file_part){data, size}, 1, st);
    free(data);
    text_release(&from);
    text_release(&to);
    return ok;
}

/* A pack holds all that went in. */
static bool fits(const pack_builder *p, status *st) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->kernel.input_count; i++) {
        const capture_tensor *t = p->kernel.inputs[i];
        uint64_t own = dtype_size(t->type);
        for (int axis = 0; axis < t->rank; axis++)
            own *= (uint64_t)t->shape[axis];
        bytes += own;
    }
    return bytes <= STAGING_RECORDED_BYTES_MAX ||
           status_set(st, STATUS_INVALID, "its inputs are of %llu MiB; a pack holds at most %llu",
                      (unsigned long long)(bytes >> 20),
                      (unsigned long long)(STAGING_RECORDED_BYTES_MAX >> 20));
}

static bool write_code(const pack_builder *p, status *st) {
    file_part part = {p->kernel.code.data, p->kernel.code.length};
    return file_write_scratch(p->code.data, &part, 1, st);
}

static bool make_files(pack_builder *p, status *st) {
    if (!fits(p, st) || !scratch_folder_open(&p->folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    text_printf(&p->inputs, "%s/inputs", p->folder.path);
    text_printf(&p->outputs, "%s/outputs", p->folder.path);
    text_printf(&p->code, "%s/call.py", p->folder.path);
    bool ok = file_make_dirs(p->inputs.data, st) && file_make_dirs(p->outputs.data, st) &&
              write_code(p, st) && copy_output(p, st);
    for (uint32_t i = 0; i < p->kernel.input_count && ok; i++) {
        const capture_tensor *t = p->kernel.inputs[i];
        ok = give(p, t->before, p->inputs.data, t->name, st);
    }
    return ok;
}

/* ---- the case, and what came of it ---- */

static void make_job(pack_builder *p) {
    text_printf(&p->file, "%s.tsr", p->kernel.name);
    p->job = (job){.path = p->file.data,
                   .kernel = p->kernel.name,
                   .case_name = CAPTURE_CASE,
                   .backend = "call.py",
                   .implementation = p->code.data,
                   .implementation_kind = IMPLEMENTATION_PYTHON,
                   .implementation_symbol = p->kernel.name,
                   .profile = compiler_profile_name(PROFILE_FAST),
                   .threads = capture_threads(&p->stream, p->call),
                   .source = p->kernel.source.data,
                   .inputs = p->inputs.data,
                   .seed = 1,
                   .quick = true,
                   .mode = JOB_REPLAY};
}

static const char not_judged[] =
    "what it gave is not judged: no element of it has a finite error bound";

static void settle(pack_builder *p, const verdict *v, const tensor *output) {
    char digest[65];
    golden_tensor_digest(output, digest);
    p->result = result_new(&p->job, OUTCOME_OK, NULL);
    result_put_SHA256(p->result, json_pack("[s]", digest));
    if (verdict_is_empty(v))
        result_set_outcome(p->result, OUTCOME_UNJUDGED, not_judged, EXIT_NO_VERDICT);
    if (!v->holds)
        result_set_outcome(p->result, OUTCOME_MISMATCH, v->why.data, EXIT_CHECK);
}

static void describe(const verdict *v, text *what) {
    if (verdict_is_empty(v)) {
        text_append(what, not_judged);
        return;
    }
    text_printf(what, "what it gave is %s the reference's error bound (%.3g of it)%s%s",
                v->holds ? "within" : "outside of", v->max_error_over_bound, v->holds ? "" : ": ",
                v->holds ? "" : v->why.data);
    if (v->unjudged)
        text_printf(what, "; %lld of %lld elements have no bound, and are not judged",
                    (long long)v->unjudged, (long long)v->elements);
}

static void no_stage(void *context, const char *stage) {
    (void)context;
    (void)stage;
}

static bool judge(pack_builder *p, case_context *context, text *what, status *st) {
    tensor output = {0};
    text path;
    verdict v = {0};
    text_init(&path);
    text_printf(&path, "%s/out.npy", p->outputs.data);
    bool read = tensor_read_npy(&output, path.data, DTYPE_NONE, st);
    verdict_request request = {
        .profile = PROFILE_FAST, .outputs = &output, .foreign = true, .stage = no_stage};
    bool ok = read && verdict_judge(context, &request, &v, st);
    if (ok) {
        settle(p, &v, &output);
        describe(&v, what);
    }
    if (read)
        verdict_release(&v);
    tensor_release(&output);
    text_release(&path);
    return ok;
}

static bool judge_recorded(pack_builder *p, text *what, status *st) {
    case_context context = {0};
    case_context_request request = {.path = p->job.path,
                                    .kernel = p->job.kernel,
                                    .case_name = p->job.case_name,
                                    .seed = p->job.seed,
                                    .source = p->job.source,
                                    .inputs = p->job.inputs};
    bool ok = case_context_open(&context, &request, st) && judge(p, &context, what, st);
    case_context_close(&context);
    return ok;
}

/* ---- the pack ---- */

/* The member call.json: what the program said of it. Owned. */
static char *about(const pack_builder *p) {
    const capture_process *process = &p->stream.processes.items[p->call->process];
    json_t *document =
        json_pack("{s:s, s:I, s:I, s:s?, s:o, s:o, s:O?, s:O?}", "function", p->call->function,
                  "call", (json_int_t)p->call->number, "thread", (json_int_t)p->call->thread,
                  "library", p->call->library, "arguments", json_loads(p->call->arguments, 0, NULL),
                  "program", json_text(process->program), "environment", process->environment,
                  "machine", p->stream.head);
    char *dumped = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(document);
    return dumped;
}

static bool write_pack(pack_builder *p, text *path_out, status *st) {
    char *call = about(p);
    pack_request request = {.job = &p->job,
                            .result = p->result,
                            .stage = "",
                            .failures = p->request->failures,
                            .output = p->request->output,
                            .timeout_seconds = p->request->timeout_seconds,
                            .memory_mib = p->request->memory_mib,
                            .outputs = p->outputs.data,
                            .about = call};
    bool ok = pack_case(&request, path_out, st);
    free(call);
    return ok;
}

bool pack_call(const pack_call_request *request, text *path_out, text *what, status *st) {
    pack_builder p = {.request = request};
    text *const texts[] = {&p.inputs, &p.outputs, &p.code, &p.file};
    for (size_t i = 0; i < 4; i++)
        text_init(texts[i]);
    bool ok = capture_stream_open(&p.stream, request->folder, st);
    p.call = ok ? capture_find(&p.stream, request->place, st) : NULL;
    ok = p.call && capture_kernel_make(&p.stream, p.call, &p.kernel, st) && make_files(&p, st);
    if (ok) {
        make_job(&p);
        ok = judge_recorded(&p, what, st) && write_pack(&p, path_out, st);
    }
    if (p.call)
        capture_kernel_release(&p.kernel);
    json_decref(p.result);
    scratch_folder_close(&p.folder);
    capture_stream_close(&p.stream);
    for (size_t i = 0; i < 4; i++)
        text_release(texts[i]);
    return ok;
}
