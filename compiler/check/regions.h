/* regions.h - blocks of branches and loops while they are written, and values that go in and out of
 * them.
 *
 * A block of Graph IR sees its arguments alone (ops/control.h), and a statement sees all names
 * around it. So a block is written into a draft, whose operations read what they like; what they
 * read from outside becomes operands of the operation that is built of it. */
#ifndef TESSERA_CHECK_REGIONS_H
#define TESSERA_CHECK_REGIONS_H

#include "check/check.h"

typedef VEC(entity) entity_list;
typedef VEC(const char *) name_list;

typedef struct region_draft {
    ir_op op; /* has the blocks until the operation is built */
    ir_builder around;
    ir_op turning;               /* around it */
    const written_block *inside; /* around it */
    const written_block *blocks;
} region_draft;

typedef struct region_request {
    int opcode;
    const value_list *operands; /* before those that the blocks read from outside */
    const value_list *next;     /* by block: what it makes */
    const ir_type *results;     /* by result */
    uint32_t result_count;
    const ir_named_attr *attrs;
    uint32_t attr_count;
    bool hands_on; /* the last block makes what is read from outside again: results behind others */
    const char *closed; /* the name of what may read nothing from outside, and is by element */
    span at;            /* ... and where it stands */
} region_request;

region_draft region_begin(checker *c, uint32_t blocks, span at);
/* The same for blocks that run again in each turn. */
region_draft region_begin_turns(checker *c, uint32_t blocks, span at);
/* Statements stand in that block from now on; and behind the draft again. */
void region_enter(checker *c, const region_draft *d, uint32_t block);
void region_leave(checker *c, const region_draft *d);
ir_value region_argument(checker *c, const region_draft *d, uint32_t block, ir_type type);
/* Whose argument it is, or where its operation stands. */
ir_block region_block_of(const ir_module *m, ir_value v);
/* The operation, in place of the draft; its builder stands behind it. 0 when reported. */
ir_op region_build(checker *c, const region_draft *d, const region_request *q);

/* Tensors of a value that is made of them, in order: of a tuple, a list, a record. False: some of
 * it is neither a tensor nor left out; reported where `what` it is is given. */
bool tree_flatten(checker *c, const entity *e, entity_list *out, const char *what);
/* For each of these its name behind the value's: ".K" of a field, ".0" of an item, "" of a tensor.
 */
void tree_suffixes(checker *c, const entity *e, const char *suffix, name_list *out);
/* A value of the same form, of these tensors; `*next` is moved on. */
entity tree_rebuild(checker *c, const entity *like, const ir_value **next, span at);
/* The same value for a block of its own. */
entity tree_again(checker *c, const entity *e);
/* Numbers of a value as scalars, i32 or f32; and those of `e` of the types that `like` has there.
 */
entity tree_promote(checker *c, const entity *e);
entity tree_alike(checker *c, const entity *like, const entity *e);
/* Has the one value the form of the other, and tensors of the same types? */
bool tree_is_like(const checker *c, const entity *a, const entity *b);

/* scatter.c: x with updates at a row of i32 indices along an axis. */
typedef struct scattering {
    entity x, indices, updates;
    int combiner; /* of the element that is there and the update; -1: the update itself */
    int axis;
    span at;
} scattering;
entity emit_scatter(checker *c, const scattering *s);

/* assigned.c: names that the statements of a block assign to, each once. */
typedef struct assigned_name {
    const char *name;
    span at;
} assigned_name;
typedef VEC(assigned_name) assigned_names;
void assigned_collect(const node *block, assigned_names *out);

#endif
