/* source.h - a compiler_source from the inside, and the interface of each of its kernels.
 *
 * An interface is what the annotations say, before any type is bound: parameters with their
 * dimension expressions, the symbols and type variables in them. Cases are checked against it. */
#ifndef TESSERA_CHECK_SOURCE_H
#define TESSERA_CHECK_SOURCE_H

#include "check/policy.h"
#include "ops/settings.h"
#include "tessera/compiler.h"

/* A Tensor[...] annotation. */
typedef struct annotation {
    span at;
    int rank;
    node *dims[IR_MAX_RANK]; /* names, integers, + - * // */
    dtype type;              /* DTYPE_NONE: the type variable below */
    const char *variable;
    policy_set policies;
    const char *sharding; /* Tensor[...] @ sharding(...), as ops/sharding.h has it; NULL: none */
    bool in_tiles;        /* KTile[...] or of a KVCache: tiles are loaded from it */
} annotation;

/* A parameter that is several tensors, which are parameters by themselves. */
typedef struct parameter_record {
    const char *name;
    span at;
    uint32_t first;                /* of its parameters */
    const struct value_type *type; /* NULL: a KVCache */
} parameter_record;

typedef VEC(ast_parameter) ast_parameters;

/* A parameter that is a result. */
typedef struct parameter_result {
    const char *name;
    span at;
    node *annotation; /* without its @ out */
} parameter_result;

/* Knobs that a kernel of tiles may leave open: BM of @kernel.autotune's space is m. */
enum {
#define KNOB(ENUM, name, word, kind) TILE_KNOB_##ENUM,
#include "check/tile_knobs.def"
#undef KNOB
    TILE_KNOBS,
    TILE_SIZES = TILE_KNOB_D + 1
};
typedef struct tile_knob {
    int64_t values[COMPILER_KNOB_VALUES_MAX];
    span at[COMPILER_KNOB_VALUES_MAX]; /* of each, where it was read */
    uint32_t count;                    /* 0: not said */
} tile_knob;
typedef struct tile_space {
    tile_knob knobs[TILE_KNOBS];
    const char *swizzle;
    uint64_t budget_ms;
    const char *cache;
} tile_space;

/* A returned value, and the results that it is. */
typedef struct result_form {
    const struct value_type *type; /* NULL: one tensor */
    uint32_t first, count;
} result_form;
typedef struct returned_values {
    result_form *forms;
    uint32_t count;
    const char **suffixes; /* by result: ".K" of a record's field, "" of a tensor */
    const node *donate;    /* of @jit(donate=...): strings; NULL: nothing is */
    bool inferred;         /* no annotation says them: they are what the body returns */
} returned_values;

typedef struct declared_name {
    const char *name;
    span at; /* first mention */
} declared_name;

typedef VEC(declared_name) declared_names;

/* Fields: what a head says, which is read in one go. */
typedef struct kernel_interface {
    const ast_function *function; /* each of whose parameters is one tensor or a constant */
    annotation *parameters;       /* of the positional parameters, in order */
    uint32_t parameter_count;
    annotation *results;
    uint32_t result_count;
    returned_values returned;
    declared_name *symbols;
    uint32_t symbol_count;
    declared_name *variables; /* type variables */
    uint32_t variable_count;
    const char *math;               /* of @math(...): "correct"; NULL: specified */
    bool contract;                  /* its body is `...` */
    const char *const *independent; /* of @independent(...) */
    uint32_t independent_count;
    const node *graph;   /* @graph("""..."""); NULL: it has none */
    const node *same_as; /* @same_as("kernel"), well-formed; NULL: it has none */
    bool in_tiles;       /* made of tiles: a parameter is a KTile or a KVCache */
    parameter_record *records;
    uint32_t record_count;
    uint32_t first_weight;    /* of the parameters: those that are not written in the head */
    parameter_result *stores; /* results that are parameters, instead of returned ones */
    uint32_t store_count;
    tile_space *space;         /* of a kernel that says something of its tiles; else all zero */
    const ir_module *imported; /* its graph, where it is a function of StableHLO; else NULL */
    bool broken;               /* not all of it could be read */
} kernel_interface;

/* A file that came with the text of the one that was opened: "#: file NAME" on a line of its own,
 * and its text up to the next such line. The name is the path from the first file's folder. */
typedef struct bundled_file {
    const char *name, *data;
    uint32_t size;
} bundled_file;

struct compiler_source {
    arena memory;
    source_text text;
    VEC(bundled_file) bundled;
    bool colour;
    uint32_t errors;
    compiler_kernel *kernels;
    kernel_interface *interfaces; /* beside kernels */
    uint32_t kernel_count;
    const ast_function *head;            /* that is being read, whose parameters types may name */
    struct source_module *main;          /* the file that was opened */
    VEC(struct source_module *) opened;  /* all files, in the order of their text */
    VEC(struct source_module *) modules; /* ... those that others import before these */
    VEC(setting) settings;               /* of all kernels' operations, by number less 1 */
    struct imported_program *program;    /* of StableHLO (imported.c); NULL: it is none */
};

/* The value of a constant: the case's (NULL: there is none), else the kernel's; NULL: neither. */
const node *constant_value(const ast_parameter *p, const compiler_case *c);
bool has_all_constants(const kernel_interface *k, const compiler_case *c);
/* Reads the annotations of a function; problems are reported and leave `broken` set. */
kernel_interface interface_of(compiler_source *s, const ast_function *f, diagnostics *d);
/* One Tensor[...]; symbols and type variables are added to the lists. False when reported. */
bool annotation_read(compiler_source *s, node *n, annotation *out, declared_names *symbols,
                     declared_names *variables, diagnostics *d);
/* Tells that its body is `...`. */
bool contract_is_one(const ast_function *f);
/* Does it add in an order that is written out as a tree, of which no code is made? */
bool contract_is_interpreted(const ast_function *f);
/* The matrix unit that all of these orders name; NULL: they do not. */
const char *contract_unit(const ast_function *f);
/* A type's name: f32, ...; reports an unknown one with a suggestion. DTYPE_NONE then. */
dtype type_named(const char *name, span at, diagnostics *d);

/* tiles/interface.c: the function with each KVCache as two parameters, without those that are
 * results, and with values for its
 * constants that @constants(...) gives. */
const ast_function *interface_unfold(compiler_source *s, const ast_function *f, kernel_interface *k,
                                     diagnostics *d);
/* Recognize an annotation: NAME[...]; KTile[...]; KVCache[...] or KVCache. */
/* Tensor[...] @ sharding(...) */
bool interface_is_sharded(const node *n);
bool interface_is_shaped(const node *n, const char *name); /* ... is, too */
bool interface_is_tile(const node *n);
bool interface_is_cache(const node *n);
/* KVCache without its shape: that of `like`, with a length of its own. */
annotation interface_cache_like(compiler_source *s, const annotation *like, span at,
                                declared_names *symbols);
/* @kernel.autotune(...), @kernel.schedule(...), @kernel.auto: what they say of tiles. */
bool interface_is_kernel_word(const node *n);
void interface_tiles_read(compiler_source *s, kernel_interface *k, const node *n, diagnostics *d);

/* tiles/choice.c: the table, and what of a space is in force. */
typedef struct tile_knob_name {
    const char *name, *word;
    bool hint;
} tile_knob_name;
extern const tile_knob_name tile_knob_names[TILE_KNOBS];
/* The value of a knob in a case (`c` may be NULL: the first one); 0: the kernel does not say it. */
int64_t tile_knob_value(const kernel_interface *k, const compiler_case *c, int knob);
/* Its place in the source; empty where it has none. */
span tile_knob_place(const kernel_interface *k, const compiler_case *c, int knob);
/* Knobs that the kernel leaves open, for compiler_kernel. */
const compiler_knobs *tile_knobs_keep(compiler_source *s, const kernel_interface *k);

/* tiles/schedule.c: a number of elements that some target loads at once, or 0. */
bool tile_vector_fits(int64_t elements);
/* A number, or a list of them, of a knob with this number; false when reported. */
bool tile_knob_read(const node *n, int knob, tile_knob *out, diagnostics *d);
/* Checks a word for how rows of a tile lie; NULL: none was written there. */
bool tile_swizzle_read(const char *word, span at, diagnostics *d);
/* Recognizes a Schedule(...) or one made from it; and reads what it says. False when reported. */
bool tile_schedule_is(const compiler_source *s, const node *n);
bool tile_schedule_read(const compiler_source *s, const node *n, tile_space *out, diagnostics *d);

/* Fills the kernel's cases, and its functions' set, from its decorators. */
void cases_read(compiler_source *s, kernel_interface *k, compiler_kernel *out, diagnostics *d);

/* imported.c: programs of StableHLO. Reads one into the source's text, behind which it writes the
 * heads of its kernels as a file of ours would have them: the place of these. */
span imported_read(compiler_source *s, const char *name, const char *data, size_t size,
                   diagnostics *d);
/* Gives the kernels, whose heads are read, their graphs and their places. */
void imported_connect(compiler_source *s);
void imported_release(compiler_source *s);
/* The program as text, in which its places are. */
void imported_print(const compiler_source *s, text *out);

/* graph_text.c: the decorator @graph, whatever it holds; NULL: there is none. */
const node *graph_text_of(const ast_function *f);
/* same_as.c: reads one decorator; and, when all kernels are read, finds the kernels that are named.
 */
void same_as_read(kernel_interface *k, const node *n, diagnostics *d);
void same_as_resolve(compiler_source *s, diagnostics *d);

typedef enum dim_result { DIM_VALUE, DIM_UNBOUND, DIM_OVERFLOW, DIM_NOT_AN_EXPRESSION } dim_result;
/* A dimension expression under bindings. */
dim_result dim_evaluate(const node *n, const ir_binding *bindings, uint32_t count, int64_t *out);

/* Checks that the kernel's declaration was understood; else says that it has errors. */
bool source_has_kernel(const compiler_source *source, const compiler_kernel *kernel, text *out);
/* Type-checks the kernel under the types, constants and choice of a case (NULL: none); NULL when
 * reported. */
ir_module *kernel_check(compiler_source *s, const kernel_interface *k, const compiler_case *c,
                        diagnostics *d);
struct promised_calls;
/* The same, and the calls in it of functions that promise something; the graph has what they read,
 * used or not. */
ir_module *kernel_check_promises(compiler_source *s, const kernel_interface *k,
                                 const compiler_case *c, struct promised_calls *out,
                                 diagnostics *d);
/* Leaves out the operations of a block that nothing needs. */
void kernel_drop_unused(ir_module *m, ir_block block);
/* The same kernel, which gives these of its values alone. */
ir_module *kernel_giving(const ir_module *kernel, const ir_value *values, uint32_t count);
/* Reports where a checked graph has no meaning under a case's dimensions. */
void instance_check(compiler_source *s, ir_module *m, const compiler_case *c, diagnostics *d);
/* Reports what is wrong with constants of the files, and puts them into annotations. */
void constants_check(compiler_source *s, diagnostics *d);

#endif
