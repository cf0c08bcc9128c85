/* lexer.c - names, strings, symbols, lines and indentation; numbers are in lexer_number.c. */
#include "source/lexer.h"

#include <ctype.h>
#include <string.h>

#include "source/lexer_state.h"

static const char *const keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",
};

bool lexer_is_keyword(const char *word) {
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
        if (strcmp(keywords[i], word) == 0)
            return true;
    return false;
}

void lexer_push(lexer *l, token_kind kind, uint32_t start, uint32_t end, const char *word) {
    token t = {.kind = kind, .at = {start, end}, .text = word};
    vec_push(&l->tokens, t);
}

static void lex_name(lexer *l) {
    uint32_t start = l->at;
    while (isalnum(lexer_peek(l, 0)) || lexer_peek(l, 0) == '_')
        l->at++;
    const char *word = arena_strndup(l->memory, l->source->data + start, l->at - start);
    lexer_push(l, lexer_is_keyword(word) ? TOKEN_KEYWORD : TOKEN_NAME, start, l->at, word);
}

/* ---- strings ---- */

static bool at_triple(const lexer *l, int quote) {
    return lexer_peek(l, 0) == quote && lexer_peek(l, 1) == quote && lexer_peek(l, 2) == quote;
}

static void append_escape(lexer *l, text *out) {
    static const char from[] = "nt\\'\"", to[] = "\n\t\\'\"";
    int c = lexer_peek(l, 1);
    const char *found = c > 0 ? strchr(from, c) : NULL;
    if (c == '\r' && lexer_peek(l, 2) == '\n') {
        l->at++;
    } else if (found) {
        text_append_char(out, to[found - from]);
    } else if (c != '\n') {
        diagnose_error(l->report, ERROR_STRING_ESCAPE, (span){l->at, l->at + 2},
                       "unknown escape in a string");
        diagnose_help(l->report, "\\n, \\t, \\\\, \\' and \\\" are known");
    }
    l->at += l->at + 2 <= l->end ? 2 : 1;
}

/* Up to and past the closing quotes; false when the line or the file ends first. */
static bool lex_string_body(lexer *l, int quote, bool triple, text *out) {
    while (l->at < l->end) {
        int c = lexer_peek(l, 0);
        if (c == quote && (!triple || at_triple(l, quote))) {
            l->at += triple ? 3 : 1;
            return true;
        }
        if (c == '\n' && !triple)
            return false;
        if (c == '\\') {
            append_escape(l, out);
            continue;
        }
        text_append_char(out, (char)c);
        l->at++;
    }
    return false;
}

static void lex_string(lexer *l) {
    uint32_t start = l->at;
    int quote = lexer_peek(l, 0);
    bool triple = at_triple(l, quote);
    l->at += triple ? 3 : 1;
    text body;
    text_init(&body);
    if (!lex_string_body(l, quote, triple, &body)) {
        diagnose_error(l->report, ERROR_UNTERMINATED_STRING,
                       (span){start, start + (triple ? 3 : 1)}, "this string has no closing quote");
    }
    lexer_push(l, TOKEN_STRING, start, l->at, arena_strdup(l->memory, body.data));
    text_release(&body);
}

/* r"", b"", f"" and their like: a name followed directly by a quote. */
static bool refuse_prefix(lexer *l) {
    token last = l->tokens.items[l->tokens.count - 1];
    int c = lexer_peek(l, 0);
    if (last.at.end - last.at.start > 2 || (c != '"' && c != '\''))
        return false;
    diagnose_error(l->report, ERROR_STRING_PREFIX, last.at,
                   "string prefix '%s' is not part of the tile language", last.text);
    diagnose_help(l->report, "write a plain string");
    l->tokens.count--;
    lex_string(l);
    return true;
}

/* ---- symbols and brackets ---- */

static uint32_t symbol_here(const lexer *l, uint32_t *length) {
    static const char *const longest_first[] = {
        "**=", "//=", "<<=", ">>=", "...", "->", ":=", "==", "!=", "<=", ">=", "**",
        "//",  "<<",  ">>",  "+=",  "-=",  "*=", "/=", "@=", "%=", "&=", "|=", "^=",
        "+",   "-",   "*",   "/",   "%",   "@",  "&",  "|",  "^",  "~",  "<",  ">",
        "(",   ")",   "[",   "]",   "{",   "}",  ",",  ":",  ".",  ";",  "=",
    };
    for (size_t i = 0; i < sizeof(longest_first) / sizeof(longest_first[0]); i++) {
        const char *s = longest_first[i];
        if (*s != l->source->data[l->at])
            continue;
        *length = (uint32_t)strlen(s);
        if (*length <= l->end - l->at && memcmp(s, l->source->data + l->at, *length) == 0) {
            uint32_t code = 0;
            for (uint32_t k = 0; k < *length; k++)
                code |= (uint32_t)(unsigned char)s[k] << (8 * k);
            return code;
        }
    }
    return 0;
}

static int closing_of(int open) {
    return open == '(' ? ')' : open == '[' ? ']' : '}';
}

static void close_bracket(lexer *l, int c) {
    span at = {l->at, l->at + 1};
    if (l->brackets.count == 0) {
        diagnose_error(l->report, ERROR_UNMATCHED_BRACKET, at, "'%c' has no opening bracket", c);
        return;
    }
    uint32_t open = vec_pop(&l->brackets);
    if (closing_of(l->source->data[open]) != c) {
        diagnose_error(l->report, ERROR_UNMATCHED_BRACKET, at, "'%c' does not close '%c'", c,
                       l->source->data[open]);
        diagnose_note(l->report, (span){open, open + 1}, "opened here");
    }
}

static void lex_symbol(lexer *l) {
    uint32_t length = 0, code = symbol_here(l, &length);
    int c = lexer_peek(l, 0);
    if (code == 0) {
        lexer_refuse_byte(l);
        return;
    }
    if (c == '(' || c == '[' || c == '{')
        vec_push(&l->brackets, l->at);
    else if (c == ')' || c == ']' || c == '}')
        close_bracket(l, c);
    lexer_push(l, TOKEN_SYMBOL, l->at, l->at + length, NULL);
    l->tokens.items[l->tokens.count - 1].symbol = code;
    l->at += length;
}

void lexer_refuse_byte(lexer *l) {
    unsigned char c = (unsigned char)l->source->data[l->at];
    uint32_t end = l->at + 1;
    while (end < l->end && ((unsigned char)l->source->data[end] & 0xC0) == 0x80)
        end++;
    span at = {l->at, end};
    if (c == 0) {
        diagnose_error(l->report, ERROR_CHARACTER, at, "a NUL byte cannot be part of a source");
    } else if (c < 0x80 && isprint(c)) {
        diagnose_error(l->report, ERROR_CHARACTER, at, "'%c' is not part of the tile language", c);
    } else if (c < 0x80) {
        diagnose_error(l->report, ERROR_CHARACTER, at,
                       "control character 0x%02x cannot be part of a source", c);
    } else {
        diagnose_error(l->report, ERROR_CHARACTER, at,
                       "only ASCII is allowed outside strings and comments");
    }
    l->at = end;
}

/* ---- one token, without lines ---- */

static void skip_comment(lexer *l) {
    while (l->at < l->end && lexer_peek(l, 0) != '\n')
        l->at++;
}

void lexer_step(lexer *l) {
    int c = lexer_peek(l, 0);
    if (c == ' ' || c == '\t' || (c == '\r' && lexer_peek(l, 1) == '\n')) {
        l->at++;
    } else if (c == '#') {
        skip_comment(l);
    } else if (isalpha(c) || c == '_') {
        lex_name(l);
        refuse_prefix(l);
    } else if (isdigit(c) || (c == '.' && isdigit(lexer_peek(l, 1)))) {
        lex_number(l);
    } else if (c == '"' || c == '\'') {
        lex_string(l);
    } else {
        lex_symbol(l);
    }
}

token_list lexer_finish(lexer *l) {
    lexer_push(l, TOKEN_END, l->end, l->end, NULL);
    token_list list = {.count = (uint32_t)l->tokens.count};
    list.items = arena_copy(l->memory, l->tokens.items, l->tokens.count * sizeof(token));
    vec_release(&l->tokens);
    vec_release(&l->brackets);
    vec_release(&l->indents);
    return list;
}

token_list lex_expression(const source_text *source, span part, arena *a, diagnostics *d) {
    lexer l = {.source = source, .memory = a, .report = d, .at = part.start, .end = part.end};
    while (l.at < l.end)
        if (lexer_peek(&l, 0) == '\n')
            l.at++;
        else
            lexer_step(&l);
    return lexer_finish(&l);
}
