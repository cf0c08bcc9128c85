/* table.h - a line of stablehlo.def, and its attributes one by one. */
#ifndef TESSERA_IMPORT_STABLEHLO_TABLE_H
#define TESSERA_IMPORT_STABLEHLO_TABLE_H

#include "import/stablehlo/shlo.h"

typedef enum shlo_opcode {
#define SHLO(ENUM, name, regions, attrs, syntax, handler, graph) SHLO_OP_##ENUM,
#include "import/stablehlo/stablehlo.def"
#undef SHLO
    SHLO_OP_COUNT
} shlo_opcode;

struct shlo_op_info {
    shlo_opcode opcode;
    const char *name;   /* "add": without its dialect */
    const char *attrs;  /* see stablehlo.def */
    const char *syntax; /* ... */
    int regions;        /* -1: any number */
};

/* One attribute of a line. */
typedef struct shlo_attr_info {
    char name[40];
    char kind[24];  /* ints, bools, i64, i32, bool, string, symbol, tensor, ...; config: a string or
                       a dictionary; symbols: an array of them; else an enumeration */
    char group[16]; /* that the text writes it in: "dot"; "" : it stands by itself */
    char fallback[24]; /* where the text leaves it out; "": nothing is known then */
    bool optional;     /* text may leave it out */
    int since;         /* the version of the operation that has it first: 1, 2 */
} shlo_attr_info;

/* Names of a line of text: "stablehlo.add", "chlo.erf", "func.return"; NULL: there is none. */
const shlo_op_info *shlo_op_named(const char *name, size_t length);
/* A name of bytecode: "add_v1" with its version; NULL: there is none. */
const shlo_op_info *shlo_op_versioned(const char *name, size_t length, int *version);
const shlo_op_info *shlo_op_info_get(shlo_opcode opcode);
/* The next attribute; *cursor begins as info->attrs. False at the end. */
bool shlo_next_attr(const char **cursor, shlo_attr_info *out);

/* A group of attributes that is one in text: dot_dimension_numbers = #stablehlo.dot<...>. */
typedef struct shlo_group {
    const char *word;      /* "dot" */
    const char *attribute; /* "dot_dimension_numbers" */
    bool optional;         /* text may leave it out */
} shlo_group;
/* Finds it by the word behind "#stablehlo."; NULL: there is none. */
const shlo_group *shlo_group_named(const char *word, size_t length);
/* Is there an attribute, or a group of them, that the text of the operation must have and does not?
 * Its name. */
enum { SHLO_ATTR_NAME_BYTES = 40 };
bool shlo_lacks_attr(const shlo_op *op, char name[SHLO_ATTR_NAME_BYTES]);

/* Words of an enumeration in the order of VHLO's numbers: "comparison_direction" -> "EQ", ...;
 * NULL: no such word, or number. */
const char *shlo_enum_word(const char *kind, uint64_t number);
bool shlo_enum_has(const char *kind, const char *word);

#endif
