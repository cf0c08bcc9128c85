/* translate.c - a module of LLVM IR as one of SPIR-V: entry points and what they are given.
 *
 * OpenCL's take the buffers, the workspace and the prepared memory as arguments. Vulkan's take push
 * constants: the address of a table with the addresses of these, and where the grid begins. */
#include "target/llvm/spirv/translate.h"

#include "tile/simt/simt.h"

enum { VERSION_1_0 = 0x00010000, VERSION_1_5 = 0x00010500, ADDRESS_BITS = 64, ADDRESS_BYTES = 8 };

/* ---- the module ---- */

static uint32_t input(translator *t, SpvBuiltIn which) {
    uint32_t number = type_int(t, t->kernel ? ADDRESS_BITS : 32),
             type = type_pointer(t, SpvStorageClassInput, type_vector(t, number, 3)),
             id = spirv_id(&t->m);
    spirv_op(&t->m, SPIRV_GLOBALS, SpvOpVariable, (uint32_t[]){type, id, SpvStorageClassInput}, 3);
    spirv_op(&t->m, SPIRV_DECORATIONS, SpvOpDecorate, (uint32_t[]){id, SpvDecorationBuiltIn, which},
             3);
    vec_push(&t->interface, id);
    return id;
}

static void import_functions(translator *t) {
    t->functions = spirv_id(&t->m);
    spirv_op_string(&t->m, SPIRV_IMPORTS, SpvOpExtInstImport, &t->functions, 1,
                    t->kernel ? "OpenCL.std" : "GLSL.std.450", NULL, 0);
}

static void open_kernel_flavour(translator *t) {
    spirv_capability(&t->m, SpvCapabilityKernel);
    spirv_capability(&t->m, SpvCapabilityAddresses);
    spirv_op(&t->m, SPIRV_MEMORY_MODEL, SpvOpMemoryModel,
             (uint32_t[]){SpvAddressingModelPhysical64, SpvMemoryModelOpenCL}, 2);
}

static void open_vulkan_flavour(translator *t) {
    spirv_capability(&t->m, SpvCapabilityShader);
    spirv_capability(&t->m, SpvCapabilityPhysicalStorageBufferAddresses);
    spirv_op(&t->m, SPIRV_MEMORY_MODEL, SpvOpMemoryModel,
             (uint32_t[]){SpvAddressingModelPhysicalStorageBuffer64, SpvMemoryModelGLSL450}, 2);
    uint32_t members[] = {type_int(t, ADDRESS_BITS), type_int(t, 32)};
    uint32_t block = spirv_once(&t->m, SpvOpTypeStruct, 0, members, 2),
             type = type_pointer(t, SpvStorageClassPushConstant, block);
    t->pushed = spirv_id(&t->m);
    spirv_op(&t->m, SPIRV_DECORATIONS, SpvOpDecorate, (uint32_t[]){block, SpvDecorationBlock}, 2);
    spirv_op(&t->m, SPIRV_DECORATIONS, SpvOpMemberDecorate,
             (uint32_t[]){block, PUSHED_TABLE, SpvDecorationOffset, 0}, 4);
    spirv_op(&t->m, SPIRV_DECORATIONS, SpvOpMemberDecorate,
             (uint32_t[]){block, PUSHED_BASE, SpvDecorationOffset, ADDRESS_BYTES}, 4);
    spirv_op(&t->m, SPIRV_GLOBALS, SpvOpVariable,
             (uint32_t[]){type, t->pushed, SpvStorageClassPushConstant}, 3);
    vec_push(&t->interface, t->pushed);
}

/* ---- functions ---- */

/* From the table that the push constant names. */
static void load_addresses(translator *t) {
    uint32_t address = type_int(t, ADDRESS_BITS), zero = constant_int(t, 32, PUSHED_TABLE);
    uint32_t from = made(t, SpvOpAccessChain, type_pointer(t, SpvStorageClassPushConstant, address),
                         (uint32_t[]){t->pushed, zero}, 2);
    uint32_t table = made(t, SpvOpLoad, address, &from, 1),
             pointer = type_pointer(t, SpvStorageClassPhysicalStorageBuffer, address);
    for (unsigned i = 0; i < LLVMCountParams(t->function); i++) {
        uint32_t at =
            made(t, SpvOpIAdd, address,
                 (uint32_t[]){table, constant_int(t, ADDRESS_BITS, i * ADDRESS_BYTES)}, 2);
        at = made(t, SpvOpConvertUToPtr, pointer, &at, 1);
        spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpLoad,
                 (uint32_t[]){address, value_of(t, LLVMGetParam(t->function, i)), at,
                              SpvMemoryAccessAlignedMask, ADDRESS_BYTES},
                 5);
    }
}

static uint32_t buffer_type(translator *t) {
    return type_pointer(t, SpvStorageClassCrossWorkgroup, type_int(t, 8));
}

static bool is_address(const translator *t, unsigned parameter) {
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(t->function, parameter));
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

static uint32_t parameter_type(translator *t, unsigned parameter) {
    return is_address(t, parameter) ? buffer_type(t) : type_int(t, ADDRESS_BITS);
}

static uint32_t function_type(translator *t) {
    uint32_t words[SIMT_PARAMETERS + 1] = {type_void(t)},
                                     count = t->kernel ? (uint32_t)LLVMCountParams(t->function) : 0;
    if (count > SIMT_PARAMETERS) {
        translate_fail(t, "so many buffers", "");
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        words[1 + i] = parameter_type(t, i);
    return spirv_once(&t->m, SpvOpTypeFunction, 0, words, 1 + count);
}

static void take_arguments(translator *t, spirv_words *arguments) {
    for (unsigned i = 0; i < LLVMCountParams(t->function); i++) {
        LLVMValueRef parameter = LLVMGetParam(t->function, i);
        const uint32_t words[] = {parameter_type(t, i),
                                  is_address(t, i) ? spirv_id(&t->m) : value_of(t, parameter)};
        spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpFunctionParameter, words, 2);
        vec_push(arguments, words[1]);
    }
}

static void as_addresses(translator *t, const spirv_words *arguments) {
    for (unsigned i = 0; i < LLVMCountParams(t->function); i++)
        if (is_address(t, i))
            spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpConvertPtrToU,
                     (uint32_t[]){type_int(t, ADDRESS_BITS),
                                  value_of(t, LLVMGetParam(t->function, i)), arguments->items[i]},
                     3);
}

static uint32_t translate_function(translator *t) {
    uint32_t type = function_type(t), id = spirv_id(&t->m);
    spirv_words arguments = {0};
    if (t->failed)
        return 0;
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpFunction,
             (uint32_t[]){type_void(t), id, SpvFunctionControlMaskNone, type}, 4);
    if (t->kernel)
        take_arguments(t, &arguments);
    uint32_t label = translate_first_label(t);
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpLabel, &label, 1);
    if (t->kernel)
        as_addresses(t, &arguments);
    else
        load_addresses(t);
    translate_blocks(t);
    spirv_op(&t->m, SPIRV_FUNCTIONS, SpvOpFunctionEnd, NULL, 0);
    vec_release(&arguments);
    return id;
}

static void note_entry(translator *t, uint32_t id) {
    size_t length;
    const uint32_t model[] = {t->kernel ? SpvExecutionModelKernel : SpvExecutionModelGLCompute, id};
    spirv_op_string(&t->m, SPIRV_ENTRY_POINTS, SpvOpEntryPoint, model, 2,
                    LLVMGetValueName2(t->function, &length), t->interface.items,
                    (uint32_t)t->interface.count);
    spirv_op(&t->m, SPIRV_MODES, SpvOpExecutionMode,
             (uint32_t[]){id, SpvExecutionModeLocalSize, (uint32_t)t->e->simt.threads, 1, 1}, 5);
    if (t->kernel)
        spirv_op(&t->m, SPIRV_MODES, SpvOpExecutionMode,
                 (uint32_t[]){id, SpvExecutionModeContractionOff}, 2);
}

/* ---- the whole ---- */

/* Entry points list what all of them use, which is known behind the last one. */
static void translate_functions(translator *t) {
    spirv_words entries = {0};
    LLVMModuleRef module = t->e->module;
    for (t->function = LLVMGetFirstFunction(module); t->function && !t->failed;
         t->function = LLVMGetNextFunction(t->function))
        if (LLVMCountBasicBlocks(t->function))
            vec_push(&entries, translate_function(t));
    size_t n = 0;
    for (t->function = LLVMGetFirstFunction(module); t->function && !t->failed;
         t->function = LLVMGetNextFunction(t->function))
        if (LLVMCountBasicBlocks(t->function))
            note_entry(t, entries.items[n++]);
    if (n == 0) /* nothing to do has no code */
        spirv_capability(&t->m, SpvCapabilityLinkage);
    vec_release(&entries);
}

bool spirv_translate(const emitter *e, text *out) {
    ir_op kernel = ir_module_kernel(e->m);
    translator t = {.e = e,
                    .kernel = e->target->flavour == SPIRV_OPENCL,
                    .softens = e->target->flavour == SPIRV_VULKAN_F64,
                    .into = SPIRV_FUNCTIONS,
                    .scratch_bytes = (uint32_t)ir_op_int(e->m, kernel, "scratch_bytes", 0),
                    .st = e->st};
    spirv_open(&t.m);
    import_functions(&t);
    (t.kernel ? open_kernel_flavour : open_vulkan_flavour)(&t);
    t.local_id = input(&t, SpvBuiltInLocalInvocationId);
    t.group_id = input(&t, SpvBuiltInWorkgroupId);
    translate_functions(&t);
    if (!t.kernel && simt_turns_beyond(e->m, VULKAN_TURNS_SURE))
        trait_constant(&t, VULKAN_LONG_LOOPS);
    if (!t.failed)
        spirv_write(&t.m, t.kernel ? VERSION_1_0 : VERSION_1_5, out);
    spirv_close(&t.m);
    vec_release(&t.interface);
    return !t.failed;
}
