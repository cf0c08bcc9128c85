/* text_reader.h - the reader of StableHLO's text from the inside: generic MLIR and the short forms
 * that stablehlo.def describes.
 *
 * Every function that reads leaves the place behind what it read. The first thing that is wrong is
 * kept with its line and column, and nothing is taken from then on. */
#ifndef TESSERA_IMPORT_STABLEHLO_TEXT_READER_H
#define TESSERA_IMPORT_STABLEHLO_TEXT_READER_H

#include "base/vec.h"
#include "import/stablehlo/table.h"

typedef struct named_value {
    const char *name; /* "%0", "%0#1" */
    shlo_value *value;
} named_value;

typedef VEC(shlo_value *) value_list;
typedef VEC(const shlo_type *) type_list;
typedef VEC(shlo_named_attr) attr_list;

/* Most types of a program are ones that it has just had: what stands between tensor< and >. */
enum { RECENT_TYPES = 64 };
typedef struct recent_type {
    const char *text;
    size_t length;
    const shlo_type *type;
} recent_type;

typedef struct text_reader {
    shlo_module *m;
    const char *begin, *p, *end; /* a NUL stands at the end */
    const char *line;            /* of the last operation, and how many stand before it */
    uint32_t lines;
    status *st;
    bool failed;
    int depth;
    VEC(named_value) names; /* those that can be seen, the innermost last */
    map visible;            /* by name: its number in `names` + 1; 0: none */
    map aliases;            /* "#loc3", "!t": the offset of what it stands for */
    map known;              /* aliases that were read: the attribute, type or location */
    const shlo_location *unknown;
    recent_type recent[RECENT_TYPES];
} text_reader;

/* ---- text_scan.c ---- */
bool reader_fail(text_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, at another place. */
bool reader_fail_at(text_reader *r, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reader_blanks(text_reader *r); /* and comments */
/* Is the token next? A word is only met whole. */
bool reader_peek(text_reader *r, const char *token);
bool reader_take(text_reader *r, const char *token);
bool reader_need(text_reader *r, const char *token);
/* A word of letters, digits, _ $ . and -; its length, 0: none is next. */
size_t reader_word(text_reader *r, const char **out);
bool reader_integer(text_reader *r, int64_t *out);
bool reader_number(text_reader *r, double *out); /* a decimal */
/* "...", without its escapes; NULL when reported. */
const char *reader_string(text_reader *r, size_t *length);
/* @name or @"name"; NULL when reported. */
const char *reader_symbol(text_reader *r);
/* Skips a text in brackets <>, (), [] or {} that begins here, strings in it whole. */
bool reader_skip_brackets(text_reader *r);
void reader_find_aliases(text_reader *r);
/* An alias by its name, as it was read before; NULL: it was not. And keeps it. */
const void *reader_known_alias(text_reader *r, const char *name, size_t length);
void reader_keep_alias(text_reader *r, const char *name, size_t length, const void *value);
/* Goes to what an alias stands for, and gives the place to come back to; NULL when reported. */
const char *reader_enter_alias(text_reader *r, const char *name, size_t length);
bool reader_deeper(text_reader *r); /* false when reported; else reader_higher() must follow */
void reader_higher(text_reader *r);

/* ---- text_types.c ---- */
const shlo_type *reader_type(text_reader *r);          /* NULL when reported */
const shlo_type *reader_function_type(text_reader *r); /* (...) -> ... */
bool reader_types(text_reader *r, type_list *out);     /* one or more, between commas */
const shlo_type *reader_scalar(text_reader *r, shlo_element e);
const shlo_type *reader_tensor(text_reader *r, shlo_element e, uint32_t rank, const int64_t *dims);

/* ---- text_attrs.c, text_dense.c ---- */
const shlo_attr *reader_attribute(text_reader *r); /* NULL when reported */
const shlo_attr *reader_dense(text_reader *r);     /* behind the word dense */
/* behind the word array */
const shlo_attr *reader_dense_array(text_reader *r);
const shlo_attr *reader_ints(text_reader *r); /* [1, 2] */
/* Keys and values up to the closing token, which is taken; groups become their parts. */
bool reader_attributes(text_reader *r, const char *close, attr_list *out);
bool reader_push(text_reader *r, attr_list *list, const char *name, const shlo_attr *value);
shlo_attr *reader_attr(text_reader *r, shlo_attr_kind kind);
/* #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, from the first bracket on. */
bool reader_convolution(text_reader *r, attr_list *out);

/* ---- text_ops.c ---- */
/* An operation with its regions, at the end of the block. False when reported. */
bool reader_operation(text_reader *r, shlo_block *block);
/* A region in braces. NULL when reported. `arguments` are defined in it; NULL: it says its own. */
shlo_block *reader_region(text_reader *r, shlo_op *parent, shlo_block *arguments);
/* (%a: type, ...) {...}: one whose arguments stand in front of it. */
shlo_block *reader_headed_region(text_reader *r);
/* %name or %name#2; NULL when reported. */
shlo_value *reader_operand(text_reader *r);
/* %a, %b; none is right, too. */
bool reader_operands(text_reader *r, value_list *out);
/* The name of a value that is made here; its length, 0 when reported. */
size_t reader_new_name(text_reader *r, const char **out);
bool reader_location(text_reader *r, const shlo_location **out); /* loc(...), where it is next */
/* Gives a value its name, which no other that can be seen has; false when reported, at `place`. */
bool reader_define(text_reader *r, const char *place, const char *name, shlo_value *value);
/* The same of a name as it stands in the text; of no letters: the value has none. */
bool reader_define_word(text_reader *r, const char *name, size_t length, shlo_value *value);
/* Forgets names until there are so many. */
void reader_leave(text_reader *r, size_t count);

/* The parts of an operation: what stands before an operation's name: names of its results; and what
 * its forms fill in. */
typedef struct operation_parts {
    const char *place; /* of the operation's name */
    uint32_t line, column;
    const char *names; /* of its results, NULL: it has none */
    uint32_t result_count;
    const char *name;
    const shlo_op_info *info;
    value_list operands;
    attr_list attrs;
    VEC(shlo_block *) regions;
    type_list operand_types, result_types;
} operation_parts;
/* Types of operands and results as those of a function; false when reported. */
bool reader_function_types(text_reader *r, operation_parts *o);
/* text_syntax.c: the short form behind the name; false when reported. */
bool reader_short_form(text_reader *r, operation_parts *o);
/* text_forms.c: one that the table names with !word. */
bool reader_special(text_reader *r, operation_parts *o, const char *word, size_t length);

#endif
