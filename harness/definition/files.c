/* files.c - reads a file and tells what it is. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "definition/definition.h"

enum { BYTES_MAX = 64 << 20 };

static bool is_definition(const json_t *o) {
    return json_is_object(json_object_get(o, "axes")) &&
           json_is_object(json_object_get(o, "inputs")) &&
           json_is_object(json_object_get(o, "outputs")) &&
           json_is_string(json_object_get(o, "name"));
}

static bool is_solution(const json_t *o) {
    return json_is_array(json_object_get(o, "sources")) &&
           json_is_object(json_object_get(o, "spec"));
}

static bool is_object_or_absent(const json_t *o, const char *key) {
    const json_t *value = json_object_get(o, key);
    return !value || json_is_object(value);
}

static bool is_trace(const json_t *o) {
    const json_t *workload = json_object_get(o, "workload");
    return json_is_object(workload) && is_object_or_absent(workload, "axes") &&
           is_object_or_absent(workload, "inputs");
}

/* Each line is a Trace; those that only name a workload are what a data set has. */
static bool take_lines(definition_file *f, const char *data, status *st) {
    size_t number = 1;
    f->role = DEFINITION_WORKLOADS;
    f->content = json_array();
    for (const char *line = data; *line; number++) {
        size_t length = strcspn(line, "\n");
        bool blank = strspn(line, " \t\r") >= length;
        json_t *one = blank ? NULL : json_loadb(line, length, 0, NULL);
        if (!blank && !is_trace(one)) {
            json_decref(one);
            return status_set(st, STATUS_INVALID,
                              "%s, line %zu: no Definition, no Solution, and no line of Workloads, "
                              "whose axes and inputs are objects",
                              f->path, number);
        }
        if (one)
            json_array_append_new(f->content, one);
        line += length + (line[length] == '\n');
    }
    return true;
}

bool definition_file_open(definition_file *f, const char *path, status *st) {
    char *data = NULL;
    size_t size;
    *f = (definition_file){.path = path};
    if (!file_read(path, BYTES_MAX, &data, &size, st))
        return false;
    json_t *whole = json_loadb(data, size, 0, NULL);
    bool ok = true;
    if (is_definition(whole) || is_solution(whole)) {
        f->role = is_definition(whole) ? DEFINITION_KERNEL : DEFINITION_SOLUTION;
        f->content = json_incref(whole);
    } else {
        ok = take_lines(f, data, st);
    }
    json_decref(whole);
    free(data);
    return ok;
}

void definition_file_close(definition_file *f) {
    json_decref(f->content);
    f->content = NULL;
}

void definition_identifier(const char *name, text *out) {
    if (!isalpha((unsigned char)*name) && *name != '_')
        text_append_char(out, '_');
    for (; *name; name++)
        text_append_char(out, isalnum((unsigned char)*name) ? *name : '_');
}
