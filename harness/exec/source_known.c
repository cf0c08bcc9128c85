/* source_known.c - marks of sources, in the folder of cached modules. */
#include "exec/source_known.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sha256.h"
#include "case/source_probe.h"
#include "common/build_id.h"
#include "exec/module_cache.h"

static const char last[] = "end"; /* the last line: a mark that was cut has none */
enum { HEX = 64, FILE_BYTES_MAX = 64 << 20, MARK_BYTES_MAX = 1 << 20 };

static bool hash_file(const char *path, text *before, char hex[HEX + 1]) {
    char *data;
    size_t size;
    status ignored = STATUS_INIT;
    if (!file_read(path, FILE_BYTES_MAX, &data, &size, &ignored))
        return false;
    text_append_bytes(before, data, size);
    free(data);
    const sha256 found = sha256_of(before->data, before->length);
    sha256_hex(&found, hex);
    return true;
}

/* The mark's path. False: the file cannot be read, or nothing says which program this is. */
static bool mark_of(const char *cache, const char *path, text *out) {
    char hex[HEX + 1], *real = realpath(path, NULL);
    text words;
    text_init(&words);
    text_printf(&words, "%s\n%s\n", build_id(), real ? real : path);
    const bool ok = *build_id() && hash_file(path, &words, hex);
    if (ok)
        text_printf(out, "%s/%s.read", cache, hex);
    text_release(&words);
    free(real);
    return ok;
}

/* One line of a mark: "SHA-256 PATH". */
static bool line_holds(const char *line) {
    char hex[HEX + 1];
    text none;
    text_init(&none);
    const bool holds = strlen(line) > HEX + 1 && hash_file(line + HEX + 1, &none, hex) &&
                       strncmp(line, hex, HEX) == 0;
    text_release(&none);
    return holds;
}

static bool is_known(const char *cache, const char *path) {
    text mark;
    char *data = NULL, *rest = NULL;
    size_t size;
    status ignored = STATUS_INIT;
    text_init(&mark);
    bool known = cache && mark_of(cache, path, &mark) &&
                 file_read(mark.data, MARK_BYTES_MAX, &data, &size, &ignored);
    char *line = known ? strtok_r(data, "\n", &rest) : NULL;
    for (; line && strcmp(line, last) != 0 && line_holds(line);)
        line = strtok_r(NULL, "\n", &rest);
    known = line && strcmp(line, last) == 0;
    free(data);
    text_release(&mark);
    return known;
}

/* The files that a source imports. */
static bool list_files(const compiler_source *source, text *out) {
    bool ok = true;
    const char *path;
    for (uint32_t i = 0; ok && (path = compiler_import_at(source, i)); i++) {
        char hex[HEX + 1];
        text none;
        text_init(&none);
        ok = !strchr(path, '\n') && hash_file(path, &none, hex);
        if (ok)
            text_printf(out, "%s %s\n", hex, path);
        text_release(&none);
    }
    return ok;
}

static void keep(const char *cache, const char *path, const compiler_source *source) {
    text mark, files;
    text_init(&mark);
    text_init(&files);
    if (cache && mark_of(cache, path, &mark) && list_files(source, &files)) {
        text_printf(&files, "%s\n", last);
        module_cache_put(cache, mark.data, &(file_part){files.data, files.length}, 1);
    }
    text_release(&mark);
    text_release(&files);
}

compiler_source *source_known_open(const char *cache, const char *path, bool colour,
                                   text *diagnostics, status *st) {
    const size_t before = diagnostics->length;
    if (is_known(cache, path))
        return compiler_open_known(path, colour, diagnostics, st);
    compiler_source *s =
        source_probe_one(path, st) ? compiler_open(path, colour, diagnostics, st) : NULL;
    if (s && diagnostics->length == before && compiler_error_count(s) == 0)
        keep(cache, path, s);
    return s;
}
