/* opset.h - the operations of all levels, from their tables.
 *
 * One line per operation in ops/graph.def, schedule/schedule.def and tile/tile.def gives its
 * opcode, text name, operand, result and region counts, and attribute names with kinds. */
#ifndef TESSERA_IR_OPSET_H
#define TESSERA_IR_OPSET_H

#include <stdbool.h>

#include "ir.h"

typedef enum ir_level { IR_LEVEL_GRAPH, IR_LEVEL_SCHEDULE, IR_LEVEL_TILE, IR_LEVEL_COUNT } ir_level;

typedef struct op_info {
    const char *name; /* "tessera.add" */
    ir_level level;
    const char *operands; /* "lhs, rhs"; "x, [bias]" = optional; "xs..." = any number */
    const char
        *attrs;  /* "axis:int=-1, order:string?" ; '?' optional, '=' default used by the language */
    int results; /* -1: any number */
    int regions;
    const char *summary; /* one line for the docs */
    bool is_function;    /* stands beside the kernel, at the top */
} op_info;

/* An opcode is level * IR_LEVEL_STRIDE + the line's number in its table. The levels register their
 * tables once (compiler_init does), so that the core depends on none of them. */
enum { IR_LEVEL_STRIDE = 1000 };
/* Each level's own rule, called by ir_verify for its operations. Message without location. */
typedef bool (*op_verifier)(const ir_module *m, ir_op op, status *st);
typedef struct op_table {
    ir_level level;
    const op_info *ops;
    int count;
    op_verifier verify; /* may be NULL */
    /* Checks what spans operations; called once each operation has passed. May be NULL. */
    bool (*verify_module)(const ir_module *m, status *st);
} op_table;
void opset_register(const op_table *table);

/* The operation of an opcode; NULL when out of range. */
const op_info *op_info_get(int opcode);
/* Opcode of a text name ("tessera.add"); -1 when unknown. */
int op_from_name(const char *name);
const op_table *op_table_get(ir_level level); /* NULL before registration */

/* Parses one attribute of op_info.attrs; *cursor starts at the string and ends NULL. Returns false
 * at the end. */
typedef struct op_attr_info {
    char name[32];
    char kind[16]; /* int, ints, dim, dims, bits, string, bool, type, dict, dense, number, array */
    bool optional;
    char fallback[64]; /* default's text, "" when none */
} op_attr_info;
bool op_next_attr(const char **cursor, op_attr_info *out);
/* Likewise for op_info.operands. */
typedef struct op_operand_info {
    char name[32];
    bool optional, variadic;
} op_operand_info;
bool op_next_operand(const char **cursor, op_operand_info *out);

#endif
