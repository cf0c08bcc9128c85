/* modules.h - the files of a source: the one that was opened, and those that it imports, each with
 * its functions, records and names from elsewhere. */
#ifndef TESSERA_CHECK_MODULES_H
#define TESSERA_CHECK_MODULES_H

#include "check/source.h"

typedef struct source_module source_module;
struct checker;
struct entity;

/* A function's parameter, field, or result, as its annotation says it. */
typedef struct value_type {
    enum {
        VALUE_ANY,    /* no annotation */
        VALUE_WORD,   /* Tile, KTile, Block, float, int, bool: an index of words */
        VALUE_TENSOR, /* tensor */
        VALUE_RECORD, /* record */
        VALUE_TUPLE,  /* items */
        VALUE_LIST    /* items[0], `count` of it */
    } kind;
    span at;
    const node *node;
    int word;
    annotation tensor;
    const struct record_type *record;
    struct value_type *items;
    uint32_t count;
} value_type;

typedef struct record_type {
    const ast_record *ast;
    const source_module *module;
    const struct record_type *of; /* of what this is KVCache[...]; NULL: it is as it was declared */
    const char *const *names;     /* of the fields */
    value_type *fields;
    const node **constants; /* by field: the value of a number, bool or string; NULL: it has none */
    bool *absent;           /* by field: its default is None, and nothing says that it is there */
    uint32_t count;
    struct callable *methods;
    bool read, reading, broken;
} record_type;

/* A function that a kernel can call, or a method. */
typedef struct callable {
    const ast_function *ast;
    source_module *module;
    bool in_tiles;                     /* a parameter or a result is a Tile */
    bool is_kernel;                    /* it has decorators, others than @verify.numerics */
    const kernel_interface *of_tiles;  /* of a kernel of tiles, once it is read; or NULL */
    const compiler_numerics *numerics; /* what it promises wherever it is called; or NULL */
    value_type *parameters;            /* by parameter of ast */
    value_type result;
    const char *math;                 /* of a kernel's @math(...) */
    const struct callable *vjp, *jvp; /* its own rules: @NAME.vjp, @NAME.jvp; or NULL */
    bool straight;                    /* @ste: derivatives go through it as through a value */
    bool differs;                     /* a rule that is no derivative, and says so */
    const char *keep;                 /* @checkpoint: what it keeps; or NULL */
    bool read, broken;
} callable;

/* Is it a kernel of tiles? */
bool callable_is_of_tiles(const callable *f);

/* rules.c: decorators about derivatives, and the functions that they are of. */
bool rules_is_one(const node *decorator);
void rules_connect(source_module *m, arena *memory, diagnostics *d);

/* from .norms import name as local */
typedef struct imported_name {
    const char *local, *name;
    source_module *module; /* NULL: that was reported, and nothing is told of the name any more */
    span at;
} imported_name;

/* promise.c: what a function promises of its results, which is read once. */
void promise_read(compiler_source *s, callable *f, diagnostics *d);

struct source_module {
    const char *path; /* as messages show it */
    const char *key;  /* the file, however it is named */
    uint32_t number;  /* in the source's list, in which imported ones stand first */
    bool loading;
    const ast_module *ast;
    callable *functions;
    uint32_t function_count;
    record_type *records;
    uint32_t record_count;
    VEC(imported_name) imported;
    bool lacks_all; /* those of an `import *` that was reported */
};

/* bundle.c: divides a text into the first file, whose size is returned, and those that are bundled
 * with it; and a bundled file by its path (NULL: there is none). */
uint32_t bundle_divide(compiler_source *s, const char *data, uint32_t size);
const bundled_file *bundle_find(const compiler_source *s, const char *path);

/* Reads a file's syntax and what it imports; the opened file is `part` of the source's text. */
source_module *module_load(compiler_source *s, const char *path, span part, diagnostics *d);
void modules_release(compiler_source *s);
/* The file that a name of `m` comes from, with its name there; m itself where it is its own. NULL:
 * it has no function, record or constant of that name. */
source_module *module_of_name(source_module *m, const char **name);
/* Can it not be known what the name is, as its import was reported? */
bool module_lacks(source_module *m, const char *name);
/* NULL: there is none. */
callable *module_function(source_module *m, const char *name);
/* op.NAME(...) and ops.NAME(...) mean functions of the language and of tessera.stdlib, whatever the
 * file calls by that name. */
bool modules_is_operations(const char *name);
/* A function of tessera.stdlib, where a file may name one so; NULL: there is none. */
callable *modules_library_function(compiler_source *s, const char *name);
/* Tells whether tessera.stdlib has it, also where nothing was imported from there. */
bool modules_library_has(const char *name);
record_type *module_record(source_module *m, const char *name);
/* The value of a constant of this very file; NULL: there is none of that name. */
const node *module_constant(const source_module *m, const char *name);

/* value_type.c: reads an annotation of `m`; NULL is VALUE_ANY. False when reported. */
bool value_type_read(compiler_source *s, source_module *m, const node *n, value_type *out,
                     diagnostics *d);
bool value_type_is_tile(const value_type *t);
bool value_type_is_word(
    const node *n); /* Tensor, int...: what an annotation says by a name alone */
/* Gives dimensions and type variables that have no meaning yet the value's. */
void value_type_bind(struct checker *c, const value_type *t, const struct entity *e);
/* Checks that the value is what its annotation says, whose policies may convert it; `what` it is,
 * in messages. False when reported. */
bool value_type_fit(struct checker *c, const value_type *t, struct entity *e, const char *what);
/* unfold.c: an annotation of several tensors; its parameters are added to the list. False when
 * reported. */
bool unfold_is_compound(source_module *m, const node *n);
bool unfold_parameter(compiler_source *s, const ast_parameter *p, ast_parameters *out,
                      value_type *type, diagnostics *d);
/* Does what a case says of such a parameter name its fields, and as many items as it has? False
 * when reported. */
bool unfold_fits(source_module *m, const value_type *t, const node *n, diagnostics *d);
/* The distribution of a parameter that a case gives; NULL: it gives none. */
const node *unfold_argument(source_module *m, const node *call, const char *name);
/* Param[...] as the value of a constant; and the parameters for those that a function uses, and the
 * functions that it calls. */
bool weight_is_one(const node *value);
void weights_find(compiler_source *s, const ast_function *f, ast_parameters *out);
/* record.c: its fields, read where that has not been done; false when reported, now or before. */
bool record_read(compiler_source *s, record_type *r, diagnostics *d);
bool record_is_same(const record_type *a, const record_type *b); /* whatever its parameters are */
callable *record_method_named(const record_type *r, const char *name); /* NULL: it has none */
/* instance.c: NAME, NAME["M", f32], with policies behind: the record that it is of, NULL: of none;
 * and with these parameters and constants, NULL when reported. */
record_type *record_named(source_module *m, const node *n);
record_type *record_instance(compiler_source *s, source_module *m, record_type *r, const node *n,
                             diagnostics *d);
/* Is the field a number, a bool or a string? */
bool value_type_is_constant(const value_type *t);
/* function.c: its head, likewise. */
bool callable_read(compiler_source *s, callable *f, diagnostics *d);

#endif
