/* emit.h - Tile IR to LLVM IR: the state shared by the files of this folder, the only ones that see
 * LLVM.
 *
 * A tile of R rows and C columns with layout rows<W> is R * ceil(C / W) LLVM values ("parts"):
 * vectors of W elements. The last one of a row is shorter, the next power of two, as registers have
 * no other lengths and code generation would take long to find that out; lanes past the row's end
 * are any value, and touch no memory. A part of one element is a scalar.
 * Everything is unrolled except tile.for. */
#ifndef TESSERA_TARGET_LLVM_EMIT_H
#define TESSERA_TARGET_LLVM_EMIT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "base/vec.h"
#include "target/target.h"
#include "tile/tile.h"

/* Parts of a number that a division by it needs, in all lanes (cpu/emit_divide.c). */
typedef struct reciprocal {
    LLVMValueRef high, low; /* their sum is 1/y */
    LLVMValueRef minus;     /* -y */
    LLVMValueRef suits;     /* i1: y is in the range where they will do */
} reciprocal;

/* An index less a constant, and a number that certainly divides the rest; 0: that is 0. */
typedef struct index_parts {
    LLVMValueRef rest;
    int64_t multiple, constant;
} index_parts;

typedef struct emitted {
    int64_t rows, columns; /* of the tile; where threads share it, of what each of them holds */
    int64_t tile_rows, tile_columns;
    ir_layout layout;
    int parts; /* in a row */
    int width; /* W */
    dtype element;
    LLVMValueRef *values; /* rows * parts; index: values[0]; memory: values[0] is the address */
    int64_t multiple;     /* index: a number that certainly divides it; 0: it is 0 */
    index_parts parted;   /* ... likewise */
    bool divides;         /* many elements are divided by this one */
    bool pending;         /* of a run that is not emitted yet (simt/emit_run.c) */
    const reciprocal *reciprocal;
} emitted;

/* Value made before the loops around its use: a multiple of a stride that is no number, or where
 * there is none a mask (cpu/emit_memory.c). */
typedef struct made_early {
    LLVMValueRef of;
    int64_t number;
    LLVMValueRef valid; /* as many steps there are; NULL: any */
    LLVMValueRef value;
} made_early;

/* Place of the present thread in a layout: i64, its row and column; NULL: there is only one. Those
 * of its subgroup, where a tile is cut into pieces for them. */
typedef struct thread_place {
    ir_layout layout;
    LLVMValueRef row, column, row_group, column_group;
} thread_place;

/* Code that is being emitted: of the workgroup's threads; the loops to what the thread does that
 * loads beside them; or that. */
typedef enum simt_loading { SIMT_COMPUTES, SIMT_TO_LOADER, SIMT_IN_LOADER } simt_loading;

/* State that only targets with threads have. */
typedef struct thread_code {
    int threads; /* of a workgroup, which compute */
    int loaders; /* ... that a launch has behind them; one of these loads */
    simt_loading loading;
    ir_op phase;
    LLVMValueRef index;  /* the present thread's, i64 */
    LLVMValueRef lane;   /* ... in its subgroup, i32, where there are loaders */
    LLVMValueRef shared; /* the workgroup's memory */
    LLVMValueRef last;   /* of the entry block: what all of the function needs is made before it */
    VEC(thread_place) places;
    VEC(ir_op) sites; /* operations that touch memory or wait, by their number in the code */
    ir_op op;         /* being emitted */
    bool stages; /* the phase has products of a unit that reads the workgroup's memory by itself */
    uint32_t barriers, drop_barrier; /* so many so far; the one that is left out, or 0 */
} thread_code;

/* State of code that checks its accesses: a CPU's by itself, an emulated chip's by the emulator. */
typedef struct bounds_code {
    bool wanted;
    LLVMValueRef frame;     /* of tsr_kernel_bounds */
    LLVMBasicBlockRef done; /* ends the phase */
    VEC(ir_op) sites;
} bounds_code;

/* Fields: what every function that makes code needs, LLVM's types among it, which are made once. */
typedef struct emitter {
    const ir_module *m;
    const target_info *target;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef function;
    LLVMTypeRef i1, i8, i16, i32, i64, f16, f32, f64, pointer;
    emitted *of; /* by Tile IR value */
    arena memory;
    VEC(made_early) made;        /* so far in the present function */
    VEC(LLVMValueRef) functions; /* by the number of a tile.function */
    VEC(LLVMValueRef) phases;    /* by the index of a phase, on CPUs: code that others have, too */
    LLVMValueRef workspace, scratch, prepared, dims;
    const char *kernel;
    status *st;
    bool failed;
    bool toward_zero; /* wrong on purpose: every rounding goes that way */
    bool plain;       /* the processor's instructions as they are, nothing cunning */
    bool streams;     /* the phase has stores that go past the caches */
    thread_code simt;
    bounds_code bounds;
} emitter;

/* ---- types and parts ---- */
LLVMTypeRef code_element(const emitter *e,
                         dtype element); /* in a register: f16, bf16 are i16, bool is i1 */
LLVMTypeRef code_vector(const emitter *e, dtype element, int width); /* width 1: the scalar */
LLVMBasicBlockRef code_block_new(emitter *e, const char *name); /* at the end of the function */
int code_part_width(const emitted *t, int part);                /* lanes */
int code_part_columns(const emitted *t, int part);              /* of them in the tile */
emitted *code_new(emitter *e, ir_value v); /* shape from the value's type, parts to be filled */
const emitted *code_get(const emitter *e, ir_value v);
/* Part (row, part) as seen by a tile of another shape: single rows and columns repeat. */
LLVMValueRef code_part(emitter *e, const emitted *t, int64_t row, int part, int width);
LLVMValueRef code_splat(emitter *e, LLVMValueRef scalar, int width);
LLVMValueRef code_bits(const emitter *e, dtype element, uint64_t bits);
LLVMValueRef code_splat_bits(const emitter *e, dtype element, uint64_t bits, int width);
LLVMValueRef code_int(const emitter *e, LLVMTypeRef type, int64_t value);
/* The greatest common divisor; of 0 and x it is x. */
int64_t code_divisor(int64_t x, int64_t y);
/* Lanes `mask` of x and y; -1 is undefined. */
LLVMValueRef code_shuffle(emitter *e, LLVMValueRef x, LLVMValueRef y, const int *mask, int count);
LLVMValueRef code_intrinsic(emitter *e, const char *name, LLVMTypeRef *types, unsigned type_count,
                            LLVMValueRef *args, unsigned count);

/* ---- operations, by file ---- */
void code_elementwise(emitter *e, ir_op op);
/* One part of a result that has its shape. */
void code_elementwise_part(emitter *e, ir_op op, int64_t row, int part);
/* The operation that a fold or a scan combines two elements by: tile.add and so on. */
int code_combining(const emitter *e, ir_op op);
LLVMValueRef code_binary_value(emitter *e, int opcode, dtype element, LLVMValueRef x,
                               LLVMValueRef y);
/* `saturate`: what overflows becomes the greatest number. */
LLVMValueRef code_convert_value(emitter *e, dtype from, dtype to, int width, LLVMValueRef x,
                                bool saturate);
/* f32 to bf16 by integers. */
LLVMValueRef code_round_bf16(emitter *e, LLVMValueRef x, int width);
/* The low four bits of each byte, sign-extended. */
LLVMValueRef code_wrap_i4(emitter *e, LLVMValueRef x, int width);
LLVMValueRef code_fence(emitter *e, LLVMValueRef x);
/* v[i] lane j and v[j] lane i change places; `width` is a power of two. */
void code_transpose(emitter *e, dtype element, LLVMValueRef *v, int width);
/* The maximum or minimum of two vectors of f32 where neither has a NaN; NULL: there is no
 * shorter way than the one that heeds NaNs. */
LLVMValueRef code_extreme_number(emitter *e, int opcode, LLVMValueRef x, LLVMValueRef y);
/* cpu/emit_divide.c: is it a division of many by one that needs no division each; what it needs of
 * the one, where that is made; and the division. */
bool code_divides_by(const emitter *e, ir_op op);
void code_reciprocal(emitter *e, ir_value divisor);
void code_divide_by(emitter *e, ir_op op);
/* `x` with `width` lanes as a vector of `to` lanes; the others are undefined. And back: its first
 * lanes. */
LLVMValueRef code_extend(emitter *e, LLVMValueRef x, dtype element, int width, int to);
LLVMValueRef code_shrink(emitter *e, LLVMValueRef x, int width, int to);
void code_load(emitter *e, ir_op op);
void code_gather(emitter *e, ir_op op);
void code_prefetch(emitter *e, ir_op op);
void code_load_group(emitter *e, ir_op op);
void code_group(emitter *e, ir_op op);
void code_group_dot(emitter *e, ir_op op);
void code_store(emitter *e, ir_op op);
void code_scan(emitter *e, ir_op op);
/* cpu/emit_bounds.c: checks an access before it is made; the sites, as data. */
void code_check_bounds(emitter *e, ir_op op);
void code_bounds_data(emitter *e);
void code_shape_op(emitter *e, ir_op op); /* constant, broadcast, iota, pad, fold */
/* cpu/emit_phase.c */
void code_phase(emitter *e, ir_op op, const ir_block_data *kernel);
/* cpu/emit_function.c */
void code_function(emitter *e, ir_op op);
void code_call(emitter *e, ir_op op);
/* A new function, of which the builder stands at the beginning. */
void code_open_function(emitter *e, const char *name, LLVMTypeRef type);
void code_block(emitter *e, ir_block block);
void code_op(emitter *e, ir_op op);
void code_kernel(emitter *e);
/* Carried values, indices and memory of a phase: emit_kernel.c. */
void code_set_index(emitter *e, ir_value v, LLVMValueRef value, int64_t multiple);
void code_memory(emitter *e, ir_op op);
void code_affine(emitter *e, ir_op op);
void code_for(emitter *e, ir_op op);
void code_index_op(emitter *e, ir_op op);
void code_attribute(emitter *e, const char *name, const char *value);
LLVMValueRef code_canonical(emitter *e, dtype element, LLVMValueRef x, int width);
LLVMTypeRef code_memory_type(const emitter *e, dtype element);

/* ---- targets with threads: simt/ ---- */
bool simt_is(const emitter *e);
/* The shape of what a thread holds. */
void simt_shape(emitted *t, const ir_type_data *d);
/* An operation that is not element by element; false: it is the same as a CPU's. */
bool simt_code(emitter *e, ir_op op);
/* Emits a run of element-wise operations from this one on, where threads hold many elements, and
 * moves on to the operation behind it, 0 at the end of the block. False where none begins. */
bool simt_run(emitter *e, ir_op *op);
/* Tells whether an fma is made for two elements at once. */
bool simt_pairs(const emitter *e, ir_op fma);
/* Parameters of a kernel: buffers, the workspace, prepared memory, dimensions of a launch or maps
 * (tile/tensor_map.h). Drivers take 1024 at most (target_buffers). */
enum { SIMT_PARAMETERS = 1024 + 64 };
void simt_phase(emitter *e, ir_op op, const ir_block_data *kernel);
/* The code of a launch that begins with the phase; `workgroup`: its number. */
void simt_code_launch(emitter *e, ir_op phase, LLVMValueRef workgroup);
/* A dimension that the launch gives. */
LLVMValueRef simt_dim(const emitter *e, unsigned number);
/* Place of the thread in the layout of a tile. */
thread_place simt_place(emitter *e, const ir_layout *layout);
/* simt/emit_fold.c */
void simt_fold(emitter *e, ir_op op);
/* simt/emit_memory.c */
void simt_load(emitter *e, ir_op op);
void simt_store(emitter *e, ir_op op);
/* One element at an address of the workgroup's memory, by threads for which `when` (NULL: all)
 * holds. */
void simt_put(emitter *e, dtype element, LLVMValueRef at, LLVMValueRef x, LLVMValueRef when);
LLVMValueRef simt_get(emitter *e, dtype element, LLVMValueRef at, LLVMValueRef when);
/* `bytes` from global memory, at once. */
void simt_copy_now(emitter *e, LLVMValueRef to, LLVMValueRef from, int bytes);
/* Opens a block that runs where the condition holds; the one behind it, which it must branch to. */
LLVMBasicBlockRef simt_when(emitter *e, LLVMValueRef condition);
/* simt/emit_mma.c. What a chip's own compiler is told of a loop, at its branch back. */
void simt_note_loop(emitter *e, ir_op loop, LLVMValueRef branch);
/* Is it a factor of a matrix unit's product, of which runs are single values? */
bool simt_is_fragment(const emitted *t);
/* Such a factor by instructions of its own; false: they do not fit. */
bool simt_load_matrices(emitter *e, ir_op op, emitted *t);
void simt_mma(emitter *e, ir_op op);
/* simt/emit_stage.c: a unit that reads the workgroup's memory by itself. */
void simt_mma_stage(emitter *e, ir_op op);
void simt_mma_wait(emitter *e, ir_op op);
bool simt_has_stages(const emitter *e, ir_op op);
/* Lets the unit read what this thread wrote there, once threads have met at a barrier. */
void simt_fence_stages(emitter *e);
/* Checks that an offset in elements is certainly a multiple of so many bytes; else it fails. */
bool simt_is_at_pattern(emitter *e, ir_value offset, int64_t size, int64_t bytes);
/* tile/swizzle.h, of a number of bytes that is not known. */
LLVMValueRef simt_swizzled(emitter *e, LLVMValueRef byte, int64_t pattern);
/* The byte, swizzled, of a thread's place, made before all loops, in a tile that begins at this
 * element offset, and so many bytes on. Parameters: what makes up the byte, the bytes of an
 * element, and the pattern. */
LLVMValueRef simt_byte_of(emitter *e, ir_value offset, LLVMValueRef place, int64_t on, int64_t size,
                          int64_t pattern);
/* simt/emit_mma.c */
void simt_copy(emitter *e, ir_op op);
void simt_copy_commit(emitter *e, ir_op op);
void simt_copy_wait(emitter *e, ir_op op);
/* simt/emit_loader.c: threads behind the workgroup's load or end, and what follows is for the
 * others. */
void simt_begin_loaders(emitter *e, ir_op phase);
/* Is it left out on the way to a loader? */
bool simt_skips(const emitter *e, ir_op op);
void simt_loader(emitter *e, ir_op op);
void simt_slot_claim(emitter *e, ir_op op);
void simt_slot_wait(emitter *e, ir_op op);
void simt_slot_free(emitter *e, ir_op op);
void simt_fetch(emitter *e, ir_op op);
/* simt/emit_kernel.c: what each family of chips has its own names for. */
void simt_open_module(emitter *e);
void simt_barrier(emitter *e);
/* ... of loaders, too. */
void simt_barrier_of_all(emitter *e);
void simt_note_site(emitter *e, LLVMValueRef instruction);
/* 32 bits of the thread of the subgroup whose number differs in `bit`, a power of two. All threads
 * come here. */
LLVMValueRef simt_across(emitter *e, LLVMValueRef x, int bit);
LLVMTypeRef simt_global_pointer(const emitter *e);
/* spirv/translate.c: the module, as it is for PTX, in SPIR-V's words, appended to `out`.
 * STATUS_UNAVAILABLE: something in it has none. */
bool spirv_translate(const emitter *e, text *out);
/* simt/retarget.c: the module becomes one for this machine, whose threads the runtime emulates. */
bool simt_retarget(emitter *e, LLVMTargetMachineRef machine, const char *triple);

#endif
