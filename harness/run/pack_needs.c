/* pack_needs.c - see pack_needs.h. */
#include "run/pack_needs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/escape.h"
#include "common/json_text.h"
#include "implementation/implementation.h"
#include "repro/manifest.h"
#include "run/pack_fields.h"

#define FOLDER "implementation/"
enum { HELD_BYTES_MAX = 1 << 20 };

static const char variable[] = "variable";

/* ---- made ---- */

/* The folder of the file, with its slash, as no link leads to it. Owned; NULL: there is none. */
static char *folder_of(const job *j) {
    char *whole = j->implementation && implementation_is_file(j->implementation)
                      ? realpath(j->implementation, NULL)
                      : NULL;
    char *slash = whole ? strrchr(whole, '/') : NULL;
    if (slash)
        slash[1] = '\0';
    return whole;
}

/* Below the folder its place there, else its own name. */
static const char *name_of(const char *path, const char *folder) {
    size_t length = folder ? strlen(folder) : 0;
    const char *slash = strrchr(path, '/');
    if (length && strncmp(path, folder, length) == 0)
        return path + length;
    return slash ? slash + 1 : path;
}

static bool is_neighbour(const char *path, const char *folder) {
    struct stat facts;
    text member;
    text_init(&member);
    text_printf(&member, FOLDER "%s", folder ? path + strlen(folder) : "");
    bool plain = folder && strncmp(path, folder, strlen(folder)) == 0 &&
                 manifest_name_is_plain(member.data) && stat(path, &facts) == 0 &&
                 facts.st_size <= HELD_BYTES_MAX;
    text_release(&member);
    return plain;
}

static json_t *need_of(const json_t *one, const char *folder, pack_needs_hold_fn hold,
                       void *context) {
    const char *how = json_text_at(one, "how"), *opened = json_text_at(one, "name");
    bool is_file = strcmp(how, variable) != 0, held = false;
    char *path = is_file ? realpath(opened, NULL) : NULL;
    const char *name = path ? name_of(path, folder) : opened;
    text member;
    text_init(&member);
    if (path && strcmp(how, "imported") == 0 && is_neighbour(path, folder)) {
        text_printf(&member, FOLDER "%s", name);
        held = hold(context, member.data, path);
    }
    json_t *need = json_pack("{s:s, s:o, s:b}", "how", how, "name", json_text(name), "held", held);
    text_release(&member);
    free(path);
    return need;
}

static int by_name(const void *a, const void *b) {
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    int order = strcmp(json_text_at(x, "how"), json_text_at(y, "how"));
    return order ? order : strcmp(json_text_at(x, "name"), json_text_at(y, "name"));
}

json_t *pack_needs_make(const job *j, const json_t *opened, pack_needs_hold_fn hold,
                        void *context) {
    size_t count = json_array_size(opened), most = (size_t)pack_field_high("needs");
    json_t *needs = json_array(), **sorted = base_malloc((count + 1) * sizeof(json_t *));
    char *folder = folder_of(j);
    count = count < most ? count : most;
    for (size_t i = 0; i < count; i++)
        sorted[i] = json_array_get(opened, i);
    if (count)
        qsort(sorted, count, sizeof(json_t *), by_name);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(needs, need_of(sorted[i], folder, hold, context));
    free(folder);
    free(sorted);
    return needs;
}

/* ---- said ---- */

void pack_needs_text(const json_t *needs, bool held, text *out) {
    size_t i;
    json_t *one;
    bool first = true;
    json_array_foreach((json_t *)(uintptr_t)needs, i, one) {
        if (json_is_true(json_object_get(one, "held")) != held)
            continue;
        bool is_variable = strcmp(json_text_at(one, "how"), variable) == 0;
        text_show(out, is_variable ? "%svariable %s" : "%s%s (%s)", first ? "" : ", ",
                  json_text_at(one, "name"), json_text_at(one, "how"));
        first = false;
    }
}
