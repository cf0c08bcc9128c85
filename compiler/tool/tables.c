/* tables.c - pages that tables of the compiler make, by the option that prints them. */
#include "tool/tables.h"

#include <string.h>

#include "ir/irdl.h"
#include "ir/reference.h"
#include "math/double/listing.h"
#include "ops/batching/batching.h"
#include "ops/graph.h"
#include "ops/unit_order.h"
#include "parameters/parameters.h"

static bool tensors_only(int opcode) {
    if (opcode >= GRAPH_OP_COUNT)
        return false;
    graph_class class = graph_op_class(opcode);
    return class != GRAPH_CLASS_ELEMENTWISE && class != GRAPH_CLASS_GENERATOR &&
           class != GRAPH_CLASS_KERNEL;
}

static void print_irdl(text *out) {
    irdl_print(tensors_only, out);
}

static void print_limits(text *out) {
    text_append(out, "| at most | |\n|---|---|\n");
#define LIMIT(NAME, value, shown, what) text_printf(out, "| %s | %s |\n", shown, what);
#include "ir/limits.def"
}

/* Capabilities that a device says of itself, and that @specialize may ask for. */
static void print_capabilities(text *out) {
    enum { ASKED_NOTHING, ASKED_NAME, ASKED_EXACTLY, ASKED_COUNT, ASKED_FLAG, ASKED_TYPE };
    static const char *const asked[] = {
        [ASKED_NOTHING] = "",       [ASKED_NAME] = "which",   [ASKED_EXACTLY] = "how many",
        [ASKED_COUNT] = "at least", [ASKED_FLAG] = "whether", [ASKED_TYPE] = "of which types"};
    text_append(out, "| key | is | `when` asks | meaning |\n|---|---|---|---|\n");
#define KEY(name, value, ASKED, meaning)                                                           \
    text_printf(out, "| `%s` | %s | %s | %s |\n", #name, value, asked[ASKED_##ASKED], meaning);
#include "device/capability_keys.def"
}

static void print_batch_rule(text *out, batch_rule rule, const char *summary) {
    const char *separator = "| ";
    for (int op = 0; op < GRAPH_OP_COUNT; op++) {
        if (batching_of(op) != rule)
            continue;
        text_printf(out, "%s`%s`", separator, op_info_get(op)->name + strlen("tessera."));
        separator = ", ";
    }
    text_printf(out, " | %s |\n", summary);
}

/* Operations of StableHLO that become Graph IR, and those that are refused. Handlers are in
 * stablehlo.def by name. */
static void print_stablehlo(text *out) {
    static const struct {
        const char *name, *handler;
    } lines[] = {
#define SHLO(ENUM, name, regions, attrs, syntax, handler, graph) {name, #handler},
#include "import/stablehlo/stablehlo.def"
#undef SHLO
    };
    text_append(out, "| operations | |\n|---|---|\n");
    for (int refused = 0; refused < 2; refused++) {
        const char *separator = "| ";
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            if (strcmp(lines[i].name, "func") == 0 || strcmp(lines[i].name, "return") == 0 ||
                (strcmp(lines[i].handler, "refused") == 0) != refused)
                continue;
            text_printf(out, "%s`%s`", separator, lines[i].name);
            separator = ", ";
        }
        text_append(out, refused ? " | refused by name |\n" : " | become Graph IR |\n");
    }
}

/* Operations by the rule of their batches. */
static void print_batches(text *out) {
    text_append(out, "| operations | on a batch |\n|---|---|\n");
#define RULE(name, summary) print_batch_rule(out, batch_rule_##name, summary);
#include "ops/batching/batching.def"
}

page_print *page_find(const char *option) {
    static const struct {
        const char *option;
        page_print *print;
    } pages[] = {{"--irdl", print_irdl},
                 {"--docs", reference_print},
                 {"--functions", math_print_listing},
                 {"--parameters", parameter_print_words},
                 {"--matrix-units", unit_order_print},
                 {"--limits", print_limits},
                 {"--batches", print_batches},
                 {"--stablehlo", print_stablehlo},
                 {"--capabilities", print_capabilities},
                 {"--pyi", print_pyi}};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(pages[i].option, option) == 0)
            return pages[i].print;
    return NULL;
}
