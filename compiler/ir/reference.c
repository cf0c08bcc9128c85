/* reference.c - prints the tables of operations as Markdown. */
#include "ir/reference.h"

#include <string.h>

#include "ir/opset.h"

static const char *const headings[IR_LEVEL_COUNT] = {
    "## Graph IR: what a kernel means\n\n"
    "Values are tensors. The order of every accumulation is fixed here, as the attribute `order`. "
    "An accumulation's\n"
    "`id`, from 0 on, is given before the first pass and kept by all of them; `reduction` is that "
    "id in "
    "the levels below.\n"
    "Operations with one id compute one accumulation more than once. The element-wise\n"
    "operations appear again in the bodies of Schedule IR, where they work on scalars. Calls, "
    "branches, loops and returns\n"
    "take and give as many values as a kernel does, other operations fewer "
    "([limits](language.md#limits)).\n\n",
    "## Schedule IR: what is computed together, where, and in which blocks\n\n"
    "A kernel is a list of phases, a phase a grid around loops around computations. Steps may be "
    "names of the kernel's\n"
    "parameters, which a tuner turns.\n\n",
    "## Tile IR: how a workgroup of the grid computes\n\n"
    "Values are static tiles, indices and memory. No operation names a vector width or a "
    "thread.\n\n",
};

static const char preamble[] =
    "# The operations of every level\n\n"
    "This page is made from the tables `compiler/ops/graph.def`, `compiler/schedule/schedule.def` "
    "and\n"
    "`compiler/tile/tile.def` by `tsr-opt --docs`, and a test keeps it equal to them.\n\n"
    "Operands: `[x]` may be left out, `xs...` is any number. Attributes: `name:kind`; `?` marks "
    "one that may be left\n"
    "out, `=value` what the language fills in. Kinds: `int`, `ints`, `dim` and `dims` (a number, "
    "or an expression such\n"
    "as `2*N + 1`), `bits` (the bits of an element), `string`, `bool`, `type`, `number`, `array`, "
    "`dict`, `dense`, `any`.\n\n"
    "The text is MLIR's generic form: `%0 = \"tessera.add\"(%arg0, %arg1) <{name = value}> : "
    "(operand types) -> result type`,\n"
    "`%0:3 = ...` for three results, which are `%0#0` to `%0#2`, and regions in round brackets "
    "between attributes and types. A\n"
    "tensor's type is `tensor<2x?xf32, #tessera.dims<\"2\", \"N + 1\">>`: where a dimension is not "
    "known, all are repeated as\n"
    "expressions of symbols, numbers, `+`, `-`, `*`, brackets, `floordiv(x, y)` and `min(x, y)`. "
    "In attributes `#tessera.dim<\"N\">` is such\n"
    "an expression, `#tessera.bits<f32, 0x3f800000>` the bits of an element, and an integer may "
    "have "
    "its type behind it\n"
    "(`1 : i64`). The 8-bit floats are written `f8E4M3FN` and `f8E5M2`, bool is `i1`.\n\n"
    "`dense_resource<sha256_...> : tensor<2xf32>` (`dense`) names elements by the SHA-256 of their "
    "bytes, which are row-major\n"
    "and little-endian, an element of `i1` or `i4` a byte. Behind the module\n"
    "`{-# dialect_resources: { builtin: { sha256_...: \"0x40000000...\" } } #-}` has the bytes of "
    "each hash once, in hex, behind\n"
    "MLIR's word of an alignment. A kernel with such a constant is a program "
    "([modules](modules.md#programs)).\n\n";

/* A workgroup of a table: code, or empty; '|' would end the workgroup. */
static void print_code(const char *content, text *out) {
    if (*content)
        text_printf(out, "`%s`", content);
    text_append(out, " | ");
}

static void print_results(const op_info *info, text *out) {
    if (info->results < 0)
        text_append(out, "any | ");
    else
        text_printf(out, "%d | ", info->results);
}

static void print_summary(const char *summary, text *out) {
    for (; *summary; summary++) {
        if (*summary == '|')
            text_append_char(out, '\\');
        text_append_char(out, *summary);
    }
    text_append(out, " |\n");
}

void reference_print(text *out) {
    text_append(out, preamble);
    for (int level = 0; level < IR_LEVEL_COUNT; level++) {
        const op_table *table = op_table_get((ir_level)level);
        if (!table)
            continue;
        text_append(out, headings[level]);
        text_append(out, "| operation | operands | attributes | results | regions | meaning "
                         "|\n|---|---|---|---|---|---|\n");
        for (int i = 0; i < table->count; i++) {
            const op_info *info = &table->ops[i];
            text_append(out, "| ");
            print_code(info->name, out);
            print_code(info->operands, out);
            print_code(info->attrs, out);
            print_results(info, out);
            text_printf(out, "%d | ", info->regions);
            print_summary(info->summary, out);
        }
        text_append(out, level + 1 < IR_LEVEL_COUNT ? "\n" : "");
    }
}
