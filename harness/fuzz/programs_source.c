/* programs_source.c - the source around the Graph IR of a random program: its constants, its cases,
 * its head. */
#include <inttypes.h>

#include "fuzz/generate.h"
#include "fuzz/programs.h"

const char *const program_inputs[KINDS] = {"m", "r", "a", "n", "k"};

static void put_tensor(const program *p, kind k, text *out) {
    const char *element = k == PLACES || k == COUNT ? "i32" : "f32";
    text_append(out, "Tensor[");
    if (k == MATRIX)
        text_printf(out, "%" PRId64 ", ", p->rows);
    if (k != NUMBER && k != COUNT)
        text_printf(out, "%" PRId64 ", ", p->columns);
    text_printf(out, "%s]", element);
}

/* Writes as many numbers as there are columns. */
static void put_resource(const program *p, const char *key, const char *const numbers[5],
                         text *out) {
    text_printf(out, "%s: \"0x04000000", key);
    for (int64_t i = 0; i < p->columns; i++)
        text_append(out, numbers[i * 7 % 5]);
    text_append_char(out, '"');
}

static void put_resources(const program *p, text *out) {
    static const char *const floats[] = {"0000803F", "00000080", "0000A07F", "000020C1",
                                         "CDCCCC3D"},
                             *const places[] = {"00000000", "02000000", "FFFFFFFF", "01000000",
                                                "00000080"};
    if (!p->has_dense[ROW] && !p->has_dense[PLACES])
        return;
    text_append(out, "{-# dialect_resources: { builtin: { ");
    if (p->has_dense[ROW])
        put_resource(p, "row", floats, out);
    if (p->has_dense[PLACES]) {
        text_append(out, p->has_dense[ROW] ? ", " : "");
        put_resource(p, "places", places, out);
    }
    text_append(out, " } } #-}\n");
}

void program_put_module(const program *p, const text *functions, const kind *outputs,
                        uint32_t count, text *out) {
    static const char *const distributions[] = {"", ", m=special(), r=special()",
                                                ", m=integers(-2, 3), r=integers(-2, 3)"};
    text_printf(out,
                "from tessera import *\n\n\n@cases(case(\"%s\", n=integers(-3, 20), k=integers(0, "
                "5)%s))\n@graph(\"\"\"\n\"builtin.module\"() ({\n",
                FUZZ_CASE, distributions[choose_below(p->c, 3)]);
    text_append(out, p->out.data);
    text_append(out, functions->data);
    text_append(out, "}) : () -> ()\n");
    put_resources(p, out);
    text_append(out, "\"\"\")\n@kernel\ndef " FUZZ_KERNEL "(");
    for (int k = 0; k < KINDS; k++) {
        text_printf(out, "%s%s: ", k ? ", " : "", program_inputs[k]);
        put_tensor(p, (kind)k, out);
    }
    text_append(out, count > 1 ? ") -> tuple[" : ") -> ");
    for (uint32_t i = 0; i < count; i++) {
        text_append(out, i ? ", " : "");
        put_tensor(p, outputs[i], out);
    }
    text_append(out, count > 1 ? "]:\n    ...\n" : ":\n    ...\n");
}
