/* bytecode_fit.c - an attribute of an operation against the kind that stablehlo.def gives it. */
#include <string.h>

#include "import/stablehlo/bytecode.h"

/* Kinds of the table; those that are not here are enumerations. Of a list also what its items are;
 * UNIT: anything. */
static const struct {
    const char *name;
    shlo_attr_kind kind, item;
} kinds[] = {{"ints", SHLO_ATTR_TENSOR, SHLO_ATTR_UNIT},
             {"bools", SHLO_ATTR_TENSOR, SHLO_ATTR_UNIT},
             {"tensor", SHLO_ATTR_TENSOR, SHLO_ATTR_UNIT},
             {"i64", SHLO_ATTR_INTEGER, SHLO_ATTR_UNIT},
             {"i32", SHLO_ATTR_INTEGER, SHLO_ATTR_UNIT},
             {"f32", SHLO_ATTR_FLOAT, SHLO_ATTR_UNIT},
             {"bool", SHLO_ATTR_BOOL, SHLO_ATTR_UNIT},
             {"string", SHLO_ATTR_STRING, SHLO_ATTR_UNIT},
             {"config", SHLO_ATTR_STRING, SHLO_ATTR_UNIT},
             {"config", SHLO_ATTR_DICT, SHLO_ATTR_UNIT},
             {"symbol", SHLO_ATTR_SYMBOL, SHLO_ATTR_UNIT},
             {"symbols", SHLO_ATTR_ARRAY, SHLO_ATTR_SYMBOL},
             {"type", SHLO_ATTR_TYPE, SHLO_ATTR_UNIT},
             {"array", SHLO_ATTR_ARRAY, SHLO_ATTR_UNIT},
             {"dict", SHLO_ATTR_DICT, SHLO_ATTR_UNIT},
             {"precisions", SHLO_ATTR_ARRAY, SHLO_ATTR_ENUM},
             {"accuracy", SHLO_ATTR_ACCURACY, SHLO_ATTR_UNIT}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* VHLO has names of functions as strings. */
static const shlo_attr *as_symbol(bytecode *r, const shlo_attr *a) {
    shlo_attr *symbol = BYTECODE_NEW(r, shlo_attr, 1);
    *symbol = *a;
    symbol->kind = SHLO_ATTR_SYMBOL;
    return symbol;
}

static const shlo_attr *as_symbols(bytecode *r, const shlo_attr *a) {
    shlo_attr *list = BYTECODE_NEW(r, shlo_attr, 1);
    const shlo_attr **items = BYTECODE_NEW(r, const shlo_attr *, a->count);
    *list = *a;
    list->items = items;
    for (uint32_t i = 0; i < a->count; i++)
        items[i] = a->items[i]->kind == SHLO_ATTR_STRING ? as_symbol(r, a->items[i]) : a->items[i];
    return list;
}

static bool has_items(const shlo_attr *a, shlo_attr_kind item) {
    for (uint32_t i = 0; item != SHLO_ATTR_UNIT && i < a->count; i++)
        if (a->items[i]->kind != item)
            return false;
    return true;
}

static bool fits(const shlo_attr *a, const char *kind) {
    bool is_known = false;
    for (size_t k = 0; k < KINDS; k++) {
        if (strcmp(kinds[k].name, kind) != 0)
            continue;
        if (a->kind == kinds[k].kind)
            return has_items(a, kinds[k].item);
        is_known = true;
    }
    return !is_known && a->kind == SHLO_ATTR_ENUM && shlo_enum_has(kind, a->string);
}

const shlo_attr *bytecode_fit(bytecode *r, const shlo_attr *a, const bytecode_name *name,
                              const shlo_attr_info *info, size_t at) {
    if (strcmp(info->kind, "symbol") == 0 && a->kind == SHLO_ATTR_STRING)
        a = as_symbol(r, a);
    else if (strcmp(info->kind, "symbols") == 0 && a->kind == SHLO_ATTR_ARRAY)
        a = as_symbols(r, a);
    if (fits(a, info->kind))
        return a;
    bytecode_fail(r->st, at, "attribute '%s' of '%s' is of another kind than %s", info->name,
                  name->written, info->kind);
    return NULL;
}
