/* from_tiles_stream.c - loads of factors: their tiles are copied into the workgroup's memory, and
 * those that a loop repeats some trips before they are read.
 *
 * A chip that cannot copy loads the next trip's tile into registers where a trip begins, and stores
 * it where that ends.
 *
 * Such a load has a slot for the present trip and for each one ahead. The copies that are begun in
 * one trip are a group; those before the loop are groups as if it had begun earlier, the farthest
 * load first. So what a trip reads is in the groups before the last `distance` less one of the
 * nearest load, and nobody reads the slot that is copied to, since all threads have met at the
 * barrier. */
#include "tile/simt/access.h"
#include "tile/simt/from_tiles.h"

enum { PIECE_BYTES = 16, LEAST_PIECE_BYTES = 4 };

static void build(ir_builder *b, int opcode, const char *name, int64_t value) {
    ir_named_attr attr = {name, ir_attr_int(b->m, value)};
    ir_build(b, &(ir_op_spec){.opcode = opcode, .attrs = &attr, .attr_count = name != NULL});
}

void tiles_meet(ir_builder *b) {
    build(b, TILE_COPY_WAIT, "left", 0);
    build(b, TILE_BARRIER, NULL, 0);
}

const tiles_stream *tiles_stream_of(const tiles_lowering *t, ir_op load) {
    for (size_t i = 0; i < t->streams.count; i++)
        if (t->streams.items[i].load == load)
            return &t->streams.items[i];
    return NULL;
}

ir_value tiles_first(ir_builder *b, const tiles_index *index) {
    return index->first ? index->first : tile_index(b, index->least);
}

ir_value tiles_trips(ir_builder *b, const tiles_index *index) {
    return index->count ? index->count : tile_index(b, index->most + 1);
}

/* ---- what can be copied ---- */

/* Trips ahead, as is said: of the load, else of its loop, else of the kernel; no more than there
 * are. */
static int64_t distance_of(const tiles_lowering *t, ir_op load, int64_t trips) {
    const ir_op asker = tiles_fetch_asker(t->g, load);
    int64_t ahead = tiles_hint(t, asker, "prefetch", -1),
            stages = tiles_hint(t, asker, "stages", t->stages);
    ahead = ahead >= 0 ? ahead : stages - 1;
    return ahead < trips ? ahead : trips - 1;
}

/* The operation that says so; 0: nobody does. */
static ir_op asker_of(const tiles_lowering *t, ir_op load) {
    const ir_op asker = tiles_fetch_asker(t->g, load), tiles = tiles_of(t->g);
    return asker ? asker : tiles_hint_of(t->g, tiles, "stages") ? tiles : 0;
}

/* Are all its rows there, and of each as many columns as of any other? In panels some rows may not
 * be. */
static bool is_whole(const tiles_view *far, bool panels) {
    return (!far->valid_rows || (panels && far->true_rows)) &&
           (!far->valid_columns || far->true_columns);
}

static int64_t copied_rows(const tiles_view *far) {
    return far->true_rows ? far->true_rows : far->rows;
}

static int64_t copied_columns(const tiles_view *far) {
    return far->true_columns ? far->true_columns : far->columns;
}

/* Elements at once: a power of two, to which all of it is aligned, up to what is asked for. */
static int64_t piece_of(const tiles_lowering *t, ir_builder *b, ir_op load, const tiles_view *v) {
    int64_t size = (int64_t)dtype_size(tile_type(b, v->memory)->element),
            piece = PIECE_BYTES / size, asked = tiles_hint(t, load, "vector", t->vector),
            aligned = access_index_divisor(b->m, v->offset);
    while (piece > 1 && ((asked && piece > asked) || copied_columns(v) % piece != 0 ||
                         v->row_stride % piece != 0 || aligned % piece != 0))
        piece /= 2;
    return v->column_stride == 1 && piece * size >= LEAST_PIECE_BYTES ? piece : 0;
}

/* Is it a factor of products alone, of their type, which is as it lies, and is not to be read
 * there? */
static bool is_copied(const tiles_lowering *t, ir_op load) {
    ir_value v = ir_op_get(t->g, load)->results[0];
    return t->is_factor[v] && !t->is_read[v] && !t->wide[v] && ir_type_of(t->g, v)->rank == 2 &&
           !ir_op_attr(t->g, load, "shift") &&
           !tiles_says(t, load, "space", memory_space_names[MEMORY_SPACE_REGISTER]);
}

/* Does a unit read it by itself, in all of its products? */
static bool is_staged(const tiles_lowering *t, ir_op load) {
    ir_value v = ir_op_get(t->g, load)->results[0];
    return t->may_stage && !t->is_plain[v];
}

static bool depends(tiles_lowering *t, ir_op load, const char *index) {
    const ir_attr_data *start = ir_attr_get(t->g, ir_op_attr(t->g, load, "start"));
    for (uint32_t i = 0; i < start->count; i++) {
        const ir_attr_data *dim = ir_attr_get(t->g, start->items[i]);
        ir_binding known = {index, 0};
        if (dim->kind == IR_ATTR_DIM &&
            ir_dim_substitute(t->g, dim->integer, (ir_bindings){&known, 1}) != dim->integer)
            return true;
    }
    return false;
}

/* The place of the load in the trip that the last of t->indices names. */
static bool find_trip(tiles_lowering *t, ir_builder *b, tiles_stream *s, ir_value trip) {
    t->indices.items[t->indices.count - 1].index = trip;
    return tiles_find_load(t, b, s->load, &s->far);
}

/* Zeros in all of so many panels' elements, which copies are stored over. */
static void fill_panels(ir_builder *b, const tiles_view *near, int64_t elements) {
    enum { COLUMNS = 256 }; /* of which all is a multiple */
    ir_value zero = tile_constant(b, tile_type(b, near->memory)->element, 0),
             zeros = tile_broadcast(b, zero, elements / COLUMNS, COLUMNS);
    tile_store(b, near->memory, near->offset, zeros, COLUMNS, 1, false);
}

/* Zeros in the columns behind those that are copied, where nothing else is ever stored. */
static void fill_behind(ir_builder *b, tiles_view *near, int64_t rows, const tiles_view *far) {
    if (!far->true_columns)
        return;
    dtype element = tile_type(b, near->memory)->element;
    ir_value zeros =
        tile_broadcast(b, tile_constant(b, element, 0), rows, far->columns - far->true_columns);
    tiles_put(b, near, tile_index_plus(b, near->offset, far->true_columns), zeros);
    near->true_columns = far->true_columns;
}

/* ... whose rows lie as is said of the load. */
static void open_rows(tiles_lowering *t, ir_builder *b, tiles_stream *s, dtype element) {
    const ir_value of = ir_op_get(t->g, s->load)->results[0];
    const int64_t rows = tiles_rows_of_slot(t, element, s->far.rows, s->far.columns, of),
                  slots = s->distance + 1;
    s->slots = tiles_room(t, b, element, slots * rows, s->far.columns, of);
    s->slots.rows = s->far.rows;
    s->slot = rows * s->slots.row_stride;
    fill_behind(b, &s->slots, slots * rows, &s->far);
}

/* Room for a tile that is copied, and those ahead. */
static void open_slots(tiles_lowering *t, ir_builder *b, tiles_stream *s) {
    const tiles_view *far = &s->far;
    const int64_t slots = s->distance + 1;
    dtype element = tile_type(b, far->memory)->element;
    if (!s->in_panels) {
        open_rows(t, b, s, element);
        return;
    }
    s->slots = tiles_panels(t, b, element, slots, far->rows, far->columns, &s->slot);
    s->slots.true_rows = far->true_rows;
    s->slots.true_columns = far->true_columns;
    tiles_note_panels(t, ir_op_get(t->g, s->load)->results[0]);
    if (far->true_rows || far->true_columns)
        fill_panels(b, &s->slots, slots * s->slot);
}

/* Adds the stream of a load, without memory, if it is one. */
static bool add_stream(tiles_lowering *t, ir_builder *b, ir_op load, const tiles_index *index) {
    const int64_t said = distance_of(t, load, index->most + 1 - index->least),
                  most = t->most_stages - 1;
    tiles_stream s = {.load = load, .distance = said < most ? said : most};
    if (said <= 0 || !is_copied(t, load) || !depends(t, load, index->name))
        return true;
    if (said > most && !t->fewer)
        t->fewer = asker_of(t, load);
    if (s.distance <= 0)
        return true;
    if (!find_trip(t, b, &s, tile_index(b, 1)))
        return false;
    s.piece = t->request->copies && is_whole(&s.far, false) ? piece_of(t, b, load, &s.far) : 0;
    if (!s.piece && (s.far.valid_rows || s.far.valid_columns))
        return true;
    if (s.piece == 0)
        s.distance = 1;
    s.in_panels = s.piece && is_staged(t, load);
    t->used_stages = s.distance < t->used_stages ? t->used_stages : s.distance + 1;
    vec_push(&t->streams, s);
    return true;
}

/* Memory for their slots; where a loader fills them, such as nothing has used. */
static void open_all_slots(tiles_lowering *t, ir_builder *b, size_t first, bool fetched) {
    if (fetched && t->most_bytes > t->scratch_bytes)
        t->scratch_bytes = t->most_bytes;
    for (size_t i = first; i < t->streams.count; i++)
        open_slots(t, b, &t->streams.items[i]);
}

/* ---- copies ---- */

ir_value tiles_slot_at(const tiles_stream *s, ir_builder *b, ir_value trip) {
    ir_value number = tile_index_by(b, TILE_INDEX_REM, trip, s->distance + 1);
    return tile_affine(b, 0, &number, &s->slot, 1);
}

/* Parameters: those of copy(), and some columns, which are those of one panel where there are any.
 */
static void copy_columns(ir_builder *b, const tiles_view *to, ir_value at, const tiles_view *from,
                         int64_t piece, int64_t first, int64_t columns) {
    ir_value operands[] = {to->memory, at, from->memory, from->offset};
    if (first) {
        operands[1] = tile_index_plus(b, at, first * to->rows);
        operands[3] = tile_index_plus(b, from->offset, first);
    }
    ir_named_attr attrs[] = {{"rows", ir_attr_int(b->m, copied_rows(from))},
                             {"columns", ir_attr_int(b->m, columns)},
                             {"to_stride", ir_attr_int(b->m, to->row_stride)},
                             {"from_stride", ir_attr_int(b->m, from->row_stride)},
                             {"piece", ir_attr_int(b->m, piece)},
                             {"swizzle", ir_attr_int(b->m, to->swizzle)}};
    ir_build(b, &(ir_op_spec){.opcode = TILE_COPY,
                              .operands = operands,
                              .operand_count = 4,
                              .attrs = attrs,
                              .attr_count = to->swizzle ? 6 : 5});
}

static void copy(ir_builder *b, const tiles_view *to, ir_value at, const tiles_view *from,
                 int64_t piece) {
    int64_t all = copied_columns(from), each = to->panel ? to->panel : all;
    for (int64_t first = 0; first < all; first += each)
        copy_columns(b, to, at, from, piece, first, all - first < each ? all - first : each);
}

static bool load_trip(tiles_lowering *t, ir_builder *b, tiles_stream *s, ir_value trip) {
    if (!find_trip(t, b, s, trip))
        return false;
    s->loaded = tile_load(b, s->far.memory, s->far.offset, s->far.rows, s->far.columns,
                          s->far.row_stride, s->far.column_stride);
    return true;
}

static void store_trip(const tiles_stream *s, ir_builder *b, ir_value trip) {
    tiles_put(b, &s->slots, tiles_slot_at(s, b, trip), s->loaded);
}

/* Before the loop. */
static bool bring_trip(tiles_lowering *t, ir_builder *b, tiles_stream *s, ir_value trip) {
    if (!s->piece) {
        bool ok = load_trip(t, b, s, trip);
        if (ok)
            store_trip(s, b, trip);
        return ok;
    }
    if (!find_trip(t, b, s, trip))
        return false;
    copy(b, &s->slots, tiles_slot_at(s, b, trip), &s->far, s->piece);
    return true;
}

bool tiles_copy_now(tiles_lowering *t, ir_builder *b, ir_op load, const tiles_view *far,
                    tiles_view *out) {
    tiles_stream s = {
        .load = load, .far = *far, .in_panels = is_staged(t, load) && t->request->copies};
    if (!is_copied(t, load) || !is_whole(far, s.in_panels))
        return false;
    int64_t piece = piece_of(t, b, load, far);
    if (piece == 0)
        return false;
    open_slots(t, b, &s);
    *out = s.slots;
    copy(b, out, out->offset, far, piece);
    build(b, TILE_COPY_COMMIT, NULL, 0);
    build(b, TILE_COPY_WAIT, "left", 0);
    return true;
}

static int64_t farthest(const tiles_lowering *t, size_t first) {
    int64_t most = 0;
    for (size_t i = first; i < t->streams.count; i++)
        most = t->streams.items[i].distance > most ? t->streams.items[i].distance : most;
    return most;
}

static int64_t nearest(const tiles_lowering *t, size_t first) {
    int64_t least = INT64_MAX;
    for (size_t i = first; i < t->streams.count; i++)
        least = t->streams.items[i].distance < least ? t->streams.items[i].distance : least;
    return least;
}

/* Guards it: a loop whose beginning is no number may not have that trip. */
static bool bring_if_any(tiles_lowering *t, ir_builder *b, tiles_stream *s, const tiles_index *all,
                         ir_value trip) {
    ir_op guard;
    ir_value there;
    ir_builder in = tile_for(b, trip, tiles_trips(b, all), all->most + 1, NULL, 0, &guard, &there);
    bool ok = bring_trip(t, &in, s, there);
    tile_yield(&in, NULL, 0);
    return ok;
}

static bool begin_copies(tiles_lowering *t, ir_builder *b, size_t first, const tiles_index *all) {
    int64_t groups = farthest(t, first), count = all->most + 1 - all->least;
    bool ok = true;
    for (int64_t group = 0; group < groups && ok; group++) {
        for (size_t i = first; i < t->streams.count && ok; i++) {
            tiles_stream *s = &t->streams.items[i];
            int64_t trip = group - (groups - s->distance);
            if (trip >= 0 && trip < count && all->first)
                ok = bring_if_any(t, b, s, all, tile_index_plus(b, all->first, trip));
            else if (trip >= 0 && trip < count)
                ok = bring_trip(t, b, s, tile_index(b, all->least + trip));
        }
        build(b, TILE_COPY_COMMIT, NULL, 0);
    }
    return ok;
}

bool tiles_open_streams(tiles_lowering *t, ir_builder *b, ir_op loop, const tiles_index *all) {
    const size_t first = t->streams.count;
    const int64_t count = all->most + 1 - all->least;
    ir_block block = ir_op_block(t->g, loop, 0);
    bool ok = true;
    vec_push(&t->indices, *all);
    for (ir_op op = ir_block_get(t->g, block)->first; op && ok && count > 1;
         op = ir_op_get(t->g, op)->next)
        ok = ir_op_get(t->g, op)->opcode != GRAPH_LOAD || add_stream(t, b, op, all);
    const bool fetched = ok && tiles_are_fetched(t, b, first);
    if (ok)
        open_all_slots(t, b, first, fetched);
    ok = ok && (t->streams.count == first ||
                (fetched ? tiles_open_loader : begin_copies)(t, b, first, all));
    t->indices.count--;
    return ok;
}

/* The last trip loads its own tile again, into a slot that nobody reads. */
static bool load_ahead(tiles_lowering *t, ir_builder *b, tiles_stream *s) {
    tiles_index *now = &t->indices.items[t->indices.count - 1];
    ir_value trip = now->index;
    bool ok = load_trip(t, b, s,
                        tile_index_op(b, TILE_INDEX_MIN, tile_index_plus(b, trip, 1),
                                      tile_index_plus(b, tiles_trips(b, now), -1)));
    t->indices.items[t->indices.count - 1].index = trip;
    return ok;
}

void tiles_end_trip(const tiles_lowering *t, ir_builder *b, size_t first) {
    ir_value trip = t->indices.items[t->indices.count - 1].index;
    if (t->streams.count > first && t->streams.items[first].barriers)
        tiles_free_slots(t, b, first);
    for (size_t i = first; i < t->streams.count; i++)
        if (!t->streams.items[i].piece)
            store_trip(&t->streams.items[i], b, tile_index_plus(b, trip, 1));
}

/* A trip that there is, `distance` further on. */
static bool copy_ahead(tiles_lowering *t, ir_builder *b, tiles_stream *s) {
    tiles_index *now = &t->indices.items[t->indices.count - 1];
    ir_value trip = now->index, next;
    ir_op guard;
    ir_builder in = tile_for(b, tile_index_plus(b, trip, s->distance), tiles_trips(b, now),
                             now->most + 1, NULL, 0, &guard, &next);
    bool ok = bring_trip(t, &in, s, next);
    tile_yield(&in, NULL, 0);
    t->indices.items[t->indices.count - 1].index = trip;
    return ok;
}

bool tiles_next_trip(tiles_lowering *t, ir_builder *b, size_t first) {
    bool ok = true;
    if (t->streams.count == first)
        return true;
    if (t->streams.items[first].barriers) {
        tiles_wait_for_slots(t, b, first);
        return true;
    }
    build(b, TILE_COPY_WAIT, "left", nearest(t, first) - 1);
    build(b, TILE_BARRIER, NULL, 0);
    for (size_t i = first; i < t->streams.count && ok; i++)
        ok = (t->streams.items[i].piece ? copy_ahead : load_ahead)(t, b, &t->streams.items[i]);
    build(b, TILE_COPY_COMMIT, NULL, 0);
    for (size_t i = first; i < t->streams.count; i++) {
        tiles_stream *s = &t->streams.items[i];
        s->slots.offset = tiles_slot_at(s, b, t->indices.items[t->indices.count - 1].index);
    }
    return ok;
}
