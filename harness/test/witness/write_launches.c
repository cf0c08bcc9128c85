/* write_launches.c - CHIP FOLDER PATH...: the small cases of a corpus as launches of assembled
 * code, each a folder that ci/witness/gpu-code/run-amd, run-ptx or run-spirv runs: the code, the
 * inputs, and what the interpreter computes of them. Only kernels of one phase are written: a
 * launch is one.
 *
 * What it writes is printed, a folder a line. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "case/case.h"
#include "case/case_context.h"
#include "metadata.h"
#include "module.h"

enum { BYTES_MAX = 1 << 16, FLOPS_MAX = 1 << 17, PATH_BYTES = 600, ALIGNED = 64 };

typedef struct writer {
    const char *chip, *folder;
    char path[PATH_BYTES]; /* of the present launch */
    size_t written;
} writer;

static bool write_file(const writer *w, const char *name, const void *data, size_t size) {
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", w->path, name);
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, size, f) == size;
    return f && fclose(f) == 0 && ok;
}

static void add_bytes(json_t *arguments, int64_t bytes) {
    json_array_append_new(arguments,
                          json_pack("{s:I}", "bytes", (json_int_t)(bytes ? bytes : ALIGNED)));
}

static json_t *numbers_of(const uint64_t *list, uint32_t count) {
    json_t *numbers = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(numbers, json_integer((json_int_t)list[i]));
    return numbers;
}

static void add_maps(json_t *arguments, const device_maps *maps) {
    for (uint32_t i = 0; maps && i < maps->count; i++) {
        const device_map *m = &maps->list[i];
        uint64_t box[DEVICE_MAP_RANK_MAX];
        for (uint32_t k = 0; k < m->rank; k++)
            box[k] = m->box[k];
        json_array_append_new(
            arguments, json_pack("{s:{s:i, s:i, s:i, s:o, s:o, s:o}}", "map", "argument",
                                 (int)m->buffer, "element_bytes", (int)m->element_bytes, "swizzle",
                                 (int)m->swizzle, "dims", numbers_of(m->dims, m->rank), "strides",
                                 numbers_of(m->strides, m->rank), "box", numbers_of(box, m->rank)));
    }
}

/* The arguments of a kernel for a chip: inputs, outputs, the workspace, prepared memory, maps. */
static bool write_buffers(const writer *w, const case_context *s, const tensor *expected,
                          const metadata_image *image, json_t *launch) {
    json_t *arguments = json_object_get(launch, "arguments"),
           *outputs = json_object_get(launch, "outputs");
    char name[32];
    bool ok = true;
    for (uint32_t i = 0; i < s->signature.input_count && ok; i++) {
        snprintf(name, sizeof name, "in%u.bin", i);
        ok = write_file(w, name, s->inputs[i].data, tensor_bytes(&s->inputs[i]));
        json_array_append_new(arguments, json_pack("{s:s}", "buffer", name));
    }
    for (uint32_t i = 0; i < s->signature.output_count && ok; i++) {
        snprintf(name, sizeof name, "out%u.bin", i);
        ok = write_file(w, name, expected[i].data, tensor_bytes(&expected[i]));
        add_bytes(arguments, (int64_t)tensor_bytes(&expected[i]));
        json_array_append_new(outputs, json_pack("{s:i, s:s, s:s}", "argument",
                                                 (int)(s->signature.input_count + i), "expected",
                                                 name, "type", "u8"));
    }
    add_bytes(arguments, image->workspace_bytes.value);
    add_bytes(arguments, 0);
    add_maps(arguments, image->maps ? image->maps[0] : NULL);
    return ok;
}

static bool write_launch(writer *w, const case_context *s, const tensor *expected,
                         const metadata_image *image, const module_part *code) {
    /* Only of PTX does the launch say how much memory a workgroup has. */
    bool said = strcmp(compiler_code_format(w->chip), "ptx") == 0;
    char name[32];
    snprintf(name, sizeof name, "code.%s", compiler_code_format(w->chip));
    json_t *launch = json_pack(
        "{s:s, s:s, s:s, s:I, s:i, s:I, s:[], s:[]}", "kernel", image->symbols[0], "arch", w->chip,
        "code", name, "grid", (json_int_t)image->phases[0].workgroups.value, "threads",
        (int)image->launch[3].value, "shared_bytes",
        said ? (json_int_t)image->scratch_bytes.value : (json_int_t)0, "arguments", "outputs");
    bool ok = write_file(w, name, code->data, code->size_bytes) &&
              write_buffers(w, s, expected, image, launch);
    char *text_of = json_dumps(launch, JSON_INDENT(1));
    ok = ok && write_file(w, "launch.json", text_of, strlen(text_of));
    free(text_of);
    json_decref(launch);
    return ok;
}

static bool is_small(const case_context *s) {
    bool small = s->flops <= FLOPS_MAX && s->bytes <= BYTES_MAX;
    for (uint32_t i = 0; i < s->signature.output_count; i++)
        for (int axis = 0; axis < s->signature.outputs[i].rank; axis++)
            small &= s->signature.outputs[i].dims[axis] > 0;
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        for (int axis = 0; axis < s->signature.inputs[i].rank; axis++)
            small &= s->signature.inputs[i].dims[axis] > 0;
    return small;
}

static bool write_image(writer *w, case_context *s, const char *name, status *st) {
    compiler_options options = {.isa = w->chip};
    compiler_artifact artifact = {0};
    module_part document, code;
    metadata m;
    char kind[64];
    snprintf(kind, sizeof kind, "%s/%s", compiler_code_format(w->chip), w->chip);
    const tensor *expected = case_context_interpret(s, st);
    if (!expected || !compiler_build(s->instance, &options, &artifact, st))
        return false;
    bool ok = module_find(artifact.image, artifact.image_size, "metadata", &document) &&
              metadata_parse(&m, document.data, document.size_bytes, st);
    bool alone = ok && !m.program && m.images[0].phase_count == 1;
    if (alone && module_find(artifact.image, artifact.image_size, kind, &code)) {
        snprintf(w->path, sizeof w->path, "%s/%s", w->folder, name);
        for (char *p = w->path + strlen(w->folder) + 1; *p; p++)
            *p = *p == '/' ? '.' : *p;
        mkdir(w->path, 0777);
        ok = write_launch(w, s, expected, &m.images[0], &code);
        w->written += ok;
        printf("%s\n", w->path);
    }
    if (ok)
        metadata_release(&m);
    compiler_artifact_release(&artifact);
    return ok || status_set(st, STATUS_INTERNAL, "the launch of %s cannot be written", name);
}

int main(int argc, char **argv) {
    corpus c;
    case_context s = {0};
    text diagnostics;
    status st = STATUS_INIT;
    if (argc < 4)
        return fprintf(stderr, "usage: write_launches CHIP FOLDER PATH...\n"), 2;
    writer w = {.chip = argv[1], .folder = argv[2]};
    text_init(&diagnostics);
    compiler_init();
    corpus_query query = {
        .paths = (const char *const *)argv + 3, .path_count = (size_t)argc - 3, .skip_large = true};
    bool ok = corpus_load(&c, &query, &diagnostics, &st);
    for (size_t i = 0; i < c.cases.count && ok; i++) {
        const corpus_case *one = &c.cases.items[i];
        case_context_request request = {
            .path = one->path, .kernel = one->kernel->name, .case_name = one->c->name, .seed = 1};
        if (one->kernel->interpreted || one->kernel->contract)
            continue;
        ok = case_context_open(&s, &request, &st) &&
             (!is_small(&s) || write_image(&w, &s, one->name, &st));
    }
    if (!ok)
        fprintf(stderr, "write_launches: %s\n", st.message);
    case_context_close(&s);
    corpus_release(&c);
    text_release(&diagnostics);
    return ok ? 0 : 1;
}
