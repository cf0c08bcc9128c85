/* lower_turned.c - an input of an element-wise computation whose rows lie side by side where the
 * result's columns do, through the workgroup's memory.
 *
 * Threads beside each other read it along its rows, put it down there, and take from there what
 * lies side by side in the result. Rows of that memory are an odd number of words long, so that
 * both ways threads fall on different banks. */
#include <string.h>

#include "tile/lowering.h"

enum { WORD = 4, INPUT_ALIGNMENT = 16 };

typedef struct turned_input {
    tile_window far; /* as the result has it */
    dtype element;
    int64_t pitch, bytes;
} turned_input;

static ir_value buffer_of(const frame *f, int i) {
    return ir_op_get(f->l->s, f->op)->operands[f->first_input + i];
}

static bool is_far(const frame *f, int i) {
    ir_op made = ir_value_get(f->l->s, buffer_of(f, i))->op;
    return !made || strcmp(ir_op_string(f->l->s, made, "space", ""), "workgroup") != 0;
}

/* Does input i go that way? A column of it by itself is read as it lies. */
static bool find_turned(const frame *f, ir_builder *b, int i, turned_input *out) {
    ir_dim access[LOWERING_AXES + 1];
    frame_access(f, i, access);
    tile_window w = frame_window(f, access);
    if (!is_far(f, i) || w.rows < 2 || w.columns < 2 || w.row_stride != 1 || w.column_stride <= 1)
        return false;
    for (int k = 0; k < TILE_MORE_COUNT; k++)
        if (w.more[k])
            return false;
    out->far = w;
    out->element = tile_type(b, frame_memory(f, i))->element;
    int64_t size = (int64_t)dtype_size(out->element), unit = size > WORD ? size : WORD,
            units = (w.rows * size + unit - 1) / unit;
    out->pitch = (units | 1) * unit / size;
    out->bytes = out->pitch * w.columns * size;
    return true;
}

/* All of them have a place of their own in the memory of stages: that of input i, and its end. */
static int64_t place_of(const frame *f, ir_builder *b, int i, int64_t *end) {
    turned_input t;
    int64_t at = 0, bytes = 0;
    for (int k = f->leading; k < f->leading + f->body_inputs; k++) {
        if (k == i)
            at = bytes;
        if (find_turned(f, b, k, &t))
            bytes += (t.bytes + INPUT_ALIGNMENT - 1) / INPUT_ALIGNMENT * INPUT_ALIGNMENT;
    }
    *end = bytes;
    return at;
}

static void set_single(ir_builder *b, ir_op op) {
    ir_op_set_attr(b->m, op, "single", ir_attr_bool(b->m, true));
}

ir_value lower_turned(const frame *f, ir_builder *b, int i) {
    ir_dim access[LOWERING_AXES + 1];
    turned_input t;
    int64_t end;
    if (!ir_op_attr(f->l->s, f->op, "staged") || !find_turned(f, b, i, &t))
        return 0;
    int64_t size = (int64_t)dtype_size(t.element), at = place_of(f, b, i, &end);
    ir_value memory = lowering_staging(f->l, b, t.element, end / size, 1),
             place = tile_index(b, at / size);
    frame_access(f, i, access);
    ir_value x = tile_load(b, frame_memory(f, i), frame_offset(f, b, access), t.far.columns,
                           t.far.rows, t.far.column_stride, 1);
    set_single(b, tile_store(b, memory, place, x, t.pitch, 1, false));
    ir_value y = tile_load(b, memory, place, t.far.rows, t.far.columns, 1, t.pitch);
    set_single(b, ir_value_get(b->m, y)->op);
    return y;
}
