/* codegen.c - LLVM IR to an ELF object or to text, through the C API.
 *
 * No LLVM IR passes run: the IR that arrives is already tiled, vectorised and unrolled, and code
 * generation at level "less" gives it full speed in a few milliseconds. */
#include <llvm-c/Analysis.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "target/llvm/emit.h"

/* LLVM tells a lack of memory to a handler, which only its C++ interface can set. */
void llvm_when_out_of_memory(
    void (*end)(void *data, const char *reason, bool diagnose),
    void *data) __asm__("_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");
void llvm_tell_failed_new(void) __asm__("_ZN4llvm33install_out_of_memory_new_handlerEv");

static void end_without_memory(void *data, const char *reason, bool diagnose) {
    (void)data, (void)reason, (void)diagnose;
    base_out_of_memory(0);
}

static void initialize(void) {
    llvm_when_out_of_memory(end_without_memory, NULL);
    llvm_tell_failed_new();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    /* Loop strength reduction takes half of all compile time for 1 % of a matmul's speed: addresses
     * here are a base, an index and a constant already. Only LLVM's options can turn it off. */
    static const char *const options[] = {"tessera", "-disable-lsr"};
    LLVMParseCommandLineOptions(2, options, NULL);
}

const char *cpu_llvm_version(void) {
    static char version[32];
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    snprintf(version, sizeof version, "%u.%u.%u", major, minor, patch);
    return version;
}

static LLVMTargetMachineRef machine_for(const cpu_request *request, status *st) {
    const cpu_isa *isa = request->isa;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    LLVMTargetRef target;
    char *message = NULL;
    pthread_once(&once, initialize);
    if (LLVMGetTargetFromTriple(isa->triple, &target, &message)) {
        status_set(st, STATUS_UNAVAILABLE, "this LLVM cannot generate code for %s: %s", isa->name,
                   message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    return LLVMCreateTargetMachine(target, isa->triple, isa->cpu, isa->features,
                                   request->unoptimised ? LLVMCodeGenLevelNone
                                                        : LLVMCodeGenLevelLess,
                                   LLVMRelocPIC, LLVMCodeModelDefault);
}

static void open_module(emitter *e, LLVMTargetMachineRef machine) {
    e->context = LLVMContextCreate();
    e->module = LLVMModuleCreateWithNameInContext("tessera", e->context);
    e->b = LLVMCreateBuilderInContext(e->context);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(e->module, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(e->module, e->isa->triple);
    e->i1 = LLVMInt1TypeInContext(e->context);
    e->i8 = LLVMInt8TypeInContext(e->context);
    e->i16 = LLVMInt16TypeInContext(e->context);
    e->i32 = LLVMInt32TypeInContext(e->context);
    e->i64 = LLVMInt64TypeInContext(e->context);
    e->f16 = LLVMHalfTypeInContext(e->context);
    e->f32 = LLVMFloatTypeInContext(e->context);
    e->f64 = LLVMDoubleTypeInContext(e->context);
    e->pointer = LLVMPointerTypeInContext(e->context, 0);
    arena_init(&e->memory);
    e->of = base_calloc(ir_value_count(e->m) + 1, sizeof *e->of);
}

static void close_module(emitter *e) {
    LLVMDisposeBuilder(e->b);
    LLVMDisposeModule(e->module);
    LLVMContextDispose(e->context);
    vec_release(&e->made);
    vec_release(&e->functions);
    arena_release(&e->memory);
    free(e->of);
}

static bool check_module(emitter *e) {
#ifdef NDEBUG
    (void)e;
    return true;
#else
    char *message = NULL;
    bool broken = LLVMVerifyModule(e->module, LLVMReturnStatusAction, &message);
    if (broken)
        status_set(e->st, STATUS_INTERNAL, "LLVM rejects the generated IR: %.400s", message);
    LLVMDisposeMessage(message);
    return !broken;
#endif
}

static bool write_output(emitter *e, LLVMTargetMachineRef machine, cpu_output output, text *out) {
    char *message = NULL;
    LLVMMemoryBufferRef buffer;
    if (output == CPU_OUTPUT_LLVM) {
        message = LLVMPrintModuleToString(e->module);
        text_append(out, message);
        LLVMDisposeMessage(message);
        return true;
    }
    LLVMCodeGenFileType type = output == CPU_OUTPUT_OBJECT ? LLVMObjectFile : LLVMAssemblyFile;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, e->module, type, &message, &buffer)) {
        status_set(e->st, STATUS_INTERNAL, "LLVM could not generate code: %.400s", message);
        LLVMDisposeMessage(message);
        return false;
    }
    text_append_bytes(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return true;
}

bool cpu_emit(const ir_module *tile, const cpu_request *request, text *out, status *st) {
    emitter e = {.m = tile, .isa = request->isa, .plain = request->unoptimised, .st = st};
    LLVMTargetMachineRef machine = machine_for(request, st);
    if (!machine)
        return false;
    open_module(&e, machine);
    code_kernel(&e);
    bool ok = !e.failed && check_module(&e) && write_output(&e, machine, request->output, out);
    close_module(&e);
    LLVMDisposeTargetMachine(machine);
    return ok;
}
