/* yaml_text.c - JSON to YAML by libyaml, which decides on quotes and lines. */
#include "common/yaml_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

enum { LINE_COLUMNS = 120 };

typedef struct writer {
    yaml_emitter_t emitter;
    status *st;
    bool failed;
} writer;

static int append(void *out, unsigned char *bytes, size_t size) {
    text_append_bytes(out, (const char *)bytes, size);
    return 1;
}

static void emit(writer *w, int initialised, yaml_event_t *event) {
    if (w->failed)
        return;
    w->failed = !initialised || !yaml_emitter_emit(&w->emitter, event);
    if (w->failed && w->st->code == STATUS_OK)
        status_set(w->st, STATUS_INTERNAL, "the document cannot be written as YAML: %s",
                   w->emitter.problem ? w->emitter.problem : "no memory");
}

/* Words that some reader takes for something else than text. */
static bool is_word(const char *string) {
    static const char *const taken[] = {"y",    "n",     "yes",  "no",  "on", "off",
                                        "true", "false", "null", "nan", "inf"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_",
                      more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789./-";
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcasecmp(string, taken[i]) == 0)
            return false;
    return strspn(string, letters) > 0 && string[strspn(string, more)] == '\0';
}

/* `plain`: it needs no quotes to be what it is. */
static void put_scalar(writer *w, const char *characters, bool plain) {
    yaml_event_t event;
    int length = (int)strlen(characters);
    emit(w,
         yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)characters, length,
                                      plain, 1, YAML_ANY_SCALAR_STYLE),
         &event);
}

static void put_single(writer *w, const json_t *value) {
    char number[32];
    if (json_is_string(value)) {
        put_scalar(w, json_string_value(value), is_word(json_string_value(value)));
    } else if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        put_scalar(w, number, true);
    } else if (json_is_real(value)) {
        w->failed = true;
        status_set(w->st, STATUS_INVALID,
                   "the document has a fraction, and is not written as YAML");
    } else {
        put_scalar(w, json_is_null(value) ? "null" : json_is_true(value) ? "true" : "false", true);
    }
}

static bool is_single(const json_t *value) {
    return !json_is_array(value) && !json_is_object(value);
}

static bool holds_lists(const json_t *array) {
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!is_single(json_array_get(array, i)))
            return true;
    return false;
}

static void put_value(writer *w, const json_t *value);

static void put_array(writer *w, const json_t *array) {
    yaml_event_t event;
    yaml_sequence_style_t style =
        holds_lists(array) ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE;
    emit(w, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, style), &event);
    for (size_t i = 0; i < json_array_size(array); i++)
        put_value(w, json_array_get(array, i));
    emit(w, yaml_sequence_end_event_initialize(&event), &event);
}

static void put_object(writer *w, const json_t *object) {
    yaml_event_t event;
    const char *key;
    json_t *value;
    emit(w, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE),
         &event);
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        put_scalar(w, key, is_word(key));
        put_value(w, value);
    }
    emit(w, yaml_mapping_end_event_initialize(&event), &event);
}

static void put_value(writer *w, const json_t *value) {
    if (json_is_array(value))
        put_array(w, value);
    else if (json_is_object(value))
        put_object(w, value);
    else
        put_single(w, value);
}

bool yaml_of_json(const json_t *document, text *out, status *st) {
    writer w = {.st = st};
    yaml_event_t event;
    if (!yaml_emitter_initialize(&w.emitter))
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory to write YAML with");
    yaml_emitter_set_output(&w.emitter, append, out);
    yaml_emitter_set_unicode(&w.emitter, 1);
    yaml_emitter_set_width(&w.emitter, LINE_COLUMNS);
    emit(&w, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), &event);
    emit(&w, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 0), &event);
    put_value(&w, document);
    emit(&w, yaml_document_end_event_initialize(&event, 1), &event);
    emit(&w, yaml_stream_end_event_initialize(&event), &event);
    yaml_emitter_delete(&w.emitter);
    return !w.failed;
}
