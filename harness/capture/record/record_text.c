/* record_text.c - lines of JSON, made without the program's locale and without its exceptions. */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

static bool has_room(record_text *t, size_t count) {
    if (t->failed)
        return false;
    if (t->length + count < t->capacity)
        return true;
    size_t capacity = 2 * (t->length + count) + 256;
    char *data = realloc(t->data, capacity);
    t->failed = !data;
    if (t->failed)
        return false;
    t->data = data;
    t->capacity = capacity;
    return true;
}

void record_text_bytes(record_text *t, const char *data, size_t count) {
    if (!has_room(t, count))
        return;
    memcpy(t->data + t->length, data, count);
    t->length += count;
    t->data[t->length] = '\0';
}

void record_text_add(record_text *t, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (count < 0 || (size_t)count >= sizeof line)
        t->failed = true;
    else
        record_text_bytes(t, line, (size_t)count);
}

/* The bytes of the character that begins here; 0: none does. */
static size_t character_bytes(const unsigned char *s) {
    size_t count = s[0] < 0x80                    ? 1
                   : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
                   : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                   : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                  : 0;
    for (size_t i = 1; i < count; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || beyond ? 0 : count;
}

void record_text_string(record_text *t, const char *value) {
    const unsigned char *s = (const unsigned char *)value;
    record_text_bytes(t, "\"", 1);
    while (*s) {
        size_t count = character_bytes(s);
        if (count == 0)
            record_text_add(t, "\\ufffd");
        else if (*s < 0x20 || *s == 0x7f)
            record_text_add(t, "\\u%04x", *s);
        else if (*s == '"' || *s == '\\')
            record_text_add(t, "\\%c", *s);
        else
            record_text_bytes(t, (const char *)s, count);
        s += count ? count : 1;
    }
    record_text_bytes(t, "\"", 1);
}

void record_text_real(record_text *t, double value) {
    char digits[40];
    if (!isfinite(value)) {
        record_text_add(t, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    snprintf(digits, sizeof digits, "%.17g", value);
    const char *point = localeconv()->decimal_point;
    char *found = *point ? strstr(digits, point) : NULL;
    if (found && strcmp(point, ".") != 0) {
        size_t length = strlen(point);
        *found = '.';
        memmove(found + 1, found + length, strlen(found + length) + 1);
    }
    bool whole = !strpbrk(digits, ".en");
    record_text_add(t, "%s%s", digits, whole ? ".0" : "");
}

void record_text_free(record_text *t) {
    free(t->data);
    *t = (record_text){0};
}
