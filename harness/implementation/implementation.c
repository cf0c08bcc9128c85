/* implementation.c - what was given to --with: its kind, its functions, the kernels they compute.
 */
#include "implementation/implementation.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "device/foreign/guest_protocol.h"
#include "implementation/launch_file.h"

static const char *const names[] = {
#define IMPLEMENTATION(id, name, backend, summary) name,
#include "implementation/implementations.def"
#undef IMPLEMENTATION
};

static const backend_id backends[] = {
#define IMPLEMENTATION(id, name, backend, summary) BACKEND_##backend,
#include "implementation/implementations.def"
#undef IMPLEMENTATION
};

const char *implementation_kind_name(implementation_kind kind) {
    return names[kind];
}

backend_id implementation_backend(implementation_kind kind) {
    return kind < IMPLEMENTATION_KIND_COUNT ? backends[kind] : BACKEND_IMPLEMENTATION;
}

bool implementation_has_guest(implementation_kind kind) {
    return implementation_backend(kind) == BACKEND_IMPLEMENTATION;
}

bool implementation_is_backend(implementation_kind kind) {
    return kind == IMPLEMENTATION_PJRT || kind == IMPLEMENTATION_PJRT_AHEAD;
}

bool implementation_needs_folder(implementation_kind kind) {
    return kind == IMPLEMENTATION_COMMAND || kind == IMPLEMENTATION_SOURCE ||
           implementation_is_backend(kind);
}

const char *implementation_companion(const char *path, implementation_kind kind, arena *memory) {
    return implementation_has_guest(kind) ? NULL : implementation_launch_path(path, memory);
}

implementation_kind implementation_kind_from_name(const char *name) {
    int kind = 0;
    while (kind < IMPLEMENTATION_KIND_COUNT && strcmp(names[kind], name) != 0)
        kind++;
    return (implementation_kind)kind;
}

/* ---- FILE[:SYMBOL[=KERNEL]] ---- */

static bool is_word(const char *s, size_t length, const char *also) {
    for (size_t i = 0; i < length; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", s[i]) &&
            !strchr(also, s[i]))
            return false;
    return length > 0;
}

/* A file whose name has a colon is a file. */
static void split(implementation *i, const char *given) {
    const char *colon = file_exists(given) ? NULL : strrchr(given, ':');
    size_t length = colon ? (size_t)(colon - given) : strlen(given);
    i->path = arena_strndup(&i->memory, given, length);
    if (!colon)
        return;
    size_t symbol = strcspn(colon + 1, "=");
    i->symbol = arena_strndup(&i->memory, colon + 1, symbol);
    if (colon[1 + symbol])
        i->kernel = arena_strndup(&i->memory, colon + 2 + symbol, strlen(colon + 2 + symbol));
}

static bool check_words(const implementation *i, const char *given, status *st) {
    if (i->symbol && !is_word(i->symbol, strlen(i->symbol), "."))
        return status_set(st, STATUS_INVALID,
                          "--with %s: '%s' is no name of a function; FILE:SYMBOL or "
                          "FILE:SYMBOL=KERNEL",
                          given, i->symbol);
    if (i->kernel && !is_word(i->kernel, strlen(i->kernel), ""))
        return status_set(st, STATUS_INVALID, "--with %s: '%s' is no name of a kernel", given,
                          i->kernel);
    return true;
}

/* ---- kinds ---- */

static bool ends_with(const char *path, const char *end) {
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && strcmp(path + length - tail, end) == 0;
}

static bool recognise(implementation *i, const implementation_file *f, status *st) {
    if (ends_with(i->path, ".py"))
        i->kind = IMPLEMENTATION_PYTHON;
    else if (ends_with(i->path, ".tsr"))
        i->kind = IMPLEMENTATION_SOURCE;
    else if (f->size_bytes >= 8 && memcmp(f->bytes, "TSRMOD\r\n", 8) == 0)
        i->kind = IMPLEMENTATION_MODULE;
    else if (ends_with(i->path, ".ptx"))
        i->kind = IMPLEMENTATION_PTX;
    else if (implementation_machine_code_kind(f) != IMPLEMENTATION_KIND_COUNT)
        i->kind = implementation_machine_code_kind(f);
    else if (implementation_elf_is_shared(f))
        i->kind = IMPLEMENTATION_SHARED_OBJECT;
    else if (access(i->path, X_OK) == 0)
        i->kind = IMPLEMENTATION_COMMAND;
    else
        return status_set(st, STATUS_INVALID,
                          "--with %s: it is no shared object, no Python file (.py), no source of "
                          "kernels (.tsr), no module of Tessera, no code for a GPU (.ptx, a cubin, "
                          "a HSACO), and no program "
                          "(chmod +x makes it one)",
                          i->path);
    return true;
}

static bool take_functions(implementation *i, const implementation_file *f, status *st) {
    switch (i->kind) {
    case IMPLEMENTATION_SHARED_OBJECT:
        return implementation_elf_functions(i, f, st);
    case IMPLEMENTATION_PYTHON:
        implementation_python_functions(i, f);
        return true;
    case IMPLEMENTATION_MODULE:
        return implementation_module_functions(i, f, st);
    case IMPLEMENTATION_SOURCE:
        return implementation_source_functions(i, f, st);
    case IMPLEMENTATION_COMMAND:
        return true;
    default:
        return implementation_launch_functions(i, f, st);
    }
}

bool implementation_has_function(const implementation *i, const char *name) {
    for (size_t k = 0; k < i->functions.count; k++)
        if (strcmp(i->functions.items[k], name) == 0)
            return true;
    return false;
}

enum { FUNCTIONS_SHOWN = 8 };

static bool lacks_symbol(const implementation *i, status *st) {
    const char *const *functions = i->functions.items;
    const char *nearest = text_nearest(i->symbol, functions, i->functions.count);
    text list;
    text_init(&list);
    for (size_t k = 0; k < i->functions.count && k < FUNCTIONS_SHOWN && !nearest; k++)
        text_printf(&list, "%s%s", k ? ", " : "; its functions: ", functions[k]);
    status_set(st, STATUS_NOT_FOUND, "--with %s: it has no function '%s'%s%s%s%s%s", i->path,
               i->symbol, nearest ? "; did you mean " : "", nearest ? nearest : "",
               nearest ? "?" : "", list.length ? list.data : "",
               !nearest && i->functions.count > FUNCTIONS_SHOWN ? ", ..." : "");
    text_release(&list);
    return false;
}

static bool read_file(implementation *i, status *st) {
    implementation_file f = {0};
    char *absolute = realpath(i->path, NULL);
    if (!absolute)
        return status_set_errno(st, errno, "--with %s", i->path);
    i->path = arena_strndup(&i->memory, absolute, strlen(absolute));
    free(absolute);
    if (file_is_dir(i->path))
        return status_set(st, STATUS_INVALID, "--with %s: it is a folder", i->path);
    bool ok = file_read(i->path, IMPLEMENTATION_FILE_BYTES_MAX, &f.bytes, &f.size_bytes, st) &&
              recognise(i, &f, st) && take_functions(i, &f, st);
    free(f.bytes);
    /* Names that Python binds at run time are not seen here. */
    bool listed = i->kind != IMPLEMENTATION_PYTHON && i->kind != IMPLEMENTATION_COMMAND;
    if (ok && listed && i->symbol && !implementation_has_function(i, i->symbol))
        return lacks_symbol(i, st);
    return ok;
}

static bool read_python_module(implementation *i, const char *given, status *st) {
    i->kind = IMPLEMENTATION_PYTHON;
    return i->symbol || status_set(st, STATUS_INVALID,
                                   "--with %s: there is no such file; a Python module needs its "
                                   "function: %s:FUNCTION",
                                   given, given);
}

bool implementation_open(implementation *i, const char *given, status *st) {
    *i = (implementation){0};
    arena_init(&i->memory);
    if (implementation_is_plugin(given))
        return implementation_plugin_open(i, given, st);
    split(i, given);
    const char *base = strrchr(i->path, '/');
    base = base ? base + 1 : i->path;
    i->name = i->symbol ? arena_printf(&i->memory, "%s:%s", base, i->symbol) : base;
    if (!check_words(i, given, st))
        return false;
    bool dotted = !file_exists(i->path) && is_word(i->path, strlen(i->path), ".") &&
                  !ends_with(i->path, ".py") && !ends_with(i->path, ".so");
    return dotted ? read_python_module(i, given, st) : read_file(i, st);
}

void implementation_release(implementation *i) {
    vec_release(&i->functions);
    arena_release(&i->memory);
}

void implementation_spell(text *out, implementation_kind kind, const char *path, const char *symbol,
                          const char *kernel) {
    if (kind == IMPLEMENTATION_PJRT)
        text_printf(out, "pjrt:%s", path);
    else if (kind == IMPLEMENTATION_PJRT_AHEAD)
        text_printf(out, "pjrt:%s@%s", path, symbol);
    else
        text_printf(out, "%s:%s=%s", path, symbol, kernel);
}

void implementation_number(implementation *i, int number) {
    i->name = arena_printf(&i->memory, "%s#%d", i->name, number);
}

const char *implementation_symbol(const implementation *i, const char *kernel, bool lone) {
    if (i->kind == IMPLEMENTATION_PJRT_AHEAD)
        return i->symbol;
    if (i->kernel)
        return strcmp(i->kernel, kernel) == 0 ? i->symbol : NULL;
    if (i->symbol) {
        const char *last = strrchr(i->symbol, '.');
        return lone || strcmp(last ? last + 1 : i->symbol, kernel) == 0 ? i->symbol : NULL;
    }
    const bool any = i->kind == IMPLEMENTATION_COMMAND || i->kind == IMPLEMENTATION_PJRT;
    return any || implementation_has_function(i, kernel) ? kernel : NULL;
}

bool implementation_is_file(const char *path) {
    return path[0] == '/';
}

const char *implementation_symbol_like(const implementation *i, const char *recorded,
                                       const char *kernel) {
    if (!i->symbol && !i->kernel && implementation_has_function(i, recorded))
        return recorded;
    return implementation_symbol(i, kernel, true);
}

static void read_digest(const char *path, char hex[65]) {
    char *bytes;
    size_t size;
    status ignored = STATUS_INIT;
    hex[0] = '\0';
    if (!file_read(path, IMPLEMENTATION_FILE_BYTES_MAX, &bytes, &size, &ignored))
        return;
    sha256 digest = sha256_of(bytes, size);
    sha256_hex(&digest, hex);
    free(bytes);
}

/* The last file that was read: each job asks for it, and some have hundreds of megabytes. */
void implementation_digest(const char *path, char hex[65]) {
    static struct stat last;
    static char known[65];
    struct stat now = {0};
    const bool found = stat(path, &now) == 0;
    const bool same = found && now.st_dev == last.st_dev && now.st_ino == last.st_ino &&
                      now.st_size == last.st_size && now.st_mtim.tv_sec == last.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == last.st_mtim.tv_nsec &&
                      now.st_ctim.tv_sec == last.st_ctim.tv_sec &&
                      now.st_ctim.tv_nsec == last.st_ctim.tv_nsec;
    if (!same) {
        read_digest(path, known);
        last = known[0] ? now : (struct stat){0};
    }
    memcpy(hex, known, sizeof known);
}

uint32_t implementation_digests(const char *path, implementation_kind kind, arena *memory,
                                implementation_digest_of out[IMPLEMENTATION_FILES_MAX]) {
    const char *beside = implementation_companion(path, kind, memory);
    uint32_t count = beside ? 2 : 1;
    out[0] = (implementation_digest_of){.path = path, .key = "sha256"};
    out[1] = (implementation_digest_of){.path = beside, .key = "launch_sha256"};
    for (uint32_t i = 0; i < count && implementation_is_file(path); i++)
        implementation_digest(out[i].path, out[i].sha256);
    return count;
}

/* ---- the module ---- */

static json_t *numbers(const int64_t *values, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer(values[i]));
    return list;
}

/* `layouts` NULL: dense. */
static void describe_tensors(json_t *list, const struct compiler_buffer *buffers, uint32_t count,
                             const implementation_layout *const *layouts) {
    for (uint32_t i = 0; i < count; i++) {
        const struct compiler_buffer *b = &buffers[i];
        json_t *one = json_pack("{s:s, s:s, s:o}", "name", b->name, "dtype", dtype_name(b->type),
                                "shape", numbers(b->dims, b->rank));
        if (layouts) {
            json_object_set_new(one, "strides", numbers(layouts[i]->strides, b->rank));
            json_object_set_new(one, "byte_offset", json_integer(layouts[i]->byte_offset));
        }
        json_array_append_new(list, one);
    }
}

/* `program`: the file of a plugin's; else NULL. */
static json_t *describe(const implementation_request *request, compiler_instance *instance,
                        const compiler_signature *signature, const char *program) {
    json_t *tensors = json_array(), *dims = json_object();
    ir_bindings bound = compiler_instance_dims(instance);
    const implementation_layout *const *layouts = request->layouts;
    describe_tensors(tensors, signature->inputs, signature->input_count, layouts);
    describe_tensors(tensors, signature->outputs, signature->output_count,
                     layouts ? layouts + signature->input_count : NULL);
    for (uint32_t i = 0; i < bound.count; i++)
        json_object_set_new(dims, bound.items[i].name, json_integer(bound.items[i].value));
    return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?, s:i, s:i, s:o, s:o}", "kind",
                     names[request->kind], "path", request->path, "symbol", request->symbol,
                     "kernel", request->kernel, "folder", request->folder, "program", program,
                     "threads", (int)request->threads, "inputs", (int)signature->input_count,
                     "tensors", tensors, "dims", dims);
}

/* The code itself, and how its entry point is called. */
static bool build_for_device(const implementation_request *request, compiler_instance *instance,
                             const compiler_signature *signature, const char *target,
                             compiler_artifact *out, status *st) {
    implementation_file f = {0};
    const ir_bindings dims = compiler_instance_dims(instance);
    if (request->layouts)
        return status_set(st, STATUS_UNAVAILABLE,
                          "code for a GPU is not told where the elements of a tensor lie");
    if (!file_read(request->path, IMPLEMENTATION_FILE_BYTES_MAX, &f.bytes, &f.size_bytes, st))
        return false;
    char *call = implementation_launch_call(request, &dims, signature, &f, st);
    const compiler_foreign code = {target, request->symbol, f.bytes, f.size_bytes, call};
    bool ok = call && compiler_wrap(instance, &code, out, st);
    free(call);
    free(f.bytes);
    return ok;
}

/* The guest runs a module of the kernel, whatever module it is. */
static bool build_from_source(const implementation_request *request, compiler_instance *instance,
                              compiler_artifact *out, status *st) {
    implementation_request of_module = *request;
    text path;
    text_init(&path);
    bool ok = implementation_source_build(request, instance, &path, st);
    of_module.kind = IMPLEMENTATION_MODULE;
    of_module.path = path.data;
    ok = ok && implementation_build(&of_module, instance, out, st);
    text_release(&path);
    return ok;
}

/* A module that is the description from which the guest calls the code. */
static bool build_description(const implementation_request *request, compiler_instance *instance,
                              const compiler_signature *signature, const char *target,
                              compiler_artifact *out, status *st) {
    text program;
    text_init(&program);
    if (request->kind == IMPLEMENTATION_PJRT &&
        !implementation_plugin_program(request, instance, &program, st)) {
        text_release(&program);
        return false;
    }
    json_t *description =
        describe(request, instance, signature, program.length ? program.data : NULL);
    text_release(&program);
    char *words = description ? json_dumps(description, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(description);
    if (!words)
        return status_set(st, STATUS_INVALID, "the path of an implementation is no UTF-8: %s",
                          request->path);
    const compiler_foreign code = {target, request->symbol, words, strlen(words), NULL};
    bool ok = compiler_wrap(instance, &code, out, st);
    free(words);
    return ok;
}

bool implementation_build(const implementation_request *request, compiler_instance *instance,
                          compiler_artifact *out, status *st) {
    compiler_signature signature;
    char target[40];
    if (request->kind == IMPLEMENTATION_PJRT_AHEAD)
        return status_set(
            st, STATUS_UNAVAILABLE,
            "for %s a plugin compiles alone, and nothing runs that: no such device is "
            "here",
            request->symbol);
    if (request->kind == IMPLEMENTATION_SOURCE)
        return build_from_source(request, instance, out, st);
    if (!compiler_signature_of(instance, &signature, st))
        return false;
    snprintf(target, sizeof target, "foreign/%s", names[request->kind]);
    if (!implementation_has_guest(request->kind))
        return build_for_device(request, instance, &signature, target, out, st);
    if (signature.input_count + signature.output_count > GUEST_TENSORS_MAX)
        return status_set(st, STATUS_UNAVAILABLE,
                          "kernel %s has %u inputs and %u outputs; an implementation takes at most "
                          "%d tensors",
                          request->kernel, signature.input_count, signature.output_count,
                          GUEST_TENSORS_MAX);
    return build_description(request, instance, &signature, target, out, st);
}
