/* ptx.c - kernels around one matrix instruction: ptx.h. */
#include "ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct writer {
    char *text;
    size_t used;
} writer;

static void __attribute__((format(printf, 2, 3))) emit(writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(w->text + w->used, PTX_BYTES - w->used, format, arguments);
    va_end(arguments);
    if (written < 0 || w->used + (size_t)written >= PTX_BYTES)
        abort();
    w->used += (size_t)written;
}

static int register_bytes(const binary_format *format) {
    return format == &binary_f64 ? 8 : 4;
}

/* In PTX an f32 accumulator is .f32, two f16 are a .b32. */
static const char *register_type(const binary_format *format) {
    return format == &binary_f64 ? "f64" : format == &binary_f32 ? "f32" : "b32";
}

/* Operands are loaded as f64, or packed in .b32. */
static const binary_format *operand_registers(const binary_format *format) {
    return format == &binary_f64 ? format : &binary_tf32;
}

static void emit_declaration(writer *w, char name, const binary_format *format, int bytes) {
    if (bytes)
        emit(w, "    .reg .%s %%%c<%d>;\n", register_type(format), name,
             bytes / register_bytes(format));
}

/* %p = an argument + thread * bytes. */
static void emit_address(writer *w, char argument, int bytes) {
    emit(w, "    ld.param.u64 %%p, [address_%c];\n", argument);
    emit(w, "    mad.wide.u32 %%p, %%thread, %d, %%p;\n", bytes);
}

/* One thread's registers. */
static void emit_load(writer *w, char name, const binary_format *format, int bytes) {
    if (!bytes)
        return;
    emit_address(w, name, bytes);
    for (int r = 0; r < bytes / register_bytes(format); r++)
        emit(w, "    ld.global.%s %%%c%d, [%%p+%d];\n", register_type(format), name, r,
             r * register_bytes(format));
}

static void emit_store(writer *w, const binary_format *format, int bytes) {
    emit_address(w, 'd', bytes);
    for (int r = 0; r < bytes / register_bytes(format); r++)
        emit(w, "    st.global.%s [%%p+%d], %%c%d;\n", register_type(format),
             r * register_bytes(format), r);
}

/* Copies a block's image of shared memory word by word. */
static void emit_image(writer *w, const char *name, char parameter, int bytes) {
    emit(w, "    ld.param.u64 %%p, [address_%c];\n", parameter);
    emit(w, "    mad.wide.u32 %%p, %%block, %d, %%p;\n", bytes);
    emit(w, "    mov.u32 %%s, %s;\n    mov.u32 %%i, %%tid.x;\n", name);
    emit(w, "    mad.wide.u32 %%p, %%i, 4, %%p;\n    mad.lo.u32 %%s, %%i, 4, %%s;\n");
    emit(w, "%s_next:\n    setp.ge.u32 %%q, %%i, %d;\n    @%%q bra %s_done;\n", name, bytes / 4,
         name);
    emit(w, "    ld.global.b32 %%w, [%%p];\n    st.shared.b32 [%%s], %%w;\n");
    emit(w, "    add.u64 %%p, %%p, %d;\n    add.u32 %%s, %%s, %d;\n    add.u32 %%i, %%i, %d;\n",
         PTX_BLOCK_THREADS * 4, PTX_BLOCK_THREADS * 4, PTX_BLOCK_THREADS);
    emit(w, "    bra %s_next;\n%s_done:\n", name, name);
}

/* The descriptor of a matrix at `name` + offset: address, 128 bytes between the halves of k, 256
 * between groups of 8 lines, no swizzle. */
static void emit_descriptor(writer *w, const char *name, int offset, const char *descriptor) {
    emit(w, "    mov.u32 %%s, %s;\n    add.u32 %%s, %%s, %d;\n    bfe.u32 %%s, %%s, 4, 14;\n", name,
         offset);
    emit(w, "    cvt.u64.u32 %s, %%s;\n    or.b64 %s, %s, 0x%llx;\n", descriptor, descriptor,
         descriptor, (unsigned long long)(128 / 16) << 16 | (unsigned long long)(256 / 16) << 32);
}

static void emit_list(writer *w, char name, int first, int count) {
    emit(w, "{");
    for (int r = 0; r < count; r++)
        emit(w, "%s%%%c%d", r ? "," : "", name, first + r);
    emit(w, "}");
}

static int registers(int bytes, const binary_format *format) {
    return bytes / register_bytes(format);
}

static void emit_mma(writer *w, const instruction *i) {
    emit(w, "    mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s ", i->m, i->n, i->k, i->c->name,
         i->a->name, i->b->name, i->c->name);
    emit_list(w, 'c', 0, registers(instruction_c_bytes(i), i->c));
    emit(w, ", ");
    emit_list(w, 'a', 0, registers(instruction_a_bytes(i), i->a));
    emit(w, ", ");
    emit_list(w, 'b', 0, registers(instruction_b_bytes(i), i->b));
    emit(w, ", ");
    emit_list(w, 'c', 0, registers(instruction_c_bytes(i), i->c));
    emit(w, ";\n");
}

static void emit_wgmma(writer *w, const instruction *i, int step) {
    int a_registers = registers(instruction_a_bytes(i), i->a);
    if (i->a_shared)
        emit_descriptor(w, "image_a", step * instruction_a_shared_bytes(i), "%a_descriptor");
    emit_descriptor(w, "image_b", step * instruction_b_shared_bytes(i), "%b_descriptor");
    emit(w, "    wgmma.mma_async.sync.aligned.m%dn%dk%d.%s.%s.%s ", i->m, i->n, i->k, i->c->name,
         i->a->name, i->b->name);
    emit_list(w, 'c', 0, registers(instruction_c_bytes(i), i->c));
    emit(w, ", ");
    if (i->a_shared)
        emit(w, "%%a_descriptor");
    else
        emit_list(w, 'a', step * a_registers, a_registers);
    emit(w, ", %%b_descriptor, %%with_c, 1, 1%s;\n",
         i->a->storage_bits != 16 ? ""
         : i->a_shared            ? ", 0, 0"
                                  : ", 0");
}

static void emit_warpgroup(writer *w, const instruction *i) {
    emit(w, "    setp.ne.u32 %%with_c, %d, 0;\n", i->without_c ? 0 : 1);
    emit(w, "    fence.proxy.async.shared::cta;\n    bar.sync 0;\n    wgmma.fence.sync.aligned;\n");
    for (int step = 0; step < i->chain; step++)
        emit_wgmma(w, i, step);
    emit(w, "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n");
}

void ptx_of_instruction(const instruction *i, char text[PTX_BYTES]) {
    writer w = {text, 0};
    int a_bytes = instruction_a_bytes(i) * i->chain, b_bytes = instruction_b_bytes(i),
        c_bytes = instruction_c_bytes(i);
    int a_image = instruction_a_shared_bytes(i) * i->chain,
        b_image = instruction_b_shared_bytes(i) * i->chain;
    emit(&w, ".version 8.7\n.target sm_90a\n.address_size 64\n");
    emit(&w, ".visible .entry tiles(.param .u64 address_a, .param .u64 address_b, .param .u64 "
             "address_c, "
             ".param .u64 address_d)\n{\n");
    emit(&w, "    .reg .b64 %%p, %%a_descriptor, %%b_descriptor;\n    .reg .b32 %%thread, %%block, "
             "%%s, %%i, %%w;\n"
             "    .reg .pred %%q, %%with_c;\n");
    if (a_image)
        emit(&w, "    .shared .align 128 .b8 image_a[%d];\n", a_image);
    if (b_image)
        emit(&w, "    .shared .align 128 .b8 image_b[%d];\n", b_image);
    emit_declaration(&w, 'a', operand_registers(i->a), a_bytes);
    emit_declaration(&w, 'b', operand_registers(i->b), b_bytes);
    emit_declaration(&w, 'c', i->c, c_bytes);
    emit(&w, "    mov.u32 %%block, %%ctaid.x;\n    mov.u32 %%thread, %%tid.x;\n");
    emit(&w, "    mad.lo.u32 %%thread, %%block, %d, %%thread;\n", PTX_BLOCK_THREADS);
    emit_load(&w, 'a', operand_registers(i->a), a_bytes);
    emit_load(&w, 'b', operand_registers(i->b), b_bytes);
    emit_load(&w, 'c', i->c, c_bytes);
    if (a_image)
        emit_image(&w, "image_a", 'a', a_image);
    if (b_image)
        emit_image(&w, "image_b", 'b', b_image);
    if (i->unit == UNIT_WGMMA)
        emit_warpgroup(&w, i);
    else
        emit_mma(&w, i);
    emit_store(&w, i->c, c_bytes);
    emit(&w, "    ret;\n}\n");
}
