/* retarget.c - code of a chip becomes code of this machine: the very LLVM IR that goes to the
 * chip's code generator, with other names for what only the chip has.
 *
 * The text of the module is read line by line: address spaces go, the thread's number and the
 * barrier become what the emulator gives (device/emulate/emulated_code.h). Then each load and
 * store, which carries its number as metadata, tells the emulator before it happens. */
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/emulate/emulated_code.h"
#include "target/llvm/simt/retarget.h"
#include "tile/mma.h"
#include "tile/tensor_map.h"

/* ---- the text ---- */

/* Beginning of a function: pointers into the thread, and the hooks. */
static const char prologue[] = "  %emulated.shared = getelementptr i8, ptr %emulated, i64 40\n"
                               "  %emulated.workgroup = getelementptr i8, ptr %emulated, i64 48\n"
                               "  %emulated.thread = getelementptr i8, ptr %emulated, i64 56\n"
                               "  %emulated.hooks = load ptr, ptr %emulated\n"
                               "  %emulated.access = load ptr, ptr %emulated.hooks\n"
                               "  %emulated.second = getelementptr i8, ptr %emulated.hooks, i64 8\n"
                               "  %emulated.barrier = load ptr, ptr %emulated.second\n";

static const struct {
    const char *of, *becomes;
} renames[] = {
    {" addrspace(1)", ""},
    {" addrspace(3)", ""},
    {"freeze ptr @workgroup_memory", "load ptr, ptr %emulated.shared"},
    {"call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "load i32, ptr %emulated.thread"},
    {"call i32 @llvm.amdgcn.workitem.id.x()", "load i32, ptr %emulated.thread"},
    {"call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()", "load i32, ptr %emulated.workgroup"},
    {"call i32 @llvm.amdgcn.workgroup.id.x()", "load i32, ptr %emulated.workgroup"},
    {"call void @llvm.nvvm.barrier0()", "call void %emulated.barrier(ptr %emulated, i32 0)"},
    {"call void @llvm.amdgcn.s.barrier()", "call void %emulated.barrier(ptr %emulated, i32 0)"},
    {"@llvm.nvvm.mma.", "@" RETARGETED "mma."},
    {"@llvm.amdgcn.mfma.", "@" RETARGETED "mfma."},
    {"@llvm.amdgcn.wmma.", "@" RETARGETED "wmma."},
    {"@llvm.nvvm.shfl.sync.", "@" RETARGETED "shfl."},
    {"@llvm.amdgcn.ds.swizzle", "@" RETARGETED "swizzle"},
    {"@llvm.amdgcn.ds.bpermute", "@" RETARGETED "bpermute"},
    {"@llvm.nvvm.ldmatrix.", "@" RETARGETED "ldmatrix."},
    {"@llvm.nvvm.cp.async.", "@" RETARGETED "cp.async."},
    {"@llvm.nvvm.ex2.", "@" RETARGETED "exp2."},
    {"@llvm.nvvm.f2bf16.rn", "@" RETARGETED "bf16"},
    {"@llvm.amdgcn.exp2.", "@" RETARGETED "exp2."},
    {" immarg", ""}, /* which only intrinsics have */
    {" byval([128 x i8]) align 64", ""},
};

/* Lines that say something to the chip's code generator alone. */
static const char *const dropped[] = {
    "target ",
    "@workgroup_memory",
    "declare i32 @llvm.nvvm.read",
    "!nvvm.",
    "declare void @llvm.nvvm.barrier0",
    "declare noundef i32 @llvm.nvvm",
    "declare i32 @llvm.amdgcn.work",
    "declare noundef i32 @llvm.amdgcn.work",
    "declare void @llvm.amdgcn",
    "  call void asm sideeffect \"s_waitcnt",
    "!llvm.module.flags",
};

static bool is_dropped(const char *line) {
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (strncmp(line, dropped[i], strlen(dropped[i])) == 0)
            return true;
    return *line == '!' && strstr(line, " = !{ptr @"); /* notes on kernels */
}

static void rename_line(text *line) {
    for (size_t i = 0; i < sizeof renames / sizeof *renames; i++) {
        size_t length = strlen(renames[i].of);
        char *at;
        while ((at = strstr(line->data, renames[i].of))) {
            text changed;
            text_init(&changed);
            text_append_bytes(&changed, line->data, (size_t)(at - line->data));
            text_append(&changed, renames[i].becomes);
            text_append(&changed, at + length);
            text_release(line);
            *line = changed;
        }
    }
}

/* "define ptx_kernel void @name(...": the function of one thread, which a kernel's own name calls.
 */
static bool retarget_definition(const char *line, text *out) {
    static const char *const kinds[] = {"define ptx_kernel void @", "define amdgpu_kernel void @"};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(kinds[i]);
        const char *parameters = strchr(line, '(');
        if (strncmp(line, kinds[i], length) != 0 || !parameters)
            continue;
        text_append(out, "define internal void @");
        text_append_bytes(out, line + length, (size_t)(parameters - line) - length);
        text_append(out, ".thread(ptr %emulated, ");
        text_append(out, parameters + 1);
        return true;
    }
    return false;
}

static void retarget_line(const char *begin, size_t length, text *out) {
    text line;
    text_init(&line);
    text_append_bytes(&line, begin, length);
    if (!is_dropped(line.data)) {
        rename_line(&line);
        if (!retarget_definition(line.data, out))
            text_append(out, line.data);
        text_append_char(out, '\n');
        if (strcmp(line.data, "entry:") == 0)
            text_append(out, prologue);
    }
    text_release(&line);
}

static void retarget_text(const char *source, text *out) {
    while (*source) {
        size_t length = strcspn(source, "\n");
        retarget_line(source, length, out);
        source += length + (source[length] == '\n');
    }
}

/* ---- the accesses ---- */

typedef struct hooks {
    LLVMValueRef thread, access;
    LLVMTypeRef access_type;
} hooks;

static LLVMValueRef named_value(LLVMValueRef function, const char *name) {
    LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    for (; i; i = LLVMGetNextInstruction(i)) {
        size_t length;
        if (strcmp(LLVMGetValueName2(i, &length), name) == 0)
            return i;
    }
    return NULL;
}

static void tell_access(emitter *e, const hooks *h, LLVMValueRef i, LLVMValueRef site,
                        LLVMTargetDataRef layout) {
    bool stores = LLVMGetInstructionOpcode(i) == LLVMStore;
    LLVMTypeRef type = LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i);
    LLVMValueRef args[] = {h->thread, LLVMGetOperand(i, stores),
                           code_int(e, e->i32, (int64_t)LLVMABISizeOfType(layout, type)), site};
    LLVMPositionBuilderBefore(e->b, i);
    LLVMBuildCall2(e->b, h->access_type, h->access, args, 4, "");
}

/* The function that a call names, or the assembly that it is; "": it is none. */
static const char *called(LLVMValueRef i) {
    size_t length;
    if (!LLVMIsACallInst(i))
        return "";
    LLVMValueRef callee = LLVMGetCalledValue(i);
    return LLVMIsAInlineAsm(callee) ? LLVMGetInlineAsmAsmString(callee, &length)
                                    : LLVMGetValueName2(callee, &length);
}

static bool is_retargeted(LLVMValueRef i) {
    if (LLVMIsACallInst(i) && LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
        return true;
    return strncmp(called(i), RETARGETED, strlen(RETARGETED)) == 0 &&
           LLVMIsAFunction(LLVMGetCalledValue(i));
}

/* Makes calls those of hooks; the function's calls of those first, since hooks have no names. */
static bool replace_calls(emitter *e, LLVMValueRef function, LLVMTargetDataRef layout) {
    unsigned kind = LLVMGetMDKindIDInContext(e->context, "site", 4);
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
    for (; block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
            LLVMValueRef node = LLVMGetMetadata(i, kind);
            retargeted_call c = {.call = i,
                                 .function = function,
                                 .thread = LLVMGetParam(function, 0),
                                 .name = called(i),
                                 .layout = layout};
            next = LLVMGetNextInstruction(i);
            if (!is_retargeted(i))
                continue;
            if (node)
                LLVMGetMDNodeOperands(node, &c.site);
            if (!retarget_call(e, &c))
                return status_set(e->st, STATUS_INTERNAL, "no hook of the emulator is '%s'",
                                  c.name);
            LLVMInstructionEraseFromParent(i);
        }
    return true;
}

/* Their declarations, which nothing calls any more. */
static void drop_declarations(emitter *e) {
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module), next; f; f = next) {
        size_t length;
        next = LLVMGetNextFunction(f);
        if (strncmp(LLVMGetValueName2(f, &length), RETARGETED, strlen(RETARGETED)) == 0)
            LLVMDeleteFunction(f);
    }
}

static void tell_accesses(emitter *e, LLVMValueRef function, LLVMTargetDataRef layout) {
    unsigned kind = LLVMGetMDKindIDInContext(e->context, "site", 4);
    LLVMTypeRef types[] = {e->pointer, e->pointer, e->i32, e->i32};
    const hooks h = {.thread = LLVMGetParam(function, 0),
                     .access = named_value(function, "emulated.access"),
                     .access_type =
                         LLVMFunctionType(LLVMVoidTypeInContext(e->context), types, 4, 0)};
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
    for (; block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef node = LLVMGetMetadata(i, kind), site;
            if (!node)
                continue;
            LLVMGetMDNodeOperands(node, &site);
            if (LLVMGetInstructionOpcode(i) == LLVMCall)
                LLVMSetOperand(i, 1, site);
            else
                tell_access(e, &h, i, site, layout);
        }
}

/* ---- what the emulator calls and reads ---- */

static LLVMValueRef field(emitter *e, LLVMValueRef thread, size_t offset) {
    LLVMValueRef at = code_int(e, e->i64, (int64_t)offset);
    return LLVMBuildLoad2(e->b, e->pointer, LLVMBuildGEP2(e->b, e->i8, thread, &at, 1, ""), "");
}

static LLVMValueRef numbers(emitter *e, const int64_t *list, uint32_t count) {
    LLVMValueRef values[TENSOR_MAP_RANK];
    for (uint32_t i = 0; i < TENSOR_MAP_RANK; i++)
        values[i] = code_int(e, e->i64, i < count ? list[i] : 1);
    return LLVMConstArray2(e->i64, values, TENSOR_MAP_RANK);
}

/* A map as the emulator has it: an emulated_map. */
static LLVMValueRef map_data(emitter *e, const tensor_map *map) {
    LLVMValueRef fields[] = {
        code_int(e, e->i32, map->argument), code_int(e, e->i32, (int64_t)dtype_size(map->element)),
        code_int(e, e->i32, map->rank),     code_int(e, e->i32, 0),
        numbers(e, map->dims, map->rank),   numbers(e, map->strides, map->rank),
        numbers(e, map->box, map->rank)};
    LLVMValueRef value = LLVMConstStructInContext(e->context, fields, 7, 0),
                 data = LLVMAddGlobal(e->module, LLVMTypeOf(value), "emulated.map");
    LLVMSetInitializer(data, value);
    LLVMSetGlobalConstant(data, 1);
    LLVMSetLinkage(data, LLVMPrivateLinkage);
    return data;
}

/* Maps of the phase of this name, which are its last arguments. */
static unsigned put_maps(emitter *e, const char *name, LLVMValueRef *args, unsigned count) {
    tensor_map maps[TENSOR_MAPS_MOST];
    const int64_t index = strtoll(strrchr(name, '_') + 1, NULL, 10);
    ir_op op = ir_kernel_body(e->m)->first;
    while (op &&
           (ir_op_get(e->m, op)->opcode != TILE_PHASE || ir_op_int(e->m, op, "index", 0) != index))
        op = ir_op_get(e->m, op)->next;
    unsigned found = op ? tensor_map_list(e->m, op, maps) : 0;
    for (unsigned i = 0; i < found; i++)
        args[count - found + i] = map_data(e, &maps[i]);
    return count - found;
}

/* void kernel_phase_0(emulated_thread *t): the arguments that a launch of the chip would be given.
 */
static void write_entry(emitter *e, LLVMValueRef function, const char *name, size_t length) {
    LLVMValueRef args[SIMT_PARAMETERS + 1];
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), &e->pointer, 1, 0);
    char entry[512];
    snprintf(entry, sizeof entry, "%.*s", (int)length, name);
    e->function = LLVMAddFunction(e->module, entry, type);
    LLVMPositionBuilderAtEnd(e->b, code_block_new(e, "entry"));
    LLVMValueRef thread = LLVMGetParam(e->function, 0),
                 buffers = field(e, thread, offsetof(emulated_thread, buffers)),
                 dims = field(e, thread, offsetof(emulated_thread, dims));
    const unsigned all = LLVMCountParams(function), count = put_maps(e, entry, args, all);
    unsigned behind = count; /* the last address */
    while (LLVMTypeOf(LLVMGetParam(function, behind - 1)) == e->i64)
        behind--;
    args[0] = thread;
    for (unsigned i = 1; i + 2 < behind; i++)
        args[i] = field(e, buffers, (i - 1) * sizeof(void *));
    args[behind - 2] = field(e, thread, offsetof(emulated_thread, workspace));
    args[behind - 1] = field(e, thread, offsetof(emulated_thread, prepared));
    for (unsigned i = behind; i < count; i++) {
        LLVMValueRef at = code_int(e, e->i64, (int64_t)((i - behind) * sizeof(int64_t)));
        at = LLVMBuildGEP2(e->b, e->i8, dims, &at, 1, "");
        args[i] = LLVMBuildLoad2(e->b, e->i64, at, "");
    }
    LLVMBuildCall2(e->b, LLVMGlobalGetValueType(function), function, args, all, "");
    LLVMBuildRetVoid(e->b);
}

static void add_data(emitter *e, const char *name, LLVMValueRef value) {
    LLVMValueRef data = LLVMAddGlobal(e->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(data, value);
    LLVMSetGlobalConstant(data, 1);
}

static LLVMValueRef site_of(emitter *e, ir_op op, text *names) {
    const ir_op_data *d = ir_op_get(e->m, op);
    int64_t numbers[] = {d->location.line, d->location.column, d->location.column,
                         (int64_t)names->length};
    LLVMValueRef fields[4];
    for (int i = 0; i < 4; i++)
        fields[i] = code_int(e, e->i32, numbers[i]);
    text_append(names, op_info_get(d->opcode)->name);
    text_append_bytes(names, "", 1);
    return LLVMConstStructInContext(e->context, fields, 4, 0);
}

/* The kernel's buffer that an operation reaches, -1: none, or one of several memories. */
static int64_t buffer_of(const emitter *e, ir_op op) {
    const ir_op_data *d = ir_op_get(e->m, op);
    const uint32_t at = d->opcode == TILE_COPY || d->opcode == TILE_FETCH ? 2 : 0;
    const ir_value_data *v = at < d->operand_count ? ir_value_get(e->m, d->operands[at]) : NULL;
    bool global = v && !v->op && v->block == ir_op_block(e->m, ir_module_kernel(e->m), 0);
    return global ? (int64_t)v->index : -1;
}

static void write_buffers(emitter *e) {
    const size_t count = e->simt.sites.count;
    LLVMValueRef *buffers = ARENA_NEW(&e->memory, LLVMValueRef, count + 1);
    char name[512];
    for (size_t i = 0; i < count; i++)
        buffers[i] = code_int(e, e->i32, buffer_of(e, e->simt.sites.items[i]));
    snprintf(name, sizeof name, "%s_site_buffers", e->kernel);
    add_data(e, name, LLVMConstArray2(e->i32, buffers, count));
}

static void write_sites(emitter *e) {
    char name[512];
    text names;
    size_t count = e->simt.sites.count;
    LLVMValueRef *sites = ARENA_NEW(&e->memory, LLVMValueRef, count + 1);
    if (!count)
        return;
    text_init(&names);
    for (size_t i = 0; i < count; i++)
        sites[i] = site_of(e, e->simt.sites.items[i], &names);
    snprintf(name, sizeof name, "%s_sites", e->kernel);
    add_data(e, name, LLVMConstArray2(LLVMTypeOf(sites[0]), sites, count));
    snprintf(name, sizeof name, "%s_site_count", e->kernel);
    add_data(e, name, code_int(e, e->i64, (int64_t)count));
    snprintf(name, sizeof name, "%s_site_names", e->kernel);
    add_data(e, name, LLVMConstStringInContext2(e->context, names.data, names.length, true));
    text_release(&names);
    if (e->bounds.wanted)
        write_buffers(e);
}

/* Whose matrix units are emulated: "mma.sm80", of "mma.sm80.bf16". */
static void write_family(emitter *e) {
    const mma_unit *list;
    uint32_t count = mma_units(&list), i = 0;
    while (i < count && !mma_unit_is_of(&list[i], e->target->cpu))
        i++;
    if (i == count)
        return;
    unsigned length = (unsigned)(strrchr(list[i].name, '.') - list[i].name);
    add_data(e, "emulated_matrix_family",
             LLVMConstStringInContext2(e->context, list[i].name, length, false));
}

static void write_numbers(emitter *e, int phases) {
    LLVMValueRef *threads = ARENA_NEW(&e->memory, LLVMValueRef, phases + 1);
    for (int i = 0; i < phases; i++)
        threads[i] = code_int(e, e->i32, e->simt.threads + e->simt.loaders);
    add_data(e, "emulated_phase_threads", LLVMConstArray2(e->i32, threads, (uint64_t)phases));
    add_data(e, "emulated_subgroup", code_int(e, e->i32, e->target->subgroup));
    write_family(e);
}

/* Writes for each thread's function the one that is called. Returns how many; -1 on failure. */
static int write_entries(emitter *e, LLVMTargetDataRef layout) {
    static const char suffix[] = ".thread";
    int count = 0;
    LLVMValueRef last = LLVMGetLastFunction(e->module);
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (length > sizeof suffix && strcmp(name + length - (sizeof suffix - 1), suffix) == 0) {
            if (!replace_calls(e, f, layout))
                return -1;
            tell_accesses(e, f, layout);
            write_entry(e, f, name, length - (sizeof suffix - 1));
            count++;
        }
        if (f == last)
            break;
    }
    return count;
}

bool simt_retarget(emitter *e, LLVMTargetMachineRef machine, const char *triple) {
    text changed;
    text_init(&changed);
    char *source = LLVMPrintModuleToString(e->module), *message = NULL;
    retarget_text(source, &changed);
    LLVMDisposeMessage(source);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(changed.data, changed.length, "emulated");
    LLVMModuleRef module = NULL;
    bool broken = LLVMParseIRInContext(e->context, buffer, &module, &message);
    text_release(&changed);
    if (broken) {
        status_set(e->st, STATUS_INTERNAL, "the code of %s cannot be retargeted: %.400s",
                   e->target->name, message);
        LLVMDisposeMessage(message);
        return false;
    }
    LLVMDisposeModule(e->module);
    e->module = module;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, triple);
    int phases = write_entries(e, layout);
    drop_declarations(e);
    if (phases >= 0)
        write_numbers(e, phases);
    write_sites(e);
    LLVMDisposeTargetData(layout);
    return phases >= 0;
}
