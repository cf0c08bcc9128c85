/* opset.c - the registered tables of operations, and the little language of their operand and
 * attribute columns. */
#include "ir/opset.h"

#include <stdio.h>
#include <string.h>

static const op_table *_Atomic tables[IR_LEVEL_COUNT];

void opset_register(const op_table *table) {
    tables[table->level] = table;
}

const op_table *op_table_get(ir_level level) {
    return tables[level];
}

const op_info *op_info_get(int opcode) {
    int level = opcode / IR_LEVEL_STRIDE, line = opcode % IR_LEVEL_STRIDE;
    if (opcode < 0 || level >= IR_LEVEL_COUNT || !tables[level] || line >= tables[level]->count)
        return NULL;
    return &tables[level]->ops[line];
}

int op_from_name(const char *name) {
    for (int level = 0; level < IR_LEVEL_COUNT; level++)
        for (int i = 0; tables[level] && i < tables[level]->count; i++)
            if (strcmp(tables[level]->ops[i].name, name) == 0)
                return level * IR_LEVEL_STRIDE + i;
    return -1;
}

/* Copies the next comma-separated item, without blanks around it; false at the end. */
static bool next_item(const char **cursor, char *out, size_t size) {
    const char *p = *cursor;
    while (*p == ' ' || *p == ',')
        p++;
    if (!*p)
        return false;
    size_t length = strcspn(p, ",");
    *cursor = p + length;
    while (length && p[length - 1] == ' ')
        length--;
    snprintf(out, size, "%.*s", (int)length, p);
    return true;
}

bool op_next_attr(const char **cursor, op_attr_info *out) {
    char item[128];
    if (!next_item(cursor, item, sizeof item))
        return false;
    memset(out, 0, sizeof *out);
    char *colon = strchr(item, ':'), *equal = strchr(item, '=');
    if (equal) {
        snprintf(out->fallback, sizeof out->fallback, "%.63s", equal + 1);
        *equal = 0;
    }
    size_t length = strlen(item);
    if (item[length - 1] == '?') {
        out->optional = true;
        item[length - 1] = 0;
    }
    *colon = 0;
    snprintf(out->name, sizeof out->name, "%.31s", item);
    snprintf(out->kind, sizeof out->kind, "%.15s", colon + 1);
    return true;
}

bool op_next_operand(const char **cursor, op_operand_info *out) {
    char item[64];
    if (!next_item(cursor, item, sizeof item))
        return false;
    memset(out, 0, sizeof *out);
    size_t length = strlen(item);
    out->optional = item[0] == '[';
    out->variadic = length > 3 && strcmp(item + length - 3, "...") == 0;
    if (out->optional)
        snprintf(out->name, sizeof out->name, "%.*s", (int)(length - 2 < 31 ? length - 2 : 31),
                 item + 1);
    else
        snprintf(out->name, sizeof out->name, "%.*s", (int)(length - (out->variadic ? 3 : 0)),
                 item);
    return true;
}
