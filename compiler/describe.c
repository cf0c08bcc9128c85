/* describe.c - what metadata says of an image beside what a launch needs. */
#include "describe.h"

#include <string.h>

#include "ops/graph.h"
#include "schedule/dot_shape.h"
#include "schedule/schedule.h"
#include "tile/mma.h"
#include "tile/tensor_map.h"
#include "tile/tile.h"

void describe_symbol(const ir_module *m, ir_op phase, text *out) {
    text_printf(out, "%s_phase_%lld", ir_op_string(m, ir_module_kernel(m), "name", "kernel"),
                (long long)ir_op_int(m, phase, "index", 0));
}

/* ---- epilogues ---- */

typedef struct phases {
    json_t *by_symbol;
    text symbol; /* of the phase that is walked through */
    bool again;  /* its present contraction is a further piece of the same rows */
} phases;

static void phases_open(phases *p) {
    p->by_symbol = json_object();
    text_init(&p->symbol);
    p->again = false;
}

static json_t *phases_close(phases *p) {
    text_release(&p->symbol);
    return p->by_symbol;
}

static void enter_phase(phases *p, const ir_module *m, ir_op phase) {
    text_clear(&p->symbol);
    describe_symbol(m, phase, &p->symbol);
}

static bool is_further_piece(const ir_module *m, ir_op dot) {
    dot_shape shape;
    ir_op rows = dot_shape_read(m, dot, &shape) ? dot_loop(m, dot, &shape, AXIS_M) : 0;
    return rows && ir_op_attr(m, rows, "from");
}

/* Notes what stands behind a phase's first contraction: it works on what that one made. */
static void note_epilogue(const ir_module *m, ir_op op, phases *p) {
    int opcode = ir_op_get(m, op)->opcode;
    json_t *names = p->symbol.length ? json_object_get(p->by_symbol, p->symbol.data) : NULL;
    if (opcode == SCHED_DOT)
        p->again = is_further_piece(m, op);
    if (opcode == SCHED_PHASE)
        enter_phase(p, m, op);
    else if (opcode == SCHED_DOT && !names)
        json_object_set_new(p->by_symbol, p->symbol.data, json_array());
    else if (names && !p->again && opcode / IR_LEVEL_STRIDE == IR_LEVEL_GRAPH &&
             graph_op_class(opcode) == GRAPH_CLASS_ELEMENTWISE)
        json_array_append_new(names, json_string(strchr(op_info_get(opcode)->name, '.') + 1));
}

json_t *describe_epilogues(ir_module *schedule) {
    phases p;
    phases_open(&p);
    for (ir_walk w = ir_walk_op(schedule, ir_module_kernel(schedule)); ir_walk_next(&w);)
        note_epilogue(schedule, w.op, &p);
    return phases_close(&p);
}

/* ---- fragments ---- */

typedef struct fragments {
    phases phases;
    const json_t *epilogues;
    int64_t elements; /* of the largest so far in this phase */
} fragments;

static bool is_constant(const ir_module *m, ir_value v) {
    ir_op op = ir_value_get(m, v)->op;
    return op && ir_op_get(m, op)->opcode == TILE_CONSTANT;
}

/* A column times a row: what a contraction adds up, whichever of the two is one element. */
static bool is_product(const ir_module *m, const ir_op_data *d) {
    if (d->opcode == TILE_MMA || d->opcode == TILE_MMA_STAGE)
        return true;
    if (d->opcode != TILE_FMA && d->opcode != TILE_MUL && d->opcode != TILE_GROUP_DOT)
        return false;
    const ir_type_data *x = ir_type_of(m, d->operands[0]), *y = ir_type_of(m, d->operands[1]);
    return x->dims[1] == 1 && y->dims[0] == 1 && !is_constant(m, d->operands[0]) &&
           !is_constant(m, d->operands[1]);
}

static void note_product(fragments *f, const ir_module *m, ir_value sum) {
    const ir_type_data *t = ir_type_of(m, sum);
    const ir_layout *l = &t->layout;
    if (!l->row_threads || t->dims[0] * t->dims[1] <= f->elements)
        return;
    f->elements = t->dims[0] * t->dims[1];
    text words;
    text_init(&words);
    ir_layout_print(l, &words);
    json_object_set_new(f->phases.by_symbol, f->phases.symbol.data,
                        json_sprintf("%s %lldx%lld %s", words.data, (long long)t->dims[0],
                                     (long long)t->dims[1], dtype_name(t->element)));
    text_release(&words);
}

static void note_fragment(const ir_module *m, ir_op op, fragments *f) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->opcode == TILE_PHASE) {
        enter_phase(&f->phases, m, op);
        f->elements = 0;
    } else if (is_product(m, d) && json_object_get(f->epilogues, f->phases.symbol.data)) {
        note_product(f, m, d->results[0]);
    }
}

json_t *describe_fragments(ir_module *laid_out, const json_t *epilogues) {
    fragments f = {.epilogues = epilogues};
    phases_open(&f.phases);
    for (ir_walk w = ir_walk_op(laid_out, ir_module_kernel(laid_out)); ir_walk_next(&w);)
        note_fragment(laid_out, w.op, &f);
    return phases_close(&f.phases);
}

/* ---- matrix units ---- */

static void note_unit(const ir_module *m, ir_op op, json_t *list) {
    const mma_unit *unit = mma_unit_of(m, op);
    size_t i = 0;
    while (unit && i < json_array_size(list) &&
           strcmp(json_string_value(json_array_get(list, i)), unit->name) != 0)
        i++;
    if (unit && i == json_array_size(list))
        json_array_append_new(list, json_string(unit->name));
}

json_t *describe_units(ir_module *laid_out) {
    json_t *list = json_array();
    for (ir_walk w = ir_walk_op(laid_out, ir_module_kernel(laid_out)); ir_walk_next(&w);)
        note_unit(laid_out, w.op, list);
    return list;
}

/* ---- resources ---- */

static void tell(void *context, const char *symbol, const char *name, int64_t value) {
    json_t *kernels = context, *kernel = json_object_get(kernels, symbol);
    if (!kernel) {
        kernel = json_object();
        json_object_set_new(kernels, symbol, kernel);
    }
    json_object_set_new(kernel, name, json_integer(value));
}

static bool ask_assembler(const compiler_assembler *assembler, const target_info *target,
                          const text *code, const resource_reader *reader, status *st) {
    text messages;
    text_init(&messages);
    bool ok = assembler->assemble(assembler->context, target->cpu, code, &messages, st);
    if (ok && messages.length)
        ptxas_resources(messages.data, reader);
    text_release(&messages);
    return ok;
}

static bool read_kernels(const target_info *target, const text *code,
                         const compiler_assembler *assembler, json_t *kernels, status *st) {
    const resource_reader reader = {.tell = tell, .context = kernels};
    if (target->emulated || target->family == FAMILY_SPIRV) /* its driver knows */
        return true;
    if (target->family == FAMILY_ROCM)
        return hsaco_resources(code->data, code->length, &reader, st);
    return !assembler || ask_assembler(assembler, target, code, &reader, st);
}

json_t *describe_resources(const ir_module *laid_out, const target_info *target, const text *code,
                           const compiler_assembler *assembler, status *st) {
    ir_op kernel = ir_module_kernel(laid_out);
    json_t *kernels = json_object(), *resources = NULL;
    if (target->class == TARGET_SIMT && read_kernels(target, code, assembler, kernels, st))
        resources = json_pack(
            "{s:I, s:I}", "threads",
            (json_int_t)ir_op_int(laid_out, kernel, "threads", 1) + tile_loaders(laid_out),
            "shared_bytes", (json_int_t)ir_op_int(laid_out, kernel, "scratch_bytes", 0));
    if (resources && json_object_size(kernels))
        json_object_set(resources, "kernels", kernels);
    json_decref(kernels);
    return resources;
}

/* ---- maps ---- */

static json_t *numbers_json(const int64_t *list, uint32_t count, int64_t each) {
    json_t *numbers = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(numbers, json_integer(list[i] * each));
    return numbers;
}

void describe_maps(const ir_module *m, ir_op op, json_t *phase) {
    tensor_map maps[TENSOR_MAPS_MOST];
    uint32_t count = tensor_map_list(m, op, maps);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        const int64_t size = (int64_t)dtype_size(maps[i].element);
        json_array_append_new(
            list, json_pack("{s:i, s:I, s:o, s:o, s:o, s:I}", "buffer", (int)maps[i].argument,
                            "element_bytes", (json_int_t)size, "dims",
                            numbers_json(maps[i].dims, maps[i].rank, 1), "strides",
                            numbers_json(maps[i].strides, maps[i].rank, size), "box",
                            numbers_json(maps[i].box, maps[i].rank, 1), "swizzle",
                            (json_int_t)(maps[i].box[0] * size)));
    }
    if (count)
        json_object_set(phase, "maps", list);
    json_decref(list);
}
