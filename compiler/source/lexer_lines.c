/* lexer_lines.c - lines, indentation and brackets left open: the frame around the tokens. */
#include <string.h>

#include "source/lexer_state.h"

enum { PYTHON_TAB = 8 };

/* Width of the blanks at the line's start; mixed tabs and spaces are refused, as their width is a
 * matter of taste. */
static uint32_t measure_indent(lexer *l) {
    uint32_t width = 0, start = l->at;
    bool tabs = false, spaces = false;
    for (; lexer_peek(l, 0) == ' ' || lexer_peek(l, 0) == '\t'; l->at++) {
        bool tab = lexer_peek(l, 0) == '\t';
        tabs |= tab;
        spaces |= !tab;
        width += tab ? PYTHON_TAB - width % PYTHON_TAB : 1;
    }
    int c = lexer_peek(l, 0);
    if (tabs && spaces && c != '#' && c != '\n' && c != '\r') {
        diagnose_error(l->report, ERROR_MIXED_INDENTATION, (span){start, l->at},
                       "tabs and spaces are mixed in this indentation");
        diagnose_help(l->report, "indent with four spaces");
    }
    return width;
}

static bool blank_line(const lexer *l) {
    int c = lexer_peek(l, 0);
    return c == '\n' || c == '#' || c == -1 || (c == '\r' && lexer_peek(l, 1) == '\n');
}

static uint32_t current_indent(const lexer *l) {
    return l->indents.count ? l->indents.items[l->indents.count - 1] : 0;
}

static void begin_line(lexer *l) {
    uint32_t start = l->at, width = measure_indent(l);
    if (blank_line(l))
        return;
    if (width > current_indent(l)) {
        vec_push(&l->indents, width);
        lexer_push(l, TOKEN_INDENT, start, l->at, NULL);
    }
    while (width < current_indent(l)) {
        uint32_t outer = l->indents.count > 1 ? l->indents.items[l->indents.count - 2] : 0;
        if (width > outer) {
            diagnose_error(l->report, ERROR_DEDENT, (span){start, l->at},
                           "this indentation matches no enclosing block");
            l->indents.items[l->indents.count - 1] = width;
            return;
        }
        l->indents.count--;
        lexer_push(l, TOKEN_DEDENT, l->at, l->at, NULL);
    }
}

static void end_line(lexer *l) {
    token_kind last = l->tokens.count ? l->tokens.items[l->tokens.count - 1].kind : TOKEN_NEWLINE;
    if (last != TOKEN_NEWLINE && last != TOKEN_INDENT && last != TOKEN_DEDENT)
        lexer_push(l, TOKEN_NEWLINE, l->at, l->at, NULL);
}

/* Leaves out what follows the bracket: whatever it is, it is not what the bracket was meant to
 * hold. */
static void drop_open_bracket(lexer *l) {
    uint32_t open = l->brackets.items[0];
    diagnose_error(l->report, ERROR_UNCLOSED_BRACKET, (span){open, open + 1},
                   "'%c' is never closed", l->source->data[open]);
    vec_clear(&l->brackets);
    while (l->tokens.count > 0 && l->tokens.items[l->tokens.count - 1].at.start >= open)
        l->tokens.count--;
    lexer_push(l, TOKEN_NEWLINE, open, open, NULL);
}

/* A definition at the start of a line cannot be inside brackets: one was left open above. */
static bool starts_definition(const lexer *l) {
    static const char *const starts[] = {"def ", "@kernel", "@cases", "from tessera"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        size_t n = strlen(starts[i]);
        if (n <= l->end - l->at && memcmp(l->source->data + l->at, starts[i], n) == 0)
            return true;
    }
    return false;
}

static bool continues_line(lexer *l) {
    uint32_t skip = lexer_peek(l, 1) == '\r' ? 2 : 1;
    if (lexer_peek(l, 0) != '\\' || lexer_peek(l, skip) != '\n')
        return false;
    l->at += skip + 1;
    return true;
}

static void newline(lexer *l) {
    if (l->brackets.count == 0)
        end_line(l);
    l->at++;
    if (l->brackets.count > 0 && starts_definition(l))
        drop_open_bracket(l);
    if (l->brackets.count == 0)
        begin_line(l);
}

static void refuse_broken_utf8(lexer *l) {
    const unsigned char *p = (const unsigned char *)l->source->data;
    for (uint32_t i = l->at; i < l->end;) {
        uint32_t n = p[i] < 0x80    ? 1
                     : p[i] >= 0xF5 ? 0
                     : p[i] >= 0xF0 ? 4
                     : p[i] >= 0xE0 ? 3
                     : p[i] >= 0xC2 ? 2
                                    : 0;
        bool good = n > 0 && n <= l->end - i;
        for (uint32_t k = 1; good && k < n; k++)
            good = (p[i + k] & 0xC0) == 0x80;
        bool overlong =
            good && ((p[i] == 0xE0 && p[i + 1] < 0xA0) || (p[i] == 0xF0 && p[i + 1] < 0x90));
        bool beyond =
            good && ((p[i] == 0xED && p[i + 1] > 0x9F) || (p[i] == 0xF4 && p[i + 1] > 0x8F));
        if (!good || overlong || beyond) {
            diagnose_error(l->report, ERROR_CHARACTER, (span){i, i + 1},
                           "byte 0x%02x is not valid UTF-8", p[i]);
            return;
        }
        i += n;
    }
}

token_list lex_source(const source_text *source, span part, arena *a, diagnostics *d) {
    lexer l = {.source = source, .memory = a, .report = d, .at = part.start, .end = part.end};
    refuse_broken_utf8(&l);
    if (part.end - part.start >= 3 && memcmp(source->data + part.start, "\xEF\xBB\xBF", 3) == 0)
        l.at += 3;
    begin_line(&l);
    while (l.at < l.end)
        if (lexer_peek(&l, 0) == '\n')
            newline(&l);
        else if (!continues_line(&l))
            lexer_step(&l);
    if (l.brackets.count > 0)
        drop_open_bracket(&l);
    end_line(&l);
    while (l.indents.count > 0) {
        l.indents.count--;
        lexer_push(&l, TOKEN_DEDENT, l.end, l.end, NULL);
    }
    return lexer_finish(&l);
}
