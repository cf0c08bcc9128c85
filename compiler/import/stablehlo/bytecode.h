/* bytecode.h - what the parts of the reader of MLIR bytecode share: the tables of a file.
 *
 * A file's strings, attributes, types and properties are numbered, and everything else names them
 * by their numbers. Attributes and types are decoded when they are first asked for, once each, so
 * that those of dialects that are not known here are never looked at where nothing needs them. */
#ifndef TESSERA_IMPORT_STABLEHLO_BYTECODE_H
#define TESSERA_IMPORT_STABLEHLO_BYTECODE_H

#include "import/stablehlo/bytecode_cursor.h"
#include "import/stablehlo/shlo.h"
#include "import/stablehlo/table.h"

typedef struct bytecode_string {
    const char *data; /* NUL-terminated behind `length` bytes */
    size_t length;
} bytecode_string;

/* In what form an attribute or a type is written. */
typedef enum bytecode_form {
    BYTECODE_OTHER, /* of a dialect that is not known here */
    BYTECODE_TEXT,
    BYTECODE_SDY,
    BYTECODE_VHLO,
    BYTECODE_BUILTIN
} bytecode_form;

/* An attribute, or a type, in its section. */
typedef struct bytecode_entry {
    size_t at, size;
    uint32_t dialect;
    bytecode_form form;
    bool is_opened; /* it is being decoded: that it needs itself is wrong */
    union {
        const shlo_attr *attr; /* NULL until it is asked for */
        const shlo_type *type;
    };
    const shlo_location *location; /* of an attribute that is one */
    uint64_t weight;               /* parts that it has when it is written out */
} bytecode_entry;

/* The name of operations, and what is read of them. */
typedef struct bytecode_name {
    const char *name;         /* "stablehlo.add"; of another dialect as it stands there */
    const char *written;      /* "vhlo.add_v1" */
    const shlo_op_info *info; /* NULL: no operation of StableHLO */
    bool is_module;
    uint32_t attr_count;
    const shlo_attr_info *attrs; /* those of its version */
} bytecode_name;

/* Attributes of operations that have them alike: of one name, decoded once. */
typedef struct bytecode_properties {
    bytecode_cursor bytes;
    const bytecode_name *name; /* NULL until they are asked for */
    uint32_t count;
    const shlo_named_attr *attrs;
} bytecode_properties;

typedef struct bytecode {
    shlo_module *module;
    status *st;
    uint32_t string_count, dialect_count, name_count, attr_count, type_count, property_count;
    bytecode_string *strings;
    const char **dialects;
    bytecode_name *names;
    bytecode_entry *attrs, *types;
    bytecode_properties *properties;
    const uint8_t *file;
    int depth;       /* of attributes, types and regions that are being read */
    uint64_t weight; /* of the attribute or type that is being read, so far */
    const shlo_attr_info *lists[SHLO_OP_COUNT][2]; /* attributes of versions 1 and 2 */
} bytecode;

#define BYTECODE_NEW(r, TYPE, count) ARENA_NEW(&(r)->module->memory, TYPE, count)

static inline bool bytecode_broken(const bytecode *r) {
    return r->st->code != STATUS_OK;
}

/* One deeper; false, with the error: too deep. Each that is entered is left. */
bool bytecode_enter(bytecode *r, size_t at);
static inline void bytecode_leave(bytecode *r) {
    r->depth--;
}
/* The same around an entry that is decoded: it may not need itself, nor have too many parts. */
bool bytecode_begin(bytecode *r, bytecode_entry *e, uint64_t *outer);
void bytecode_finish(bytecode *r, bytecode_entry *e, uint64_t outer);

/* ---- sections ---- */

/* All tables, from behind the file's header; *ir is the section of operations. */
bool bytecode_read_tables(bytecode *r, bytecode_cursor *c, bytecode_cursor *ir);
/* A string by its number; an empty one behind an error. */
bytecode_string bytecode_take_string(bytecode *r, bytecode_cursor *c);
bytecode_cursor bytecode_open(bytecode *r, const bytecode_entry *e);
/* One that is written as text, in one line. */
const char *bytecode_words(bytecode *r, const bytecode_entry *e);

/* ---- types ---- */

/* NULL behind an error. The second takes the type's number first. */
const shlo_type *bytecode_type(bytecode *r, uint32_t index);
const shlo_type *bytecode_take_type(bytecode *r, bytecode_cursor *c);
/* One that is known by its text alone. */
const shlo_type *bytecode_type_other(bytecode *r, const char *words);

/* ---- attributes ---- */

/* NULL behind an error. The second takes the attribute's number first. */
const shlo_attr *bytecode_attr(bytecode *r, uint32_t index);
const shlo_attr *bytecode_take_attr(bytecode *r, bytecode_cursor *c);
/* The text of an attribute that is a string; NULL behind an error. */
const char *bytecode_take_word(bytecode *r, bytecode_cursor *c);
/* The elements of a tensor as a blob holds them. */
const shlo_attr *bytecode_tensor(bytecode *r, bytecode_cursor *c, const shlo_type *type);
/* An attribute in the form that the table asks for; NULL behind an error. */
const shlo_attr *bytecode_fit(bytecode *r, const shlo_attr *a, const bytecode_name *name,
                              const shlo_attr_info *info, size_t at);
/* Never NULL. */
const shlo_location *bytecode_location(bytecode *r, uint32_t index);

/* ---- Shardy's ---- */

/* An attribute as the text that it means. */
const char *bytecode_sdy_attr(bytecode *r, bytecode_cursor *c);
/* The attributes that an operation has as its properties, behind them a NULL; NULL: they are not
 * known. */
const char *const *bytecode_sdy_properties(const char *operation);
/* Notes the mesh of a module that has these attributes. */
void bytecode_sdy_mesh(bytecode *r, const shlo_named_attr *attrs, size_t count);

/* ---- operations ---- */

bool bytecode_read_module(bytecode *r, bytecode_cursor *ir);

#endif
