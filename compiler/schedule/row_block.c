/* row_block.c - reductions of rows inside of a chain: a block of rows in the workgroup's memory,
 * one after the other or some side by side.
 *
 * Where not one whole row is there, each reduction is a loop over pieces of the columns, whose
 * scores are computed for it. In the end the weights of a piece take the place of its scores, when
 * the chain's last contraction asks for them. */
#include <string.h>

#include "parameters/thresholds.h"
#include "schedule/policy.h"
#include "schedule/rows.h"

/* Each outer axis and the row keep an index of their own; the block's first row is one more. */
static void map_block(rows *r) {
    const row_block *block = r->block;
    int row = block->outer, column = row + 1, first = row + 2;
    r->map = (axis_map){.count = block->outer + 3};
    for (int a = 0; a < NEST_AXES; a++)
        r->map.index_of[a] = a < block->outer ? a : -1;
    for (int a = 0; a < block->outer; a++)
        r->map.extent[a] = r->group->dims[a];
    r->map.index_of[first] = block->outer;
    r->map.index_of[row] = block->outer + 1;
    r->map.index_of[column] = block->outer + 2;
    r->map.extent[block->outer] = r->map.extent[block->outer + 1] = r->group->dims[row];
    r->map.extent[block->outer + 2] = r->group->dims[column];
    r->row_count = r->map.count - 1;
    r->row_map = r->map;
    r->row_map.count--;
    r->row_map.index_of[column] = -1;
    r->piece_map = r->map;
    r->piece_map.count++;
    r->piece_map.index_of[first + 1] = block->outer + 1;
    r->piece_map.index_of[row]++;
    r->piece_map.index_of[column]++;
}

static ir_builder open_block_rows(rows *r, ir_builder *b) {
    ir_builder in = rows_open_row(r, b, r->indices[r->block->outer], r->block->rows);
    r->around = &r->outside;
    return in;
}

static bool has_results(const rows *r) {
    for (size_t i = 0; i < r->group->roots.count; i++)
        if (!r->done[i] && !rows_is_in_place(r, r->group->roots.items[i]))
            return true;
    return false;
}

/* Tells that reductions may go one after the other: only the weights are handed on by columns. */
static bool can_be_apart(rows *r) {
    ir_dim columns = r->group->dims[r->block->outer + 1];
    if (!ir_dim_is_static(columns) || columns > SHORT_COLUMNS)
        return false;
    for (size_t i = 0; i < r->group->reduces.count; i++) {
        ir_value x = rows_reduce_operand(r, i);
        if (x != r->block->weights && (rows_root_number(r, x) >= 0 || rows_is_worth_a_row(r, x)))
            return false;
    }
    return true;
}

/* A short row is soon done, and waits for its sums: the next row's must not wait for it. */
static void emit_apart(rows *r, ir_builder *b) {
    for (size_t i = 0; i < r->group->reduces.count; i++) {
        ir_builder in = open_block_rows(r, b);
        rows_emit_reduce(r, &in, i);
    }
    if (!has_results(r))
        return;
    ir_builder in = open_block_rows(r, b);
    rows_emit_row_roots(r, &in);
    rows_emit_full_roots(r, &in);
}

/* Rows one after the other, or some side by side. */
static void emit_together(rows *r, ir_builder *b) {
    ir_builder in = rows_open_row(r, b, r->indices[r->block->outer], r->block->rows);
    for (size_t i = 0; i < r->group->reduces.count; i++)
        rows_emit_reduce(r, &in, i);
    rows_emit_row_roots(r, &in);
    rows_emit_full_roots(r, &in);
}

/* All reductions, each a pass over the scores; what is left of them makes the weights. */
static void emit_passes(rows *r, ir_builder *b) {
    ir_builder in = open_block_rows(r, b);
    for (size_t i = 0; i < r->group->reduces.count; i++)
        rows_emit_reduce(r, &in, i);
    rows_emit_row_roots(r, &in);
    rows_hoist(r, &in, &r->block->weights, 1, true);
    r->block->use(r->block->of, b, r);
}

void schedule_weights_of_piece(rows *r, ir_builder *b, ir_value first) {
    ir_builder in = open_block_rows(r, b);
    r->piece = first;
    rows_emit_full_roots(r, &in);
    r->piece = 0;
}

/* Does the value's expression read those weights, where it is not they? */
static bool reads(const rows *r, ir_value v, ir_value weights) {
    expression e = {.p = r->s->p, .group = -1};
    affine index[IR_MAX_RANK];
    bool found = false;
    expression_identity(r->s->p, v, 0, index);
    expression_element(&e, v, index);
    for (size_t i = 0; i < e.inputs.count; i++)
        found |= e.inputs.items[i].source == weights;
    expression_release(&e);
    return found && v != weights;
}

bool schedule_rows_have_pieces(scheduler *s, int number, ir_value weights) {
    rows r = {.s = s, .group = &s->p->groups[number], .number = number};
    for (size_t i = 0; i < r.group->reduces.count; i++)
        if (reads(&r, rows_reduce_operand(&r, i), weights))
            return false;
    for (size_t i = 0; i < r.group->roots.count; i++) {
        ir_value v = r.group->roots.items[i];
        if (v != weights && plan_type(s->p, v)->rank == r.group->rank)
            return false;
    }
    return rows_root_number(&r, weights) >= 0;
}

void schedule_rows_of_block(scheduler *s, int number, ir_builder *b, const row_block *block) {
    const schedule_policy *policy = s->target->policy;
    rows r = {.s = s,
              .group = &s->p->groups[number],
              .number = number,
              .block = block,
              .beside = policy_rows_beside(s, block->row_count),
              .around_rows = block->row_count};
    r.vector = scheduler_int(s, policy->row_vector(s, r.beside));
    map_block(&r);
    r.sub = scheduler_int(s, policy->row_lanes(s));
    memcpy(r.indices, block->indices, sizeof *r.indices * (size_t)(block->outer + 1));
    rows_substitute_block(&r, block->scores);
    if (block->piece)
        emit_passes(&r, b);
    else if (r.beside == 1 && can_be_apart(&r))
        emit_apart(&r, b);
    else
        emit_together(&r, b);
}
