/* share_functions.c - the pass that has long sequences compiled once: where the specified functions
 * of a kernel, written out for each vector that computes them, would be much code, each becomes a
 * tile.function on one vector, which tile.call takes part by part.
 *
 * Most such code is there twice or more: a body for the remainder beside that of the loop, vectors
 * side by side, phases that compute the same. Code generation takes some 20 us for an instruction,
 * and a call costs a few cycles: nothing of the hundred that a vector takes in a long function, but
 * up to a third of a short one. Kernels with little such code keep all in place, and those of many
 * elements the short functions. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "math/correct/build.h"
#include "tile/tile.h"

/* Instructions of functions that a kernel may have written out in place; those of one draw of
 * random bits with its rounding, and those of a conversion from or to a float of 8 bits, or from
 * f64 to any narrow one. */
enum {
    IN_PLACE = 600,
    STOCHASTIC_ROUND_LENGTH = 200,
    RANDOM_BITS_LENGTH = 150,
    CONVERSION_LENGTH = 16
};
/* From how many instructions on a function is long, and up to how many elements of the greatest
 * tensor a short one is called, too. */
enum { LONG_FUNCTION = 64, FEW_ELEMENTS = 65536 };

/* A function on certain element types, and with certain attributes. */
typedef struct shared {
    ir_op first; /* of those that compute it */
    int64_t vectors;
    ir_op function; /* once it is made */
} shared;

typedef struct shared_table {
    math_set set;
    int lanes, least; /* instructions of what is shared */
    VEC(shared) functions;
    int64_t instructions; /* of all functions, written out in place */
    ir_value *replaced;   /* by value id */
    uint32_t count;
} shared_table;

static bool is_tiny_float(dtype element) {
    return dtype_is_float(element) && dtype_size(element) == 1;
}

static int length_of_conversion(const ir_module *m, const ir_op_data *d) {
    dtype from = ir_type_of(m, d->operands[0])->element, to = ir_type_of(m, d->results[0])->element;
    if (from == DTYPE_F64 && dtype_is_narrow(to))
        return 2 * CONVERSION_LENGTH;
    return is_tiny_float(from) || is_tiny_float(to) ? CONVERSION_LENGTH : 0;
}

/* Instructions for one vector; 0: not a function. */
static int length_of(math_set set, const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    dtype element = d->result_count ? ir_type_of(m, d->results[0])->element : DTYPE_NONE;
    switch (d->opcode) {
#define F(ENUM, name)                                                                              \
    case TILE_##ENUM:                                                                              \
        return math_length(set, element, MATH_##ENUM);
#include "math/functions.def"
#define P(ENUM, name, first, second)                                                               \
    case TILE_##ENUM:                                                                              \
        return math_pair_length(element, MATH_##ENUM);
#include "math/pairs.def"
    case TILE_STOCHASTIC_ROUND:
        return STOCHASTIC_ROUND_LENGTH;
    case TILE_RANDOM_BITS:
        return RANDOM_BITS_LENGTH;
    case TILE_CONVERT:
        return length_of_conversion(m, d);
    default:
        return 0;
    }
}

static bool is_same(const ir_module *m, ir_op x, ir_op y) {
    const ir_op_data *a = ir_op_get(m, x), *b = ir_op_get(m, y);
    bool same = a->opcode == b->opcode && a->attr_count == b->attr_count &&
                ir_type_of(m, a->results[0])->element == ir_type_of(m, b->results[0])->element;
    for (uint32_t i = 0; i < a->operand_count && same; i++)
        same = ir_type_of(m, a->operands[i])->element == ir_type_of(m, b->operands[i])->element;
    for (uint32_t i = 0; i < a->attr_count && same; i++)
        same = strcmp(a->attrs[i].name, b->attrs[i].name) == 0 &&
               a->attrs[i].value == b->attrs[i].value;
    return same;
}

static shared *find_shared(shared_table *s, const ir_module *m, ir_op op) {
    for (size_t i = 0; i < s->functions.count; i++)
        if (is_same(m, s->functions.items[i].first, op))
            return &s->functions.items[i];
    return NULL;
}

static void note_function(const ir_module *m, ir_op op, shared_table *s) {
    int length = length_of(s->set, m, op);
    if (length == 0 || length < s->least)
        return;
    const ir_type_data *t = ir_type_of(m, ir_op_get(m, op)->results[0]);
    int64_t vectors = t->dims[0] * ((t->dims[1] + s->lanes - 1) / s->lanes);
    shared *f = find_shared(s, m, op), another = {.first = op};
    if (!f) {
        vec_push(&s->functions, another);
        f = &s->functions.items[s->functions.count - 1];
    }
    f->vectors += vectors;
    s->instructions += vectors * length;
}

static ir_type vector_type(ir_module *m, ir_value like, int lanes) {
    return ir_type_tile(m, ir_type_of(m, like)->element, 1, lanes);
}

/* The operation by itself on one vector, ahead of all phases. */
static ir_op make_function(ir_module *m, ir_op op, int64_t number, int lanes) {
    const ir_op_data d = *ir_op_get(m, op);
    ir_block body = ir_op_block(m, ir_module_kernel(m), 0);
    ir_builder b = {m, body, ir_block_get(m, body)->first, d.location};
    const char *name = op_info_get(d.opcode)->name + strlen("tile.");
    ir_named_attr attrs[] = {{"number", ir_attr_int(m, number)}, {"of", ir_attr_string(m, name)}};
    ir_op_spec spec = {.opcode = TILE_FUNCTION, .attrs = attrs, .attr_count = 2, .region_count = 1};
    ir_op function = ir_build(&b, &spec);
    ir_builder in = {m, ir_op_block(m, function, 0), 0, d.location};
    ir_value operands[TILE_FUNCTION_OPERANDS];
    for (uint32_t i = 0; i < d.operand_count; i++)
        operands[i] =
            ir_block_add_argument(m, in.block, vector_type(m, d.operands[i], lanes), NULL);
    ir_value result = ir_build1(&in, d.opcode, operands, d.operand_count,
                                vector_type(m, d.results[0], lanes), d.attrs, d.attr_count);
    tile_yield(&in, &result, 1);
    return function;
}

/* Operands are rewritten on the way, so that one walk over the module is enough. */
static void call_instead(ir_module *m, ir_op op, shared_table *s) {
    const ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (d->operands[i] < s->count && s->replaced[d->operands[i]])
            d->operands[i] = s->replaced[d->operands[i]];
    shared *f = length_of(s->set, m, op) ? find_shared(s, m, op) : NULL;
    if (!f || !f->function || op == f->first)
        return;
    ir_builder b = {m, d->block, op, d->location};
    ir_named_attr number = {"function", ir_op_attr(m, f->function, "number")};
    s->replaced[d->results[0]] = ir_build1(&b, TILE_CALL, d->operands, d->operand_count,
                                           ir_value_get(m, d->results[0])->type, &number, 1);
    ir_op_erase(m, op);
}

/* Leaves in its place what one vector alone computes. From here on `first` is what the function is
 * made of. */
static void make_functions(ir_module *m, shared_table *s) {
    for (size_t i = 0; i < s->functions.count; i++) {
        shared *f = &s->functions.items[i];
        if (f->vectors < 2 || i >= TILE_FUNCTIONS)
            continue;
        f->function = make_function(m, f->first, (int64_t)i, s->lanes);
        f->first = ir_block_get(m, ir_op_block(m, f->function, 0))->first;
    }
}

/* Has every input and output a known number of elements, and few? */
static bool has_few_elements(const ir_module *m) {
    const ir_attr_data *shapes = ir_attr_get(m, ir_op_attr(m, ir_module_kernel(m), "shapes"));
    for (uint32_t i = 0; i < shapes->count; i++) {
        const ir_attr_data *shape = ir_attr_get(m, shapes->items[i]);
        int64_t elements = 1;
        for (uint32_t k = 0; k < shape->count && elements <= FEW_ELEMENTS; k++) {
            const ir_attr_data *extent = ir_attr_get(m, shape->items[k]);
            if (extent->kind != IR_ATTR_INT || extent->integer > FEW_ELEMENTS)
                return false;
            elements *= extent->integer;
        }
        if (elements > FEW_ELEMENTS)
            return false;
    }
    return true;
}

bool tile_share_functions(ir_module *m, int lanes, status *st) {
    const char *set = ir_op_string(m, ir_module_kernel(m), "math", NULL);
    shared_table s = {.lanes = lanes, .least = has_few_elements(m) ? 0 : LONG_FUNCTION};
    if (lanes < 1)
        return status_set(st, STATUS_INTERNAL, "a vector needs at least one lane");
    if (!math_set_named(set, &s.set))
        return status_set(st, STATUS_INVALID, "there are no functions called '%s'", set);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        note_function(m, w.op, &s);
    if (s.instructions > IN_PLACE) {
        make_functions(m, &s);
        s.count = ir_value_count(m) + 1;
        s.replaced = base_calloc(s.count, sizeof *s.replaced);
        for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
            call_instead(m, w.op, &s);
        free(s.replaced);
    }
    vec_release(&s.functions);
    return true;
}
