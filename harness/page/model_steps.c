/* model_steps.c - numbers of steps: files of lines that tsr run --export jsonl= wrote. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "common/json_text.h"
#include "page/model.h"

enum { POINTS_SHOWN = 2000, STEPS_BYTES_MAX = 256 << 20 };

/* The object of a line; NULL: it is none of a step. */
static json_t *read_line(const char *line, size_t length) {
    json_t *one = json_loadb(line, length, 0, NULL);
    if (one && json_is_integer(json_object_get(one, "step")))
        return one;
    json_decref(one);
    return NULL;
}

/* Lines that have ended: the last one of a run that was killed has perhaps not. */
static size_t count_lines(const char *data, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += data[i] == '\n';
    return count;
}

/* Appends a step's numbers to the list of each quantity: null where it has none, as of a NaN. */
static void take_step(json_t *series, const json_t *step, size_t before) {
    json_t *values = json_object_get(series, "values");
    const char *name;
    json_t *value;
    json_array_append(json_object_get(series, "steps"), json_object_get(step, "step"));
    json_object_foreach((json_t *)step, name, value) {
        if (strcmp(name, "step") == 0 || json_is_string(value))
            continue;
        json_t *list = json_object_get(values, name);
        if (!list) {
            list = json_array();
            for (size_t i = 0; i < before; i++)
                json_array_append_new(list, json_null());
            json_object_set_new(values, name, list);
        }
        json_array_append(list, json_is_number(value) ? value : json_null());
    }
    json_object_foreach(values, name, value) while (json_array_size(value) < before + 1)
        json_array_append_new(value, json_null());
}

/* Every so many lines are shown, and the last. */
static bool take_lines(json_t *series, const char *data, size_t size, const char *path,
                       status *st) {
    const size_t count = count_lines(data, size), every = (count + POINTS_SHOWN - 1) / POINTS_SHOWN;
    size_t number = 0, taken = 0;
    for (const char *at = data, *end; (end = memchr(at, '\n', size - (size_t)(at - data)));
         at = end + 1, number++) {
        json_t *step = read_line(at, (size_t)(end - at));
        if (!step)
            return status_set(st, STATUS_CORRUPT,
                              "%s:%zu: no step that tsr run --export jsonl=FILE wrote", path,
                              number + 1);
        if (!json_object_get(series, "kernel"))
            json_object_set(series, "kernel", json_object_get(step, "kernel"));
        if (number % every == 0 || number + 1 == count)
            take_step(series, step, taken++);
        json_decref(step);
    }
    json_object_set_new(series, "left_out", json_integer((json_int_t)(count - taken)));
    return count > 0 || status_set(st, STATUS_CORRUPT, "%s: no steps are in it", path);
}

bool report_add_steps(report_model *m, const char *path, status *st) {
    char *data;
    size_t size;
    if (!file_read(path, STEPS_BYTES_MAX, &data, &size, st))
        return false;
    json_t *series = json_pack("{s:o, s:[], s:{}}", "from", json_text(path), "steps", "values");
    const bool ok = take_lines(series, data, size, path, st);
    free(data);
    json_array_append_new(json_object_get(m->document, "steps"), series);
    return ok;
}
