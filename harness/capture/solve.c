/* solve.c - see solve.h.
 *
 * T X = Y with T as the rows of memory have it: of a call from the right, and of one in columns,
 * both sides are transposed. */
#include "capture/solve.h"

#include <inttypes.h>
#include <string.h>

#include "capture/arguments.h"

enum { RIGHT = 142, UNIT = 132 };

static const capture_tensor *triangle_of(const capture_call *c) {
    for (uint32_t i = 0; i < c->tensor_count; i++)
        if (c->tensors[i].part)
            return &c->tensors[i];
    return NULL;
}

bool capture_solve_fits(const capture_call *c) {
    const capture_tensor *t = triangle_of(c);
    return t && t->shape[0] <= CAPTURE_SOLVE_ROWS;
}

/* Row i of the solution from the known ones, which are before it or behind it. */
static void put_row(bool lower, bool unit, text *out) {
    text_printf(out, "(y[i:i + 1] - matmul(t[i:i + 1, %s], out))", lower ? ":i" : "i + 1:");
    if (!unit)
        text_append(out, " / t[i:i + 1, i:i + 1]");
}

void capture_solve_write(const capture_call *c, const json_t *arguments, text *out) {
    const capture_tensor *triangle = triangle_of(c);
    const int64_t rows = triangle->shape[0], first = rows - 1;
    const bool transposed = capture_transposes(capture_argument(arguments, "transa")),
               right = capture_says(arguments, "side", RIGHT, 'r') != capture_in_columns(arguments),
               unit = capture_says(arguments, "diag", UNIT, 'u'), turned = transposed != right;
    const bool lower = (strncmp(triangle->part, "lower", 5) == 0) != turned;
    const double alpha = capture_real(arguments, "alpha");
    text_printf(out, "t = a%s\n    y = ", turned ? ".T" : "");
    if (alpha != 1)
        capture_put_factor(alpha, out);
    text_printf(out, "b%s\n    out = y[:0]\n    for k in range(%" PRId64 "):\n        i = ",
                right ? ".T" : "", rows);
    if (lower)
        text_append(out, "k");
    else
        text_printf(out, "%" PRId64 " - k", first);
    text_append(out, "\n        row = ");
    put_row(lower, unit, out);
    text_printf(out, "\n        out = concat([%s])\n", lower ? "out, row" : "row, out");
    text_printf(out, "    return out%s", right ? ".T" : "");
}
