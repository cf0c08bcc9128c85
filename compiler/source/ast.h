/* ast.h - the syntax tree of one file: constants, functions, records, imports, statements and
 * expressions, each with its span.
 *
 * Everything lives in the arena given to the parser. A tree is never deeper than AST_MAX_DEPTH, so
 * that walking it by recursion is safe whatever the input. */
#ifndef TESSERA_SOURCE_AST_H
#define TESSERA_SOURCE_AST_H

#include "ir/limits.h"
#include "source/lexer.h"

enum { AST_MAX_DEPTH = LIMIT_DEPTH };

typedef enum node_kind {
    NODE_NAME,  /* text */
    NODE_INT,   /* text: digits, perhaps 0x...; integer */
    NODE_WIDE,  /* an integer from 2^63 to 2^64 - 1, for u64: as NODE_INT, integer has its bits */
    NODE_FLOAT, /* text: the decimal */
    NODE_BOOL,  /* integer: 0 or 1 */
    NODE_NONE,
    NODE_STRING,    /* text */
    NODE_ELLIPSIS,  /* as a statement: a body without a formula */
    NODE_UNARY,     /* symbol, left; symbol 0 is `not` */
    NODE_BINARY,    /* symbol, left, right */
    NODE_COMPARE,   /* symbol, left, right */
    NODE_CALL,      /* left(items...) */
    NODE_KEYWORD,   /* text=left, in a call */
    NODE_SUBSCRIPT, /* left[items...] */
    NODE_SLICE,     /* left:right:third, each may be NULL */
    NODE_ATTRIBUTE, /* left.text */
    NODE_TUPLE,     /* items */
    NODE_LIST,      /* items */
    NODE_ASSIGN,    /* items (targets) = left */
    NODE_ANNOTATED, /* items[0]: right = left */
    NODE_AUGMENTED, /* items[0] symbol= left */
    NODE_RETURN,    /* left; NULL: nothing */
    NODE_FOR,       /* for right in left: third, a block */
    NODE_WHILE,     /* while left: third, a block */
    NODE_IF,        /* if left: right; third: the else's block, another if, or NULL */
    NODE_WITH,      /* with items...: third, a block */
    NODE_BLOCK,     /* items */
    NODE_QUOTED,    /* left: a dimension that was read out of its quotes */
    NODE_BROKEN     /* reported; means nothing */
} node_kind;

typedef struct node {
    node_kind kind;
    span at;
    span symbol_at; /* the operator, or the attribute's name */
    uint32_t symbol;
    uint32_t depth; /* levels below and with this one */
    const char *text;
    int64_t integer;
    struct node *left, *right, *third;
    struct node **items;
    uint32_t count;
} node;

typedef struct ast_parameter {
    const char *name;
    span at;
    node *annotation; /* NULL: none */
    node *fallback;   /* the default value; NULL: none */
    bool keyword_only;
} ast_parameter;

typedef struct ast_function {
    const char *name;
    span at;    /* the name */
    span whole; /* from the first decorator to the end of the body */
    node **decorators;
    uint32_t decorator_count;
    ast_parameter *parameters;
    uint32_t parameter_count;
    node *returns;
    const char *summary; /* docstring; NULL: none */
    node **devices;      /* device(...) of annotations, which have it no more */
    uint32_t device_count;
    node **body;
    uint32_t body_count;
    bool has_header; /* name, parameters and result were read */
    bool broken;     /* has syntax errors: not worth checking */
} ast_function;

/* @record class NAME(Generic["M"]): fields, each with an annotation, perhaps a default, and
 * methods. */
typedef struct ast_record {
    const char *name;
    span at;             /* the name */
    bool is_state;       /* @state */
    const node *generic; /* Generic[...], of strings; NULL: it has no parameters */
    ast_parameter *fields;
    uint32_t field_count;
    ast_function *methods;
    uint32_t method_count;
} ast_record;

/* from MODULE import NAME as LOCAL */
typedef struct ast_import_name {
    const char *name, *local;
    span at;
} ast_import_name;

typedef struct ast_import {
    const char *module; /* "norms", "tessera.stdlib" */
    uint32_t level;     /* leading dots: 1 is the file's own folder, 2 the one above */
    span at;            /* dots and module */
    bool all;           /* import * */
    ast_import_name *names;
    uint32_t count;
} ast_import;

typedef struct ast_module {
    node **constants; /* NODE_ASSIGN, in order */
    uint32_t constant_count;
    ast_function *functions;
    uint32_t function_count;
    ast_record *records;
    uint32_t record_count;
    ast_import *imports;
    uint32_t import_count;
} ast_module;

#endif
