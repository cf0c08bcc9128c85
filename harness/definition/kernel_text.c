/* kernel_text.c - the contract: axes, tensors, and a case for each workload. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "definition/definition.h"

/* Their names for element types, and ours; NULL where we have none. */
static const char *type_of(const char *name) {
    static const char *const names[][2] = {{"float32", "f32"},   {"float16", "f16"},
                                           {"bfloat16", "bf16"}, {"float64", "f64"},
                                           {"int64", "i64"},     {"float8_e4m3fn", "f8e4m3fn"},
                                           {"int32", "i32"},     {"int8", "i8"},
                                           {"int16", "i16"},     {"uint8", "u8"},
                                           {"uint16", "u16"},    {"uint32", "u32"},
                                           {"uint64", "u64"},    {"float8_e5m2", "f8e5m2"},
                                           {"bool", "bool"}};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

static const char *word_at(const json_t *object, const char *name) {
    const char *word = json_string_value(json_object_get(object, name));
    return word ? word : "";
}

/* A constant axis is its number, a variable one a symbol, and one that follows from others a
 * formula. */
static bool put_axis(const json_t *axes, const char *name, text *out, status *st) {
    const json_t *axis = json_object_get(axes, name);
    const char *type = word_at(axis, "type");
    if (strcmp(type, "const") == 0 && json_is_integer(json_object_get(axis, "value")))
        text_printf(out, "%" JSON_INTEGER_FORMAT ", ",
                    json_integer_value(json_object_get(axis, "value")));
    else if (strcmp(type, "var") == 0)
        text_printf(out, "\"%s\", ", name);
    else if (strcmp(type, "expr") == 0 && *word_at(axis, "expression"))
        text_printf(out, "\"%s\", ", word_at(axis, "expression"));
    else
        return status_set(st, STATUS_INVALID,
                          "axis '%s' is neither const with a value, nor var, nor expr", name);
    return true;
}

static bool put_tensor(const json_t *axes, const char *name, const json_t *tensor, text *out,
                       status *st) {
    const char *type = type_of(word_at(tensor, "dtype"));
    const json_t *shape = json_object_get(tensor, "shape");
    size_t i;
    json_t *axis;
    if (!type)
        return status_set(st, STATUS_UNAVAILABLE, "'%s' is of %s, which kernels do not have", name,
                          word_at(tensor, "dtype"));
    text_append(out, "Tensor[");
    json_array_foreach(shape, i, axis) {
        if (!json_is_string(axis))
            return status_set(st, STATUS_INVALID, "the shape of '%s' is no list of axes", name);
        if (!put_axis(axes, json_string_value(axis), out, st))
            return false;
    }
    text_printf(out, "%s]", type);
    return true;
}

static bool put_tensors(const json_t *definition, const char *which, bool named, text *out,
                        status *st) {
    json_t *tensors = json_object_get(definition, which), *tensor;
    const char *name;
    bool first = true;
    json_object_foreach(tensors, name, tensor) {
        text_printf(out, "%s%s%s", first ? "" : ", ", named ? name : "", named ? ": " : "");
        if (!put_tensor(json_object_get(definition, "axes"), name, tensor, out, st))
            return false;
        first = false;
    }
    return true;
}

/* ---- cases ---- */

static void put_value(const json_t *value, text *out) {
    if (json_is_real(value))
        text_printf(out, "constant(%.17g)", json_real_value(value));
    else
        text_printf(out, "constant(%" JSON_INTEGER_FORMAT ")",
                    json_is_true(value) ? 1 : json_integer_value(value));
}

static void put_inputs(const char *name, const json_t *workload, text *out, text *notes) {
    json_t *input;
    const char *key;
    json_object_foreach(json_object_get(workload, "inputs"), key, input) {
        const char *type = word_at(input, "type");
        if (strcmp(type, "scalar") == 0) {
            text_printf(out, ", %s=", key);
            put_value(json_object_get(input, "value"), out);
        } else if (strcmp(type, "random") != 0) {
            text_printf(notes, "%s: '%s' is %s %s there, and generated here\n", name, key, type,
                        word_at(input, "path"));
        }
    }
}

static void put_case(const json_t *workload, size_t number, text *out, text *notes) {
    const char *name = word_at(workload, "uuid"), *axis;
    json_t *value;
    char own[32];
    size_t length = strlen(name);
    snprintf(own, sizeof own, "workload%zu", number);
    if (!length || length > 64 ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789_-") != length)
        name = own;
    text_printf(out, "    case(\"%s\"", name);
    json_object_foreach(json_object_get(workload, "axes"), axis, value)
        text_printf(out, ", %s=%" JSON_INTEGER_FORMAT, axis, json_integer_value(value));
    put_inputs(name, workload, out, notes);
    text_append(out, "),\n");
}

/* Without workloads, sizes to begin with. */
static void put_own_cases(const json_t *definition, text *out) {
    static const struct {
        const char *name;
        int size;
    } own[] = {{"small", 3}, {"usual", 64}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const char *axis;
        json_t *value;
        text_printf(out, "    case(\"%s\"", own[i].name);
        json_object_foreach(json_object_get(definition, "axes"), axis,
                            value) if (strcmp(word_at(value, "type"), "var") == 0)
            text_printf(out, ", %s=%d", axis, own[i].size);
        text_append(out, "),\n");
    }
}

static void put_cases(const json_t *definition, const definition_file *files, size_t count,
                      text *out, text *notes) {
    size_t number = 0, i;
    json_t *line;
    for (size_t f = 0; f < count; f++) {
        if (files[f].role != DEFINITION_WORKLOADS)
            continue;
        json_array_foreach(files[f].content, i, line) if (strcmp(word_at(line, "definition"),
                                                                 word_at(definition, "name")) == 0)
            put_case(json_object_get(line, "workload"), ++number, out, notes);
    }
    if (number == 0)
        put_own_cases(definition, out);
}

/* A docstring: what would end it does not. */
static void put_words(const char *words, text *out) {
    text_append(out, "    \"\"\"");
    for (; *words; words++)
        if (*words == '"' || *words == '\\')
            text_append_char(out, '\'');
        else if (*words == '\n')
            text_append(out, "\n    ");
        else
            text_append_char(out, *words);
    text_append(out, "\"\"\"\n");
}

bool definition_write_kernel(const json_t *definition, const char *kernel, definition_files files,
                             text *out, text *notes, status *st) {
    const char *about = word_at(definition, "description");
    size_t outputs = json_object_size(json_object_get(definition, "outputs"));
    text_append(out, "from tessera import *\n\n\n@cases(\n");
    put_cases(definition, files.items, files.count, out, notes);
    text_printf(out, ")\n@kernel\ndef %s(", kernel);
    bool ok = put_tensors(definition, "inputs", true, out, st);
    text_append(out, outputs > 1 ? ") -> tuple[" : ") -> ");
    ok = ok && put_tensors(definition, "outputs", false, out, st);
    text_append(out, outputs > 1 ? "]:\n" : ":\n");
    put_words(*about ? about : word_at(definition, "name"), out);
    text_append(out, "    ...\n");
    return ok;
}
