/* ir.h - the SSA core shared by every level: types, attributes, operations, blocks, regions.
 *
 * Everything in a module is named by a small id (0 is "none") and lives in the module's arena until
 * ir_module_free. Types and attributes are interned: equal ids mean equal things. Operations belong
 * to a level's table (opset.h); their opcodes are global. Control flow is structured (regions with
 * one block each); there are no successors.
 *
 * Pointers returned by ir_op_get and friends are borrowed from the module and stay valid until it
 * is freed. Thread rule: one module, one thread. */
#ifndef TESSERA_IR_IR_H
#define TESSERA_IR_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/text.h"
#include "base/vec.h"
#include "ir/limits.h"

typedef uint32_t ir_type;
typedef uint32_t ir_attr;
typedef uint32_t ir_value;
typedef uint32_t ir_op;
typedef uint32_t ir_block;
typedef uint32_t ir_region;

enum { IR_MAX_RANK = LIMIT_RANK };

typedef struct ir_module ir_module;

/* ---- dimensions: a non-negative number, or (negative) a symbolic expression of the module; see
 * dim.h ---- */
typedef int64_t ir_dim;

/* ---- types ---- */
typedef enum ir_type_kind {
    IR_TYPE_NONE,
    IR_TYPE_SCALAR, /* f32, i32, i1, ... an element */
    IR_TYPE_INDEX,  /* index: a loop counter or an offset, 64 bits */
    IR_TYPE_TENSOR, /* tensor<2x?xf32, #tessera.dims<"2", "N">>: a value of Graph IR */
    IR_TYPE_BUFFER, /* !sched.buf<2x3xf32>: row-major memory of Schedule IR */
    IR_TYPE_MEMORY, /* !tile.mem<f32>: the address of elements, in Tile IR */
    IR_TYPE_TILE,   /* !tile.t<6x64xf32>: a static tile; a layout may follow (ir_layout) */
    IR_TYPE_KIND_COUNT
} ir_type_kind;

/* Layout of a tile's elements over a target's registers: data of its type.
 * - rows<16>: a row is cut into vectors of 16 elements (a CPU's).
 * - threads<8x16, 1x4>: a workgroup of 8 * 16 threads; runs of 1 row by 4 columns go to the threads
 *   in turn, along rows and along columns. Element (r, c) is in thread (r / 1 % 8) * 16 + c / 4
 * % 16. What has one row is in all threads of a column, what has one column in all of a row. All
 * numbers of the second are powers of two.
 * - mma<c, 2x2, 8x4, 1x2>: a fragment of a matrix unit's instruction. The tile is cut into 2 x 2
 *   pieces, one for each subgroup of threads, in the order of rows; of a piece, the subgroup's
 *   threads have what threads<8x4, 1x2> says. Of the left factor, `a`, subgroups side by side hold
 *   the same rows and all columns; of the right one, `b`, subgroups above each other the same
 *   columns and all rows; sums, `c`, are each in one. `turned` behind the threads: those of a
 *   subgroup go down the columns and not along the rows. Subgroups have as many threads as
 *   `lanes` says behind it, where those are more than these: the others hold the same. */
typedef enum ir_fragment {
    IR_FRAGMENT_NONE,
    IR_FRAGMENT_A,
    IR_FRAGMENT_B,
    IR_FRAGMENT_C
} ir_fragment;
typedef struct ir_layout {
    uint16_t vector;                      /* rows<>: elements of a vector; 0: it is none */
    uint16_t row_threads, column_threads; /* threads<>, mma<>; 0: it is none */
    uint16_t row_run, column_run;
    uint16_t row_groups, column_groups; /* mma<>: subgroups; 0: it is none */
    uint16_t lanes;                     /* ... threads of each */
    uint16_t fragment;                  /* ... an ir_fragment */
    uint16_t turned;
} ir_layout;

/* Into how many pieces a tile's rows, or its columns, are cut for subgroups. */
static inline int ir_layout_row_groups(const ir_layout *l) {
    return l->row_groups && l->fragment != IR_FRAGMENT_B ? l->row_groups : 1;
}
static inline int ir_layout_column_groups(const ir_layout *l) {
    return l->column_groups && l->fragment != IR_FRAGMENT_A ? l->column_groups : 1;
}

static inline ir_layout ir_layout_rows(int vector) {
    return (ir_layout){.vector = (uint16_t)vector};
}

typedef struct ir_type_data {
    ir_type_kind kind;
    dtype element;
    int rank;
    ir_dim dims[IR_MAX_RANK];
    ir_layout layout; /* tiles: all 0 before layouts are assigned */
} ir_type_data;

ir_type ir_type_scalar(ir_module *m, dtype element);
ir_type ir_type_index(ir_module *m);
ir_type ir_type_shaped(ir_module *m, ir_type_kind kind, dtype element, int rank,
                       const ir_dim *dims);
ir_type ir_type_tensor(ir_module *m, dtype element, int rank, const ir_dim *dims);
/* Without a layout, and with one. */
ir_type ir_type_tile(ir_module *m, dtype element, int64_t rows, int64_t columns);
/* As it stands in the text of a type. */
void ir_layout_print(const ir_layout *layout, text *out);
ir_type ir_type_laid_out(ir_module *m, ir_type tile, const ir_layout *layout);
ir_type ir_type_memory(ir_module *m, dtype element);
const ir_type_data *ir_type_get(const ir_module *m, ir_type type);
const ir_type_data *ir_type_of(const ir_module *m, ir_value value);
/* The same type with another element type. */
ir_type ir_type_with_element(ir_module *m, ir_type type, dtype element);
bool ir_type_is_static(const ir_module *m, ir_type type);
/* Elements of a static shaped type; INT64_MAX where they are more. */
int64_t ir_type_count(const ir_module *m, ir_type type);

/* ---- attributes ---- */
typedef enum ir_attr_kind {
    IR_ATTR_NONE,
    IR_ATTR_UNIT,
    IR_ATTR_BOOL,
    IR_ATTR_INT,    /* 3 : i64 */
    IR_ATTR_BITS,   /* an element's bits: #tessera.bits<f32, 0x3f800000> */
    IR_ATTR_STRING, /* "seq" */
    IR_ATTR_DIM,    /* symbolic: #tessera.dim<"M + 1">; a static dim is an IR_ATTR_INT */
    IR_ATTR_TYPE,
    IR_ATTR_ARRAY,
    IR_ATTR_DICT,  /* {BM = 64 : i64}: keys sorted */
    IR_ATTR_DENSE, /* dense_resource<sha256_...> : tensor<4xf32>: its bytes stand behind the module
                    */
    IR_ATTR_KIND_COUNT
} ir_attr_kind;

typedef struct ir_attr_data {
    ir_attr_kind kind;
    int64_t integer;      /* INT, BOOL, DIM (an ir_dim) */
    uint64_t bits;        /* BITS */
    dtype element;        /* BITS */
    const char *string;   /* STRING; DENSE: the blob's name */
    ir_type type;         /* TYPE, DENSE */
    struct ir_blob *blob; /* DENSE; held by the module */
    uint32_t count;       /* ARRAY, DICT */
    const ir_attr *items; /* ARRAY: elements; DICT: values */
    const char **keys;    /* DICT */
} ir_attr_data;

ir_attr ir_attr_unit(ir_module *m);
ir_attr ir_attr_bool(ir_module *m, bool value);
ir_attr ir_attr_int(ir_module *m, int64_t value);
ir_attr ir_attr_dim(ir_module *m, ir_dim dim); /* an INT when static */
ir_attr ir_attr_bits(ir_module *m, dtype element, uint64_t bits);
ir_attr ir_attr_string(ir_module *m, const char *string);
ir_attr ir_attr_type(ir_module *m, ir_type type);
ir_attr ir_attr_array(ir_module *m, const ir_attr *items, uint32_t count);
ir_attr ir_attr_int_array(ir_module *m, const int64_t *items, uint32_t count);
ir_attr ir_attr_dim_array(ir_module *m, const ir_dim *items, uint32_t count);
ir_attr ir_attr_dict(ir_module *m, const char *const *keys, const ir_attr *values, uint32_t count);
/* Elements in row-major order, as in memory. */
ir_attr ir_attr_dense(ir_module *m, ir_type type, struct ir_blob *blob);
const ir_attr_data *ir_attr_get(const ir_module *m, ir_attr attr);

/* ---- operations ---- */
typedef struct ir_named_attr {
    const char *name; /* interned in the module; compare with strcmp */
    ir_attr value;
} ir_named_attr;

typedef struct ir_location {
    uint32_t line, column; /* 1-based, in the kernel's source or its IR text; 0 = none */
    uint32_t setting;      /* how or where that is computed (ops/settings.h); 0: nothing is said */
    uint32_t checkpoint;   /* whose part it is (transforms/checkpoint.c); 0: of none */
    int derived;           /* 1 + opcode of the operation whose derivative it is part of; 0: none */
} ir_location;

typedef struct ir_op_data {
    int opcode; /* see opset.h */
    ir_block block;
    ir_op previous, next; /* in the block */
    uint32_t operand_count, result_count, attr_count, region_count;
    ir_value *operands;
    ir_value *results;
    ir_named_attr *attrs; /* sorted by name */
    ir_region *regions;
    ir_location location;
} ir_op_data;

typedef struct ir_value_data {
    ir_type type;
    ir_op op;         /* defining operation, or 0 for a block argument */
    ir_block block;   /* block argument: its block */
    uint32_t index;   /* result or argument number */
    const char *name; /* for diagnostics; may be NULL; not printed */
} ir_value_data;

typedef struct ir_block_data {
    ir_region region;
    uint32_t argument_count, argument_capacity;
    ir_value *arguments;
    ir_op first, last;
} ir_block_data;

typedef struct ir_region_data {
    ir_op parent;
    ir_block block; /* the one block */
} ir_region_data;

ir_module *ir_module_new(void);
void ir_module_free(ir_module *m);
arena *ir_module_arena(ir_module *m);
/* Failure to build something in it, as dimensions can be beyond what they may be only once they are
 * multiplied: the first reason stays, and whoever asked for the building says so. The module is
 * whole, and means nothing. NULL: nothing went wrong. */
void ir_fail(ir_module *m, const char *why);
const char *ir_failure(const ir_module *m);
ir_block ir_module_body(const ir_module *m); /* the top-level block: a kernel, then functions */
ir_op ir_module_kernel(const ir_module *m);  /* its first op, 0 while empty */
ir_block_data *ir_kernel_body(const ir_module *m);

ir_op_data *ir_op_get(const ir_module *m, ir_op op);
ir_value_data *ir_value_get(const ir_module *m, ir_value value);
ir_block_data *ir_block_get(const ir_module *m, ir_block block);
ir_region_data *ir_region_get(const ir_module *m, ir_region region);
uint32_t ir_value_count(const ir_module *m); /* ids run from 1 to this number */
uint32_t ir_op_count(const ir_module *m);

/* Place of new operations: at the end of `block`, or before `before` if that is not 0. */
typedef struct ir_builder {
    ir_module *m;
    ir_block block;
    ir_op before;
    ir_location location;
} ir_builder;

typedef struct ir_op_spec {
    int opcode;
    const ir_value *operands;
    uint32_t operand_count;
    const ir_type *results;
    uint32_t result_count;
    const ir_named_attr *attrs; /* any order */
    uint32_t attr_count;
    uint32_t region_count; /* each made with one empty block */
} ir_op_spec;

ir_op ir_build(ir_builder *b, const ir_op_spec *spec);
/* One operation, one result. */
ir_value ir_build1(ir_builder *b, int opcode, const ir_value *operands, uint32_t operand_count,
                   ir_type result, const ir_named_attr *attrs, uint32_t attr_count);
ir_value ir_block_add_argument(ir_module *m, ir_block block, ir_type type, const char *name);
ir_block ir_op_block(const ir_module *m, ir_op op, uint32_t region); /* the block of that region */
ir_op ir_block_parent(const ir_module *m,
                      ir_block block); /* 0 of the module's own block, and of 0 */
ir_value ir_op_result(const ir_module *m, ir_op op, uint32_t index);

ir_attr ir_op_attr(const ir_module *m, ir_op op, const char *name); /* 0 when absent */
void ir_op_set_attr(ir_module *m, ir_op op, const char *name, ir_attr value);
void ir_op_remove_attr(ir_module *m, ir_op op, const char *name); /* nothing where it has none */
int64_t ir_op_int(const ir_module *m, ir_op op, const char *name, int64_t otherwise);
const char *ir_op_string(const ir_module *m, ir_op op, const char *name, const char *otherwise);
/* Elements of an int array attribute; returns the count (0 when absent), fills at most `limit`. */
uint32_t ir_op_ints(const ir_module *m, ir_op op, const char *name, int64_t *out, uint32_t limit);
/* Is `item` among the `count` numbers of a list of axes? */
bool ir_ints_hold(const int64_t *list, int64_t count, int64_t item);

/* For operations whose operands are known only after their region is built. */
void ir_op_set_operands(ir_module *m, ir_op op, const ir_value *operands, uint32_t count);
void ir_op_erase(ir_module *m, ir_op op);                     /* unlinks; results must be unused */
void ir_op_move_before(ir_module *m, ir_op op, ir_op before); /* same or another block */
/* Replaces every use of `from` by `to` in the whole module. O(module). */
void ir_replace_uses(ir_module *m, ir_value from, ir_value to);
/* Number of uses of each value, indexed by id; caller frees. */
uint32_t *ir_count_uses(const ir_module *m);

/* A walk over operations and all in their regions, in order:
 *
 *     for (ir_walk w = ir_walk_op(m, op); ir_walk_next(&w);)
 *         visit(w.op);
 *
 * The body may erase w.op, and may build before it. What it builds behind it is met only where w.op
 * has regions. It allocates nothing and needs no end: the body may leave the loop. */
typedef struct ir_walk {
    const ir_module *m;
    ir_op op;       /* the present one */
    uint32_t depth; /* operations of the walk that it is inside of */
    bool leaving;   /* of ir_walk_step: its regions are behind it */
    bool skip;      /* set by the body: the regions of w.op are not entered */
    /* Private. */
    ir_op next, root;
    ir_block block, root_block;
} ir_walk;

ir_walk ir_walk_op(const ir_module *m, ir_op op); /* itself and all below */
/* Those of a block; of ir_module_body: all of the module. */
ir_walk ir_walk_block(const ir_module *m, ir_block block);
bool ir_walk_next(ir_walk *w); /* outer before inner; false: there are no more */
bool ir_walk_step(ir_walk *w); /* each twice: before its regions, and `leaving` them */

/* Deep copy into a new module: the same ids, text and locations. Owned (ir_module_free). */
ir_module *ir_module_clone(const ir_module *m);
/* A new module without operations, whose types, attributes and dimensions have the same ids. */
ir_module *ir_module_like(const ir_module *m);

/* ---- text: MLIR generic form; see print.c and parse.c ---- */
void ir_print(const ir_module *m, text *out);
/* The same; and for each line of the text the line of the source that it comes from, 0: none. */
typedef VEC(uint32_t) ir_line_list;
void ir_print_lines(const ir_module *m, text *out, ir_line_list *lines);
/* Parses what ir_print prints. NULL with a message naming line and column on failure. */
ir_module *ir_parse(const char *source, status *st);
/* Checks the structure (dominance, operand, result and region counts, required attributes) and
 * every operation's own rule. The message names the operation. */
bool ir_verify(const ir_module *m, status *st);
bool ir_broken(status *st,
               const char *what);   /* false with STATUS_INTERNAL: a rule that does not hold */
sha256 ir_hash(const ir_module *m); /* of the printed text */
/* Equal where ir_hash is, without a text: what comparisons within a process take. */
sha256 ir_identity(const ir_module *m);
/* The same of one operation that reads no value from outside of it, as a function. */
sha256 ir_op_identity(const ir_module *m, ir_op op);
/* The same of each of these blocks: values from outside count in the order in which it reads them
 * first, whichever they are; the attribute `without` does not count (NULL: all do). */
void ir_block_identities(const ir_module *m, const ir_block *blocks, uint32_t count,
                         const char *without, sha256 *out);

#endif
