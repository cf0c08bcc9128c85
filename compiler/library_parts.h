/* library_parts.h - element-wise work in a kernel of tiles: values of a graph as tiles of a program
 * instance.
 *
 * A value has a form: the axes that its elements have in the order of memory, which need not be
 * those of its type. [2, 8, 512, 64] may have the axes of 16 heads, 512 rows and 64 columns, and a
 * line of 64 elements beside it those of columns alone. Each axis says which places of it the
 * instance has. A value is wanted in a form; operands are then wanted in that which a rule for the
 * operation says, and each is made once for each form that it is wanted in. */
#ifndef TESSERA_COMPILER_LIBRARY_PARTS_H
#define TESSERA_COMPILER_LIBRARY_PARTS_H

#include "base/vec.h"
#include "ir/ir.h"

enum { PART_AXES = IR_MAX_RANK };

/* Places of an axis that an instance has. */
typedef struct part_axis {
    int64_t extent; /* of all places */
    ir_dim start;   /* of the new module: the first one */
    int64_t size;   /* so many, which may hang over the end; 0: one place, and no axis of a tile */
    int tile;       /* the axis of tiles, where there is a size: rows 0, columns 1 */
} part_axis;

typedef struct part_form {
    int count;
    int axes[PART_AXES]; /* numbers of parts.axes */
} part_form;

/* A value in a form that it is wanted in. */
typedef struct part {
    part_form form;
    ir_value tile; /* 0: not made yet */
} part;
typedef VEC(part) part_list;

/* The kernel that tiles are made in: its arguments, those of the graph in their order. */
typedef struct parts_kernel {
    ir_value *arguments;
    bool *typed; /* by number: its type has the axes of a form already */
} parts_kernel;

/* Values of one place of the kernel, such as those that a load stands for. */
typedef struct parts {
    const ir_module *g; /* of primitives, of static dimensions */
    ir_builder b;       /* where tiles are made */
    const parts_kernel *kernel;
    VEC(part_axis) axes;
    int whole; /* the axis along which rows are reduced: an instance has all of it; -1: none */
    part_list *list; /* by value */
    bool computes;   /* some tile is more than a load */
    int64_t cut;     /* the column at which a concatenation's next part begins; 0: all are in one */
    part_form outputs[LIMIT_OPERANDS]; /* of the graph, by number */
    int split;                         /* an axis of one place, which must be two ... */
    int64_t split_extent;              /* ... of which the first has so many; 0: none must */
} parts;

/* Is an operation made, element by element, of what its operands are? */
bool parts_knows(int opcode);
/* Are all of the kernel's operations element-wise, moves of a known kind, composites of them, or
 * sums along the last axis (*sums: there is one) - but for `other`, which may be 0? */
bool parts_may(const ir_module *graph, ir_op other, bool *sums);

void parts_open(parts *e, const ir_module *g, const parts_kernel *kernel, ir_builder b);
void parts_close(parts *e);
/* The number of an axis, which is there once. */
int parts_axis(parts *e, part_axis axis);
/* Elements of it; INT64_MAX where they are more. */
int64_t parts_elements(const parts *e, const part_form *form);
/* A type of these axes: of a whole tensor, and of its tile. */
ir_type parts_tensor(const parts *e, ir_module *m, dtype element, const part_form *form);

/* Wants a value. False: it has another number of elements, or too many axes. */
bool parts_want(parts *e, ir_value v, const part_form *form);
/* It is that tile already. */
void parts_give(parts *e, ir_value v, const part_form *form, ir_value tile);
/* Wants what all these are made of. False: something is not made element by element of what an
 * instance has (`cut`, `split`: unless it has other axes), or of a value that is neither given nor
 * an argument. */
bool parts_find(parts *e);
/* Makes what was found. False: the kernel would hold an argument in two types. */
bool parts_make(parts *e);
/* A value that was made, an argument's first. */
ir_value parts_tile(parts *e, ir_value v, const part_form *form);
/* The attributes `start` and `kept` of a load or a result. */
ir_attr parts_start(const parts *e, const part_form *form);
ir_attr parts_kept(const parts *e, const part_form *form);

/* The form of what is made of a value in one, element by element of as many. False: it is not. */
bool parts_behind(parts *e, ir_op op, const part_form *of, part_form *out);

/* library_parts_kernel.c: opens a kernel for the graph's tensors in a module that is empty, with
 * the attributes that it has there. Released by parts_release_kernel. */
ir_builder parts_open_kernel(parts_kernel *kernel, ir_module *m, const ir_module *g);
void parts_release_kernel(parts_kernel *kernel);
/* Opens its instances, whose results have the forms of `outputs`. Parameters: attributes of
 * tessera.tiles, which are the indices, counts and hints. */
ir_op parts_open_tiles(parts *e, ir_builder *b, const ir_named_attr attrs[3]);
/* Makes what is wanted of the graph's outputs in the block of instances, and ends both. False: as
 * parts_make. */
bool parts_end_kernel(parts *e, ir_builder *b, ir_op tiles);

#endif
