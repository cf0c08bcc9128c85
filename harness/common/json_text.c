/* json_text.c - see json_text.h. */
#include "common/json_text.h"

#include <string.h>

#include "base/escape.h"

json_t *json_text(const char *given) {
    json_t *whole = given ? json_string(given) : json_null();
    text out;
    if (whole)
        return whole;
    text_init(&out);
    text_append_utf8(&out, given, strlen(given));
    whole = json_stringn(out.data, out.length);
    text_release(&out);
    return whole;
}

json_t *json_bytes(const char *given) {
    json_t *whole = given ? json_string(given) : json_null();
    text hex;
    if (whole)
        return whole;
    text_init(&hex);
    for (const char *p = given; *p; p++)
        text_printf(&hex, "%02x", (unsigned char)*p);
    whole = json_pack("{s:s}", "hex", hex.data);
    text_release(&hex);
    return whole;
}

static int digit(char c) {
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

const char *json_bytes_value(json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    const char *hex = json_string_value(json_object_get(value, "hex"));
    text bytes;
    if (!hex)
        return json_string_value(value);
    text_init(&bytes);
    for (; digit(hex[0]) >= 0 && digit(hex[1]) >= 0; hex += 2)
        text_append_char(&bytes, (char)(digit(hex[0]) << 4 | digit(hex[1])));
    json_object_set_new_nocheck(object, name, json_stringn_nocheck(bytes.data, bytes.length));
    text_release(&bytes);
    return json_string_value(json_object_get(object, name));
}

const char *json_text_at(const json_t *object, const char *name) {
    const char *value = json_string_value(json_object_get(object, name));
    return value ? value : "";
}

json_t *json_words(const char *words) {
    json_t *list = json_array();
    while (*words) {
        size_t length = strcspn(words, ",");
        json_array_append_new(list, json_stringn(words, length));
        words += length + (words[length] == ',');
    }
    return list;
}
