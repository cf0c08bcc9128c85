/* line.c - what a line must have, and what of it is compared. */
#include "capture/line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS_MAX = 64, HASH_DIGITS = 32 };

static const char *copy(const json_t *object, const char *name, arena *memory) {
    const char *value = json_string_value(json_object_get(object, name));
    return value ? arena_strdup(memory, value) : NULL;
}

/* ---- a process ---- */

static const char *command_line(const json_t *words, arena *memory) {
    text line;
    size_t i;
    json_t *word;
    text_init(&line);
    json_array_foreach(words, i, word) text_printf(
        &line, "%s%s", i ? " " : "", json_is_string(word) ? json_string_value(word) : "?");
    const char *out = arena_strdup(memory, line.data);
    text_release(&line);
    return out;
}

const char *capture_line_process(const json_t *line, arena *memory, capture_process *out) {
    const json_t *id = json_object_get(line, "process");
    const json_t *started = json_object_get(line, "started_ns");
    if (!json_is_integer(id) || !json_is_integer(started))
        return "the first line of a process has its number and when it began";
    out->id = json_integer_value(id);
    out->started_ns = (uint64_t)json_integer_value(started);
    out->forked_by = json_integer_value(json_object_get(line, "forked_by"));
    out->program = command_line(json_object_get(line, "program"), memory);
    out->environment = json_incref(json_object_get(line, "environment"));
    return NULL;
}

/* ---- a call ---- */

/* Hashes name files. */
static bool is_hash(const char *value) {
    return strlen(value) == HASH_DIGITS && value[strspn(value, "0123456789abcdef")] == '\0';
}

static bool take_shape(const json_t *shape, capture_tensor *t) {
    size_t i;
    json_t *axis;
    if (!json_is_array(shape) || json_array_size(shape) > TENSOR_MAX_RANK)
        return false;
    t->rank = (int)json_array_size(shape);
    json_array_foreach(shape, i, axis) {
        t->shape[i] = json_integer_value(axis);
        if (!json_is_integer(axis) || t->shape[i] < 0)
            return false;
    }
    return true;
}

static const char *take_tensor(const json_t *item, arena *memory, capture_tensor *t) {
    static const char *const roles[] = {"input", "output", "both"};
    const char *role = json_string_value(json_object_get(item, "role"));
    t->name = copy(item, "name", memory);
    t->part = copy(item, "part", memory);
    t->before = copy(item, "before", memory);
    t->after = copy(item, "after", memory);
    t->dtype = copy(item, "dtype", memory);
    t->type = t->dtype ? dtype_from_name(t->dtype) : DTYPE_NONE;
    int known = 0;
    while (role && known < 3 && strcmp(roles[known], role) != 0)
        known++;
    t->role = (capture_role)known;
    if (!t->name || !role || known == 3)
        return "a tensor has a name and a role";
    if (!t->dtype || !take_shape(json_object_get(item, "shape"), t))
        return "a tensor has a type and a shape";
    bool sound = (!t->before || is_hash(t->before)) && (!t->after || is_hash(t->after));
    return sound ? NULL : "a hash has 32 digits";
}

static const char *take_tensors(const json_t *list, arena *memory, capture_call *out) {
    size_t i;
    json_t *item;
    const char *why = NULL;
    if (!json_is_array(list) || json_array_size(list) > TENSORS_MAX)
        return "a call has a list of tensors";
    out->tensor_count = (uint32_t)json_array_size(list);
    out->tensors = ARENA_NEW(memory, capture_tensor, out->tensor_count + 1);
    json_array_foreach(list, i, item) {
        why = take_tensor(item, memory, &out->tensors[i]);
        if (why)
            return why;
    }
    return NULL;
}

/* Function, arguments, shapes and types: what has to be the same for two calls to be one. */
static const char *signature_of(const capture_call *c, arena *memory) {
    text out;
    text_init(&out);
    text_printf(&out, "%s %s", c->function, c->arguments);
    for (uint32_t i = 0; i < c->tensor_count; i++) {
        const capture_tensor *t = &c->tensors[i];
        text_printf(&out, " %s:%d:%s", t->name, (int)t->role, t->part ? t->part : "");
        capture_describe_tensor(t, &out);
    }
    const char *signature = arena_strdup(memory, out.data);
    text_release(&out);
    return signature;
}

static const char *hashes_of(const capture_call *c, bool after, arena *memory) {
    text out;
    text_init(&out);
    for (uint32_t i = 0; i < c->tensor_count; i++) {
        const char *hash = after ? c->tensors[i].after : c->tensors[i].before;
        text_printf(&out, "%s ", hash ? hash : "-");
    }
    const char *hashes = arena_strdup(memory, out.data);
    text_release(&out);
    return hashes;
}

const char *capture_line_call(const json_t *line, arena *memory, capture_call *out) {
    const json_t *number = json_object_get(line, "call"), *thread = json_object_get(line, "thread");
    const json_t *arguments = json_object_get(line, "arguments");
    if (!json_is_integer(number) || json_integer_value(number) < 1 || !json_is_integer(thread))
        return "a call has a number and a thread";
    out->number = (uint64_t)json_integer_value(number);
    out->thread = (uint32_t)json_integer_value(thread);
    out->function = copy(line, "function", memory);
    out->library = copy(line, "library", memory);
    if (!out->function || !json_is_array(arguments))
        return "a call has a function and its arguments";
    char *dumped = json_dumps(arguments, JSON_COMPACT | JSON_REAL_PRECISION(17));
    out->arguments = arena_strdup(memory, dumped ? dumped : "[]");
    free(dumped);
    const char *why = take_tensors(json_object_get(line, "tensors"), memory, out);
    if (why)
        return why;
    out->signature = signature_of(out, memory);
    out->inputs = hashes_of(out, false, memory);
    out->outputs = hashes_of(out, true, memory);
    return NULL;
}
