/* irdl.c - prints the tables of operations as an IRDL file (irdl.h says what it can express). */
#include "ir/irdl.h"

#include <stdio.h>
#include <string.h>

static const char *const dialects[IR_LEVEL_COUNT] = {"tessera", "sched", "tile"};

typedef struct irdl_op {
    const op_info *info;
    bool tensors;
    text *out;
    int next; /* number of the next constraint */
} irdl_op;

/* Each operand has a constraint of its own: sharing one would bind them to one type. */
static int value_constraint(irdl_op *o) {
    text_printf(o->out, "      %%%d = %s\n", o->next,
                o->tensors ? "irdl.base \"!builtin.tensor\"" : "irdl.any");
    return o->next++;
}

typedef struct irdl_list {
    char items[4096];
    size_t length;
} irdl_list;

static void list_add(irdl_list *list, const char *prefix, int constraint) {
    list->length += (size_t)snprintf(list->items + list->length, sizeof list->items - list->length,
                                     "%s%s%%%d", list->length ? ", " : "", prefix, constraint);
}

static void add_runs(irdl_op *o, irdl_list *list) {
    for (int i = 0; i < IRDL_RUNS; i++)
        list_add(list, "variadic ", value_constraint(o));
}

static void print_operands(irdl_op *o) {
    irdl_list list = {.length = 0};
    const char *cursor = o->info->operands;
    op_operand_info operand;
    while (op_next_operand(&cursor, &operand))
        if (operand.variadic)
            add_runs(o, &list);
        else
            list_add(&list, operand.optional ? "optional " : "", value_constraint(o));
    if (list.length)
        text_printf(o->out, "      irdl.operands(%s)\n", list.items);
}

static void print_results(irdl_op *o) {
    irdl_list list = {.length = 0};
    if (o->info->results < 0)
        add_runs(o, &list);
    for (int i = 0; i < o->info->results; i++)
        list_add(&list, "", value_constraint(o));
    if (list.length)
        text_printf(o->out, "      irdl.results(%s)\n", list.items);
}

/* The base of an attribute of this kind; NULL where it has several (a dimension may be a number or
 * an expression). */
static const char *attr_base(const char *kind) {
    static const char *const bases[][2] = {
        {"int", "integer"}, {"bool", "integer"}, {"string", "string"},
        {"type", "type"},   {"bits", "opaque"},  {"ints", "array"},
        {"dims", "array"},  {"array", "array"},  {"dict", "dictionary"},
    };
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (strcmp(bases[i][0], kind) == 0)
            return bases[i][1];
    return NULL;
}

static void print_attributes(irdl_op *o) {
    text list;
    text_init(&list);
    const char *cursor = o->info->attrs;
    op_attr_info attr;
    while (op_next_attr(&cursor, &attr)) {
        if (attr.optional)
            continue;
        const char *base = attr_base(attr.kind);
        if (base)
            text_printf(o->out, "      %%%d = irdl.base \"#builtin.%s\"\n", o->next, base);
        else
            text_printf(o->out, "      %%%d = irdl.any\n", o->next);
        text_printf(&list, "%s\"%s\" = %%%d", list.length ? ", " : "", attr.name, o->next++);
    }
    if (list.length)
        text_printf(o->out, "      irdl.attributes {%s}\n", list.data);
    text_release(&list);
}

static void print_regions(irdl_op *o) {
    irdl_list list = {.length = 0};
    for (int i = 0; i < o->info->regions; i++) {
        text_printf(o->out, "      %%%d = irdl.region\n", o->next);
        list_add(&list, "", o->next++);
    }
    if (list.length)
        text_printf(o->out, "      irdl.regions(%s)\n", list.items);
}

static void print_operation(irdl_op o) {
    text_printf(o.out, "    irdl.operation @%s {\n", strchr(o.info->name, '.') + 1);
    print_operands(&o);
    print_results(&o);
    print_attributes(&o);
    print_regions(&o);
    text_append(o.out, "    }\n");
}

void irdl_print(bool (*tensors_only)(int opcode), text *out) {
    text_append(out, "// Made from the tables of operations by `tsr-opt --irdl`.\nmodule {\n");
    for (int level = 0; level < IR_LEVEL_COUNT; level++) {
        const op_table *table = op_table_get((ir_level)level);
        if (!table)
            continue;
        text_printf(out, "  irdl.dialect @%s {\n", dialects[level]);
        for (int i = 0; i < table->count; i++) {
            bool tensors = tensors_only && tensors_only(level * IR_LEVEL_STRIDE + i);
            print_operation((irdl_op){&table->ops[i], tensors, out, 0});
        }
        text_append(out, "  }\n");
    }
    text_append(out, "}\n");
}
