/* shlo.h - a StableHLO module in memory: made by the readers of bytecode and of text, or by the
 * export of Graph IR; read by the importer, and by the writer of text.
 *
 * Attributes have the names and the shapes of VHLO, the flat and versioned form that bytecode
 * holds: a dot's `lhs_contracting_dimensions` stands by itself, and lists of integers are tensors
 * of one axis, whatever the text calls them. Nothing here knows Graph IR.
 *
 * Everything lives in the module's arena until shlo_module_free. One module, one thread. */
#ifndef TESSERA_IMPORT_STABLEHLO_SHLO_H
#define TESSERA_IMPORT_STABLEHLO_SHLO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/map.h"
#include "base/status.h"
#include "base/text.h"

/* Deepest nesting of regions, attributes and types that a file may have; most operations, and most
 * bytes of its constants. */
enum { SHLO_DEPTH_MAX = 64, SHLO_RANK_MAX = 64, SHLO_OPERATIONS_MAX = 1 << 22 };

/* ---- types ---- */

/* Enumerator, text, code in VHLO's bytecode, bytes an element in memory, bits, element type of
 * Graph IR (none: it is refused by name). */
#define SHLO_ELEMENTS(X)                                                                           \
    X(BOOL, "i1", 0, 1, 1, DTYPE_BOOL)                                                             \
    X(I2, "i2", 31, 1, 2, DTYPE_NONE)                                                              \
    X(I4, "i4", 10, 1, 4, DTYPE_I4)                                                                \
    X(I8, "i8", 11, 1, 8, DTYPE_I8)                                                                \
    X(I16, "i16", 12, 2, 16, DTYPE_I16)                                                            \
    X(I32, "i32", 13, 4, 32, DTYPE_I32)                                                            \
    X(I64, "i64", 14, 8, 64, DTYPE_I64)                                                            \
    X(U2, "ui2", 32, 1, 2, DTYPE_NONE)                                                             \
    X(U4, "ui4", 15, 1, 4, DTYPE_NONE)                                                             \
    X(U8, "ui8", 16, 1, 8, DTYPE_U8)                                                               \
    X(U16, "ui16", 17, 2, 16, DTYPE_U16)                                                           \
    X(U32, "ui32", 18, 4, 32, DTYPE_U32)                                                           \
    X(U64, "ui64", 19, 8, 64, DTYPE_U64)                                                           \
    X(F4E2M1FN, "f4E2M1FN", 37, 1, 4, DTYPE_NONE)                                                  \
    X(F6E2M3FN, "f6E2M3FN", 38, 1, 6, DTYPE_NONE)                                                  \
    X(F6E3M2FN, "f6E3M2FN", 39, 1, 6, DTYPE_NONE)                                                  \
    X(F8E3M4, "f8E3M4", 36, 1, 8, DTYPE_NONE)                                                      \
    X(F8E4M3, "f8E4M3", 35, 1, 8, DTYPE_NONE)                                                      \
    X(F8E4M3FN, "f8E4M3FN", 6, 1, 8, DTYPE_F8E4M3FN)                                               \
    X(F8E4M3FNUZ, "f8E4M3FNUZ", 27, 1, 8, DTYPE_NONE)                                              \
    X(F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 29, 1, 8, DTYPE_NONE)                                        \
    X(F8E5M2, "f8E5M2", 7, 1, 8, DTYPE_F8E5M2)                                                     \
    X(F8E5M2FNUZ, "f8E5M2FNUZ", 28, 1, 8, DTYPE_NONE)                                              \
    X(F8E8M0FNU, "f8E8M0FNU", 40, 1, 8, DTYPE_NONE)                                                \
    X(BF16, "bf16", 2, 2, 16, DTYPE_BF16)                                                          \
    X(F16, "f16", 3, 2, 16, DTYPE_F16)                                                             \
    X(F32, "f32", 4, 4, 32, DTYPE_F32)                                                             \
    X(TF32, "tf32", 34, 4, 32, DTYPE_TF32)                                                         \
    X(F64, "f64", 5, 8, 64, DTYPE_F64)                                                             \
    X(INDEX, "index", 9, 8, 64, DTYPE_NONE)                                                        \
    X(C64, "complex<f32>", -1, 8, 64, DTYPE_NONE)                                                  \
    X(C128, "complex<f64>", -1, 16, 128, DTYPE_NONE)

typedef enum shlo_element {
    SHLO_NO_ELEMENT,
#define X(name, ...) SHLO_##name,
    SHLO_ELEMENTS(X)
#undef X
        SHLO_ELEMENT_COUNT
} shlo_element;

typedef struct shlo_element_info {
    const char *name;
    int code; /* in bytecode; -1: it has another form there */
    int bytes, bits;
    dtype type; /* DTYPE_NONE: Graph IR has none */
} shlo_element_info;
const shlo_element_info *shlo_element_get(shlo_element e);
shlo_element shlo_element_named(const char *name, size_t length); /* SHLO_NO_ELEMENT: unknown */
shlo_element shlo_element_coded(uint64_t code);
/* The element type of Graph IR's; SHLO_NO_ELEMENT: StableHLO has none. */
shlo_element shlo_element_of(dtype type);
bool shlo_element_is_float(shlo_element e);
bool shlo_element_is_complex(shlo_element e);

typedef enum shlo_type_kind {
    SHLO_TYPE_TENSOR,
    SHLO_TYPE_SCALAR, /* an element alone: of an attribute, or within another type */
    SHLO_TYPE_TOKEN,
    SHLO_TYPE_TUPLE,    /* parts */
    SHLO_TYPE_FUNCTION, /* parts: inputs, then results */
    SHLO_TYPE_NONE,
    SHLO_TYPE_OTHER /* known by its text alone: it is refused where it matters */
} shlo_type_kind;

enum { SHLO_DYNAMIC = -1 }; /* an extent that is not known */

/* A quantised element: (stored - zero) * scale, with one of each, or one for each place along an
 * axis. */
typedef struct shlo_quantization {
    shlo_element storage, expressed;
    int64_t low, high; /* of what is stored */
    int64_t axis;      /* -1: there is one scale */
    uint32_t count;
    const double *scales;
    const int64_t *zeros;
} shlo_quantization;

typedef struct shlo_type {
    shlo_type_kind kind;
    shlo_element element; /* TENSOR, SCALAR; of a quantised one its storage */
    uint32_t rank;
    const int64_t *dims;
    const shlo_quantization *quantized; /* NULL: it is not */
    uint32_t count, inputs;             /* of parts; ... that a function takes */
    const struct shlo_type *const *parts;
    const char *text; /* OTHER */
} shlo_type;

/* Elements of a tensor; -1: an extent is not known, or there are 2^63 or more. */
int64_t shlo_type_count(const shlo_type *t);
bool shlo_type_equal(const shlo_type *a, const shlo_type *b);
void shlo_type_print(const shlo_type *t, text *out);

/* ---- attributes ---- */

typedef enum shlo_attr_kind {
    SHLO_ATTR_UNIT,
    SHLO_ATTR_BOOL,     /* integer */
    SHLO_ATTR_INTEGER,  /* integer, of `type` */
    SHLO_ATTR_FLOAT,    /* bits, of `type` */
    SHLO_ATTR_STRING,   /* string, length */
    SHLO_ATTR_SYMBOL,   /* string: @name */
    SHLO_ATTR_TYPE,     /* type */
    SHLO_ATTR_ENUM,     /* string: "EQ" */
    SHLO_ATTR_ARRAY,    /* items */
    SHLO_ATTR_DICT,     /* items, keys */
    SHLO_ATTR_TENSOR,   /* bytes of `type` in row-major order; splat: those of one element */
    SHLO_ATTR_ACCURACY, /* string: the mode; integer: ULPs; numbers: atol, rtol */
    SHLO_ATTR_OTHER     /* string: its text, or what there is known of it */
} shlo_attr_kind;

typedef struct shlo_attr {
    shlo_attr_kind kind;
    int64_t integer;
    uint64_t bits;
    double numbers[2];
    const char *string; /* NUL-terminated behind `length` bytes */
    size_t length;
    const shlo_type *type;
    uint32_t count;
    const struct shlo_attr *const *items;
    const char *const *keys;
    const uint8_t *bytes; /* little-endian; what has less than 8 bits a byte each, integers with
                             their sign */
    size_t size;
    bool splat;
} shlo_attr;

typedef struct shlo_named_attr {
    const char *name;
    const shlo_attr *value;
} shlo_named_attr;

/* ---- operations ---- */

/* A place in the program that the file was made from, or in the file itself. */
typedef struct shlo_location {
    const char *file; /* NULL: it is not known */
    const char *name; /* "jit(f)/add"; NULL: none */
    uint32_t line, column;
} shlo_location;

typedef struct shlo_op_info shlo_op_info; /* a line of stablehlo.def */
typedef struct shlo_op shlo_op;
typedef struct shlo_block shlo_block;

typedef struct shlo_value {
    const shlo_type *type;
    shlo_op *op;       /* that makes it; NULL: an argument of a block */
    shlo_block *block; /* ... this one */
    uint32_t index;    /* of the result or argument */
    uint32_t number;   /* for whoever walks the module; the readers leave 0 */
} shlo_value;

struct shlo_op {
    const shlo_op_info *info; /* NULL: no operation of StableHLO */
    const char *name;         /* "stablehlo.add" */
    shlo_block *block;
    uint32_t operand_count, result_count, attr_count, region_count;
    shlo_value **operands;
    shlo_value *results;
    shlo_named_attr *attrs; /* sorted by name */
    shlo_block **regions;   /* of one block each */
    const shlo_location *location;
    uint32_t line, column; /* of its name in the text, which bytecode has as shlo_print writes it */
    shlo_op *next;
};

struct shlo_block {
    uint32_t argument_count;
    shlo_value *arguments;
    shlo_op *first, *last;
    shlo_op *parent; /* NULL: a function's */
};

/* An argument or a result of a function may have attributes: a dictionary, or NULL. */
typedef struct shlo_function {
    const char *name;
    bool is_private;
    const shlo_type *type; /* SHLO_TYPE_FUNCTION */
    const shlo_attr *const *argument_attrs;
    const shlo_attr *const *result_attrs;
    shlo_block *body; /* NULL: it is declared alone */
    const shlo_location *location;
    uint32_t line, column; /* of func.func */
    struct shlo_function *next;
} shlo_function;

typedef struct shlo_module {
    arena memory;
    const char *name; /* "jit_f"; NULL: none */
    shlo_named_attr *attrs;
    uint32_t attr_count;
    const char *meshes; /* Shardy's, as text: "sdy.mesh @mesh = <...>", a line each; NULL: none */
    shlo_function *first, *last;
    map functions; /* by name: its shlo_function, as intptr_t */
    uint32_t operation_count;
    const char *version; /* of bytecode: "StableHLO_v1.13.0"; NULL: text */
} shlo_module;

shlo_module *shlo_module_new(void);
void shlo_module_free(shlo_module *m);                                      /* of NULL: nothing */
shlo_function *shlo_function_named(const shlo_module *m, const char *name); /* NULL: none */
/* Adds one behind the others; false: the name is taken. */
bool shlo_module_add(shlo_module *m, shlo_function *f);
/* Adds it at the end of the block; its arrays are allocated, and filled by the caller. */
shlo_op *shlo_op_new(shlo_module *m, shlo_block *block, const char *name, uint32_t operands,
                     uint32_t results, uint32_t attrs, uint32_t regions);
/* The same with the name, its info, the counts and the places of `head`. */
shlo_op *shlo_op_of(shlo_module *m, shlo_block *block, const shlo_op *head);
shlo_block *shlo_block_new(shlo_module *m, uint32_t arguments);

/* NULL: it has none of that name. */
const shlo_attr *shlo_op_attr(const shlo_op *op, const char *name);
/* The integers of a list (a tensor of integers, or an array of them): their count, and the first
 * `limit` of them. 0 where there is none. */
uint32_t shlo_ints(const shlo_attr *a, int64_t *out, uint32_t limit);
/* The same of an attribute of an operation. */
uint32_t shlo_op_ints(const shlo_op *op, const char *name, int64_t *out, uint32_t limit);
int64_t shlo_op_int(const shlo_op *op, const char *name, int64_t otherwise);
const char *shlo_op_string(const shlo_op *op, const char *name, const char *otherwise);

/* An attribute of a module: "correct" where functions are correctly rounded, as no operation of
 * StableHLO says it. */
#define SHLO_MATH "tessera.math"
/* An attribute of a reduction: its body is run from the first element on, also where it is a sum or
 * a product, which have another order otherwise. */
#define SHLO_ASCENDING "tessera.ascending"
/* An attribute of a composite of ours: operands that are tf32, which is f32 in StableHLO. */
#define SHLO_TF32_OPERANDS "tf32"

/* ---- files ---- */

/* Does a file with these bytes hold StableHLO: bytecode of MLIR, or text that begins with a module
 * or a function? */
bool shlo_is_one(const char *data, size_t size);
/* Is it bytecode of MLIR? */
bool shlo_is_bytecode(const uint8_t *data, size_t size);
/* NULL with STATUS_INVALID: the message has the offset, or line and column, and what is wrong. A
 * module's sizes are bounded before anything is allocated for them. */
shlo_module *shlo_read_bytecode(const uint8_t *data, size_t size, status *st);
shlo_module *shlo_read_text(const char *source, size_t size, status *st);
/* Gives the functions and operations of bytecode their places in the text. */
void shlo_place(shlo_module *m);
/* The module as text that other readers of StableHLO take, too: in generic form, with the
 * attributes that the table names. */
void shlo_print(const shlo_module *m, text *out);

#endif
