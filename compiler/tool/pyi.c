/* pyi.c - the names of the language as Python's tools read them: element types, policies,
 * distributions, functions, and those of `tile`. */
#include <string.h>

#include "base/dtype.h"
#include "check/cases.h"
#include "check/check.h"
#include "check/tiles/tiles.h"
#include "parameters/parameters.h"
#include "tool/tables.h"

enum { WORDS_MAX = 64 };
static const char *const tile_blocks[] = {"rows", "cols", "batch"};

/* "x, axis=None, *, k=0" with a type for each parameter. */
static void typed_parameters(text *out, const char *signature) {
    for (const char *p = signature; *p;) {
        size_t name = strcspn(p, "=,"), whole = name;
        if (p[name] == '=') /* a value may have commas in its parentheses */
            whole =
                name + (p[name + 1] == '(' ? strcspn(p + name, ")") + 1 : strcspn(p + name, ","));
        text_printf(out, "%.*s", (int)name, p);
        if (*p != '*')
            text_append(out, ": Any");
        if (whole > name)
            text_printf(out, " = %.*s", (int)(whole - name - 1), p + name + 1);
        p += whole;
        if (*p)
            text_append(out, ", ");
        p += strspn(p, ", ");
    }
}

static void print_def(text *out, const char *indent, const char *name, const char *signature,
                      const char *gives, const char *summary) {
    text_printf(out, "%sdef %s(", indent, name);
    typed_parameters(out, signature);
    text_printf(out, ") -> %s:\n%s    \"\"\"%s\"\"\"\n", gives ? gives : "Tensor", indent, summary);
}

/* ---- words of types and cases ---- */

static void print_types(text *out) {
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (t != DTYPE_NONE && t != DTYPE_BOOL)
            text_printf(out, "%s: ElementType\n", dtype_name((dtype)t));
}

static void print_policies(text *out) {
    for (int p = 0; p < POLICY_COUNT; p++) {
        const char *argument, *name = policy_form((policy_kind)p, &argument);
        if (argument)
            text_printf(out, "def %s(value: Any) -> Policy:\n    \"\"\"takes %s\"\"\"\n", name,
                        argument);
        else
            text_printf(out, "%s: Policy\n", name);
    }
}

static void print_distributions(text *out) {
    const char *name;
    text signature;
    text_init(&signature);
    for (size_t i = 0; distribution_signature(i, &name, &signature); i++) {
        const special_function *also = special_function_named(name);
        text_append(out, also ? "@overload\n" : "");
        print_def(out, "", name, signature.data, "Distribution", "what a case draws an input from");
        if (also) {
            text_append(out, "@overload\n");
            print_def(out, "", name, also->signature, also->gives, also->summary);
        }
        text_release(&signature);
        text_init(&signature);
    }
    text_release(&signature);
}

static void print_schedule(text *out) {
    const parameter_info *table;
    uint32_t count = parameter_table(&table);
    text_append(out, "def schedule(*base: Any");
    for (uint32_t i = 0; i < count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < i; k++)
            known |= strcmp(table[k].source, table[i].source) == 0;
        if (!known)
            text_printf(out, ", %s: Any = ...", table[i].source);
    }
    text_append(out, ") -> Any:\n    \"\"\"how a kernel is computed: a decorator, or a constant of "
                     "the file\"\"\"\n");
}

/* ---- functions ---- */

static bool is_distribution(const char *wanted) {
    const char *name;
    text signature;
    bool found = false;
    text_init(&signature);
    for (size_t i = 0; !found && distribution_signature(i, &name, &signature); i++)
        found = strcmp(name, wanted) == 0;
    text_release(&signature);
    return found;
}

static void print_operation(text *out, const char *name, int opcode) {
    const op_info *info = op_info_get(opcode);
    text signature;
    text_init(&signature);
    operation_signature(opcode, &signature);
    const char *gives = info->results == 3 ? "tuple[Tensor, Tensor, Tensor]" : NULL;
    print_def(out, "", name, signature.data, gives, info->summary);
    text_release(&signature);
}

static void print_functions(text *out) {
    for (size_t i = 0; i < special_function_count; i++) {
        const special_function *f = &special_functions[i];
        if (!is_distribution(f->name))
            print_def(out, "", f->name, f->signature, f->gives, f->summary);
    }
    for (int op = 0; op < GRAPH_OP_COUNT; op++) {
        const char *name = op_info_get(op)->name + strlen("tessera.");
        if (operation_is_function(op) && !special_function_named(name))
            print_operation(out, name, op);
    }
    for (size_t i = 0; i < function_alias_count; i++) {
        const special_function *f = special_function_named(function_aliases[i].name);
        if (f)
            print_def(out, "", function_aliases[i].alias, f->signature, f->gives, f->summary);
        else
            print_operation(out, function_aliases[i].alias,
                            operation_named(function_aliases[i].name));
    }
}

/* ---- tiles ---- */

static void print_context(text *out) {
    text_append(out,
                "\nclass Context:\n    \"\"\"tile.context(): sizes of tiles, and the blocks of "
                "this instance\"\"\"\n\n");
    for (int i = 0; i < TILE_KNOBS; i++)
        text_printf(out, "    %s: int\n", tile_knob_names[i].word);
    for (size_t i = 0; i < sizeof tile_blocks / sizeof *tile_blocks; i++)
        text_printf(out, "    %s: Block\n", tile_blocks[i]);
}

static void print_tile(text *out) {
    text_append(out,
                "\nclass _Tile:\n    \"\"\"functions of kernels of tiles; those of tensors are "
                "here, too\"\"\"\n\n");
    for (size_t i = 0; i < tile_function_count; i++) {
        const special_function *f = &tile_functions[i];
        text_append(out, "    @staticmethod\n");
        print_def(out, "    ", f->name, f->signature, f->gives, f->summary);
    }
    text_append(out, "    def __getattr__(self, name: str) -> Any: ...\n\ntile: _Tile\n");
}

void print_pyi(text *out) {
    print_types(out);
    print_policies(out);
    print_distributions(out);
    print_schedule(out);
    print_functions(out);
    print_context(out);
    print_tile(out);
}
