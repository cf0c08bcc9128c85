/* export.c - the frame: a function over memory, one loop nest for each operation. */
#include "target/mlir/export.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- names and lines ---- */

static const char *formatted(exporter *e, const char *format, va_list args) {
    char words[2048];
    vsnprintf(words, sizeof words, format, args);
    return arena_strdup(&e->memory, words);
}

const char *export_text(exporter *e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *words = formatted(e, format, args);
    va_end(args);
    return words;
}

const char *export_op(exporter *e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *words = formatted(e, format, args);
    va_end(args);
    const char *name = export_text(e, "%%t%d", e->next++);
    text_printf(e->out, "    %s = %s\n", name, words);
    return name;
}

void export_line(exporter *e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_printf(e->out, "    %s\n", formatted(e, format, args));
    va_end(args);
}

void export_refuse(exporter *e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!e->failed)
        status_set(e->st, STATUS_UNAVAILABLE, "not expressed in MLIR: %s",
                   formatted(e, format, args));
    va_end(args);
    e->failed = true;
}

const char *export_index(exporter *e, int64_t value) {
    return export_op(e, "arith.constant %" PRId64 " : index", value);
}

const char *export_plus(exporter *e, const char *index, int64_t n) {
    return n ? export_op(e, "arith.addi %s, %s : index", index, export_index(e, n)) : index;
}

/* Floats in hexadecimal, which MLIR reads as bits. */
const char *export_bits(exporter *e, dtype type, uint64_t bits) {
    if (type == DTYPE_BOOL)
        return export_op(e, "arith.constant %s", bits ? "true" : "false");
    if (type == DTYPE_F64 || type == DTYPE_F32 || type == DTYPE_TF32 || type == DTYPE_F16)
        return export_op(e, "arith.constant 0x%0*" PRIX64 " : %s", (int)dtype_size(type) * 2, bits,
                         export_element(e, type));
    int unused = 64 - 8 * (int)dtype_size(type);
    return export_op(e, "arith.constant %" PRId64 " : %s", (int64_t)(bits << unused) >> unused,
                     export_element(e, type));
}

/* ---- types ---- */

const ir_type_data *export_type(const exporter *e, ir_value v) {
    return ir_type_of(e->m, v);
}

const char *export_element(exporter *e, dtype type) {
    switch (type) {
    case DTYPE_F64:
        return "f64";
    case DTYPE_F32:
    case DTYPE_TF32:
        return "f32";
    case DTYPE_F16:
        return "f16";
    case DTYPE_BF16:
        return "i16";
    case DTYPE_I64:
    case DTYPE_U64:
        return "i64";
    case DTYPE_I32:
    case DTYPE_U32:
        return "i32";
    case DTYPE_I16:
    case DTYPE_U16:
        return "i16";
    case DTYPE_I8:
    case DTYPE_U8:
    case DTYPE_I4:
    case DTYPE_F8E4M3FN:
    case DTYPE_F8E5M2:
        return "i8";
    case DTYPE_BOOL:
        return "i1";
    default:
        export_refuse(e, "the type %s", dtype_name(type));
        return "f32";
    }
}

static const char *shaped(exporter *e, const char *kind, const ir_type_data *t,
                          const char *element) {
    text words;
    text_init(&words);
    text_printf(&words, "%s<", kind);
    for (int i = 0; i < t->rank; i++)
        text_printf(&words, "%" PRId64 "x", t->dims[i]);
    text_printf(&words, "%s>", element);
    const char *name = arena_strdup(&e->memory, words.data);
    text_release(&words);
    return name;
}

const char *export_tensor(exporter *e, ir_value v) {
    const ir_type_data *t = export_type(e, v);
    return shaped(e, "tensor", t, export_element(e, t->element));
}

dtype export_compute_type(dtype type) {
    return dtype_is_narrow(type) || type == DTYPE_TF32 ? DTYPE_F32 : type;
}

/* ---- a loop nest ---- */

static const char *joined_indices(exporter *e, int rank, const char *const *index) {
    text words;
    text_init(&words);
    for (int i = 0; i < rank; i++)
        text_printf(&words, "%s%s", i ? ", " : "", index[i]);
    const char *name = arena_strdup(&e->memory, words.data);
    text_release(&words);
    return name;
}

const char *export_load(exporter *e, ir_value v, const char *const *index) {
    return export_op(e, "tensor.extract %%v%u[%s] : %s", v,
                     joined_indices(e, export_type(e, v)->rank, index), export_tensor(e, v));
}

const char *export_load_wide(exporter *e, ir_value v, const char *const *index) {
    return export_widen(e, export_type(e, v)->element, export_load(e, v, index));
}

/* "affine_map<(d0, d1) -> (d0, d1)>" */
static const char *identity_map(exporter *e, int rank) {
    text list;
    text_init(&list);
    for (int i = 0; i < rank; i++)
        text_printf(&list, "%sd%d", i ? ", " : "", i);
    const char *map = export_text(e, "affine_map<(%s) -> (%s)>", list.data, list.data);
    text_release(&list);
    return map;
}

static const char *parallel(exporter *e, int rank) {
    text list;
    text_init(&list);
    for (int i = 0; i < rank; i++)
        text_printf(&list, "%s\"parallel\"", i ? ", " : "");
    const char *words = arena_strdup(&e->memory, list.data);
    text_release(&list);
    return words;
}

/* Opens "name = linalg.generic ..." over a result; fills the names of its indices. */
static void open_nest(exporter *e, const char *name, int rank, const char *type,
                      const char *element, const char **index) {
    const char *empty = export_op(e, "tensor.empty() : %s", type);
    export_line(e,
                "%s = linalg.generic {indexing_maps = [%s], iterator_types = [%s]} outs(%s : %s) {",
                name, identity_map(e, rank), parallel(e, rank), empty, type);
    export_line(e, "^bb0(%%old%d: %s):", e->next++, element);
    for (int i = 0; i < rank; i++)
        index[i] = export_op(e, "linalg.index %d : index", i);
}

static void close_nest(exporter *e, const char *value, const char *element, const char *type) {
    export_line(e, "linalg.yield %s : %s", value, element);
    export_line(e, "} -> %s", type);
}

static const char *element_of(exporter *e, ir_op op, const char *const *index) {
    switch (graph_op_class(ir_op_get(e->m, op)->opcode)) {
    case GRAPH_CLASS_ELEMENTWISE:
        return export_elementwise(e, op, index);
    case GRAPH_CLASS_GENERATOR:
    case GRAPH_CLASS_MOVE:
        return export_moved(e, op, index);
    case GRAPH_CLASS_REDUCE:
    case GRAPH_CLASS_DOT:
    case GRAPH_CLASS_SCAN:
        return export_accumulated(e, op, index);
    default:
        export_refuse(e, "the operation %s", op_info_get(ir_op_get(e->m, op)->opcode)->name);
        return "%none";
    }
}

static void export_operation(exporter *e, ir_op op) {
    ir_value result = ir_op_get(e->m, op)->results[0];
    const ir_type_data *t = export_type(e, result);
    const char *index[IR_MAX_RANK], *type = export_tensor(e, result);
    const char *element = export_element(e, t->element);
    open_nest(e, export_text(e, "%%v%u", result), t->rank, type, element, index);
    close_nest(e, element_of(e, op, index), element, type);
}

/* ---- the interface: bool is a byte in memory; NaNs leave canonical ---- */

static const char *memory_element(exporter *e, dtype type) {
    return type == DTYPE_BOOL ? "i8" : export_element(e, type);
}

static void import_argument(exporter *e, uint32_t number, ir_value v) {
    const ir_type_data *t = export_type(e, v);
    const char *memory = shaped(e, "memref", t, memory_element(e, t->element));
    if (t->element != DTYPE_BOOL) {
        export_line(e, "%%v%u = bufferization.to_tensor %%a%u restrict : %s", v, number, memory);
        return;
    }
    const char *index[IR_MAX_RANK], *bytes = shaped(e, "tensor", t, "i8");
    const char *raw = export_op(e, "bufferization.to_tensor %%a%u restrict : %s", number, memory);
    open_nest(e, export_text(e, "%%v%u", v), t->rank, export_tensor(e, v), "i1", index);
    const char *byte =
        export_op(e, "tensor.extract %s[%s] : %s", raw, joined_indices(e, t->rank, index), bytes);
    const char *zero = export_op(e, "arith.constant 0 : i8");
    close_nest(e, export_op(e, "arith.cmpi ne, %s, %s : i8", byte, zero), "i1",
               export_tensor(e, v));
}

/* Only the sign and payload of a NaN change. */
static const char *canonical(exporter *e, dtype type, const char *x) {
    static const struct {
        dtype type;
        uint64_t nan;
    } rows[] = {{DTYPE_F64, 0x7ff8000000000000u},
                {DTYPE_F32, 0x7fc00000u},
                {DTYPE_TF32, 0x7fc00000u},
                {DTYPE_F16, 0x7e00u},
                {DTYPE_BF16, 0x7fc0u},
                {DTYPE_F8E4M3FN, 0x7fu},
                {DTYPE_F8E5M2, 0x7eu}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type != type)
            continue;
        dtype wide = export_compute_type(type);
        const char *w = export_widen(e, type, x);
        const char *nan =
            export_op(e, "arith.cmpf uno, %s, %s : %s", w, w, export_element(e, wide));
        return export_op(e, "arith.select %s, %s, %s : %s", nan, export_bits(e, type, rows[i].nan),
                         x, export_element(e, type));
    }
    return x;
}

static void export_output(exporter *e, uint32_t number, ir_value v) {
    const ir_type_data *t = export_type(e, v);
    const char *element = memory_element(e, t->element), *index[IR_MAX_RANK];
    const char *type = shaped(e, "tensor", t, element);
    const char *name = export_text(e, "%%r%u", number);
    open_nest(e, name, t->rank, type, element, index);
    const char *x = export_load(e, v, index);
    x = t->element == DTYPE_BOOL ? export_op(e, "arith.extui %s : i1 to i8", x)
                                 : canonical(e, t->element, x);
    close_nest(e, x, element, type);
    export_line(e,
                "bufferization.materialize_in_destination %s in restrict writable %%o%u : (%s, %s) "
                "-> ()",
                name, number, type, shaped(e, "memref", t, element));
}

static void export_signature(exporter *e, const ir_block_data *body, const ir_op_data *end) {
    text list;
    text_init(&list);
    for (uint32_t i = 0; i < body->argument_count; i++) {
        const ir_type_data *t = export_type(e, body->arguments[i]);
        text_printf(&list, "%s%%a%u: %s", list.length ? ", " : "", i,
                    shaped(e, "memref", t, memory_element(e, t->element)));
    }
    for (uint32_t i = 0; i < end->operand_count; i++) {
        const ir_type_data *t = export_type(e, end->operands[i]);
        text_printf(&list, "%s%%o%u: %s", list.length ? ", " : "", i,
                    shaped(e, "memref", t, memory_element(e, t->element)));
    }
    text_printf(e->out, "func.func @kernel(%s) attributes {llvm.emit_c_interface} {\n", list.data);
    text_release(&list);
}

bool mlir_export(const ir_module *graph, text *out, status *st) {
    exporter e = {.m = graph, .out = out, .st = st};
    const ir_block_data *body = ir_kernel_body(graph);
    const ir_op_data *end = ir_op_get(graph, body->last);
    arena_init(&e.memory);
    export_signature(&e, body, end);
    for (uint32_t i = 0; i < body->argument_count; i++)
        import_argument(&e, i, body->arguments[i]);
    for (ir_op op = body->first; op != body->last && !e.failed; op = ir_op_get(graph, op)->next)
        export_operation(&e, op);
    for (uint32_t i = 0; i < end->operand_count && !e.failed; i++)
        export_output(&e, i, end->operands[i]);
    text_append(out, "    return\n}\n");
    arena_release(&e.memory);
    return !e.failed;
}
