/* codegen.c - LLVM IR to an ELF object or to text, through the C API.
 *
 * No LLVM IR passes run: the IR that arrives is already tiled, vectorised and unrolled, and code
 * generation at level "less" gives it full speed in a few milliseconds. */
#include <llvm-c/Analysis.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "device/emulate/emulated_code.h"
#include "target/llvm/emit.h"
#include "target/llvm/hsaco.h"
#include "target/llvm/machine.h"
#include "target/llvm_entry.h"

static void open_module(emitter *e, LLVMTargetMachineRef machine) {
    e->context = LLVMContextCreate();
    e->module = LLVMModuleCreateWithNameInContext("tessera", e->context);
    e->b = LLVMCreateBuilderInContext(e->context);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(e->module, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(e->module, e->target->triple);
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
    vec_release(&e->phases);
    vec_release(&e->simt.places);
    vec_release(&e->simt.sites);
    vec_release(&e->bounds.sites);
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

static bool write_output(emitter *e, LLVMTargetMachineRef machine, emit_output output, text *out) {
    char *message = NULL;
    LLVMMemoryBufferRef buffer;
    if (output == EMIT_LLVM) {
        message = LLVMPrintModuleToString(e->module);
        text_append(out, message);
        LLVMDisposeMessage(message);
        return true;
    }
    if (e->target->family == FAMILY_SPIRV)
        return output == EMIT_OBJECT
                   ? spirv_translate(e, out)
                   : status_set(e->st, STATUS_UNAVAILABLE,
                                "SPIR-V has no assembly here; spirv-dis shows it");
    bool object = output == EMIT_OBJECT && (e->target->family != FAMILY_PTX || e->target->emulated);
    LLVMCodeGenFileType type = object ? LLVMObjectFile : LLVMAssemblyFile;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, e->module, type, &message, &buffer)) {
        status_set(e->st, STATUS_INTERNAL, "LLVM could not generate code: %.400s", message);
        LLVMDisposeMessage(message);
        return false;
    }
    text_append_bytes(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return true;
}

static bool exchange(codegen_machine **machine, codegen_machine *other) {
    if (!other)
        return false;
    machine_give(*machine);
    *machine = other;
    return true;
}

/* Threads of a chip that this machine emulates: its code for the chip first, then ours of that. */
static bool retarget(emitter *e, codegen_machine **machine) {
    const target_info *host = target_of_emulation();
    if (!host)
        return status_set(
            e->st, STATUS_UNAVAILABLE,
            "threads are emulated on x86-64-v3 and aarch64, which this machine is not");
    return exchange(machine, machine_take(host, true, e->st)) &&
           simt_retarget(e, machine_of(*machine), host->triple);
}

/* LLVM's warning of limit_frames. Its errors are that there are too few registers. */
static void note_large_frame(LLVMDiagnosticInfoRef info, void *large) {
    const LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity == LLVMDSWarning || severity == LLVMDSError)
        *(bool *)large = true;
}

static void limit_frames(LLVMModuleRef module) {
    char most[16];
    snprintf(most, sizeof most, "%d", EMULATED_FRAME_MOST);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddTargetDependentFunctionAttr(f, "warn-stack-size", most);
}

/* Most of an emulation's time went to make code better that runs a few times. Plain code keeps more
 * on the stack: where a thread's has no room for that, better code is made after all. */
static bool write_emulated(emitter *e, codegen_machine **machine, emit_output output, text *out) {
    bool large = false;
    limit_frames(e->module);
    LLVMModuleRef again = LLVMCloneModule(e->module);
    LLVMContextSetDiagnosticHandler(e->context, note_large_frame, &large);
    bool ok = write_output(e, machine_of(*machine), output, out);
    if (ok && large) {
        LLVMDisposeModule(e->module);
        e->module = again;
        again = NULL;
        large = false;
        text_clear(out);
        ok = exchange(machine, machine_take(target_of_emulation(), false, e->st)) &&
             write_output(e, machine_of(*machine), output, out);
    }
    if (again)
        LLVMDisposeModule(again);
    return ok && (!large || status_set(e->st, STATUS_UNAVAILABLE,
                                       "threads of the emulator have no room for the code of %s: "
                                       "it keeps more than %d bytes on the stack; use smaller "
                                       "tiles, or more threads",
                                       e->kernel, EMULATED_FRAME_MOST));
}

/* An object for AMD's chips becomes what their driver loads. */
static bool link_output(const emitter *e, text *code) {
    text linked;
    text_init(&linked);
    bool ok = hsaco_link(code->data, code->length, &linked, e->st) ||
              status_set(e->st, e->st->code, "code for %s cannot be linked", e->target->name);
    text_release(code);
    *code = linked;
    return ok;
}

static bool is_linked(const emit_request *request) {
    const target_info *t = request->target;
    return request->output == EMIT_OBJECT && t->family == FAMILY_ROCM && !t->emulated;
}

bool llvm_emit(const ir_module *tile, const emit_request *request, text *out, status *st) {
    emitter e = {.m = tile, .target = request->target, .plain = request->unoptimised, .st = st};
    e.bounds.wanted = request->check_bounds;
    codegen_machine *machine = machine_take(e.target, e.plain, st);
    if (!machine)
        return false;
    open_module(&e, machine_of(machine));
    if (simt_is(&e))
        simt_open_module(&e);
    e.simt.drop_barrier = request->drop_barrier;
    e.simt.barriers = request->barriers ? *request->barriers : 0;
    code_kernel(&e);
    if (request->barriers)
        *request->barriers = e.simt.barriers;
    bool ok = !e.failed && check_module(&e);
    if (ok && e.target->emulated)
        ok = retarget(&e, &machine) && check_module(&e);
    text code;
    text_init(&code);
    ok = ok &&
         (e.target->emulated ? write_emulated(&e, &machine, request->output, &code)
                             : write_output(&e, machine_of(machine), request->output, &code)) &&
         (!is_linked(request) || link_output(&e, &code));
    if (ok)
        text_append_bytes(out, code.data, code.length);
    text_release(&code);
    close_module(&e);
    machine_give(machine);
    return ok;
}
