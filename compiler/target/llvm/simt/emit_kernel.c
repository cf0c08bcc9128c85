/* emit_kernel.c - a phase as a kernel of its own, and what each family of chips has its own names
 * for: the thread's number, the barrier, the workgroup's memory, how a kernel is declared.
 *
 * A kernel takes the buffers, the workspace and the prepared memory, then the dimensions that a
 * launch gives, eight bytes each. A launch has one workgroup of threads for each workgroup of the
 * grid. */
#include <stdio.h>
#include <string.h>

#include "device/emulate/emulated_code.h"
#include "target/llvm/emit.h"
#include "tile/simt/simt.h"
#include "tile/swizzle.h"
#include "tile/tensor_map.h"

/* Numbers of LLVM/IR/CallingConv.h and of the targets' manuals. */
enum { CALL_PTX_KERNEL = 71, CALL_AMDGPU_KERNEL = 91, SPACE_GLOBAL = 1, SPACE_SHARED = 3 };
enum { MAP_ALIGNMENT = 64 };
#define SHARED_MEMORY "workgroup_memory"

/* Tells PTX's names, of which SPIR-V is made, too (llvm/spirv). */
static bool is_ptx(const emitter *e) {
    return e->target->family != FAMILY_ROCM;
}

LLVMTypeRef simt_global_pointer(const emitter *e) {
    return LLVMPointerTypeInContext(e->context, SPACE_GLOBAL);
}

/* ---- places in the source ---- */

/* The number of the operation, and whether the memory is the workgroup's: what the emulator tells
 * with an error. */
void simt_note_site(emitter *e, LLVMValueRef instruction) {
    size_t n = e->simt.sites.count;
    if (!n || e->simt.sites.items[n - 1] != e->simt.op)
        vec_push(&e->simt.sites, e->simt.op);
    unsigned kind = LLVMGetMDKindIDInContext(e->context, "site", 4);
    uint32_t site = (uint32_t)e->simt.sites.count - 1;
    bool stores = LLVMGetInstructionOpcode(instruction) == LLVMStore;
    if (LLVMGetInstructionOpcode(instruction) != LLVMCall) {
        LLVMTypeRef pointer = LLVMTypeOf(LLVMGetOperand(instruction, stores));
        bool shared = LLVMGetPointerAddressSpace(pointer) == SPACE_SHARED;
        site |= (stores ? EMULATED_WRITE : 0) | (shared ? EMULATED_SHARED : 0);
    }
    LLVMMetadataRef number = LLVMValueAsMetadata(LLVMConstInt(e->i32, site, 0));
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, &number, 1);
    LLVMSetMetadata(instruction, kind, LLVMMetadataAsValue(e->context, node));
}

/* ---- the machine ---- */

static LLVMValueRef number_of(emitter *e, const char *ptx, const char *amdgcn) {
    LLVMValueRef x = code_intrinsic(e, is_ptx(e) ? ptx : amdgcn, NULL, 0, NULL, 0);
    return LLVMBuildZExt(e->b, x, e->i64, "");
}

/* AMD's chips do not wait for memory at a barrier: that is an instruction of its own, and LLVM's C
 * interface has no fence for a workgroup. */
static void wait_for_memory(emitter *e) {
    const char *code = e->target->subgroup == 64
                           ? "s_waitcnt vmcnt(0) lgkmcnt(0)"
                           : "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_waitcnt_vscnt null, 0x0";
    const char *clobbers = "~{memory}";
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), NULL, 0, 0);
    LLVMValueRef wait = LLVMGetInlineAsm(type, code, strlen(code), clobbers, strlen(clobbers), 1, 0,
                                         LLVMInlineAsmDialectATT, 0);
    LLVMBuildCall2(e->b, type, wait, NULL, 0, "");
}

/* A barrier of the first so many threads, by another number than that of all. */
static LLVMValueRef barrier_of(emitter *e, int threads) {
    char code[32];
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), NULL, 0, 0);
    snprintf(code, sizeof code, "bar.sync 1, %d;", threads);
    LLVMValueRef callee = LLVMGetInlineAsm(type, code, strlen(code), "~{memory}", 10, 1, 0,
                                           LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(e->b, type, callee, NULL, 0, "");
}

void simt_barrier_of_all(emitter *e) {
    if (++e->simt.barriers != e->simt.drop_barrier)
        simt_note_site(e,
                       code_intrinsic(e, is_ptx(e) ? "llvm.nvvm.barrier0" : "llvm.amdgcn.s.barrier",
                                      NULL, 0, NULL, 0));
}

void simt_barrier(emitter *e) {
    if (e->simt.barriers + 1 != e->simt.drop_barrier && !is_ptx(e))
        wait_for_memory(e);
    if (e->simt.barriers + 1 != e->simt.drop_barrier && e->simt.stages)
        simt_fence_stages(e);
    if (!e->simt.loaders)
        simt_barrier_of_all(e);
    else if (++e->simt.barriers != e->simt.drop_barrier)
        simt_note_site(e, barrier_of(e, e->simt.threads));
}

enum { LANES = 31 };

/* Within 32 lanes by a pattern of bits that stay, and change; else from a lane, as its first byte.
 */
static LLVMValueRef across_wavefront(emitter *e, LLVMValueRef x, int bit) {
    enum { XOR = 10, WORD = 4 };
    if (bit <= LANES) {
        LLVMValueRef args[] = {x, code_int(e, e->i32, bit << XOR | LANES)};
        return code_intrinsic(e, "llvm.amdgcn.ds.swizzle", NULL, 0, args, 2);
    }
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMPositionBuilderBefore(e->b, e->simt.last);
    LLVMValueRef lane = LLVMBuildTrunc(e->b, e->simt.index, e->i32, "");
    lane = LLVMBuildXor(e->b, lane, code_int(e, e->i32, bit), "");
    LLVMValueRef args[] = {LLVMBuildMul(e->b, lane, code_int(e, e->i32, WORD), ""), x};
    LLVMPositionBuilderAtEnd(e->b, here);
    return code_intrinsic(e, "llvm.amdgcn.ds.bpermute", NULL, 0, args, 2);
}

LLVMValueRef simt_across(emitter *e, LLVMValueRef x, int bit) {
    enum { ALL = -1 };
    LLVMValueRef ptx[] = {code_int(e, e->i32, ALL), x, code_int(e, e->i32, bit),
                          code_int(e, e->i32, LANES)};
    LLVMValueRef across = is_ptx(e)
                              ? code_intrinsic(e, "llvm.nvvm.shfl.sync.bfly.i32", NULL, 0, ptx, 4)
                              : across_wavefront(e, x, bit);
    simt_note_site(e, across);
    return across;
}

/* An array without a size: how much a workgroup has is the launch's. */
static LLVMValueRef shared_memory(emitter *e) {
    LLVMValueRef memory = LLVMGetNamedGlobal(e->module, SHARED_MEMORY);
    if (!memory) {
        int64_t bytes = ir_op_int(e->m, ir_module_kernel(e->m), "scratch_bytes", 0);
        memory = LLVMAddGlobalInAddressSpace(e->module,
                                             LLVMArrayType2(e->i8, is_ptx(e) ? 0 : (uint64_t)bytes),
                                             SHARED_MEMORY, SPACE_SHARED);
        bool stages = simt_has_stages(e, ir_module_kernel(e->m));
        LLVMSetAlignment(memory, stages ? SWIZZLE_ALIGNMENT : 16);
        if (!is_ptx(e)) {
            LLVMSetLinkage(memory, LLVMInternalLinkage);
            LLVMSetInitializer(memory, LLVMGetUndef(LLVMArrayType2(e->i8, (uint64_t)bytes)));
        }
    }
    return LLVMBuildFreeze(e->b, memory, ""); /* no constant, so that all uses have one name */
}

static LLVMMetadataRef as_metadata(emitter *e, int64_t number) {
    return LLVMValueAsMetadata(code_int(e, e->i32, number));
}

/* Threads of a unit that may each have all the registers that an instruction can name. */
enum { ALL_REGISTERS = 256 };

static void annotate(emitter *e, const char *key, int64_t value) {
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(e->function),
                               LLVMMDStringInContext2(e->context, key, strlen(key)),
                               as_metadata(e, value)};
    LLVMAddNamedMetadataOperand(
        e->module, "nvvm.annotations",
        LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, parts, 3)));
}

/* Threads of a workgroup decide how many registers each can have. Of a small grid a unit gets few
 * workgroups: the driver's compiler would save registers for more, and hold back loads that could
 * be under way. Where a unit holds one workgroup or two, a thread may have all registers that there
 * are. */
static void annotate_ptx(emitter *e, int64_t grid) {
    const chip_unit *unit = target_unit_of(e->target);
    int64_t units = e->target->compute_units, of_unit = units ? (grid + units - 1) / units : 0;
    annotate(e, "kernel", 1);
    int threads = e->simt.threads + e->simt.loaders;
    annotate(e, "maxntidx", threads);
    int64_t most = threads < ALL_REGISTERS ? ALL_REGISTERS / threads : 1;
    if (unit && of_unit > 0 && of_unit * threads <= unit->threads / 2)
        annotate(e, "minctasm", of_unit < most ? of_unit : most);
}

/* Without these every kernel would ask for what the driver may know. */
static void annotate_rocm(emitter *e) {
    static const char *const unused[] = {
        "dispatch-ptr",      "queue-ptr",      "dispatch-id",        "implicitarg-ptr",
        "workgroup-id-y",    "workgroup-id-z", "workitem-id-y",      "workitem-id-z",
        "heap-ptr",          "hostcall-ptr",   "multigrid-sync-arg", "default-queue",
        "completion-action", "lds-kernel-id"};
    char words[48];
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
        snprintf(words, sizeof words, "amdgpu-no-%s", unused[i]);
        code_attribute(e, words, "");
    }
    snprintf(words, sizeof words, "%d,%d", e->simt.threads, e->simt.threads);
    code_attribute(e, "amdgpu-flat-work-group-size", words);
    code_attribute(e, "amdgpu-implicitarg-num-bytes", "0");
    code_attribute(e, "uniform-work-group-size", "true");
}

void simt_open_module(emitter *e) {
    static const char key[] = "amdhsa_code_object_version";
    enum { CODE_OBJECT_VERSION = 500 };
    e->simt.threads = (int)ir_op_int(e->m, ir_module_kernel(e->m), "threads", SIMT_THREADS);
    e->simt.loaders = tile_loaders(e->m);
    if (!is_ptx(e))
        LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorError, key, sizeof key - 1,
                          as_metadata(e, CODE_OBJECT_VERSION));
}

/* ---- phases ---- */

/* Names of the dimensions that a launch gives. */
static unsigned dims_of_launch(const emitter *e) {
    ir_attr dims = ir_op_attr(e->m, ir_module_kernel(e->m), "dims");
    return dims ? ir_attr_get(e->m, dims)->count : 0;
}

/* A map is a parameter by value, whose address the instructions take: nothing copies it. */
static void annotate_maps(emitter *e, unsigned first, unsigned count) {
    LLVMTypeRef bytes = LLVMArrayType2(e->i8, TENSOR_MAP_BYTES);
    unsigned by_value = LLVMGetEnumAttributeKindForName("byval", 5),
             align = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMMetadataRef numbers[TENSOR_MAPS_MOST];
    for (unsigned i = 0; i < count; i++) {
        LLVMAddAttributeAtIndex(e->function, first + i + 1,
                                LLVMCreateTypeAttribute(e->context, by_value, bytes));
        LLVMAddAttributeAtIndex(e->function, first + i + 1,
                                LLVMCreateEnumAttribute(e->context, align, MAP_ALIGNMENT));
        numbers[i] = as_metadata(e, first + i + 1);
    }
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(e->function),
                               LLVMMDStringInContext2(e->context, "grid_constant", 13),
                               LLVMMDNodeInContext2(e->context, numbers, count)};
    if (count)
        LLVMAddNamedMetadataOperand(
            e->module, "nvvm.annotations",
            LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, parts, 3)));
}

static void open_kernel(emitter *e, const char *name, unsigned buffers, int64_t grid) {
    LLVMTypeRef parameters[SIMT_PARAMETERS];
    tensor_map list[TENSOR_MAPS_MOST];
    unsigned maps = tensor_map_list(e->m, e->simt.phase, list), dims = dims_of_launch(e),
             count = buffers + 2 + dims + maps;
    for (unsigned i = 0; i < count; i++)
        parameters[i] = i < buffers + 2          ? simt_global_pointer(e)
                        : i < buffers + 2 + dims ? e->i64
                                                 : e->pointer;
    e->function = LLVMAddFunction(
        e->module, name, LLVMFunctionType(LLVMVoidTypeInContext(e->context), parameters, count, 0));
    e->made.count = 0;
    e->simt.places.count = 0;
    LLVMSetFunctionCallConv(e->function, is_ptx(e) ? CALL_PTX_KERNEL : CALL_AMDGPU_KERNEL);
    annotate_maps(e, count - maps, maps);
    if (is_ptx(e))
        annotate_ptx(e, grid);
    else
        annotate_rocm(e);
    LLVMPositionBuilderAtEnd(e->b, code_block_new(e, "entry"));
}

LLVMValueRef simt_dim(const emitter *e, unsigned number) {
    return LLVMGetParam(e->function, ir_kernel_body(e->m)->argument_count + 2 + number);
}

static void set_phase_memory(emitter *e, const ir_block_data *kernel) {
    unsigned buffers = kernel->argument_count;
    e->workspace = LLVMGetParam(e->function, buffers);
    e->prepared = LLVMGetParam(e->function, buffers + 1);
    e->scratch = e->simt.shared = shared_memory(e);
    for (uint32_t i = 0; i < buffers; i++)
        code_set_index(e, kernel->arguments[i], LLVMGetParam(e->function, i), 1);
    for (ir_op op = kernel->first; op; op = ir_op_get(e->m, op)->next)
        if (ir_op_get(e->m, op)->opcode == TILE_WORKSPACE ||
            ir_op_get(e->m, op)->opcode == TILE_PREPARED)
            code_memory(e, op);
}

void simt_phase(emitter *e, ir_op op, const ir_block_data *kernel) {
    char name[512];
    if (ir_op_attr(e->m, op, "launch")) /* the first phase of it has the kernel of all */
        return;
    snprintf(name, sizeof name, "%s_phase_%lld", e->kernel,
             (long long)ir_op_int(e->m, op, "index", 0));
    e->simt.stages = simt_has_stages(e, op);
    e->simt.phase = op;
    open_kernel(e, name, kernel->argument_count, simt_launch_grid(e->m, op));
    set_phase_memory(e, kernel);
    e->simt.index = number_of(e, "llvm.nvvm.read.ptx.sreg.tid.x", "llvm.amdgcn.workitem.id.x");
    LLVMValueRef workgroup =
        number_of(e, "llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.amdgcn.workgroup.id.x");
    code_set_index(e, ir_block_get(e->m, ir_op_block(e->m, op, 0))->arguments[0], workgroup, 1);
    if (e->simt.loaders) {
        LLVMValueRef thread = LLVMBuildTrunc(e->b, e->simt.index, e->i32, "");
        e->simt.lane = LLVMBuildAnd(e->b, thread, code_int(e, e->i32, e->target->subgroup - 1), "");
    }
    LLVMBasicBlockRef body = code_block_new(e, "body");
    e->simt.last = LLVMBuildBr(e->b, body);
    LLVMPositionBuilderAtEnd(e->b, body);
    if (e->simt.loaders)
        simt_begin_loaders(e, op);
    simt_code_launch(e, op, workgroup);
    LLVMBuildRetVoid(e->b);
}
