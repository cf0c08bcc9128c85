/* kernel.c - one kernel under one binding of its types: parameters, statements, the return, and the
 * finished graph. */
#include <stdlib.h>
#include <string.h>

#include "check/mesh.h"
#include "check/settings.h"
#include "ops/build.h"
#include "ops/reductions.h"

/* ---- the checker's life ---- */

void checker_init(checker *c, compiler_source *s, diagnostics *d) {
    *c = (checker){.source = s, .report = d};
    arena_init(&c->memory);
    scope_init(&c->scope);
    scope_init(&c->weights);
}

void checker_release(checker *c) {
    for (size_t i = 0; c->constants && i < c->source->modules.count; i++)
        scope_release(&c->constants[i]);
    scope_release(&c->scope);
    scope_release(&c->weights);
    vec_release(&c->origins);
    vec_release(&c->policies);
    vec_release(&c->written);
    vec_release(&c->effects);
    vec_release(&c->observed);
    vec_release(&c->settings.devices);
    vec_release(&c->settings.fetches);
    arena_release(&c->memory);
}

/* ---- constants ---- */

/* Defines the file's or the kernel's constant: only a file has schedules. */
static void define_constant(checker *c, const char *name, span at, const node *value,
                            bool of_file) {
    entity e = check_expression(c, value);
    bool scheduled = e.kind == ENTITY_SCHEDULE || e.kind == ENTITY_TILE_SCHEDULE ||
                     (e.kind == ENTITY_FUNCTION && (e.schedule || e.transform)) ||
                     e.kind == ENTITY_MESH || e.kind == ENTITY_SPEC || e.kind == ENTITY_SHARDING;
    bool constant = e.kind == ENTITY_NUMBER || e.kind == ENTITY_BOOL || e.kind == ENTITY_TYPE ||
                    (scheduled && of_file);
    if (!constant && e.kind != ENTITY_BROKEN && !diagnosed_on_line(c->report, value->at.start)) {
        diagnose_error(c->report, ERROR_CONSTANT_KIND, value->at,
                       "a constant is a number, a bool%s element type%s, not %s",
                       of_file ? ", an" : " or an", of_file ? ", a mesh or a schedule" : "",
                       entity_describe(&e));
    }
    scope_define(c, name, constant ? e : entity_broken(value->at), at, NULL);
}

/* Constants that a file takes from others, which have been read. */
static void define_imported(checker *c, const source_module *m) {
    for (size_t i = 0; i < m->imported.count; i++) {
        const imported_name *one = &m->imported.items[i];
        const char *name = one->name;
        const source_module *from = one->module ? module_of_name(one->module, &name) : NULL;
        const node *value = from ? module_constant(from, name) : NULL;
        if (!value || weight_is_one(value))
            continue;
        c->module = (source_module *)from;
        scope_define(c, one->local, scope_lookup(c, name, one->at), one->at, NULL);
        c->module = (source_module *)m;
    }
}

static void define_own(checker *c, const ast_module *m) {
    for (uint32_t i = 0; i < m->constant_count; i++) {
        const node *assign = m->constants[i];
        for (uint32_t k = 0; k < assign->count && !weight_is_one(assign->left); k++) {
            if (assign->items[k]->kind == NODE_NAME) {
                define_constant(c, assign->items[k]->text, assign->items[k]->at, assign->left,
                                true);
            } else {
                diagnose_error(c->report, ERROR_CONSTANT_TARGETS, assign->items[k]->at,
                               "name one constant a line");
            }
        }
    }
}

void checker_define_constants(checker *c) {
    const name_scope own = c->scope;
    c->constants = ARENA_NEW(&c->memory, name_scope, c->source->modules.count + 1);
    c->constants_only = true;
    for (size_t i = 0; i < c->source->modules.count; i++)
        scope_init(&c->constants[i]);
    for (size_t i = 0; i < c->source->modules.count; i++) {
        scope_init(&c->scope);
        c->module = c->source->modules.items[i];
        define_imported(c, c->source->modules.items[i]);
        define_own(c, c->source->modules.items[i]->ast);
        scope_release(&c->constants[i]);
        c->constants[i] = c->scope;
    }
    c->constants_only = false;
    c->scope = own;
    c->module = c->source->main;
}

void constants_check(compiler_source *s, diagnostics *d) {
    checker c;
    checker_init(&c, s, d);
    checker_define_constants(&c);
    for (size_t i = 0; i < s->modules.count; i++)
        entries_put_constants(&c, s->modules.items[i]);
    checker_release(&c);
}

/* ---- types from annotations ---- */

/* In a function a dimension of its own has the meaning that a call gives it. */
static ir_dim named_dim(checker *c, const char *name) {
    const local_name *local = c->calls ? scope_find_own(c, name) : NULL;
    if (local && local->value.kind == ENTITY_DIM)
        return local->value.dim;
    bool number = local && local->value.kind == ENTITY_NUMBER && local->value.is_integer;
    return number ? local->value.integer : ir_dim_symbol(c->m, name);
}

static ir_dim annotated_dim(checker *c, const node *n) {
    if (n->kind == NODE_INT)
        return n->integer;
    if (n->kind == NODE_NAME)
        return named_dim(c, n->text);
    ir_dim a = annotated_dim(c, n->left), b = annotated_dim(c, n->right);
    if (a == IR_DIM_INVALID || b == IR_DIM_INVALID)
        return IR_DIM_INVALID;
    switch (n->symbol) {
    case SYMBOL1('+'):
        return ir_dim_add(c->m, a, b);
    case SYMBOL1('-'):
        return ir_dim_sub(c->m, a, b);
    case SYMBOL1('*'):
        return ir_dim_mul(c->m, a, b);
    default:
        return b == 0 ? IR_DIM_INVALID : ir_dim_floordiv(c->m, a, b);
    }
}

static dtype bound_type(checker *c, const annotation *a) {
    const local_name *local = c->calls && a->variable ? scope_find_own(c, a->variable) : NULL;
    if (local && local->value.kind == ENTITY_TYPE)
        return local->value.type;
    for (uint32_t i = 0; a->variable && i < c->type_count; i++)
        if (strcmp(c->types[i].name, a->variable) == 0)
            return c->types[i].type;
    return a->type;
}

/* IR_TYPE_NONE's id, 0, when reported. */
ir_type kernel_annotated_type(checker *c, const annotation *a) {
    ir_dim dims[IR_MAX_RANK];
    for (int i = 0; i < a->rank; i++) {
        dims[i] = annotated_dim(c, a->dims[i]);
        if (dims[i] == IR_DIM_INVALID) {
            diagnose_error(c->report, ERROR_DIMENSION_RANGE, a->dims[i]->at,
                           "this dimension would be negative or too large");
            return 0;
        }
    }
    dtype element = bound_type(c, a);
    if (element == DTYPE_NONE) {
        diagnose_error(c->report, ERROR_TYPE_VARIABLE_VALUE, a->at,
                       "type variable '%s' is not bound", a->variable);
        diagnose_help(c->report, "a case binds it: case(\"name\", %s=f32)", a->variable);
        return 0;
    }
    if (graph_elements(a->rank, dims) > limit_elements) {
        diagnose_error(c->report, ERROR_ELEMENT_LIMIT, a->at, "a tensor has at most 2^%d elements",
                       LIMIT_ELEMENT_BITS);
        return 0;
    }
    const ir_type out = ir_type_tensor(c->m, element, a->rank, dims);
    return a->sharding && !sharding_divides(c, a->sharding, out, a->at) ? 0 : out;
}

/* ---- the kernel's head ---- */

static void define_symbols(checker *c) {
    const kernel_interface *k = c->kernel;
    for (uint32_t i = 0; i < k->symbol_count; i++) {
        entity e = entity_dim(c, ir_dim_symbol(c->m, k->symbols[i].name), k->symbols[i].at);
        /* Kernels of tiles may use the names again, as S = tile.dot(...) does. */
        scope_define(c, k->symbols[i].name, e, k->symbols[i].at,
                     k->in_tiles ? NULL : "a dimension");
    }
    for (uint32_t i = 0; i < k->variable_count; i++) {
        annotation a = {.variable = k->variables[i].name};
        entity e = {.kind = ENTITY_TYPE, .at = k->variables[i].at, .type = bound_type(c, &a)};
        scope_define(c, k->variables[i].name, e, k->variables[i].at, "a type variable");
    }
}

void kernel_define_records(checker *c) {
    static const char *const fields[] = {"K", "V"};
    const kernel_interface *k = c->kernel;
    for (uint32_t i = 0; i < k->record_count; i++) {
        if (k->records[i].type) {
            scope_define(c, k->records[i].name, unfold_value(c, &k->records[i]), k->records[i].at,
                         NULL);
            continue;
        }
        entity e = entity_tuple(c, 2, k->records[i].at);
        e.kind = ENTITY_RECORD;
        e.names = fields;
        for (uint32_t f = 0; f < e.count; f++) {
            const char *name = k->function->parameters[k->records[i].first + f].name;
            e.items[f] = scope_find(c, name)->value;
        }
        scope_define(c, k->records[i].name, e, k->records[i].at, "a record");
    }
}

const node *constant_value(const ast_parameter *p, const compiler_case *c) {
    for (uint32_t i = 0; c && i < c->constant_count; i++)
        if (strcmp(c->constants[i].name, p->name) == 0)
            return c->constants[i].value;
    return p->fallback;
}

bool has_all_constants(const kernel_interface *k, const compiler_case *c) {
    for (uint32_t i = 0; i < k->function->parameter_count; i++)
        if (k->function->parameters[i].keyword_only &&
            !constant_value(&k->function->parameters[i], c))
            return false;
    return true;
}

/* A value to show for a constant of this annotation: bool, int, or else a float. */
static const char *usual_value(const node *n) {
    bool named = n && n->kind == NODE_NAME;
    return named && strcmp(n->text, "bool") == 0  ? "True"
           : named && strcmp(n->text, "int") == 0 ? "1"
                                                  : "1.0";
}

bool kernel_define_constant(checker *c, const ast_parameter *p) {
    const node *value = constant_value(p, c->given);
    if (!value) {
        const char *usual = usual_value(p->annotation);
        diagnose_error(c->report, ERROR_CONSTANT_VALUE, p->at, "constant '%s' has no value",
                       p->name);
        diagnose_help(c->report,
                      "write %s=%s here or in the case, @constants(%s=%s), or --constants %s=%s",
                      p->name, usual, p->name, usual, p->name, usual);
        return false;
    }
    c->constants_only = true;
    define_constant(c, p->name, p->at, value, false);
    c->constants_only = false;
    return true;
}

static bool define_parameters(checker *c, ir_attr *names) {
    const kernel_interface *k = c->kernel;
    ir_attr *list = ARENA_NEW(&c->memory, ir_attr, k->function->parameter_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->function->parameter_count; i++) {
        const ast_parameter *p = &k->function->parameters[i];
        if (p->keyword_only) {
            if (!kernel_define_constant(c, p))
                return false;
            continue;
        }
        ir_type type = kernel_annotated_type(c, &k->parameters[count]);
        if (!type)
            return false;
        ir_value value = ir_block_add_argument(c->m, c->builder.block, type, p->name);
        bool in_memory = k->parameters[count].in_tiles;
        if (!policy_parameter(c, value, ir_type_get(c->m, type)->element,
                              &k->parameters[count].policies))
            return false;
        entity e = entity_tensor(value, p->at);
        e.kind = in_memory ? ENTITY_MEMORY : ENTITY_TENSOR;
        scope_define_in(c, i < k->first_weight ? &c->scope : &c->weights, p->name, e,
                        span_join(p->at, p->annotation->at),
                        in_memory ? "a tensor in memory" : NULL);
        list[count++] = ir_attr_string(c->m, p->name);
    }
    *names = ir_attr_array(c->m, list, count);
    kernel_define_records(c);
    return true;
}

/* "max" or "min" of a value that is one over axes: max(x, 0) may have been meant as of two values.
 * NULL: it is none. */
static const char *extremum_of(const checker *c, const entity *value) {
    ir_op op = ir_value_get(c->m, value->value)->op;
    ir_attr kind =
        op && ir_op_get(c->m, op)->opcode == GRAPH_REDUCE ? ir_op_attr(c->m, op, "kind") : 0;
    const char *name = kind ? ir_attr_get(c->m, kind)->string : "sum";
    return reduction_rounds(name) ? NULL : name;
}

/* Policies of the annotation first: they may convert the value. */
bool kernel_type_matches(checker *c, entity *value, const annotation *a, const char *what) {
    ir_type expected = kernel_annotated_type(c, a);
    if (!expected ||
        !policy_annotated(c, value, ir_type_get(c->m, expected)->element, &a->policies))
        return false;
    ir_type found = ir_value_get(c->m, value->value)->type;
    if (!expected || expected == found)
        return expected != 0;
    diagnose_error(c->report, ERROR_ANNOTATION_MISMATCH, value->at,
                   "%s is %s, but its annotation says %s", what, entity_type_text(c, found),
                   entity_type_text(c, expected));
    diagnose_note(c->report, a->at, "annotated here");
    note_tensor(c, value);
    const char *extremum = extremum_of(c, value);
    if (extremum)
        diagnose_help(c->report, "%s() reduces over axes; of two values write %simum(x, y)",
                      extremum, extremum);
    else
        diagnose_help(c->report, "where the value is meant, annotate it as %s",
                      entity_annotation(c, found, ""));
    return false;
}

/* ---- the body ---- */

static void check_body(checker *c, ir_op kernel) {
    if (c->kernel->in_tiles && !tiles_begin(c))
        return;
    if (c->kernel->store_count) {
        results_stored(c, kernel);
        return;
    }
    const settings_mark mark = settings_begin(c);
    const node *end = check_until_return(c, c->kernel->function);
    if (end)
        results_returned(c, end, kernel);
    settings_end(c, mark);
}

/* ---- the finished graph ---- */

/* Leaves out what no output needs: assignments never used, reshapes seen through. */
void kernel_drop_unused(ir_module *m, ir_block block) {
    uint32_t *uses = ir_count_uses(m);
    for (ir_op op = ir_block_get(m, block)->last; op;) {
        const ir_op_data *d = ir_op_get(m, op);
        ir_op previous = d->previous;
        bool used = d->opcode == GRAPH_RETURN;
        for (uint32_t i = 0; i < d->result_count; i++)
            used |= uses[d->results[i]] > 0;
        for (uint32_t i = 0; !used && i < d->operand_count; i++)
            uses[d->operands[i]]--;
        if (!used)
            ir_op_erase(m, op);
        op = previous;
    }
    free(uses);
}

ir_module *kernel_giving(const ir_module *kernel, const ir_value *values, uint32_t count) {
    ir_module *m = ir_module_clone(kernel);
    const ir_op op = ir_module_kernel(m);
    const ir_block block = ir_op_block(m, op, 0);
    ir_op_set_operands(m, ir_block_get(m, block)->last, values, count);
    ir_op_set_attr(m, op, "outputs", build_names(m, "a", count));
    ir_op_remove_attr(m, op, "donated");
    ir_op_remove_attr(m, op, "effects");
    kernel_drop_unused(m, block);
    return m;
}

static ir_op begin_kernel(checker *c) {
    const ast_function *f = c->kernel->function;
    ir_attr none = ir_attr_array(c->m, NULL, 0);
    ir_named_attr attrs[] = {
        {"name", ir_attr_string(c->m, f->name)}, {"inputs", none}, {"outputs", none}, {"math", 0}};
    if (c->kernel->math)
        attrs[3].value = ir_attr_string(c->m, c->kernel->math);
    c->builder = (ir_builder){
        .m = c->m, .block = ir_module_body(c->m), .location = checker_location(c, f->at)};
    ir_op kernel = ir_build(&c->builder, &(ir_op_spec){.opcode = GRAPH_KERNEL,
                                                       .attrs = attrs,
                                                       .attr_count = c->kernel->math ? 4 : 3,
                                                       .region_count = 1});
    c->builder.block = ir_op_block(c->m, kernel, 0);
    return kernel;
}

static void check_all(checker *c) {
    if (!settings_of_head(c, c->kernel->function))
        return;
    ir_op kernel = begin_kernel(c);
    ir_attr inputs = 0;
    checker_define_constants(c);
    define_symbols(c);
    if (define_parameters(c, &inputs)) {
        ir_op_set_attr(c->m, kernel, "inputs", inputs);
        uint32_t before = c->report->reported;
        if (c->kernel->contract)
            results_promised(c, kernel);
        else
            check_body(c, kernel);
        if (c->report->reported == before)
            policy_report_unused(c);
    }
}

/* "T is bf16, causal is False": printed with each error that these may have caused. */
static const char *describe_types(checker *c) {
    text out;
    text_init(&out);
    for (uint32_t i = 0; i < c->type_count; i++) {
        text_printf(&out, "%s%s is %s", i ? ", " : "", c->types[i].name,
                    dtype_name(c->types[i].type));
    }
    for (uint32_t i = 0; c->given && i < c->given->constant_count; i++) {
        text_printf(&out, "%s%s is %s", out.length ? ", " : "", c->given->constants[i].name,
                    c->given->constants[i].text);
    }
    const char *kept = out.length ? arena_strdup(&c->memory, out.data) : NULL;
    text_release(&out);
    return kept;
}

ir_module *kernel_check_promises(compiler_source *s, const kernel_interface *k,
                                 const compiler_case *given, struct promised_calls *promises,
                                 diagnostics *d) {
    checker c;
    uint32_t before = d->reported;
    if (k->imported)
        return ir_module_clone(k->imported);
    checker_init(&c, s, d);
    c.promises = promises;
    c.m = ir_module_new();
    c.kernel = k;
    c.given = given;
    c.types = given ? given->types : NULL;
    c.type_count = given ? given->type_count : 0;
    d->context = describe_types(&c);
    if (k->graph) {
        ir_module_free(c.m);
        c.m = settings_of_head(&c, k->function) ? graph_text_module(&c) : NULL;
        if (c.m)
            ir_op_get(c.m, ir_module_kernel(c.m))->location.setting = c.settings.now;
        d->context = NULL;
        checker_release(&c);
        return c.m;
    }
    check_all(&c);
    if (d->reported == before)
        transforms_try(&c);
    d->context = NULL;
    bool good = d->reported == before;
    if (good && promises)
        promise_end(&c);
    else if (good)
        kernel_drop_unused(c.m, c.builder.block);
    if (!good)
        ir_module_free(c.m);
    checker_release(&c);
    return good ? c.m : NULL;
}

ir_module *kernel_check(compiler_source *s, const kernel_interface *k, const compiler_case *given,
                        diagnostics *d) {
    return kernel_check_promises(s, k, given, NULL, d);
}
