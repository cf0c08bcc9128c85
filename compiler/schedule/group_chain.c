/* group_chain.c - a chain of contraction, reductions of rows, contraction, one block of rows at a
 * time: the scores of a block stay in cache, where the weights take their place.
 *
 * A grid over batches and blocks of rows. In a workgroup: register tiles of scores, some columns at
 * a time; each row's reductions and weights, in place; the product of the weights in chunks. The
 * right side of the scores is packed in a phase before, or by the workgroup that alone reads it.
 *
 * Where the workgroup's memory has no room for one row, it has the scores of some columns at a
 * time, and they are computed anew for each reduction of the rows and for the product: passes over
 * the columns, with the same bits.
 *
 * Where a fold takes what comes out turn by turn, the turns are a loop in the workgroup, and what
 * they make stays there. */
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/fold.h"
#include "schedule/integers.h"
#include "schedule/policy.h"

typedef struct chain_block {
    scheduler *s;
    const plan_group *last;
    contraction first, second;
    ir_value memory; /* rows of scores, then of weights */
    ir_dim stride;
    fold_block fold; /* op 0: there is none */
    int turn;        /* ... the outer axis that its turns are */
    ir_value kept[FOLD_VALUES], kept_memory[FOLD_VALUES]; /* results of rows, of one turn */
    size_t kept_count;
    int64_t kept_bytes; /* of a row, beside its scores; 0: rows have not been held to it */
    int64_t piece;      /* columns of scores that are in memory at once; 0: all */
    const contraction_place *workgroup;
    struct rows *rows; /* in pieces: what makes weights of scores */
} chain_block;

/* ---- rows ---- */

static ir_value weights_of(const chain_block *k) {
    return ir_op_get(k->s->p->g, k->second.op)->operands[0];
}

/* Bytes of a row: its scores; its sums, in tiles of so many columns. */
static int64_t score_bytes(const chain_block *k) {
    return scheduler_estimate(k->s, k->stride) * 4;
}

static int64_t sum_bytes(const chain_block *k, int64_t columns) {
    const contraction *c = &k->second;
    return c->chunked || k->fold.op ? round_up(c->shape.columns, columns) * 4 : 0;
}

/* Rows that fit into a workgroup, of which each has so many bytes beside its scores and sums. */
static int64_t rows_with(const chain_block *k, int64_t columns, int64_t more) {
    return k->s->target->policy->chain_rows(k->s, score_bytes(k) + more, sum_bytes(k, columns));
}

static int64_t rows_that_fit(const chain_block *k, int64_t columns) {
    int64_t rows = rows_with(k, columns, k->kept_bytes);
    return rows > 0 ? rows : 1;
}

/* As many rows as fit, as long as threads have workgroups. */
static int64_t choose_rows(const chain_block *k, int64_t mr, int64_t columns) {
    const schedule_target *t = k->s->target;
    const contraction *c = &k->second;
    const contraction_shape *z = &c->shape;
    int64_t step = least_common_multiple(mr, t->policy->chain_step),
            rows = rows_that_fit(k, columns);
    step = z->rows < step || rows < step ? mr : step;
    rows = clamp(rows / step * step, step, round_up(z->rows, step));
    size_search search = contraction_sizes(c, SIZES_CHAIN_BLOCK);
    search.threads *= k->fold.op ? k->fold.shape.turns : 1;
    rows = size_search_one(search, (size_dim){z->rows, rows, step, step});
    int64_t vectors = k->fold.op ? least_common_multiple(mr, t->vector_lanes) : 1;
    return rows > vectors ? rows / vectors * vectors : rows;
}

/* Checks that an extent is a number of whole steps, so that nothing is left over: less code, and no
 * thin tile. */
static bool divides(int64_t step, ir_dim extent) {
    return ir_dim_is_static(extent) && extent % step == 0;
}

/* Rows of a register tile of the second product, which is so many columns wide. */
static int64_t choose_tile_rows(const chain_block *k, int64_t columns) {
    const contraction *z = &k->second;
    const schedule_target *t = k->s->target;
    int64_t vectors = columns / t->vector_lanes,
            most = (t->vector_registers - 2 - vectors) / vectors,
            mr = clamp(clamp(most, 1, CONTRACTION_TILE_ROWS), 1, z->shape.rows),
            fit = rows_that_fit(k, columns);
    mr = mr < fit ? mr : fit;
    return mr == CONTRACTION_TILE_ROWS && !divides(mr, z->shape.m) && divides(4, z->shape.m) ? 4
                                                                                             : mr;
}

/* ---- passes ---- */

/* The second product asks for as many scores as one of its chunks has, and reductions go on from
 * piece to piece by whole lanes. */
static bool can_have_pieces(const chain_block *k) {
    const contraction *a = &k->first, *z = &k->second;
    bool known = ir_dim_is_static(z->shape.m) && ir_dim_is_static(z->shape.n) &&
                 ir_dim_is_static(a->shape.n) && ir_dim_is_static(a->shape.k);
    return known && z->chunked && !k->fold.op && contraction_chunk(z) % ORDER_LANES64_LANES == 0 &&
           schedule_rows_have_pieces(k->s, k->last->rows, weights_of(k));
}

/* As many rows as are reduced side by side, and as fit with a piece of their scores. */
static int64_t choose_piece_rows(chain_block *k, int64_t columns) {
    const schedule_target *t = k->s->target;
    const contraction *z = &k->second;
    int64_t rows = policy_rows_beside(k->s, CHAIN_MOST_ROWS), step = t->policy->chain_step;
    k->stride = contraction_padded_row(k->s, k->piece);
    int64_t fit = rows_with(k, columns, k->first.result.unfused ? score_bytes(k) : 0);
    rows = size_that_fits(power_at_least(z->shape.rows, rows), 1, 1, fit);
    rows = size_search_one(contraction_sizes(z, SIZES_CHAIN_PIECE),
                           (size_dim){z->shape.rows, rows, step, 1});
    return rows < step ? 1 : rows;
}

/* Takes fewer rows where they have no room with what they keep from loop to loop; where not one
 * has, they go in pieces. What is too much for a cache is in the next one. */
static void hold_to_room(chain_block *k, int64_t columns) {
    int64_t room = policy_row_room(k->s);
    if (room == INT64_MAX)
        return;
    int64_t kept = schedule_row_kept_bytes(k->s, k->last->rows, weights_of(k)),
            rows = choose_rows(k, choose_tile_rows(k, columns), columns),
            keep = policy_rows_beside(k->s, rows) > 1 ? rows : 1;
    if (rows * (score_bytes(k) + sum_bytes(k, columns)) + keep * kept <= room)
        return;
    if (rows_with(k, columns, kept) > 0)
        k->kept_bytes = kept;
    else if (can_have_pieces(k))
        k->piece = contraction_chunk(&k->second);
}

/* ---- tiles ---- */

/* A tile of the second product is as wide as its rows where they fit registers. */
static int64_t choose_columns(const chain_block *k) {
    int64_t lanes = k->s->target->vector_lanes;
    bool many = k->s->target->vector_registers >= 32;
    int64_t widest = many ? 5 : 2, vectors = (k->second.shape.columns + lanes - 1) / lanes;
    vectors = vectors <= widest                              ? vectors
              : many && vectors % 4 != 0 && vectors % 3 == 0 ? 3
                                                             : widest - many;
    return vectors * lanes;
}

/* Columns of scores that the first product makes at once. */
static int64_t choose_score_columns(const chain_block *k) {
    const contraction *a = &k->first;
    int64_t lanes = k->s->target->vector_lanes;
    bool many = k->s->target->vector_registers >= 32;
    int64_t columns = lanes * (many ? clamp(24 / a->tiles.mr.size, 4, 12) : 2);
    if (!divides(columns, a->shape.n) && many && divides(4 * lanes, a->shape.n))
        columns = 4 * lanes;
    return k->piece ? k->piece : columns;
}

/* Few rows read each key once: a copy that has its steps apart would be read once, too. */
static bool turns_keys(const chain_block *k) {
    const contraction *a = &k->first;
    return k->s->target->policy->turned_tile && a->turnable && !k->piece && !a->result.unfused &&
           contraction_has_known_size(a) && contraction_same_storage(a, a->rhs.buffer);
}

static void choose_tiles(chain_block *k) {
    scheduler *s = k->s;
    contraction *a = &k->first, *z = &k->second;
    int64_t columns = choose_columns(k);
    hold_to_room(k, columns);
    int64_t step = s->target->policy->chain_step,
            piece_rows = k->piece ? choose_piece_rows(k, columns) : 0,
            mr = k->piece ? clamp(piece_rows, 1, step) : choose_tile_rows(k, columns);
    contraction_ask(z, MR, mr, &z->tiles.mr);
    contraction_ask(z, NR, columns, &z->tiles.nr);
    int64_t rows = k->piece ? piece_rows : choose_rows(k, z->tiles.mr.size, z->tiles.nr.size);
    contraction_ask(z, BM, rows, &z->tiles.bm);
    z->tiles.bn =
        tile_number(s, ir_dim_is_static(z->shape.n) ? round_up(z->shape.n, z->tiles.nr.size)
                                                    : 4 * z->tiles.nr.size);
    z->tiles.unroll = scheduler_int(s, 1);
    a->tiles = z->tiles;
    if (turns_keys(k))
        s->target->policy->turned_tile(a);
    else
        a->tiles.nr = tile_number(s, choose_score_columns(k));
    a->tiles.bn = tile_number(s, k->piece ? k->piece : 4 * a->tiles.nr.size);
}

/* Operands that several workgroups read are packed once for all of them. */
static void choose_packing(contraction *c, bool lhs) {
    bool strided = contraction_along(c, &c->rhs.access, AXIS_N) != 1 && c->shape.columns > 1;
    ir_dim run = contraction_along(c, &c->rhs.access, AXIS_K);
    bool near = !ir_dim_is_static(run) || run <= 4 * c->tiles.nr.size;
    bool one_block = c->s->target->policy->chain_packs &&
                     (c->shape.rows <= c->tiles.bm.size || !contraction_has_known_size(c)) &&
                     contraction_can_pack_blocks(c);
    c->lhs.packing = lhs && !contraction_same_storage(c, c->lhs.buffer) ? PACK_PHASE : PACK_NOT;
    bool lies = c->turned || (!strided && near);
    c->rhs.packing = lies && contraction_same_storage(c, c->rhs.buffer) ? PACK_NOT
                     : one_block                                        ? PACK_BLOCK
                                                                        : PACK_PHASE;
}

/* Rows of the block's memory. */
static affine block_access(const contraction *c, contraction_axis column, ir_dim stride) {
    affine a = {0};
    contraction_set(c, &a, AXIS_M, stride);
    contraction_set(c, &a, column, 1);
    contraction_set(c, &a, AXIS_BLOCK_M, ir_dim_add_scaled(c->s->p->dims, 0, stride, -1));
    return a;
}

/* All blocks of columns of one contraction, for the rows of the workgroup. */
static void emit_product(contraction *c, ir_builder *b, const contraction_place *workgroup) {
    contraction_place block = *workgroup;
    ir_builder in = scheduler_for(c->s, b, "columns", 0, c->shape.n, c->tiles.bn.name, 0,
                                  &block.at[AXIS_BLOCK_N]);
    scheduler_set_tail(c->s, &in, "tail", 0);
    contraction_emit_block(c, &in, &block);
}

/* The scores of a block's rows from column `first` on, as many as fit. */
static void make_scores(void *of, ir_builder *b, ir_value first) {
    chain_block *k = of;
    contraction_place place = *k->workgroup;
    place.at[AXIS_BLOCK_N] = first;
    contraction_emit_block(&k->first, b, &place);
}

static void make_weights(contraction *c, ir_builder *b, const contraction_place *place) {
    chain_block *k = c->chunks;
    make_scores(k, b, place->at[AXIS_CHUNK]);
    schedule_weights_of_piece(k->rows, b, place->at[AXIS_CHUNK]);
}

/* The last pass: each chunk of the second product has its weights made first. */
static void multiply_pieces(void *of, ir_builder *b, struct rows *rows) {
    chain_block *k = of;
    k->rows = rows;
    k->second.chunks = k;
    k->second.fill_chunk = make_weights;
    emit_product(&k->second, b, k->workgroup);
}

/* Memory of the rows of a block: all of their scores, or a piece of them. */
static void open_memory(chain_block *k, ir_builder *b) {
    contraction *a = &k->first, *z = &k->second;
    ir_dim dims[] = {z->tiles.bm.size, k->stride};
    k->memory = scheduler_buffer(k->s, b, "workgroup", DTYPE_F32, 2, dims);
    a->result.buffer = z->lhs.buffer = k->memory;
    a->result.access = block_access(a, AXIS_N, k->stride);
    z->lhs.access = block_access(z, AXIS_K, k->stride);
    ir_dim sums[] = {a->tiles.bm.size, a->tiles.bn.size};
    if (k->piece && a->result.unfused) /* once, for all places where a piece is made */
        a->sums = scheduler_buffer(k->s, b, "workgroup", a->element, 2, sums);
    if (k->last->hides && (k->piece || k->s->target->policy->chain_clears))
        scheduler_clear(k->s, b, k->memory, DTYPE_F32); /* some are read that no row makes */
    if (!k->piece)
        return;
    a->of_piece = true;
    contraction_set(a, &a->result.access, AXIS_BLOCK_N, -1);
    contraction_set(z, &z->lhs.access, AXIS_CHUNK, -1);
}

/* The scores of a block, and what its rows make of them. */
static void emit_rows(chain_block *k, ir_builder *b, const contraction_place *workgroup) {
    contraction *z = &k->second;
    ir_value indices[NEST_AXES + AXIS_COUNT];
    contraction_indices(z, workgroup, indices);
    open_memory(k, b);
    k->workgroup = workgroup;
    row_block rows = {.indices = indices,
                      .outer = z->shape.outer,
                      .rows = z->tiles.bm.name,
                      .row_count = z->tiles.bm.size,
                      .scores = k->first.result.root,
                      .weights = weights_of(k),
                      .memory = k->memory,
                      .stride = k->stride,
                      .kept = k->kept,
                      .kept_memory = k->kept_memory,
                      .kept_count = k->kept_count,
                      .piece = k->piece,
                      .make = make_scores,
                      .use = multiply_pieces,
                      .of = k};
    if (!k->piece)
        emit_product(&k->first, b, workgroup);
    schedule_rows_of_block(k->s, k->last->rows, b, &rows);
}

/* ---- turns ---- */

/* A grid over all but the turns. */
static ir_builder open_turns(chain_block *k, contraction_place *place) {
    scheduler *s = k->s;
    fold_block *f = &k->fold;
    ir_attr steps[NEST_AXES];
    ir_value indices[NEST_AXES];
    f->rows.size = k->second.tiles.bm.size;
    f->rows.name = k->second.tiles.bm.name;
    for (int i = 0; i < f->outer; i++)
        steps[i] = scheduler_int(s, 1);
    steps[f->outer] = f->rows.name;
    ir_builder b = scheduler_phase(s, "turns", f->outer + 1, f->shape.dims, steps, NULL, indices);
    memcpy(f->outer_index, indices, sizeof *indices * (size_t)f->outer);
    f->first = indices[f->outer];
    *place = (contraction_place){.outer = {0}};
    for (int i = 0; i < k->second.shape.outer; i++)
        place->outer[i] = i == k->turn ? 0 : indices[i - (i > k->turn)];
    place->at[AXIS_BLOCK_M] = f->first;
    return b;
}

/* Memory for the rows that a turn makes; the fold reads them there. */
static void keep_rows(chain_block *k, ir_builder *b) {
    scheduler *s = k->s;
    const plan_group *rows = &s->p->groups[k->last->rows];
    ir_value weights = weights_of(k);
    for (size_t i = 0; i < rows->roots.count; i++) {
        ir_value v = rows->roots.items[i];
        if (v == weights)
            continue;
        if (k->kept_count == FOLD_VALUES) {
            fold_block_refuse(&k->fold);
            return;
        }
        ir_dim size = k->second.tiles.bm.size;
        k->kept[k->kept_count] = v;
        k->kept_memory[k->kept_count] =
            scheduler_buffer(s, b, "workgroup", plan_type(s->p, v)->element, 1, &size);
        fold_block_keep(&k->fold, v, k->kept_memory[k->kept_count++], 1, false);
    }
}

/* The product of a turn, and the columns that are carried, in a loop of their own. */
static void emit_columns_apart(chain_block *k, ir_builder *b, const contraction_place *place) {
    contraction *z = &k->second;
    ir_value made = k->last->roots.items[0];
    ir_dim dims[] = {z->tiles.bm.size, contraction_padded_row(k->s, z->shape.n)};
    z->result.buffer =
        scheduler_buffer(k->s, b, "workgroup", plan_type(k->s->p, made)->element, 2, dims);
    z->result.access = block_access(z, AXIS_N, dims[1]);
    fold_block_keep(&k->fold, made, z->result.buffer, dims[1], true);
    emit_product(z, b, place);
    fold_block_columns(&k->fold, b);
}

/* The axes of the fold's nest as those of the product. */
static affine axes_of_product(const chain_block *k, const affine *a) {
    const contraction *z = &k->second;
    int outer = k->fold.outer;
    affine out = {.constant = a->constant};
    for (int i = 0; i < outer; i++)
        out.coefficient[i + (i >= k->turn)] = a->coefficient[i];
    contraction_set(z, &out, AXIS_M, a->coefficient[outer]);
    contraction_set(z, &out, AXIS_N, a->coefficient[outer + 1]);
    contraction_set(z, &out, AXIS_BLOCK_M, a->coefficient[outer + 2]);
    out.coefficient[k->turn] = a->coefficient[outer + 3];
    return out;
}

/* The columns that are carried are the epilogue of the product: each tile takes them from where it
 * leaves the next ones. */
static void emit_columns_at_once(chain_block *k, ir_builder *b, const contraction_place *place) {
    contraction *z = &k->second;
    const fold_block *f = &k->fold;
    uint32_t number = (uint32_t)fold_block_only_columns(f);
    affine index[IR_MAX_RANK], access = fold_block_access(f, true, f->shape.dims[f->shape.rank]);
    z->result.root = fold_block_end(f, number);
    z->result.buffer = f->memory[number];
    z->result.access = axes_of_product(k, &access);
    expression_identity(k->s->p, z->result.root, 0, index);
    for (int i = 0; i <= f->shape.rank; i++)
        z->result.index[0][i] = axes_of_product(k, &index[i]);
    for (size_t i = 0; i < f->substitute_count; i++) {
        substitute *known = &z->result.known[++z->result.known_count];
        *known = f->substitutes[i];
        known->access = axes_of_product(k, &known->access);
        known->turn = k->turn;
    }
    emit_product(z, b, place);
}

/* Nothing but the sum of the product is made of it before the fold takes it. */
static bool is_epilogue(const chain_block *k) {
    const contraction *z = &k->second;
    int number = fold_block_only_columns(&k->fold);
    return number >= 0 && z->result.root == z->result.value && !z->result.unfused &&
           plan_opcode(k->s->p, fold_block_end(&k->fold, (uint32_t)number)) >= 0;
}

static void emit_turns(chain_block *k) {
    contraction_place place;
    fold_block *f = &k->fold;
    ir_builder b = open_turns(k, &place);
    fold_block_open(f, &b);
    ir_builder in =
        scheduler_for(k->s, &b, "turn", 0, f->shape.turns, scheduler_int(k->s, 1), 0, &f->turn);
    scheduler_mark_loop(k->s, &in, f->op, ORDER_SEQ);
    place.outer[k->turn] = f->turn;
    keep_rows(k, &in);
    emit_rows(k, &in, &place);
    fold_block_rows(f, &in);
    (is_epilogue(k) ? emit_columns_at_once : emit_columns_apart)(k, &in, &place);
    fold_block_next(f, &in);
    f->turn = 0;
    fold_block_store(f, &b);
}

/* The axis of turns in what the chain makes. */
static bool find_turns(chain_block *k) {
    scheduler *s = k->s;
    ir_op op = s->p->groups[k->last->fold].anchor;
    if (!fold_block_init(&k->fold, s, op))
        return false;
    k->turn = (int)fold_axis(s->p->g, op, &k->fold.shape, k->last->roots.items[0]);
    return true;
}

/* ---- the group ---- */

void schedule_chain_group(scheduler *s, const plan_group *last) {
    chain_block k = {.s = s,
                     .last = last,
                     .first = contraction_of_group(s, &s->p->groups[last->scores]),
                     .second = contraction_of_group(s, last)};
    contraction_place workgroup;
    k.first.separate = k.second.separate = true;
    if (last->fold >= 0 && !find_turns(&k))
        return;
    if (!contraction_analyse(&k.first) || !contraction_analyse(&k.second)) {
        s->failed = true;
        return;
    }
    scheduler_parameter(s, IN_DOT, CHAIN, 1, NULL);
    k.stride = contraction_padded_row(s, k.first.shape.n);
    contraction_choose_form(&k.first);
    contraction_choose_form(&k.second);
    if (last->hides) {
        k.first.counts.of = COUNTS_COLUMNS;
        k.first.counts.buffer = k.second.counts.buffer;
        contraction_set(&k.first, &k.first.counts.access, AXIS_M, 1);
    }
    choose_tiles(&k);
    choose_packing(&k.first, true);
    choose_packing(&k.second, false);
    contraction_pack(&k.first);
    contraction_pack(&k.second);
    if (last->fold >= 0) {
        emit_turns(&k);
        return;
    }
    ir_builder b = contraction_open_grid(&k.second, "chain", false, &workgroup);
    emit_rows(&k, &b, &workgroup);
    if (!k.piece)
        emit_product(&k.second, &b, &workgroup);
}
