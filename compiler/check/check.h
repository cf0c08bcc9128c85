/* check.h - the checker from the inside: what an expression can stand for, names, and operations.
 *
 * One checker checks one kernel under one binding of its type variables and builds its Graph IR as
 * it goes. A problem is reported where it is found and yields an ENTITY_BROKEN, which is accepted
 * everywhere in silence. */
#ifndef TESSERA_CHECK_CHECK_H
#define TESSERA_CHECK_CHECK_H

#include "base/effect.h"
#include "base/map.h"
#include "check/modules.h"
#include "check/policy.h"
#include "ops/graph.h"
#include "ops/settings.h"

typedef enum entity_kind {
    ENTITY_BROKEN,
    ENTITY_TENSOR, /* value */
    ENTITY_NUMBER, /* decimal; integer where is_integer */
    ENTITY_BOOL,   /* integer */
    ENTITY_DIM,    /* dim: symbolic, or read from a shape */
    ENTITY_TUPLE,  /* items; lists too */
    ENTITY_STRING, /* text */
    ENTITY_TYPE,   /* type */
    ENTITY_NONE,
    ENTITY_SCHEDULE, /* schedule */
    ENTITY_MEMORY,   /* value: a tensor that tiles are loaded from */
    ENTITY_RECORD,   /* items, names; record: whose fields they are, NULL for a KVCache */
    ENTITY_CONTEXT,  /* the program instance: tile.context() */
    ENTITY_BLOCK,    /* block: so many places from some place on */
    ENTITY_RANGE,    /* block, whose number a loop gives */
    ENTITY_OUTPUT,   /* value, integer: a result that tile.store() gives */
    ENTITY_ENDED,    /* a name of a loop that has ended */
    ENTITY_TILE_SCHEDULE,
    ENTITY_MESH,     /* items: shards along each axis; names: of the axes */
    ENTITY_SPEC,     /* items, by dimension: None, a name of an axis, or a tuple of names */
    ENTITY_SHARDING, /* text: as ops/sharding.h has it */
    ENTITY_FUNCTION, /* text: its name; function, NULL: one of the language */
    ENTITY_KIND_COUNT
} entity_kind;

/* Places `number * size` to `(number + 1) * size` of an axis of `extent`, or to its end. */
typedef struct tile_block {
    ir_dim number, size, extent;
    ir_dim from, stop;  /* a loop begins, and ends, at the first block from this place on, */
    bool starts, stops; /* where that is given */
    ir_attr hints;      /* of the loads in a loop; 0: none */
} tile_block;

/* The entries of schedule(...). */
typedef struct schedule_value {
    compiler_schedule_entry *entries;
    uint32_t count;
} schedule_value;

typedef struct entity {
    entity_kind kind;
    span at;
    ir_value value;
    bool is_integer, is_wide; /* wide: of 2^63 and more; `integer` has the bits */
    int64_t integer;
    const char *text; /* strings; numbers: decimal or hexadecimal float, perhaps with '-' */
    ir_dim dim;
    dtype type;
    const policy_set *policies; /* of a type; NULL: none */
    const schedule_value
        *schedule; /* of a schedule; of a function's calls, NULL: none of their own */
    const tile_block *block;
    struct entity *items;
    const char *const *names; /* of the items of a record */
    const struct record_type *record;
    struct state_handle *state; /* of a record of @state */
    struct callable *function;
    const struct transformed *transform; /* of a function that was made of another one */
    uint32_t count;
} entity;

/* One value of a state; entities that are copies of each other share it. */
typedef struct state_handle {
    const char *root; /* the parameter that it began as: "caches.0"; NULL: it was made here */
    bool written;     /* a newer one has taken its place, */
    span at;          /* here */
} state_handle;

typedef struct local_name {
    const char *name;
    entity value;
    span at;           /* where it was defined */
    const char *fixed; /* what it is, where it cannot be assigned to; NULL: a variable */
} local_name;

typedef VEC(local_name) local_names;

typedef struct value_origin {
    const char *name;
    span at;
} value_origin;

/* Policies that a value carries beside its type. */
typedef struct value_policy {
    ir_value value;
    int scale_log2; /* it holds its number times 2^this */
    dtype accum;    /* dots and sums of it add in this; DTYPE_NONE: as ever */
    span accum_at;
    bool accum_used;
    uint32_t same_as; /* another item carries it, the one before this number; 0: this one does */
} value_policy;

typedef VEC(ir_value) value_list;
typedef VEC(ir_type) type_list;

/* Counts the places at which random numbers are drawn. */
typedef struct random_places {
    int64_t streams; /* stochastic roundings so far */
    int64_t sites;   /* random words so far */
    ir_op turning;   /* the draft of the loop that is being written; 0: none */
} random_places;

/* A value that something looks at behind the blocks around it (observed.h). */
typedef struct observed_value {
    ir_value value; /* in `block`: it stays in one that cannot give it out */
    ir_block block; /* the kernel's own in the end */
    bool effect;    /* of a launch: it goes out, or an error is reported at `at` */
    bool held;      /* a check: of some turns it is enough whether it held in all */
    span at;
    bool leaves; /* it is a result of what is being built */
} observed_value;

/* A block of a loop or a branch that is being written, by its number from 1 on. */
typedef struct written_block {
    const struct written_block *around; /* NULL: the kernel's */
    uint32_t number;
} written_block;

/* Something that a launch does beside its results. */
typedef struct program_effect {
    effect_kind kind;
    const written_block *inside; /* NULL: the kernel's own */
    size_t observed;             /* its value: a number of `observed` */
    const char *label;           /* words before it, or the message of a check */
    uint32_t line;               /* of the first file */
    span at;
} program_effect;

/* A place in the block that is built. */
typedef struct promise_mark {
    ir_block block;
    ir_op last;
} promise_mark;

/* Tensors that a `with` fetches ahead (check/prefetch.c). */
typedef struct fetched {
    setting what;
    span at;
    bool is_known; /* else what is wrong with it was reported */
    value_list values;
    promise_mark mark;
    uint32_t errors, readers; /* reported before it; operations that read it */
} fetched;

/* Settings of the statements that are checked. */
typedef struct present_settings {
    uint32_t now;          /* the innermost (ops/settings.h); 0: none */
    uint32_t of_call;      /* ... of the call that comes, behind its arguments; 0: the same */
    VEC(uint32_t) devices; /* all that the kernel asks for */
    VEC(fetched) fetches;  /* by prefetch(...) around the present statement */
} present_settings;

/* Names of a kernel, of a function, or of a file. */
typedef struct name_scope {
    map names; /* to an index of locals */
    local_names locals;
} name_scope;

/* Fields: all that is known where a statement is checked; what one construct alone has is a struct.
 */
typedef struct checker {
    compiler_source *source;
    diagnostics *report;
    arena memory;
    ir_module *m; /* NULL while module constants are read */
    ir_builder builder;
    const kernel_interface *kernel;
    const compiler_case *given; /* what the case binds, beside dimensions; may be NULL */
    const compiler_type_binding *types;
    uint32_t type_count;
    name_scope scope;
    name_scope weights;        /* parameters that the kernel's head does not name */
    source_module *module;     /* that is being checked; NULL while constants are read */
    name_scope *constants;     /* by number of a module: its constants */
    VEC(value_origin) origins; /* by ir_value */
    VEC(value_policy) policies;
    VEC(value_origin) written; /* parameters of a state that were written, with repetitions */
    VEC(program_effect) effects;
    VEC(observed_value) observed;
    present_settings settings;
    const struct mesh_axis *axes;    /* of meshes around, innermost (mesh.h); NULL: none */
    const struct call_frame *calls;  /* functions that are being written out */
    struct promised_calls *promises; /* receives calls that promise something; or NULL */
    struct tile_state *tiles;        /* NULL: the kernel is made of whole tensors */
    random_places random;
    const written_block *inside; /* that statements stand in; NULL: the kernel's own */
    uint32_t blocks;             /* ... with a number, so far */
    uint32_t operations;         /* so far */
    bool constants_only;
    const kernel_interface *caller; /* that calls `kernel`, which is one of tiles; or NULL */
    const struct callable *plain;   /* the function whose next call is without rules of its own: */
    int plain_level;                /* 1: but for that of tangents, 2: without any */
} checker;

/* ---- scope.c ---- */
entity entity_broken(span at);
entity entity_integer(checker *c, int64_t value, span at);
entity entity_tensor(ir_value value, span at);
entity entity_dim(checker *c, ir_dim dim, span at); /* a number where static */
entity entity_tuple(checker *c, uint32_t count, span at);
/* "a tensor", "a number", ... */
const char *entity_describe(const entity *e);
void scope_define(checker *c, const char *name, entity value, span at, const char *fixed);
void scope_define_in(checker *c, name_scope *s, const char *name, entity value, span at,
                     const char *fixed);
void scope_init(name_scope *s);
void scope_release(name_scope *s);
local_name *scope_find(checker *c, const char *name);
/* A weight of the file, Param[...], even where another thing has its name; NULL: there is none. */
local_name *scope_find_weight(checker *c, const char *name);
/* Leaves out the constants of the file. */
local_name *scope_find_own(checker *c, const char *name);
/* The function of that name; ENTITY_NONE: there is none. */
entity scope_function(const checker *c, const char *name, span at);
/* A name of the language's functions. */
bool scope_is_function(const char *name);
entity scope_lookup(checker *c, const char *name, span at);
/* Remembers which name a value first had, for notes. */
void scope_name_value(checker *c, ir_value value, const char *name, span at);
const ir_type_data *tensor_type(const checker *c, const entity *e);
/* "[M, 128] f32", in the checker's memory. */
const char *entity_type_text(checker *c, ir_type type);
/* The same as a source has it: Tensor["M", 128, f32], the element followed by `policies`. */
const char *entity_annotation(checker *c, ir_type type, const char *policies);
/* note: where the tensor comes from, and what it is. */
void note_tensor(checker *c, const entity *e);

/* ---- number.c ---- */
entity number_from_node(checker *c, const node *n, bool integer);
entity number_wide(checker *c, const node *n);
entity number_negate(checker *c, const entity *e);
entity number_combine(checker *c, uint32_t symbol, const entity *a, const entity *b, span at);
double number_value(const entity *e);
/* Bits of the literal, rounded once from its decimal to `type`; false when reported. */
bool number_bits(checker *c, const entity *e, dtype type, uint64_t *bits);

/* ---- emit.c ---- */
/* One operation more, or one call that is written out; false where there are too many. */
bool emit_count(checker *c, span at);
/* Infers, reports what does not fit, builds. 0 when reported. */
ir_op emit_op(checker *c, int opcode, const entity *operands, uint32_t count,
              const ir_named_attr *attrs, uint32_t attr_count, span at);
entity emit_one(checker *c, int opcode, const entity *operands, uint32_t count,
                const ir_named_attr *attrs, uint32_t attr_count, span at);
entity emit_reshape(checker *c, const entity *x, int rank, const ir_dim *dims, span at);
/* NumPy's rule: sizes 1 and missing leading axes repeat. The shapes have been found to fit. */
entity emit_broadcast(checker *c, const entity *x, int rank, const ir_dim *dims, span at);
/* i32: the row-major index of each element of x. */
entity emit_element_index(checker *c, const entity *x, span at);
/* functions/scan.c: x from the last place along an axis to the first. */
entity emit_turned(checker *c, const entity *x, int64_t axis, span at);
/* A literal as a tensor of this type; rank 0. */
entity emit_constant(checker *c, const entity *literal, dtype type, span at);
/* Literals take the tensors' type, shapes are broadcast. A select's condition keeps its own type.
 */
entity emit_elementwise(checker *c, int opcode, entity *operands, uint32_t count,
                        const ir_named_attr *attrs, uint32_t attr_count, span at);
/* A bool: eq, ne, lt, le, gt or ge of x and y, of which one may be a literal. */
entity emit_compare(checker *c, const char *predicate, const entity *x, const entity *y, span at);
/* Writes each operand in the common shape; false when reported. */
bool broadcast_all(checker *c, entity *operands, uint32_t count, span at);

/* ---- policy.c ---- */
/* cast(x, to @ policies); `set` may be NULL. */
entity policy_convert(checker *c, const entity *x, dtype to, const policy_set *set, span at);
/* A parameter with policies; false when reported. */
bool policy_parameter(checker *c, ir_value v, dtype element, const policy_set *set);
/* A value whose annotation has policies, or whose own must stand in it; converts it where they say
 * so. */
bool policy_annotated(checker *c, entity *value, dtype element, const policy_set *set);
/* Applies the operands' policies to an operation: an accumulator, or a refusal. */
bool policy_operands(checker *c, int opcode, const entity *operands, uint32_t count,
                     const ir_named_attr *attrs, uint32_t attr_count, dtype *accumulate, span at);
/* `to` carries what `from` does. */
void policy_hand_on(checker *c, const entity *from, const entity *to);
void policy_report_unused(checker *c);

/* ---- expression.c ---- */
entity check_expression(checker *c, const node *n);
entity check_binary(checker *c, uint32_t symbol, entity *a, entity *b, span at);
entity check_subscript(checker *c, const node *n);

/* ---- schedule.c ---- */
/* schedule(...) or base.with_WORD(...), as a constant of the file or under @; of a function the
 * base gives one whose calls have the schedule. */
bool schedule_is_call(const node *n);
bool schedule_is_function(checker *c, const node *n); /* ... is it of a function? */
entity schedule_read(checker *c, const node *n);
/* A copy that lives as long as the source. */
const compiler_schedule *schedule_keep(compiler_source *s, const entity *e);

/* ---- arguments.c: reading what was given into what is needed ---- */
/* A dimension, a shape (a tuple or one dimension), an axis, axes (int, tuple; None: all). False
 * when reported. */
bool argument_dim(checker *c, const entity *e, ir_dim *out);
bool argument_shape(checker *c, const entity *e, ir_dim *dims, int *rank);
bool argument_int(checker *c, const entity *e, const char *what, int64_t *out);
bool argument_axis(checker *c, const entity *e, int rank, int64_t *out);
bool argument_axes(checker *c, const entity *e, int rank, int64_t *out,
                   int *count); /* in the order given */
bool argument_bool(checker *c, const entity *e, const char *what, bool *out);
bool argument_type(checker *c, const entity *e, dtype *out);
bool argument_tensor(checker *c, const entity *e, const char *what);
bool argument_function(checker *c, const entity *e);

/* ---- calls ---- */
enum { CALL_MAX_ARGUMENTS = 24 };
typedef struct call_arguments {
    const char *function;
    const char *signature; /* "x, axis=None, keepdims=False" */
    span at;
    char names[CALL_MAX_ARGUMENTS][32];
    bool required[CALL_MAX_ARGUMENTS];
    bool keyword_only[CALL_MAX_ARGUMENTS];
    int count;
    entity values[CALL_MAX_ARGUMENTS]; /* ENTITY_NONE where not given */
    bool given[CALL_MAX_ARGUMENTS];
    int weights; /* the last ones: of the file, which the function names without taking them */
} call_arguments;

entity check_call(checker *c, const node *n);
/* Says how a function or method of other languages is written here; NULL: it is none. */
const char *call_instead_of(const char *name);
/* op.NAME: a function of the language or of tessera.stdlib; ENTITY_NONE: it is something else. */
entity call_operation_of(checker *c, const node *n);
/* A call of this function, with its schedule. */
entity call_function(checker *c, const entity *f, const node *n);
/* A call of a function of the language. */
entity check_builtin(checker *c, const node *n);
/* arguments.c: evaluates and places the arguments of the call; false when reported. */
bool bind_arguments(checker *c, const node *call, call_arguments *a);
/* operation.c: builds the operation from bound operands and attributes, defaults filled in. */
entity call_operation(checker *c, int opcode, const char *function, const node *call);
/* The same for operators: x @ y. */
entity call_operator(checker *c, int opcode, const entity *operands, uint32_t count, span at);
/* A written order, well formed, as an attribute; 0 when reported. */
ir_attr operation_tree_order(checker *c, const entity *e);
/* Tells that the opcode can be called by its own name. */
bool operation_is_function(int opcode);
int operation_named(const char *name); /* of functions of the language; -1: none */
/* Its parameters, as Python would write them. */
void operation_signature(int opcode, text *out);

typedef struct special_function {
    const char *name;
    const char *signature; /* parameters; '=' marks optional ones */
    entity (*build)(checker *c, const call_arguments *a);
    const char *summary;
    const char *gives; /* as Python's types say it; NULL: a tensor */
} special_function;
/* The arguments placed by the signature, and the function's build. */
entity call_special(checker *c, const special_function *f, const node *n);
call_arguments *call_bind(checker *c, const special_function *f,
                          const node *n); /* NULL: reported */
extern const special_function special_functions[];
extern const size_t special_function_count;
const special_function *special_function_named(const char *name); /* NULL: there is none */

/* Names that authors know from elsewhere, and what is meant. */
typedef struct function_alias {
    const char *alias, *name;
} function_alias;
extern const function_alias function_aliases[];
extern const size_t function_alias_count;

entity special_sum(checker *c, const call_arguments *a);
entity special_max(checker *c, const call_arguments *a);
entity special_min(checker *c, const call_arguments *a);
entity special_prod(checker *c, const call_arguments *a);
entity special_all(checker *c, const call_arguments *a);
entity special_any(checker *c, const call_arguments *a);
entity special_mean(checker *c, const call_arguments *a);
entity special_logsumexp(checker *c, const call_arguments *a);
entity special_where(checker *c, const call_arguments *a);
entity special_cast(checker *c, const call_arguments *a);
entity special_bitcast(checker *c, const call_arguments *a);
entity special_reshape(checker *c, const call_arguments *a);
entity special_transpose(checker *c, const call_arguments *a);
entity special_broadcast_to(checker *c, const call_arguments *a);
entity special_concat(checker *c, const call_arguments *a);
entity special_stack(checker *c, const call_arguments *a);
entity special_pad(checker *c, const call_arguments *a);
entity special_split(checker *c, const call_arguments *a);
entity special_einsum(checker *c, const call_arguments *a);
entity special_clip(checker *c, const call_arguments *a);
entity special_sign(checker *c, const call_arguments *a);
entity special_isnan(checker *c, const call_arguments *a);
entity special_isfinite(checker *c, const call_arguments *a);
entity special_cumsum(checker *c, const call_arguments *a);
entity special_cumprod(checker *c, const call_arguments *a);
entity special_cummax(checker *c, const call_arguments *a);
entity special_cummin(checker *c, const call_arguments *a);
entity special_argsort(checker *c, const call_arguments *a);
entity special_sort(checker *c, const call_arguments *a);
entity special_topk(checker *c, const call_arguments *a);
entity special_argmax(checker *c, const call_arguments *a);
entity special_argmin(checker *c, const call_arguments *a);
entity special_iota(checker *c, const call_arguments *a);
entity special_arange(checker *c, const call_arguments *a);
entity special_full(checker *c, const call_arguments *a);
entity special_zeros(checker *c, const call_arguments *a);
entity special_ones(checker *c, const call_arguments *a);
entity special_dropout(checker *c, const call_arguments *a);
entity special_uniform(checker *c, const call_arguments *a);
entity special_normal(checker *c, const call_arguments *a);
entity special_bernoulli(checker *c, const call_arguments *a);
entity special_categorical(checker *c, const call_arguments *a);
entity special_fold_in(checker *c, const call_arguments *a);
entity special_scan(checker *c, const call_arguments *a);
entity special_map(checker *c, const call_arguments *a);
entity special_grad(checker *c, const call_arguments *a);
entity special_value_and_grad(checker *c, const call_arguments *a);
entity special_vjp(checker *c, const call_arguments *a);
entity special_jvp(checker *c, const call_arguments *a);
entity special_hvp(checker *c, const call_arguments *a);
entity special_jacfwd(checker *c, const call_arguments *a);
entity special_jacrev(checker *c, const call_arguments *a);
entity special_vmap(checker *c, const call_arguments *a);
entity special_pmap(checker *c, const call_arguments *a);
entity special_checkpoint(checker *c, const call_arguments *a);
entity special_dynamic_slice(checker *c, const call_arguments *a);
entity special_dynamic_update(checker *c, const call_arguments *a);
entity special_scatter(checker *c, const call_arguments *a);
entity special_reduce(checker *c, const call_arguments *a);
/* x // y, or the remainder x % y: one is a tensor of integers, else it is reported. */
entity integer_division(checker *c, bool remainder, const entity *x, const entity *y, span at);
/* Checks that the argument x is a tensor of floats; else it is reported. */
bool takes_floats(checker *c, const call_arguments *a);
entity swap_last_axes(checker *c, const entity *x, span at);

/* ---- statements.c ---- */
void check_statement(checker *c, const node *n);
void check_block(checker *c, const node *block); /* NULL: nothing */
/* The statements before the function's return, which is still to be checked, in the settings of the
 * `with` that it ends; NULL: it has none, which is reported. */
const node *check_until_return(checker *c, const ast_function *f);
/* A value for a name, or several. */
void assign_name(checker *c, const node *target, entity value);

/* ---- control.c: branches and loops on values ---- */
/* A condition whose side is chosen at run time. */
bool control_is_condition(const checker *c, const entity *condition);
void control_if(checker *c, const node *n, const entity *condition);
void control_while(checker *c, const node *n);
/* for i in range(...) of which a bound is a dimension; `bounds`: start, stop and step. */
void control_for(checker *c, const node *n, const entity *bounds);

/* ---- tiles/: kernels made of tiles ---- */
/* Reports a function that kernels of tiles lack; true where this is none. */
bool tiles_refuse_call(checker *c, const char *function, span at);
/* i32: a dimension as a scalar. */
entity tiles_dim_value(checker *c, ir_dim dim, span at);
/* The operation in whose block the statements stand from now on; false when reported. */
bool tiles_begin(checker *c);
/* tiles/call.c: a kernel of tiles that is called, with its arguments. */
entity tiles_called(checker *c, const struct callable *f, call_arguments *a);
/* Names of the results that are stored; and what was stored, false when reported. */
void tiles_define_outputs(checker *c);
bool tiles_stored(checker *c, entity *out);
/* Gives an instance's tiles, each for a result; `out` are the results. False when reported. */
bool tiles_return(checker *c, const entity *values, uint32_t count, ir_value *out);
/* tile.NAME(...), float(...); whether the call is one of these. */
bool tiles_is_call(const checker *c, const node *n);
entity tiles_call(checker *c, const node *n);
entity tiles_load(checker *c, const call_arguments *a);
/* .m, .rows of a context; .start of a block; fields of a record; .shape of memory. */
bool tiles_has_attributes(const entity *e);
entity tiles_attribute(checker *c, const entity *base, const node *n);
void tiles_loop(checker *c, const node *n);

/* ---- functions/transform_try.c ---- */
/* Reports derivatives and batches that cannot be, of a kernel that is written. */
void transforms_try(checker *c);
/* ---- functions/transform_donated.c ---- */
/* Reports derivatives in reverse that need a donated parameter when it is replaced already. */
void transforms_donated(checker *c);

/* ---- promise.c ---- */

/* A call of a function that promises something of its results. */
typedef struct promised_call {
    const struct callable *function;
    uint32_t line;   /* of the call, in the first file */
    ir_module *body; /* its operations alone: what they read is an input */
    size_t observed; /* these, and a bool behind them: true, as there is such a call */
    uint32_t argument_count;
    ir_value *arguments; /* these and the bool, in the end; NULL: a block keeps one of them */
    ir_value *results;   /* of the call; NULL: it stands in a block */
    uint32_t result_count;
} promised_call;
typedef struct promised_calls {
    VEC(promised_call) items;
} promised_calls;

promise_mark promise_begin(const checker *c);
/* Keeps a call whose operations began behind the mark, where the checker is asked for calls. */
void promise_note(checker *c, const struct callable *f, const promise_mark *mark, const entity *e);
/* Finds, behind all blocks, the values that the calls read: the kernel is written. */
void promise_end(checker *c);

/* ---- verify_numerics.c ---- */
bool numerics_is_one(const node *n);
bool verify_steps_is_one(const node *n);
/* @verify.steps("N") of a kernel: the dimension, or NULL when reported. */
const char *verify_steps_read(checker *c, const node *n, const kernel_interface *k);
/* @verify.numerics(...) of a kernel, perhaps one without a formula; false when reported. */
bool numerics_read(checker *c, const node *n, bool contract, compiler_numerics *out);

/* ---- function.c, record.c: functions that kernels call, and records ---- */
entity function_call(checker *c, struct callable *f, const node *n);
/* rules.c: the same of a function with rules of its own, with its arguments; `level` as above. */
bool rules_has_any(const struct callable *f, int level);
entity rules_call(checker *c, struct callable *f, call_arguments *a, int level);
entity record_call(checker *c, struct record_type *r, const node *n);
/* replace(record, field=value): the record with other fields; of a state, the one that is written.
 */
entity record_replace(checker *c, const node *n);
/* record.NAME(...) */
entity record_method(checker *c, const entity *self, const node *n);
entity entity_record(const struct record_type *r, entity *items, span at);
/* Names and required-ness of so many parameters or fields. */
call_arguments *call_arguments_of(checker *c, const char *name, const ast_parameter *parameters,
                                  uint32_t count);
/* ---- state.c ---- */
state_handle *state_new(checker *c, const char *root);
/* Is it one that no other was made of? Else that is reported. */
bool state_usable(checker *c, const entity *e, span at);
/* The one that takes its place; NULL of NULL. */
state_handle *state_write(checker *c, state_handle *old, span at);
/* For the same value where it comes into a block, or out of it. */
state_handle *state_again(checker *c, const state_handle *h);

/* unfold.c: the value that a kernel's parameters make together. */
entity unfold_value(checker *c, const parameter_record *r);
/* A constant expression of a file. */
entity check_constant(checker *c, struct source_module *m, const node *n);
/* The place in the first file that a place is in or is called from. */
span checker_place(const checker *c, span at);
/* The same as a location of operations, with the present setting. */
ir_location checker_location(const checker *c, span at);

/* ---- graph_text.c: a kernel whose formula is Graph IR ---- */
bool graph_text_is_one(const node *n);
/* Reports where it, or the kernel's body, has another form. */
void graph_text_read(const kernel_interface *k, const node *n, diagnostics *d);
/* The module that it holds, with the kernel's names; NULL when reported. Owned by the caller. */
ir_module *graph_text_module(checker *c);

/* ---- contract.c: a kernel without a formula ---- */
void contract_independent_read(compiler_source *s, kernel_interface *k, const node *n,
                               diagnostics *d);
/* A decorator that is about code of ours. */
void contract_refuse_decorator(const node *n, const char *name, diagnostics *d);
/* A value for each result; false when reported. */
bool contract_outputs(checker *c, ir_value *out);
void contract_put_independent(checker *c, ir_op kernel);

/* ---- results.c: `kernel` is the operation that gets them ---- */
/* Takes what a return statement gives. */
void results_returned(checker *c, const node *n, ir_op kernel);
/* Takes what the annotation says: the body is `...`, and no more is known. */
void results_promised(checker *c, ir_op kernel);
/* Checks a body without a return, whose results are stored. */
void results_stored(checker *c, ir_op kernel);

/* ---- checker life, kernel.c ---- */
/* The type of an annotation under the checker's binding; 0 when reported. */
ir_type kernel_annotated_type(checker *c, const annotation *a);
/* A constant of the kernel has its value; false when reported. */
bool kernel_define_constant(checker *c, const ast_parameter *p);
/* cache.K stands for the parameter cache_K. */
void kernel_define_records(checker *c);
/* Checks that the value is what the annotation says; its policies may convert it. */
bool kernel_type_matches(checker *c, entity *value, const annotation *a, const char *what);
void checker_init(checker *c, compiler_source *s, diagnostics *d);
void checker_release(checker *c);
/* Defines the module's constants; problems are reported where `d` has not seen them. */
void checker_define_constants(checker *c);
/* entries.c: in all annotations of a file, puts the values of constants in the place of entries
 * that are made of these. */
void entries_put_constants(checker *c, struct source_module *m);

#endif
