/* arguments.c - see arguments.h. */
#include "capture/arguments.h"

#include <stdlib.h>
#include <string.h>

const json_t *capture_argument(const json_t *arguments, const char *name) {
    size_t i;
    json_t *one;
    json_array_foreach(arguments, i, one) {
        const char *own = json_string_value(json_array_get(one, 0));
        if (own && strcmp(own, name) == 0)
            return json_array_get(one, 1);
    }
    return NULL;
}

bool capture_in_columns(const json_t *arguments) {
    const json_t *layout = capture_argument(arguments, "layout");
    return !layout || json_integer_value(layout) == 102;
}

bool capture_transposes(const json_t *value) {
    const char *word = json_string_value(value);
    json_int_t number = json_integer_value(value);
    return word ? strchr("TtCc", *word) != NULL : number == 112 || number == 113;
}

double capture_real(const json_t *arguments, const char *name) {
    const json_t *value = capture_argument(arguments, name);
    const char *word = json_string_value(value); /* "nan", "inf", "-inf" */
    return word ? strtod(word, NULL) : json_number_value(value);
}

bool capture_says(const json_t *arguments, const char *name, int number, char letter) {
    const json_t *value = capture_argument(arguments, name);
    const char *word = json_string_value(value);
    return word ? (*word | ' ') == letter : json_integer_value(value) == number;
}

void capture_put_factor(double factor, text *out) {
    size_t begin = out->length;
    text_printf(out, "%.17g", factor);
    text_append(out, strpbrk(out->data + begin, ".en") ? " * " : ".0 * ");
}
