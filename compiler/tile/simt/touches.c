/* touches.c - see touches.h. */
#include "tile/simt/touches.h"

#include <string.h>

#include "tile/swizzle.h"

/* Bytes of a thread's load or store, at most. */
enum { WIDEST = 16 };

/* One axis of the tile, spread over threads. */
typedef struct axis {
    int64_t threads, run, extent, stride, groups;
} axis;

static axis rows_of(const access *a) {
    return (axis){a->layout.row_threads, a->layout.row_run, a->rows, a->row_stride,
                  a->rows == 1 ? 1 : ir_layout_row_groups(&a->layout)};
}

static axis columns_of(const access *a) {
    return (axis){a->layout.column_threads, a->layout.column_run, a->columns, a->column_stride,
                  a->columns == 1 ? 1 : ir_layout_column_groups(&a->layout)};
}

int64_t touches_places(int64_t extent, int64_t threads, int64_t run) {
    int64_t round = threads * run;
    return extent == 1 ? 1 : (extent + round - 1) / round * run;
}

static int64_t places(const axis *x) {
    return touches_places(x->extent / x->groups, x->threads, x->run);
}

/* Number of elements along the axis that are one load or store. */
static int run_of(const touches *t, const axis *x, const axis *other, int64_t divisor) {
    int64_t run = x->run;
    if (x->stride != 1 || x->extent == 1)
        return 1;
    while (run > 1 &&
           (x->extent % run != 0 || divisor % run != 0 || run * t->element_bytes > WIDEST ||
            (other->extent > 1 && other->stride % run != 0)))
        run /= 2;
    return (int)run;
}

static int threads_of(const ir_layout *l) {
    return l->row_groups ? l->lanes * l->row_groups * l->column_groups
                         : l->row_threads * l->column_threads;
}

bool touches_of(const ir_module *m, ir_op op, touches *out) {
    memset(out, 0, sizeof *out);
    int opcode = ir_op_get(m, op)->opcode;
    bool group = opcode == TILE_LOAD_GROUP, windows = false;
    if (!access_of(m, op, &out->a) || opcode == TILE_GATHER || opcode == TILE_SCATTER ||
        !out->a.layout.row_threads)
        return false;
    if (out->a.layout.fragment && out->a.layout.fragment != IR_FRAGMENT_C)
        return false; /* instructions of its own load it */
    for (int i = 0; i < TILE_MORE_COUNT; i++)
        windows |= tile_more_of(m, op, (tile_more)i) != 0;
    if (windows || tile_is_in_panels(m, op))
        return false;
    ir_value memory = ir_op_get(m, op)->operands[0];
    int64_t divisor = access_divisor(m, &out->a);
    axis rows = rows_of(&out->a), columns = columns_of(&out->a);
    out->shared = out->a.opcode == TILE_SCRATCH;
    out->swizzle = ir_op_int(m, op, "swizzle", 0);
    out->threads = threads_of(&out->a.layout);
    out->element_bytes = (int)dtype_size(ir_type_of(m, memory)->element);
    out->across = group ? 1 : run_of(out, &columns, &rows, divisor);
    out->down = group || out->across > 1 ? 1 : run_of(out, &rows, &columns, divisor);
    out->width_bytes = group ? 4 : out->element_bytes * out->across * out->down;
    out->rows = places(&rows);
    out->parts = places(&columns);
    out->divisor = divisor * out->element_bytes;
    return true;
}

int64_t touches_count(const touches *t) {
    return t->rows / t->down * (t->parts / t->across);
}

/* The place along the axis of the thread's element number i, which is number `place` there in piece
 * number `group`. */
static int64_t place_of(const axis *x, int64_t i, int64_t place, int64_t group) {
    int64_t piece = group % x->groups * (x->extent / x->groups);
    return x->extent == 1 ? 0 : piece + (i / x->run * x->threads + place) * x->run + i % x->run;
}

static int64_t touch(const touches *t, int64_t r, int64_t c, int thread) {
    axis rows = rows_of(&t->a), columns = columns_of(&t->a);
    const ir_layout *l = &t->a.layout;
    int64_t lane = l->lanes ? thread % l->lanes : thread, group = l->lanes ? thread / l->lanes : 0,
            above = l->lanes ? group / l->column_groups : 0,
            before = l->lanes ? group % l->column_groups : 0;
    int64_t row = (l->turned ? lane : lane / columns.threads) % rows.threads,
            column = (l->turned ? lane / rows.threads : lane) % columns.threads;
    if (t->a.writes && ((rows.extent == 1 && (row > 0 || above > 0)) ||
                        (columns.extent == 1 && (column > 0 || before > 0))))
        return TOUCH_OTHER;
    int64_t down = place_of(&rows, r, row, above), across = place_of(&columns, c, column, before);
    if (down >= rows.extent || across >= columns.extent)
        return TOUCH_EDGE;
    return swizzled((down * rows.stride + across * columns.stride) * t->element_bytes, t->swizzle);
}

void touches_at(const touches *t, int64_t i, int first, int count, int64_t *offsets) {
    int64_t across = t->parts / t->across;
    for (int k = 0; k < count; k++)
        offsets[k] = touch(t, i / across * t->down, i % across * t->across, first + k);
}
