/* left_case.c - see left_case.h. */
#include "left_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"

enum { SOURCE_BYTES_MAX = 256 << 20, HASH_DIGITS = 12 };

/* ---- the script ---- */

static void put_option(text *out, const char *option, const char *value) {
    if (!value)
        return;
    text_printf(out, " %s ", option);
    text_append_quoted(out, value);
}

static void put_script(text *out, const char *file, const left_source *from,
                       const tsr_compile_options_t *o) {
    char threads[16];
    snprintf(threads, sizeof threads, "%u", o->threads);
    text_append(out, "#!/bin/sh\n# A program gave this to the compiler, which did not come back "
                     "from it. sh pack.sh makes it a pack, by tsr or $TSR.\n"
                     "exec \"${TSR:-tsr}\" pack-repro ");
    text_append_quoted(out, from->kernel);
    text_append(out, " \"$(dirname \"$0\")\"/");
    text_append_quoted(out, file);
    put_option(out, o->dims ? "--dims" : "--case", o->dims ? o->dims : from->case_name);
    put_option(out, "--backend", "cpu");
    put_option(out, "--profile", o->profile);
    put_option(out, "--isa", o->isa);
    put_option(out, "--threads", o->threads ? threads : NULL);
    put_option(out, "--schedule", o->schedule);
    put_option(out, "--constant", o->constants);
    text_append(out, o->generic ? " --generic" : "");
    text_append(out, o->check_bounds ? " --check-bounds" : "");
    text_append(out, " \"$@\"\n");
}

/* ---- the folder ---- */

/* The endings that say what a source is; a name without one of these is of the language. */
static const char *file_name(const char *name) {
    static const char *const files[] = {"source.mlirbc", "source.mlir"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *ending = strchr(files[i], '.');
        size_t n = strlen(ending);
        if (length > n && strcmp(name + length - n, ending) == 0)
            return files[i];
    }
    return "source.tsr";
}

static char *path_in(const char *folder, const char *file) {
    text path;
    text_init(&path);
    text_printf(&path, "%s/%s", folder, file);
    return path.data;
}

static bool write_in(const char *folder, const char *file, const char *data, size_t size) {
    char *path = path_in(folder, file);
    file_part part = {data, size};
    bool ok = file_write_scratch(path, &part, 1, NULL);
    free(path);
    return ok;
}

static void remove_folder(const char *folder) {
    static const char *const files[] = {"source.tsr", "source.mlir", "source.mlirbc", "pack.sh"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = path_in(folder, files[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
}

static void name_folder(left_case *l, const char *failures, const char *source, size_t bytes,
                        const text *script) {
    char hex[65];
    text name;
    sha256_stream *stream = sha256_stream_new();
    sha256_stream_update(stream, source, bytes);
    sha256_stream_update(stream, script->data, script->length);
    sha256 digest = sha256_stream_finish(stream);
    sha256_hex(&digest, hex);
    text_init(&name);
    text_printf(&name, "%s/compile-%.*s", failures, HASH_DIGITS, hex);
    l->lasting = name.data;
    text_init(&name);
    text_printf(&name, "%s.%d", l->lasting, (int)getpid());
    l->folder = name.data;
}

void left_case_begin(left_case *l, const left_source *from, const tsr_compile_options_t *options) {
    const char *failures = getenv("TESSERA_FAILURES"); // NOLINT(concurrency-mt-unsafe)
    const char *source = from->source, *file = file_name(from->name);
    size_t bytes = from->source_bytes;
    char *read = NULL;
    *l = (left_case){NULL, NULL};
    if (!failures || !*failures || (!options->dims && !from->case_name) ||
        (!source && !file_read(from->name, SOURCE_BYTES_MAX, &read, &bytes, NULL)))
        return;
    source = source ? source : read;
    text script;
    text_init(&script);
    put_script(&script, file, from, options);
    name_folder(l, failures, source, bytes, &script);
    if (!file_make_dirs(l->folder, NULL) || !write_in(l->folder, file, source, bytes) ||
        !write_in(l->folder, "pack.sh", script.data, script.length))
        left_case_end(l, NULL);
    text_release(&script);
    free(read);
}

void left_case_end(left_case *l, const status *st) {
    bool own = st && (st->code == STATUS_INTERNAL || st->code == STATUS_OUT_OF_MEMORY);
    if (l->folder && (!own || rename(l->folder, l->lasting) != 0))
        remove_folder(l->folder);
    free(l->folder);
    free(l->lasting);
    *l = (left_case){NULL, NULL};
}
