/* machine.c - see machine.h. */
#include "target/llvm/machine.h"

#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "target/llvm_entry.h"

/* ---- LLVM itself ---- */

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
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser(); /* of the waits for memory (simt/emit_kernel.c) */
    /* Loop strength reduction takes half of all compile time for 1 % of a matmul's speed: addresses
     * here are a base, an index and a constant already. AMD's chips: to schedule each block anew,
     * twice, for fewer registers takes up to half of it, and seldom saves any; and so does to ask
     * of each pair of accesses whether they overlap, which moves next to none (docs/gpu-code.md).
     * Only LLVM's options can turn these off. */
    static const char *const options[] = {
        "tessera", "-disable-lsr", "-amdgpu-disable-unclustered-high-rp-reschedule",
        "-amdgpu-disable-clustered-low-occupancy-reschedule", "-amdgpu-use-aa-in-codegen=0"};
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, NULL);
}

const char *llvm_version(void) {
    static char version[32];
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    snprintf(version, sizeof version, "%u.%u.%u", major, minor, patch);
    return version;
}

/* ---- machines ---- */

struct codegen_machine {
    LLVMTargetMachineRef of;
    char *triple, *cpu, *features;
    bool unoptimised;
    codegen_machine *next;
};

enum { KEPT_MOST = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static codegen_machine *kept; /* the last that was given is the first */

static const char *cpu_of(const target_info *isa) {
    return isa->family == FAMILY_SPIRV ? "" : isa->cpu;
}

static bool is_for(const codegen_machine *m, const target_info *isa, bool unoptimised) {
    return m->unoptimised == unoptimised && strcmp(m->triple, isa->triple) == 0 &&
           strcmp(m->cpu, cpu_of(isa)) == 0 && strcmp(m->features, isa->features) == 0;
}

static codegen_machine *take_kept(const target_info *isa, bool unoptimised) {
    pthread_mutex_lock(&lock);
    codegen_machine **at = &kept;
    while (*at && !is_for(*at, isa, unoptimised))
        at = &(*at)->next;
    codegen_machine *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static codegen_machine *make(const target_info *isa, bool unoptimised, status *st) {
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(isa->triple, &target, &message)) {
        status_set(st, STATUS_UNAVAILABLE, "this LLVM cannot generate code for %s: %s", isa->name,
                   message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    codegen_machine *m = base_calloc(1, sizeof *m);
    m->of = LLVMCreateTargetMachine(target, isa->triple, cpu_of(isa), isa->features,
                                    unoptimised ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess,
                                    LLVMRelocPIC, LLVMCodeModelDefault);
    m->triple = base_strdup(isa->triple);
    m->cpu = base_strdup(cpu_of(isa));
    m->features = base_strdup(isa->features);
    m->unoptimised = unoptimised;
    return m;
}

codegen_machine *machine_take(const target_info *isa, bool unoptimised, status *st) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize);
    codegen_machine *found = take_kept(isa, unoptimised);
    return found ? found : make(isa, unoptimised, st);
}

static void machine_free(codegen_machine *m) {
    LLVMDisposeTargetMachine(m->of);
    free(m->triple);
    free(m->cpu);
    free(m->features);
    free(m);
}

/* The oldest make room. */
void machine_give(codegen_machine *machine) {
    pthread_mutex_lock(&lock);
    machine->next = kept;
    kept = machine;
    codegen_machine **end = &kept;
    for (int i = 0; *end && i < KEPT_MOST; i++)
        end = &(*end)->next;
    codegen_machine *old = *end;
    *end = NULL;
    pthread_mutex_unlock(&lock);
    while (old) {
        codegen_machine *next = old->next;
        machine_free(old);
        old = next;
    }
}

LLVMTargetMachineRef machine_of(const codegen_machine *machine) {
    return machine->of;
}
