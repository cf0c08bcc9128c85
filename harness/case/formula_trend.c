/* formula_trend.c - recursive descent over a formula, as runtime/formula.c, with a trend in place
 * of each value.
 *
 * A sum rises where its parts do, a product where its factors do and are never negative, a quotient
 * rounded down where its upper part does and its lower one is fixed and never negative. */
#include "case/formula_trend.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

typedef struct trend {
    bool rises;    /* never falls */
    bool fixed;    /* the name is not in it */
    bool negative; /* may be below 0 */
} trend;

static const trend unclear = {.rises = false, .fixed = false, .negative = true};

typedef struct reader {
    const char *at, *name;
    bool wrong;
    int depth;
} reader;

static trend read_sum(reader *r);

static bool take(reader *r, char token) {
    while (*r->at == ' ')
        r->at++;
    bool there = *r->at == token;
    r->at += there;
    return there;
}

static trend read_quotient(reader *r) {
    trend x = read_sum(r);
    r->wrong |= !take(r, ',');
    trend y = read_sum(r);
    r->wrong |= !take(r, ')');
    if (!y.fixed || y.negative)
        return unclear;
    return x;
}

static trend read_word(reader *r) {
    size_t length = 0;
    const char *word = r->at;
    while (isalnum((unsigned char)word[length]) || word[length] == '_')
        length++;
    r->at += length;
    r->wrong |= length == 0;
    if (length == 8 && memcmp(word, "floordiv", 8) == 0 && take(r, '('))
        return read_quotient(r);
    bool is_name = strlen(r->name) == length && memcmp(word, r->name, length) == 0;
    return (trend){.rises = true, .fixed = !is_name};
}

static trend read_atom(reader *r) {
    trend t = unclear;
    r->wrong |= ++r->depth > DEPTH_MAX;
    if (!r->wrong && take(r, '(')) {
        t = read_sum(r);
        r->wrong |= !take(r, ')');
    } else if (!r->wrong) {
        t = read_word(r);
    }
    r->depth--;
    return t;
}

static trend multiply(trend a, trend b) {
    bool both_fixed = a.fixed && b.fixed;
    /* A factor below 0 turns the other one's trend over, unless that has none. */
    bool rises = a.rises && b.rises && (a.fixed || !b.negative) && (b.fixed || !a.negative);
    return (trend){both_fixed || rises, both_fixed, a.negative || b.negative};
}

static trend read_product(reader *r) {
    trend t = read_atom(r);
    while (!r->wrong && take(r, '*'))
        t = multiply(t, read_atom(r));
    return t;
}

static trend read_sum(reader *r) {
    trend sum = {.rises = true, .fixed = true};
    bool minus = take(r, '-'), more = true;
    while (more && !r->wrong) {
        trend t = read_product(r);
        sum.rises &= minus ? t.fixed : t.rises;
        sum.fixed &= t.fixed;
        sum.negative |= minus || t.negative;
        minus = false;
        more = take(r, '+') || (minus = take(r, '-'));
    }
    return sum;
}

bool formula_rises(const char *formula, const char *name) {
    reader r = {.at = formula, .name = name};
    trend t = read_sum(&r);
    take(&r, ' ');
    return !r.wrong && *r.at == '\0' && t.rises;
}
