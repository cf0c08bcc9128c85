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

/* The next comma-separated item, without blanks around it; its length, 0 at the end. */
static size_t next_item(const char **cursor, const char **item) {
    const char *p = *cursor;
    while (*p == ' ' || *p == ',')
        p++;
    size_t length = strcspn(p, ",");
    *item = p;
    *cursor = p + length;
    while (length && p[length - 1] == ' ')
        length--;
    return length;
}

/* Tables are read for each operation that is verified: this is no snprintf. */
static void put(char *out, size_t size, const char *from, const char *end) {
    const size_t length = (size_t)(end - from) < size ? (size_t)(end - from) : size - 1;
    memcpy(out, from, length);
    out[length] = '\0';
}

bool op_next_attr(const char **cursor, op_attr_info *out) {
    const char *item;
    const size_t length = next_item(cursor, &item);
    if (length == 0)
        return false;
    memset(out, 0, sizeof *out);
    const char *end = item + length, *colon = memchr(item, ':', length);
    const char *equal = memchr(item, '=', length);
    if (equal) {
        put(out->fallback, sizeof out->fallback, equal + 1, end);
        end = equal;
    }
    out->optional = end[-1] == '?';
    put(out->name, sizeof out->name, item, colon);
    put(out->kind, sizeof out->kind, colon + 1, end - out->optional);
    return true;
}

bool op_next_operand(const char **cursor, op_operand_info *out) {
    const char *item;
    const size_t length = next_item(cursor, &item);
    if (length == 0)
        return false;
    memset(out, 0, sizeof *out);
    out->optional = item[0] == '[';
    out->variadic = length > 3 && strncmp(item + length - 3, "...", 3) == 0;
    put(out->name, sizeof out->name, item + out->optional,
        item + length -
            (out->optional   ? 1
             : out->variadic ? 3
                             : 0));
    return true;
}
