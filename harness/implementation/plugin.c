/* plugin.c - plugins of PJRT as implementations: pjrt:FILE or pjrt:NAME, and the StableHLO that one
 * compiles for a case. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "implementation/parts.h"
#include "pjrt/client.h"

static const char prefix[] = "pjrt:";
/* JAX's own: NAME:FILE, several with commas between them. */
static const char names_variable[] = "PJRT_NAMES_AND_LIBRARY_PATHS";

bool implementation_is_plugin(const char *given) {
    return strncmp(given, prefix, sizeof prefix - 1) == 0;
}

bool implementation_plugin_at(size_t index, arena *memory, const char **name, const char **file) {
    const char *at = getenv(names_variable);
    while (at && *at) {
        const size_t length = strcspn(at, ","), head = strcspn(at, ":,");
        if (head < length && index-- == 0) {
            *name = arena_strndup(memory, at, head);
            *file = arena_strndup(memory, at + head + 1, length - head - 1);
            return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}

/* The file of a plugin that is named; NULL: there is none. */
static const char *file_named(arena *memory, const char *wanted) {
    const char *name, *file;
    for (size_t i = 0; implementation_plugin_at(i, memory, &name, &file); i++)
        if (strcmp(name, wanted) == 0)
            return file;
    return NULL;
}

/* FILE@TOPOLOGY: what stands behind the @ is for the plugin to know. */
static const char *take_topology(implementation *i, const char *word) {
    const char *at = file_exists(word) ? NULL : strrchr(word, '@');
    if (!at)
        return word;
    i->kind = IMPLEMENTATION_PJRT_AHEAD;
    i->symbol = arena_strndup(&i->memory, at + 1, strlen(at + 1));
    return arena_strndup(&i->memory, word, (size_t)(at - word));
}

static bool find_file(implementation *i, const char *word, status *st) {
    const bool is_path = strchr(word, '/') || file_exists(word);
    const char *file = is_path ? word : file_named(&i->memory, word);
    if (!*word)
        return status_set(st, STATUS_INVALID,
                          "a plugin of PJRT is named by its file: %s/path/of/plugin.so", prefix);
    if (!file)
        return status_set(st, STATUS_UNAVAILABLE,
                          "no plugin of PJRT is called '%s': give its file, %s/path/of/plugin.so, "
                          "or name it by %s=%s:FILE",
                          word, prefix, names_variable, word);
    char *absolute = realpath(file, NULL);
    if (!absolute)
        return status_set_errno(st, errno, "%s%s%s%s%s", prefix, word, is_path ? "" : " (",
                                is_path ? "" : file, is_path ? "" : ")");
    i->path = arena_strndup(&i->memory, absolute, strlen(absolute));
    free(absolute);
    const char *base = strrchr(word, '/');
    i->name = arena_printf(&i->memory, "%s%s%s%s", prefix, base ? base + 1 : word,
                           i->symbol ? "@" : "", i->symbol ? i->symbol : "");
    return !i->symbol || *i->symbol ||
           status_set(st, STATUS_INVALID,
                      "%s%s@ wants a topology, as the plugin calls it: v5e:2x2 is one of libtpu's",
                      prefix, word);
}

/* The functions of the file are the plugin's own business. */
static bool has_entry(implementation *i, const implementation_file *f, status *st) {
    status ignored = STATUS_INIT;
    const bool has = implementation_elf_is_shared(f) &&
                     implementation_elf_functions(i, f, &ignored) &&
                     implementation_has_function(i, PJRT_ENTRY);
    vec_clear(&i->functions);
    return has || status_set(st, STATUS_INVALID,
                             "%s%s is no plugin of PJRT: that is a shared object with a function "
                             "%s",
                             prefix, i->path, PJRT_ENTRY);
}

bool implementation_plugin_open(implementation *i, const char *given, status *st) {
    implementation_file f = {0};
    char digest[65];
    i->kind = IMPLEMENTATION_PJRT;
    if (!find_file(i, take_topology(i, given + sizeof prefix - 1), st))
        return false;
    if (file_is_dir(i->path))
        return status_set(st, STATUS_INVALID, "%s%s is a folder", prefix, i->path);
    const bool ok =
        file_read(i->path, IMPLEMENTATION_FILE_BYTES_MAX, &f.bytes, &f.size_bytes, st) &&
        has_entry(i, &f, st);
    free(f.bytes);
    if (ok) /* kept from now on: plugins are large, and processes that come have it */
        implementation_digest(i->path, digest);
    return ok;
}

/* ---- the program ---- */

/* A kernel that StableHLO cannot say is nothing that the plugin did wrong. */
static bool emit(compiler_instance *instance, text *program, status *st) {
    const compiler_options options = {0};
    status why = STATUS_INIT;
    if (compiler_emit(instance, &options, "stablehlo", program, &why))
        return true;
    return status_set(st, why.code == STATUS_INVALID ? STATUS_UNAVAILABLE : why.code, "%s",
                      why.message);
}

bool implementation_plugin_program(const implementation_request *request,
                                   compiler_instance *instance, text *path, status *st) {
    char hex[65];
    text program;
    if (request->layouts)
        return status_set(st, STATUS_UNAVAILABLE,
                          "a plugin is not told where the elements of a tensor lie");
    if (!request->folder)
        return status_set(st, STATUS_INTERNAL, "there is no folder for the program of a plugin");
    text_init(&program);
    bool ok = emit(instance, &program, st);
    if (ok) {
        const sha256 digest = sha256_of(program.data, program.length);
        const file_part part = {program.data, program.length};
        sha256_hex(&digest, hex);
        text_printf(path, "%s/%s.mlir", request->folder, hex);
        ok = file_exists(path->data) || file_write_scratch(path->data, &part, 1, st);
    }
    text_release(&program);
    return ok;
}
