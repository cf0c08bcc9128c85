/* golden_copy.c - a golden from another folder. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "case/golden.h"

/* The folder with its slash at the end. */
static void folder_of(const char *path, text *out) {
    const char *slash = strrchr(path, '/');
    if (slash)
        text_append_bytes(out, path, (size_t)(slash - path) + 1);
    else
        text_append(out, "./");
}

/* A tensor that is damaged is not copied: it is read as a run would read it. */
static bool copy_tensor(const golden *g, uint32_t index, const compiler_buffer *buffer,
                        const char *folder, status *st) {
    const json_t *output = json_array_get(json_object_get(g->manifest, "outputs"), index);
    const char *file = json_string_value(json_object_get(output, "file"));
    tensor kept;
    if (!golden_tensor(g, index, buffer, &kept, st))
        return st->code == STATUS_OK;
    tensor_release(&kept);
    text from, to;
    char *data = NULL;
    size_t size;
    text_init(&from);
    text_init(&to);
    text_printf(&from, "%s/%s", g->directory, file);
    text_printf(&to, "%s%s", folder, file);
    bool ok = file_read(from.data, 2 * GOLDEN_TENSOR_BYTES_MAX, &data, &size, st) &&
              file_write_atomic(to.data, data, size, st);
    free(data);
    text_release(&from);
    text_release(&to);
    return ok;
}

/* As golden_write has it, so that a merged golden is the file that one machine would have made. */
static bool write_manifest(const golden *g, const char *path, status *st) {
    char *body = json_dumps(g->manifest, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
    file_part parts[] = {{body, strlen(body)}, {"\n", 1}};
    bool ok = file_write_parts(path, parts, 2, st);
    free(body);
    return ok;
}

bool golden_copy(const golden *g, const compiler_signature *signature, const char *path,
                 status *st) {
    text folder;
    text_init(&folder);
    folder_of(path, &folder);
    bool ok = json_array_size(json_object_get(g->manifest, "outputs")) == signature->output_count ||
              status_set(st, STATUS_CORRUPT, "the golden in %s has other outputs than its case",
                         g->directory);
    ok = ok && file_make_parent(path, st);
    for (uint32_t i = 0; i < signature->output_count && ok; i++)
        ok = copy_tensor(g, i, &signature->outputs[i], folder.data, st);
    ok = ok && write_manifest(g, path, st);
    text_release(&folder);
    return ok;
}
