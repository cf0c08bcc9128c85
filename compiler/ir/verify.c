/* verify.c - structural checks on a module, then each level's own rule. */
#include <stdio.h>
#include <string.h>

#include "ir/internal.h"

typedef struct verifier {
    const ir_module *m;
    bool *visible; /* by value id: defined before this point, in this or an enclosing block */
    status *st;
} verifier;

static bool fail(const verifier *v, ir_op op, const char *what) {
    const ir_op_data *d = ir_op_get(v->m, op);
    const op_info *info = op_info_get(d->opcode);
    if (d->location.line)
        return status_set(v->st, STATUS_INTERNAL, "'%s' (line %u): %s", info ? info->name : "?",
                          d->location.line, what);
    return status_set(v->st, STATUS_INTERNAL, "'%s': %s", info ? info->name : "?", what);
}

static bool check_operands(const verifier *v, ir_op op, const op_info *info) {
    const ir_op_data *d = ir_op_get(v->m, op);
    const char *cursor = info->operands;
    op_operand_info operand;
    uint32_t least = 0, most = 0;
    while (op_next_operand(&cursor, &operand)) {
        least += !operand.optional && !operand.variadic;
        most = operand.variadic ? UINT32_MAX : most + (most != UINT32_MAX);
    }
    if (d->operand_count < least || d->operand_count > most)
        return fail(v, op, "wrong number of operands");
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (!v->visible[d->operands[i]])
            return fail(v, op, "an operand does not dominate this operation");
    return true;
}

/* Dimensions may be symbolic; as numbers they are not negative. */
static bool is_number(const ir_attr_data *d, bool dimension) {
    return dimension ? d->kind == IR_ATTR_DIM || (d->kind == IR_ATTR_INT && d->integer >= 0)
                     : d->kind == IR_ATTR_INT;
}

/* Does an attribute have the kind that its table says? See opset.h for the kinds. */
static bool fits_kind(const verifier *v, const ir_attr_data *d, const char *kind) {
    static const struct {
        const char *name;
        ir_attr_kind kind;
    } kinds[] = {{"bits", IR_ATTR_BITS},  {"string", IR_ATTR_STRING}, {"bool", IR_ATTR_BOOL},
                 {"type", IR_ATTR_TYPE},  {"array", IR_ATTR_ARRAY},   {"ints", IR_ATTR_ARRAY},
                 {"dims", IR_ATTR_ARRAY}, {"dict", IR_ATTR_DICT},     {"dense", IR_ATTR_DENSE}};
    if (strcmp(kind, "int") == 0 || strcmp(kind, "dim") == 0)
        return is_number(d, kind[0] == 'd');
    if (strcmp(kind, "number") == 0)
        return d->kind == IR_ATTR_INT || d->kind == IR_ATTR_BITS;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].name) == 0 && d->kind != kinds[i].kind)
            return false;
    bool numbers = strcmp(kind, "ints") == 0 || strcmp(kind, "dims") == 0;
    for (uint32_t i = 0; numbers && i < d->count; i++)
        if (!is_number(ir_attr_get(v->m, d->items[i]), kind[0] == 'd'))
            return false;
    return true;
}

static bool check_attrs(const verifier *v, ir_op op, const op_info *info) {
    const ir_op_data *d = ir_op_get(v->m, op);
    uint32_t known = 0;
    char message[128];
    const char *cursor = info->attrs;
    op_attr_info attr;
    while (op_next_attr(&cursor, &attr)) {
        ir_attr value = ir_op_attr(v->m, op, attr.name);
        known += value != 0;
        if (value ? fits_kind(v, ir_attr_get(v->m, value), attr.kind) : attr.optional)
            continue;
        snprintf(message, sizeof message,
                 value ? "attribute '%s' is not of kind %s" : "attribute '%s' is missing",
                 attr.name, attr.kind);
        return fail(v, op, message);
    }
    return known == d->attr_count || fail(v, op, "an attribute that the operation does not have");
}

/* A kernel of any level has names for its inputs and outputs. */
static bool check_names(const verifier *v, ir_op op) {
    static const char *const lists[] = {"inputs", "outputs"};
    for (int l = 0; l < 2; l++) {
        const ir_attr_data *list = ir_attr_get(v->m, ir_op_attr(v->m, op, lists[l]));
        for (uint32_t i = 0; i < list->count; i++)
            if (ir_attr_get(v->m, list->items[i])->kind != IR_ATTR_STRING)
                return fail(v, op, "the name of an input or output is not a string");
    }
    return true;
}

/* A kernel and its functions stand at the top and nowhere else; below them are operations of their
 * level, and those of Graph IR in the bodies of Schedule IR. */
static bool check_place(const verifier *v, ir_op op, const op_info *info) {
    ir_level level = op_info_get(ir_op_get(v->m, ir_module_kernel(v->m))->opcode)->level;
    bool is_kernel = ir_op_get(v->m, op)->opcode % IR_LEVEL_STRIDE == 0;
    bool is_top = is_kernel || info->is_function;
    if (is_top != (ir_op_get(v->m, op)->block == v->m->body))
        return fail(v, op, is_top ? "a kernel inside of another" : "stands outside of a kernel");
    if (is_kernel != (op == ir_module_kernel(v->m)) && is_top)
        return fail(v, op, "a module holds one kernel, and then its functions");
    return info->level == level || (level == IR_LEVEL_SCHEDULE && info->level == IR_LEVEL_GRAPH) ||
           fail(v, op, "is of another level than its kernel");
}

static bool check_block(verifier *v, ir_block block);

static bool check_op(verifier *v, ir_op op) {
    const ir_op_data *d = ir_op_get(v->m, op);
    const op_info *info = op_info_get(d->opcode);
    if (!info)
        return fail(v, op, "unknown opcode");
    if (!check_place(v, op, info) || !check_operands(v, op, info) || !check_attrs(v, op, info))
        return false;
    if (d->block == v->m->body && !check_names(v, op))
        return false;
    if (info->results >= 0 && d->result_count != (uint32_t)info->results)
        return fail(v, op, "wrong number of results");
    if (d->region_count != (uint32_t)info->regions)
        return fail(v, op, "wrong number of regions");
    const op_table *table = op_table_get(info->level);
    status own = STATUS_INIT;
    if (table->verify && !table->verify(v->m, op, &own))
        return fail(v, op, own.message);
    for (uint32_t r = 0; r < d->region_count; r++)
        if (!check_block(v, ir_op_block(v->m, op, r)))
            return false;
    for (uint32_t i = 0; i < d->result_count; i++)
        v->visible[d->results[i]] = true;
    return true;
}

static bool check_block(verifier *v, ir_block block) {
    const ir_block_data *b = ir_block_get(v->m, block);
    for (uint32_t i = 0; i < b->argument_count; i++)
        v->visible[b->arguments[i]] = true;
    bool ok = true;
    for (ir_op op = b->first; op && ok; op = ir_op_get(v->m, op)->next)
        ok = check_op(v, op);
    for (ir_op op = b->first; op; op = ir_op_get(v->m, op)->next)
        for (uint32_t i = 0; i < ir_op_get(v->m, op)->result_count; i++)
            v->visible[ir_op_get(v->m, op)->results[i]] = false;
    for (uint32_t i = 0; i < b->argument_count; i++)
        v->visible[b->arguments[i]] = false;
    return ok;
}

bool ir_broken(status *st, const char *what) {
    return status_set(st, STATUS_INTERNAL, "%s", what);
}

bool ir_verify(const ir_module *m, status *st) {
    verifier v = {m, base_calloc(m->values.count, sizeof(bool)), st};
    ir_op kernel = ir_module_kernel(m);
    bool ok = kernel ? check_block(&v, m->body)
                     : status_set(st, STATUS_INTERNAL, "the module holds no kernel");
    free(v.visible);
    if (!ok)
        return false;
    const op_table *table = op_table_get(op_info_get(ir_op_get(m, kernel)->opcode)->level);
    return !table->verify_module || table->verify_module(m, st);
}
