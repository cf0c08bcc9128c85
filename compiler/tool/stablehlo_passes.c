/* stablehlo_passes.c - lower-to-stablehlo, and the passes behind it, for tsr-opt. */
#include <string.h>

#include "graph/passes.h"
#include "target/stablehlo/export.h"
#include "tool/stablehlo.h"

const shlo_pass *stablehlo_pass_find(const char *text_of_pass) {
    const size_t length = strcspn(text_of_pass, "=");
    for (size_t i = 0; i < shlo_pass_count; i++)
        if (strlen(shlo_passes[i].name) == length &&
            strncmp(shlo_passes[i].name, text_of_pass, length) == 0)
            return &shlo_passes[i];
    return NULL;
}

void stablehlo_list_passes(text *out) {
    text_printf(out, "%-14s %-38s %s\n", "lower-to-stablehlo", "",
                "StableHLO of Graph IR (of a source: with the case's dimensions)");
    for (size_t i = 0; i < shlo_pass_count; i++)
        text_printf(out, "%-14s %-38s %s\n", shlo_passes[i].name, shlo_passes[i].arguments,
                    shlo_passes[i].summary);
}

/* Runs the passes, and prints. Takes the module. */
static bool run(shlo_module *m, const stablehlo_pass_list *list, text *out, status *st) {
    bool good = m != NULL;
    for (size_t i = 0; i < list->count && good; i++) {
        const char *words = list->items[i], *equals = strchr(words, '=');
        good = stablehlo_pass_find(words)->run(m, equals ? equals + 1 : NULL, st);
    }
    if (good)
        shlo_print(m, out);
    shlo_module_free(m);
    return good;
}

bool stablehlo_lower(const pass_run *r, const stablehlo_pass_list *list, text *out, status *st) {
    const ir_bindings dims = {r->c ? r->c->dims : NULL, r->c ? r->c->dim_count : 0};
    const bool graph =
        op_info_get(ir_op_get(r->m, ir_module_kernel(r->m))->opcode)->level == IR_LEVEL_GRAPH;
    if (graph && r->c && !graph_specialize(r->m, dims, st))
        return false;
    return run(shlo_lower(r->m, st), list, out, st);
}

bool stablehlo_run(const char *source, size_t size, const stablehlo_pass_list *list, text *out,
                   status *st) {
    if (!shlo_is_one(source, size) || strstr(source, "\"tessera.kernel\""))
        return status_set(
            st, STATUS_INVALID,
            "pass %.*s takes StableHLO, and this is none: '--pass lower-to-stablehlo' "
            "makes it of Graph IR",
            (int)strcspn(list->items[0], "="), list->items[0]);
    const bool bytes = shlo_is_bytecode((const uint8_t *)source, size);
    return run(bytes ? shlo_read_bytecode((const uint8_t *)source, size, st)
                     : shlo_read_text(source, size, st),
               list, out, st);
}
