/* group_chain.c - a chain of contraction, reductions of rows, contraction, one block of rows at a
 * time: the scores of a block stay in cache, where the weights take their place.
 *
 * A grid over batches and blocks of rows. In a cell: register tiles of scores, some columns at a
 * time; each row's reductions and weights, in place; the product of the weights in chunks. The
 * right side of the scores is packed in a phase before, or by the cell that alone reads it. */
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/integers.h"

enum { PADDING = 16 };

typedef struct chain {
    scheduler *s;
    const plan_group *last;
    contraction first, second;
    ir_value memory; /* rows of scores, then of weights */
    int64_t stride;
} chain;

/* As many rows as the cache holds, but enough to use each key more than a few times, as long as
 * threads have cells. */
static int64_t choose_rows(const chain *k) {
    const schedule_target *t = k->s->target;
    int64_t mr = k->second.mr, row_bytes = k->stride * 4;
    int64_t rows = clamp(t->l2_bytes / row_bytes, CHAIN_ROWS, CHAIN_MOST_ROWS) / mr * mr;
    rows = clamp(rows, mr, round_up(k->second.m, mr));
    while (rows > mr && contraction_cells(&k->second, rows, k->second.n) < 4 * t->threads)
        rows -= mr;
    return rows;
}

/* A tile of the second product is as wide as its rows where they fit registers. */
static void choose_tiles(chain *k) {
    scheduler *s = k->s;
    contraction *a = &k->first, *z = &k->second;
    int64_t lanes = s->target->vector_lanes;
    bool many = s->target->vector_registers >= 32;
    int64_t widest = many ? 5 : 2, vectors = (z->n + lanes - 1) / lanes;
    vectors = vectors <= widest                              ? vectors
              : many && vectors % 4 != 0 && vectors % 3 == 0 ? 3
                                                             : widest - many;
    int64_t most = (s->target->vector_registers - 2 - vectors) / vectors;
    int64_t mr = clamp(clamp(most, 1, 6), 1, z->m);
    if (mr == 6 && z->m % 6 != 0 && z->m % 4 == 0) /* no remainder: less code, and no thin tile */
        mr = 4;
    z->mr = scheduler_parameter(s, IN_DOT, MR, mr, &z->mr_name);
    z->nr = scheduler_parameter(s, IN_DOT, NR, vectors * lanes, &z->nr_name);
    z->bm = scheduler_parameter(s, IN_DOT, BM, choose_rows(k), &z->bm_name);
    z->bn = round_up(z->n, z->nr);
    z->bn_name = scheduler_int(s, z->bn);
    a->mr = z->mr;
    a->mr_name = z->mr_name;
    a->nr = lanes * (many ? clamp(24 / a->mr, 4, 12) : 2);
    if (a->n % a->nr != 0 && many && a->n % (4 * lanes) == 0)
        a->nr = 4 * lanes; /* no remainder */
    a->nr_name = scheduler_int(s, a->nr);
    a->bm = z->bm;
    a->bm_name = z->bm_name;
    a->bn = 4 * a->nr;
    a->bn_name = scheduler_int(s, a->bn);
    a->unroll = z->unroll = scheduler_int(s, 1);
    a->prefetch_name = z->prefetch_name = scheduler_int(s, 0);
}

/* Operands that several cells read are packed once for all of them. */
static void choose_packing(contraction *c, bool lhs) {
    bool strided = contraction_along(c, &c->rhs_access, c->outer + 1) != 1 && c->n > 1;
    bool near = contraction_along(c, &c->rhs_access, c->outer + 2) <= 4 * c->nr;
    c->many_axes = c->k_axis + 4 >= NEST_AXES;
    c->pack_lhs = lhs && !contraction_same_storage(c, c->lhs) ? PACK_PHASE : PACK_NOT;
    c->pack_rhs = !strided && near && contraction_same_storage(c, c->rhs) ? PACK_NOT
                  : c->m <= c->bm && !c->many_axes                        ? PACK_BLOCK
                                                                          : PACK_PHASE;
}

static affine block_access(const contraction *c, int column, int64_t stride) {
    affine a = {0};
    a.coefficient[contraction_axis(c, c->outer)] = stride;
    a.coefficient[contraction_axis(c, column)] = 1;
    a.coefficient[c->k_axis + 1] = -stride; /* the block's first row */
    return a;
}

/* All blocks of columns of one contraction, for the rows of the cell. */
static void emit_product(contraction *c, ir_builder *b, const ir_value *indices) {
    ir_value block[NEST_AXES];
    memcpy(block, indices, sizeof *block * (size_t)(c->outer + 1));
    ir_builder in = scheduler_for(c->s, b, "columns", 0, c->n, c->bn_name, 0, &block[c->outer + 1]);
    contraction_emit_block(c, &in, block);
}

static void emit_cell(chain *k, ir_builder *b, const ir_value *indices) {
    scheduler *s = k->s;
    contraction *a = &k->first, *z = &k->second;
    int64_t dims[] = {z->bm, k->stride};
    k->memory = scheduler_buffer(s, b, "cell", DTYPE_F32, 2, dims);
    a->root_buffer = z->lhs = k->memory;
    a->output = block_access(a, a->outer + 1, k->stride);
    z->lhs_access = block_access(z, z->outer + 2, k->stride);
    row_block rows = {.indices = indices,
                      .outer = z->outer,
                      .rows = z->bm_name,
                      .scores = a->root,
                      .weights = ir_op_get(s->p->g, z->op)->operands[0],
                      .memory = k->memory,
                      .stride = k->stride};
    emit_product(a, b, indices);
    schedule_rows_of_block(s, k->last->rows, b, &rows);
    emit_product(z, b, indices);
}

void schedule_chain_group(scheduler *s, const plan_group *last) {
    chain k = {.s = s,
               .last = last,
               .first = contraction_of_group(s, &s->p->groups[last->scores]),
               .second = contraction_of_group(s, last)};
    ir_value indices[NEST_AXES];
    k.first.separate = k.second.separate = true;
    if (!contraction_analyse(&k.first) || !contraction_analyse(&k.second)) {
        s->failed = true;
        return;
    }
    k.stride = round_up(k.first.n, PADDING) + PADDING; /* rows begin in different cache sets */
    contraction_choose_form(&k.first);
    contraction_choose_form(&k.second);
    if (last->hides) {
        k.first.limited = true;
        k.first.counts = k.second.counts;
        k.first.count_access.coefficient[contraction_axis(&k.first, k.first.outer)] = 1;
    }
    choose_tiles(&k);
    choose_packing(&k.first, true);
    choose_packing(&k.second, false);
    contraction_pack(&k.first);
    contraction_pack(&k.second);
    ir_builder b = contraction_open_grid(&k.second, "chain", false, indices);
    emit_cell(&k, &b, indices);
}
