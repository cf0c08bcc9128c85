/* elementwise.c - statements that work element by element. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/productions.h"

#define COUNT(list) (uint32_t)(sizeof(list) / sizeof *(list))

bool fuzz_unary(fuzz_kernel *k) {
    static const char *const exact[] = {"abs", "neg", "sqrt", "floor", "ceil", "round", "trunc"};
    static const char *const composites[] = {"relu", "silu", "gelu"};
    const fuzz_value *x = fuzz_any(k);
    bool is_float = dtype_is_float(x->type);
    if (x->type == DTYPE_BOOL || (!is_float && choose_rarely(k->c, 3)))
        return fuzz_let(k, x->type, x->rank, x->dims, "~%s", x->name);
    uint32_t kind = fuzz_is_single(x->type) ? choose_below(k->c, 4) : 0;
    if (x->type == DTYPE_F64 && choose_rarely(k->c, 2))
        kind = 2;
    const char *name = exact[choose_below(k->c, is_float ? COUNT(exact) : 2)];
    if (kind == 1 && choose_rarely(k->c, 4))
        return fuzz_let(k, x->type, x->rank, x->dims, "gelu(%s, approximate=\"none\")", x->name);
    if (kind == 1)
        name = composites[choose_below(k->c, COUNT(composites))];
    if (kind > 1) {
        const char *const *functions;
        uint32_t count = compiler_function_names(&functions);
        name = functions[choose_below(k->c, count)];
    }
    bool wide = x->type == DTYPE_F64 && kind > 1;
    bool added = fuzz_let(k, x->type, x->rank, x->dims, "%s(%s)", name, x->name);
    k->specified |= added && wide;
    return added;
}

/* Both operands in the same shape; `x` and `y` may be the same. */
bool fuzz_binary(fuzz_kernel *k) {
    static const char *const arithmetic[] = {"%s + %s", "%s - %s", "%s * %s", "%s / %s"};
    static const char *const named[] = {"maximum", "minimum"};
    static const char *const pairs[] = {"pow(%s, %s)", "atan2(%s, %s)", "%s ** %s"};
    static const char *const whole[] = {"//", "%", "<<", ">>"};
    static const char bits[] = "^&|";
    const fuzz_value *x = fuzz_any(k), *y = fuzz_like(k, x, x->type);
    bool integers = !dtype_is_float(x->type);
    if (integers && x->type != DTYPE_BOOL && choose_rarely(k->c, 4))
        return fuzz_let(k, x->type, x->rank, x->dims, "%s %s %s", x->name,
                        whole[choose_below(k->c, COUNT(whole))], y->name);
    if (dtype_is_float(x->type) && choose_rarely(k->c, 5)) {
        const char *pair = pairs[choose_below(k->c, COUNT(pairs))];
        bool added = fuzz_let(k, x->type, x->rank, x->dims, pair, x->name, y->name);
        k->specified |= added;
        return added;
    }
    uint32_t choice = choose_below(k->c, integers ? 9 : 6);
    if (x->type == DTYPE_BOOL || choice >= 6)
        return fuzz_let(k, x->type, x->rank, x->dims, "%s %c %s", x->name, bits[choice % 3],
                        y->name);
    if (choice >= 4)
        return fuzz_let(k, x->type, x->rank, x->dims, "%s(%s, %s)", named[choice - 4], x->name,
                        y->name);
    char expression[64];
    snprintf(expression, sizeof expression, "%s %c %s", x->name, arithmetic[choice][3], y->name);
    return fuzz_let(k, x->type, x->rank, x->dims, "%s", expression);
}

bool fuzz_scalar(fuzz_kernel *k) {
    static const char *const signs[] = {"+", "-", "*", "/", "//", "%", "<<", ">>"};
    const fuzz_value *x = fuzz_any(k);
    if (x->type == DTYPE_BOOL)
        return false;
    const char *number = choose_number(k->c, x->type);
    const char *sign = signs[choose_below(k->c, dtype_is_float(x->type) ? 4 : COUNT(signs))];
    if (choose_rarely(k->c, 3))
        return fuzz_let(k, x->type, x->rank, x->dims, "%s %s %s", number, sign, x->name);
    return fuzz_let(k, x->type, x->rank, x->dims, "%s %s %s", x->name, sign, number);
}

/* Against a parameter that is broadcast: fewer axes, some of length 1. */
bool fuzz_extended(fuzz_kernel *k) {
    static const char signs[] = "+-*/";
    const fuzz_value x = *fuzz_any(k);
    if (x.type == DTYPE_BOOL || x.rank == 0)
        return false;
    int rank = 1 + (int)choose_below(k->c, (uint32_t)x.rank);
    int64_t dims[FUZZ_RANK_MAX];
    for (int i = 0; i < rank; i++)
        dims[i] = choose_rarely(k->c, 3) ? 1 : x.dims[x.rank - rank + i];
    const fuzz_value *p = fuzz_parameter(k, x.type, rank, dims, NULL);
    if (!p)
        return false;
    bool first = choose_rarely(k->c, 2);
    return fuzz_let(k, x.type, x.rank, x.dims, "%s %c %s", first ? p->name : x.name,
                    signs[choose_below(k->c, 4)], first ? x.name : p->name);
}

bool fuzz_compare(fuzz_kernel *k) {
    static const char *const signs[] = {"<", "<=", "==", "!=", ">", ">="};
    const fuzz_value *x = fuzz_any(k), *y = fuzz_like(k, x, x->type);
    if (x->type == DTYPE_BOOL)
        return false;
    return fuzz_let(k, DTYPE_BOOL, x->rank, x->dims, "%s %s %s", x->name,
                    signs[choose_below(k->c, 6)], y->name);
}

bool fuzz_where(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k), *y = fuzz_like(k, &x, x.type);
    const fuzz_value *condition = fuzz_like(k, &x, DTYPE_BOOL);
    char other[8];
    memcpy(other, y->name, sizeof other);
    if (!condition)
        condition = fuzz_parameter(k, DTYPE_BOOL, x.rank, x.dims, NULL);
    return condition &&
           fuzz_let(k, x.type, x.rank, x.dims, "where(%s, %s, %s)", condition->name, x.name, other);
}

bool fuzz_fused(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    if (!dtype_is_float(x->type))
        return false;
    const fuzz_value *y = fuzz_like(k, x, x->type), *z = fuzz_like(k, x, x->type);
    return fuzz_let(k, x->type, x->rank, x->dims, "fma(%s, %s, %s)", x->name, y->name, z->name);
}

/* A type whose elements have as many bits as this one's, and one of the two is of integers;
 * DTYPE_NONE: the choice was another. */
static dtype of_same_size(fuzz_kernel *k, dtype type) {
    dtype other = fuzz_type(k);
    const dtype both[] = {type, other};
    for (int i = 0; i < 2; i++)
        if (both[i] == DTYPE_TF32 || both[i] == DTYPE_I4 || both[i] == DTYPE_BOOL)
            return DTYPE_NONE;
    bool whole = dtype_is_integer(type) || dtype_is_integer(other);
    return whole && dtype_size(type) == dtype_size(other) ? other : DTYPE_NONE;
}

bool fuzz_cast(fuzz_kernel *k) {
    const fuzz_value *x = fuzz_any(k);
    dtype bits = of_same_size(k, x->type);
    if (bits != DTYPE_NONE)
        return fuzz_let(k, bits, x->rank, x->dims, "bitcast(%s, %s)", x->name, dtype_name(bits));
    dtype to = choose_rarely(k->c, 8) ? DTYPE_BOOL : fuzz_type(k);
    return to != x->type &&
           fuzz_let(k, to, x->rank, x->dims, "cast(%s, %s)", x->name, dtype_name(to));
}

/* One step of an optimiser, with moments and corrections of its own. */
bool fuzz_training(fuzz_kernel *k) {
    const fuzz_value x = *fuzz_any(k), *y = fuzz_like(k, &x, x.type);
    char gradient[8], names[4][8];
    memcpy(gradient, y->name, sizeof gradient);
    if (!fuzz_is_single(x.type))
        return false;
    for (int i = 0; i < 4; i++) {
        const fuzz_value *p =
            fuzz_parameter(k, x.type, i < 2 ? x.rank : 0, x.dims, i == 1 ? "uniform(0, 1)" : NULL);
        if (!p)
            return false;
        memcpy(names[i], p->name, sizeof names[i]);
    }
    return fuzz_let_several(k, 3, &x, "adam(%s, %s, %s, %s, %s, %s, lr=0.01%s)", x.name, gradient,
                            names[0], names[1], names[2], names[3],
                            choose_rarely(k->c, 2) ? ", wd=0.125" : "");
}

bool fuzz_position(fuzz_kernel *k) {
    char shape[160];
    const fuzz_value *x = fuzz_any(k);
    if (x->rank == 0)
        return false;
    uint32_t axis = choose_below(k->c, (uint32_t)x->rank);
    fuzz_tuple(x->dims, x->rank, shape, sizeof shape);
    if (x->type == DTYPE_BOOL)
        return fuzz_let(k, DTYPE_I32, x->rank, x->dims, "iota(%s, axis=%u)", shape, axis);
    return fuzz_let(k, x->type, x->rank, x->dims, "%s + cast(iota(%s, axis=%u), %s)", x->name,
                    shape, axis, dtype_name(x->type));
}
