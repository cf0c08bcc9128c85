/* explain.c - the table of diagnostics as data, and its examples as sources. */
#include <stdlib.h>
#include <string.h>

#include "source/diagnostic.h"
#include "tessera/diagnostics.h"

static const compiler_diagnostic table[DIAGNOSTIC_COUNT] = {
#define DIAGNOSTIC(NAME, id, title, explanation, wrong, right)                                     \
    {id, title, explanation, wrong, right},
#include "source/diagnostics.def"
};

const compiler_diagnostic *compiler_diagnostics(size_t *count) {
    *count = DIAGNOSTIC_COUNT;
    return table;
}

const compiler_diagnostic *compiler_diagnostic_of(const char *id) {
    for (size_t i = 0; i < DIAGNOSTIC_COUNT; i++)
        if (strcmp(table[i].id, id) == 0)
            return &table[i];
    return NULL;
}

const char *compiler_diagnostic_group(const compiler_diagnostic *d) {
    static const char *const groups[] = {"",
                                         "Characters and tokens",
                                         "Syntax",
                                         "Names and declarations",
                                         "Element types and annotations",
                                         "Shapes and subscripts",
                                         "Calls and policies",
                                         "Cases",
                                         "Schedules",
                                         "Limits",
                                         "Kernels made of tiles",
                                         "Derivatives and batches",
                                         "Programs from elsewhere"};
    size_t hundreds = strtoul(d->id + 1, NULL, 10) / 100;
    return groups[hundreds < sizeof(groups) / sizeof(groups[0]) ? hundreds : 0];
}

const char *diagnostic_name(diagnostic_id id) {
    return table[id].id;
}

/* ---- examples ---- */

#define EXAMPLE_OPERANDS                                                                           \
    "x: Tensor['M', 'N', f32],\n"                                                                  \
    "y: Tensor['N', 'M', f32],\n"                                                                  \
    "v: Tensor['N', f32],\n"                                                                       \
    "n: Tensor['N', i32],\n"                                                                       \
    "b: Tensor['M', 'N', bf16],\n"                                                                 \
    "p: Tensor['M', 'N', bool]\n"

const char compiler_example_operands[] = EXAMPLE_OPERANDS;

/* Constants are in capitals; imports, kernels, records and StableHLO have words of their own. */
bool compiler_example_is_body(const char *example) {
    size_t name = strspn(example, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return !strstr(example, "def ") && !strstr(example, "class ") &&
           strncmp(example, "from ", 5) != 0 && strncmp(example, "module ", 7) != 0 &&
           (name < 2 || !strchr(" ,", example[name]));
}

void compiler_example_source(const char *example, text *out) {
    if (!compiler_example_is_body(example)) {
        text_printf(out, "%s\n", example);
        return;
    }
    text_append(out, "@kernel\ndef example(\n" EXAMPLE_OPERANDS ") -> Tensor['M', 'N', f32]:\n");
    for (const char *line = example; *line;) {
        size_t length = strcspn(line, "\n");
        text_printf(out, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    text_append(out, "    return x\n");
}

/* ---- rendered diagnostics ---- */

const compiler_diagnostic *compiler_diagnostic_in(const char *rendered) {
    static const char before[] = "error[";
    for (const char *p = rendered; (p = strstr(p, before)); p += strlen(before)) {
        const char *id = p + strlen(before);
        for (size_t i = 0; i < DIAGNOSTIC_COUNT; i++) {
            size_t length = strlen(table[i].id);
            if (strncmp(table[i].id, id, length) == 0 && id[length] == ']')
                return &table[i];
        }
    }
    return NULL;
}
