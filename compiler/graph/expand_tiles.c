/* expand_tiles.c - a kernel of tiles written out: instance by instance, loop by loop, as operations
 * on tensors.
 *
 * This is what such a kernel means. A tile that hangs over an edge is a shorter tensor here, and
 * what is computed of tiles of different lengths is as long as the shortest. */
#include "graph/expand_tiles.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes.h"
#include "ops/build.h"
#include "ops/tiles.h"

enum { OPERATIONS_MAX = 4000000 };

bool expansion_refuse(const expansion *e, ir_op op, const char *format, ...) {
    char words[400];
    uint32_t line = ir_op_get(e->m, op)->location.line;
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    return line ? status_set(e->st, STATUS_INVALID, "with these dimensions, line %u: %s", line,
                             words)
                : status_set(e->st, STATUS_INVALID, "with these dimensions, %s: %s",
                             op_info_get(ir_op_get(e->m, op)->opcode)->name, words);
}

const ir_type_data *expansion_type(const expansion *e, ir_value v) {
    return ir_type_of(e->m, v);
}

bool expansion_number(expansion *e, ir_op op, ir_attr dim, int64_t *out) {
    const ir_attr_data *d = ir_attr_get(e->m, dim);
    ir_bindings known = {e->indices.items, (uint32_t)e->indices.count};
    const char *missing = NULL;
    *out = d->integer;
    return d->kind != IR_ATTR_DIM || ir_dim_evaluate(e->m, d->integer, known, out, &missing) ||
           expansion_refuse(e, op, "%s is no number", ir_dim_text(e->m, d->integer));
}

/* A bound of a loop: one before the first block is there. */
static bool bound_of(expansion *e, ir_op op, ir_attr dim, int64_t *out) {
    const ir_attr_data *d = ir_attr_get(e->m, dim);
    ir_bindings known = {e->indices.items, (uint32_t)e->indices.count};
    const char *missing = NULL;
    *out = d->integer;
    return d->kind != IR_ATTR_DIM || ir_dim_count(e->m, d->integer, known, out, &missing) ||
           expansion_refuse(e, op, "%s is no number", ir_dim_text(e->m, d->integer));
}

bool expansion_turns(expansion *e, ir_op loop, int64_t *first, int64_t *count) {
    ir_attr from = ir_op_attr(e->m, loop, "first");
    *first = 0;
    return (!from || bound_of(e, loop, from, first)) &&
           bound_of(e, loop, ir_op_attr(e->m, loop, "count"), count);
}

ir_value expansion_cut(expansion *e, ir_value x, const int64_t *size) {
    const ir_type_data *t = expansion_type(e, x);
    static const ir_dim zeros[IR_MAX_RANK];
    bool whole = true;
    for (int i = 0; i < t->rank; i++)
        whole &= size[i] == t->dims[i];
    return whole ? x : build_slice(&e->b, x, zeros, size);
}

static bool too_many(const expansion *e) {
    return status_set(e->st, STATUS_UNAVAILABLE,
                      "its program instances are more than %d operations", OPERATIONS_MAX);
}

/* ---- blocks ---- */

static bool expand_block(expansion *e, ir_block block);

static bool expand_loop(expansion *e, ir_op op) {
    const ir_op_data d = *ir_op_get(e->m, op);
    const ir_block_data body = *ir_block_get(e->m, ir_op_block(e->m, op, 0));
    ir_binding index = {ir_op_string(e->m, op, "index", ""), 0};
    int64_t first, count;
    if (!expansion_turns(e, op, &first, &count))
        return false;
    for (uint32_t i = 0; i < d.operand_count; i++)
        e->now[body.arguments[i]] = e->now[d.operands[i]];
    vec_push(&e->indices, index);
    bool ok = true;
    for (int64_t i = first; i < count && ok; i++) {
        ir_value next[LIMIT_OPERANDS];
        e->indices.items[e->indices.count - 1].value = i;
        ok = expand_block(e, ir_op_block(e->m, op, 0));
        const ir_op_data *end = ir_op_get(e->m, body.last);
        for (uint32_t k = 0; ok && k < d.operand_count; k++)
            next[k] = e->now[end->operands[k]];
        for (uint32_t k = 0; ok && k < d.operand_count; k++)
            e->now[body.arguments[k]] = next[k];
    }
    e->indices.count--;
    for (uint32_t i = 0; i < d.result_count; i++)
        e->now[d.results[i]] = e->now[body.arguments[i]];
    return ok;
}

static bool expand_block(expansion *e, ir_block block) {
    bool ok = true;
    for (ir_op op = ir_block_get(e->m, block)->first; op && ok; op = ir_op_get(e->m, op)->next) {
        int opcode = ir_op_get(e->m, op)->opcode;
        e->b.location = ir_op_get(e->m, op)->location;
        if (++e->operations > OPERATIONS_MAX)
            return too_many(e);
        ok = opcode == GRAPH_FOR    ? expand_loop(e, op)
             : opcode == GRAPH_LOAD ? expansion_load(e, op)
             : opcode == GRAPH_GIVE ? expansion_give(e, op)
             : opcode == GRAPH_NEXT ? true
                                    : expansion_step(e, op);
    }
    return ok;
}

/* All combinations of the indices from number `axis` on. */
static bool expand_instances(expansion *e, uint32_t axis) {
    const ir_attr_data *names = ir_attr_get(e->m, ir_op_attr(e->m, e->tiles, "indices")),
                       *counts = ir_attr_get(e->m, ir_op_attr(e->m, e->tiles, "counts"));
    if (axis == names->count)
        return expand_block(e, ir_op_block(e->m, e->tiles, 0));
    ir_binding index = {ir_attr_get(e->m, names->items[axis])->string, 0};
    int64_t count;
    if (!expansion_number(e, e->tiles, counts->items[axis], &count))
        return false;
    vec_push(&e->indices, index);
    bool ok = true;
    for (int64_t i = 0; i < count && ok; i++) {
        e->indices.items[e->indices.count - 1].value = i;
        ok = expand_instances(e, axis + 1);
    }
    e->indices.count--;
    return ok;
}

/* ---- how many ---- */

static uint64_t times(const expansion *e, ir_attr count, uint64_t each) {
    const ir_attr_data *d = ir_attr_get(e->m, count);
    int64_t number = d->integer;
    const char *missing = NULL;
    uint64_t all;
    bool known = d->kind != IR_ATTR_DIM ||
                 ir_dim_evaluate(e->m, d->integer, (ir_bindings){NULL, 0}, &number, &missing);
    return !known ? 0 : __builtin_mul_overflow((uint64_t)number, each, &all) ? UINT64_MAX : all;
}

/* At least so many are written out of a block; loops of which only an index tells how often they
 * run, and those that do not begin with the first turn, are counted while they are. */
static uint64_t operations_of(const expansion *e, ir_block block) {
    uint64_t sum = 0;
    for (ir_op op = ir_block_get(e->m, block)->first; op; op = ir_op_get(e->m, op)->next) {
        uint64_t own = 1;
        if (ir_op_get(e->m, op)->opcode == GRAPH_FOR)
            own = ir_op_attr(e->m, op, "first") ? 0
                                                : times(e, ir_op_attr(e->m, op, "count"),
                                                        operations_of(e, ir_op_block(e->m, op, 0)));
        sum = sum > UINT64_MAX - own ? UINT64_MAX : sum + own;
    }
    return sum;
}

static bool are_few(const expansion *e) {
    const ir_attr_data *counts = ir_attr_get(e->m, ir_op_attr(e->m, e->tiles, "counts"));
    uint64_t all = operations_of(e, ir_op_block(e->m, e->tiles, 0));
    for (uint32_t i = 0; i < counts->count; i++)
        all = times(e, counts->items[i], all);
    return all <= OPERATIONS_MAX || too_many(e);
}

static bool expand(expansion *e) {
    bool ok = are_few(e) && expand_instances(e, 0) && expansion_join(e);
    if (ok)
        ir_op_erase(e->m, e->tiles);
    return ok && (!ir_failure(e->m) || status_set(e->st, STATUS_INVALID, "%s", ir_failure(e->m)));
}

bool expand_instances_of(ir_module *m, ir_op tiles, status *st) {
    const ir_op_data *d = ir_op_get(m, tiles);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, tiles, 0));
    expansion e = {.m = m, .tiles = tiles, .value_count = ir_value_count(m), .st = st};
    e.b = (ir_builder){m, d->block, tiles, d->location};
    e.now = base_calloc(e.value_count + 1, sizeof *e.now);
    for (uint32_t i = 0; i <= e.value_count; i++)
        e.now[i] = i; /* what stands before the blocks is what it is */
    for (uint32_t i = 0; i < block->argument_count; i++)
        e.now[block->arguments[i]] = d->operands[i];
    e.results = base_calloc(d->result_count + 1, sizeof *e.results);
    bool ok = expand(&e);
    for (uint32_t i = 0; i < d->result_count; i++)
        vec_release(&e.results[i]);
    vec_release(&e.indices);
    free(e.results);
    free(e.now);
    return ok;
}

bool graph_expand_tiles(ir_module *m, status *st) {
    ir_op tiles = tiles_of(m);
    return !tiles || expand_instances_of(m, tiles, st);
}
