/* number.c - literals: arithmetic between them, and their one rounding from decimal to an element
 * type. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

entity number_from_node(checker *c, const node *n, bool integer) {
    if (integer)
        return entity_integer(c, n->integer, n->at);
    return (entity){.kind = ENTITY_NUMBER, .at = n->at, .text = n->text};
}

entity number_wide(checker *c, const node *n) {
    return (entity){
        .kind = ENTITY_NUMBER,
        .at = n->at,
        .is_wide = true,
        .integer = n->integer,
        .text = arena_printf(&c->memory, "%llu", (unsigned long long)n->integer),
    };
}

/* Only a tensor's arithmetic has 64 bits without a sign. */
static bool refuse_wide(checker *c, const entity *e, span at) {
    if (e->is_wide)
        diagnose_error(c->report, ERROR_INTEGER_OVERFLOW, at,
                       "%s does not fit 64 bits with a sign, as integers of the source have",
                       e->text);
    return e->is_wide;
}

double number_value(const entity *e) {
    return strtod(e->text, NULL);
}

static entity number_from_double(checker *c, double value, span at) {
    return (entity){.kind = ENTITY_NUMBER, .at = at, .text = arena_printf(&c->memory, "%a", value)};
}

entity number_negate(checker *c, const entity *e) {
    entity out = *e;
    const bool least = e->integer == INT64_MIN;
    if (least ? e->is_integer : e->is_wide) {
        diagnose_error(c->report, ERROR_INTEGER_OVERFLOW, e->at, "-%s does not fit 64 bits",
                       e->text + (e->text[0] == '-'));
        return entity_broken(e->at);
    }
    if (e->is_integer || e->is_wide)
        return entity_integer(c, least ? e->integer : -e->integer, e->at);
    out.text = e->text[0] == '-' ? e->text + 1 : arena_printf(&c->memory, "-%s", e->text);
    return out;
}

/* ---- arithmetic, as Python's: integers exactly, floats in f64 ---- */

/* Toward minus infinity; a remainder has the sign of b. */
static int64_t divide_integers(uint32_t symbol, int64_t a, int64_t b) {
    int64_t rest = b == -1 ? 0 : a % b;
    bool up = rest != 0 && (rest < 0) != (b < 0);
    return symbol == SYMBOL1('%') ? rest + (up ? b : 0) : a / b - up;
}

static entity combine_integers(checker *c, uint32_t symbol, int64_t a, int64_t b, span at) {
    int64_t out = 0;
    bool overflow = false;
    switch (symbol) {
    case SYMBOL1('+'):
        overflow = __builtin_add_overflow(a, b, &out);
        break;
    case SYMBOL1('-'):
        overflow = __builtin_sub_overflow(a, b, &out);
        break;
    case SYMBOL1('*'):
        overflow = __builtin_mul_overflow(a, b, &out);
        break;
    default:
        if (b == 0) {
            diagnose_error(c->report, ERROR_DIVISION_BY_ZERO, at, "division by zero");
            return entity_broken(at);
        }
        overflow = symbol != SYMBOL1('%') && b == -1 && a == INT64_MIN;
        out = overflow ? 0 : divide_integers(symbol, a, b);
    }
    if (overflow) {
        diagnose_error(c->report, ERROR_INTEGER_OVERFLOW, at, "the result does not fit 64 bits");
        return entity_broken(at);
    }
    return entity_integer(c, out, at);
}

/* Raises integers alone: powers of other numbers would depend on who rounds them. */
static entity raise_number(checker *c, const entity *a, const entity *b, span at) {
    int64_t out = 1;
    bool overflow = false;
    if (!a->is_integer || !b->is_integer || b->integer < 0) {
        diagnose_error(c->report, ERROR_OPERATOR_OPERANDS, at,
                       "between literals, '**' raises integers to integers from 0 on");
        diagnose_help(c->report, "write the number out, or multiply");
        return entity_broken(at);
    }
    /* 0, 1 and -1 do not grow: their power depends on whether the exponent is 0 and odd. */
    bool grows = a->integer < -1 || a->integer > 1;
    int64_t steps = grows || b->integer < 2 ? b->integer : 2 + b->integer % 2;
    for (int64_t i = 0; i < steps && !overflow; i++)
        overflow = __builtin_mul_overflow(out, a->integer, &out);
    if (overflow) {
        diagnose_error(c->report, ERROR_INTEGER_OVERFLOW, at, "the result does not fit 64 bits");
        return entity_broken(at);
    }
    return entity_integer(c, out, at);
}

static double divide_floats(uint32_t symbol, double x, double y) {
    if (symbol != SYMBOL1('%'))
        return symbol == SYMBOL1('/') ? x / y : floor(x / y);
    double rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/* Python's: a left shift is a product with a power of two, a right one rounds down. */
static entity shift_number(checker *c, uint32_t symbol, const entity *a, const entity *b, span at) {
    enum { LAST = 63 };
    if (!a->is_integer || !b->is_integer || b->integer < 0) {
        diagnose_error(c->report, ERROR_OPERATOR_OPERANDS, at,
                       "between literals, shifts move integers by integers from 0 on");
        return entity_broken(at);
    }
    int64_t by = b->integer < LAST ? b->integer : LAST;
    if (symbol == SYMBOL2('>', '>'))
        return entity_integer(c, a->integer >> by, at);
    int64_t out = (int64_t)((uint64_t)a->integer << by);
    if (a->integer != 0 && (b->integer > LAST || out >> by != a->integer)) {
        diagnose_error(c->report, ERROR_INTEGER_OVERFLOW, at, "the result does not fit 64 bits");
        return entity_broken(at);
    }
    return entity_integer(c, out, at);
}

entity number_combine(checker *c, uint32_t symbol, const entity *a, const entity *b, span at) {
    if (refuse_wide(c, a, at) || refuse_wide(c, b, at))
        return entity_broken(at);
    if (symbol == SYMBOL2('<', '<') || symbol == SYMBOL2('>', '>'))
        return shift_number(c, symbol, a, b, at);
    if (symbol == SYMBOL2('*', '*'))
        return raise_number(c, a, b, at);
    if (a->is_integer && b->is_integer && symbol != SYMBOL1('/'))
        return combine_integers(c, symbol, a->integer, b->integer, at);
    double x = number_value(a), y = number_value(b);
    switch (symbol) {
    case SYMBOL1('+'):
        return number_from_double(c, x + y, at);
    case SYMBOL1('-'):
        return number_from_double(c, x - y, at);
    case SYMBOL1('*'):
        return number_from_double(c, x * y, at);
    default:
        break;
    }
    if (y == 0) {
        diagnose_error(c->report, ERROR_DIVISION_BY_ZERO, at, "division by zero");
        return entity_broken(at);
    }
    return number_from_double(c, divide_floats(symbol, x, y), at);
}

/* ---- rounding ---- */

/* The decimal as a double rounded to odd: a second rounding, to any format of at most 51 bits, is
 * then the only one that shows (Boldo and Melquiond, "When double rounding is odd", 2005). */
static double decimal_to_odd(const char *decimal) {
    int mode = fegetround();
    fesetround(FE_TOWARDZERO);
    double low = strtod(decimal, NULL);
    fesetround(decimal[0] == '-' ? FE_DOWNWARD : FE_UPWARD);
    double high = strtod(decimal, NULL);
    fesetround(mode);
    return low == high ? low : f64_from_bits(f64_bits(low) | 1);
}

static uint64_t float_bits(const char *decimal, dtype type) {
    if (type == DTYPE_F64)
        return f64_bits(strtod(decimal, NULL));
    if (dtype_stored_as(type) == DTYPE_F32)
        return f32_bits(strtof(decimal, NULL));
    uint64_t storage = 0;
    dtype_store(type, &storage, 0, decimal_to_odd(decimal));
    return dtype_load_bits(type, &storage, 0);
}

/* Is this number, in a type without infinity, at least half a step above the greatest? */
static bool saturates(double magnitude, dtype type) {
    const dtype_format *f = dtype_format_of(type);
    int exponent;
    frexp(f->largest, &exponent);
    return !f->infinity && magnitude >= f->largest + ldexp(1.0, exponent - 2 - f->mantissa_bits);
}

static bool float_literal(checker *c, const entity *e, dtype type, uint64_t *bits) {
    const char *digits = e->text + (e->text[0] == '-');
    if (strcmp(digits, "nan") == 0) {
        *bits = dtype_format_of(type)->nan;
        return true;
    }
    *bits = float_bits(e->text, type);
    double stored = dtype_load(type, bits, 0);
    bool infinite = strcmp(digits, "inf") == 0;
    if (infinite && !dtype_format_of(type)->infinity) {
        diagnose_error(c->report, ERROR_LITERAL_RANGE, e->at, "%s has no infinity",
                       dtype_name(type));
        diagnose_help(c->report, "its greatest number is %g", dtype_format_of(type)->largest);
        return false;
    }
    if (!infinite && (isinf(stored) || saturates(strtod(digits, NULL), type))) {
        diagnose_error(c->report, ERROR_LITERAL_RANGE, e->at, "this number is too large for %s",
                       dtype_name(type));
        if (dtype_format_of(type)->infinity)
            diagnose_help(c->report, "infinity is written inf");
        else
            diagnose_help(c->report, "its greatest number is %g", dtype_format_of(type)->largest);
        return false;
    }
    return true;
}

static bool integer_literal(checker *c, const entity *e, dtype type, uint64_t *bits) {
    const bool natural = e->is_wide || e->integer >= 0,
               below = !natural && e->integer < dtype_lowest(type),
               above = natural && (uint64_t)e->integer > (uint64_t)dtype_highest(type);
    if (!e->is_integer && !e->is_wide) {
        diagnose_error(c->report, ERROR_LITERAL_TYPE, e->at,
                       "a float literal cannot take part in %s arithmetic", dtype_name(type));
        diagnose_help(c->report, "write an integer, or cast() the tensor to a float type first");
        return false;
    }
    if (below || above) {
        diagnose_error(c->report, ERROR_LITERAL_RANGE, e->at, "%s does not fit %s", e->text,
                       dtype_name(type));
        return false;
    }
    *bits = dtype_wrap(type, e->integer);
    return true;
}

bool number_bits(checker *c, const entity *e, dtype type, uint64_t *bits) {
    if (e->kind == ENTITY_BOOL && type == DTYPE_BOOL) {
        *bits = (uint64_t)e->integer;
        return true;
    }
    if (e->kind == ENTITY_NUMBER && dtype_is_float(type))
        return float_literal(c, e, type, bits);
    if (e->kind == ENTITY_NUMBER && type != DTYPE_BOOL)
        return integer_literal(c, e, type, bits);
    diagnose_error(c->report, ERROR_LITERAL_TYPE, e->at, "%s cannot take part in %s arithmetic",
                   entity_describe(e), dtype_name(type));
    diagnose_help(c->report, type == DTYPE_BOOL ? "write True or False"
                                                : "write a number, or cast() the tensor");
    return false;
}
