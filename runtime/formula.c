/* formula.c - recursive descent over a formula's text, which nobody vouches for. */
#include "formula.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

typedef struct reader {
    const char *at;
    const formula_names *names;
    formula_result result;
    int depth;
} reader;

static int64_t read_sum(reader *r);

static int64_t fail(reader *r, formula_result why) {
    if (r->result == FORMULA_OK || why == FORMULA_WRONG)
        r->result = why;
    return 0;
}

static bool take(reader *r, const char *token) {
    while (*r->at == ' ')
        r->at++;
    size_t length = strlen(token);
    if (strncmp(r->at, token, length) != 0)
        return false;
    r->at += length;
    return true;
}

static int64_t expect(reader *r, const char *token, int64_t value) {
    return take(r, token) ? value : fail(r, FORMULA_WRONG);
}

static int64_t read_number(reader *r) {
    int64_t value = 0;
    for (; isdigit((unsigned char)*r->at); r->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *r->at - '0', &value))
            value = fail(r, FORMULA_NO_VALUE);
    return value;
}

static int64_t read_name(reader *r) {
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_')
        length++;
    const char *name = r->at;
    r->at += length;
    for (uint32_t i = 0; i < r->names->count; i++)
        if (strlen(r->names->names[i]) == length && memcmp(r->names->names[i], name, length) == 0)
            return r->names->values[i];
    return fail(r, FORMULA_WRONG);
}

static int64_t read_quotient(reader *r) {
    int64_t x = expect(r, ",", read_sum(r));
    int64_t y = expect(r, ")", read_sum(r));
    if (y == 0 || (x == INT64_MIN && y == -1))
        return fail(r, FORMULA_NO_VALUE);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static int64_t read_atom(reader *r) {
    int64_t value;
    if (++r->depth > DEPTH_MAX)
        value = fail(r, FORMULA_WRONG);
    else if (take(r, "floordiv("))
        value = read_quotient(r);
    else if (take(r, "("))
        value = expect(r, ")", read_sum(r));
    else if (isdigit((unsigned char)*r->at))
        value = read_number(r);
    else if (isalpha((unsigned char)*r->at) || *r->at == '_')
        value = read_name(r);
    else
        value = fail(r, FORMULA_WRONG);
    r->depth--;
    return value;
}

static int64_t read_product(reader *r) {
    int64_t value = read_atom(r);
    while (r->result != FORMULA_WRONG && take(r, "*"))
        if (__builtin_mul_overflow(value, read_atom(r), &value))
            value = fail(r, FORMULA_NO_VALUE);
    return value;
}

static int64_t read_sum(reader *r) {
    int64_t sum = 0, sign = take(r, "-") ? -1 : 1;
    while (sign != 0) {
        int64_t term;
        if (__builtin_mul_overflow(read_product(r), sign, &term) ||
            __builtin_add_overflow(sum, term, &sum))
            sum = fail(r, FORMULA_NO_VALUE);
        sign = r->result == FORMULA_WRONG ? 0 : take(r, "+") ? 1 : take(r, "-") ? -1 : 0;
    }
    return sum;
}

formula_result formula_evaluate(const char *formula, const formula_names *names, int64_t *out) {
    reader r = {formula, names, FORMULA_OK, 0};
    int64_t value = read_sum(&r);
    take(&r, "");
    if (*r.at)
        r.result = FORMULA_WRONG;
    *out = r.result == FORMULA_OK ? value : 0;
    return r.result;
}
