/* compiler.h - source in; kernels, cases, modules and diagnostics out: the compiler from outside.
 *
 * Path of a kernel: compiler_open (parse) -> compiler_instance_open (check one case: symbolic Graph
 * IR, and its dimensions) -> compiler_build (Schedule, Tile, machine code; a module image for
 * tsrLoadModule), or compiler_interpret (the oracle), or compiler_reference (f64 with a running
 * error bound).
 *
 * Threads: one source and what came from it is used from one thread at a time. */
#ifndef TESSERA_COMPILER_H
#define TESSERA_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/text.h"
#include "ir/dim.h"
#include "ir/ir.h"
#include "ir/limits.h"
#include "tessera/ranks.h"

enum {
    TSR_NUMERICS_VERSION = 1,
    COMPILER_MAX_PARAMETERS = LIMIT_PARAMETERS,
    COMPILER_LEVELS_MAX = 32,
    COMPILER_VARIANTS_MAX = 64
};

/* Registers the operations of all levels; everything that needs them calls it, again and again. */
void compiler_init(void);

/* ---- source ---- */
typedef struct compiler_source compiler_source;

typedef enum compiler_input_kind {
    INPUT_NORMAL,
    INPUT_UNIFORM,
    INPUT_INTEGERS,
    INPUT_CONSTANT,
    INPUT_SPECIAL
} compiler_input_kind;
typedef struct compiler_input {
    compiler_input_kind kind;
    double a, b; /* mean, stddev | lo, hi | lo, hi (exclusive) | value | none */
} compiler_input;

typedef struct compiler_type_binding {
    const char *name; /* a type variable of the kernel, e.g. "T" */
    dtype type;
} compiler_type_binding;

/* A constant of the kernel that a case gives a value of its own. */
typedef struct compiler_constant {
    const char *name;
    const char *text;         /* the value: "False", "0.5", "f32" */
    const struct node *value; /* as the source has it */
} compiler_constant;

typedef struct compiler_case {
    const char *name;
    uint32_t line;
    bool large; /* left out by --quick */
    const ir_binding *dims;
    uint32_t dim_count;
    const compiler_type_binding *types;
    uint32_t type_count;
    const compiler_constant *constants; /* those that the case says; the others are the kernel's */
    uint32_t constant_count;
    const int64_t *choice; /* a value for each knob, 0: none; NULL: the first of each */
    const char *space;     /* the same as text, as compiler_case_choose was given it; NULL: not */
    const compiler_input *inputs; /* one per parameter, defaults filled in */
    const char *bound; /* "M=128,T=bf16": of compiler_case_bind, which makes it again; NULL: of the
                          source */
} compiler_case;

/* Values for dimensions and type variables by name, as a command line has them. */
typedef struct compiler_values {
    const ir_binding *dims;
    uint32_t dim_count;
    const compiler_type_binding *types;
    uint32_t type_count;
} compiler_values;

/* @schedule(...) of a kernel: values of schedule parameters, with their places in the source. They
 * are no part of what the kernel computes, and in no hash of its graph. */
typedef struct compiler_schedule_entry {
    const char *name;    /* of the parameter: "MR" */
    const char *word;    /* as it was written: "tile" */
    unsigned groups;     /* the kinds of work that have it, as bits */
    unsigned all_groups; /* ... that have some parameter of this word */
    int64_t value;
    bool vectors;        /* the value counts vectors of the target */
    uint32_t start, end; /* bytes of the source */
} compiler_schedule_entry;

/* @specialize(when=..., use=...): values for targets with certain capabilities. Like a schedule, no
 * part of what the kernel computes. */
typedef struct compiler_special {
    const char *when, *use; /* in one form: "backend=rocm,subgroup=64", "BM=64,STAGE=8" */
    const struct special_condition *conditions; /* all must hold */
    uint32_t condition_count;
    const compiler_schedule_entry *entries; /* of a kernel of whole tensors */
    uint32_t count;
    const int64_t *choice; /* of tiles: a value for each knob, 0: not said; else NULL */
    uint32_t start, end;   /* bytes of the source */
} compiler_special;

typedef struct compiler_schedule {
    const struct source_text *source;       /* for diagnostics */
    const compiler_schedule_entry *entries; /* of @schedule, for CPUs */
    uint32_t count;
    const compiler_special *specials; /* the first that fits the target counts */
    uint32_t special_count;
} compiler_schedule;

/* The first that fits a target (NULL: the host's best level), or NULL. `written` may be NULL. */
const compiler_special *compiler_special_of(const compiler_schedule *schedule, const char *isa);

/* A knob is what a kernel of tiles leaves open: a size of its tiles, or a hint. */
enum { COMPILER_KNOBS_MAX = 8, COMPILER_KNOB_VALUES_MAX = 32 };
typedef struct compiler_knob {
    const char *name;      /* "BM" */
    const int64_t *values; /* in the order of the source: the first is the kernel's own */
    uint32_t count;        /* 0: the kernel does not say it */
    bool hint;             /* no part of what the kernel means */
} compiler_knob;
typedef struct compiler_knobs {
    compiler_knob items[COMPILER_KNOBS_MAX];
    uint32_t count;     /* 0: the kernel is made of whole tensors */
    uint64_t budget_ms; /* what its source allows for tuning it; 0: nothing is said */
    const char *cache; /* where its source would have tuned schedules kept; NULL: nothing is said */
} compiler_knobs;
/* @verify.numerics(...): what each element is promised to be, and runs are held to. */
typedef struct compiler_numerics {
    bool stable;  /* finite where the f64 reference is */
    bool bounded; /* from `low` to `high`, and no NaN */
    double low, high;
} compiler_numerics;

typedef struct compiler_kernel {
    const char *name; /* the function's name */
    const char *path;
    uint32_t line;
    uint32_t parameter_count;
    const char *const *parameter_names;
    const dtype *parameter_types;       /* DTYPE_NONE: that of its type variable */
    const int32_t *parameter_variables; /* indices of type_names; -1: its type is fixed */
    const char *const *dim_names;       /* as they are first mentioned, parameters before results */
    uint32_t dim_count;
    const char *const *type_names; /* of its type variables */
    uint32_t type_count;
    uint32_t case_count;
    const compiler_case *cases;
    const compiler_schedule *schedule;     /* @schedule and @specialize; NULL: none is written */
    const compiler_knobs *knobs;           /* never NULL */
    const compiler_numerics *numerics;     /* NULL: nothing is promised */
    const char *steps;                     /* the dimension of @verify.steps, or NULL */
    const struct compiler_kernel *same_as; /* of @same_as: what was meant; NULL: none is named */
    bool contract; /* its body is `...`: what it takes and gives, and no formula. Its graph cannot
                      be compiled, interpreted or referred to; code of others computes it */
    bool interpreted; /* it adds in an order that is written out as a tree, or in a matrix unit's:
                         the interpreter and code of others compute it, and none is made of it
                         but for such units */
    const char *unit; /* ... of the matrix unit that all of these orders name; NULL: there is none.
                         Code for its chips has them (compiler_target_adds_as) */
    bool broken; /* there are errors in it, or outside of the file's kernels: it has no graph */
} compiler_kernel;

/* Reads, parses and checks one file. Diagnostics (rendered, with carets; colour where `colour`) are
 * appended to `diagnostics`; the source is returned even when it has errors, with error_count > 0.
 * NULL: `st` says why the file could not be read. Everything reachable from the source lives until
 * compiler_close. */
compiler_source *compiler_open(const char *path, bool colour, text *diagnostics, status *st);
/* A file that compiler_open has opened before without a diagnostic: cases are not checked again. */
compiler_source *compiler_open_known(const char *path, bool colour, text *diagnostics, status *st);
/* The files on disk that a source imports, by absolute paths. NULL: there are no more. */
const char *compiler_import_at(const compiler_source *source, uint32_t index);
/* The text of a source with all files that it imports, each behind a line "#: file NAME": as the
 * text of one file it opens alike where those are not at hand. Without imports: the file's own. */
void compiler_bundle(const compiler_source *source, text *out);
compiler_source *compiler_open_text(const char *name, const char *source, bool colour,
                                    text *diagnostics);
void compiler_close(compiler_source *source);
/* Errors of the whole file. A kernel that is not broken can be run in spite of those. */
uint32_t compiler_error_count(const compiler_source *source);
uint32_t compiler_kernel_count(const compiler_source *source);
const compiler_kernel *compiler_kernel_at(const compiler_source *source, uint32_t index);
/* NULL: there is none of that name. */
const compiler_kernel *compiler_kernel_named(const compiler_source *source, const char *name);
const compiler_case *compiler_case_named(const compiler_kernel *kernel, const char *name);

/* Reads "M=128,N=256,T=bf16" into the arena; "" is no value at all. False: it has another form, a
 * name stands there twice, or a number does not fit 63 bits. */
bool compiler_values_read(const char *words, arena *memory, compiler_values *out, status *st);
/* Are these names all dimensions and type variables of the kernel, and no others? */
bool compiler_values_fit(const compiler_values *values, const compiler_kernel *kernel);
/* The kernel's case of these values: its name is made of them, its inputs have the distributions of
 * their types. The values must be all that the kernel has. NULL with diagnostics appended; lives
 * until compiler_close. */
const compiler_case *compiler_case_bind(compiler_source *source, const compiler_kernel *kernel,
                                        const compiler_values *values, text *diagnostics);

/* A copy of the case with "BM=128,BN=64" chosen of the kernel's space; what is not named is the
 * first of its values, or as the case has it chosen. NULL with a message that lists what there is:
 * a name or a value that does not stand in the space, a kernel that has none. The copy lives until
 * compiler_close. */
const compiler_case *compiler_case_choose(compiler_source *source, const compiler_kernel *kernel,
                                          const compiler_case *c, const char *words, status *st);
/* A copy of the case with the tiles that @specialize gives a target, in *out; the case itself where
 * it gives none, or the case has a choice of its own. False: they would add in another order than
 * the kernel's own, with the error at its place. The copy lives until compiler_close. */
bool compiler_case_specialize(compiler_source *source, const compiler_kernel *kernel,
                              const compiler_case *c, const char *isa, const compiler_case **out,
                              status *st);
/* Appends what is in force: "BM=128,BN=64,vector=4", each that the kernel says. */
void compiler_choice_text(const compiler_kernel *kernel, const compiler_case *c, text *out);

/* Checks a kernel under a case's element types: Graph IR with symbolic dimensions, before any pass.
 * NULL with diagnostics appended on error. Owned by the caller (ir_module_free). Two cases with the
 * same types, constants and choice give the same text. `c` may be NULL for a kernel without type
 * variables. */
ir_module *compiler_graph(compiler_source *source, const compiler_kernel *kernel,
                          const compiler_case *c, text *diagnostics);

/* ---- kernels made of tiles ---- */

/* A size that the space of @kernel.autotune names, and where in the source. */
enum { COMPILER_TILE_WORDS = 4 };
typedef struct compiler_tile_size {
    int word; /* of the kernel's knobs, of which the first are sizes */
    int64_t value;
    uint32_t start, end; /* bytes of the source */
} compiler_tile_size;

/* All of them, in their order; those of a word's first are what the kernel is made of. Lives until
 * compiler_close. */
uint32_t compiler_tile_sizes(compiler_source *source, const compiler_kernel *kernel,
                             const compiler_tile_size **out);
/* compiler_graph with other sizes of tiles, one for each word; 0: as the source says. */
ir_module *compiler_graph_sized(compiler_source *source, const compiler_kernel *kernel,
                                const compiler_case *c, const int64_t *sizes, text *diagnostics);
/* Bytes that a core of this level (NULL: the host's best) has of the memory that space= of
 * tile.load() names, and what it is; -1: there is no such level or memory. */
int64_t compiler_space_bytes(const char *isa, const char *space, const char **what);

/* ---- a kernel instance ---- */

/* A kernel's graph, checked for certain element types, and numbers for its dimensions. Neither
 * changes. Text, hash, specialised graph, primitives and cost are computed when first asked for and
 * kept in the instance.
 *
 * Threads: every call may write to the instance, so one thread at a time uses it. A child process
 * of fork may go on with it. */
typedef struct compiler_instance compiler_instance;

/* compiler_graph, with the dimensions of the case (`c` NULL: none). NULL with diagnostics appended.
 * Owned by the caller (compiler_instance_free); does not need the source any more. */
compiler_instance *compiler_instance_open(compiler_source *source, const compiler_kernel *kernel,
                                          const compiler_case *c, text *diagnostics);
/* From a graph before any pass, which the instance takes; the dimensions are copied. A missing
 * dimension, or one too large, is an error of the calls that need its number. */
compiler_instance *compiler_instance_new(ir_module *graph, ir_bindings dims);
void compiler_instance_free(compiler_instance *instance); /* may be NULL */

/* All of these are borrowed from the instance. The graph is symbolic, and before any pass. */
const ir_module *compiler_instance_graph(const compiler_instance *instance);
ir_bindings compiler_instance_dims(const compiler_instance *instance);
/* It has branches or loops: compiler_build makes several kernels of it, and it has no schedule. */
bool compiler_instance_is_program(const compiler_instance *instance);
/* It is of a kernel without a formula: its shapes, types and bytes are all that is known. */
bool compiler_instance_is_contract(const compiler_instance *instance);
const text *compiler_instance_text(compiler_instance *instance);   /* canonical, of the graph */
const sha256 *compiler_instance_hash(compiler_instance *instance); /* of that text */
/* Is any of what is written (NULL: nothing), or of what its calls have, for the target? */
bool compiler_is_scheduled(const compiler_instance *i, const compiler_schedule *s, const char *isa);
/* Appends that text without lines of effects; settings of its operations (ops/settings.h). */
void compiler_instance_formula(compiler_instance *instance, text *out);
void compiler_instance_settings(const compiler_instance *instance, text *out);
/* The oracle's module: composites as primitives, at their locations. NULL with a status. */
const ir_module *compiler_primitives(compiler_instance *instance, status *st);

/* The code of a kernel is made from these: its primitives, joined where program instances do the
 * same, and the kinds of sums in them, each with its order. */
typedef struct compiler_code {
    sha256 primitives, orders;
} compiler_code;
bool compiler_code_of(compiler_instance *instance, compiler_code *out, status *st);
/* Relation of two choices of one space, as far as it can be seen without running them. */
typedef enum compiler_relation {
    COMPILER_SAME_CODE,     /* the same operations: all levels below are equal */
    COMPILER_MAYBE_SAME,    /* the same sums in the same orders, in other tiles */
    COMPILER_ANOTHER_ORDER, /* other sums, or other orders: other bits */
} compiler_relation;
compiler_relation compiler_relate(const compiler_code *a, const compiler_code *b);
/* FLOPs (masked work left out) and bytes that must move. */
bool compiler_cost(compiler_instance *instance, uint64_t *flops, uint64_t *bytes, status *st);

/* Inputs and outputs, with static shapes; borrowed from their instance. */
typedef struct compiler_buffer {
    const char *name;
    dtype type;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    int replaces;       /* of an output: the input that is donated to it; -1: none */
    const char *effect; /* NULL: a result; else "check:LINE:WORDS", "print:...", "more:..." */
} compiler_buffer;
typedef struct compiler_signature {
    uint32_t input_count, output_count;
    const compiler_buffer *inputs, *outputs;
} compiler_signature;
bool compiler_signature_of(compiler_instance *instance, compiler_signature *out, status *st);

/* A dimension is a batch where each of its positions in the outputs is computed from the same
 * position of the inputs, and from what has no positions: its bits depend neither on how many
 * others stand beside it nor on which. Derived from the primitives at the instance's dimensions,
 * which should be larger than 1 and unlike each other. */
typedef struct compiler_independence {
    bool independent;
    bool any_output;       /* some output has positions of it */
    int *inputs, *outputs; /* the axis of each, -1: none; borrowed from the instance */
    const char *why; /* not independent: the operation that mixes positions, or words; static */
} compiler_independence;
bool compiler_independent(compiler_instance *instance, const char *dim, compiler_independence *out,
                          status *st);

/* Are the values of the inputs what the kernel asks for (targets of a cross_entropy within
 * their row)? Compiled code cannot tell and clamps. False with a message that names the element. */
bool compiler_check_values(compiler_instance *instance, const tensor *inputs, status *st);

/* ---- down the levels ---- */
typedef enum compiler_profile {
    PROFILE_STRICT,
    PROFILE_DETERMINISTIC,
    PROFILE_FAST,
    PROFILE_COUNT
} compiler_profile;
const char *compiler_profile_name(compiler_profile profile);

/* Metadata of how a module came about, beside what follows from its code. */
typedef struct compiler_provenance {
    const char *tuned;        /* values of the schedule that a tuner found; NULL: it did not */
    const char *space;        /* compiler_choice_text; NULL or "": the kernel leaves nothing open */
    const char *unused_hints; /* compiler_unused_hints; NULL or "": none */
    bool specialized;         /* the tiles are those of compiler_case_specialize */
} compiler_provenance;

/* Knows what the vendor's assembler makes of PTX: running a program is not the compiler's business.
 * `messages` receives what it says of each entry point (of `ptxas -v`). */
typedef struct compiler_assembler {
    bool (*assemble)(void *context, const char *chip, const text *ptx, text *messages, status *st);
    void *context;
} compiler_assembler;

/* Fields: all that a command line may ask of the code. */
typedef struct compiler_options {
    const shard_ranks *ranks; /* NULL: one has all shards */
    compiler_profile profile;
    const char *isa;         /* "x86-64-v4", ...; NULL = the host's best */
    const char *const *also; /* further levels, beside a named `isa`, with images in the module */
    uint32_t also_count;
    bool generic; /* code for any dimensions, which a launch gives, beside that of `variants` */
    const ir_bindings *variants; /* dimensions that the module has code of its own for */
    uint32_t variant_count;
    bool unoptimised;  /* nothing is fused or simplified, and the machine code is the plainest */
    bool check_bounds; /* every load and store is checked against its memory's extent: slow, and an
                          access outside ends the launch with a message. CPUs and emulated chips;
                          the bits are the same */
    uint32_t threads;  /* the schedule may cut for this many; bits never depend on it. 0 = 1 */
    const char
        *schedule; /* values of schedule parameters, "BM=96,P0.NR=4v" (v: vectors), or NULL */
    const compiler_schedule *source_schedule; /* the kernel's own, behind `schedule`; or NULL */
    const char
        *constants; /* "w,b": inputs that stay as they are from launch to launch, so that what
                       is made from one alone can be prepared; or NULL. Never of the bits */
    const compiler_provenance *provenance; /* NULL: nothing is said */
    const compiler_assembler *assembler;   /* for the resources of PTX in the metadata, or NULL */
    bool schedule_loose; /* what does not fit of these is left out (of a part of the kernel) */
    const struct compiler_stored *stored; /* descent.h: where passes go on; or NULL */
    const char *emit_after;               /* a pass name whose output is wanted, or NULL */
    text *emit;                           /* receives that text */
    ir_line_list *lines; /* receives, from compiler_emit of graph, schedule or tile, the line of
                            the source for each line of the text (0: none); or NULL */
    const char *fault;   /* wrong on purpose, for proofs: "drop-last-k", "broken-ir"; NULL: none */
    uint32_t *barriers;  /* receives, from compiler_build, how many threads' code has; or NULL */
    uint32_t drop_barrier; /* wrong on purpose: this one, from 1 on, is not there; 0: all are */
    bool verify;           /* run the verifier after every pass (always on in debug builds) */
} compiler_options;

/* Appends what no code of the options' target and profile depends on in this case (docs/tiles.md,
 * schedules.md): hints and sizes, "BM=64,warps=8", "prefetch(w)=smem", on chips "schedule(BM)=64",
 * "with_schedule(BM)=64". Nothing where no code can be made. */
void compiler_unused_hints(compiler_source *source, const compiler_kernel *kernel,
                           const compiler_case *c, const compiler_options *options, text *out);

typedef struct compiler_artifact {
    void *image; /* module image for tsrLoadModule; owned, free() */
    size_t image_size;
    sha256 graph_hash, schedule_hash, module_hash;
    uint64_t compile_ns; /* graph in, image out */
} compiler_artifact;

bool compiler_build(compiler_instance *instance, const compiler_options *options,
                    compiler_artifact *out, status *st);
void compiler_artifact_release(compiler_artifact *artifact);

/* Code that is not the compiler's: a module of the instance with one image, whatever its bytes are
 * to the device that loads it. */
typedef struct compiler_foreign {
    const char *target; /* "foreign/python": what devices choose images by */
    const char *symbol; /* the kernel's one phase; a name for messages */
    const void *bytes;
    size_t size_bytes;
    const char *call; /* JSON, of code for a GPU: the phase's "call" (docs/modules.md), with the
                         "smem_bytes" of its workgroups; else NULL */
} compiler_foreign;
bool compiler_wrap(compiler_instance *instance, const compiler_foreign *code,
                   compiler_artifact *out, status *st);

/* The machine code of a module in numbers, over all of its images; of PTX, what stands in its
 * text, before registers are allocated. */
typedef struct compiler_code_facts {
    uint64_t code_bytes;     /* of the executable sections */
    uint64_t instructions;   /* as they stand, not as they run */
    uint64_t stack_accesses; /* of these, the ones that read or write the stack: spills, mostly */
} compiler_code_facts;
/* False: the module is damaged, or for a level that is not known here. */
bool compiler_code_facts_of(const void *image, size_t size_bytes, compiler_code_facts *out,
                            status *st);

/* The code of a module's part `kind`, appended as text: PTX as it is, of all else its executable
 * sections, disassembled, with a label where a function begins. */
bool compiler_code_text(const char *kind, const void *code, size_t size_bytes, text *out,
                        status *st);

/* The parameters that a kernel's schedule has on a target: what a tuner can turn. */
typedef struct compiler_parameter {
    char name[32];            /* "P0.MR" */
    const char *work;         /* "a contraction" */
    const char *unit;         /* "rows" */
    const char *summary;      /* what it is */
    bool written;             /* the source's @schedule says it */
    int64_t value, otherwise; /* as asked for, and the default under these options */
    int64_t minimum, maximum; /* of the table; limits may be narrower */
    int64_t multiple;         /* of what values must be multiples */
    uint32_t candidate_count;
    int64_t candidates[24]; /* ascending */
} compiler_parameter;
typedef struct compiler_space {
    compiler_parameter *items; /* owned; in the order in which they are chosen */
    uint32_t count;
    double cycles;       /* what the schedule costs by arithmetic (schedule/cpu/cost.h): only to be
                            compared with that of another schedule of this kernel on this target */
    const char *library; /* a kernel of tiles that is taken in place of one, and has these cycles;
                            NULL: none */
    bool program; /* the kernel is a program of several, which has no schedule: false is returned */
} compiler_space;
/* Schedules, and generates no code. False, with the limit in `st`, where the options ask for what
 * does not fit. */
bool compiler_space_of(compiler_instance *instance, const compiler_options *options,
                       compiler_space *out, status *st);
void compiler_space_release(compiler_space *space);

/* One level: "graph" (before passes), "schedule", "tile", "llvm", "asm", "ptx"; for others "mlir",
 * "stablehlo", "c", "python"; "obj" and "module" are bytes, as "hsaco" and "spirv", an "obj". */
bool compiler_emit(compiler_instance *instance, const compiler_options *options, const char *level,
                   text *out, status *st);
/* Names of all passes, in order, for --emit-after. Returns the count. */
uint32_t compiler_pass_names(const char *const **names);
bool compiler_is_pass(const char *name);

/* The oracle: runs the primitives, one rounding at a time. `outputs` are initialised by it. */
bool compiler_interpret(compiler_instance *instance, const tensor *inputs, tensor *outputs,
                        status *st);
/* Limits of an element where its bound is infinite, or where it may be a NaN though its
 * bound is finite: numbers and infinities between two limits, and (not 0) a NaN. */
enum { COMPILER_LIMIT_LOW, COMPILER_LIMIT_HIGH, COMPILER_LIMIT_NAN, COMPILER_LIMITS };
/* Destinations of the reference: tensors of the caller, initialised by the call. */
typedef struct compiler_references {
    tensor *values, *bounds; /* one per output each, f64; an infinite bound is none */
    tensor *limits;  /* one per output, f64 [elements, COMPILER_LIMITS]; without data where every
                        bound is finite and no NaN may come but those of the reference; or NULL */
    bool *whole;     /* every float on the way is a whole number that its type holds, as is the rule
                        where inputs are small integers; or NULL */
    bool any_floats; /* of the inputs: any finite ones, in place of those that are given */
    bool *safe; /* no float on the way can be an infinity or a NaN, as far as is known; or NULL */
    bool unlimited; /* values are as if only f64 overflowed; bounds say nothing then */
} compiler_references;
/* Finds the elements of the inputs that an element of an output is made from (`of` NULL: any
 * element of any output), with these inputs: a select needs the side that it takes, a contraction
 * the steps that it does, and conditions and counts are needed themselves. What is not needed may
 * hold anything: the bits are the same. `needed`: a bool tensor for each input, initialised by the
 * call. */
typedef struct compiler_element {
    uint32_t output;
    int64_t element;
} compiler_element;
bool compiler_needed(compiler_instance *instance, const tensor *inputs, const compiler_element *of,
                     tensor *needed, status *st);
/* Axes of inputs whose positions stay apart: what outputs have at one of them is made from the same
 * one of these inputs, so a kernel that is given some positions alone gives their bits. */
typedef struct compiler_axis {
    int64_t extent;
    int *inputs, *outputs; /* the axis of each, -1: none; borrowed from the instance */
} compiler_axis;
/* Those that are found, no two of which share an axis of an output; at most `most`. */
bool compiler_axes(compiler_instance *instance, compiler_axis *out, uint32_t most, uint32_t *count,
                   status *st);
/* The instance that computes so many positions of each of these axes, whichever they are: for
 * compiler_interpret and compiler_reference. Owned by the caller; NULL with a status: they cannot
 * be cut together. */
compiler_instance *compiler_part(compiler_instance *instance, const compiler_axis *axes,
                                 const int64_t *positions, uint32_t count, status *st);
/* Work of those two: elements of inputs and results, and products that are added. */
bool compiler_steps(compiler_instance *instance, uint64_t *elements, uint64_t *products,
                    status *st);
/* The primitives in f64 with an a-priori error bound per element (integer outputs exact with bound
 * 0). The bound covers any order of accumulation and approximate functions. */
bool compiler_reference(compiler_instance *instance, const tensor *inputs,
                        const compiler_references *out, status *st);
/* The first operation, in the order of the graph, that makes an infinity or a NaN in the kernel's
 * own types where the reference, of which only f64 overflows, is a number: whatever becomes of it
 * in the outputs. */
typedef struct compiler_escape {
    bool found;
    const char *operation; /* static */
    uint32_t line;         /* of the source; 0: it has none */
    int64_t elements, count;
    double value, reference; /* of the first element */
} compiler_escape;
bool compiler_find_escape(compiler_instance *instance, const tensor *inputs, compiler_escape *out,
                          status *st);

/* A kernel cut open at one of its floating-point sums or dots: the operands of that one are inputs
 * behind the kernel's own (x; for a dot y; where it counts steps, counts), and its result is an
 * output behind the others. Static, composites decomposed. */
typedef struct compiler_cut {
    compiler_instance *instance; /* owned by the caller; NULL: there is no such accumulation */
    bool no_room;                /* ... or the kernel has too many parameters to be cut open */
    dtype accumulator;           /* f32 or f64 */
    bool is_dot;
    char order[64];     /* its name; of a tree that is written out, its beginning */
    int64_t extent;     /* elements of one accumulation */
    int64_t rows;       /* accumulations that read different elements of x */
    int64_t columns;    /* results of a row; row r has the results r * columns, ... */
    uint32_t x, counts; /* numbers of inputs; y is x + 1; counts 0: none */
    uint32_t output;
    int whole_x, whole_y,
        whole_output; /* of the kernel itself, where its inputs are the operands and
                         its output the result as they are; -1: they are not */
    int rank, row_axes, axes[TENSOR_MAX_RANK]; /* of x: those of rows, then those summed over */
    int64_t dims[TENSOR_MAX_RANK];
    int y_rank, y_summed, y_axes[TENSOR_MAX_RANK]; /* of y: those summed over */
    int64_t y_dims[TENSOR_MAX_RANK];
} compiler_cut;
bool compiler_cut_open(compiler_instance *whole, uint32_t index, compiler_cut *out, status *st);
/* The element of x that is number `k` of accumulation `row`. */
int64_t compiler_cut_place(const compiler_cut *c, int64_t row, int64_t k);
/* The step of its accumulations that an element of y belongs to. */
int64_t compiler_cut_step(const compiler_cut *c, int64_t y_element);

/* Names of what code can be made for: ISA levels of CPUs, chips, and chips that a CPU emulates;
 * returns the count. */
uint32_t compiler_level_names(const char *const **names);
/* The format of code for a level or a chip: "elf", "ptx", "hsaco" or "spirv"; NULL: there is none
 * of that name. */
const char *compiler_code_format(const char *name);
/* The emulated form ("sm_80-emulated") of a chip ("sm_80"), which may be that form itself; NULL: it
 * is neither. */
const char *compiler_emulated_target(const char *name);
/* Does this machine run code of that level, or emulate that chip? *reason_out (at most
 * COMPILER_REASON_BYTES) says why not. */
enum { COMPILER_REASON_BYTES = 160 };
bool compiler_target_runs(const char *name, char reason_out[COMPILER_REASON_BYTES]);

/* Does code for the target add in the order that has the name of a matrix unit? */
bool compiler_target_adds_as(const char *target, const char *order);

/* Names of the specified functions, as the language has them; returns the count. */
uint32_t compiler_function_names(const char *const **names);

/* Can a fault of compiler_options change what the kernel computes? Where it cannot, `why` receives
 * the reasons, operation by operation. Faults that the operations have no say in always can. */
bool compiler_fault_applies(compiler_instance *instance, const char *fault, bool *applies,
                            text *why, status *st);

/* Version of the LLVM that is loaded, else of that which the program was built with. */
const char *compiler_llvm_version(void);
/* Appends words that change with LLVM, as the code does. */
void compiler_llvm_identity(text *out);
/* Loads LLVM now, where it would be loaded later: for processes that may soon open no files.
 * STATUS_UNAVAILABLE: it cannot be loaded. */
bool compiler_open_llvm(status *st);

#endif
