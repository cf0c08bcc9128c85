/* derivatives.c - random functions of matrices, derived forward and in reverse in one kernel, which
 * checks itself: for any tangents v and cotangents u the inner products of J v with u and of v with
 * JT u are equal but for rounding; a checkpoint changes no bit; and for two sets of arguments at
 * once a batch of derivatives and the derivative of a batch have the bits of one by itself. */
#include <string.h>

#include "fuzz/generate.h"

enum { STATEMENTS_MAX = 6 };

static const char *const expressions[] = {
#define E(expression) expression,
#include "fuzz/derivatives.def"
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

/* Functions that expressions name, and those by which the kernel checks itself. */
static const char preamble[] =
    "from tessera import *\n\n\n"
    "def step(carry, row):\n    carry = tanh(carry * 0.7 + row)\n    return carry, carry * "
    "carry\n\n\n"
    "def curve(a):\n    return sin(a) * a\n\n\n"
    "def grown(so_far, e):\n    return so_far * 0.5 + sin(so_far) * tanh(e) * 0.5\n\n\n"
    "def inner(a, b):\n    return sum(cast(a, f64) * cast(b, f64))\n\n\n"
    "def size(a, b):\n    return sum(abs(cast(a, f64) * cast(b, f64)))\n\n\n";

static const char checks[] =
    "    _, tangent = jvp(f, (x, y, w, g, b), (tx, ty, tw, tg, tb))\n"
    "    _, back = vjp(f, (x, y, w, g, b))\n"
    "    _, again = vjp(checkpoint(f), (x, y, w, g, b))\n"
    "    cx, cy, cw, cg, cb = back(u)\n"
    "    dx, dy, dw, dg, db = again(u)\n"
    "    left = inner(tangent, u)\n"
    "    right = inner(tx, cx) + inner(ty, cy) + inner(tw, cw) + inner(tg, cg) + inner(tb, cb)\n"
    "    all = size(tangent, u) + size(tx, cx) + size(ty, cy) + size(tw, cw) + size(tg, cg)\n"
    "    rounding = (all + size(tb, cb)) * 0.0005 + size(u, u) * 0.00001\n"
    "    debug.check(~(abs(left - right) > rounding), \"<J v, u> is not <v, JT u>\")\n"
    "    debug.check(isfinite(left), \"a tangent is not finite\")\n"
    "    two = (stack([x, tx]), stack([y, ty]), stack([w, tw]), stack([g, tg]), stack([b, tb]))\n"
    "    us = stack([u, u])\n"
    "    vx, vy, vw, vg, vb = vmap(pulled)(two[0], two[1], two[2], two[3], two[4], us)\n"
    "    _, along = vjp(vmap(f), two)\n"
    "    ax, ay, aw, ag, ab = along(us)\n";

/* The pullback as a function, for batches of it. */
static const char pulled[] = "def pulled(x, y, w, g, b, u):\n    _, back = vjp(f, (x, y, w, g, "
                             "b))\n    return back(u)\n\n\n";

/* Bits that are equal to those of the plain cotangents. */
static const struct claim {
    const char *prefix, *part, *words;
} claims[] = {{"d", "", "a checkpoint changes bits"},
              {"v", "[0]", "a batch of derivatives changes bits"},
              {"a", "[0]", "the derivative of a batch changes bits"}};

/* `#` and `$` are values that are there, `~` an axis, `M` and `N` the lengths. */
static void put_expression(const char *words, const uint32_t *operands, const int *lengths,
                           uint32_t axis, text *out) {
    static const char *const inputs[] = {"x", "y"};
    for (; *words; words++) {
        const uint32_t v = operands[*words == '$'];
        if ((*words == '#' || *words == '$') && v < 2)
            text_append(out, inputs[v]);
        else if (*words == '#' || *words == '$')
            text_printf(out, "t%u", v - 2);
        else if (*words == '~')
            text_printf(out, "%u", axis);
        else if (*words == 'M' || *words == 'N')
            text_printf(out, "%d", lengths[*words == 'N']);
        else
            text_printf(out, "%c", *words);
    }
}

static uint32_t recent(choices *c, uint32_t count) {
    return count - 1 - choose_below(c, choose_rarely(c, 3) ? count : count < 2 ? count : 2);
}

static void put_function(choices *c, const int *lengths, text *out) {
    const uint32_t statements = 1 + choose_below(c, STATEMENTS_MAX);
    text_append(out, "def f(x, y, w, g, b):\n");
    for (uint32_t i = 0; i < statements; i++) {
        const uint32_t operands[] = {recent(c, i + 2), recent(c, i + 2)};
        const char *words = expressions[choose_below(c, EXPRESSIONS)];
        text_printf(out, "    t%u = ", i);
        put_expression(words, operands, lengths, choose_below(c, 2), out);
        text_append(out, "\n");
    }
    text_printf(out, "    return t%u\n\n\n", statements - 1);
}

static void put_parameters(const int *lengths, const char *prefix, text *out) {
    const int m = lengths[0], n = lengths[1];
    text_printf(out,
                "%sx: Tensor[%d, %d, f32], %sy: Tensor[%d, %d, f32], %sw: Tensor[%d, %d, f32], "
                "%sg: Tensor[%d, f32], %sb: Tensor[%d, f32], ",
                prefix, m, n, prefix, m, n, prefix, n, n, prefix, n, prefix, n);
}

void fuzz_generate_derivatives(choices *c, text *out) {
    static const int rows[] = {1, 2, 3, 5, 7, 33}, columns[] = {2, 3, 5, 13, 17, 64, 65, 130};
    static const char gradients[] = "xywgb";
    const int lengths[] = {rows[choose_below(c, sizeof rows / sizeof *rows)],
                           columns[choose_below(c, sizeof columns / sizeof *columns)]};
    const int m = lengths[0], n = lengths[1];
    text_append(out, preamble);
    put_function(c, lengths, out);
    text_append(out, pulled);
    text_printf(out, "@cases(case(\"%s\"))\n@kernel\ndef %s(", FUZZ_CASE, FUZZ_KERNEL);
    put_parameters(lengths, "", out);
    put_parameters(lengths, "t", out);
    text_printf(out,
                "u: Tensor[%d, %d, f32]) -> tuple[Tensor[%d, %d, f32], Tensor[%d, %d, f32], "
                "Tensor[%d, %d, f32], Tensor[%d, %d, f32], Tensor[%d, f32], Tensor[%d, f32]]:\n",
                m, n, m, n, m, n, m, n, n, n, n, n);
    text_append(out, checks);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        for (const char *g = gradients; *g; g++)
            text_printf(out, "    debug.check(bitcast(c%c, i32) == bitcast(%s%c%s, i32), \"%s\")\n",
                        *g, claims[i].prefix, *g, claims[i].part, claims[i].words);
    text_append(out, "    return tangent, cx, cy, cw, cg, cb\n");
}
