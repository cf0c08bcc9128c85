/* bundle.c - a source and all that it imports as one text, for packs and for programs that have no
 * files. */
#include <string.h>

#include "check/modules.h"

static const char mark[] = "#: file ";

/* The place where the next line with the mark begins; `size` where there is none. */
static uint32_t find_mark(const char *data, uint32_t from, uint32_t size) {
    const uint32_t length = sizeof mark - 1;
    for (uint32_t at = from; at + length <= size; at++)
        if ((at == 0 || data[at - 1] == '\n') && memcmp(data + at, mark, length) == 0)
            return at;
    return size;
}

static uint32_t end_of_line(const char *data, uint32_t from, uint32_t size) {
    const char *end = memchr(data + from, '\n', size - from);
    return end ? (uint32_t)(end - data) : size;
}

uint32_t bundle_divide(compiler_source *s, const char *data, uint32_t size) {
    const uint32_t first = find_mark(data, 0, size);
    for (uint32_t at = first, next; at < size; at = next) {
        uint32_t name = at + (uint32_t)sizeof mark - 1, line = end_of_line(data, name, size);
        uint32_t begin = line < size ? line + 1 : size;
        next = find_mark(data, begin, size);
        bundled_file one = {arena_strndup(&s->memory, data + name, line - name), data + begin,
                            next - begin};
        vec_push(&s->bundled, one);
    }
    return first;
}

/* A path from the folder of the first file. */
static const char *within(const compiler_source *s, const char *path) {
    const char *slash = strrchr(s->text.name, '/');
    size_t folder = slash ? (size_t)(slash + 1 - s->text.name) : 0;
    return strncmp(path, s->text.name, folder) == 0 ? path + folder : path;
}

const bundled_file *bundle_find(const compiler_source *s, const char *path) {
    for (size_t i = 0; i < s->bundled.count; i++)
        if (strcmp(s->bundled.items[i].name, within(s, path)) == 0)
            return &s->bundled.items[i];
    return NULL;
}

void compiler_bundle(const compiler_source *source, text *out) {
    const source_text *t = &source->text;
    uint32_t at = 0;
    if (source->program) { /* its heads are made again */
        imported_print(source, out);
        return;
    }
    for (uint32_t i = 0; i <= t->imported_count; i++) {
        uint32_t end = i < t->imported_count ? t->imported[i].start - 1 : t->size;
        if (i > 0) {
            bool line = out->length && out->data[out->length - 1] != '\n';
            text_printf(out, "%s%s%s\n", line ? "\n" : "", mark,
                        within(source, t->imported[i - 1].name));
        }
        text_append_bytes(out, t->data + at, end - at);
        at = end + 1;
    }
}
