/* cases.c - @cases(case("name", M=1, x=normal(0, 3)), ...): what a kernel is run on, checked
 * against its interface. */
#include "check/cases.h"

#include <inttypes.h>
#include <string.h>

#include "check/specialize.h"
#include "source/parser.h"

dtype parameter_type(const kernel_interface *k, uint32_t parameter, const compiler_case *c) {
    const annotation *a = &k->parameters[parameter];
    for (uint32_t i = 0; a->variable && i < c->type_count; i++)
        if (strcmp(c->types[i].name, a->variable) == 0)
            return c->types[i].type;
    return a->type;
}

static const char *parameter_name(const kernel_interface *k, uint32_t index) {
    for (uint32_t i = 0, positional = 0; i < k->function->parameter_count; i++)
        if (!k->function->parameters[i].keyword_only && positional++ == index)
            return k->function->parameters[i].name;
    return "";
}

static const node *find_argument(const node *call, const char *name) {
    for (uint32_t i = 0; i < call->count; i++)
        if (call->items[i]->kind == NODE_KEYWORD && strcmp(call->items[i]->text, name) == 0)
            return call->items[i];
    return NULL;
}

/* ---- names of arguments ---- */

static size_t known_arguments(const kernel_interface *k, const char **out) {
    size_t count = 0;
    out[count++] = "large";
    for (uint32_t i = 0; i < k->symbol_count; i++)
        out[count++] = k->symbols[i].name;
    for (uint32_t i = 0; i < k->variable_count; i++)
        out[count++] = k->variables[i].name;
    for (uint32_t i = 0; i < k->function->parameter_count; i++)
        if (!strchr(k->function->parameters[i].name, '.'))
            out[count++] = k->function->parameters[i].name;
    for (uint32_t i = 0; i < k->record_count; i++)
        if (k->records[i].type)
            out[count++] = k->records[i].name;
    return count;
}

static bool argument_known(case_reader *r, const node *n, const char *const *known, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(known[i], n->text) == 0)
            return true;
    diagnose_error(r->report, ERROR_CASE_ARGUMENT, n->symbol_at,
                   "'%.60s' is not a dimension, type variable or parameter of '%s'", n->text,
                   r->kernel->function->name);
    if (!diagnose_nearest(r->report, n->text, known, count)) {
        text list;
        text_init(&list);
        for (size_t i = 0; i < count; i++)
            text_printf(&list, "%s%s", i ? ", " : "", known[i]);
        diagnose_help(r->report, "there are %s", list.data);
        text_release(&list);
    }
    return false;
}

static bool arguments_check(case_reader *r, const node *call) {
    const kernel_interface *k = r->kernel;
    size_t limit =
        1 + k->symbol_count + k->variable_count + k->record_count + k->function->parameter_count;
    const char **known = ARENA_NEW(&r->source->memory, const char *, limit);
    size_t count = known_arguments(k, known);
    bool good = true;
    for (uint32_t i = 0; i < call->count; i++) {
        const node *n = call->items[i];
        if (n->kind != NODE_KEYWORD) {
            bool name = i == 0 && n->kind == NODE_STRING;
            if (!name) {
                diagnose_error(r->report, ERROR_CASE_FORM, n->at,
                               "a case takes its name, then named arguments");
            }
            good &= name;
        } else if (!argument_known(r, n, known, count)) {
            good = false;
        } else if (find_argument(call, n->text) != n) {
            diagnose_error(r->report, ERROR_DUPLICATE_ARGUMENT, n->symbol_at, "'%s' is given twice",
                           n->text);
            good = false;
        }
    }
    return good;
}

/* ---- name, dimensions, types, size ---- */

static bool name_read(case_reader *r, const node *call, compiler_case *out) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const node *n = call->count ? call->items[0] : NULL;
    if (!n || n->kind != NODE_STRING) {
        diagnose_error(r->report, ERROR_CASE_FORM, call->at, "a case begins with its name");
        diagnose_help(r->report, "case(\"ragged\", M=13, N=127)");
        return false;
    }
    if (!n->text[0] || n->text[strspn(n->text, allowed)] ||
        strlen(n->text) > LIMIT_CASE_NAME_BYTES) {
        diagnose_error(r->report, ERROR_CASE_NAME, n->at,
                       "a case's name is made of letters, digits and _ - . (%d at most)",
                       LIMIT_CASE_NAME_BYTES);
        return false;
    }
    intptr_t first;
    if (map_get(&r->numbers, n->text, &first)) {
        diagnose_error(r->report, ERROR_DUPLICATE_CASE, n->at, "two cases are called '%s'",
                       n->text);
        diagnose_note(r->report, r->names.items[first], "the first is here");
        return false;
    }
    out->name = n->text;
    return true;
}

static bool dim_bind(case_reader *r, const node *call, const char *name, int64_t *out) {
    const node *n = find_argument(call, name);
    if (!n) {
        diagnose_error(r->report, ERROR_CASE_BINDING, call->at,
                       "this case does not bind dimension '%s'", name);
        diagnose_help(r->report, "add %s=...", name);
        return false;
    }
    entity e = check_expression(&r->scope, n->left);
    if (e.kind == ENTITY_BROKEN)
        return false;
    if (e.kind != ENTITY_NUMBER || !e.is_integer || e.integer < 0 || e.integer > limit_dimension) {
        diagnose_error(r->report, ERROR_CASE_DIMENSION, n->left->at,
                       "a dimension is an integer between 0 and %" PRId64, limit_dimension);
        return false;
    }
    *out = e.integer;
    return true;
}

static bool dims_read(case_reader *r, const node *call, compiler_case *out) {
    const kernel_interface *k = r->kernel;
    ir_binding *dims = ARENA_NEW(&r->source->memory, ir_binding, k->symbol_count + 1);
    bool good = true;
    for (uint32_t i = 0; i < k->symbol_count; i++) {
        dims[i].name = k->symbols[i].name;
        good &= dim_bind(r, call, dims[i].name, &dims[i].value);
    }
    for (uint32_t i = 0; good && i < k->symbol_count; i++) {
        entity value = entity_integer(&r->scope, dims[i].value, call->at);
        scope_define(&r->scope, dims[i].name, value, call->at, NULL);
    }
    out->dims = dims;
    out->dim_count = k->symbol_count;
    return good;
}

static bool type_bind(case_reader *r, const node *call, const char *name, dtype *out) {
    const node *n = find_argument(call, name);
    if (!n) {
        diagnose_error(r->report, ERROR_CASE_BINDING, call->at,
                       "this case does not bind type variable '%s'", name);
        diagnose_help(r->report, "add %s=f32", name);
        return false;
    }
    if (n->left->kind == NODE_NAME && dtype_from_name(n->left->text) == DTYPE_NONE) {
        type_named(n->left->text, n->left->at, r->report);
        return false;
    }
    entity e = check_expression(&r->scope, n->left);
    return argument_type(&r->scope, &e, out);
}

static bool types_read(case_reader *r, const node *call, compiler_case *out) {
    const kernel_interface *k = r->kernel;
    compiler_type_binding *types =
        ARENA_NEW(&r->source->memory, compiler_type_binding, k->variable_count + 1);
    bool good = true;
    for (uint32_t i = 0; i < k->variable_count; i++) {
        types[i].name = k->variables[i].name;
        good &= type_bind(r, call, types[i].name, &types[i].type);
    }
    out->types = types;
    out->type_count = k->variable_count;
    return good;
}

/* ---- constants ---- */

/* A whole number stays one: it may be a length or a count. */
static bool constants_alike(const entity *own, const entity *given) {
    return own->kind == ENTITY_BROKEN ||
           (given->kind == own->kind &&
            (own->kind != ENTITY_NUMBER || given->is_integer || !own->is_integer));
}

static const char *constant_text(case_reader *r, const entity *e) {
    return e->kind == ENTITY_NUMBER ? arena_strdup(&r->source->memory, e->text)
           : e->kind == ENTITY_BOOL ? (e->integer ? "True" : "False")
                                    : dtype_name(e->type);
}

static bool constant_bind(case_reader *r, const ast_parameter *p, const node *given,
                          compiler_constant *out) {
    entity own = p->fallback ? check_expression(&r->scope, p->fallback) : entity_broken(p->at);
    entity value = check_expression(&r->scope, given->left);
    if (value.kind == ENTITY_BROKEN)
        return false;
    if (!constants_alike(&own, &value)) {
        diagnose_error(r->report, ERROR_CASE_CONSTANT, given->left->at,
                       "constant '%s' of the kernel is %s%s, and here it would be %s", p->name,
                       entity_describe(&own), own.is_integer ? ", a whole one" : "",
                       value.kind == own.kind ? "a fraction" : entity_describe(&value));
        diagnose_note(r->report, p->fallback->at, "it has its value here");
        return false;
    }
    *out = (compiler_constant){p->name, constant_text(r, &value), given->left};
    return true;
}

static bool constants_read(case_reader *r, const node *call, compiler_case *out) {
    const ast_function *f = r->kernel->function;
    compiler_constant *list =
        ARENA_NEW(&r->source->memory, compiler_constant, f->parameter_count + 1);
    out->constants = list;
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const ast_parameter *p = &f->parameters[i];
        const node *given = p->keyword_only ? find_argument(call, p->name) : NULL;
        if (given && !constant_bind(r, p, given, &list[out->constant_count++]))
            return false;
    }
    return true;
}

static bool large_read(case_reader *r, const node *call, compiler_case *out) {
    const node *n = find_argument(call, "large");
    if (n && n->left->kind != NODE_BOOL) {
        diagnose_error(r->report, ERROR_CASE_LARGE, n->left->at, "large is True or False");
        return false;
    }
    out->large = n && n->left->integer;
    return true;
}

/* ---- what the dimensions make of the parameters ---- */

bool case_shapes_check(const kernel_interface *k, const compiler_case *c, span at, diagnostics *d) {
    for (uint32_t i = 0; i < k->parameter_count; i++) {
        int64_t sizes[IR_MAX_RANK] = {0};
        for (int axis = 0; axis < k->parameters[i].rank; axis++) {
            int64_t value = 0;
            const node *dim = k->parameters[i].dims[axis];
            dim_result result = dim_evaluate(dim, c->dims, c->dim_count, &value);
            if (result == DIM_VALUE && value >= 0 && value <= limit_dimension) {
                sizes[axis] = value;
                continue;
            }
            if (result == DIM_VALUE) {
                diagnose_error(d, ERROR_CASE_SHAPE, at,
                               "dimension %d of '%s' would be %lld in this case", axis,
                               parameter_name(k, i), (long long)value);
            } else {
                diagnose_error(d, ERROR_CASE_SHAPE, at,
                               "dimension %d of '%s' has no value in this case", axis,
                               parameter_name(k, i));
            }
            diagnose_note(d, dim->at, "it is declared here");
            return false;
        }
        if (graph_elements(k->parameters[i].rank, sizes) > limit_elements) {
            diagnose_error(d, ERROR_ELEMENT_LIMIT, at,
                           "'%s' would have more than 2^%d elements in this case",
                           parameter_name(k, i), LIMIT_ELEMENT_BITS);
            diagnose_note(d, k->parameters[i].at, "it is declared here");
            return false;
        }
    }
    return true;
}

static bool inputs_read(case_reader *r, const node *call, compiler_case *out) {
    const kernel_interface *k = r->kernel;
    compiler_input *inputs = ARENA_NEW(&r->source->memory, compiler_input, k->parameter_count + 1);
    bool good = true;
    for (uint32_t i = 0; i < k->record_count; i++) {
        const node *n = find_argument(call, k->records[i].name);
        good &= !n || unfold_fits(r->source->main, k->records[i].type, n->left, r->report);
    }
    for (uint32_t i = 0; good && i < k->parameter_count; i++) {
        dtype type = parameter_type(k, i, out);
        const node *n = unfold_argument(r->source->main, call, parameter_name(k, i));
        inputs[i] = default_input(type);
        good &= !n || distribution_read(r, n, type, &inputs[i]);
    }
    out->inputs = inputs;
    return good;
}

static void case_read(case_reader *r, const node *n) {
    if (n->kind != NODE_CALL || n->left->kind != NODE_NAME || strcmp(n->left->text, "case") != 0) {
        diagnose_error(r->report, ERROR_CASE_FORM, n->at, "expected case(...)");
        return;
    }
    compiler_case c = {.line = source_position_of(&r->source->text, n->at.start).line};
    bool named = name_read(r, n, &c);
    bool good = arguments_check(r, n) && named;
    good = good && dims_read(r, n, &c);
    good &= c.dims != NULL && types_read(r, n, &c) && constants_read(r, n, &c);
    good = good && large_read(r, n, &c) && case_shapes_check(r->kernel, &c, n->at, r->report) &&
           inputs_read(r, n, &c);
    if (good) {
        map_put(&r->numbers, c.name, (intptr_t)r->cases.count);
        vec_push(&r->cases, c);
        vec_push(&r->names, n->items[0]->at);
    }
}

/* The decorators that a kernel has; each stands at most once, but @cases. */
typedef struct decorated {
    bool kernel;             /* marked as one, or wrong and may have been meant to */
    const node *math;        /* @math(...), or NULL */
    const char *set;         /* what it asks for */
    const node *schedule;    /* @schedule(...), or NULL */
    const node *independent; /* @independent(...), or NULL */
    const compiler_schedule *kept;
    VEC(compiler_special) specials; /* of @specialize(...), in their order */
    const node *promise;
    const compiler_numerics *numerics;
    const node *stepped; /* @verify.steps(...), or NULL */
    const char *steps;
} decorated;

static bool is_call_of(const node *n, const char *name) {
    return n->kind == NODE_CALL && n->left->kind == NODE_NAME && strcmp(n->left->text, name) == 0;
}

/* A decorator that stands once: *first is where, or becomes this one. True when reported. */
static bool is_second(case_reader *r, const node **first, const node *n, const char *name) {
    if (!*first) {
        *first = n;
        return false;
    }
    diagnose_error(r->report, ERROR_DUPLICATE_DECORATOR, n->at, "%s appears twice", name);
    diagnose_note(r->report, (*first)->at, "first here");
    return true;
}

static void math_read(case_reader *r, const node *n, decorated *out) {
    const node *set = n->kind == NODE_CALL && n->count == 1 ? n->items[0] : NULL;
    if (is_second(r, &out->math, n, "@math"))
        return;
    if (set && set->kind == NODE_STRING && strcmp(set->text, "correct") == 0) {
        out->set = set->text;
        return;
    }
    if (set && set->kind == NODE_STRING) {
        diagnose_error(r->report, ERROR_MATH_ARGUMENT, set->at,
                       "unknown set of functions \"%.60s\"", set->text);
    } else {
        diagnose_error(r->report, ERROR_MATH_ARGUMENT, set ? set->at : n->at,
                       "@math takes one string");
    }
    diagnose_help(r->report, "write @math(\"correct\") for functions that are correctly rounded; "
                             "without it they are the specified ones");
}

/* @schedule(...), @schedule(base), @schedule(base.with_block(64, 64), tile=(6, 2)) */
static void schedule_decorator_read(case_reader *r, const node *n, decorated *out) {
    if (is_second(r, &out->schedule, n, "@schedule"))
        return;
    if (n->kind != NODE_CALL) {
        diagnose_error(r->report, ERROR_EMPTY_SCHEDULE, n->at,
                       "@schedule needs arguments: @schedule(block=(96, 256))");
        return;
    }
    entity e = schedule_read(&r->scope, n);
    if (e.kind == ENTITY_SCHEDULE)
        out->kept = schedule_keep(r->source, &e);
}

static bool is_specialize(const node *n) {
    const node *word = n->kind == NODE_CALL ? n->left : n;
    return word->kind == NODE_NAME && strcmp(word->text, "specialize") == 0;
}

/* Reads @specialize, whose `use` depends on the kernel's space, which may stand below. */
static void specials_read(case_reader *r, decorated *out) {
    const ast_function *f = r->kernel->function;
    for (uint32_t i = 0; i < f->decorator_count; i++) {
        const compiler_special *one =
            is_specialize(f->decorators[i])
                ? specialize_read(&r->scope, r->source, r->kernel, f->decorators[i])
                : NULL;
        if (one)
            vec_push(&out->specials, *one);
    }
}

/* @schedule and @specialize together; NULL: neither is there. */
static const compiler_schedule *schedule_join(case_reader *r, decorated *found) {
    arena *memory = &r->source->memory;
    if (found->specials.count == 0)
        return found->kept;
    compiler_schedule *all = ARENA_NEW(memory, compiler_schedule, 1);
    *all = found->kept ? *found->kept : (compiler_schedule){.source = &r->source->text};
    all->special_count = (uint32_t)found->specials.count;
    all->specials = arena_copy(memory, found->specials.items,
                               found->specials.count * sizeof *found->specials.items);
    return all;
}

static void independent_read(case_reader *r, const node *n, decorated *out) {
    if (is_second(r, &out->independent, n, "@independent"))
        return;
    contract_independent_read(r->source, r->kernel, n, r->report);
}

static void numerics_decorator_read(case_reader *r, const node *n, decorated *out) {
    compiler_numerics numerics;
    if (is_second(r, &out->promise, n, "@verify.numerics"))
        return;
    if (numerics_read(&r->scope, n, r->kernel->contract, &numerics))
        out->numerics = arena_copy(&r->source->memory, &numerics, sizeof numerics);
}

static void steps_decorator_read(case_reader *r, const node *n, decorated *out) {
    if (is_second(r, &out->stepped, n, "@verify.steps"))
        return;
    out->steps = verify_steps_read(&r->scope, n, r->kernel);
}

static bool are_names(const node *n) {
    bool good = n->kind == NODE_STRING || n->kind == NODE_TUPLE || n->kind == NODE_LIST;
    for (uint32_t i = 0; good && n->kind != NODE_STRING && i < n->count; i++)
        good = n->items[i]->kind == NODE_STRING;
    return good;
}

/* @jit(donate=("p", "m")) */
static void donate_read(case_reader *r, const node *n) {
    const node *word = n->count == 1 && n->items[0]->kind == NODE_KEYWORD ? n->items[0] : NULL;
    if (word && strcmp(word->text, "donate") == 0 && are_names(word->left) &&
        !r->kernel->in_tiles && !r->kernel->contract && !r->kernel->graph) {
        r->kernel->returned.donate = word->left;
        return;
    }
    diagnose_error(r->report, ERROR_DONATION, n->at,
                   "@%s takes the names of parameters that results replace, of a kernel of whole "
                   "tensors",
                   n->left->text);
    diagnose_help(r->report, "write @%s, or @%s(donate=(\"p\", \"m\"))", n->left->text,
                  n->left->text);
}

static bool is_word(const node *n, const char *name) {
    return n->kind == NODE_NAME && strcmp(n->text, name) == 0;
}

static void refuse_decorator(case_reader *r, const node *n) {
    static const char *const known[] = {"kernel",     "jit",         "cases",   "math", "schedule",
                                        "specialize", "independent", "same_as", "graph"};
    const node *word = n->kind == NODE_CALL ? n->left : n;
    const bool is_name = word->kind == NODE_NAME;
    diagnose_error(r->report, ERROR_UNKNOWN_DECORATOR, n->at,
                   "this decorator is not part of the tile language");
    if (is_name && call_instead_of(word->text))
        diagnose_help(r->report, "write %s", call_instead_of(word->text));
    else if (!is_name ||
             !diagnose_nearest(r->report, word->text, known, sizeof known / sizeof *known))
        diagnose_help(r->report,
                      "there are @kernel, @cases(...), @constants(...), "
                      "@math(...), @schedule(...), @specialize(...), "
                      "@independent(...), @same_as(...), @graph(...), @verify.numerics(...) and "
                      "@verify.steps(...), "
                      "and of kernels of tiles @kernel.autotune(...), .schedule(...) and .auto");
}

static void decorator_read(case_reader *r, const node *n, decorated *out) {
    if (is_word(n, "kernel") || is_word(n, "jit")) {
        out->kernel = true;
    } else if (is_call_of(n, "kernel") || is_call_of(n, "jit")) {
        out->kernel = true;
        donate_read(r, n);
    } else if (interface_is_kernel_word(n)) {
        out->kernel = true;
        interface_tiles_read(r->source, r->kernel, n, r->report);
    } else if (numerics_is_one(n)) {
        numerics_decorator_read(r, n, out);
    } else if (verify_steps_is_one(n)) {
        steps_decorator_read(r, n, out);
    } else if (is_call_of(n, "constants")) {
        /* interface_unfold has read it */
    } else if (is_call_of(n, "cases")) {
        out->kernel = true;
        for (uint32_t i = 0; !r->kernel->broken && i < n->count; i++)
            case_read(r, n->items[i]);
    } else if (is_call_of(n, "math") || is_word(n, "math")) {
        math_read(r, n, out);
    } else if (is_call_of(n, "schedule") || is_word(n, "schedule")) {
        schedule_decorator_read(r, n, out);
    } else if (is_specialize(n)) {
        /* specials_read does */
    } else if (is_call_of(n, "independent") || is_word(n, "independent")) {
        independent_read(r, n, out);
    } else if (is_call_of(n, "same_as") || is_word(n, "same_as")) {
        same_as_read(r->kernel, n, r->report);
    } else if (graph_text_is_one(n)) {
        graph_text_read(r->kernel, n, r->report);
    } else if (is_word(n, "cases")) {
        diagnose_error(r->report, ERROR_UNKNOWN_DECORATOR, n->at,
                       "@cases needs cases: @cases(case(\"small\", M=4))");
    } else {
        out->kernel = true;
        refuse_decorator(r, n);
    }
}

void cases_read(compiler_source *s, kernel_interface *k, compiler_kernel *out, diagnostics *d) {
    case_reader r = {.source = s, .kernel = k, .report = d};
    decorated found = {0};
    map_init(&r.numbers);
    checker_init(&r.scope, s, d);
    checker_define_constants(&r.scope);
    r.scope.constants_only = true;
    for (uint32_t i = 0; i < k->function->decorator_count; i++)
        decorator_read(&r, k->function->decorators[i], &found);
    specials_read(&r, &found);
    k->math = found.set;
    out->schedule = schedule_join(&r, &found);
    out->numerics = found.numerics;
    out->steps = found.steps;
    out->contract = k->contract;
    out->interpreted = contract_is_interpreted(k->function);
    out->unit = contract_unit(k->function);
    if (k->contract && found.math)
        contract_refuse_decorator(found.math, "math", d);
    if (k->contract && found.schedule)
        contract_refuse_decorator(found.schedule, "schedule", d);
    for (uint32_t i = 0; k->contract && i < k->function->decorator_count; i++)
        if (is_specialize(k->function->decorators[i]))
            contract_refuse_decorator(k->function->decorators[i], "specialize", d);
    if (!found.kernel && !k->function->broken) {
        diagnose_error(d, ERROR_NOT_A_KERNEL, k->function->at,
                       "function '%s' is not marked as a kernel", k->function->name);
        diagnose_help(d, "write @kernel above it, or leave its decorators out: a function that "
                         "kernels call has none");
    }
    out->case_count = (uint32_t)r.cases.count;
    if (r.cases.count)
        out->cases = arena_copy(&s->memory, r.cases.items, r.cases.count * sizeof(compiler_case));
    vec_release(&found.specials);
    vec_release(&r.cases);
    vec_release(&r.names);
    map_release(&r.numbers);
    checker_release(&r.scope);
}
