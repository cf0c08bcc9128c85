/* bytecode_ops.c - functions, operations, blocks and regions out of bytecode.
 *
 * Values have numbers and no names. A region declares how many values its blocks have; those of a
 * region inside of it are numbered behind all of these. An operation may be isolated: its regions
 * see nothing from outside, their values count from 0 again, and they stand in a section. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "import/stablehlo/bytecode.h"

enum {
    HAS_ATTRS = 1,
    HAS_RESULTS = 2,
    HAS_OPERANDS = 4,
    HAS_SUCCESSORS = 8,
    HAS_REGIONS = 16,
    HAS_USE_ORDERS = 32,
    HAS_PROPERTIES = 64
};

/* Values of a region: from number `first` on; those that exist already are values[offset...]. */
typedef struct frame {
    uint64_t first;
    uint32_t declared, defined;
    size_t offset;
    bool sees_outside;
} frame;

typedef struct reader {
    bytecode *tables;
    VEC(shlo_value *) values;
    frame frames[SHLO_DEPTH_MAX + 1];
    int frame_count;
    /* The operation in hand has these, until its regions begin. */
    VEC(shlo_named_attr) attrs;
    VEC(const shlo_type *) results;
    VEC(shlo_value *) operands;
    uint64_t copied; /* attributes of dictionaries, of all operations */
} reader;

/* The part of an operation in front of its regions. */
typedef struct header {
    const bytecode_name *name;
    const shlo_location *location;
    size_t at;
    uint32_t regions;
    bool is_isolated;
} header;

/* ---- values ---- */

static bool begin_region(reader *s, size_t at, uint32_t declared, bool sees_outside) {
    if (!bytecode_enter(s->tables, at))
        return false;
    frame f = {.declared = declared, .offset = s->values.count, .sees_outside = sees_outside};
    if (sees_outside && s->frame_count) {
        const frame *outer = &s->frames[s->frame_count - 1];
        f.first = outer->first + outer->declared;
    }
    s->frames[s->frame_count++] = f;
    return true;
}

static void end_region(reader *s, size_t at) {
    const frame *f = &s->frames[--s->frame_count];
    if (f->defined != f->declared)
        bytecode_fail(s->tables->st, at,
                      "a region has %" PRIu32 " values, and %" PRIu32 " were announced", f->defined,
                      f->declared);
    s->values.count = f->offset;
    bytecode_leave(s->tables);
}

static void define(reader *s, size_t at, shlo_value *value) {
    frame *f = &s->frames[s->frame_count - 1];
    if (f->defined == f->declared) {
        bytecode_fail(s->tables->st, at, "a region has more than the %" PRIu32 " values announced",
                      f->declared);
        return;
    }
    f->defined++;
    vec_push(&s->values, value);
}

/* NULL behind an error. */
static shlo_value *take_value(reader *s, bytecode_cursor *c) {
    const size_t at = c->at;
    const uint64_t number = bytecode_varint(c);
    for (int i = s->frame_count; i-- > 0 && !bytecode_failed(c);) {
        const frame *f = &s->frames[i];
        if (number >= f->first && number - f->first < f->defined)
            return s->values.items[f->offset + (size_t)(number - f->first)];
        if (!f->sees_outside)
            break;
    }
    bytecode_fail(s->tables->st, at,
                  "value %" PRIu64 " is used, and nothing in front of it makes it", number);
    return NULL;
}

/* ---- attributes ---- */

/* A dot has its algorithm in parts, or the type none in the place of each. */
static bool is_absent(const shlo_attr *a, const shlo_attr_info *info) {
    return strcmp(info->group, "dot_algorithm") == 0 && a->kind == SHLO_ATTR_TYPE &&
           a->type->kind == SHLO_TYPE_NONE;
}

/* The blob's attributes stand in the order of the table. */
static void take_table(reader *s, bytecode_cursor *c, const bytecode_name *name) {
    for (uint32_t i = 0; i < name->attr_count && !bytecode_failed(c); i++) {
        const size_t at = c->at;
        const shlo_attr_info *info = &name->attrs[i];
        const shlo_attr *a = bytecode_take_attr(s->tables, c);
        if (!a || is_absent(a, info))
            continue;
        a = bytecode_fit(s->tables, a, name, info, at);
        if (a)
            vec_push(&s->attrs, ((shlo_named_attr){info->name, a}));
    }
}

/* A module has two attributes that may be missing. */
static void take_module(reader *s, bytecode_cursor *c) {
    static const char *const names[] = {"sym_name", "sym_visibility"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !bytecode_failed(c); i++) {
        bool is_there = false;
        const size_t at = c->at;
        const uint64_t index = bytecode_flagged(c, &is_there);
        if (is_there && index >= s->tables->attr_count)
            bytecode_fail(s->tables->st, at, "there is no attribute %" PRIu64, index);
        const shlo_attr *a =
            is_there && !bytecode_failed(c) ? bytecode_attr(s->tables, (uint32_t)index) : NULL;
        if (a)
            vec_push(&s->attrs, ((shlo_named_attr){names[i], a}));
    }
}

/* Attributes one behind the other, with these names. */
static void take_listed(reader *s, bytecode_cursor *c, const char *const *names) {
    for (; *names && !bytecode_failed(c); names++) {
        const shlo_attr *a = bytecode_take_attr(s->tables, c);
        if (a)
            vec_push(&s->attrs, ((shlo_named_attr){*names, a}));
    }
}

/* Those behind the `first` attributes of the operation in hand. */
static void keep_properties(reader *s, bytecode_properties *p, const bytecode_name *name,
                            size_t first) {
    p->name = name;
    p->count = (uint32_t)(s->attrs.count - first);
    shlo_named_attr *attrs = BYTECODE_NEW(s->tables, shlo_named_attr, p->count);
    for (uint32_t i = 0; i < p->count; i++)
        attrs[i] = s->attrs.items[first + i];
    p->attrs = attrs;
}

static void take_properties(reader *s, bytecode_cursor *c, const bytecode_name *name) {
    bytecode *r = s->tables;
    const uint32_t index = bytecode_index(c, r->property_count, "set of properties");
    if (bytecode_failed(c))
        return;
    bytecode_properties *p = &r->properties[index];
    if (p->name == name) {
        for (uint32_t i = 0; i < p->count; i++)
            vec_push(&s->attrs, p->attrs[i]);
        return;
    }
    const size_t first = s->attrs.count;
    bytecode_cursor blob = p->bytes;
    if (name->info)
        take_table(s, &blob, name);
    else if (name->is_module)
        take_module(s, &blob);
    else if (bytecode_sdy_properties(name->name))
        take_listed(s, &blob, bytecode_sdy_properties(name->name));
    else
        return; /* a size is all that is known of it */
    if (bytecode_end(&blob, "the properties"))
        keep_properties(s, p, name, first);
}

/* Attributes that are not the operation's own. */
static void take_dictionary(reader *s, bytecode_cursor *c) {
    const size_t at = c->at;
    const shlo_attr *a = bytecode_take_attr(s->tables, c);
    if (!a || a->kind != SHLO_ATTR_DICT) {
        bytecode_fail(s->tables->st, at, "the attributes of an operation must be a dictionary");
        return;
    }
    s->copied += a->count;
    if (s->copied > SHLO_OPERATIONS_MAX) {
        bytecode_fail(s->tables->st, at, "operations have more than %d attributes in all",
                      SHLO_OPERATIONS_MAX);
        return;
    }
    for (uint32_t i = 0; i < a->count; i++)
        vec_push(&s->attrs, ((shlo_named_attr){a->keys[i], a->items[i]}));
}

static int by_name(const void *a, const void *b) {
    const shlo_named_attr *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void take_attrs(reader *s, bytecode_cursor *c, uint8_t mask, const bytecode_name *name) {
    vec_clear(&s->attrs);
    if (mask & HAS_ATTRS)
        take_dictionary(s, c);
    if (mask & HAS_PROPERTIES)
        take_properties(s, c, name);
    else if (name->attr_count)
        bytecode_fail(s->tables->st, c->at, "'%s' has no properties, and needs its attributes",
                      name->written);
    if (!(mask & HAS_ATTRS) || s->attrs.count < 2)
        return;
    qsort(s->attrs.items, s->attrs.count, sizeof *s->attrs.items, by_name);
    for (size_t i = 1; i < s->attrs.count; i++)
        if (by_name(&s->attrs.items[i - 1], &s->attrs.items[i]) == 0)
            bytecode_fail(s->tables->st, c->at, "'%s' has two attributes '%s'", name->written,
                          s->attrs.items[i].name);
}

static const shlo_attr *attr_named(const reader *s, const char *name) {
    for (size_t i = 0; i < s->attrs.count; i++)
        if (strcmp(s->attrs.items[i].name, name) == 0)
            return s->attrs.items[i].value;
    return NULL;
}

/* ---- the head of an operation ---- */

/* The order of uses matters for nothing here. */
static void skip_use_orders(bytecode_cursor *c, uint32_t values) {
    uint32_t count = values == 1 ? 1 : bytecode_count(c, "orders of uses");
    for (; count > 0 && !bytecode_failed(c); count--) {
        bool is_pairs;
        if (values != 1)
            bytecode_varint(c);
        uint64_t numbers = bytecode_flagged(c, &is_pairs);
        for (; numbers > 0 && !bytecode_failed(c); numbers--)
            bytecode_varint(c);
    }
}

static void take_results(reader *s, bytecode_cursor *c) {
    const uint32_t count = bytecode_count(c, "results");
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++)
        vec_push(&s->results, bytecode_take_type(s->tables, c));
}

static void take_operands(reader *s, bytecode_cursor *c) {
    const uint32_t count = bytecode_count(c, "operands");
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++)
        vec_push(&s->operands, take_value(s, c));
}

static void take_region_count(bytecode_cursor *c, header *h) {
    const size_t at = c->at;
    const uint64_t count = bytecode_flagged(c, &h->is_isolated);
    if (count > bytecode_left(c))
        bytecode_fail(c->st, at, "%" PRIu64 " regions do not fit the file", count);
    h->regions = (uint32_t)count;
}

static bool take_header(reader *s, bytecode_cursor *c, header *h) {
    bytecode *r = s->tables;
    *h = (header){.at = c->at};
    const uint32_t name = bytecode_index(c, r->name_count, "name of operations");
    const uint8_t mask = bytecode_byte(c);
    const uint32_t location = bytecode_index(c, r->attr_count, "attribute");
    if (bytecode_failed(c))
        return false;
    h->name = &r->names[name];
    h->location = bytecode_location(r, location);
    take_attrs(s, c, mask, h->name);
    vec_clear(&s->results);
    vec_clear(&s->operands);
    if (mask & HAS_RESULTS)
        take_results(s, c);
    if (mask & HAS_OPERANDS)
        take_operands(s, c);
    if (mask & HAS_SUCCESSORS)
        bytecode_fail(r->st, h->at,
                      "'%s' goes on in another block; StableHLO has one block a region",
                      h->name->written);
    if (mask & HAS_USE_ORDERS)
        skip_use_orders(c, (uint32_t)s->results.count);
    if (mask & HAS_REGIONS)
        take_region_count(c, h);
    return !bytecode_failed(c);
}

/* ---- regions ---- */

static void read_op(reader *s, bytecode_cursor *c, shlo_block *block);

static void take_arguments(reader *s, bytecode_cursor *c, shlo_block **out) {
    bytecode *r = s->tables;
    const uint32_t count = bytecode_count(c, "arguments");
    *out = shlo_block_new(r->module, count);
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++) {
        const size_t at = c->at;
        bool has_location;
        const uint32_t type = bytecode_flagged_index(c, r->type_count, "type", &has_location);
        if (has_location)
            bytecode_index(c, r->attr_count, "attribute");
        if (bytecode_failed(c))
            return;
        (*out)->arguments[i].type = bytecode_type(r, type);
        define(s, at, &(*out)->arguments[i]);
    }
    if (bytecode_byte(c) & HAS_USE_ORDERS)
        skip_use_orders(c, count);
}

static shlo_block *read_block(reader *s, bytecode_cursor *c, shlo_op *parent) {
    const size_t at = c->at;
    bool has_arguments;
    uint64_t count = bytecode_flagged(c, &has_arguments);
    shlo_block *block = NULL;
    if (has_arguments)
        take_arguments(s, c, &block);
    if (!block)
        block = shlo_block_new(s->tables->module, 0);
    block->parent = parent;
    if (count > bytecode_left(c))
        bytecode_fail(s->tables->st, at, "%" PRIu64 " operations do not fit the file", count);
    for (; count > 0 && !bytecode_failed(c); count--)
        read_op(s, c, block);
    return block;
}

/* NULL: it is empty, or behind an error. */
static shlo_block *read_region(reader *s, bytecode_cursor *c, shlo_op *parent, bool sees_outside) {
    const size_t at = c->at;
    shlo_block *block = NULL;
    const uint64_t blocks = bytecode_varint(c);
    if (blocks == 0 || bytecode_failed(c))
        return NULL;
    if (blocks != 1) {
        bytecode_fail(s->tables->st, at, "a region has %" PRIu64 " blocks; StableHLO has one",
                      blocks);
        return NULL;
    }
    const uint32_t values = bytecode_count(c, "values");
    if (begin_region(s, at, values, sees_outside)) {
        block = read_block(s, c, parent);
        end_region(s, c->at);
    }
    return block;
}

/* Regions that see nothing from outside stand in a section like the one of the whole file. */
static bytecode_cursor take_isolated(bytecode_cursor *c) {
    enum { OPERATIONS = 4 };
    const size_t at = c->at;
    uint8_t id;
    const bytecode_cursor section = bytecode_section(c, &id);
    if (id != OPERATIONS)
        bytecode_fail(c->st, at, "section %d stands where operations do", id);
    return section;
}

static void read_regions(reader *s, bytecode_cursor *c, const header *h, shlo_op *parent,
                         shlo_block **out) {
    bytecode_cursor section, *from = c;
    if (h->is_isolated && h->regions) {
        section = take_isolated(c);
        from = &section;
    }
    for (uint32_t i = 0; i < h->regions && !bytecode_failed(c); i++)
        out[i] = read_region(s, from, parent, !h->is_isolated);
    if (from != c)
        bytecode_end(from, "the regions of an operation");
}

/* ---- operations ---- */

static void read_op(reader *s, bytecode_cursor *c, shlo_block *block) {
    bytecode *r = s->tables;
    header h;
    if (!take_header(s, c, &h))
        return;
    if (r->module->operation_count >= SHLO_OPERATIONS_MAX) {
        bytecode_fail(r->st, h.at, "there are more than %d operations", SHLO_OPERATIONS_MAX);
        return;
    }
    if (h.name->info && h.name->info->opcode == SHLO_OP_FUNC) {
        bytecode_fail(r->st, h.at, "a function stands inside of another one");
        return;
    }
    if (h.name->info && h.name->info->regions >= 0 &&
        h.regions != (uint32_t)h.name->info->regions) {
        bytecode_fail(r->st, h.at, "'%s' has %d regions, not %" PRIu32, h.name->written,
                      h.name->info->regions, h.regions);
        return;
    }
    shlo_op *op = shlo_op_of(r->module, block,
                             &(shlo_op){.info = h.name->info,
                                        .name = h.name->name,
                                        .operand_count = (uint32_t)s->operands.count,
                                        .result_count = (uint32_t)s->results.count,
                                        .attr_count = (uint32_t)s->attrs.count,
                                        .region_count = h.regions,
                                        .location = h.location});
    for (uint32_t i = 0; i < op->operand_count; i++)
        op->operands[i] = s->operands.items[i];
    for (uint32_t i = 0; i < op->attr_count; i++)
        op->attrs[i] = s->attrs.items[i];
    for (uint32_t i = 0; i < op->result_count; i++)
        op->results[i].type = s->results.items[i];
    read_regions(s, c, &h, op, op->regions);
    for (uint32_t i = 0; i < op->region_count; i++)
        if (!op->regions[i])
            op->regions[i] = shlo_block_new(r->module, 0);
    for (uint32_t i = 0; i < op->result_count && !bytecode_failed(c); i++)
        define(s, h.at, &op->results[i]);
}

/* ---- functions ---- */

/* Attributes of arguments or results: none, or one dictionary for each. */
static const shlo_attr *const *take_each(reader *s, const header *h, const char *name,
                                         uint32_t count) {
    const shlo_attr *a = attr_named(s, name);
    const shlo_attr **out = BYTECODE_NEW(s->tables, const shlo_attr *, count);
    const uint32_t have = a ? a->count : 0;
    if (have && have != count)
        bytecode_fail(s->tables->st, h->at,
                      "%s has %" PRIu32 " dictionaries, and there are %" PRIu32, name, have, count);
    for (uint32_t i = 0; i < count && have == count; i++)
        out[i] = a->items[i]->kind == SHLO_ATTR_DICT ? a->items[i] : NULL;
    return out;
}

static bool has_arguments(const shlo_function *f) {
    bool same = f->body->argument_count == f->type->inputs;
    for (uint32_t i = 0; same && i < f->type->inputs; i++)
        same = shlo_type_equal(f->body->arguments[i].type, f->type->parts[i]);
    return same;
}

static void read_function(reader *s, bytecode_cursor *c, const header *h) {
    bytecode *r = s->tables;
    shlo_function *f = BYTECODE_NEW(r, shlo_function, 1);
    f->name = attr_named(s, "sym_name")->string;
    f->is_private = strcmp(attr_named(s, "sym_visibility")->string, "private") == 0;
    f->type = attr_named(s, "function_type")->type;
    f->location = h->location;
    if (f->type->kind != SHLO_TYPE_FUNCTION || h->regions != 1) {
        bytecode_fail(r->st, h->at, "function '%s' has no type of functions, or not one region",
                      f->name);
        return;
    }
    f->argument_attrs = take_each(s, h, "arg_attrs", f->type->inputs);
    f->result_attrs = take_each(s, h, "res_attrs", f->type->count - f->type->inputs);
    read_regions(s, c, h, NULL, &f->body);
    if (bytecode_failed(c))
        return;
    if (f->body && !has_arguments(f))
        bytecode_fail(r->st, h->at, "the arguments of function '%s' are not those of its type",
                      f->name);
    else if (!shlo_module_add(r->module, f))
        bytecode_fail(r->st, h->at, "there are two functions '%s'", f->name);
}

/* ---- the module ---- */

/* A mesh of devices is kept; other operations beside the functions are read alone. */
static void read_beside(reader *s, bytecode_cursor *c, const header *h) {
    shlo_block **blocks = BYTECODE_NEW(s->tables, shlo_block *, h->regions);
    if (h->name->info || s->results.count)
        bytecode_fail(s->tables->st, h->at, "'%s' stands outside of a function", h->name->written);
    else
        read_regions(s, c, h, NULL, blocks);
    if (strcmp(h->name->name, "sdy.mesh") == 0)
        bytecode_sdy_mesh(s->tables, s->attrs.items, s->attrs.count);
}

static void read_body(reader *s, bytecode_cursor *c) {
    bool has_arguments;
    uint64_t count = bytecode_flagged(c, &has_arguments);
    header h;
    if (has_arguments)
        bytecode_fail(s->tables->st, c->at, "a module has no arguments");
    for (; count > 0 && take_header(s, c, &h); count--)
        if (h.name->info && h.name->info->opcode == SHLO_OP_FUNC)
            read_function(s, c, &h);
        else
            read_beside(s, c, &h);
}

static void name_module(reader *s) {
    shlo_module *m = s->tables->module;
    m->attrs = BYTECODE_NEW(s->tables, shlo_named_attr, s->attrs.count);
    for (size_t i = 0; i < s->attrs.count; i++) {
        const shlo_named_attr *a = &s->attrs.items[i];
        if (strcmp(a->name, "sym_name") == 0 && a->value->kind == SHLO_ATTR_STRING)
            m->name = a->value->string;
        else
            m->attrs[m->attr_count++] = *a;
    }
}

/* Its one region, whose values count from 0. */
static void read_module(reader *s, bytecode_cursor *c) {
    header h;
    if (!take_header(s, c, &h))
        return;
    if (!h.name->is_module || h.regions != 1 || !h.is_isolated) {
        bytecode_fail(s->tables->st, h.at, "the file holds '%s', and must hold a module",
                      h.name->written);
        return;
    }
    name_module(s);
    bytecode_cursor section = take_isolated(c);
    const size_t at = section.at;
    const uint64_t blocks = bytecode_varint(&section);
    if (blocks > 1)
        bytecode_fail(s->tables->st, at, "a module has one block");
    const uint32_t values = blocks ? bytecode_count(&section, "values") : 0;
    if (blocks && begin_region(s, at, values, false)) {
        read_body(s, &section);
        end_region(s, section.at);
    }
    bytecode_end(&section, "the functions");
    bytecode_end(c, "the module");
}

bool bytecode_read_module(bytecode *r, bytecode_cursor *ir) {
    reader s = {.tables = r};
    const size_t at = ir->at;
    if (bytecode_varint(ir) != 1 << 1)
        bytecode_fail(r->st, at, "the file must hold one operation, a module");
    read_module(&s, ir);
    vec_release(&s.values);
    vec_release(&s.attrs);
    vec_release(&s.results);
    vec_release(&s.operands);
    if (!bytecode_broken(r) && !r->module->first)
        bytecode_fail(r->st, at, "there is no function in it");
    return !bytecode_broken(r);
}
