/* staging.c - the worker's part of a pack. */
#include "exec/staging.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "job/fault.h"
#include "module.h"
#include "repro/manifest.h"

static void path_of(const staging *s, const char *folder, const char *name, const char *suffix,
                    text *out) {
    text_printf(out, "%s/%s%s%s%s", s->job->staging, folder, *folder ? "/" : "", name, suffix);
}

static bool put(const staging *s, const char *folder, const char *name, const text *content,
                status *st) {
    text path;
    text_init(&path);
    path_of(s, folder, name, "", &path);
    file_part part = {content->data, content->length};
    bool ok = file_write_scratch(path.data, &part, 1, st);
    text_release(&path);
    return ok;
}

static bool make_folder(const staging *s, const char *folder, status *st) {
    text path;
    text_init(&path);
    path_of(s, folder, "", "", &path);
    bool ok = file_make_dirs(path.data, st);
    text_release(&path);
    return ok;
}

static uint64_t bytes_of(const tensor *tensors, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += tensor_bytes(&tensors[i]);
    return sum;
}

static bool put_arrays(const staging *s, const char *folder, const struct compiler_buffer *buffers,
                       const tensor *tensors, uint32_t count, status *st) {
    uint64_t most = s->job->inputs ? STAGING_RECORDED_BYTES_MAX : STAGING_TENSOR_BYTES_MAX;
    if (bytes_of(tensors, count) > most)
        return true;
    bool ok = make_folder(s, folder, st);
    for (uint32_t i = 0; i < count && ok; i++) {
        text path, header;
        text_init(&path);
        text_init(&header);
        path_of(s, folder, buffers[i].name, ".npy", &path);
        tensor_npy_header(&tensors[i], &header);
        file_part parts[] = {{header.data, header.length},
                             {tensors[i].data, tensor_bytes(&tensors[i])}};
        ok = file_write_scratch(path.data, parts, 2, st);
        text_release(&path);
        text_release(&header);
    }
    return ok;
}

/* With the files that it imports, in one text. */
static bool read_source(const job *j, text *out, status *st) {
    if (j->source) {
        text_append(out, j->source);
        return true;
    }
    text said;
    text_init(&said);
    compiler_source *source = compiler_open(j->path, false, &said, st);
    if (source)
        compiler_bundle(source, out);
    compiler_close(source);
    text_release(&said);
    return source != NULL;
}

/* The file's own name where a pack may hold it, else the kernel's. */
static void source_name(const job *j, text *out) {
    const char *slash = strrchr(j->path, '/'), *own = slash ? slash + 1 : j->path;
    text member;
    text_init(&member);
    text_printf(&member, "source/%s", own);
    bool plain = manifest_name_is_plain(member.data) && own[0] != '.';
    text_release(&member);
    if (plain)
        text_append(out, own);
    else
        text_printf(out, "%s.tsr", j->kernel);
}

/* ---- a launch ---- */

static void add_arguments(json_t *list, const char *role, const compiler_buffer *buffers,
                          uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const compiler_buffer *b = &buffers[i];
        json_int_t bytes = (json_int_t)dtype_size(b->type);
        json_t *dims = json_array();
        for (int axis = 0; axis < b->rank; axis++) {
            json_array_append_new(dims, json_integer(b->dims[axis]));
            bytes *= b->dims[axis];
        }
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:I, s:i}", "name", b->name,
                                              "role", role, "type", dtype_name(b->type), "dims",
                                              dims, "bytes", bytes, "replaces", b->replaces));
    }
}

static bool put_launch(const staging *s, status *st) {
    const compiler_signature *signature = &s->context->signature;
    const job *j = s->job;
    json_t *arguments = json_array();
    text words;
    add_arguments(arguments, "input", signature->inputs, signature->input_count);
    add_arguments(arguments, "output", signature->outputs, signature->output_count);
    json_t *launch = json_pack("{s:s?, s:s?, s:s?, s:s?, s:I, s:o}", "backend",
                               j->implementation ? "implementation" : j->backend, "device",
                               j->device, "isa", j->isa, "profile", j->profile, "threads",
                               (json_int_t)j->threads, "arguments", arguments);
    char *dumped = json_dumps(launch, JSON_SORT_KEYS | JSON_INDENT(1));
    text_init(&words);
    text_append(&words, dumped);
    text_append_char(&words, '\n');
    bool ok = put(s, "", "launch.json", &words, st);
    text_release(&words);
    free(dumped);
    json_decref(launch);
    return ok;
}

/* ---- the members ---- */

bool staging_put_source(const staging *s, status *st) {
    text source;
    text name;
    text_init(&source);
    text_init(&name);
    source_name(s->job, &name);
    s->stage(s->stage_context, "pack");
    bool ok = read_source(s->job, &source, st) && make_folder(s, "source", st) &&
              put(s, "source", name.data, &source, st);
    text_release(&source);
    text_release(&name);
    return ok;
}

bool staging_put_sources(const staging *s, status *st) {
    return staging_put_source(s, st) && put_launch(s, st) &&
           put_arrays(s, "inputs", s->context->signature.inputs, s->context->inputs,
                      s->context->signature.input_count, st);
}

/* One level or pass as text. `pass` NULL: the level by its own name. */
static bool put_level(const staging *s, const compiler_options *options, const char *level,
                      const char *name, status *st) {
    text content;
    text_init(&content);
    bool ok = compiler_emit(s->context->instance, options, level, &content, st) &&
              put(s, "ir", name, &content, st);
    text_release(&content);
    return ok;
}

/* The passes of a program end in its kernels, each of which goes through those behind by itself. */
static bool put_passes(const staging *s, compiler_options options, bool program, status *st) {
    const char *const *names;
    uint32_t count = compiler_pass_names(&names);
    bool kernels = false;
    for (uint32_t i = 0; i < count && !kernels; i++) {
        char name[64];
        s->stage(s->stage_context, names[i]);
        snprintf(name, sizeof name, "%02u-%s.mlir", i + 1, names[i]);
        if (!put_level(s, &options, names[i], name, st))
            return false;
        kernels = program && strcmp(names[i], "outline") == 0;
    }
    return true;
}

bool staging_put_levels(const staging *s, status *st) {
    compiler_options options = job_compiler_options(s->job, s->context->kernel);
    const bool program = compiler_instance_is_program(s->context->instance);
    if (!make_folder(s, "ir", st) || !put_level(s, &options, "graph", "00-graph.mlir", st) ||
        !put_passes(s, options, program, st))
        return false;
    if (program)
        return true;
    s->stage(s->stage_context, "llvm");
    if (!put_level(s, &options, "llvm", "llvm.ll", st))
        return false;
    s->stage(s->stage_context, "asm");
    return put_level(s, &options, "asm", "asm.s", st);
}

/* The document of the module as it lies in it, with a line's end. */
static bool put_metadata(const staging *s, const compiler_artifact *artifact, status *st) {
    module_part part;
    text words;
    if (!module_find(artifact->image, artifact->image_size, "metadata", &part))
        return true;
    text_init(&words);
    text_append_bytes(&words, part.data, part.size_bytes);
    text_append_char(&words, '\n');
    bool ok = put(s, "", "metadata.json", &words, st);
    text_release(&words);
    return ok;
}

bool staging_put_module(const staging *s, const compiler_artifact *artifact, status *st) {
    text path;
    text_init(&path);
    path_of(s, "", "module.tsrm", "", &path);
    file_part part = {artifact->image, artifact->image_size};
    bool ok = file_write_scratch(path.data, &part, 1, st) && put_metadata(s, artifact, st);
    text_release(&path);
    return ok;
}

bool staging_put_tensors(const staging *s, const char *folder, const tensor *outputs, status *st) {
    s->stage(s->stage_context, "pack");
    return put_arrays(s, folder, s->context->signature.outputs, outputs,
                      s->context->signature.output_count, st);
}
