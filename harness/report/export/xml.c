/* xml.c - escapes. */
#include "report/export/xml.h"

#include <string.h>

#include "report/export/export.h"

static const char replacement[] = "\xEF\xBF\xBD";

/* Escape of a byte that cannot stand as it is; NULL where it can. */
static const char *escape_of(char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return (unsigned char)c < 0x20 || c == 0x7F ? replacement : NULL;
    }
}

/* U+FFFE and U+FFFF are no characters of XML. */
static bool is_noncharacter(const char *p) {
    return strncmp(p, "\xEF\xBF\xBE", 3) == 0 || strncmp(p, "\xEF\xBF\xBF", 3) == 0;
}

static void escaped(const char *foreign, const char *as_they_are, text *out) {
    text words;
    text_init(&words);
    export_words(foreign, &words);
    for (const char *p = words.data; *p; p++) {
        const char *instead = strchr(as_they_are, *p) ? NULL : escape_of(*p);
        if (is_noncharacter(p)) {
            text_append(out, replacement);
            p += 2;
        } else if (instead) {
            text_append(out, instead);
        } else {
            text_append_char(out, *p);
        }
    }
    text_release(&words);
}

void xml_text(const char *words, text *out) {
    escaped(words, "\t\n\"", out);
}

void xml_attribute(const char *name, const char *value, text *out) {
    text_printf(out, " %s=\"", name);
    escaped(value, "", out);
    text_append_char(out, '"');
}
