/* from_tiles_loader.c - loads of a loop by a loader: a thread beside the workgroup's copies the
 * tiles of each trip into a slot as soon as that is given back, so that those who multiply wait for
 * no other thread and copy nothing.
 *
 * There is one where two groups of warps multiply by a unit that reads memory by itself: they have
 * a multiprocessor's registers for themselves, and share each slot. It begins with the phase; so
 * its slots are memory that nothing else of the kernel uses. All loads of the loop are in it, or
 * none. */
#include "schedule/simt/simt.h"
#include "tile/simt/access.h"
#include "tile/simt/from_tiles.h"

enum {
    LEAST_THREADS = 256,
    COPY_BYTES = 16,
    BOX_LINES = 256,
    BARRIERS = 2 /* of a slot */
};

bool tiles_may_fetch(const tiles_lowering *t, const ir_builder *b) {
    return t->may_stage && t->threads >= LEAST_THREADS &&
           t->threads + simt_loaders_beside(t->threads) <= t->request->most_threads &&
           ir_op_get(t->m, ir_block_parent(t->m, b->block))->opcode == TILE_PHASE;
}

/* A tile of an argument, whole, by the greatest copies. */
static bool is_fetched(const tiles_stream *s, const ir_builder *b) {
    const tiles_view *far = &s->far;
    const int64_t size = (int64_t)dtype_size(tile_type(b, far->memory)->element);
    return s->in_panels && s->piece * size == COPY_BYTES && !ir_value_get(b->m, far->memory)->op &&
           !far->true_rows && !far->true_columns && far->rows <= BOX_LINES &&
           far->row_stride * size % COPY_BYTES == 0 &&
           access_stays_in_rows(b->m, far->offset, far->row_stride, far->columns);
}

bool tiles_are_fetched(const tiles_lowering *t, const ir_builder *b, size_t first) {
    bool all = t->streams.count > first && tiles_may_fetch(t, b);
    for (size_t i = first; i < t->streams.count && all; i++)
        all = is_fetched(&t->streams.items[i], b) &&
              t->streams.items[i].distance == t->streams.items[first].distance;
    return all;
}

/* Parameters: as many attributes as are named, behind the number of slots. */
static void slot_op(ir_builder *b, int opcode, const tiles_stream *s, ir_value number,
                    const char *name, int64_t value) {
    ir_value operands[] = {s->barriers, number};
    ir_named_attr attrs[] = {{"count", ir_attr_int(b->m, s->distance + 1)},
                             {"behind", ir_attr_int(b->m, 0)},
                             {name, ir_attr_int(b->m, value)}};
    ir_build(b, &(ir_op_spec){.opcode = opcode,
                              .operands = operands,
                              .operand_count = 2,
                              .attrs = attrs,
                              .attr_count = opcode == TILE_SLOT_WAIT ? 1
                                            : name                   ? 3
                                                                     : 2});
}

/* Trips before this one. */
static ir_value number_of(ir_builder *b, const tiles_index *index) {
    if (!index->first)
        return tile_index_plus(b, index->index, -index->least);
    ir_value both[] = {index->index, index->first};
    return tile_affine(b, 0, both, (int64_t[]){1, -1}, 2);
}

static void fetch(ir_builder *b, const tiles_stream *s, ir_value to, ir_value number) {
    const int64_t panel = s->slots.panel;
    for (int64_t first = 0; first < s->far.columns; first += panel) {
        ir_value operands[] = {s->slots.memory, tile_index_plus(b, to, first * s->far.rows),
                               s->far.memory,   tile_index_plus(b, s->far.offset, first),
                               s->barriers,     number};
        ir_named_attr attrs[] = {{"count", ir_attr_int(b->m, s->distance + 1)},
                                 {"rows", ir_attr_int(b->m, s->far.rows)},
                                 {"columns", ir_attr_int(b->m, panel)},
                                 {"from_stride", ir_attr_int(b->m, s->far.row_stride)}};
        ir_build(b, &(ir_op_spec){.opcode = TILE_FETCH,
                                  .operands = operands,
                                  .operand_count = 6,
                                  .attrs = attrs,
                                  .attr_count = 4});
    }
}

static int64_t bytes_of_trip(const tiles_lowering *t, const ir_builder *b, size_t first) {
    int64_t bytes = 0;
    for (size_t i = first; i < t->streams.count; i++) {
        const tiles_view *far = &t->streams.items[i].far;
        bytes += far->rows * far->columns * (int64_t)dtype_size(tile_type(b, far->memory)->element);
    }
    return bytes;
}

bool tiles_open_loader(tiles_lowering *t, ir_builder *b, size_t first, const tiles_index *all) {
    const int64_t slots = t->streams.items[first].distance + 1;
    ir_value barriers = tiles_scratch(t, b, DTYPE_I64, BARRIERS * slots);
    ir_named_attr count = {"count", ir_attr_int(b->m, slots)};
    ir_op loop, op = ir_build(b, &(ir_op_spec){.opcode = TILE_LOADER,
                                               .operands = &barriers,
                                               .operand_count = 1,
                                               .attrs = &count,
                                               .attr_count = 1,
                                               .region_count = 1});
    ir_builder in = {b->m, ir_op_block(b->m, op, 0), 0, b->location};
    tiles_index *now = &t->indices.items[t->indices.count - 1];
    ir_builder each =
        tile_for(&in, tiles_first(&in, all), tiles_trips(&in, all), 1, NULL, 0, &loop, &now->index);
    ir_value number = number_of(&each, now);
    bool ok = true;
    for (size_t i = first; i < t->streams.count; i++)
        t->streams.items[i].barriers = barriers;
    slot_op(&each, TILE_SLOT_CLAIM, &t->streams.items[first], number, "bytes",
            bytes_of_trip(t, b, first));
    for (size_t i = first; i < t->streams.count && ok; i++) {
        tiles_stream *s = &t->streams.items[i];
        ok = tiles_find_load(t, &each, s->load, &s->far);
        if (ok)
            fetch(&each, s, tiles_slot_at(s, &each, number), number);
    }
    tile_yield(&each, NULL, 0);
    t->loaded_bytes = t->scratch_bytes;
    return ok;
}

void tiles_wait_for_slots(tiles_lowering *t, ir_builder *b, size_t first) {
    ir_value number = number_of(b, &t->indices.items[t->indices.count - 1]);
    slot_op(b, TILE_SLOT_WAIT, &t->streams.items[first], number, NULL, 0);
    for (size_t i = first; i < t->streams.count; i++)
        t->streams.items[i].slots.offset = tiles_slot_at(&t->streams.items[i], b, number);
}

void tiles_free_slots(const tiles_lowering *t, ir_builder *b, size_t first) {
    ir_value number = number_of(b, &t->indices.items[t->indices.count - 1]);
    slot_op(b, TILE_SLOT_FREE, &t->streams.items[first], number, NULL, 0);
}
