/* draws.c - numbers that are drawn by their distribution: uniform, normal, bernoulli, categorical
 * (docs/numerics.md, "Random numbers"). */
#include "check/functions/random.h"

enum { SHAPE, FIRST, SECOND };

static entity op2(checker *c, int opcode, entity x, entity y, span at) {
    entity both[] = {x, y};
    return emit_elementwise(c, opcode, both, 2, NULL, 0, at);
}

static entity number(const char *hexadecimal, span at) {
    return (entity){.kind = ENTITY_NUMBER, .at = at, .text = hexadecimal};
}

/* f32: the highest bits of a word, as an integer from 0 to 2^bits - 1. */
static entity high_bits(checker *c, const random_draw *d, int bits) {
    entity word = random_word(c, d);
    entity shifted = op2(c, GRAPH_RIGHT_SHIFT, word, entity_integer(c, 32 - bits, d->at), d->at);
    entity low = entity_integer(c, (INT64_C(1) << bits) - 1, d->at);
    entity kept = op2(c, GRAPH_AND, shifted, low, d->at);
    return kept.kind == ENTITY_BROKEN ? kept : policy_convert(c, &kept, DTYPE_F32, NULL, d->at);
}

/* In [0, 1): a multiple of 2^-24. */
static entity unit(checker *c, const random_draw *d) {
    return op2(c, GRAPH_MUL, high_bits(c, d, 24), number("0x1p-24", d->at), d->at);
}

/* A parameter of a distribution as f32: a number, or a tensor that fits the shape. */
static entity parameter(checker *c, const call_arguments *a, int i, const char *fallback) {
    entity e = a->given[i] ? a->values[i] : number(fallback, a->at);
    if (e.kind == ENTITY_TENSOR)
        return policy_convert(c, &e, DTYPE_F32, NULL, a->at);
    return emit_constant(c, &e, DTYPE_F32, e.at);
}

/* x * scale + shift, rounded once. */
static entity moved(checker *c, entity x, entity scale, entity shift, span at) {
    entity operands[] = {x, scale, shift};
    return emit_elementwise(c, GRAPH_FMA, operands, 3, NULL, 0, at);
}

/* A tensor of the shape that the call gives, for which numbers are drawn. */
static bool begin_shape(checker *c, const call_arguments *a, random_draw *d) {
    ir_dim dims[IR_MAX_RANK];
    int rank = 0;
    if (!argument_shape(c, &a->values[SHAPE], dims, &rank))
        return false;
    entity zero = entity_integer(c, 0, a->at);
    zero = emit_constant(c, &zero, DTYPE_I32, a->at);
    entity like = emit_broadcast(c, &zero, rank, dims, a->at);
    return like.kind != ENTITY_BROKEN && random_begin(c, a, &like, d);
}

entity special_uniform(checker *c, const call_arguments *a) {
    random_draw d;
    if (!begin_shape(c, a, &d))
        return entity_broken(a->at);
    if (!a->given[FIRST] && !a->given[SECOND])
        return unit(c, &d);
    entity low = parameter(c, a, FIRST, "0"), high = parameter(c, a, SECOND, "1");
    return moved(c, unit(c, &d), op2(c, GRAPH_SUB, high, low, a->at), low, a->at);
}

entity special_bernoulli(checker *c, const call_arguments *a) {
    random_draw d;
    if (!begin_shape(c, a, &d))
        return entity_broken(a->at);
    entity p = parameter(c, a, FIRST, "0.5"), u = unit(c, &d);
    return p.kind == ENTITY_BROKEN || u.kind == ENTITY_BROKEN
               ? entity_broken(a->at)
               : emit_compare(c, "lt", &u, &p, a->at);
}

/* Box and Muller: sqrt(-2 log(1 - u)) * cos(2 pi v), of two words. */
entity special_normal(checker *c, const call_arguments *a) {
    random_draw d;
    if (!begin_shape(c, a, &d))
        return entity_broken(a->at);
    entity rest = op2(c, GRAPH_SUB, number("1", a->at), unit(c, &d), a->at);
    entity angle = op2(c, GRAPH_MUL, unit(c, &d), number("0x1.921fb6p+2", a->at), a->at);
    if (rest.kind == ENTITY_BROKEN || angle.kind == ENTITY_BROKEN)
        return entity_broken(a->at);
    entity log = emit_one(c, GRAPH_LOG, &rest, 1, NULL, 0, a->at);
    entity square = op2(c, GRAPH_MUL, log, number("-2", a->at), a->at);
    if (square.kind == ENTITY_BROKEN)
        return square;
    entity root = emit_one(c, GRAPH_SQRT, &square, 1, NULL, 0, a->at);
    entity cosine = emit_one(c, GRAPH_COS, &angle, 1, NULL, 0, a->at);
    entity z = op2(c, GRAPH_MUL, root, cosine, a->at);
    if (!a->given[FIRST] && !a->given[SECOND])
        return z;
    return moved(c, z, parameter(c, a, SECOND, "1"), parameter(c, a, FIRST, "0"), a->at);
}

/* Gumbel: the greatest of logits - log(-log(u)), with u in (0, 1). */
entity special_categorical(checker *c, const call_arguments *a) {
    random_draw d;
    if (!takes_floats(c, a) || !random_begin(c, a, &a->values[0], &d))
        return entity_broken(a->at);
    entity u =
        moved(c, high_bits(c, &d, 23), number("0x1p-23", a->at), number("0x1p-24", a->at), a->at);
    for (int i = 0; i < 2 && u.kind != ENTITY_BROKEN; i++) {
        u = emit_one(c, GRAPH_LOG, &u, 1, NULL, 0, a->at);
        if (u.kind != ENTITY_BROKEN)
            u = emit_one(c, GRAPH_NEG, &u, 1, NULL, 0, a->at);
    }
    entity logits = policy_convert(c, &a->values[0], DTYPE_F32, NULL, a->at);
    call_arguments along = {.function = a->function, .at = a->at, .count = 3};
    along.values[0] = op2(c, GRAPH_ADD, logits, u, a->at);
    along.values[1] = a->given[1] ? a->values[1] : entity_integer(c, -1, a->at);
    along.given[0] = along.given[1] = true;
    return along.values[0].kind == ENTITY_BROKEN ? along.values[0] : special_argmax(c, &along);
}
