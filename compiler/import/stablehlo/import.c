/* import.c - from functions of StableHLO to a kernel of Graph IR and its functions. */
#include "import/stablehlo/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/donated.h"
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

static bool refuse_at(importer *im, const shlo_op *place, const char *what) {
    char origin[256] = "";
    const shlo_location *from = place->location;
    if (im->failed)
        return false;
    im->failed = true;
    if (from && from->file)
        snprintf(origin, sizeof origin, " (from %.180s:%u)", from->file, from->line);
    return status_set(im->st, STATUS_INVALID, "line %u column %u: %s%s", place->line, place->column,
                      what, origin);
}

bool import_refuse(importer *im, const shlo_op *op, const char *format, ...) {
    char what[512], message[640];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(message, sizeof message, "%.100s: %s", op->name, what);
    return refuse_at(im, op, message);
}

shlo_op import_place(const shlo_function *f) {
    return (shlo_op){
        .name = "func.func", .location = f->location, .line = f->line, .column = f->column};
}

bool import_refused(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    (void)results;
    return import_refuse(im, op, "this operation is not supported");
}

/* ---- types and values ---- */

dtype import_element(shlo_element e) {
    const dtype small = import_small_as(e);
    return e == SHLO_C64    ? DTYPE_F32
           : e == SHLO_C128 ? DTYPE_F64
           : small          ? small
                            : shlo_element_get(e)->type;
}

bool import_is_complex(const shlo_value *v) {
    return v->type->kind == SHLO_TYPE_TENSOR && shlo_element_is_complex(v->type->element);
}

/* A token is a value without elements: what it orders is in order by itself. */
static const shlo_type token = {
    .kind = SHLO_TYPE_TENSOR, .element = SHLO_BOOL, .rank = 1, .dims = (const int64_t[]){0}};

ir_type import_type(importer *im, const shlo_op *op, const shlo_type *t) {
    text words;
    const char *why = NULL;
    t = t->kind == SHLO_TYPE_TOKEN ? &token : t;
    const dtype element = import_element(t->element);
    if (t->kind != SHLO_TYPE_TENSOR)
        why = "is no tensor";
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
    const shlo_value *v = op->operands[i];
    return im->part && import_is_complex(v) ? im->imaginary[v->number] : im->made[v->number];
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

/* Parameters: the operation of the source, and those of graph_build. */
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
    for (uint32_t i = 0; i < 2 * op->result_count; i++) {
        if (!results[i])
            continue; /* a tuple, or a value of one part */
        ir_type wanted = 0;
        if (im->lifted >= 0)
            wanted = ir_value_get(im->m, results[i])->type;
        else if (!(wanted = import_result_type(im, op, i % op->result_count)))
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

/* Operations that take tuples, which are no values of Graph IR. */
static bool takes_none(shlo_opcode opcode) {
    return opcode == SHLO_OP_AFTER_ALL || opcode == SHLO_OP_TUPLE ||
           opcode == SHLO_OP_GET_TUPLE_ELEMENT;
}

bool import_handled(importer *im, const shlo_op *op, ir_value *results) {
    for (uint32_t i = 0; i < op->operand_count && !takes_none(op->info->opcode); i++)
        if (!im->made[op->operands[i]->number])
            return import_refuse(im, op, "operand %u is no tensor", i);
    const struct handler *h = &handlers[op->info->opcode];
    return h->make(im, op, h->graph, results);
}

static bool import_op(importer *im, const shlo_op *op) {
    enum { FEW = 8 };
    shlo_op room;
    if (!(op = import_static_form(im, op, &room)))
        return false;
    ir_value few[2 * FEW] = {0}, *results = few;
    if (op->result_count > FEW)
        results = base_calloc(2 * (size_t)op->result_count, sizeof *results);
    const int part = im->part;
    bool good;
    im->part = 0;
    im->b.location = (ir_location){.line = op->line};
    if (op->info && import_has_quantized(op)) {
        good = import_quantized_op(im, op, results);
    } else if (op->info && import_has_complex(op)) {
        good = import_complex_op(im, op, results);
    } else if (op->info) {
        good = import_handled(im, op, results);
    } else if (strcmp(op->name, "sdy.manual_computation") == 0) {
        good = import_manual(im, op, results);
    } else if (is_identity(op)) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            results[i] = import_placed(im, op, import_operand(im, op, i));
            results[op->result_count + i] = im->imaginary[op->operands[i]->number];
        }
        good = true;
    } else {
        good = import_refuse(im, op, "no operation of StableHLO");
    }
    if (good && ir_failure(im->m))
        good = import_refuse(im, op, "%.300s", ir_failure(im->m));
    good = good && (!op->info || import_small_results(im, op, results));
    im->part = part;
    good = good && results_fit(im, op, results);
    for (uint32_t i = 0; good && i < op->result_count; i++) {
        im->made[op->results[i].number] = results[i];
        im->imaginary[op->results[i].number] = results[op->result_count + i];
    }
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

/* Values of functions that are reached; the others have none to hold. */
static void number_block(importer *im, shlo_block *block) {
    for (uint32_t i = 0; i < block->argument_count; i++)
        block->arguments[i].number = ++im->value_count;
    for (shlo_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++)
            op->results[i].number = ++im->value_count;
        for (uint32_t i = 0; i < op->region_count; i++)
            number_block(im, op->regions[i]);
    }
}

static bool refuse_function(importer *im, const shlo_function *f, const char *why) {
    char what[256];
    const shlo_op at = import_place(f);
    snprintf(what, sizeof what, "@%.100s: %s", f->name, why);
    return refuse_at(im, &at, what);
}

/* Names that are no names of ours are numbered. */
static ir_attr names_of(importer *im, const char *prefix, uint32_t count) {
    return build_names(im->m, prefix, count);
}

/* A kernel takes and gives complex numbers as pairs along a last axis, as they lie in memory;
 * functions take their parts. */
bool import_signature(importer *im, const shlo_function *f, bool kernel, bool results,
                      import_types *out) {
    const shlo_op at = import_place(f);
    const uint32_t from = results ? f->type->inputs : 0,
                   to = results ? f->type->count : f->type->inputs;
    for (uint32_t i = from; i < to; i++) {
        const shlo_type *t = f->type->parts[i];
        const bool complex = t->kind == SHLO_TYPE_TENSOR && shlo_element_is_complex(t->element);
        ir_type part = import_type(im, &at, t);
        if (part && kernel && complex)
            part = import_pair_type(im, &at, part);
        if (!part)
            return false;
        vec_push(out, part);
        if (complex && !kernel)
            vec_push(out, part);
    }
    return true;
}

static bool check_end(importer *im, const shlo_function *f) {
    const shlo_op *end = f->body->last;
    if (!end || !end->info || end->info->opcode != SHLO_OP_RETURN)
        return refuse_function(im, f, "it does not end in a return");
    if (end->operand_count != f->type->count - f->type->inputs)
        return refuse_function(im, f, "it returns another number of values than its type says");
    for (uint32_t i = 0; i < end->operand_count; i++)
        if (!shlo_type_equal(end->operands[i]->type, f->type->parts[f->type->inputs + i]))
            return import_refuse(im, end, "value %u is not of the type that the function says", i);
    return true;
}

static void take_arguments(importer *im, const shlo_function *f, bool kernel,
                           const ir_value *values) {
    for (uint32_t i = 0; i < f->body->argument_count; i++) {
        const shlo_value *v = &f->body->arguments[i];
        if (kernel && import_is_complex(v))
            import_unpair(im, *values++, &im->made[v->number], &im->imaginary[v->number]);
        else
            import_pull(im, v, &values);
        if (kernel && v->type->kind == SHLO_TYPE_TENSOR)
            im->made[v->number] = import_small_wrapped(im, im->made[v->number], v->type->element);
    }
}

bool import_body(importer *im, const shlo_function *f, bool kernel, const ir_value *values,
                 import_values *results) {
    if (!check_end(im, f))
        return false;
    take_arguments(im, f, kernel, values);
    bool good = import_block(im, f->body);
    for (uint32_t i = 0; i < f->body->last->operand_count && good; i++) {
        const shlo_value *v = f->body->last->operands[i];
        good = im->made[v->number] || refuse_function(im, f, "it returns a tuple");
        if (good && kernel && import_is_complex(v))
            vec_push(results, import_pair(im, im->made[v->number], im->imaginary[v->number]));
        else if (good)
            import_push(im, v, results);
    }
    return good;
}

static bool write_body(importer *im, const shlo_function *f, ir_block block, bool kernel) {
    import_types types = {0};
    import_values values = {0}, results = {0};
    const bool several = kernel && import_is_per_device(im, f);
    bool good = import_signature(im, f, kernel, false, &types);
    good = good && (!several || import_devices_begin(im, f, &types));
    for (size_t i = 0; i < types.count && good; i++)
        vec_push(&values, ir_block_add_argument(im->m, block, types.items[i], NULL));
    good = good && (several ? import_on_devices(im, f, values.items, &results)
                            : import_body(im, f, kernel, values.items, &results));
    if (kernel && results.count == 0) /* a kernel has an output */
        vec_push(&results, import_number(im, DTYPE_I32, 0));
    if (good)
        ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_RETURN,
                                       .operands = results.items,
                                       .operand_count = (uint32_t)results.count});
    vec_release(&types);
    vec_release(&values);
    vec_release(&results);
    return good;
}

/* Tensors that a function takes, or gives: complex ones are two. */
static uint32_t tensors_of(const shlo_type *t, uint32_t from, uint32_t to, bool kernel) {
    uint32_t count = to - from;
    for (uint32_t i = from; i < to && !kernel; i++)
        count +=
            t->parts[i]->kind == SHLO_TYPE_TENSOR && shlo_element_is_complex(t->parts[i]->element);
    return count;
}

/* An argument that a framework marks so is an output's memory, too. */
static bool donate_one(importer *im, const shlo_function *f, uint32_t input, ir_attr *list) {
    const shlo_attr *marks = f->argument_attrs ? f->argument_attrs[input] : NULL, *to = NULL;
    const uint32_t inputs = f->type->inputs, outputs = f->type->count - inputs;
    for (uint32_t i = 0; marks && i < marks->count; i++)
        if (strcmp(marks->keys[i], "tf.aliasing_output") == 0)
            to = marks->items[i];
    list[input] = ir_attr_int(im->m, -1);
    if (!to)
        return true;
    if (to->kind != SHLO_ATTR_INTEGER || to->integer < 0 || to->integer >= outputs)
        return refuse_function(im, f, "an argument aliases an output that there is not");
    if (!shlo_type_equal(f->type->parts[input], f->type->parts[inputs + to->integer]))
        return refuse_function(im, f, "an argument aliases an output of another type");
    list[input] = ir_attr_int(im->m, to->integer);
    for (uint32_t i = 0; i < input; i++)
        if (list[i] == list[input])
            return refuse_function(im, f, "two arguments alias one output");
    return true;
}

static bool donate(importer *im, const shlo_function *f, ir_op kernel) {
    const uint32_t count = f->type->inputs;
    ir_attr *list = base_calloc((size_t)count + 1, sizeof *list);
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++)
        good = donate_one(im, f, i, list);
    if (good && count)
        ir_op_set_attr(im->m, kernel, "donated", ir_attr_array(im->m, list, count));
    if (good && count && !donated_any(im->m, kernel))
        ir_op_remove_attr(im->m, kernel, "donated");
    free(list);
    return good;
}

static bool write_function(importer *im, const shlo_function *f, int opcode) {
    const bool kernel = opcode == GRAPH_KERNEL;
    const uint32_t inputs = tensors_of(f->type, 0, f->type->inputs, kernel),
                   given = tensors_of(f->type, f->type->inputs, f->type->count, kernel),
                   outputs = kernel && given == 0 ? 1 : given;
    if (inputs > LIMIT_PARAMETERS || outputs > LIMIT_PARAMETERS)
        return refuse_function(im, f, "it takes or gives more than 4,096 tensors");
    im->b = (ir_builder){.m = im->m, .block = ir_module_body(im->m)};
    ir_named_attr attrs[] = {{"name", ir_attr_string(im->m, f->name)},
                             {"inputs", names_of(im, "a", inputs)},
                             {"outputs", names_of(im, "r", outputs)}};
    ir_op op = ir_build(
        &im->b,
        &(ir_op_spec){.opcode = opcode, .attrs = attrs, .attr_count = 3, .region_count = 1});
    im->b.block = ir_op_block(im->m, op, 0);
    if (!kernel)
        return write_body(im, f, im->b.block, kernel);
    if (!donate(im, f, op) || !import_check_shardings(im, f) ||
        !write_body(im, f, im->b.block, kernel))
        return false;
    import_shardings(im, f, op);
    return true;
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
    if (op->result_count == 0) /* so its call is nothing */
        return true;
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
            if (!note_calls(im, op->regions[i], out))
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
        number_block(im, called.items[i]->body);
    good = good && (import_note_collectives(im, called.items, called.count) ||
                    refuse_function(im, entry, "functions that call each other so are not read"));
    im->made = base_calloc((size_t)im->value_count + 1, sizeof *im->made);
    im->imaginary = base_calloc((size_t)im->value_count + 1, sizeof *im->imaginary);
    for (size_t i = 0; i < called.count && good; i++)
        if (i == 0 || !import_is_collective(im, called.items[i])) /* it is a part of its callers */
            good = write_function(im, called.items[i], i ? GRAPH_FUNCTION : GRAPH_KERNEL);
    vec_release(&called);
    if (good)
        take_math(im);
    return good;
}

static bool check_devices(importer *im, const shlo_function *f) {
    const int64_t r = im->shards.replicas, p = im->shards.partitions;
    return (r >= 1 && p >= 1 && r <= MESH_DEVICES_MAX && p <= MESH_DEVICES_MAX / r) ||
           refuse_function(
               im, f, "mhlo.num_replicas and mhlo.num_partitions are 1 to 4,096 devices in all");
}

ir_module *shlo_import(shlo_module *source, const char *entry, status *st) {
    importer im = {.source = source, .st = st, .lifted = -1, .m = ir_module_new()};
    im.shards.replicas = shlo_replicas(source);
    im.shards.partitions = shlo_partitions(source);
    map_init(&im.collective);
    const shlo_function *f = shlo_function_named(source, entry);
    opset_register(graph_op_table());
    bool good = f ? check_devices(&im, f) && import_functions(&im, f)
                  : status_set(st, STATUS_INVALID, "there is no function @%.100s", entry);
    map_release(&im.collective);
    free(im.made);
    free(im.imaginary);
    if (good && !functions_verify(im.m, st))
        good = false;
    if (good && !ir_verify(im.m, st))
        good = false;
    if (good)
        return im.m;
    ir_module_free(im.m);
    return NULL;
}
