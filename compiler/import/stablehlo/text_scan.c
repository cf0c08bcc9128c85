/* text_scan.c - characters of MLIR's text: words, numbers, strings, brackets, and aliases, which
 * may be defined behind their use. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/text_reader.h"

static bool report(text_reader *r, const char *place, const char *format, va_list args) {
    if (r->failed)
        return false;
    r->failed = true;
    unsigned line = 1;
    const char *start = r->begin;
    for (const char *p = r->begin; p < place; p++)
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    char message[512];
    vsnprintf(message, sizeof message, format, args);
    return status_set(r->st, STATUS_INVALID, "line %u column %ld: %s", line,
                      (long)(place - start) + 1, message);
}

bool reader_fail_at(text_reader *r, const char *place, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(r, place, format, args);
    va_end(args);
    return false;
}

bool reader_fail(text_reader *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(r, r->p, format, args);
    va_end(args);
    return false;
}

void reader_blanks(text_reader *r) {
    for (;;) {
        while (r->p < r->end && isspace((unsigned char)*r->p))
            r->p++;
        if (r->p[0] != '/' || r->p[1] != '/')
            return;
        while (r->p < r->end && *r->p != '\n')
            r->p++;
    }
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '-';
}

bool reader_peek(text_reader *r, const char *token) {
    reader_blanks(r);
    const size_t n = strlen(token);
    return !r->failed && strncmp(r->p, token, n) == 0 &&
           !(isalpha((unsigned char)token[n - 1]) && is_word(r->p[n]));
}

bool reader_take(text_reader *r, const char *token) {
    if (!reader_peek(r, token))
        return false;
    r->p += strlen(token);
    return true;
}

bool reader_need(text_reader *r, const char *token) {
    if (reader_take(r, token))
        return true;
    const size_t left = (size_t)(r->end - r->p), shown = strcspn(r->p, " \n\t");
    if (left == 0)
        return reader_fail(r, "'%s' is missing, and the text ends here", token);
    return reader_fail(r, "expected '%s', found '%.*s'", token, (int)(shown < 24 ? shown : 24),
                       r->p);
}

size_t reader_word(text_reader *r, const char **out) {
    reader_blanks(r);
    *out = r->p;
    if (r->failed || !(isalpha((unsigned char)*r->p) || *r->p == '_'))
        return 0;
    while (is_word(*r->p))
        r->p++;
    /* An arrow behind a word is none of it. */
    while (r->p > *out && r->p[-1] == '-')
        r->p--;
    return (size_t)(r->p - *out);
}

bool reader_integer(text_reader *r, int64_t *out) {
    reader_blanks(r);
    const bool negative = *r->p == '-';
    const char *digits = r->p + negative;
    if (r->failed || !isdigit((unsigned char)*digits))
        return reader_fail(r, "expected an integer");
    const bool hex = digits[0] == '0' && digits[1] == 'x' && isxdigit((unsigned char)digits[2]);
    char *end;
    errno = 0;
    const uint64_t n = strtoull(digits, &end, hex ? 16 : 10);
    const uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX;
    if (errno || n > limit)
        return reader_fail(r, "an integer that does not fit 64 bits");
    *out = negative ? (int64_t)(0 - n) : (int64_t)n;
    r->p = end;
    return true;
}

bool reader_number(text_reader *r, double *out) {
    char *end;
    reader_blanks(r);
    *out = strtod(r->p, &end);
    if (end == r->p)
        return reader_fail(r, "expected a number");
    r->p = end;
    return true;
}

/* ---- strings ---- */

static int hex_digit(char c) {
    if (!isxdigit((unsigned char)c))
        return -1;
    return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* One character behind a backslash, or two hexadecimal digits. */
static bool escape(text_reader *r, char *out) {
    static const char letters[] = "n\nt\tr\r\"\"\\\\";
    for (const char *l = letters; *l; l += 2)
        if (*r->p == l[0]) {
            *out = l[1];
            r->p++;
            return true;
        }
    const int high = hex_digit(r->p[0]), low = high < 0 ? -1 : hex_digit(r->p[1]);
    if (low < 0)
        return reader_fail(r, "a backslash with no meaning");
    *out = (char)(high * 16 + low);
    r->p += 2;
    return true;
}

const char *reader_string(text_reader *r, size_t *length) {
    if (!reader_need(r, "\""))
        return NULL;
    size_t n = 0;
    const char *quote = r->p;
    while (quote < r->end && *quote != '"')
        quote += *quote == '\\' && quote + 1 < r->end ? 2 : 1;
    if (quote >= r->end) {
        reader_fail(r, "a string that does not end");
        return NULL;
    }
    char *out = ARENA_NEW(&r->m->memory, char, quote - r->p + 1);
    while (r->p < quote) {
        if (*r->p != '\\') {
            out[n++] = *r->p++;
        } else {
            r->p++;
            if (!escape(r, &out[n++]))
                return NULL;
        }
    }
    r->p = quote + 1;
    *length = n;
    return out;
}

const char *reader_symbol(text_reader *r) {
    size_t length;
    const char *name;
    if (!reader_need(r, "@"))
        return NULL;
    if (*r->p == '"')
        return reader_string(r, &length);
    length = reader_word(r, &name);
    if (length == 0) {
        reader_fail(r, "expected a name behind '@'");
        return NULL;
    }
    return arena_strndup(&r->m->memory, name, length);
}

bool reader_skip_brackets(text_reader *r) {
    int open = 0;
    reader_blanks(r);
    const char *start = r->p;
    do {
        if (r->p >= r->end)
            return reader_fail_at(r, start, "a bracket that is not closed");
        if (*r->p == '"') {
            size_t length;
            if (!reader_string(r, &length))
                return false;
            continue;
        }
        if (strchr("<([{", *r->p))
            open++;
        else if (*r->p == '>' && r->p[-1] == '-') /* an arrow */
            ;
        else if (strchr(">)]}", *r->p))
            open--;
        r->p++;
    } while (open > 0);
    return true;
}

/* ---- aliases ---- */

void reader_find_aliases(text_reader *r) {
    const char *line = r->begin;
    while (line < r->end) {
        if (*line == '#' || *line == '!') {
            const char *name_end = line + 1;
            while (is_word(*name_end))
                name_end++;
            const char *p = name_end;
            while (*p == ' ')
                p++;
            if (*p == '=') {
                char *name = arena_strndup(&r->m->memory, line, (size_t)(name_end - line));
                map_put(&r->aliases, name, p + 1 - r->begin);
            }
        }
        const char *next = memchr(line, '\n', (size_t)(r->end - line));
        line = next ? next + 1 : r->end;
    }
}

const void *reader_known_alias(text_reader *r, const char *name, size_t length) {
    intptr_t found;
    char *key = arena_strndup(&r->m->memory, name, length);
    return map_get(&r->known, key, &found) ? (const void *)found : NULL;
}

void reader_keep_alias(text_reader *r, const char *name, size_t length, const void *value) {
    if (value && !r->failed)
        map_put(&r->known, arena_strndup(&r->m->memory, name, length), (intptr_t)value);
}

const char *reader_enter_alias(text_reader *r, const char *name, size_t length) {
    intptr_t offset;
    char *key = arena_strndup(&r->m->memory, name, length);
    if (!map_get(&r->aliases, key, &offset)) {
        reader_fail_at(r, name, "'%.60s' is not defined", key);
        return NULL;
    }
    const char *back = r->p;
    r->p = r->begin + offset;
    return back;
}

bool reader_deeper(text_reader *r) {
    if (r->depth < SHLO_DEPTH_MAX) {
        r->depth++;
        return true;
    }
    return reader_fail(r, "more than %d levels of nesting", SHLO_DEPTH_MAX);
}

void reader_higher(text_reader *r) {
    r->depth--;
}
