/* escape.c - see escape.h. */
#include "base/escape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- UTF-8 ---- */

/* The character at `p`, of at most `left` bytes, and its length; -1 and 1 where there is none
 * (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
static int32_t decode(const char *p, size_t left, size_t *length_out) {
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *u = (const unsigned char *)p;
    size_t length = u[0] < 0x80 ? 1 : u[0] >= 0xF0 ? 4 : u[0] >= 0xE0 ? 3 : 2;
    *length_out = 1;
    if (length == 1)
        return u[0];
    if (u[0] < 0xC2 || u[0] > 0xF4 || length > left)
        return -1;
    int32_t code = u[0] & (0x7F >> length);
    for (size_t i = 1; i < length; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return -1;
        code = code << 6 | (u[i] & 0x3F);
    }
    if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return -1;
    *length_out = length;
    return code;
}

bool text_is_utf8(const char *bytes, size_t length) {
    for (size_t i = 0, step; i < length; i += step)
        if (decode(bytes + i, length - i, &step) < 0)
            return false;
    return true;
}

size_t text_utf8_cut(const char *bytes, size_t length) {
    enum { LONGEST = 4 };
    for (size_t back = 1; back < LONGEST && back <= length; back++) {
        unsigned char c = (unsigned char)bytes[length - back];
        size_t wanted = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
        if ((c & 0xC0) != 0x80)
            return wanted > back ? length - back : length;
    }
    return length;
}

void text_append_utf8(text *out, const char *bytes, size_t length) {
    for (size_t i = 0, step; i < length; i += step)
        if (decode(bytes + i, length - i, &step) < 0)
            text_printf(out, "\\x%02x", (unsigned char)bytes[i]);
        else
            text_append_bytes(out, bytes + i, step);
}

/* ---- what may be shown ---- */

/* Beyond ASCII: C1, marks of direction, invisible characters, separators of lines, tags, and what
 * is no character. */
static bool is_hidden(int32_t code) {
    static const struct {
        int32_t first, last;
    } hidden[] = {{0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},    {0x180E, 0x180E},
                  {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},  {0xFEFF, 0xFEFF},
                  {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF}};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

/* "##[" and "##word", which some CI systems obey anywhere in a line. */
static bool is_order(const char *p, size_t left) {
    if (left < 3 || p[0] != '#' || p[1] != '#')
        return false;
    return p[2] == '[' || (p[2] >= 'a' && p[2] <= 'z') || (p[2] >= 'A' && p[2] <= 'Z');
}

/* "::" after nothing but blanks. */
static bool begins_order(const char *p, size_t left) {
    return left >= 2 && p[0] == ':' && p[1] == ':';
}

static void append_escape(text *out, const char *p, int32_t code) {
    switch (code) {
    case '\n':
        text_append(out, "\\n");
        return;
    case '\t':
        text_append(out, "\\t");
        return;
    case '\r':
        text_append(out, "\\r");
        return;
    default:
        if (code < 0x80)
            text_printf(out, "\\x%02x", (unsigned)(unsigned char)*p);
        else
            text_printf(out, code > 0xFFFF ? "\\U%08x" : "\\u%04x", (unsigned)code);
    }
}

void text_escape(text *out, const char *bytes, size_t length, size_t most) {
    bool at_start = true;
    size_t end = out->length + most;
    for (size_t i = 0, step; i < length; i += step) {
        if (out->length >= end) {
            text_printf(out, "...(%zu bytes)", length);
            return;
        }
        int32_t code = decode(bytes + i, length - i, &step);
        bool order =
            is_order(bytes + i, length - i) || (at_start && begins_order(bytes + i, length - i));
        at_start = at_start && code == ' ';
        if (code < 0x20 || order || is_hidden(code))
            append_escape(out, bytes + i, code);
        else
            text_append_bytes(out, bytes + i, step);
    }
}

void text_show_lines(text *out, const char *indent, const char *words) {
    size_t whole = strlen(words);
    const char *end =
        words + (whole > TEXT_SHOWN_BYTES_MAX ? text_utf8_cut(words, TEXT_SHOWN_BYTES_MAX) : whole);
    for (;;) {
        const char *newline = memchr(words, '\n', (size_t)(end - words));
        const char *stop = newline ? newline : end;
        text_escape(out, words, (size_t)(stop - words), SIZE_MAX / 2);
        if (!newline || newline + 1 == end)
            break;
        words = newline + 1;
        text_append_char(out, '\n');
        text_append(out, indent);
    }
    if (*end)
        text_printf(out, "...(%zu bytes)", whole);
}

/* ESC [ digits and semicolons m; 0 where it is something else. */
static size_t colour_length(const char *p, size_t left) {
    if (left < 3 || p[0] != '\033' || p[1] != '[')
        return 0;
    size_t i = 2;
    while (i < left && ((p[i] >= '0' && p[i] <= '9') || p[i] == ';'))
        i++;
    return i < left && p[i] == 'm' ? i + 1 : 0;
}

void text_screen(text *out, const char *bytes, size_t length) {
    bool at_start = true;
    for (size_t i = 0, step; i < length; i += step) {
        int32_t code = decode(bytes + i, length - i, &step);
        size_t colour = colour_length(bytes + i, length - i);
        bool order =
            is_order(bytes + i, length - i) || (at_start && begins_order(bytes + i, length - i));
        bool kept = code == '\n' || code == '\t';
        step = colour ? colour : step;
        at_start = code == '\n' || (at_start && (code == ' ' || colour));
        if (!kept && !colour && (code < 0x20 || order || is_hidden(code)))
            append_escape(out, bytes + i, code);
        else
            text_append_bytes(out, bytes + i, step);
    }
}

void text_screen_json(text *out, const char *json, size_t length) {
    for (size_t i = 0, step; i < length; i += step) {
        int32_t code = decode(json + i, length - i, &step);
        if (code > 0xFFFF && is_hidden(code))
            text_printf(out, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (code >> 10)),
                        (unsigned)(0xDC00 | (code & 0x3FF)));
        else if (code >= 0 && (is_hidden(code) || is_order(json + i, length - i)))
            text_printf(out, "\\u%04x", (unsigned)code);
        else
            text_append_bytes(out, json + i, step);
    }
}
