/* escape_format.c - text_show: a format whose %s are escaped. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

/* A column that is as wide as its longest name is not wider than this. */
enum { WIDTH_MOST = 256 };

/* One conversion of a format, e.g. "%-12.3f". */
typedef struct conversion {
    char flags[8];
    int width, precision; /* negative: none */
    char length[3];       /* "", "h", "ll", "z", ... */
    char letter;
} conversion;

typedef struct arguments {
    va_list list;
} arguments;

static int read_number(const char **p, arguments *args) {
    if (**p == '*') {
        ++*p;
        return va_arg(args->list, int);
    }
    char *end;
    long number = strtol(*p, &end, 10);
    *p = end;
    return (int)number;
}

/* Reads what follows '%'; returns what follows the conversion. */
static const char *read_conversion(const char *p, conversion *c, arguments *args) {
    size_t count = strspn(p, "-+ #0");
    *c = (conversion){.width = -1, .precision = -1};
    memcpy(c->flags, p, count < sizeof c->flags ? count : sizeof c->flags - 1);
    p += count;
    if (*p == '*' || (*p >= '0' && *p <= '9'))
        c->width = read_number(&p, args);
    if (c->width > WIDTH_MOST)
        c->width = WIDTH_MOST;
    if (c->width < -1) {
        strcpy(c->flags, "-");
        c->width = -c->width;
    }
    if (*p == '.') {
        p++;
        c->precision = *p == '*' || (*p >= '0' && *p <= '9') ? read_number(&p, args) : 0;
    }
    count = strspn(p, "hljztL");
    memcpy(c->length, p, count < sizeof c->length ? count : sizeof c->length - 1);
    p += count;
    c->letter = *p;
    return *p ? p + 1 : p;
}

/* Columns, if each character takes one. */
static size_t columns_of(const char *bytes, size_t length) {
    size_t columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return columns;
}

static void show_string(text *out, const conversion *c, const char *string) {
    size_t most = TEXT_SHOWN_BYTES_MAX, length;
    text shown;
    string = string ? string : "(null)";
    length = c->precision >= 0 ? strnlen(string, (size_t)c->precision) : strlen(string);
    if (c->precision >= 0)
        length = text_utf8_cut(string, length);
    text_init(&shown);
    text_escape(&shown, string, length, most);
    size_t columns = columns_of(shown.data, shown.length);
    size_t missing = c->width > 0 && (size_t)c->width > columns ? (size_t)c->width - columns : 0;
    bool left = strchr(c->flags, '-') != NULL;
    if (left)
        text_append_bytes(out, shown.data, shown.length);
    for (size_t i = 0; i < missing; i++)
        text_append_char(out, ' ');
    if (!left)
        text_append_bytes(out, shown.data, shown.length);
    text_release(&shown);
}

/* The conversion as a format of its own, with `length` for its length. */
static void spell(const conversion *c, const char *length, char spelling[64]) {
    char width[16] = "", precision[16] = "";
    if (c->width >= 0)
        snprintf(width, sizeof width, "%d", c->width);
    if (c->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", c->precision);
    snprintf(spelling, 64, "%%%s%s%s%s%c", c->flags, width, precision, length, c->letter);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void show_integer(text *out, const conversion *c, arguments *args) {
    char spelling[64];
    bool is_signed = c->letter == 'd' || c->letter == 'i';
    intmax_t number;
    if (c->length[0] == 'l' && c->length[1] == 'l')
        number = (intmax_t)va_arg(args->list, long long);
    else if (c->length[0] == 'l' || c->length[0] == 'z' || c->length[0] == 't' ||
             c->length[0] == 'j')
        number = (intmax_t)va_arg(args->list, long);
    else if (is_signed)
        number = va_arg(args->list, int);
    else
        number = (intmax_t)va_arg(args->list, unsigned);
    spell(c, "j", spelling);
    text_printf(out, spelling, number);
}

static void show_floating(text *out, const conversion *c, arguments *args) {
    char spelling[64];
    spell(c, c->length[0] == 'L' ? "L" : "", spelling);
    if (c->length[0] == 'L')
        text_printf(out, spelling, va_arg(args->list, long double));
    else
        text_printf(out, spelling, va_arg(args->list, double));
}

#pragma GCC diagnostic pop

static void show_one(text *out, const conversion *c, arguments *args) {
    char letter[2] = "";
    switch (c->letter) {
    case '%':
        text_append_char(out, '%');
        return;
    case 's':
        show_string(out, c, va_arg(args->list, const char *));
        return;
    case 'c':
        letter[0] = (char)va_arg(args->list, int);
        show_string(out, c, letter);
        return;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        show_integer(out, c, args);
        return;
    default:
        assert(strchr("eEfFgGaA", c->letter));
        show_floating(out, c, args);
        return;
    }
}

void text_vshow(text *out, const char *format, va_list list) {
    arguments args;
    va_copy(args.list, list);
    while (*format) {
        size_t plain = strcspn(format, "%");
        text_append_bytes(out, format, plain);
        format += plain;
        if (*format) {
            conversion c;
            format = read_conversion(format + 1, &c, &args);
            show_one(out, &c, &args);
        }
    }
    va_end(args.list);
}

void text_show(text *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vshow(out, format, args);
    va_end(args);
}
