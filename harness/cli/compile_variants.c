/* compile_variants.c - reads --specialize. */
#include "cli/compile_variants.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

void compile_variants_release(compile_variants *v) {
    arena_release(&v->memory);
}

static bool same_types(const compiler_case *a, const compiler_case *b) {
    bool same = a->type_count == b->type_count;
    for (uint32_t i = 0; same && i < a->type_count; i++)
        same =
            strcmp(a->types[i].name, b->types[i].name) == 0 && a->types[i].type == b->types[i].type;
    return same;
}

static bool read_case(const kernel_choice *k, const char *name, ir_bindings *out, status *st) {
    const compiler_case *c = compiler_case_named(k->kernel, name);
    if (!c || !k->c)
        return status_set(st, STATUS_NOT_FOUND,
                          "kernel %s has no case %s; dimensions are M=512,...", k->kernel->name,
                          name);
    if (!same_types(c, k->c))
        return status_set(st, STATUS_INVALID,
                          "case %s has other element types than %s, which the module is for", name,
                          k->c->name);
    *out = (ir_bindings){c->dims, c->dim_count};
    return true;
}

static bool read_dims(compile_variants *v, const char *words, ir_bindings *out, status *st) {
    compiler_values values;
    if (!compiler_values_read(words, &v->memory, &values, st))
        return status_set(st, STATUS_INVALID, "--specialize %s", words);
    *out = (ir_bindings){values.dims, values.dim_count};
    return values.type_count == 0 ||
           status_set(st, STATUS_INVALID, "--specialize %s: %s has no number", words,
                      values.types[0].name);
}

int compile_variants_read(const options *o, const kernel_choice *k, compile_variants *out) {
    const string_list *given = &o->values[OPTION_SPECIALIZE].values;
    status st = STATUS_INIT;
    bool ok = true;
    if (given->count && !options_flag(o, OPTION_GENERIC))
        return command_usage(o->command, "--specialize goes with --generic");
    if (given->count > COMPILER_VARIANTS_MAX)
        return command_usage(o->command, "--specialize at most %d times", COMPILER_VARIANTS_MAX);
    *out = (compile_variants){.count = (uint32_t)given->count};
    arena_init(&out->memory);
    for (size_t i = 0; i < given->count && ok; i++)
        ok = strchr(given->items[i], '=') ? read_dims(out, given->items[i], &out->items[i], &st)
                                          : read_case(k, given->items[i], &out->items[i], &st);
    if (ok)
        return EXIT_DONE;
    compile_variants_release(out);
    return command_fail(&st);
}
