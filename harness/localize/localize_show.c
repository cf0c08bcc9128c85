/* localize_show.c - what a localization found, for a person. */
#include "common/json_text.h"
#include "localize/localize.h"

#include <string.h>

#include "base/escape.h"

static long long number_at(const json_t *object, const char *key) {
    return (long long)json_integer_value(json_object_get(object, key));
}

static void put_value(const json_t *value, text *out) {
    const json_t *number = json_object_get(value, "value");
    if (json_is_string(number))
        text_printf(out, "%s", json_string_value(number));
    else
        text_printf(out, "%.9g", json_number_value(number));
    text_show(out, " (%s)", json_text_at(value, "bits"));
}

static void put_element(const json_t *element, text *out) {
    size_t i;
    json_t *index;
    text_show(out, "element   %s[", json_text_at(element, "output"));
    json_array_foreach(json_object_get(element, "index"), i, index)
        text_printf(out, "%s%lld", i ? ", " : "", (long long)json_integer_value(index));
    text_append(out, "]: got ");
    put_value(json_object_get(element, "got"), out);
    text_append(out, ", expected ");
    put_value(json_object_get(element, "expected"), out);
    text_printf(out, "; %lld of %lld are wrong\n", number_at(element, "differing"),
                number_at(element, "elements"));
}

static void put_operation(const json_t *o, text *out) {
    text_show(out, "operation %s", json_text_at(o, "name"));
    if (number_at(o, "line"))
        text_printf(out, " at line %lld", number_at(o, "line"));
    if (*json_text_at(o, "part_of"))
        text_show(out, ", part of %s", json_text_at(o, "part_of"));
    if (number_at(o, "number"))
        text_printf(out, ", number %lld of %lld", number_at(o, "number"), number_at(o, "of"));
    text_append(out, "\n");
}

static void put_run(const json_t *run, text *out) {
    size_t i;
    json_t *turn;
    text_printf(out, "kernel    run number %lld of the program", number_at(run, "number"));
    if (number_at(run, "line"))
        text_printf(out, ", of line %lld", number_at(run, "line"));
    json_array_foreach(json_object_get(run, "turns"), i, turn)
        text_printf(out, "%s %lld", i ? "," : ", in turn", number_at(turn, "turn"));
    text_append(out, "\n");
}

static void put_suspects(const json_t *found, text *out) {
    size_t i;
    json_t *one;
    const char *right = json_text_at(found, "right"), *pass = json_text_at(found, "pass");
    if (*pass)
        text_show(out, "pass      wrong behind %s, %s%s: ", pass,
                  *right ? "and right behind " : "the first that was looked at", right);
    else if (strcmp(json_text_at(found, "place"), "before") == 0)
        text_append(out, "pass      none: the graph is wrong as it is read, so ");
    else
        text_show(out, "pass      none that can be run by itself%s%s, so ",
                  *right ? ": right behind " : "", right);
    json_array_foreach(json_object_get(found, "suspects"), i, one)
        text_show(out, "%s%s", i ? " or " : "", json_string_value(one));
    text_append(out, "\n");
}

static void put_against(const json_t *against, text *out) {
    const char *differs = json_text_at(against, "differs"), *pass = json_text_at(against, "pass");
    text_show(out, "against   ");
    if (*json_text_at(against, "why"))
        text_show(out, "%s\n", json_text_at(against, "why"));
    else
        text_show(out, "the text of %s differs first, and that of %s mends it\n",
                  *differs ? differs : "no pass", pass);
}

/* Numbers have another spelling in each language; bits have one. */
static void put_bits(json_t *element, const char *key) {
    json_t *bits = json_object_get(json_object_get(element, key), "bits");
    json_object_set(element, key, bits);
}

/* "0,3" */
static void put_index(json_t *element) {
    size_t i;
    json_t *index;
    text words;
    text_init(&words);
    json_array_foreach(json_object_get(element, "index"), i, index)
        text_printf(&words, "%s%lld", i ? "," : "", (long long)json_integer_value(index));
    json_object_set_new(element, "index", json_text(words.data ? words.data : ""));
    text_release(&words);
}

json_t *localization_field(const json_t *found) {
    json_t *field = json_deep_copy(found), *element = json_object_get(field, "element");
    if (element) {
        put_index(element);
        put_bits(element, "got");
        put_bits(element, "expected");
    }
    json_object_del(field, "probes"); /* as many as there was time for */
    return field;
}

void localization_show(const json_t *found, text *out) {
    const json_t *run = json_object_get(found, "run"),
                 *operation = json_object_get(found, "operation"),
                 *element = json_object_get(found, "element");
    if (json_is_object(run))
        put_run(run, out);
    if (json_object_get(found, "suspects"))
        put_suspects(found, out);
    else if (*json_text_at(found, "pass"))
        text_show(out, "pass      %s\n", json_text_at(found, "pass"));
    if (*json_text_at(found, "because"))
        text_show(out, "because   %s\n", json_text_at(found, "because"));
    if (json_is_object(operation))
        put_operation(operation, out);
    if (json_is_object(element))
        put_element(element, out);
    if (json_object_get(found, "against"))
        put_against(json_object_get(found, "against"), out);
    if (*json_text_at(found, "why"))
        text_show(out, "not known %s\n", json_text_at(found, "why"));
}
