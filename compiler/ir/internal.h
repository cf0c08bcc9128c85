/* internal.h - the storage behind ir.h, for the files of this folder only. */
#ifndef TESSERA_IR_INTERNAL_H
#define TESSERA_IR_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/blob.h"
#include "ir/dim.h"
#include "ir/dim_poly.h"
#include "ir/ir.h"
#include "ir/opset.h"

/* A hash index over interned things: open addressing, id per slot (0 = empty). */
typedef struct intern_table {
    uint32_t *slots;
    uint32_t capacity, count;
} intern_table;

typedef struct dim_entry {
    const char *text; /* canonical */
    const dim_poly *poly;
} dim_entry;

struct ir_module {
    arena memory;
    /* Each vector holds pointers into the arena, so that borrowed pointers stay valid; item 0 is
     * unused. */
    VEC(ir_type_data *) types;
    VEC(ir_attr_data *) attrs;
    VEC(ir_op_data *) ops;
    VEC(ir_value_data *) values;
    VEC(ir_block_data *) blocks;
    VEC(ir_region_data *) regions;
    VEC(dim_entry) dims; /* dim id IR_DIM_SYMBOLS - (i + 1) */
    intern_table type_index, attr_index, dim_index;
    map dim_atoms, name_index; /* by text: a dim_atom, a name */
    ir_block body;
    const char *failure; /* see ir_fail; NULL: none */
};

/* Interned copy of a name (attribute names). */
const char *ir_intern_name(ir_module *m, const char *name);

/* A record like `head`, and in one piece with it the arrays that its counts say, for the caller to
 * fill: a program may have a million of them. */
ir_op_data *ir_op_room(ir_module *m, const ir_op_data *head);

/* The slot of a table where `wanted`, of this hash, is, or where its id goes. */
typedef bool (*intern_same)(const ir_module *m, uint32_t id, const void *wanted);
typedef uint64_t (*intern_hash)(const ir_module *m, uint32_t id);
uint32_t *ir_intern_slot(const ir_module *m, intern_table *t, uint64_t h, intern_hash hash,
                         intern_same same, const void *wanted);

/* Text of parts, used by printing and messages. */
void ir_print_type(const ir_module *m, ir_type type, text *out);
void ir_print_attr(const ir_module *m, ir_attr attr, text *out);
const char *ir_element_text(dtype element); /* bool is "i1" */

#endif
