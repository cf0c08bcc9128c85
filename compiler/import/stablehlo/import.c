/* import.c - from functions of StableHLO to a kernel of Graph IR and its functions. */
#include "import/stablehlo/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/functions.h"

static const struct handler {
    import_fn make;
    int graph;
} handlers[] = {
#define SHLO(ENUM, name, regions, attrs, syntax, handler, graph) {import_##handler, GRAPH_##graph},
#include "import/stablehlo/stablehlo.def"
#undef SHLO
};

/* ---- messages ---- */

static uint32_t line_of(const importer *im, uint64_t offset, uint32_t *column) {
    uint32_t line = 1;
    const char *start = im->text;
    for (const char *p = im->text; p < im->text + offset; p++)
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    *column = (uint32_t)(im->text + offset - start) + 1;
    return line;
}

static bool refuse_at(importer *im, uint64_t offset, const shlo_location *from, const char *what) {
    char place[160] = "", origin[256] = "";
    uint32_t column;
    if (im->failed)
        return false;
    im->failed = true;
    if (im->text) {
        const uint32_t line = line_of(im, offset, &column);
        snprintf(place, sizeof place, "line %u column %u: ", line, column);
    } else {
        snprintf(place, sizeof place, "byte %llu: ", (unsigned long long)offset);
    }
    if (from && from->file)
        snprintf(origin, sizeof origin, " (from %.180s:%u)", from->file, from->line);
    return status_set(im->st, STATUS_INVALID, "%s%s%s", place, what, origin);
}

bool import_refuse(importer *im, const shlo_op *op, const char *format, ...) {
    char what[512], message[640];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(message, sizeof message, "%.100s: %s", op->name, what);
    return refuse_at(im, op->offset, op->location, message);
}

bool import_refused(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    (void)results;
    return import_refuse(im, op, "this operation is not supported");
}

/* ---- types and values ---- */

ir_type import_type(importer *im, const shlo_op *op, const shlo_type *t) {
    text words;
    const char *why = NULL;
    const dtype element = shlo_element_get(t->element)->type;
    if (t->kind != SHLO_TYPE_TENSOR)
        why = "is no tensor";
    else if (t->quantized)
        why = "has quantised elements, which are not supported";
    else if (element == DTYPE_NONE)
        why = "has elements of a type that is not supported";
    else if (t->rank > IR_MAX_RANK)
        why = "has more than 8 axes";
    ir_dim dims[IR_MAX_RANK];
    for (uint32_t i = 0; !why && i < t->rank; i++) {
        dims[i] = t->dims[i];
        if (dims[i] == SHLO_DYNAMIC)
            why = "has an extent that is not known: refine the shapes first";
        else if (dims[i] >= (int64_t)1 << LIMIT_DIMENSION_BITS)
            why = "has an extent of 2^31 or more";
    }
    if (!why && graph_elements((int)t->rank, dims) > (int64_t)1 << LIMIT_ELEMENT_BITS)
        why = "has more than 2^43 elements";
    if (!why)
        return ir_type_tensor(im->m, element, (int)t->rank, dims);
    text_init(&words);
    shlo_type_print(t, &words);
    import_refuse(im, op, "%.120s %s", words.data, why);
    text_release(&words);
    return 0;
}

ir_type import_result_type(importer *im, const shlo_op *op, uint32_t i) {
    return import_type(im, op, op->results[i].type);
}

ir_value import_operand(const importer *im, const shlo_op *op, uint32_t i) {
    return im->made[op->operands[i]->number];
}

const ir_type_data *import_type_of(const importer *im, ir_value v) {
    return ir_type_of(im->m, v);
}

bool import_takes(importer *im, const shlo_op *op, uint32_t operands) {
    if (op->operand_count == operands && op->result_count == 1)
        return true;
    return import_refuse(im, op, "takes %u values and gives one, not %u and %u", operands,
                         op->operand_count, op->result_count);
}

ir_value import_build(importer *im, const shlo_op *op, int opcode, const ir_value *operands,
                      uint32_t count, const ir_named_attr *attrs, uint32_t attr_count) {
    ir_type types[LIMIT_OPERANDS];
    if (count > LIMIT_OPERANDS) {
        import_refuse(im, op, "takes more than %d values", LIMIT_OPERANDS);
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        types[i] = ir_value_get(im->m, operands[i])->type;
    graph_infer_query q = {.m = im->m,
                           .opcode = opcode,
                           .operands = types,
                           .operand_count = count,
                           .attrs = attrs,
                           .attr_count = attr_count};
    if (!graph_infer(&q)) {
        import_refuse(im, op, "%.400s", q.error);
        return 0;
    }
    return ir_op_result(im->m, graph_build(&im->b, opcode, operands, count, attrs, attr_count), 0);
}

/* ---- operations ---- */

/* Operations of other dialects that hand on what they take. */
static bool is_identity(const shlo_op *op) {
    static const char *const names[] = {"sdy.sharding_constraint",
                                        "builtin.unrealized_conversion_cast", "sdy.sharding_group",
                                        "sdy.reshard"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op->name, names[i]) == 0 && op->result_count <= op->operand_count)
            return true;
    return false;
}

static bool results_fit(importer *im, const shlo_op *op, const ir_value *results) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!results[i])
            continue; /* a token */
        ir_type wanted = 0;
        if (im->lifted >= 0)
            wanted = ir_value_get(im->m, results[i])->type;
        else if (!(wanted = import_result_type(im, op, i)))
            return false;
        if (ir_value_get(im->m, results[i])->type != wanted) {
            const ir_type_data *t = import_type_of(im, results[i]);
            return import_refuse(im, op,
                                 "its type does not follow from its operands: %s with %d axes was "
                                 "made",
                                 dtype_name(t->element), t->rank);
        }
    }
    return true;
}

bool import_handled(importer *im, const shlo_op *op, ir_value *results) {
    const struct handler *h = &handlers[op->info->opcode];
    return h->make(im, op, h->graph, results);
}

static bool import_op(importer *im, const shlo_op *op) {
    enum { FEW = 8 };
    ir_value few[FEW] = {0}, *results = few;
    if (op->result_count > FEW)
        results = base_calloc(op->result_count, sizeof *results);
    bool good;
    uint32_t column;
    im->b.location = (ir_location){0};
    if (im->text)
        im->b.location.line = line_of(im, op->offset, &column);
    if (op->info) {
        good = import_handled(im, op, results);
    } else if (is_identity(op)) {
        for (uint32_t i = 0; i < op->result_count; i++)
            results[i] = import_operand(im, op, i);
        good = true;
    } else {
        good = import_refuse(im, op, "no operation of StableHLO");
    }
    if (good && ir_failure(im->m))
        good = import_refuse(im, op, "%.300s", ir_failure(im->m));
    good = good && results_fit(im, op, results);
    for (uint32_t i = 0; good && i < op->result_count; i++)
        im->made[op->results[i].number] = results[i];
    if (results != few)
        free(results);
    return good;
}

bool import_block(importer *im, const shlo_block *block) {
    for (const shlo_op *op = block->first; op && op != block->last; op = op->next)
        if (!import_op(im, op))
            return false;
    return true;
}

/* ---- functions ---- */

static void number_block(importer *im, shlo_block *block) {
    for (uint32_t i = 0; i < block->argument_count; i++)
        block->arguments[i].number = ++im->value_count;
    for (shlo_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++)
            op->results[i].number = ++im->value_count;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (op->regions[i])
                number_block(im, op->regions[i]);
    }
}

static bool refuse_function(importer *im, const shlo_function *f, const char *why) {
    char what[256];
    snprintf(what, sizeof what, "@%.100s: %s", f->name, why);
    return refuse_at(im, f->offset, f->location, what);
}

/* Names that are no names of ours are numbered. */
static ir_attr names_of(importer *im, const char *prefix, uint32_t count) {
    return build_names(im->m, prefix, count);
}

static bool take_arguments(importer *im, const shlo_function *f, ir_block block) {
    const shlo_op at = {.name = "func.func", .offset = f->offset, .location = f->location};
    for (uint32_t i = 0; i < f->body->argument_count; i++) {
        ir_type t = import_type(im, &at, f->body->arguments[i].type);
        if (!t)
            return false;
        im->made[f->body->arguments[i].number] =
            ir_block_add_argument(im->m, block, t, arena_printf(ir_module_arena(im->m), "a%u", i));
    }
    return true;
}

static bool give_results(importer *im, const shlo_function *f) {
    const shlo_op *end = f->body->last;
    if (!end || !end->info || end->info->opcode != SHLO_OP_RETURN)
        return refuse_function(im, f, "it does not end in a return");
    if (end->operand_count != f->type->count - f->type->inputs)
        return refuse_function(im, f, "it returns another number of values than its type says");
    ir_value *values = base_calloc(end->operand_count + 1, sizeof *values);
    bool good = true;
    for (uint32_t i = 0; i < end->operand_count && good; i++) {
        values[i] = import_operand(im, end, i);
        good = values[i] || refuse_function(im, f, "it returns a token");
    }
    if (good)
        ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_RETURN,
                                       .operands = values,
                                       .operand_count = end->operand_count});
    free(values);
    return good;
}

static bool write_function(importer *im, const shlo_function *f, int opcode) {
    const uint32_t outputs = f->type->count - f->type->inputs;
    if (f->type->inputs > LIMIT_PARAMETERS || outputs > LIMIT_PARAMETERS)
        return refuse_function(im, f, "it takes or gives more than 4,096 tensors");
    if (outputs == 0)
        return refuse_function(im, f, "it gives nothing");
    im->b = (ir_builder){.m = im->m, .block = ir_module_body(im->m)};
    ir_named_attr attrs[] = {{"name", ir_attr_string(im->m, f->name)},
                             {"inputs", names_of(im, "a", f->type->inputs)},
                             {"outputs", names_of(im, "r", outputs)}};
    ir_op op = ir_build(
        &im->b,
        &(ir_op_spec){.opcode = opcode, .attrs = attrs, .attr_count = 3, .region_count = 1});
    im->b.block = ir_op_block(im->m, op, 0);
    return take_arguments(im, f, im->b.block) && import_block(im, f->body) && give_results(im, f);
}

/* Functions are correctly rounded where the module says so. */
static void take_math(importer *im) {
    for (uint32_t i = 0; i < im->source->attr_count; i++) {
        const shlo_attr *a = im->source->attrs[i].value;
        if (strcmp(im->source->attrs[i].name, SHLO_MATH) == 0 && a->kind == SHLO_ATTR_STRING &&
            strcmp(a->string, "correct") == 0)
            ir_op_set_attr(im->m, ir_module_kernel(im->m), "math",
                           ir_attr_string(im->m, a->string));
    }
}

/* Functions that a block calls, and what those call, each once. */
typedef VEC(const shlo_function *) function_list;

static bool note_callee(importer *im, const shlo_op *op, function_list *out) {
    const char *name =
        shlo_op_string(op, op->info->opcode == SHLO_OP_CALL ? "callee" : "decomposition", "");
    const shlo_function *f = shlo_function_named(im->source, name);
    if (!f || !f->body)
        return import_refuse(im, op, "there is no function @%.100s", name);
    for (size_t i = 0; i < out->count; i++)
        if (out->items[i] == f)
            return true;
    vec_push(out, f);
    return true;
}

static bool note_calls(importer *im, const shlo_block *block, function_list *out) {
    for (const shlo_op *op = block->first; op; op = op->next) {
        const bool calls =
            op->info && (op->info->opcode == SHLO_OP_CALL ||
                         (op->info->opcode == SHLO_OP_COMPOSITE && !import_composite_is_own(op)));
        if (calls && !note_callee(im, op, out))
            return false;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (op->regions[i] && !note_calls(im, op->regions[i], out))
                return false;
    }
    return true;
}

static bool import_functions(importer *im, const shlo_function *entry) {
    function_list called = {0};
    bool good = entry->body != NULL || refuse_function(im, entry, "it has no body");
    vec_push(&called, entry);
    for (size_t i = 0; i < called.count && good; i++)
        good = note_calls(im, called.items[i]->body, &called);
    for (size_t i = 0; i < called.count && good; i++)
        good = write_function(im, called.items[i], i ? GRAPH_FUNCTION : GRAPH_KERNEL);
    vec_release(&called);
    if (good)
        take_math(im);
    return good;
}

ir_module *shlo_import(const shlo_module *source, const char *entry, const char *file,
                       const char *words, status *st) {
    importer im = {.source = source,
                   .st = st,
                   .file = file,
                   .text = words,
                   .lifted = -1,
                   .m = ir_module_new()};
    const shlo_function *f = shlo_function_named(source, entry);
    opset_register(graph_op_table());
    for (shlo_function *each = source->first; each; each = each->next)
        if (each->body)
            number_block(&im, each->body);
    im.made = base_calloc((size_t)im.value_count + 1, sizeof *im.made);
    bool good = f ? import_functions(&im, f)
                  : status_set(st, STATUS_INVALID, "there is no function @%.100s", entry);
    free(im.made);
    if (good && !functions_verify(im.m, st))
        good = false;
    if (good && !ir_verify(im.m, st))
        good = false;
    if (good)
        return im.m;
    ir_module_free(im.m);
    return NULL;
}
