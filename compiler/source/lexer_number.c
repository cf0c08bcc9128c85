/* lexer_number.c - integer and float literals, with Python's underscores and prefixes. */
#include <ctype.h>
#include <string.h>

#include "source/lexer_state.h"

/* Everything that a reader would take for one number, right or wrong: 1e-5, 0x1F, 12abc. */
static void scan_number(lexer *l) {
    bool hexadecimal = lexer_peek(l, 0) == '0' && tolower(lexer_peek(l, 1)) == 'x';
    while (l->at < l->end) {
        int c = lexer_peek(l, 0), next = lexer_peek(l, 1);
        if (!hexadecimal && (c == 'e' || c == 'E') && (next == '+' || next == '-'))
            l->at += 2;
        else if (isalnum(c) || c == '_' || c == '.')
            l->at++;
        else
            return;
    }
}

static const char *without_underscores(lexer *l, uint32_t start, bool *misplaced) {
    char *out = arena_alloc(l->memory, l->at - start + 1);
    size_t length = 0;
    for (uint32_t i = start; i < l->at; i++) {
        char c = l->source->data[i];
        if (c != '_')
            out[length++] = c;
        else if (i + 1 == l->at || !isalnum((unsigned char)l->source->data[i + 1]) ||
                 !isalnum((unsigned char)l->source->data[i - 1]))
            *misplaced = true;
    }
    return out;
}

static bool all_of(const char *digits, const char *set) {
    return digits[0] && digits[strspn(digits, set)] == 0;
}

static bool is_integer_text(const char *s) {
    if (s[0] == '0' && s[1]) {
        char p = (char)tolower((unsigned char)s[1]);
        return p == 'x'   ? all_of(s + 2, "0123456789abcdefABCDEF")
               : p == 'o' ? all_of(s + 2, "01234567")
               : p == 'b' ? all_of(s + 2, "01")
                          : all_of(s, "0");
    }
    return all_of(s, "0123456789");
}

static bool is_float_text(const char *s) {
    size_t whole = strspn(s, "0123456789");
    const char *p = s + whole;
    size_t fraction = 0;
    if (*p == '.') {
        fraction = strspn(p + 1, "0123456789");
        p += 1 + fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        return all_of(p, "0123456789");
    }
    return *p == 0 && strchr(s, '.') != NULL;
}

void lex_number(lexer *l) {
    uint32_t start = l->at;
    bool misplaced = false;
    scan_number(l);
    const char *digits = without_underscores(l, start, &misplaced);
    bool integer = is_integer_text(digits);
    if (misplaced || (!integer && !is_float_text(digits))) {
        diagnose_error(l->report, ERROR_NUMBER, (span){start, l->at}, "'%.60s' is not a number",
                       digits);
        diagnose_help(l->report, "numbers look like 42, 0x2a, 1.5 or 1e-5");
        digits = "0";
        integer = true;
    }
    lexer_push(l, integer ? TOKEN_INT : TOKEN_FLOAT, start, l->at, digits);
}
