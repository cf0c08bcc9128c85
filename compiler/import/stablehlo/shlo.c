/* shlo.c - the parts of a StableHLO module: types and their text, operations, lists of integers. */
#include "import/stablehlo/shlo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/table.h"

/* ---- elements ---- */

static const shlo_element_info elements[SHLO_ELEMENT_COUNT] = {
#define X(name, text, code, bytes, bits, type) [SHLO_##name] = {text, code, bytes, bits, type},
    SHLO_ELEMENTS(X)
#undef X
};

const shlo_element_info *shlo_element_get(shlo_element e) {
    return &elements[e];
}

shlo_element shlo_element_named(const char *name, size_t length) {
    for (int e = SHLO_NO_ELEMENT + 1; e < SHLO_ELEMENT_COUNT; e++)
        if (strlen(elements[e].name) == length && memcmp(elements[e].name, name, length) == 0)
            return (shlo_element)e;
    return SHLO_NO_ELEMENT;
}

shlo_element shlo_element_coded(uint64_t code) {
    for (int e = SHLO_NO_ELEMENT + 1; e < SHLO_ELEMENT_COUNT; e++)
        if (elements[e].code >= 0 && (uint64_t)elements[e].code == code)
            return (shlo_element)e;
    return SHLO_NO_ELEMENT;
}

shlo_element shlo_element_of(dtype type) {
    for (int e = SHLO_NO_ELEMENT + 1; e < SHLO_ELEMENT_COUNT; e++)
        if (type != DTYPE_NONE && elements[e].type == type)
            return (shlo_element)e;
    return SHLO_NO_ELEMENT;
}

bool shlo_element_is_complex(shlo_element e) {
    return e == SHLO_C64 || e == SHLO_C128;
}

bool shlo_element_is_float(shlo_element e) {
    return e >= SHLO_F4E2M1FN && e <= SHLO_F64;
}

/* ---- types ---- */

int64_t shlo_type_count(const shlo_type *t) {
    int64_t count = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] < 0 || __builtin_mul_overflow(count, t->dims[i], &count))
            return -1;
    return count;
}

static bool quantization_equal(const shlo_quantization *a, const shlo_quantization *b) {
    if (!a || !b)
        return a == b;
    return a->storage == b->storage && a->expressed == b->expressed && a->low == b->low &&
           a->high == b->high && a->axis == b->axis && a->count == b->count &&
           memcmp(a->scales, b->scales, a->count * sizeof *a->scales) == 0 &&
           memcmp(a->zeros, b->zeros, a->count * sizeof *a->zeros) == 0;
}

bool shlo_type_equal(const shlo_type *a, const shlo_type *b) {
    if (a == b)
        return true;
    if (a->kind != b->kind || a->element != b->element || a->rank != b->rank ||
        a->count != b->count || a->inputs != b->inputs ||
        !quantization_equal(a->quantized, b->quantized) ||
        (a->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0) ||
        (a->kind == SHLO_TYPE_OTHER && strcmp(a->text, b->text) != 0))
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!shlo_type_equal(a->parts[i], b->parts[i]))
            return false;
    return true;
}

static void print_quantized(const shlo_quantization *q, text *out) {
    text_printf(out, "!quant.uniform<%s<%" PRId64 ":%" PRId64 ">:%s", elements[q->storage].name,
                q->low, q->high, elements[q->expressed].name);
    if (q->axis >= 0)
        text_printf(out, ":%" PRId64, q->axis);
    text_append(out, ", ");
    if (q->axis >= 0)
        text_append_char(out, '{');
    for (uint32_t i = 0; i < q->count; i++) {
        text_printf(out, "%s%.17g", i ? ", " : "", q->scales[i]);
        if (q->zeros[i])
            text_printf(out, ":%" PRId64, q->zeros[i]);
    }
    if (q->axis >= 0)
        text_append_char(out, '}');
    text_append_char(out, '>');
}

static void print_element(const shlo_type *t, text *out) {
    if (t->quantized)
        print_quantized(t->quantized, out);
    else
        text_append(out, elements[t->element].name);
}

static void print_parts(const shlo_type *t, uint32_t from, uint32_t to, text *out) {
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            text_append(out, ", ");
        shlo_type_print(t->parts[i], out);
    }
}

static void print_function(const shlo_type *t, text *out) {
    const bool bare = t->count == t->inputs + 1;
    text_append_char(out, '(');
    print_parts(t, 0, t->inputs, out);
    text_append(out, bare ? ") -> " : ") -> (");
    print_parts(t, t->inputs, t->count, out);
    if (!bare)
        text_append_char(out, ')');
}

void shlo_type_print(const shlo_type *t, text *out) {
    switch (t->kind) {
    case SHLO_TYPE_TENSOR:
        text_append(out, "tensor<");
        for (uint32_t i = 0; i < t->rank; i++)
            if (t->dims[i] < 0) {
                text_append(out, "?x");
            } else {
                text_append_integer(out, t->dims[i]);
                text_append_char(out, 'x');
            }
        print_element(t, out);
        text_append_char(out, '>');
        break;
    case SHLO_TYPE_SCALAR:
        print_element(t, out);
        break;
    case SHLO_TYPE_TOKEN:
        text_append(out, "!stablehlo.token");
        break;
    case SHLO_TYPE_TUPLE:
        text_append(out, "tuple<");
        print_parts(t, 0, t->count, out);
        text_append_char(out, '>');
        break;
    case SHLO_TYPE_FUNCTION:
        print_function(t, out);
        break;
    case SHLO_TYPE_NONE:
        text_append(out, "none");
        break;
    case SHLO_TYPE_OTHER:
        text_append(out, t->text);
        break;
    }
}

/* ---- modules ---- */

shlo_module *shlo_module_new(void) {
    shlo_module *m = base_calloc(1, sizeof *m);
    arena_init(&m->memory);
    map_init(&m->functions);
    return m;
}

void shlo_module_free(shlo_module *m) {
    if (!m)
        return;
    map_release(&m->functions);
    arena_release(&m->memory);
    free(m);
}

shlo_function *shlo_function_named(const shlo_module *m, const char *name) {
    intptr_t found;
    return map_get(&m->functions, name, &found) ? (shlo_function *)found : NULL;
}

bool shlo_module_add(shlo_module *m, shlo_function *f) {
    if (shlo_function_named(m, f->name))
        return false;
    map_put(&m->functions, f->name, (intptr_t)f);
    if (m->last)
        m->last->next = f;
    else
        m->first = f;
    m->last = f;
    return true;
}

/* One allocation: a program may have a million of them. */
shlo_op *shlo_op_of(shlo_module *m, shlo_block *block, const shlo_op *head) {
    const size_t operands = head->operand_count * sizeof(shlo_value *);
    const size_t results = head->result_count * sizeof(shlo_value);
    const size_t attrs = head->attr_count * sizeof(shlo_named_attr);
    const size_t regions = head->region_count * sizeof(shlo_block *);
    char *memory = arena_alloc(&m->memory, sizeof(shlo_op) + operands + results + attrs + regions);
    shlo_op *op = (shlo_op *)memory;
    *op = *head;
    op->block = block;
    op->next = NULL;
    op->operands = (shlo_value **)(memory += sizeof *op);
    op->results = (shlo_value *)(memory += operands);
    op->attrs = (shlo_named_attr *)(memory += results);
    op->regions = (shlo_block **)(memory + attrs);
    for (uint32_t i = 0; i < op->result_count; i++)
        op->results[i] = (shlo_value){.op = op, .index = i};
    if (block->last)
        block->last->next = op;
    else
        block->first = op;
    block->last = op;
    m->operation_count++;
    return op;
}

/* Parameters: the place, the name, and a count for each array. */
shlo_op *shlo_op_new(shlo_module *m, shlo_block *block, const char *name, uint32_t operands,
                     uint32_t results, uint32_t attrs, uint32_t regions) {
    return shlo_op_of(m, block,
                      &(shlo_op){.name = name,
                                 .info = shlo_op_named(name, strlen(name)),
                                 .operand_count = operands,
                                 .result_count = results,
                                 .attr_count = attrs,
                                 .region_count = regions});
}

shlo_block *shlo_block_new(shlo_module *m, uint32_t arguments) {
    shlo_block *block = ARENA_NEW(&m->memory, shlo_block, 1);
    block->argument_count = arguments;
    block->arguments = ARENA_NEW(&m->memory, shlo_value, arguments);
    for (uint32_t i = 0; i < arguments; i++)
        block->arguments[i] = (shlo_value){.block = block, .index = i};
    return block;
}

/* ---- attributes ---- */

const shlo_attr *shlo_op_attr(const shlo_op *op, const char *name) {
    for (uint32_t i = 0; i < op->attr_count; i++)
        if (strcmp(op->attrs[i].name, name) == 0)
            return op->attrs[i].value;
    return NULL;
}

static int64_t tensor_integer(const shlo_attr *a, uint64_t index) {
    const shlo_element_info *e = &elements[a->type->element];
    const uint8_t *bytes = a->bytes + (a->splat ? 0 : index * (uint64_t)e->bytes);
    uint64_t value = 0;
    for (int i = 0; i < e->bytes; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    const int unused = 64 - 8 * e->bytes;
    return a->type->element >= SHLO_I2 && a->type->element <= SHLO_I64
               ? (int64_t)(value << unused) >> unused
               : (int64_t)value;
}

uint32_t shlo_ints(const shlo_attr *a, int64_t *out, uint32_t limit) {
    uint32_t count = 0;
    if (a && a->kind == SHLO_ATTR_TENSOR && !shlo_element_is_float(a->type->element) &&
        !shlo_element_is_complex(a->type->element)) {
        int64_t all = shlo_type_count(a->type);
        count = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
        for (uint32_t i = 0; i < count && i < limit; i++)
            out[i] = tensor_integer(a, i);
    } else if (a && a->kind == SHLO_ATTR_ARRAY) {
        count = a->count;
        for (uint32_t i = 0; i < count && i < limit; i++)
            out[i] = a->items[i]->integer;
    }
    return count;
}

uint32_t shlo_op_ints(const shlo_op *op, const char *name, int64_t *out, uint32_t limit) {
    return shlo_ints(shlo_op_attr(op, name), out, limit);
}

int64_t shlo_op_int(const shlo_op *op, const char *name, int64_t otherwise) {
    const shlo_attr *a = shlo_op_attr(op, name);
    return a && (a->kind == SHLO_ATTR_INTEGER || a->kind == SHLO_ATTR_BOOL) ? a->integer
                                                                            : otherwise;
}

const char *shlo_op_string(const shlo_op *op, const char *name, const char *otherwise) {
    const shlo_attr *a = shlo_op_attr(op, name);
    return a && a->string ? a->string : otherwise;
}
