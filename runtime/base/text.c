/* text.c - the growable string of text.h. Globs and suggestions are in text_match.c. */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { FIRST_CAPACITY = 64 };

void text_init(text *t) {
    t->data = base_malloc(FIRST_CAPACITY);
    t->data[0] = '\0';
    t->length = 0;
    t->capacity = FIRST_CAPACITY;
}

void text_release(text *t) {
    free(t->data);
    t->data = NULL;
    t->length = t->capacity = 0;
}

void text_clear(text *t) {
    t->length = 0;
    t->data[0] = '\0';
}

/* Room for `extra` more bytes and the NUL. */
static void reserve(text *t, size_t extra) {
    size_t need = t->length + extra + 1;
    if (need <= t->capacity)
        return;
    t->capacity = t->capacity * 2 > need ? t->capacity * 2 : need;
    t->data = base_realloc(t->data, t->capacity);
}

void text_append_bytes(text *t, const void *bytes, size_t length) {
    if (length == 0)
        return;
    reserve(t, length);
    memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void text_append(text *t, const char *string) {
    text_append_bytes(t, string, strlen(string));
}

void text_append_char(text *t, char c) {
    text_append_bytes(t, &c, 1);
}

void text_append_integer(text *t, int64_t value) {
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        digits[--at] = '-';
    text_append_bytes(t, digits + at, sizeof digits - at);
}

/* Once more only where there was no room. */
void text_vprintf(text *t, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    const size_t room = t->capacity - t->length;
    const int length = vsnprintf(t->data + t->length, room, format, args);
    if (length >= 0 && (size_t)length >= room) {
        reserve(t, (size_t)length);
        vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
    }
    t->length += length > 0 ? (size_t)length : 0;
    t->data[t->length] = '\0';
    va_end(again);
}

void text_append_base64(text *t, const void *bytes, size_t size_bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { GROUP = 3 };
    const unsigned char *from = bytes;
    for (size_t i = 0; i < size_bytes; i += GROUP) {
        size_t left = size_bytes - i;
        unsigned group = (unsigned)from[i] << 16 | (left > 1 ? (unsigned)from[i + 1] << 8 : 0) |
                         (left > 2 ? from[i + 2] : 0u);
        char four[4] = {digits[group >> 18], digits[group >> 12 & 63],
                        left > 1 ? digits[group >> 6 & 63] : '=',
                        left > 2 ? digits[group & 63] : '='};
        text_append_bytes(t, four, sizeof four);
    }
}

void text_append_quoted(text *t, const char *word) {
    text_append_char(t, '\'');
    for (; *word; word++)
        if (*word == '\'')
            text_append(t, "'\\''");
        else
            text_append_char(t, *word);
    text_append_char(t, '\'');
}

void text_printf(text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(t, format, args);
    va_end(args);
}

char *text_take(text *t) {
    char *string = t->data;
    text_init(t);
    return string;
}
